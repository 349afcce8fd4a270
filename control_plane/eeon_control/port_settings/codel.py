"""Controlled Delay (RFC 8289), one of the papers' baselines: docs/models/codel.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from eeon_control.entries import Action
from eeon_control.errors import PlanError
from eeon_control.model_base import FULL_FRAME_BYTES, U32_MAX, PositiveDurationText, Strict, of_bytes
from eeon_control.port_settings import codec
from eeon_control.port_settings.codec import Protect, Settings
from eeon_control.units import Bytes, DataRate, Duration


class Codel(Strict):
    """Controlled Delay (RFC 8289): marks or drops packets at their departure, by their time in the queue.

    When that time has been at least `target` for an `interval`, CoDel signals one packet, and further packets
    after `interval` / sqrt(n). A signal marks ECT packets when `ecn` is on and drops the others, unless
    `protect` names them. The time for which a sleeping link holds a packet counts.
    """

    mode: Literal["codel"]
    """`codel`: Controlled Delay, the papers' other baseline."""
    target: PositiveDurationText = Duration.parse("5ms")
    """The target delay: the delay that a standing queue may have. The default is RFC 8289's (section 4.4),
    for the Internet. The papers' data centres use, with `interval`: 500us and 20ms, 800us and 1500us, 400us
    and 1ms, 300us and 750us."""
    interval: PositiveDurationText = Duration.parse("100ms")
    """The time for which the delay must stay above `target`: about the longest round-trip time of the flows.
    The default is RFC 8289's (section 4.3)."""
    mtu: Annotated[Bytes, *of_bytes("the MTU")] = Bytes(FULL_FRAME_BYTES + 14)
    """The longest frame. A queue with at most this many bytes behind a packet is never too long."""
    ecn: Annotated[bool, Field(strict=True)] = True
    """`true`: ECT packets are marked. `false`: they are dropped like the others."""
    protect: Protect = "ect"
    """Packets that are never dropped early, as for `red`. A signal waits for the next packet that may carry
    it."""

    def settings_at(self, rate: DataRate) -> CodelSettings:
        return CodelSettings(self.target, self.interval, self.mtu, self.ecn, self.protect)


@dataclass(frozen=True)
class CodelSettings(Settings):
    """CoDel at one port. Times are ticks of at most 32 bits."""

    target: Duration
    interval: Duration
    mtu: Bytes
    ecn: bool
    protect: str

    action: ClassVar[str] = "codel"
    params = (
        ("target_ticks", "target", codec.TICKS),
        ("interval_ticks", "interval", codec.TICKS),
        ("mtu_bytes", "mtu", codec.BYTES),
        ("ecn", "ecn", codec.FLAG),
        ("protect", "protect", codec.PROTECTED),
    )

    def to_action(self, tick: Duration) -> Action:
        """Returns the action. Raises PlanError for a time of more than 2^32 - 1 ticks."""
        for key, span in self.spans().items():
            if codec.to_ticks(span, tick) > U32_MAX:
                raise PlanError(
                    f"{key} is {span}; with this target's {tick} tick the limit is "
                    f"{Duration(U32_MAX * tick)} (32 bits)"
                )
        return super().to_action(tick)

    def describe(self) -> str:
        """Returns `codel 800us, interval 1.5ms, ECN, protect ect`."""
        ecn = "ECN" if self.ecn else "no ECN"
        return f"codel {self.target}, interval {self.interval}, {ecn}, protect {self.protect}"

    def parts(self) -> dict[str, str]:
        return {
            "target": codec.spaced(self.target),
            "interval": codec.spaced(self.interval),
            "MTU": codec.size_text(self.mtu),
            "ECN": codec.on_off(self.ecn),
            "protects": codec.protects(self.protect),
        }
