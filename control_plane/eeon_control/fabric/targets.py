"""Where each switch's P4Runtime server listens, and how long a tick of its timestamps is.

A targets file is YAML:

    tick: 1ns                       # BMv2: 1us
    switches:
      leaf1: 127.0.0.1:9559         # optionally 127.0.0.1:9559?device_id=1
      spine1: 127.0.0.1:9560

`device_id` defaults to the switch's id in the topology.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from eeon_control.errors import FabricError
from eeon_control.sources import Document, read_yaml
from eeon_control.topology import Topology
from eeon_control.units import Duration

_TARGET = re.compile(
    r"(?:grpc://)?(?P<address>\[[0-9A-Fa-f:.]+\]:\d{1,5}|[A-Za-z0-9_.-]+:\d{1,5})"
    r"(?:\?device_id=(?P<device_id>\d{1,19}))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Target:
    """One switch's P4Runtime server: a gRPC address, and its device id when it is not the topology's."""

    address: str
    device_id: int | None = None

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read `host:port` or `host:port?device_id=N`."""
        if isinstance(text, cls):
            return text
        match = _TARGET.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise ValueError(
                "a target is host:port, for example 127.0.0.1:9559 or 127.0.0.1:9559?device_id=1"
            )
        return cls(match["address"], int(match["device_id"]) if match["device_id"] else None)

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return self.address if self.device_id is None else f"{self.address}?device_id={self.device_id}"


def _tick(text: object) -> Duration:
    tick = Duration.parse(text)
    if tick <= 0:
        raise ValueError("must be above zero; BMv2's tick is 1us")
    return tick


class Targets(BaseModel):
    """A whole targets file."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    tick: Annotated[Duration, PlainValidator(_tick)]
    switches: dict[str, Annotated[Target, PlainValidator(Target.parse)]]

    def as_value(self) -> dict[str, Any]:
        """The plain values that `from_value` reads: all that it takes to connect again, and no secret."""
        return {"tick": str(self.tick), "switches": {name: str(one) for name, one in self.switches.items()}}

    @classmethod
    def from_value(cls, value: dict[str, Any], source: str) -> Self:
        """The targets that `as_value` wrote; `source` stands for the file in errors. Raises InputError."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise Document.of_value(value, source).from_validation(error) from None


def load_targets(path: Path) -> Targets:
    """Read a targets file. Raises InputError or DataNotFound."""
    document = read_yaml(path)
    try:
        return Targets.model_validate(document.value)
    except ValidationError as error:
        raise document.from_validation(error) from None


def resolve(topology: Topology, targets: Mapping[str, str | Target]) -> dict[str, Target]:
    """Every switch's target with its device id filled in, in topology order.

    Raises FabricError unless there is exactly one target for every switch.
    """
    missing = [name for name in topology.switches if name not in targets]
    unknown = [name for name in targets if name not in topology.switches]
    if missing or unknown:
        parts = [f"no target for {', '.join(missing)}"] if missing else []
        parts += [f"topology {topology.name} has no switch {', '.join(unknown)}"] if unknown else []
        raise FabricError("; ".join(parts))
    resolved = {}
    for name, switch in topology.switches.items():
        try:
            target = Target.parse(targets[name])
        except ValueError as error:
            raise FabricError(f"{name}: {targets[name]!r}: {error}") from None
        device_id = switch.device_id if target.device_id is None else target.device_id
        resolved[name] = Target(target.address, device_id)
    return resolved
