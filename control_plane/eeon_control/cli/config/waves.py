"""The options --waves, --pause, --gate and --switch: an apply that changes the fabric step by step."""

from dataclasses import dataclass

import click

from eeon_control import operations
from eeon_control.cli import completions, options
from eeon_control.errors import EeonError
from eeon_control.fabric import Rollout
from eeon_control.plan.waves import waves
from eeon_control.state import Intended
from eeon_control.targets import resolve


@dataclass(frozen=True)
class WaveChoice:
    """The command line's options about waves; `switches` is empty for all switches."""

    switches: tuple[str, ...]
    waves: str | None
    pause_seconds: float | None
    rules: tuple[operations.Rule, ...]
    commands: tuple[str, ...]
    gate_seconds: float

    def check(self) -> None:
        """Raises UsageError for incompatible options."""
        if self.pause_seconds is not None and not (self.waves or self.rules or self.commands):
            raise click.UsageError("--pause needs --waves, --gate or --gate-command")

    def rollout(self, meant: Intended) -> Rollout | None:
        """Returns the waves of the rollout; None for all switches at once. Raises EeonError."""
        topology = meant.topology
        unknown = [name for name in self.switches if name not in topology.switches]
        if unknown:
            raise EeonError(f"--switch {unknown[0]}: {topology.name} has no switch of that name")
        among = self.switches or tuple(topology.switches)
        if not (self.waves is not None or self.rules or self.commands or self.switches):
            return None
        parts = (among,) if self.waves is None else waves(topology, self.waves, among)
        targets = resolve(topology, meant.targets.switches)
        gates = operations.gates_of(topology, targets, self.rules, self.commands, self.gate_seconds)
        return Rollout(parts, self.pause_seconds or 0.0, gates)


wave_options = options.together(
    click.option(
        "--switch",
        "switches",
        multiple=True,
        metavar="NAME",
        shell_complete=completions.switch_names,
        help="change the profiles of this switch's ports only; other switches keep those in force. "
        "Repeatable",
    ),
    click.option(
        "--waves",
        metavar="LIST",
        help="change the switches in waves, given as numbers, percentages and rest, for example "
        "1,10%,rest. A failure or a closed gate undoes all waves. A leaf and its spine, or all spines of a "
        "leaf, are never in the same wave: if necessary, a wave has fewer switches and rest becomes several "
        "waves",
    ),
    click.option(
        "--pause", "pause_seconds", type=options.SPAN, metavar="TIME", help="wait this long after each wave"
    ),
    click.option(
        "--gate",
        "rules",
        type=options.Parsed(operations.Rule),
        multiple=True,
        metavar="RULE",
        help="condition that closes the gate after a wave: drops[=N] or pauses[=N], more than N "
        "(default 0) since the apply began; links, a port went down; account, a byte account is below "
        "zero. Repeatable",
    ),
    click.option(
        "--gate-command",
        "commands",
        multiple=True,
        metavar="COMMAND",
        help="shell command that opens the gate if it exits with 0. It also runs before the first "
        "wave. Its environment has EEON_WAVE, EEON_WAVES and EEON_SWITCHES. Repeatable",
    ),
    click.option(
        "--gate-timeout",
        "gate_seconds",
        type=options.SPAN,
        default="60s",
        metavar="TIME",
        help="longest run time of a --gate-command",
    ),
    options.as_one("choice", WaveChoice),
)
"""These options. The command gets them as one parameter: `choice`."""
