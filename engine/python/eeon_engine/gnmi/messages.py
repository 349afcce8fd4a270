"""gNMI's messages, as finsy carries them; `p4runtime.messages` says why not by `import finsy`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from finsy.proto import gnmi
else:
    from ..p4runtime.messages.gnmi1 import gnmi_pb2 as gnmi

__all__ = ["gnmi"]
