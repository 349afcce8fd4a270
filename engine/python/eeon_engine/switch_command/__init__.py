"""`eeon-switch`: the engine as a switch in real time, with the command line of BMv2's simple_switch and
simple_switch_grpc.

main       runs the switch from its arguments to its exit status
options    the command line: every flag of BMv2 and its effect
logs       BMv2's log lines, on the console or in a file
packet_log each packet's steps, for that log
packet_lines  a program's operations on a packet, in BMv2's words
names      installs the commands simple_switch and simple_switch_grpc in a given folder

No packet passes through this package. Like BMv2, the command prints a line for each interface that it adds,
and `Server listening on ADDRESS` when P4Runtime is ready; with a log, `Thrift server was started` when Thrift
is.
"""

import sys

if sys.platform != "linux":
    sys.exit("eeon-switch needs Linux for its ports; here, eeon replay runs switches in virtual time")

from .main import main

__all__ = ["main"]
