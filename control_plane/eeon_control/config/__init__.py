"""The configuration of a fabric: buffers, AQM, EEE, routing, in YAML with units, by role, switch and port.

    config = eeon_control.config.load("red_ack_syn", "eee_120us100")   # packaged examples, or paths
    settings = config.settings_of(port)                                # of one topology.Port

Later files override earlier ones, key by key. `check` checks a configuration against a topology and a
target's tick (ports that do not exist, timers that do not fit).
"""

from eeon_control.config.checks import check, check_names
from eeon_control.config.classes import PRIORITIES
from eeon_control.config.explain import Explanation, explain
from eeon_control.config.model import FabricConfig, PortSettings, Routing
from eeon_control.config.presets import EEE_PRESETS
from eeon_control.config.reader import from_document, from_text, from_value, load, overridden, read
from eeon_control.config.target_settings import Bmv2QueueValues
from eeon_control.port_settings import Eee

__all__ = [
    "Bmv2QueueValues",
    "EEE_PRESETS",
    "Eee",
    "Explanation",
    "FabricConfig",
    "PRIORITIES",
    "PortSettings",
    "Routing",
    "check",
    "check_names",
    "explain",
    "from_document",
    "from_text",
    "from_value",
    "load",
    "overridden",
    "read",
]
