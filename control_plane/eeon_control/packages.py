"""The versions of the project's installed packages, which must be equal: they use each other's internals."""

from collections.abc import Callable, Iterator
from importlib import metadata

_OTHERS = ("eeon-engine", "eeon-tools", "eeon-experiments", "eeon-ptf")

VersionOf = Callable[[str], str | None]


def installed(name: str) -> str | None:
    """Returns the version of an installed package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def of_other_versions(version_of: VersionOf = installed) -> Iterator[tuple[str, str]]:
    """Yields each package of another version than eeon-control, and the command that corrects it."""
    own = version_of("eeon-control")
    for name in _OTHERS if own is not None else ():
        version = version_of(name)
        if version not in (None, own):
            yield (
                f"{name} is {version}, but eeon-control is {own}; they must have the same version",
                f"pip install '{name}=={own}'",
            )
