"""Helpers of all commands: option types with units, errors as messages, not tracebacks, progress bars."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import ParamSpec, TypeVar

import click
from eeon_control.cli.options import as_one, together
from eeon_control.cli.streams import is_of_output
from eeon_control.cli.terminal import Terminal
from eeon_control.errors import EeonError
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from eeon_tools.errors import BrokenOffError, ToolsError, UnavailableError
from eeon_tools.replay.feed import SendRules
from eeon_tools.trace.capture import seekable, shown

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class NumberRange(click.FloatRange):
    """A number within bounds. click's own range accepts NaN, because comparisons with it are false."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not a number", param, ctx)
        return number


def reports_errors(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Turns this project's errors into one message on stderr and exit status 1."""

    @functools.wraps(function)
    def wrapper(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except BrokenOffError as error:
            keeper = "--keep-good" if "keep_good" in kwargs else "`editcap FILE OUT`"
            hint = f"; {keeper} takes the packets before that"
            raise click.ClickException(f"{error}{hint}") from error
        except (ToolsError, EeonError) as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            if is_of_output(error):
                raise  # the command group ends in silence, or says that the output cannot be written
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{error.strerror or error}") from error

    return wrapper


def needs_plots(what: str) -> None:
    """Raises UnavailableError if drawings cannot be made: before a run, not after it."""
    missing = [name for name in ("matplotlib", "bokeh", "perfetto") if find_spec(name) is None]
    if missing:
        raise UnavailableError(
            f"{what} needs {' and '.join(missing)}: `pip install 'eeon-tools[plots]'`, "
            "or `pip install './tools[plots]'` in a checkout"
        )


def seed_option(what: str) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Declares the option for a seed, which is 1 unless it is given."""
    return click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, help=what)


speed_option = click.option(
    "--speed", type=NumberRange(1e-6, 1e9), default=1.0, help="Factor applied to the speed of the trace."
)

keep_good_option = click.option(
    "--keep-good",
    is_flag=True,
    help="If the file is truncated, as after a killed capture, take the packets before the break.",
)


def reads_again(name: str) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Passes the command, for the capture of argument `name`, a file that can be read more than once."""

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        @functools.wraps(function)
        def wrapper(**arguments: object) -> _Result:
            capture = arguments[name]
            assert isinstance(capture, Path), "INPUT gives no other"
            with seekable(capture) as file:
                return function(**{**arguments, name: file})

        return wrapper

    return decorate


send_options = together(
    click.option(
        "--map",
        "mapping",
        multiple=True,
        metavar="IP=HOST",
        help="Assign an address of the trace, or all addresses of a prefix (10.1.0.0/16=h1), to HOST; "
        "repeatable. The longest prefix wins; hosts' own addresses take precedence over prefixes.",
    ),
    click.option(
        "--unmapped",
        type=click.Choice(["drop", "refuse"]),
        help="What to do with packets whose address has no host: leave them out and count them, or fail.  "
        "[default: drop multicast and link-local, refuse others]",
    ),
    click.option(
        "--keep-super-frames",
        is_flag=True,
        help="Send frames of segmentation offload whole; by default they are segmented at the MSS.",
    ),
    as_one("rules", SendRules),
)
"""Options for how hosts send a trace; the command receives them as `rules`."""


def break_teller(keep_good: bool) -> Callable[[BrokenOffError], None] | None:
    """Returns a function that warns on stderr, once, about a truncated file; None if that is an error."""
    is_told = False

    def tell(error: BrokenOffError) -> None:
        nonlocal is_told
        if is_told:
            return  # Each setting of a comparison reads the file.
        is_told = True
        context = click.get_current_context()
        (argument,) = (one for one in context.command.params if isinstance(one, click.Argument))
        # The error's own file is a copy where a pipe is read.
        said = BrokenOffError(shown(context.params[str(argument.name)]), error.place, error.problem)
        click.echo(f"warning: {said}; the packets before that are used", err=True)

    return tell if keep_good else None


class ProgressText(TextColumn):
    """Text of a progress bar, in which `[red]` and `:100:` of a name are neither markup nor emoji."""

    def __init__(self, text_format: str) -> None:
        super().__init__(text_format, markup=False)


def counted_columns(unit: str) -> tuple[ProgressColumn, ...]:
    """Returns the columns of a progress bar that counts `unit` and estimates the time that is left."""
    return (
        ProgressText("{task.description}"), BarColumn(), MofNCompleteColumn(), ProgressText(f"{unit},"),
        TimeElapsedColumn(), ProgressText("so far, left:"), TimeRemainingColumn(),
    )  # fmt: skip


@contextmanager
def counted_progress(
    what: str, total: int, unit: str, *, stays: bool = False
) -> Iterator[Callable[..., None]]:
    """Shows a bar on stderr that counts `unit`, during a `with` block; `stays`: and afterwards. Yields a
    function that updates it, with the parameters of rich's `Progress.update`."""
    columns, err = counted_columns(unit), Terminal(stderr=True)
    # Rich ends a bar that goes away with an empty line, where it cannot remove it.
    is_shown = total > 0 and (stays or err.is_terminal)
    with Progress(*columns, console=err, transient=not stays, disable=not is_shown) as progress:
        yield functools.partial(progress.update, progress.add_task(what, total=total))


@contextmanager
def packet_progress(what: str) -> Iterator[Callable[..., None]]:
    """Shows a line that counts packets on stderr during a `with` block, and removes it afterwards. Yields a
    function that receives the number of packets done, and the total if it is known."""
    columns = (SpinnerColumn(), ProgressText("{task.description}"), TimeElapsedColumn())
    err = Terminal(stderr=True)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task(what)

        def update(packets: int, of: int | None = None, /) -> None:
            count = f"{packets:,}" if of is None else f"{packets:,} of {of:,}"
            progress.update(task, description=f"{what}: {count} packets")

        yield update
