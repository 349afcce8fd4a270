"""The settings of a port: the only place that converts them to table actions and back.

    settings = profile.aqm.settings_at(port.rate)            # a profile's settings at one port's speed
    action = settings.to_action(tick)                        # the action for the port's table
    settings = port_settings.AQM.from_action(action, tick)   # the settings of an action that was read
    settings.describe()                                      # in words

Each has a file: `buffer`, `drop_tail`, `mark_threshold`, `red`, `codel`, `eee`. It has the model of the
configuration (pydantic; the profile), the settings at one port, and their conversion to the P4 program's
action. To add an AQM: write its file, add its profile to `Aqm` and its settings to `AQM` below, and
write its action in p4src/include/control/aqm.p4. Pure: no files, no clock, no network.
"""

from eeon_control.port_settings.buffer import BufferLimit, BufferLimitBesideHeld, BufferLimitInPackets
from eeon_control.port_settings.codec import IN_TICKS, ByQueueSettings, PortTable, Settings
from eeon_control.port_settings.codel import Codel, CodelSettings
from eeon_control.port_settings.drop_tail import DropTail, DropTailSettings
from eeon_control.port_settings.eee import Eee, EeeOff, EeeSettings
from eeon_control.port_settings.mark_threshold import MarkThreshold, MarkThresholdSettings
from eeon_control.port_settings.red import Red, RedSettings

Aqm = DropTail | MarkThreshold | Red | Codel
"""The AQM of a queue profile; `mode` selects the class."""

BUFFER = PortTable("port_buffer", "buffer", (BufferLimit, BufferLimitInPackets, BufferLimitBesideHeld))
_AQMS: tuple[type[Settings], ...] = (DropTailSettings, MarkThresholdSettings, RedSettings, CodelSettings)
AQM = PortTable("port_aqm", "AQM", (*_AQMS, ByQueueSettings))
EEE = PortTable("port_eee", "EEE", (EeeOff, EeeSettings), of_parts="EEE ")

TABLES: dict[str, PortTable] = {table.name: table for table in (BUFFER, AQM, EEE)}
"""The tables of a port by P4Info alias, in the order in which a port's entries are written."""

QUEUE_AQM = PortTable("queue_aqm", "AQM", _AQMS)
"""The AQM of each queue of a port whose AQM is `by_queue`; its key is port << 3 | priority."""

__all__ = [
    "AQM",
    "Aqm",
    "BUFFER",
    "BufferLimit",
    "BufferLimitBesideHeld",
    "BufferLimitInPackets",
    "ByQueueSettings",
    "Codel",
    "CodelSettings",
    "DropTail",
    "DropTailSettings",
    "EEE",
    "Eee",
    "EeeSettings",
    "IN_TICKS",
    "MarkThreshold",
    "MarkThresholdSettings",
    "PortTable",
    "QUEUE_AQM",
    "Red",
    "RedSettings",
    "Settings",
    "TABLES",
]
