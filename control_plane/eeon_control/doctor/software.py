"""Python, the packages this controller stands on, and the programs it can work with."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module, metadata

from packaging.requirements import Requirement
from packaging.version import Version

from eeon_control.doctor.finding import Finding, absent, fault, ok, warning

_PYTHON = (3, 11)
_COMMON_PROTOS_LIMIT = Version("1.74")
_BMV2_TESTED = Version("1.15")
_P4C_TESTED = Version("1.2.5")
_COMMAND_SECONDS = 10.0
_TEXT_CHARS = 200

VersionOf = Callable[[str], str | None]
Which = Callable[[str], str | None]


def installed(name: str) -> str | None:
    """Returns the version of an installed package, or None."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Iterator[Finding]:
    """Checks the version of Python itself."""
    text = ".".join(str(part) for part in version)
    wanted = ".".join(str(part) for part in _PYTHON)
    if version[:2] < _PYTHON:
        yield fault("python", f"Python {text}; {wanted} or later is needed", f"install Python {wanted}")
    else:
        yield ok("python", f"Python {text} ({sys.executable})")


def requirements(wanted: list[str] | None = None, version_of: VersionOf = installed) -> Iterator[Finding]:
    """Yields what the package says it needs, against what is installed."""
    texts = wanted if wanted is not None else metadata.requires("eeon-control") or []
    found = []
    for text in texts:
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        version = version_of(requirement.name)
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            have = "is not installed" if version is None else f"is {version}"
            yield fault(
                "packages",
                f"{requirement.name} {have}; {requirement.name}{requirement.specifier} is needed",
                f"pip install '{requirement.name}{requirement.specifier}'",
            )
        else:
            found.append(f"{requirement.name} {version}")
    if found:
        yield ok("packages", ", ".join(found))


def protobuf_pool(
    version_of: VersionOf = installed, environment: Mapping[str, str] | None = None
) -> Iterator[Finding]:
    """Finds message definitions that cannot be in one process.

    finsy and googleapis-common-protos from 1.74 on register google/rpc/status.proto with different bytes;
    PyPI's p4runtime has definitions of its own, made with a protoc that today's protobuf refuses.
    """
    common = version_of("googleapis-common-protos")
    if common is not None and Version(common) >= _COMMON_PROTOS_LIMIT:
        yield fault(
            "protobuf",
            f"googleapis-common-protos {common} and finsy define google/rpc/status.proto differently: "
            "whichever is imported second fails",
            f"pip install 'googleapis-common-protos<{_COMMON_PROTOS_LIMIT}'",
        )
    foreign = version_of("p4runtime")
    if foreign is not None:
        yield warning(
            "protobuf",
            f"the package p4runtime {foreign} is installed; it cannot be imported in one process with finsy",
            "use it in a virtual environment of its own (p4runtime-shell too)",
        )
    implementation = (environment or {}).get("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION")
    if implementation == "python":
        yield warning(
            "protobuf",
            "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python: messages are many times slower",
            "unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION",
        )
    yield ok("protobuf", f"protobuf {version_of('protobuf')}, finsy {version_of('finsy')}")


def imports(import_: Callable[[str], object] = import_module) -> Iterator[Finding]:
    """Checks that gRPC and Thrift can be loaded."""
    for check, module, package in (("grpc", "grpc.aio", "grpcio"), ("thrift", "thriftpy2", "thriftpy2")):
        try:
            import_(module)
        except Exception as error:  # a broken binary package raises what it likes
            yield fault(check, f"{package}: {error}", f"pip install --force-reinstall {package}")
        else:
            yield ok(check, f"{package} {installed(package)}")


def engine(
    import_: Callable[[str], object] = import_module, version_of: VersionOf = installed
) -> Iterator[Finding]:
    """Checks that the engine's extension can be loaded where it is installed. No controller needs it."""
    version = version_of("eeon-engine")
    if version is None:
        yield absent("engine", "not installed; eeon replay, demo, explain and fabric need it (`make setup`)")
        return
    try:
        import_("eeon_engine._engine")
    except Exception as error:  # a binary of another machine raises what it likes
        yield fault(
            "engine", f"eeon-engine {version} cannot be loaded: {error}", "build it again: make setup"
        )
    else:
        yield ok("engine", f"eeon-engine {version}")


def proxies(environment: Mapping[str, str], hosts: list[str]) -> Iterator[Finding]:
    """Warns of an HTTP proxy: gRPC goes through one where the environment names it, to switches too."""
    named = [name for name in ("grpc_proxy", "https_proxy", "http_proxy") if environment.get(name)]
    exempt = (environment.get("no_grpc_proxy") or environment.get("no_proxy") or "").split(",")
    through = sorted({host for host in hosts if not _is_exempt(host, exempt)})
    if named and through:
        yield warning(
            "proxy",
            f"{named[0]} is set: gRPC reaches {', '.join(through[:4])} through that proxy",
            f"export no_grpc_proxy={','.join(through)}",
        )
    else:
        yield ok("proxy", "switches are reached directly")


def p4c(which: Which = shutil.which) -> Iterator[Finding]:
    """Yields the P4 compiler, which only a change of the program needs."""
    path = which("p4c-bm2-ss")
    if path is None:
        yield absent("p4c", "p4c-bm2-ss is not on PATH; only `make p4` needs it")
        return
    yield from _program("p4c", path, _P4C_TESTED)


def bmv2(which: Which = shutil.which) -> Iterator[Finding]:
    """Checks BMv2's switch, which is optional."""
    path = which("simple_switch_grpc")
    if path is None:
        yield absent("bmv2", "simple_switch_grpc is not on PATH; only fabrics of BMv2 need it")
        return
    yield from _program("bmv2", path, _BMV2_TESTED)


def _program(check: str, path: str, tested: Version) -> Iterator[Finding]:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield warning(check, f"{path} does not run: {error}"[:_TEXT_CHARS], f"run {path} --version yourself")
        return
    said = f"{done.stdout}\n{done.stderr}"
    found = re.search(r"\d+\.\d+(?:\.\d+)*", said)
    if done.returncode != 0 or found is None:
        words = " ".join(said.split())[:_TEXT_CHARS]
        yield warning(check, f"{path} --version: {words or done.returncode}", "install it again")
    elif Version(found[0]) < tested:
        yield warning(check, f"{path} is {found[0]}; tests ran with {tested}", f"install {tested} or later")
    else:
        yield ok(check, f"{path} {found[0]}")


def _is_exempt(host: str, exempt: list[str]) -> bool:
    return any(
        (one.strip() and (host == one.strip() or host.endswith("." + one.strip().lstrip("."))))
        or one.strip() == "*"
        for one in exempt
    )
