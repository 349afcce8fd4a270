"""Why a switch did to one packet what it did: its way through parser, tables and queues, and the reason in
words.

    source     the program's JSON: names, places in the source, conditions as text
    values     field values and times as people read them
    entries    the controller's planned entries, written into an engine switch without a network
    scene      a switch to be explained: from a topology and a configuration, or from any BMv2 JSON
    journeys   running a packet and fetching what the engine wrote down about it
    way        a packet's way over all switches of a fabric, as a tree of lines
    finding    which packet of a capture was the first to be marked, dropped or held
    story      a journey as a tree of lines
    endings    why it ended as it did: any program's words, and the E-EON program's
    export     all of it as one JSON value

The engine does the watching (`SwitchHandle.follow`); nothing here decides what happens to a packet.
"""

from eeon_tools.explain.export import document, way_document
from eeon_tools.explain.journeys import Journey, follow
from eeon_tools.explain.scene import Scene, of_program, of_topology
from eeon_tools.explain.story import Amount, Node, tell
from eeon_tools.explain.way import tell_way

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
