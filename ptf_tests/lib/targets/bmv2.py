"""BMv2's simple_switch_grpc, connected over nanomsg (no root) and in real time: see real_time.py.

It cannot read registers over P4Runtime, so they are read with the Thrift CLI. ptf_tests/run/bmv2.py starts
its process.
"""

from __future__ import annotations

from ptf.testutils import test_param_get

from ptf_tests.lib.p4rt import P4RuntimeClient
from ptf_tests.lib.targets.real_time import RealTimeTarget


class Bmv2Target(RealTimeTarget):
    """See the module."""

    name = "bmv2"
    tick_ns = 1_000

    def register_read(self, client: P4RuntimeClient, name: str, index: int) -> int:
        """Reads over Thrift: BMv2 answers register reads over P4Runtime with UNIMPLEMENTED."""
        return self.register_over_thrift(name, index)


def make() -> Bmv2Target:
    """Returns the target with the values of the test parameters."""
    return Bmv2Target(
        test_param_get("grpc_address"), int(test_param_get("thrift_port")), test_param_get("cli")
    )
