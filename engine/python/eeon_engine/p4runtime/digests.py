"""Digests: which are wanted and how (`DigestEntry`), and the messages that come of them (P4Runtime 1.5
§9.8)."""

from collections.abc import Iterator
from typing import Any

from finsy.proto import p4r

from . import data_types
from .digest_lists import Config, DigestLists
from .errors import already_exists, invalid, not_found
from .journal import Journal
from .schema import Digest, Schema, find


class Digests:
    """All digests of one switch. What they hold is not data-plane state: a new configuration starts
    afresh."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._by_name = {digest.name: digest for digest in schema.digests.values()}
        self._lists: dict[int, DigestLists] = {}

    def write(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of a `DigestEntry`: INSERT begins to listen, DELETE ends it."""
        digest: Digest = find(self._schema.digests, "digest", message.digest_id)
        before = self._lists.get(digest.id)
        if kind == p4r.Update.INSERT and before is not None:
            raise already_exists(f"digest '{digest.name}' is configured already")
        if kind != p4r.Update.INSERT and before is None:
            raise not_found(f"digest '{digest.name}' is not configured; insert it first")
        after = None
        if kind != p4r.Update.DELETE:
            after = DigestLists(_config(digest, message.config))
            if before is not None:
                # So that an acknowledgement of an older list is not taken for one of these.
                after.next_list_id = before.next_list_id
        journal.push(lambda: self._set(digest.id, before))
        self._set(digest.id, after)

    def _set(self, digest_id: int, lists: DigestLists | None) -> None:
        if lists is None:
            self._lists.pop(digest_id, None)
        else:
            self._lists[digest_id] = lists

    @property
    def is_any_configured(self) -> bool:
        """Whether any digest is listened to."""
        return bool(self._lists)

    def read(self, message: Any) -> Iterator[Any]:
        """Configurations that a `DigestEntry` asks for; 0 stands for all."""
        if message.digest_id:
            find(self._schema.digests, "digest", message.digest_id)
        for digest_id in sorted(self._lists):
            if message.digest_id in (0, digest_id):
                config = self._lists[digest_id].config
                entry = p4r.DigestEntry(digest_id=digest_id)
                entry.config.SetInParent()
                entry.config.max_timeout_ns = config.max_timeout_ns
                entry.config.max_list_size = config.max_list_size
                entry.config.ack_timeout_ns = config.ack_timeout_ns
                yield p4r.Entity(digest_entry=entry)

    def collect(self, samples: list[tuple[str, bytes]], now_ns: int, epoch_ns: int) -> list[Any]:
        """`DigestList`s that are to be sent now, given what the data plane has sent since the last time.

        `now_ns` is of a clock that does not run backwards; `epoch_ns` is what the lists show as their time.
        """
        ready = []
        for name, sample in samples:
            digest = self._by_name.get(name)
            if digest is not None and digest.id in self._lists:
                ready += [(digest, *item) for item in self._lists[digest.id].add(sample, now_ns)]
        for digest_id, lists in self._lists.items():
            ready += [(self._schema.digests[digest_id], *item) for item in lists.due(now_ns)]
        return [_list(digest, list_id, messages, epoch_ns) for digest, list_id, messages in ready]

    def acknowledge(self, message: Any) -> None:
        """A `DigestListAck`; INVALID_ARGUMENT for a digest that the P4Info does not have."""
        digest: Digest = find(self._schema.digests, "digest", message.digest_id)
        lists = self._lists.get(digest.id)
        if lists is not None:
            lists.acknowledge(message.list_id)


def _config(digest: Digest, config: Any) -> Config:
    for name in ("max_timeout_ns", "max_list_size", "ack_timeout_ns"):
        if getattr(config, name) < 0:
            raise invalid(f"digest '{digest.name}': {name} {getattr(config, name)} is negative")
    return Config(config.max_timeout_ns, config.max_list_size, config.ack_timeout_ns)


def _list(digest: Digest, list_id: int, messages: list[bytes], epoch_ns: int) -> Any:
    data = [data_types.to_data(digest.type, _numbers(digest, message)) for message in messages]
    return p4r.DigestList(digest_id=digest.id, list_id=list_id, data=data, timestamp=epoch_ns)


def _numbers(digest: Digest, message: bytes) -> Iterator[int]:
    at = 0
    for scalar in data_types.scalars(digest.type):
        end = at + (scalar.width + 7) // 8
        yield int.from_bytes(message[at:end], "big")
        at = end
