"""The gates of an apply in waves: checks of counters, links or byte accounts, or a user's command."""

import asyncio
import contextlib
import os
import re
import signal
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from eeon_control import constants
from eeon_control.constants import DROPS
from eeon_control.fabric import Gate, GateClosed
from eeon_control.fabric.read import FabricObservation, Observation, Wanted, observe
from eeon_control.plan import pfc
from eeon_control.printable import one_line
from eeon_control.targets import Target
from eeon_control.topology import Topology

_RULE = re.compile(r"(drops|pauses)(?:=(\d{1,18}))?|(links|account)", re.ASCII)
_SAID_BYTES = 64 * 1024


@dataclass(frozen=True)
class Rule:
    """A condition that closes the gate. `drops` and `pauses`: more than `limit` packets dropped, or pauses
    sent and received, since the apply began. `links`: a port that was up is down. `account`: a port's byte
    account is negative, because packets left that never entered."""

    what: str
    limit: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parses `drops`, `drops=100`, `pauses=5`, `links` or `account`. Raises ValueError."""
        match = _RULE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not one of drops, drops=N, pauses, pauses=N, links, account")
        return cls(match[1] or match[3], int(match[2] or 0))


@dataclass
class CounterGate:
    """A gate that reads the switches. It closes if one that was written or read before is unreadable."""

    topology: Topology
    targets: Mapping[str, Target]
    rules: Sequence[Rule]
    _first: FabricObservation | None = field(default=None, init=False)

    async def before(self) -> None:
        """Reads the initial counters. A switch that runs another program has none."""
        self._first = await self._read()

    async def after(self, number: int, waves: int, changed: Collection[str]) -> None:
        """Compares with the initial values. Raises GateClosed with all problems."""
        assert self._first is not None, "before comes before after"
        now = await self._read()
        unread = [
            why for name, why in now.failures.items() if name in changed or name in self._first.switches
        ]
        wrong = [*unread, *(text for rule in self.rules for text in self._broken(rule, self._first, now))]
        if wrong:
            raise GateClosed("the gate is closed: " + "; ".join(one_line(text) for text in wrong))

    async def _read(self) -> FabricObservation:
        kinds = {rule.what for rule in self.rules}
        wanted = Wanted(
            entries="pauses" in kinds,
            counters="drops" in kinds,
            queues=(pfc.GROUPS,) if "pauses" in kinds else (),
            ports="links" in kinds,
            registers=("occupancy_bytes",) if "account" in kinds else (),
        )
        return await observe(self.topology, self.targets, wanted)

    def _broken(self, rule: Rule, first: FabricObservation, now: FabricObservation) -> Iterator[str]:
        match rule.what:
            case "drops":
                yield from _above(rule, "dropped", _since(_drops(first), _drops(now)))
            case "pauses":
                yield from _above(rule, "pauses", _since(_pauses(first), _pauses(now)))
            case "links":
                gone = _down(now, self.topology) - _down(first, self.topology)
                if gone:
                    yield f"down since the apply began: {', '.join(sorted(gone))}"
                for name, one in now.switches.items():
                    if one.ports is None:
                        yield f"{_unread(name, 'link states', one)}; give `thrift` in the targets file"
            case "account":
                for name, one in now.switches.items():
                    yield from _wrong_account(name, one)


@dataclass(frozen=True)
class CommandGate:
    """A gate that runs a user's command in a shell: exit code 0 opens it.

    Its environment has EEON_WAVE (0 before the first), EEON_WAVES and EEON_SWITCHES (all changed so far). It
    is killed with all its children after `seconds`.
    """

    command: str
    seconds: float

    async def before(self) -> None:
        """Runs the command once before anything is written. Raises GateClosed."""
        await self.after(0, 0, ())

    async def after(self, number: int, waves: int, changed: Collection[str]) -> None:
        """Runs the command. Raises GateClosed."""
        told = {"EEON_WAVE": str(number), "EEON_WAVES": str(waves), "EEON_SWITCHES": " ".join(changed)}
        process = await asyncio.create_subprocess_shell(
            self.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | told,
            limit=_SAID_BYTES,
        )
        try:
            async with asyncio.timeout(self.seconds):
                said = await _last_line(process)
                code = await process.wait()
        except TimeoutError:
            raise GateClosed(
                f"the gate `{self.command}` did not end within {self.seconds:g} s and was killed; "
                "--gate-timeout sets another limit"
            ) from None
        finally:
            # Kills its children too, however it ended.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await asyncio.shield(process.wait())
        if code:
            why = f": {said}" if said else ""
            raise GateClosed(f"the gate `{self.command}` is closed: it exited with {code}{why}")


async def _last_line(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    kept = b""
    while part := await process.stdout.read(_SAID_BYTES):
        kept = (kept + part)[-_SAID_BYTES:]
    lines = kept.decode(errors="replace").strip().splitlines()
    return one_line(lines[-1], 200) if lines else ""


_Cell = tuple[str, ...]


def _drops(seen: FabricObservation) -> Counter[_Cell]:
    found: Counter[_Cell] = Counter()
    for one in seen.counters.verdicts:
        if one.verdict in DROPS:
            found[f"{one.switch}:{one.port}", one.verdict, one.packet_class] = one.packets
    return found


def _pauses(seen: FabricObservation) -> Counter[_Cell]:
    found: Counter[_Cell] = Counter()
    for name, one in seen.switches.items():
        for (counter, cell), value in one.cells.items():
            if counter in ("pauses_sent", "pauses_received"):
                found[name, counter, str(cell)] = value
    return found


def _since(first: Counter[_Cell], now: Counter[_Cell]) -> Counter[_Cell]:
    """Returns the increases; a counter that has decreased was reset by a load of the program."""
    return Counter(
        {cell: value - first[cell] if value >= first[cell] else value for cell, value in now.items()}
    )


def _above(rule: Rule, what: str, added: Counter[_Cell]) -> Iterator[str]:
    total = added.total()
    if total > rule.limit:
        (most, number), *_ = added.most_common(1)
        where = " ".join(most[:2])
        yield f"{total} {what} since the apply began, more than {rule.limit}; most ({number}) at {where}"


def _down(seen: FabricObservation, topology: Topology) -> set[str]:
    """Returns the linked ports that are down, by name."""
    return {
        f"{name}:{number}"
        for name, numbers in seen.down.items()
        for number in numbers & {port.number for port in topology.switches[name].ports}
    }


def _unread(name: str, what: str, one: Observation) -> str:
    return f"{name}: its {what} cannot be read{f': {one.missing}' if one.missing else ''}"


def _wrong_account(name: str, one: Observation) -> Iterator[str]:
    if one.registers is None:
        yield _unread(name, "byte account", one)
        return
    for port, values in one.registers.items():
        held = values["occupancy_bytes"]
        if held > constants.BYTE_COUNT_MAX // 2:  # a negative value wraps
            yield f"{name}:{port}: the byte account is {held - constants.BYTE_COUNT_MAX - 1}, below zero"


def gates_of(
    topology: Topology,
    targets: Mapping[str, Target],
    rules: Sequence[Rule],
    commands: Sequence[str],
    seconds: float,
) -> list[Gate]:
    """Returns the gates of a command line."""
    gates: list[Gate] = [CounterGate(topology, targets, rules)] if rules else []
    return gates + [CommandGate(command, seconds) for command in commands]
