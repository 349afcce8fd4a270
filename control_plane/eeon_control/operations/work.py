"""The context of an operation, and the entries that are its own."""

import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from eeon_control import election
from eeon_control.fabric.progress import Observer, nobody
from eeon_control.plan import EntryKey, Owned, intended, keys_of
from eeon_control.state import Draft, Intended, Intent, Lock, StateStore
from eeon_control.state.lock import user_name
from eeon_control.targets import Targets


@dataclass(frozen=True)
class Work:
    """A store, its lock, and options.

    `election_id`: None means one above those of the controllers that run on the same store. `targets`:
    present addresses of the switches, which override recorded ones; None: unchanged. `fabric`: the targets
    file that identifies the fabric; None: that of the current revision.
    """

    store: StateStore
    lock: Lock
    election_id: int | None = None
    targets: Targets | None = None
    fabric: Targets | None = None
    observer: Observer = nobody
    say: Callable[[str], None] = lambda text: None

    def bid(self) -> int:
        """Returns the election id to write with.

        It takes over from a controller on this store, which takes over again afterwards. Any other primary
        is an obstacle, and is named by its id.
        """
        if self.election_id is not None:
            return self.election_id
        highest = self.store.highest_bid()
        return election.above(highest) if highest else election.DEFAULT

    def draft(self, meant: Intended, action: str, comment: str) -> Draft:
        """Returns a draft of a revision, which replaces the one that waits to be confirmed, if any."""
        waiting = self.store.pending()
        return Draft(
            made=datetime.now(UTC).isoformat(timespec="seconds"),
            by=f"{user_name()}@{socket.gethostname()}",
            action=action,
            comment=comment,
            instead_of=waiting.revision if waiting is not None else None,
            intent=Intent.of(meant),
        )

    def located(self, meant: Intended, *others: Targets) -> Intended:
        """Returns `meant` with the addresses of later targets, if these name its switches."""
        switches = dict(meant.targets.switches)
        for other in (*others, *([self.targets] if self.targets is not None else [])):
            switches |= {name: one for name, one in other.switches.items() if name in switches}
        targets = replace(meant.targets, switches=switches)
        return Intended(meant.topology, meant.config, targets)


def owned(*meant: Intended | None) -> Owned | None:
    """Returns the keys of all entries in these intended configurations, by switch of the first; None if the
    first deletes foreign entries.

    The first is the new one; the others are earlier ones.
    """
    first = meant[0]
    assert first is not None, "something is to be held"
    if first.targets.foreign == "delete":
        return None
    found: dict[str, frozenset[EntryKey]] = {name: frozenset() for name in first.topology.switches}
    for one in meant:
        if one is not None:
            for name, entries in intended(one.topology, one.config, one.targets.tick).items():
                if name in found:
                    found[name] |= keys_of(entries)
    return found
