"""Mean power of one EEE transmitter under Poisson arrivals, in closed form.

The link's time is a chain of cycles: busy, going to sleep (Ts, full power), asleep (a tenth of full power),
waking (Tw, full power), busy again. With OFF the mean time asleep and EV the mean time without transmission
per cycle, the share of full power is 1 - (1 - phi)(1 - rho) OFF / EV. Timer and count are those of
Christensen et al., "IEEE 802.3az: the road to energy efficient Ethernet" (IEEE Communications Magazine,
November 2010), whose curves the EEE paper redraws as its figure 2.
"""

import math

LPI_POWER = 0.1
"""Power in low-power idle as a share of full power (EEE paper, section II-A)."""

RATE_BPS, WAKE_SECONDS, SLEEP_SECONDS = 10e9, 4.48e-6, 2.88e-6
"""Of 10GBASE-T (EEE paper, table I)."""


def ideal(load: float) -> float:
    """Returns a link's share of full power if it sleeps at no cost whenever it is idle; `load` is 0 to 1."""
    return LPI_POWER + (1 - LPI_POWER) * load


def standard(load: float, frame_bytes: int) -> float:
    """Returns a link's share of full power if it sleeps at once and until the first frame; 0 < `load` < 1."""
    rate = load * RATE_BPS / (8 * frame_bytes)
    asleep = math.exp(-rate * SLEEP_SECONDS) / rate
    # The idle period. A frame that arrives while the link goes to sleep waits until that ends.
    idle = SLEEP_SECONDS + asleep + WAKE_SECONDS
    return _share(load, asleep, idle)


def coalescing(load: float, frame_bytes: int, timer_seconds: float, count: int) -> float:
    """Returns a link's share of full power if it wakes `timer_seconds` after the first frame or at the
    `count`-th; 0 < `load` < 1.

    Exact except if `count` frames arrive during one transition to sleep, which must not exceed the timer.
    """
    rate = load * RATE_BPS / (8 * frame_bytes)
    held = math.fsum(_at_least(k, rate * timer_seconds) for k in range(1, count)) / rate
    asleep = 1 / rate + held - SLEEP_SECONDS
    return _share(load, asleep, 1 / rate + held + WAKE_SECONDS)


def _share(load: float, asleep: float, idle: float) -> float:
    return 1 - (1 - LPI_POWER) * (1 - load) * asleep / idle


def _at_least(k: int, mean: float) -> float:
    """Returns P(Poisson(mean) >= k)."""
    below = math.fsum(math.exp(j * math.log(mean) - mean - math.lgamma(j + 1)) for j in range(k))
    return max(0.0, 1 - below)
