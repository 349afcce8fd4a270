"""Computes the table entries of every switch from topology and configuration. Pure: no files, no network.

    entries = eeon_control.plan.intended(topology, config, tick)     # {"leaf1": (Entry, ...), ...}

`eeon_control.fabric` reads the switches' present entries and computes the difference.
"""

from eeon_control.entries import Action, Entry, EntryKey, Exact, Lpm, Owned, entries_digest, keys_of, owned_of
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
