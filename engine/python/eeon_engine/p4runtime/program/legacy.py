"""The form of a program before P4Runtime 1.0: a serialised `p4.tmp.P4DeviceConfig` around the BMv2 JSON.
Clients such as `p4runtime_lib` of p4lang's tutorials still send it, and PI accepts it.
"""

import logging

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from ..errors import invalid

_LOG = logging.getLogger(__name__)


def unwrapped(device_config: bytes) -> bytes:
    """Returns the BMv2 JSON in a `p4_device_config`, which is JSON or an old message around it."""
    # No such message begins like JSON: its first tag is neither a space nor a brace.
    if device_config.lstrip(b" \t\r\n").startswith(b"{"):
        return device_config
    message = _message()
    try:
        message.ParseFromString(device_config)
    except DecodeError:
        return device_config
    data = bytes(message.device_data)  # type: ignore[attr-defined] # untyped
    if not data:
        raise invalid(
            "p4_device_config is neither JSON nor a p4.tmp.P4DeviceConfig with device_data; send the BMv2 "
            "JSON that p4c-bm2-ss wrote"
        )
    _LOG.warning("p4_device_config is a p4.tmp.P4DeviceConfig, which is deprecated; send BMv2's JSON itself")
    return data


def _message() -> Message:
    file = descriptor_pb2.FileDescriptorProto(name="p4/tmp/p4config.proto", package="p4.tmp", syntax="proto3")
    made = file.message_type.add(name="P4DeviceConfig")
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, name, kind in ((1, "reassign", kinds.TYPE_BOOL), (3, "device_data", kinds.TYPE_BYTES)):
        made.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
    # A separate pool, because a client in this process may have registered the message.
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call] # untyped
    found = pool.FindMessageTypeByName("p4.tmp.P4DeviceConfig")  # type: ignore[no-untyped-call] # untyped
    return message_factory.GetMessageClass(found)()
