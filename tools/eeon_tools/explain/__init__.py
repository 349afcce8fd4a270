"""Explains why a switch treated one packet as it did: the packet's path through parser, tables and queues,
and the reasons in words.

    source     the program's JSON: names, places in the source, conditions as text
    values     field values and times as text
    scene      the switch to explain: from a topology and a configuration, or from any BMv2 JSON
    journeys   running a packet and fetching the steps that the engine recorded of it
    finding    the packet of a capture that was the first to be marked, dropped or held
    story      a journey, or a packet's path over all switches of a fabric, as a tree of lines
    endings    the reasons for its outcome: for any program, and for the E-EON program
    export     the whole explanation as one JSON value

The engine records the steps (`SwitchHandle.follow`); no code here decides what happens to a packet.
"""

from eeon_tools.explain.export import document, way_document
from eeon_tools.explain.journeys import Journey, follow
from eeon_tools.explain.scene import Scene, of_program, of_topology
from eeon_tools.explain.story import Amount, Node, tell, tell_way

__all__ = [
    "Amount",
    "Journey",
    "Node",
    "Scene",
    "document",
    "follow",
    "of_program",
    "of_topology",
    "tell",
    "tell_way",
    "way_document",
]
