"""Digests: their configuration (`DigestEntry`), and their messages, which are collected, deduplicated and
acknowledged (P4Runtime 1.5 §9.8, §16.3).

Times are arguments, in nanoseconds of any monotonic clock. A message waits in its digest's buffer until
`max_list_size` distinct messages wait or the first has waited for `max_timeout_ns`. Sent messages are
remembered, and not sent again, until they are acknowledged. A list without acknowledgement is forgotten as in
PI, which checks every `ack_timeout_ns` since the configuration: at the second check after it was sent, that
is after one to two timeouts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from ..errors import already_exists, invalid, not_found, unimplemented
from ..messages import p4r
from ..program import data_types
from ..program.schema import Digest, Schema, find
from . import chunks
from .chunks import Chunk

# Limits of one digest, which bound the memory for a flood of samples or a client that never acknowledges.
# Lists in PI have up to 1024 messages if the client sets no limit.
_MAX_LIST = 1024
_MAX_REMEMBERED = 65_536
_MIN_ACK_TIMEOUT_NS = 100_000_000
"""Minimum interval between PI's checks."""


@dataclass
class DigestLists:
    """The messages of one digest."""

    config: p4r.DigestEntry.Config
    next_list_id: int = 1
    _waiting: dict[bytes, None] = field(default_factory=dict)
    _first_ns: int = 0
    _begun_ns: int | None = None
    """The first time given, from which PI's checks are counted: PI's clock starts with the configuration."""
    _sent: dict[int, tuple[int, list[bytes]]] = field(default_factory=dict)
    """The time and the messages of each list without an acknowledgement, oldest first."""
    _remembered: set[bytes] = field(default_factory=set)

    @property
    def _list_size(self) -> int:
        """Maximum number of messages in a list; a size of 0 stands for the server's own."""
        if self.config.max_timeout_ns == 0:
            return 1
        return min(self.config.max_list_size or _MAX_LIST, _MAX_LIST)

    def add(self, message: bytes, now_ns: int) -> list[tuple[int, list[bytes]]]:
        """Adds a message of the switch. Returns the list that it completes, if any, as id and messages."""
        self._forget(now_ns)
        if message in self._remembered or message in self._waiting:
            return []
        if not self._waiting:
            self._first_ns = now_ns
        self._waiting[message] = None
        return [self._send(now_ns)] if len(self._waiting) >= self._list_size else []

    def due(self, now_ns: int) -> list[tuple[int, list[bytes]]]:
        """Returns the list whose timeout has expired, if any."""
        self._forget(now_ns)
        if not self._waiting or now_ns - self._first_ns < self.config.max_timeout_ns:
            return []
        return [self._send(now_ns)]

    def acknowledge(self, list_id: int) -> None:
        """Handles the acknowledgement of a list: its messages may be sent again. Ignores an unknown list."""
        _, messages = self._sent.pop(list_id, (0, []))
        self._remembered.difference_update(messages)

    def _send(self, now_ns: int) -> tuple[int, list[bytes]]:
        messages = list(self._waiting)
        self._waiting.clear()
        list_id, self.next_list_id = self.next_list_id, self.next_list_id + 1
        if self.config.ack_timeout_ns:
            self._sent[list_id] = now_ns, messages
            self._remembered.update(messages)
            while len(self._remembered) > _MAX_REMEMBERED:
                self.acknowledge(next(iter(self._sent)))
        return list_id, messages

    def _forget(self, now_ns: int) -> None:
        if self._begun_ns is None:
            self._begun_ns = now_ns
        period_ns = max(self.config.ack_timeout_ns, _MIN_ACK_TIMEOUT_NS)
        while self._sent:
            list_id, (sent_ns, _) = next(iter(self._sent.items()))
            looks = (sent_ns - self._begun_ns) // period_ns + 2
            if now_ns < self._begun_ns + looks * period_ns:
                return
            self.acknowledge(list_id)


class Digests:
    """All digests of one switch. Their buffers are not data-plane state: a new configuration starts empty."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._by_name = {digest.in_program: digest for digest in schema.digests.values()}
        self.lists: dict[int, DigestLists] = {}
        """The configured digests, by id."""

    def write(self, kind: int, message: p4r.DigestEntry) -> None:
        """Applies one update of a `DigestEntry`: INSERT starts the digest's reports, DELETE stops them."""
        digest = find(self._schema.digests, "digest", message.digest_id)
        before = self.lists.get(digest.id)
        if kind == p4r.Update.INSERT and before is not None:
            raise already_exists(f"digest '{digest.name}' is already configured")
        if kind != p4r.Update.INSERT and before is None:
            raise not_found(f"digest '{digest.name}' is not configured; insert it first")
        if digest.in_program is None:
            raise unimplemented(
                f"digest '{digest.name}' has no name in the program that tells its messages from another "
                "digest's; give what it sends a struct of its own in the P4 source, and compile again"
            )
        if kind == p4r.Update.DELETE:
            del self.lists[digest.id]
            return
        # Ids continue, so that an acknowledgement of an older list does not match a new one.
        next_list_id = 1 if before is None else before.next_list_id
        names = ("max_timeout_ns", "max_list_size", "ack_timeout_ns")
        given = {name: getattr(message.config, name) for name in names}
        for name, value in given.items():
            if value < 0:
                raise invalid(f"digest '{digest.name}': {name} {value} is negative")
        self.lists[digest.id] = DigestLists(p4r.DigestEntry.Config(**given), next_list_id)

    def read(self, message: p4r.DigestEntry) -> Iterator[Chunk]:
        """Yields the configurations that a `DigestEntry` selects; 0 stands for all."""
        if message.digest_id:
            find(self._schema.digests, "digest", message.digest_id)
        for digest_id in sorted(self.lists):
            if message.digest_id in (0, digest_id):
                entry = p4r.DigestEntry(digest_id=digest_id, config=self.lists[digest_id].config)
                yield chunks.one(partial(p4r.Entity, digest_entry=entry))

    def collect(self, samples: list[tuple[str, bytes]], now_ns: int, epoch_ns: int) -> list[p4r.DigestList]:
        """Returns the `DigestList`s that are due, given the data plane's samples since the last call.

        `now_ns` is from a monotonic clock; `epoch_ns` is the time in the lists.
        """
        ready = []
        for name, sample in samples:
            digest = self._by_name.get(name)
            if digest is not None and digest.id in self.lists:
                ready += [(digest, *item) for item in self.lists[digest.id].add(sample, now_ns)]
        for digest_id, lists in self.lists.items():
            ready += [(self._schema.digests[digest_id], *item) for item in lists.due(now_ns)]
        return [_list(digest, list_id, messages, epoch_ns) for digest, list_id, messages in ready]

    def acknowledge(self, message: p4r.DigestListAck) -> None:
        """Handles a `DigestListAck`; raises INVALID_ARGUMENT for a digest that is not in the P4Info."""
        digest = find(self._schema.digests, "digest", message.digest_id)
        lists = self.lists.get(digest.id)
        if lists is not None:
            lists.acknowledge(message.list_id)


def _list(digest: Digest, list_id: int, messages: list[bytes], epoch_ns: int) -> p4r.DigestList:
    data = [data_types.to_data(digest.type, _numbers(digest, message)) for message in messages]
    return p4r.DigestList(digest_id=digest.id, list_id=list_id, data=data, timestamp=epoch_ns)


def _numbers(digest: Digest, message: bytes) -> Iterator[int]:
    at = 0
    for scalar in data_types.scalars(digest.type):
        end = at + (scalar.width + 7) // 8
        yield int.from_bytes(message[at:end], "big")
        at = end
