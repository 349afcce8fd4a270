"""Settings of the NICs' reactions to congestion; docs/models/qcn.md and dcqcn.md have the algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, cast

from eeon_control.model_base import Strict, in_bytes, of_text, positive, text_schema
from eeon_control.units import Bytes, DataRate, Duration
from pydantic import Field

from eeon_experiments.engine_form import engine_form

if TYPE_CHECKING:
    from eeon_engine.json_types import NicDcqcnSpec, QcnSettings

# Limits of netsim's reaction points.
_LEAST_CYCLE = Bytes(1000)
_SHORTEST_CYCLE, _LONGEST_CYCLE = Duration.parse("1us"), Duration.parse("1000s")


def _cycle_bytes(text: object) -> Bytes:
    size = in_bytes("a cycle")(text)
    if size < _LEAST_CYCLE:
        raise ValueError(f"must be at least {_LEAST_CYCLE}")
    return size


def _cycle_time(text: object) -> Duration:
    time = Duration.parse(text)
    if not _SHORTEST_CYCLE <= time <= _LONGEST_CYCLE:
        raise ValueError(f"must be from {_SHORTEST_CYCLE} to {_LONGEST_CYCLE}")
    return time


CycleBytesText = Annotated[Bytes, *of_text(_cycle_bytes, text_schema(Bytes, examples=["150KB"]))]
CycleTimeText = Annotated[Duration, *of_text(_cycle_time, text_schema(Duration, examples=["15ms"]))]
_rate = positive(DataRate, DataRate(10**12))
RateText = Annotated[DataRate, *of_text(_rate, text_schema(DataRate, examples=["5Mbps"]))]


class Qcn(Strict):
    """The reaction point of each flow that a message names (IEEE 802.1Q-2022, 32.10 to 32.15). The defaults
    are those of IEEE8021-CN-MIB."""

    byte_limit: Annotated[CycleBytesText, Field(serialization_alias="cycle_bytes")] = Bytes(150_000)
    """Length of a cycle in bytes (rpgByteReset)."""
    timer: CycleTimeText = Duration.parse("15ms")
    """Length of a cycle in time (rpgTimeReset)."""
    fast_cycles: Annotated[int, Field(strict=True, ge=1, le=1000)] = 5
    """Number of cycles until the target rate rises (rpgThreshold)."""
    active_increase: Annotated[RateText, Field(serialization_alias="active_bps")] = DataRate(5_000_000)
    """Rate that a cycle of active increase adds to the target rate (rpgAiRate)."""
    hyper_increase: Annotated[RateText, Field(serialization_alias="hyper_bps")] = DataRate(50_000_000)
    """Rate that a cycle of hyper-active increase adds, times the number of these so far (rpgHaiRate)."""
    gain_shift: Annotated[int, Field(strict=True, ge=6, le=30)] = 7
    """n: feedback f reduces the rate by the fraction f / 2^n (rpgGd). With 7, the strongest feedback halves
    it."""
    min_decrease_percent: Annotated[int, Field(strict=True, ge=1, le=100)] = 50
    """Minimum percentage of the rate that one reduction leaves (rpgMinDecFac)."""
    min_rate: Annotated[RateText, Field(serialization_alias="min_bps")] = DataRate(5_000_000)
    """Lowest rate (rpgMinRate)."""
    extra_fast_recovery: Annotated[bool, Field(strict=True)] = True
    """Reductions within the first cycle of bytes keep the target rate of the first reduction."""
    halved_cycles: Annotated[bool, Field(strict=True)] = True
    """Cycles after fast recovery are half as long (Alizadeh et al., Allerton 2008)."""
    scope: Literal["flow", "pair", "host"] = "flow"
    """The traffic that shares a reaction point: a 5-tuple (`flow`), all traffic to one address (`pair`), or
    all traffic of the host (`host`)."""

    def engine(self) -> QcnSettings:
        spec = engine_form(self)
        if self.scope == "flow":
            del spec["scope"]
        return cast("QcnSettings", spec)


class Dcqcn(Strict):
    """DCQCN of every host, as sender and as receiver (Zhu et al., SIGCOMM 2015). The defaults are the values
    deployed at 40 Gbit/s, as far as they are published."""

    byte_limit: Annotated[CycleBytesText, Field(serialization_alias="cycle_bytes")] = Bytes(10_000_000)
    """Length of a cycle in bytes (B)."""
    timer: CycleTimeText = Duration.parse("55us")
    """Length of a cycle in time (T)."""
    fast_cycles: Annotated[int, Field(strict=True, ge=1, le=1000)] = 5
    """Number of cycles until the target rate rises (F)."""
    active_increase: Annotated[RateText, Field(serialization_alias="active_bps")] = DataRate(40_000_000)
    """Rate that a cycle of additive increase adds to the target rate (R_AI)."""
    hyper_increase: Annotated[RateText, Field(serialization_alias="hyper_bps")] = DataRate(400_000_000)
    """Rate that a cycle of hyper increase adds, times the number of these so far (R_HAI); not published."""
    gain_shift: Annotated[int, Field(strict=True, ge=1, le=16)] = 8
    """n: the gain g of the congestion estimate is 2^-n."""
    alpha_timer: CycleTimeText = Duration.parse("55us")
    """Time without a notification after which the estimate decays (K)."""
    min_rate: Annotated[RateText, Field(serialization_alias="min_bps")] = DataRate(5_000_000)
    """Lowest rate."""
    cnp_interval: CycleTimeText = Duration.parse("50us")
    """Minimum time between two notifications about a flow (N)."""
    cnp_dscp: Annotated[int, Field(strict=True, ge=0, le=63)] = 48
    """DSCP of the notifications, to which `classes` may assign a separate queue. 48 is CS6."""

    def engine(self) -> NicDcqcnSpec:
        spec = engine_form(self)
        of_receiver = {key: spec.pop(key) for key in ("cnp_interval_ps", "cnp_dscp")}
        return cast("NicDcqcnSpec", {"reaction": spec, **of_receiver})
