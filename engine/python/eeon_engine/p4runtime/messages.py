"""P4Runtime's messages from finsy, without the rest of finsy.

`import finsy` loads a whole controller, including gNMI, which costs a switch 7 MB that it never uses. The
generated modules refer to each other only by relative imports, so this module is a second name for their
folder. protobuf keeps one class per message, under whatever name its file is loaded: messages made here are
equal to those of `finsy.proto`.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from finsy.proto import p4d, p4i, p4r, p4t, rpc_code, rpc_status
else:
    _finsy = find_spec("finsy")
    if _finsy is None or _finsy.origin is None:
        raise ImportError("finsy is not installed; P4Runtime's messages are part of it", name="finsy")
    __path__ = [str(Path(_finsy.origin).parent / "proto")]

    from .messages.google.rpc import code_pb2 as rpc_code
    from .messages.google.rpc import status_pb2 as rpc_status
    from .messages.p4.config.v1 import p4info_pb2 as p4i
    from .messages.p4.config.v1 import p4types_pb2 as p4t
    from .messages.p4.v1 import p4data_pb2 as p4d
    from .messages.p4.v1 import p4runtime_pb2 as p4r

__all__ = ["decode_u128", "encode_u128", "p4d", "p4i", "p4r", "p4t", "rpc_code", "rpc_status"]


def encode_u128(value: int) -> p4r.Uint128:
    return p4r.Uint128(high=value >> 64, low=value & (1 << 64) - 1)


def decode_u128(value: p4r.Uint128) -> int:
    return value.high << 64 | value.low
