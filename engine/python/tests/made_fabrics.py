"""Fabrics for this package's tests."""

from typing import Any

from ptf_tests.lib.packets import host_ipv4, host_mac

GATES = {"gate_register": "gate_open_at"}
"""The setting of a fabric whose switches run the project's own program."""


def fabric(hosts: int, **settings: object) -> dict[str, Any]:
    """Makes a fabric's spec: a switch with a host N of `ptf_tests.lib.packets` on each port N, from 1."""
    each = range(1, hosts + 1)
    ends = [{"a": {"node": "leaf1", "port": n}, "b": {"node": f"h{n}", "port": 0}} for n in each]
    return {
        "seed": 1,
        "switches": [{"name": "leaf1", "device_id": 3}],
        "hosts": [{"name": f"h{n}", "mac": host_mac(n), "ipv4": host_ipv4(n)} for n in each],
        "links": [{**end, "rate_bps": 1_000_000_000, "delay_ps": 500_000} for end in ends],
        **settings,
    }
