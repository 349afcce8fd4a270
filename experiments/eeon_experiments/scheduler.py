"""Schedulers of applications' flows, in users' units; docs/models/flow_chasing.md describes each
scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self, cast

from eeon_control.model_base import Strict, of_text, text_schema
from eeon_control.units import Bytes, DataRate, Duration
from pydantic import Field, model_validator

from eeon_experiments.engine_form import engine_form
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
    """A scheduler of applications' flows. All that a reducer fetches is one transfer; so is a coflow, and so
    is a round of incast. The NIC of the sending host limits each of its flows."""

    kind: Literal["fair", "fca", "sebf", "scf", "dclas"]
    """`fair` (max-min), `fca` (flow chasing), `sebf` (smallest bottleneck first, Varys), `scf` (shortest
    longest flow first) or `dclas` (least attained service, Aalo)."""
    order: Literal["total", "remaining"] = "total"
    """For `fca`: smaller transfers are served first, measured by their announced bytes (`total`) or by their
    remaining bytes (`remaining`)."""
    work_conserving: Annotated[bool, Field(strict=True)] = True
    """For `fca`: flows use capacity that no transfer needs; with `false` they do not (the paper's myopic
    form)."""
    preempt: Annotated[bool, Field(strict=True)] = False
    """For `fca`: smaller transfers take capacity from larger ones, which the paper's algorithm never does."""
    mice: AnySizeText = Bytes(0)
    """Flows of fewer bytes are not announced to the scheduler and have no limiter."""
    floor: FloorText = DataRate(100_000)
    """Minimum rate of each flow, as far as the reserve lasts; `0bps` for no minimum."""
    floor_reserve: ShareText = 0.01
    """Share of each link that is reserved for these minimum rates."""
    capacity: PositiveShareText = 0.95
    """Share of each link that is assigned; the rest is for ACKs, retransmissions and other traffic."""
    report_delay: DelayText = Duration(0)
    """Time from the beginning or end of a flow until the scheduler knows it."""
    decide_delay: DelayText = Duration(0)
    """Time from then until the scheduler has decided."""
    enforce_delay: DelayText = Duration(0)
    """Time from then until the senders' limiters have the rates."""

    @model_validator(mode="after")
    def _options_are_of_fca(self) -> Self:
        given = [key for key in _OF_FCA if key in self.model_fields_set]
        if given and self.kind != "fca":
            raise ValueError(f"{self.kind} has no {given[0]}: leave it out, or choose fca")
        return self

    def engine(self) -> SchedulerSpec:
        spec = engine_form(self)
        for key in ("floor_reserve", "capacity"):
            spec[f"{key}_ppm"] = _ppm(spec.pop(key))
        for key in () if self.kind == "fca" else _OF_FCA:
            del spec[key]
        return cast("SchedulerSpec", spec)


def _ppm(share: float) -> int:
    """Returns a share in millionths, at least 1 for a share above zero."""
    return max(round(share * 1_000_000), 1 if share else 0)
