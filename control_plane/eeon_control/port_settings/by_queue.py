"""AQMs per queue, in the table `queue_aqm`: each one considers only its own queue."""

from dataclasses import dataclass
from typing import ClassVar

from eeon_control.port_settings.codec import WithoutParameters


@dataclass(frozen=True)
class ByQueueSettings(WithoutParameters):
    """The port's AQM is the AQM of the packet's queue."""

    action: ClassVar[str] = "by_queue"
    text: ClassVar[str] = "by queue"
