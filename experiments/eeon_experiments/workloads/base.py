"""The base of all applications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, cast

from eeon_control.model_base import Strict
from eeon_control.sources import KeyPath
from eeon_control.topology import Topology
from eeon_control.units import Bytes, Duration
from eeon_control.validation import did_you_mean
from pydantic import Field

from eeon_experiments.engine_form import Form, engine_form
from eeon_experiments.tcp import Tcp

if TYPE_CHECKING:
    from eeon_engine.json_types import ApplicationSpec

Broken = tuple[KeyPath, str]
"""A place below the application, and the rule that is violated there."""

Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
CountOrNone = Annotated[int, Field(strict=True, ge=0, le=1_000_000)]
Number = Annotated[float, Field(ge=0, allow_inf_nan=False)]
NO_JITTER = Duration(0)
_HEADERS_BYTES = 54
"""Of Ethernet, IPv4 and TCP. A segment with TCP options has less payload."""
Flag = Annotated[bool, Field(strict=True)]


class Application(Strict):
    """Base of all kinds. A subclass has `kind: Literal["..."]`, and `broken` if it names hosts."""

    background: Flag = False
    """Whether the application is in the background: a run ends when all applications in the foreground have
    finished."""
    dscp: Annotated[int, Field(strict=True, ge=0, le=63)] = 0
    """DSCP of all packets of the application, in both directions. It selects one of the configuration's
    `classes`."""
    tcp: Tcp | None = None
    """TCP settings of this application's connections. Keys that are left out come from the run's `tcp`."""

    def broken(self, topology: Topology) -> Iterator[Broken]:
        """Yields mismatches with this fabric."""
        yield from ()

    def advice(self, mss: int) -> Iterator[str]:
        """Yields advice about allowed but unusual settings, one sentence each."""
        yield from ()

    def effective_tcp(self, of_run: Tcp) -> Tcp:
        """Returns the settings of its connections: its own keys over the run's."""
        if self.tcp is None:
            return of_run
        return of_run.model_copy(update={key: getattr(self.tcp, key) for key in self.tcp.model_fields_set})

    def longest_frames(self, path: KeyPath, of_run: Tcp) -> Iterator[tuple[KeyPath, Bytes]]:
        """Yields lengths of its longest frames, without FCS, with the keys that set them. `path`: the
        application's."""
        is_own = self.tcp is not None and "mss" in self.tcp.model_fields_set
        yield (
            (*path, "tcp", "mss") if is_own else ("tcp", "mss"),
            Bytes(self.effective_tcp(of_run).mss + _HEADERS_BYTES),
        )

    def engine(
        self, name: str, topology: Topology, seed: int, start_jitter: Duration = NO_JITTER
    ) -> ApplicationSpec:
        """Returns the application in the engine's form. `seed` and `start_jitter` are the run's."""
        spec = {"name": name, **self._own(topology, seed)}
        if start_jitter and spec["kind"] in ("coflows", "incast", "scatter_gather", "phases"):
            spec["start_jitter_ps"] = int(start_jitter)
        if self.background:
            spec["background"] = True
        if self.dscp:
            spec["dscp"] = self.dscp
        if self.tcp is not None:
            spec["tcp"] = self.tcp.engine()
        return cast("ApplicationSpec", spec)

    def _own(self, topology: Topology, seed: int) -> Form:
        """Returns the part that depends on the kind; by default, all keys that only this kind has."""
        return engine_form(self, type(self).model_fields.keys() - Application.model_fields.keys())


def unknown_hosts(names: Iterable[tuple[KeyPath, str]], topology: Topology) -> Iterator[Broken]:
    """Yields a problem for each name that is not a host of the fabric."""
    for path, name in names:
        if name not in topology.hosts:
            near = did_you_mean(name, topology.hosts)
            few = ", ".join(list(topology.hosts)[:3])
            yield path, f"topology {topology.name} has no host of that name{near}; it has {few}, ..."


def differ(first: str, second: str, path: KeyPath) -> Iterator[Broken]:
    """Yields a problem if both hosts are the same: a host does not send to itself."""
    if first == second:
        yield path, "the two hosts must not be the same"
