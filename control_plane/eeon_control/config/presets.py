"""Named settings that always exist: those compared in the papers.

A configuration cannot redefine them, so that a name has the same meaning in every report.
"""

# E-EON thesis tables 4.3 and 7.3: a name such as 120us100 has the holding time and the trigger in packets.
_COALESCING: dict[str, dict[str, object]] = {
    f"{hold}{packets}": {"mode": "coalesce", "hold": hold, "trigger": f"{packets}pkt"}
    for hold, packets in (("12us", 10), ("120us", 100), ("500us", 500), ("1ms", 1000), ("10ms", 1000))
}
# Thesis section 4.3.3.2: with a "+", the 10GbE links, which use most of the energy, have 1ms1000 instead.
_NON_UNIFORM = ("12us10", "120us100")

EEE_PRESETS: dict[str, dict[str, object]] = {
    "off": {"mode": "off"},
    "standard": {"mode": "standard"},
    **_COALESCING,
    **{
        f"{name}+": {**_COALESCING[name], "by_speed": {"10Gbps": {"hold": "1ms", "trigger": "1000pkt"}}}
        for name in _NON_UNIFORM
    },
}

# E-EON thesis table 6.3: commodity switches have 200 packets, at most 300 KB, per port; expensive ones have
# 2000 packets, at most 3 MB.
BUFFER_PRESETS: dict[str, str] = {"shallow": "300KB", "deep": "3MB"}
