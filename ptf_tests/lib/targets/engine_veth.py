"""The command eeon-switch on veth pairs, in real time: see real_time.py.

Its traffic manager honours `gate_open_at`, and its timestamps count nanoseconds. ptf_tests/run/engine_veth.py
creates its process and the pairs.
"""

from __future__ import annotations

from ptf.testutils import test_param_get

from ptf_tests.lib.targets.real_time import RealTimeTarget


class EngineVethTarget(RealTimeTarget):
    """See the module."""

    name = "engine-veth"
    tick_ns = 1
    # Each port has its own socket, and each turn of the switch empties one after the other.
    keeps_order_between_ports = False


def make() -> EngineVethTarget:
    """Returns the target with the values of the test parameters."""
    return EngineVethTarget(
        test_param_get("grpc_address"), int(test_param_get("thrift_port")), test_param_get("cli")
    )
