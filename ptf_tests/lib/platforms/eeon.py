"""PTF platform `eeon`: the data-plane ports are those of an engine switch in this process.

    ptf --platform eeon --platform-dir ptf_tests/lib/platforms --test-params "target='engine';..."

ptf imports this file by name and calls `platform_config_update`. The port class is set as
`dataplane.portclass`, ptf's hook for other kinds of ports.
"""

from ptf_tests.lib.ports import DATA_PORTS
from ptf_tests.lib.targets import base
from ptf_tests.lib.targets.engine import EnginePort, EngineTarget


def platform_config_update(config: dict[str, object]) -> None:
    """Sets the ports and their class in ptf's configuration."""
    target = base.current()
    if not isinstance(target, EngineTarget):
        raise RuntimeError(f"platform eeon serves target engine, not {target.name}")
    config["engine_target"] = target
    config["dataplane"] = {"portclass": EnginePort}
    config["port_map"] = {(0, port): f"port {port}" for port in DATA_PORTS}
