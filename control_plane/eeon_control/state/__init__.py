"""The intended configuration of a fabric, stored on the controller's machine and safe from crashes.

    store = state.StateStore.open(state.folder_of(topology.name))
    with store.lock("eeon config apply") as lock:
        revision = store.commit(lock, state.Draft(...))
    store.current(), store.revision(3), store.journal(), store.pending()

Each fabric has a folder, mode 0700: `revisions/N.json` (numbered from 1, never rewritten), `current` (the
number of the revision in force; renaming it into place is the moment of a commit), `lock`, `journal.json` (an
apply that is writing, or was killed while writing), `pending.json` (an apply that waits to be confirmed) and
`stopped.json` (applies that were undone). Nothing here talks to a switch; eeon_control.operations does.
"""

from eeon_control.state.clock import Moment
from eeon_control.state.files import Disk
from eeon_control.state.folder import folder_of, is_folder_given, is_there, known_fabrics
from eeon_control.state.intent import FabricKind, Intended, Intent, digests
from eeon_control.state.lock import Holder, Lock, LockHeld
from eeon_control.state.records import Draft, Journal, Pending, Revision, Stopped
from eeon_control.state.store import StateError, StateStore

__all__ = [
    "Disk",
    "Draft",
    "FabricKind",
    "Holder",
    "Intended",
    "Intent",
    "Journal",
    "Lock",
    "LockHeld",
    "Moment",
    "Pending",
    "Revision",
    "StateError",
    "StateStore",
    "Stopped",
    "digests",
    "folder_of",
    "is_folder_given",
    "is_there",
    "known_fabrics",
]
