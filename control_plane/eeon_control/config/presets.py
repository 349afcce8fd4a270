"""EEE settings that always exist by name: the ones the papers compare (E-EON thesis tables 4.3 and 7.3).

A name such as 120us100 is the holding time and the trigger in packets. A configuration may not redefine them,
so that a name means the same in every report.
"""

from __future__ import annotations

from typing import Any

_COALESCING = {
    "12us10": ("12us", "10pkt"),
    "120us100": ("120us", "100pkt"),
    "500us500": ("500us", "500pkt"),
    "1ms1000": ("1ms", "1000pkt"),
    "10ms1000": ("10ms", "1000pkt"),
}

EEE_PRESETS: dict[str, dict[str, Any]] = {
    "off": {"mode": "off"},
    "standard": {"mode": "standard"},
    **{
        name: {"mode": "coalesce", "hold": hold, "trigger": trigger}
        for name, (hold, trigger) in _COALESCING.items()
    },
}
