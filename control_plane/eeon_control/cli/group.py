"""The top-level command group: errors without tracebacks, exit codes, commands of other packages."""

import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import click

from eeon_control.cli.lazy import LazyGroup, summary_of
from eeon_control.cli.output import say
from eeon_control.cli.signals import stopped_by_signals
from eeon_control.cli.streams import guarded, is_of_output
from eeon_control.errors import EeonError, InputError, Stopped
from eeon_control.packages import of_other_versions

_PLUGINS = "eeon.commands"
_STOPPED = 130  # a shell's exit code for a command ended by SIGINT: 128 + 2
# The packages of the project's other commands, and their folders in a checkout.
_OTHER_PACKAGES = {
    **dict.fromkeys(("demo", "explain", "fabric", "lab", "replay", "trace"), ("eeon-tools", "tools")),
    **dict.fromkeys(("experiment", "tune"), ("eeon-experiments", "experiments")),
}


class EeonGroup(LazyGroup):
    """The commands of this package and of installed plugins, each loaded only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of built-in and plugin commands, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *_plugins(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a built-in or plugin command. One that fails to load reports the error when invoked."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        plugin = _plugins(ctx).get(cmd_name)
        if plugin is None and cmd_name in _OTHER_PACKAGES:
            package, folder = _OTHER_PACKAGES[cmd_name]
            return _broken(
                cmd_name,
                f"not installed; the package {package} has it: `pip install {package}`, "
                f"or `make setup` or `pip install ./{folder}` in a checkout",
            )
        if plugin is None:
            return None
        if cmd_name in _OTHER_PACKAGES:
            for what, correction in of_other_versions():
                return _broken(cmd_name, f"{what}: `{correction}`, or `make setup` in a checkout")
        try:
            command = plugin.load()
        except Exception as error:  # a plugin may raise anything, and the other commands must keep working
            return _broken(
                cmd_name,
                f"{plugin.value} cannot be loaded: {type(error).__name__}: {error}; upgrade or remove its "
                "package",
            )
        if not isinstance(command, click.Command):
            return _broken(cmd_name, f"{plugin.value} is not a click command")
        return command

    def summary(self, ctx: click.Context, name: str) -> str:
        plugin = None if name in self.places else _plugins(ctx).get(name)
        return (summary_of(plugin.value) if plugin is not None else None) or super().summary(ctx, name)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,  # click's own signature # noqa: ANN401
    ) -> Any:  # click's overload; in fact the exit code # noqa: ANN401
        """Runs the command. In standalone mode, ends the process with the exit code."""
        with guarded(), stopped_by_signals():
            code = self._run(args, prog_name or "eeon", complete_var, **extra)
        if standalone_mode:
            sys.exit(code)
        return code

    def _run(
        self,
        args: Sequence[str] | None,
        prog_name: str,
        complete_var: str | None,
        **extra: Any,  # the other parameters of click's `main` # noqa: ANN401
    ) -> int:
        try:
            result = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except click.exceptions.Abort as error:
            said = str(error.__cause__) if isinstance(error.__cause__, Stopped) else "stopped"
            say(said, "red")
            return _STOPPED
        except click.ClickException as error:
            error.show()
        except InputError as error:
            for problem in error.problems:
                say(str(problem), "red")
        except EeonError as error:
            say(str(error), "red")
        except BrokenPipeError:
            sys.stderr.close()
        except OSError as error:
            if not is_of_output(error):
                raise
            say(f"the output cannot be written: {error.strerror}; free space, or write elsewhere", "red")
        else:
            return result if isinstance(result, int) else 0
        return 1


def _plugins(ctx: click.Context) -> dict[str, EntryPoint]:
    """Returns the commands of other packages. They are looked up once for a command line, because that reads
    a file of each installed package."""
    if _PLUGINS not in ctx.meta:
        ctx.meta[_PLUGINS] = {entry.name: entry for entry in entry_points(group=_PLUGINS)}
    found: dict[str, EntryPoint] = ctx.meta[_PLUGINS]
    return found


def _broken(name: str, reason: str) -> click.Command:
    def fail(arguments: tuple[str, ...]) -> None:
        raise EeonError(f"eeon {name}: {reason}")

    return click.Command(
        name,
        callback=fail,
        params=[click.Argument(["arguments"], nargs=-1)],
        help=reason,
        short_help="(cannot be loaded)",
        context_settings={"ignore_unknown_options": True},
    )
