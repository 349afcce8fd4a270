"""Frames for a program: walks of its parser with random fields; some are truncated, changed or replaced.

All choices come from a seeded generator. A walk takes a random transition of each state and writes the
required key into the packet, if it consists of header fields or lookahead bits; keys from metadata are left
to chance.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from eeon_engine.program_json import Json

from .program import Field, Program

PORT_WIDTH = 9
WHOLE = "*"
"""In place of a field's name: the whole header as one number."""
HEADERS_AT_MOST = 24
"""Maximum number in one walk: parsers may have loops."""


@dataclass
class LayerField:
    """A field of a frame's header, with its width in bits."""

    name: str
    width: int
    value: int


@dataclass
class Layer:
    """A header of a frame."""

    name: str
    fields: list[LayerField]

    def get(self, name: str) -> int:
        """Returns the value of a field."""
        return next(one.value for one in self.fields if one.name == name)

    def set(self, name: str, value: int) -> None:
        """Sets a field, cut to its width."""
        for one in self.fields:
            if one.name == name:
                one.value = value & ((1 << one.width) - 1)


@dataclass
class Walk:
    """A frame as a stack of headers with a payload."""

    port: int = 0
    layers: list[Layer] = field(default_factory=list)
    payload: bytes = b""
    ahead: list[tuple[int, int, int]] = field(default_factory=list)
    """Bits to overwrite: offset, width, value."""

    def layer(self, name: str) -> Layer | None:
        """Returns the last header of this name."""
        return next((layer for layer in reversed(self.layers) if layer.name == name), None)

    @property
    def bits(self) -> int:
        """Number of bits in the headers."""
        return sum(one.width for layer in self.layers for one in layer.fields)

    def encode(self) -> bytes:
        """Returns the frame; bits that do not fill a byte are dropped."""
        number = bits = 0
        for layer in self.layers:
            for one in layer.fields:
                number, bits = number << one.width | one.value, bits + one.width
        data = (number << (-bits % 8)).to_bytes((bits + 7) // 8, "big") + self.payload
        for offset, width, value in self.ahead:
            data = _overwrite(data, offset, width, value)
        return data


Rule = Callable[[Random, Walk], None]
"""Makes a walk well-formed for its program, before it is encoded."""

Limit = Callable[[bytes], bytes | None]
"""Makes the final change to a frame; returns None if the frame must not be sent."""

Mask = Callable[[bytes], bytes]
"""Returns a frame for comparison: without the fields that depend on real time."""


@dataclass(frozen=True)
class Subject:
    """A program and the settings of its test."""

    name: str
    path: Path
    p4info: Path | None = None
    """If set, entries, action profiles, counters and replication are written and read over P4Runtime, and the
    rest over Thrift."""
    share: int = 1
    """Its share of the cases, relative to the others' shares."""
    ports: tuple[int, ...] = (0, 1, 2, 3, 7)
    rule: Rule = lambda rng, walk: None
    limit: Limit = lambda data: data
    mask: Mask = lambda data: data
    values: dict[Field, tuple[int, ...]] = field(default_factory=dict)
    """Values that fields of frames usually have."""
    parameters: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Values of action parameters, by `action.parameter` or `parameter`."""
    registers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Values that cells are usually set to."""
    defaults: dict[str, str] = field(default_factory=dict)
    """Tables and the actions, without parameters, that are usually their defaults."""
    times: tuple[str, ...] = ()
    """Registers with times of the real clock: neither written nor compared."""
    only_read: tuple[str, ...] = ()
    """Registers that are compared, but written only by the program."""
    entries_at_most: int = 16
    has_replication: bool = False
    tables_left_out: tuple[str, ...] = ()
    """Tables without entries."""
    least_bytes: int = 1
    """Minimum length of frames, for a program that reads headers without checking their validity."""


@dataclass(frozen=True)
class Choices:
    """The choices of one configuration: all are drawn from `rng`."""

    program: Program
    subject: Subject
    rng: Random
    seen: dict[Field, list[int]] = field(default_factory=dict)
    """Values of the fields of frames that will be sent."""

    def number(self, width: int) -> int:
        """Returns a value for a field: random, a boundary, small, or a constant of the program."""
        if width == 0:
            return 0
        top, constants = (1 << width) - 1, self.program.constants_of(width)
        kind = self.rng.random()
        if kind < 0.30 and constants:
            return self.rng.choice(constants) & top
        if kind < 0.50:
            return self.rng.choice((0, 1, top, top - 1, 1 << (width - 1), (1 << (width - 1)) - 1)) & top
        if kind < 0.65:
            return self.rng.randrange(9) & top
        return self.rng.getrandbits(width)

    def argument(self, action: str, name: str, width: int) -> int:
        """Returns a value for a parameter of an action, which is named without its control."""
        parameters = self.subject.parameters
        pool = parameters.get(f"{action}.{name}") or parameters.get(name)
        return self.rng.choice(pool) & ((1 << width) - 1) if pool else self._value(width)

    def key(self, target: Field, width: int) -> int:
        """Returns a value for a field of a key: usually one that a frame has."""
        values = self.seen.get(target, [])
        if values and self.rng.random() < 0.9:
            return self.rng.choice(values) & ((1 << width) - 1)
        return self._value(width)

    def match(self, kind: str, value: int, width: int) -> tuple[int, ...]:
        """Returns the numbers of a match that includes a value: value and prefix length, value and mask,
        first and last value, or the value alone."""
        rng, top = self.rng, (1 << width) - 1
        if kind == "lpm":
            length = rng.choice((0, 1, width // 2, width - 1, width, rng.randint(0, width)))
            return value & top << (width - length) & top, length
        if kind == "ternary":
            mask = rng.choice((0, top, top << (width // 2) & top, rng.getrandbits(width), 1, top >> 1))
            return value & mask, mask
        if kind == "range":
            spread = rng.choice((0, 1, 16, 1 << (width // 2), top))
            return max(0, value - rng.randint(0, spread)), min(top, value + rng.randint(0, spread))
        return (value,)

    def _value(self, width: int) -> int:
        return self.rng.choice(self.subject.ports) if width == PORT_WIDTH else self.number(width)


class Frames:
    """Frames for one program."""

    def __init__(self, choices: Choices) -> None:
        self._choices, self._rng = choices, choices.rng
        self._program, self._subject = choices.program, choices.subject

    def frame(self) -> tuple[int, bytes]:
        """Returns a port and a frame. Adds the fields of the walk to those seen."""
        rng, seen = self._rng, self._choices.seen
        while True:
            port = rng.choice(self._subject.ports)
            walk = self._walk(port)
            self._subject.rule(rng, walk)
            for layer in walk.layers:
                whole = Walk(layers=[layer])
                number_of_all = int.from_bytes(whole.encode(), "big")
                for one in (*layer.fields, LayerField(WHOLE, whole.bits, number_of_all)):
                    values = seen.setdefault((layer.name, one.name), [])
                    if len(values) < 400:
                        values.append(one.value)
                    else:
                        values[rng.randrange(400)] = one.value
            data = self._damaged(walk.encode())
            if len(data) >= self._subject.least_bytes:
                limited = self._subject.limit(data)
                if limited is not None:
                    return port, limited

    def _damaged(self, data: bytes) -> bytes:
        rng = self._rng
        kind = rng.random()
        if kind < 0.82 or not data:
            return data or b"\0"
        if kind < 0.90:
            return data[: rng.randint(1, len(data))]
        if kind < 0.96:
            changed = bytearray(data)
            for _ in range(rng.randint(1, 4)):
                changed[rng.randrange(min(len(changed), 100))] ^= 1 << rng.randrange(8)
            return bytes(changed)
        if kind < 0.98:
            return rng.randbytes(rng.choice((1, 2, 13, 14, 33, 60, 64, 200)))
        return bytes([rng.choice((0, 0xFF))]) * rng.choice((1, 14, 60, 1500))

    def _walk(self, port: int) -> Walk:
        rng, walk = self._rng, Walk(port)
        name: str | None = self._program.start
        while name is not None and len(walk.layers) < HEADERS_AT_MOST:
            state = self._program.states[name]
            for operation in state["parser_ops"]:
                self._operate(walk, operation)
            name = self._move(walk, state)
        size = rng.choice((0, 1, 2, 6, 8, 20, 26, 46, rng.randrange(120), rng.randrange(1200)))
        walk.payload = rng.randbytes(size)
        return walk

    def _operate(self, walk: Walk, operation: Json) -> None:
        if operation["op"] not in ("extract", "extract_VL"):
            return
        target = operation["parameters"][0]["value"]
        name = ".".join(target) if isinstance(target, list) else target
        fields = []
        for field_name, width in self._program.headers[name]:
            bits = width if width is not None else 8 * self._rng.choice((0, 1, 2, 4, 8, 12, 40))
            fields.append(LayerField(field_name, bits, self._value((name, field_name), bits)))
        walk.layers.append(Layer(name, fields))

    def _value(self, field: Field, width: int) -> int:
        pool = self._subject.values.get(field)
        if pool and self._rng.random() < 0.85:
            return self._rng.choice(pool) & ((1 << width) - 1)
        return self._choices.number(width)

    def _move(self, walk: Walk, state: Json) -> str | None:
        transitions = state["transitions"]
        if not transitions:
            return None
        keys = state["transition_key"]
        by_port = [key["value"] for key in keys if key["type"] == "field"] == [
            ["standard_metadata", "ingress_port"]
        ]
        if by_port:
            for transition in transitions:
                if transition["type"] == "hexstr" and int(transition["value"], 16) == walk.port:
                    return _next(transition)
            return _next(transitions[-1])
        rng = self._rng
        transition = rng.choice(transitions)
        if transition["next_state"] is None and rng.random() < 0.6:
            transition = rng.choice(transitions)
        if transition["type"] != "hexstr":
            return _next(transition)
        value = int(transition["value"], 16)
        mask = int(transition["mask"], 16) if transition["mask"] else -1
        # Each key takes whole bytes of the value, the last key at its end.
        for key in reversed(keys):
            width = self._key_width(key)
            part, cover = value & ((1 << width) - 1), mask & ((1 << width) - 1)
            self._write(walk, key, part | (rng.getrandbits(width) & ~cover if width else 0))
            value >>= (width + 7) // 8 * 8
            mask >>= (width + 7) // 8 * 8
        return _next(transition)

    def _key_width(self, key: Json) -> int:
        if key["type"] == "lookahead":
            return int(key["value"][1])
        if key["type"] == "union_stack_field":
            stack, member, name = key["value"]
            widths = dict(self._program.headers[f"{stack}.{member}"])
            return widths[name] or 0
        header, name = key["value"]
        return self._program.widths.get((header, name), 0)

    def _write(self, walk: Walk, key: Json, value: int) -> None:
        if key["type"] == "lookahead":
            offset, width = key["value"]
            walk.ahead.append((walk.bits + offset, width, value))
            return
        *owner, name = key["value"]
        layer = walk.layer(".".join(owner))
        if layer is not None:
            layer.set(name, value)


def _next(transition: Json) -> str | None:
    name: str | None = transition["next_state"]
    return name


def _overwrite(data: bytes, offset: int, width: int, value: int) -> bytes:
    bits = len(data) * 8
    if offset + width > bits:
        return data
    shift = bits - offset - width
    whole = int.from_bytes(data, "big") & ~(((1 << width) - 1) << shift) | value << shift
    return whole.to_bytes(len(data), "big")
