"""The Energy-Efficient Ethernet parameters of a PHY by speed: wake and sleep times, power.

Only speeds with published timing are included. Other speeds (300 Mbps, say) have no EEE unless the
configuration gives `sleep` and `wake`.
"""

from dataclasses import dataclass

from eeon_control.units import DataRate, Duration


@dataclass(frozen=True)
class Phy:
    """One kind of PHY.

    `wake` (Tw) and `sleep` (Ts): minimum transition times of IEEE 802.3az-2010, from the E-EON thesis, table
    2.1. `watts`: full power of one port (thesis section 3.2 and table 4.1), None if the thesis has no value.
    `lpi_fraction`: share of full power drawn in low-power idle (thesis section 2.1).
    """

    name: str
    rate: DataRate
    wake: Duration
    sleep: Duration
    watts: float | None
    lpi_fraction: float = 0.1


KNOWN: tuple[Phy, ...] = (
    Phy("100BASE-TX", DataRate.parse("100Mbps"), Duration.parse("30.5us"), Duration.parse("200us"), None),
    Phy("1000BASE-T", DataRate.parse("1Gbps"), Duration.parse("16.5us"), Duration.parse("182us"), 0.5),
    Phy("10GBASE-T", DataRate.parse("10Gbps"), Duration.parse("4.48us"), Duration.parse("2.88us"), 2.5),
)


def of_rate(rate: DataRate) -> Phy | None:
    """Returns the PHY of a link speed, or None if its EEE timing is unknown."""
    return next((phy for phy in KNOWN if phy.rate == rate), None)
