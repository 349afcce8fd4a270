"""A lab: any v1model program on the switches of a small network, in virtual time.

topology    the network, from the P4 tutorials' `topology.json` or one of this project's topologies
packets     headers that hosts read and write
host        a host's reaction to frames: ARP, echo; no clock, no sockets
tasks       tasks for hosts: ping, a UDP stream, a TCP flow, a capture
network     switches, links and hosts under one clock; `Lab` is the interface
commands    tasks as typed commands
"""

from .commands import parse
from .network import Lab
from .tasks import Ping, SendFrames, Task, TcpFlow, UdpStream
from .topology import LabTopology, read_topology

__all__ = [
    "Lab",
    "LabTopology",
    "Ping",
    "SendFrames",
    "Task",
    "TcpFlow",
    "UdpStream",
    "parse",
    "read_topology",
]
