"""An apply that waits to be confirmed."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from eeon_control.state.clock import Moment


class Pending(BaseModel):
    """`revision` is in force until `seconds` after `since`; unless confirmed, the fabric then goes back to
    the configuration of revision `back_to`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: int
    back_to: int
    since: Moment
    seconds: float

    def seconds_left(self, now: Moment) -> float:
        """Time left to confirm, from 0 to `seconds`. 0 when the clocks cannot tell: going back is safe."""
        passed = now.seconds_since(self.since)
        return 0.0 if passed is None else max(0.0, self.seconds - passed)

    def is_overdue(self, now: Moment) -> bool:
        """Returns whether it is time to go back."""
        return self.seconds_left(now) <= 0
