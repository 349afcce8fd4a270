"""What hosts' NICs do with congestion notifications; docs/models/qcn.md and dcqcn.md have the algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from eeon_control.model_base import Strict, in_bytes, of_text, text_schema
from eeon_control.units import Bytes, DataRate, Duration
from pydantic import Field

if TYPE_CHECKING:
    from eeon_engine.json_types import NicDcqcnSpec, QcnSettings

# What netsim's reaction points allow.
_LEAST_CYCLE = Bytes(1000)
_SHORTEST_CYCLE, _LONGEST_CYCLE = Duration.parse("1us"), Duration.parse("1000s")
_HIGHEST_RATE = DataRate(10**12)


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


def _rate(text: object) -> DataRate:
    rate = DataRate.parse(text)
    if not 0 < rate <= _HIGHEST_RATE:
        raise ValueError(f"must be above zero and at most {_HIGHEST_RATE}")
    return rate


CycleBytesText = Annotated[Bytes, *of_text(_cycle_bytes, text_schema(Bytes, examples=["150KB"]))]
CycleTimeText = Annotated[Duration, *of_text(_cycle_time, text_schema(Duration, examples=["15ms"]))]
RateText = Annotated[DataRate, *of_text(_rate, text_schema(DataRate, examples=["5Mbps"]))]


class Qcn(Strict):
    """The reaction point of each flow that a message names (IEEE 802.1Q-2022, 32.10 to 32.15). The defaults
    are those of IEEE8021-CN-MIB."""

    byte_limit: CycleBytesText = Bytes(150_000)
    """Bytes of a cycle (rpgByteReset)."""
    timer: CycleTimeText = Duration.parse("15ms")
    """Time of a cycle (rpgTimeReset)."""
    fast_cycles: Annotated[int, Field(strict=True, ge=1, le=1000)] = 5
    """Cycles until the target rises (rpgThreshold)."""
    active_increase: RateText = DataRate(5_000_000)
    """What a cycle of active increase adds to the target (rpgAiRate)."""
    hyper_increase: RateText = DataRate(50_000_000)
    """What one of hyper-active increase adds, times how many there have been (rpgHaiRate)."""
    gain_shift: Annotated[int, Field(strict=True, ge=6, le=30)] = 7
    """Feedback f cuts the rate by f / 2^n of it (rpgGd); with 7 the strongest halves it."""
    min_decrease_percent: Annotated[int, Field(strict=True, ge=1, le=100)] = 50
    """What one cut leaves at least, in percent (rpgMinDecFac)."""
    min_rate: RateText = DataRate(5_000_000)
    """No rate is lower (rpgMinRate)."""
    extra_fast_recovery: Annotated[bool, Field(strict=True)] = True
    """Cuts within the first cycle of bytes remember the target of the first."""
    halved_cycles: Annotated[bool, Field(strict=True)] = True
    """Cycles after fast recovery are half as long (Alizadeh et al., Allerton 2008)."""
    scope: Literal["flow", "pair", "host"] = "flow"
    """Of what a host has a reaction point each: of a 5-tuple, of all that it sends to one address, of all."""

    def engine(self) -> QcnSettings:
        """Returns the settings as the engine reads them."""
        settings: QcnSettings = {
            "cycle_bytes": int(self.byte_limit),
            "timer_ps": int(self.timer),
            "fast_cycles": self.fast_cycles,
            "active_bps": int(self.active_increase),
            "hyper_bps": int(self.hyper_increase),
            "gain_shift": self.gain_shift,
            "min_decrease_percent": self.min_decrease_percent,
            "min_bps": int(self.min_rate),
            "extra_fast_recovery": self.extra_fast_recovery,
            "halved_cycles": self.halved_cycles,
        }
        if self.scope != "flow":
            settings["scope"] = self.scope
        return settings


class Dcqcn(Strict):
    """DCQCN of every host, as sender and as receiver (Zhu et al., SIGCOMM 2015). The defaults are what they
    deployed at 40 Gbit/s, as far as they are printed."""

    byte_limit: CycleBytesText = Bytes(10_000_000)
    """Bytes of a cycle (B)."""
    timer: CycleTimeText = Duration.parse("55us")
    """Time of a cycle (T)."""
    fast_cycles: Annotated[int, Field(strict=True, ge=1, le=1000)] = 5
    """Cycles until the target rises (F)."""
    active_increase: RateText = DataRate(40_000_000)
    """What a cycle of additive increase adds to the target (R_AI)."""
    hyper_increase: RateText = DataRate(400_000_000)
    """What one of hyper increase adds, times how many there have been (R_HAI); not printed."""
    gain_shift: Annotated[int, Field(strict=True, ge=1, le=16)] = 8
    """The gain g of the estimate of congestion is 2^-n."""
    alpha_timer: CycleTimeText = Duration.parse("55us")
    """Time without notification after which the estimate decays (K)."""
    min_rate: RateText = DataRate(5_000_000)
    """No rate is lower."""
    cnp_interval: CycleTimeText = Duration.parse("50us")
    """Least time between two notifications about a flow (N)."""
    cnp_dscp: Annotated[int, Field(strict=True, ge=0, le=63)] = 48
    """DSCP of the notifications, which `classes` may give a queue of their own. 48 is CS6."""

    def engine(self) -> NicDcqcnSpec:
        """Returns the settings as the engine reads them."""
        return {
            "reaction": {
                "cycle_bytes": int(self.byte_limit),
                "timer_ps": int(self.timer),
                "fast_cycles": self.fast_cycles,
                "active_bps": int(self.active_increase),
                "hyper_bps": int(self.hyper_increase),
                "gain_shift": self.gain_shift,
                "alpha_timer_ps": int(self.alpha_timer),
                "min_bps": int(self.min_rate),
            },
            "cnp_interval_ps": int(self.cnp_interval),
            "cnp_dscp": self.cnp_dscp,
        }
