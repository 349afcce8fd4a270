"""`eeon-switch`: the engine as a switch in real time, with the command line of BMv2's simple_switch and
simple_switch_grpc.

main       from arguments to a running switch and back; exit statuses
options    the command line: every flag of BMv2 and what becomes of it
logs       BMv2's log lines, to the console or a file
packet_log what every packet met, for that log
packet_lines  what a program did to a packet, in BMv2's words
names      the commands simple_switch and simple_switch_grpc, put where the user says

No packet passes through here. Like BMv2, the command prints a line for each interface it adds, and
`Server listening on ADDRESS` once P4Runtime answers; with a log, `Thrift server was started` once Thrift
does.
"""

import sys

if sys.platform != "linux":
    sys.exit(
        "eeon-switch: its ports are those of Linux; on this system eeon replay runs switches in virtual time"
    )

from .main import main

__all__ = ["main"]
