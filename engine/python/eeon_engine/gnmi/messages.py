"""gNMI's messages from finsy; `p4runtime.messages` explains why they are not imported as `finsy`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from finsy.proto import gnmi
else:
    from ..p4runtime.messages.gnmi1 import gnmi_pb2 as gnmi

__all__ = ["gnmi"]
