"""Options shared by several commands: topology, configuration, switches.

Functions import `eeon_control.state` on use, because it imports gRPC: a quarter of a command's start time.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, cast

import click

from eeon_control import election
from eeon_control import topology as topologies
from eeon_control.cli import completions
from eeon_control.errors import DataNotFound, EeonError, InputError
from eeon_control.targets import Target, Targets, load_targets
from eeon_control.topology import Topology
from eeon_control.units import Duration, Quantity

if TYPE_CHECKING:
    from eeon_control.state import Revision, StateStore

_F = TypeVar("_F", bound=Callable[..., object])

FILE = click.Path(dir_okay=False, path_type=Path)
"""A file; the command reads or writes it, and reports the error if it cannot."""
FOLDER = click.Path(file_okay=False, path_type=Path)
INPUT = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
"""A file that exists, or - for standard input."""


class _Parsable(Protocol):
    @classmethod
    def parse(cls, text: str) -> Self: ...


class Parsed(click.ParamType):  # type: ignore[type-arg] # it takes arguments from click 8.3 on
    """A value of a class that parses text. It is refused with the parser's own message, a ValueError's."""

    def __init__(self, kind: type[_Parsable]) -> None:
        self.name = kind.__name__.lower()
        self._kind = kind

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> _Parsable:
        try:
            return value if isinstance(value, self._kind) else self._kind.parse(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class QuantityType(Parsed):
    """An option such as `64KB` or `30us`, converted to a quantity with its unit in the type."""

    def __init__(self, quantity: type[Quantity], minimum: int = 0) -> None:
        super().__init__(quantity)
        self._minimum = quantity(minimum)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Quantity:
        parsed = super().convert(value, param, ctx)
        assert isinstance(parsed, Quantity)
        if parsed < self._minimum:
            self.fail(f"{value}: must be at least {self._minimum}", param, ctx)
        return parsed


TICK = QuantityType(Duration, minimum=1)


class _Span(click.ParamType):  # type: ignore[type-arg] # it takes arguments from click 8.3 on
    """A span of time that a person waits, in seconds."""

    name = "time"
    _text = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) *(s|min|m|h)", re.ASCII)
    _seconds: ClassVar = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}

    def __init__(self, *, or_zero: bool = False) -> None:
        self._or_zero = or_zero

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        if self._or_zero and re.fullmatch(r"0+(\.0+)?", text):
            return 0.0
        match = self._text.fullmatch(text)
        if match is None or (float(match[1]) <= 0 and not self._or_zero):
            self.fail(
                f"{value!r} is not a duration from 0.001s to 999999h; write for example 90s, 10m or 1h",
                param,
                ctx,
            )
        return float(match[1]) * self._seconds[match[2]]


SPAN = _Span()
SPAN_OR_ZERO = _Span(or_zero=True)


def together(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Returns a decorator that adds these options to a command, whose help has them in this order."""

    def decorate(function: _F) -> _F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def as_one(name: str, kind: type) -> Callable[[_F], _F]:
    """Returns a decorator: the parameters of a command that are fields of the dataclass `kind` reach it as
    one, `name`."""
    fields = [field.name for field in dataclasses.fields(kind)]

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def with_one(*args: object, **given: object) -> object:
            parts = {field: given.pop(field) for field in fields if field in given}
            return function(*args, **{name: kind(**parts)}, **given)

        # It has the function's type, except for the parameters that only click passes.
        return cast(_F, with_one)

    return decorate


def topology_option(
    *, required: bool = True, default: str | None = None, more: str = ""
) -> Callable[[_F], _F]:
    """Returns the option -t: a topology by name or path. `more`: the end of its help."""
    return click.option(
        "-t",
        "--topology",
        "topology_name",
        required=required and default is None,
        default=default,
        metavar="NAME|FILE",
        shell_complete=completions.topology_names,
        help=f"topology: a name from the package (leaf-spine-4, ...) or a file{more}",
    )


def config_options(*, required: bool = True, more: str = "") -> Callable[[_F], _F]:
    """Returns the option -c, repeatable: later configuration files over earlier. `more`: ends its help."""
    return click.option(
        "-c",
        "--config",
        "config_names",
        required=required,
        multiple=True,
        metavar="NAME|FILE",
        shell_complete=completions.config_names,
        help="configuration: an example of the package (red_ack_syn, eee_120us100, ...) or a file; "
        f"repeatable: keys of later files override those of earlier ones{more}",
    )


config_option = config_options()


state_option = click.option(
    "--state",
    "state_folder",
    metavar="FOLDER",
    type=FOLDER,
    help="the fabric's state folder  [default: $EEON_STATE, else ~/.local/state/eeon/TOPOLOGY]",
)
"""--state: where the fabric's revisions are."""

target_options = together(
    click.option(
        "-T",
        "--targets",
        "targets_file",
        metavar="FILE",
        type=FILE,
        help="targets file: the tick, and the address of every switch's P4Runtime server",
    ),
    click.option(
        "--target",
        "target_texts",
        multiple=True,
        metavar="SWITCH=HOST:PORT",
        shell_complete=completions.target_names,
        help="address of one switch's P4Runtime server; device id and TLS are those of -T; repeatable",
    ),
    click.option(
        "--tick",
        type=TICK,
        help="length of a tick of the targets' timestamps, 1us for BMv2; overrides the key tick of a "
        "targets file",
    ),
)
"""-T, --target and --tick: where the switches are."""

election_option = click.option(
    "--election-id",
    type=click.IntRange(1, (1 << 128) - 1),
    help="P4Runtime election id; a larger one takes over from a smaller one  "
    f"[default: {election.DEFAULT}, or one above the controller that runs on the same state folder]",
)
"""--election-id: decides which of several controllers may write."""

foreign_option = click.option(
    "--foreign",
    type=click.Choice(["keep", "delete"]),
    help="keep or delete entries in the controller's tables that are in no revision; overrides the "
    "key foreign of a targets file  [default: delete]",
)
"""--foreign."""

comment_option = click.option(
    "--comment", default="", show_default=False, help="reason for the change, shown in the history"
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="show no progress")

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="show what would be written to the switches, and write nothing anywhere"
)
"""--dry-run."""

# Eager, because -o (`_output_option`) looks for it.
json_option = click.option("--json", "as_json", is_flag=True, is_eager=True, help="print JSON, for programs")
"""--json: what every command has that prints data."""


def _output_option(text: str) -> Callable[[_F], _F]:
    """Returns a decorator that adds --json, and -o with `text` or json; they come as one: `output`."""
    choice = click.option(
        "-o",
        "--output",
        type=click.Choice([text, "json"]),
        default=text,
        callback=lambda ctx, param, output: "json" if ctx.params.pop("as_json") else output,
        help="output format; -o json is the same as --json",
    )
    return together(choice, json_option)


output_option, text_output_option = _output_option("table"), _output_option("text")
"""--json, and -o with table (or text) or json. The command gets them as one parameter: `output`."""


def _targets(file: Path | None, texts: tuple[str, ...], tick: Duration | None) -> Targets:
    """Returns the targets of a command line. Raises EeonError when they are not complete."""
    given = None if file is None else load_targets(file)
    switches = {} if given is None else dict(given.switches)
    tick = tick or (None if given is None else given.tick)
    role = next((one.role for one in switches.values()), None)
    for text in texts:
        name, separator, address = text.partition("=")
        try:
            if not separator:
                raise ValueError("write SWITCH=HOST:PORT, for example leaf1=127.0.0.1:9559")
            target = Target.parse(address)
            known = switches.get(name, target)
            device_id = known.device_id if target.device_id is None else target.device_id
            switches[name] = replace(target, device_id=device_id, tls=known.tls, role=role)
        except ValueError as error:
            raise EeonError(f"--target {text}: {error}") from None
    if not switches:
        raise EeonError("no switches: give a targets file (-T) or --target SWITCH=HOST:PORT for each switch")
    if tick is None:
        raise EeonError("no tick: give --tick (1us for BMv2), or a targets file with the key tick")
    return Targets(tick, switches) if given is None else replace(given, tick=tick, switches=switches)


def _only_known(state_folder: Path | None) -> Path:
    """Returns the state folder of --state or EEON_STATE, else the only one there is. Raises EeonError."""
    from eeon_control.state import folder_of, is_folder_given, known_fabrics

    if is_folder_given(state_folder):
        return folder_of("", state_folder)
    known = known_fabrics()
    if len(known) == 1:
        return known[0]
    names = f"one of {', '.join(path.name for path in known)}" if known else "nothing was applied yet"
    raise EeonError(f"which fabric? give -t or --state ({names})")


@dataclass(frozen=True)
class Fabric:
    """The fabric of a command line. Its members raise EeonError if they are unknown."""

    topology_name: str | None
    state_folder: Path | None = None
    targets_file: Path | None = None
    target_texts: tuple[str, ...] = ()
    tick: Duration | None = None

    @cached_property
    def topology(self) -> Topology:
        """The topology of -t, else that of the current revision."""
        if self.topology_name is not None:
            return topologies.load(self.topology_name)
        meant = self.store().intended()
        if meant is None:
            raise EeonError("which fabric? give -t: the state folder has no revision yet")
        return meant.topology

    @property
    def has_targets(self) -> bool:
        """Whether -T or --target is given."""
        return self.targets_file is not None or bool(self.target_texts)

    @property
    def revision(self) -> Revision | None:
        """The current revision of the topology, if there is one."""
        from eeon_control.state import StateStore, folder_of, is_there

        folder = folder_of(self.topology.name, self.state_folder)
        found = StateStore.open(folder, create=False).current() if is_there(folder) else None
        return found if found is not None and found.intent.fabric == self.topology.name else None

    @cached_property
    def targets(self) -> Targets:
        """The targets of -T and --target, else those of the current revision."""
        if not self.has_targets and (revision := self.revision) is not None:
            known = Targets.from_value(revision.intent.targets, f"revision {revision.number}")
            return replace(known, tick=self.tick or known.tick)
        return _targets(self.targets_file, self.target_texts, self.tick)

    @property
    def given_targets(self) -> Targets | None:
        """The targets of -T and --target, for commands that know where the switches were; some are enough."""
        if not self.has_targets:
            return None
        tick = self.tick or (Duration(1) if self.targets_file is None else None)
        return _targets(self.targets_file, self.target_texts, tick)

    def store(self, *, create: bool = False) -> StateStore:
        """Opens the state folder: --state, EEON_STATE, the topology's, or the only one."""
        from eeon_control.state import StateStore, folder_of

        if self.topology_name is None:
            return StateStore.open(_only_known(self.state_folder), create=create)
        try:
            name = topologies.load(self.topology_name).name
        except DataNotFound:
            name = self.topology_name  # the file may be gone; the folder has the fabric's name
        return StateStore.open(folder_of(name, self.state_folder), create=create)


fabric_options = together(topology_option(required=False), target_options, as_one("fabric", Fabric))
"""-t, -T, --target and --tick. The command gets them, and its --state, as one parameter: `fabric`."""

store_options = together(topology_option(required=False), state_option, as_one("fabric", Fabric))
"""-t and --state. The command gets them as one parameter: `fabric`."""


def content_of(file: Path, limit_bytes: int) -> tuple[bytes, str]:
    """Returns the content of a file, or of standard input for `-`, and its name in messages. One byte above
    the limit tells the reader that it is exceeded. Raises InputError."""
    name = "<stdin>" if str(file) == "-" else str(file)
    try:
        with click.open_file(str(file), "rb") as content:
            return content.read(limit_bytes + 1), name
    except OSError as error:
        raise InputError.of(name, error.strerror or str(error)) from error


def output_file(path: Path) -> Path:
    """Makes the folder of a file that the current command will write, and returns `path`.

    Raises UsageError if another parameter of the command names the same file: it would be lost.
    """
    context = click.get_current_context()
    same = [
        parameter.get_error_hint(context)
        for parameter in context.command.params
        if any(_is_same_file(value, path) for value in _values(context.params.get(parameter.name or "")))
    ]
    if len(same) > 1:
        raise click.UsageError(f"{path}: is the file of {' and '.join(same)}; name another one to write to")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _values(given: object) -> list[object]:
    return [one for part in given for one in _values(part)] if isinstance(given, (tuple, list)) else [given]


def _is_same_file(value: object, path: Path) -> bool:
    if not isinstance(value, (str, Path)) or (path.exists() and not path.is_file()):
        return False  # A terminal or /dev/null may be named twice: nothing is lost.
    if os.path.exists(value) and path.exists():  # not Path's: a long text is an error there
        return path.samefile(value)
    # A text that is no file's name is the name of something else.
    return isinstance(value, Path) and value.resolve() == path.resolve()
