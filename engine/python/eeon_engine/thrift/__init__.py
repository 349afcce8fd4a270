"""BMv2's Thrift interface to one switch: what `simple_switch_CLI` and p4-utils speak, on port 9090.

`serve` starts a server. The interface itself is in the .thrift files beside this one.
"""

from .server import DEFAULT_ADDRESS, Server, serve

__all__ = ["DEFAULT_ADDRESS", "Server", "serve"]
