"""Schedulers of applications' flows, in users' units; docs/models/flow_chasing.md says what each
scheduler does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from eeon_control.model_base import Strict, of_text, text_schema
from eeon_control.units import Bytes, DataRate, Duration
from pydantic import Field, model_validator

from eeon_experiments.quantities import AnySizeText, PositiveShareText, ShareText

if TYPE_CHECKING:
    from eeon_engine.json_types import SchedulerSpec

_LONGEST_DELAY = Duration.parse("1000s")  # netsim's MAX_SPEC_TIME_PS
_OF_FCA = ("order", "work_conserving", "preempt")


def _delay(text: object) -> Duration:
    delay = Duration.parse(text)
    if delay > _LONGEST_DELAY:
        raise ValueError(f"must be at most {_LONGEST_DELAY}")
    return delay


DelayText = Annotated[Duration, *of_text(_delay, text_schema(Duration, examples=["1ms"]))]
FloorText = Annotated[DataRate, *of_text(DataRate.parse, text_schema(DataRate, examples=["100kbps"]))]


class Scheduler(Strict):
    """A scheduler of applications' flows. What a reducer fetches, a coflow or a round of incast is one
    transfer; each of its flows is limited by the NIC of the host that sends it."""

    kind: Literal["fair", "fca", "sebf", "scf", "dclas"]
    """`fair` (max-min), `fca` (flow chasing), `sebf` (smallest bottleneck first, Varys), `scf` (shortest
    longest flow first) or `dclas` (least attained service, Aalo)."""
    order: Literal["total", "remaining"] = "total"
    """Of `fca`: smaller transfers are served first, by all that was announced, or by what is left."""
    work_conserving: Annotated[bool, Field(strict=True)] = True
    """Of `fca`: flows take what no transfer needs; with `false` they do not (the paper's myopic form)."""
    preempt: Annotated[bool, Field(strict=True)] = False
    """Of `fca`: smaller transfers take from larger ones, which the paper's algorithm never does."""
    mice: AnySizeText = Bytes(0)
    """A flow of fewer bytes is not announced and has no limiter."""
    floor: FloorText = DataRate(100_000)
    """What each flow gets at least, as far as the reserve lasts; `0bps` for no floor."""
    floor_reserve: ShareText = 0.01
    """What of each link is kept for floors."""
    capacity: PositiveShareText = 0.95
    """What of each link is given out; the rest is for ACKs, retransmissions and other traffic."""
    report_delay: DelayText = Duration(0)
    """From a flow's beginning or end until the scheduler knows."""
    decide_delay: DelayText = Duration(0)
    """From then until it has decided."""
    enforce_delay: DelayText = Duration(0)
    """From then until the senders' limiters have the rates."""

    @model_validator(mode="after")
    def _options_are_of_fca(self) -> Self:
        given = [key for key in _OF_FCA if key in self.model_fields_set]
        if given and self.kind != "fca":
            raise ValueError(f"{self.kind} has no {given[0]}: leave it out, or choose fca")
        return self

    def engine(self) -> SchedulerSpec:
        """Returns the scheduler as the engine reads it."""
        spec: SchedulerSpec = {
            "kind": self.kind,
            "mice_bytes": int(self.mice),
            "floor_bps": int(self.floor),
            "floor_reserve_ppm": _ppm(self.floor_reserve),
            "capacity_ppm": _ppm(self.capacity),
            "report_delay_ps": int(self.report_delay),
            "decide_delay_ps": int(self.decide_delay),
            "enforce_delay_ps": int(self.enforce_delay),
        }
        if self.kind == "fca":
            spec["order"] = self.order
            spec["work_conserving"] = self.work_conserving
            spec["preempt"] = self.preempt
        return spec


def _ppm(share: float) -> int:
    """Returns a share in millionths; a share above zero stays above zero."""
    return max(round(share * 1_000_000), 1 if share else 0)
