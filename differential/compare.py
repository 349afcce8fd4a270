"""Two switches in comparison: each step is executed on both, and all that can be observed is compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from finsy.proto import p4i
from google.protobuf import text_format

from .bmv2 import Bmv2, Ended
from .engine import Engine, Faulted
from .frames import Subject
from .p4runtime import entity_text
from .program import Program, load
from .requests import counter_cells, whole_state
from .thrift import Call

ENDED = "BMv2 ended"
"""The kind of difference where BMv2 has ended."""
ANSWER = "answer"
"""The kind of difference where the answers to a call differ."""
NO_MEMBERS: tuple[object, object] = ([], ("refused", "INVALID_ARGUMENT"))
"""Members of an action profile with one-shots: the engine has none, and BMv2 refuses to read them."""
COUNTER_SAMPLE = 24
"""Number of compared cells that are zero in the engine, of arrays that are too long to read entirely."""
WHOLE_COUNTER_CELLS = 64

Outputs = dict[int, list[bytes]]
Step = Call | tuple[int, bytes]
"""A control call, or a frame with the port at which it arrives."""


class Difference(Exception):
    """The two switches behave differently."""

    def __init__(self, kind: str, step: object, bmv2: object, engine: object) -> None:
        super().__init__(kind, step, bmv2, engine)
        self.kind, self.step, self.bmv2, self.engine = kind, step, bmv2, engine

    def __str__(self) -> str:
        return f"{self.kind}: {self.step}: BMv2 {self.bmv2!r}, engine {self.engine!r}"


@dataclass
class Counts:
    """Numbers of compared objects."""

    cases: int = 0
    frames: int = 0
    calls: int = 0
    registers: int = 0
    counters: int = 0
    excluded: int = 0
    """Frames on which the program faults, where BMv2 would end."""
    differences: int = 0

    def add(self, other: Counts) -> None:
        """Adds other counts to these."""
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Bench:
    """Both switches with one program, from their start on."""

    subject: Subject
    engine_json: bytes | None = None
    """A different program for the engine, to test that differences are found; None for the subject's."""
    program: Program = field(init=False)
    history: list[Step] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    entries: dict[str, list[int]] = field(default_factory=dict)
    """Handles of tables with counters."""
    has_sent: bool = False
    """Whether BMv2 may still be processing a frame."""

    info: p4i.P4Info | None = field(init=False, default=None)
    """Of a subject that is controlled over P4Runtime."""
    reads: list[Call] = field(default_factory=list)
    """Requests whose answers are compared after each batch."""

    def __post_init__(self) -> None:
        self.program = load(self.subject.path)
        if self.subject.p4info is not None:
            self.info = text_format.Parse(self.subject.p4info.read_text(encoding="utf-8"), p4i.P4Info())
            self.reads = whole_state(self.program, self.info)
        self.engine = Engine(self.engine_json or self.subject.path.read_bytes(), self.info)
        try:
            self.bmv2 = Bmv2(self.subject.path, self.info)
        except BaseException:
            self.engine.close()
            raise

    def close(self) -> None:
        """Ends both switches."""
        self.engine.close()
        self.bmv2.close()

    def control(self, call: Call) -> object:
        """Returns the common answer of both. Raises `Difference` if they differ."""
        # BMv2 may still be processing a frame that has no output.
        self._rest()
        self.history.append(call)
        self.counts.calls += 1
        engine = self.engine.control(call)
        try:
            bmv2 = self.bmv2.control(call)
        except Ended as ended:
            raise Difference(ENDED, str(call), str(ended), engine) from ended
        if bmv2 != engine:
            raise Difference(ANSWER, str(call), bmv2, engine)
        if call.method.endswith("_add_entry") and isinstance(engine, int):
            self.entries.setdefault(str(call.arguments[1]), []).append(engine)
        if call.method.endswith("_delete_entry") and engine is None:
            entry = call.arguments[2]
            assert isinstance(entry, int), "a handle"
            self.entries[str(call.arguments[1])].remove(entry)
        return engine

    def packet(self, port: int, frame: bytes) -> None:
        """Sends a frame to both. Raises `Difference`."""
        try:
            expected = self.engine.packet(port, frame)
        except Faulted:
            self.counts.excluded += 1
            return
        self.history.append((port, frame))
        self.has_sent = True
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
        """Checks that no more frames leave, and that registers and counters agree. Raises `Difference`."""
        self._rest()
        try:
            self._compare_arrays(rng)
        except Ended as ended:
            raise Difference(ENDED, "reading arrays", str(ended), None) from ended

    def _rest(self) -> None:
        """Waits until BMv2 has processed all frames. Raises `Difference`."""
        if not self.has_sent:
            return
        try:
            surplus = self.bmv2.surplus()
        except Ended as ended:
            raise Difference(ENDED, "after the last packet", str(ended), None) from ended
        if surplus:
            raise Difference("frames afterwards", "after the last packet", _hex(self._by_port(surplus)), {})
        self.has_sent = False

    def _compare_arrays(self, rng: Random) -> None:
        for name, size, width in self.program.registers:
            if width <= 64 and name not in self.subject.times:
                self._compare(Call("standard", "bm_register_read_all", (0, name)))
                self.counts.registers += size
        for read in self.reads:
            self._compare(read)
        for name, size in self.program.counters:
            cells = set(range(size)) if size <= WHOLE_COUNTER_CELLS else set(self.engine.counted(name, size))
            if size > WHOLE_COUNTER_CELLS:
                cells |= {rng.randrange(size) for _ in range(COUNTER_SAMPLE)}
            if self.info is not None:
                request = counter_cells(self.info, name, sorted(cells))
                if request is None:
                    continue
                self._compare(request)
            for cell in sorted(cells) if self.info is None else ():
                self._compare(Call("standard", "bm_counter_read", (0, name, cell)))
            self.counts.counters += len(cells)
        for table in self.program.tables:
            if table.has_counters:
                for entry in self.entries.get(table.name, []):
                    self._compare(Call("standard", "bm_mt_read_counter", (0, table.name, entry)))
                    self.counts.counters += 1

    def _compare(self, call: Call) -> None:
        engine, bmv2 = self.engine.control(call), self.bmv2.control(call)
        if engine == bmv2 or (engine, bmv2) == NO_MEMBERS:
            return
        if isinstance(engine, list) and isinstance(bmv2, list) and len(engine) == len(bmv2):
            cells = [cell for cell in range(len(engine)) if engine[cell] != bmv2[cell]]
            raise Difference(
                "array",
                f"{call} cells {cells[:8]}",
                [_shown(bmv2[cell]) for cell in cells[:8]],
                [_shown(engine[cell]) for cell in cells[:8]],
            )
        raise Difference("array", str(call), _shown(bmv2), _shown(engine))


def _shown(answer: object) -> object:
    """Returns an answer in readable form: entities as text."""
    if isinstance(answer, list):
        return [_shown(one) for one in answer]
    return entity_text(answer) if isinstance(answer, bytes) else answer


def _hex(outputs: Outputs) -> dict[int, list[str]]:
    return {port: [frame.hex() for frame in frames] for port, frames in sorted(outputs.items())}
