"""Two switches side by side: each step is done on both, and what can be seen of it is compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from .bmv2 import Bmv2, Ended
from .engine import Engine, Faulted
from .program import Program, load
from .subjects import Subject
from .thrift import Call

ENDED = "BMv2 ended"
"""A difference of the kind that BMv2 has stopped."""
SETTLE_SECONDS = 0.02
"""In which nothing more may leave before arrays are compared."""
READINGS = 5
"""Of an array that differs: what BMv2 does with the last packet may take as long."""
COUNTER_SAMPLE = 24
"""Cells that the engine has at zero, of arrays that are too long to be read cell by cell."""
WHOLE_COUNTER_CELLS = 64

Outputs = dict[int, list[bytes]]
Step = Call | tuple[int, bytes]
"""A control call, or a frame with the port on which it arrives."""


class Difference(Exception):
    """The two switches do not do the same."""

    def __init__(self, kind: str, step: object, bmv2: object, engine: object) -> None:
        super().__init__(f"{kind}: {step}: BMv2 {bmv2!r}, engine {engine!r}")
        self.kind, self.step, self.bmv2, self.engine = kind, step, bmv2, engine


@dataclass
class Counts:
    """What was compared."""

    cases: int = 0
    frames: int = 0
    calls: int = 0
    registers: int = 0
    counters: int = 0
    excluded: int = 0
    """Frames on which the program faults, so that BMv2 would stop."""
    differences: int = 0

    def add(self, other: Counts) -> None:
        """Adds up."""
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Bench:
    """Both switches with one program, from their start on."""

    subject: Subject
    engine_json: bytes | None = None
    """For the engine alone, to see that the comparison can fail; both run the subject's program otherwise."""
    program: Program = field(init=False)
    history: list[Step] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    entries: dict[str, list[int]] = field(default_factory=dict)
    """Handles of tables with counters."""

    def __post_init__(self) -> None:
        self.program = load(self.subject.path)
        self.engine = Engine(self.engine_json or self.subject.path.read_bytes())
        self.bmv2 = Bmv2(self.subject.path)

    def close(self) -> None:
        """Ends both."""
        self.engine.close()
        self.bmv2.close()

    def control(self, call: Call) -> object:
        """What both answer. Raises `Difference`."""
        self.history.append(call)
        self.counts.calls += 1
        engine = self.engine.control(call)
        try:
            bmv2 = self.bmv2.control(call)
        except Ended as ended:
            raise Difference(ENDED, str(call), str(ended), engine) from ended
        if bmv2 != engine:
            raise Difference("answer", str(call), bmv2, engine)
        if call.method.endswith("_add_entry") and isinstance(engine, int):
            self.entries.setdefault(str(call.arguments[1]), []).append(engine)
        if call.method.endswith("_delete_entry") and engine is None:
            entry = call.arguments[2]
            assert isinstance(entry, int), "a handle"
            self.entries[str(call.arguments[1])].remove(entry)
        return engine

    def packet(self, port: int, frame: bytes) -> None:
        """A frame arrives. Raises `Difference`."""
        try:
            expected = self.engine.packet(port, frame)
        except Faulted:
            self.counts.excluded += 1
            return
        self.history.append((port, frame))
        try:
            sent = self.bmv2.packet(port, frame, len(expected))
        except Ended as ended:
            raise Difference(ENDED, (port, frame.hex()), str(ended), _hex(self._by_port(expected))) from ended
        engine, bmv2 = self._by_port(expected), self._by_port(sent)
        if engine != bmv2:
            raise Difference("frames", (port, frame.hex()), _hex(bmv2), _hex(engine))
        self.counts.cases += 1
        self.counts.frames += len(sent)

    def _by_port(self, frames: list[tuple[int, bytes]]) -> Outputs:
        outputs: Outputs = {}
        for port, frame in frames:
            outputs.setdefault(port, []).append(self.subject.mask(frame))
        return outputs

    def settle(self, rng: Random) -> None:
        """Nothing more leaves, and registers and counters agree. Raises `Difference`."""
        try:
            surplus = self.bmv2.surplus(SETTLE_SECONDS)
            if surplus:
                raise Difference(
                    "frames afterwards", "after the last packet", _hex(self._by_port(surplus)), {}
                )
            self._compare_arrays(rng)
        except Ended as ended:
            raise Difference(ENDED, "reading arrays", str(ended), None) from ended

    def _compare_arrays(self, rng: Random) -> None:
        for name, size, width in self.program.registers:
            if width <= 64 and name not in self.subject.times:
                self._compare(Call("standard", "bm_register_read_all", (0, name)))
                self.counts.registers += size
        for name, size in self.program.counters:
            cells = set(range(size)) if size <= WHOLE_COUNTER_CELLS else set(self.engine.counted(name))
            if size > WHOLE_COUNTER_CELLS:
                cells |= {rng.randrange(size) for _ in range(COUNTER_SAMPLE)}
            for cell in sorted(cells):
                self._compare(Call("standard", "bm_counter_read", (0, name, cell)))
            self.counts.counters += len(cells)
        for table in self.program.tables:
            if table.has_counters:
                for entry in self.entries.get(table.name, []):
                    self._compare(Call("standard", "bm_mt_read_counter", (0, table.name, entry)))
                    self.counts.counters += 1

    def _compare(self, call: Call) -> None:
        engine: object = None
        bmv2: object = None
        for _ in range(READINGS):
            engine, bmv2 = self.engine.control(call), self.bmv2.control(call)
            if engine == bmv2:
                return
            self.bmv2.surplus(SETTLE_SECONDS)
        if isinstance(engine, list) and isinstance(bmv2, list) and len(engine) == len(bmv2):
            cells = [cell for cell in range(len(engine)) if engine[cell] != bmv2[cell]]
            raise Difference(
                "array",
                f"{call} cells {cells[:8]}",
                [bmv2[cell] for cell in cells[:8]],
                [engine[cell] for cell in cells[:8]],
            )
        raise Difference("array", str(call), bmv2, engine)


def _hex(outputs: Outputs) -> dict[int, list[str]]:
    return {port: [frame.hex() for frame in frames] for port, frames in sorted(outputs.items())}
