"""Which table entries a topology and a configuration mean, for every switch. Pure: no files, no network.

    entries = eeon_control.plan.intended(topology, config, tick)     # {"leaf1": (Entry, ...), ...}

What the switches hold now, and how the two differ, is `eeon_control.fabric`'s.
"""

from eeon_control.entries import (
    Action,
    Entry,
    EntryKey,
    Exact,
    Lpm,
    Owned,
    entries_digest,
    keys_of,
    owned_of,
)
from eeon_control.plan.intended import TABLES, intended
from eeon_control.plan.routes import around, dead_ends, ecmp_seed

__all__ = [
    "Action",
    "Entry",
    "EntryKey",
    "Exact",
    "Lpm",
    "Owned",
    "TABLES",
    "around",
    "dead_ends",
    "ecmp_seed",
    "entries_digest",
    "intended",
    "keys_of",
    "owned_of",
]
