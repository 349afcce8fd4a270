"""BMv2's Thrift interface to one switch, which simple_switch_CLI and p4-utils use, on port 9090.

`serve` starts a server. The .thrift files in this folder define the interface.
"""

from .server import DEFAULT_ADDRESS, Server, serve

__all__ = ["DEFAULT_ADDRESS", "Server", "serve"]
