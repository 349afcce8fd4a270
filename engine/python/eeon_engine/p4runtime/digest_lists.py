"""Digest messages on their way to the client: gathered, without repeats, acknowledged (P4Runtime 1.5 §9.8).

Pure: the time is given, in nanoseconds of any clock that does not run backwards. A message waits in its
digest's buffer until `max_list_size` distinct ones wait or the first has waited for `max_timeout_ns`. What
was sent is remembered until it is acknowledged or `ack_timeout_ns` has passed, and is not sent again
meanwhile.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

# What one digest may hold, so that a flood of samples and a client that never acknowledges cost a bounded
# memory. PI's lists have 1024 messages where the client sets no limit.
_MAX_LIST = 1024
_MAX_REMEMBERED = 65_536


@dataclass(frozen=True)
class Config:
    """A `DigestEntry.Config`; 0 as the size stands for the server's own."""

    max_timeout_ns: int
    max_list_size: int
    ack_timeout_ns: int

    @property
    def list_size(self) -> int:
        """Messages of the longest list."""
        if self.max_timeout_ns == 0:
            return 1
        return min(self.max_list_size or _MAX_LIST, _MAX_LIST)


@dataclass
class _Sent:
    at_ns: int
    messages: tuple[bytes, ...]


@dataclass
class DigestLists:
    """The messages of one digest."""

    config: Config
    next_list_id: int = 1
    _waiting: "OrderedDict[bytes, None]" = field(default_factory=OrderedDict)
    _first_ns: int = 0
    _sent: "OrderedDict[int, _Sent]" = field(default_factory=OrderedDict)
    _remembered: set[bytes] = field(default_factory=set)

    def add(self, message: bytes, now_ns: int) -> list[tuple[int, list[bytes]]]:
        """One message of the data plane; the list that it completes, if any: id and messages."""
        self._forget(now_ns)
        if message in self._remembered or message in self._waiting:
            return []
        if not self._waiting:
            self._first_ns = now_ns
        self._waiting[message] = None
        return [self._send(now_ns)] if len(self._waiting) >= self.config.list_size else []

    def due(self, now_ns: int) -> list[tuple[int, list[bytes]]]:
        """The list whose time has come, if any."""
        self._forget(now_ns)
        if not self._waiting or now_ns - self._first_ns < self.config.max_timeout_ns:
            return []
        return [self._send(now_ns)]

    def acknowledge(self, list_id: int) -> None:
        """The client has a list: its messages may be sent again. A list that nobody remembers is none."""
        sent = self._sent.pop(list_id, None)
        if sent is not None:
            self._remembered.difference_update(sent.messages)

    def _send(self, now_ns: int) -> tuple[int, list[bytes]]:
        messages = list(self._waiting)
        self._waiting.clear()
        list_id, self.next_list_id = self.next_list_id, self.next_list_id + 1
        if self.config.ack_timeout_ns:
            self._sent[list_id] = _Sent(now_ns, tuple(messages))
            self._remembered.update(messages)
            while len(self._remembered) > _MAX_REMEMBERED:
                self.acknowledge(next(iter(self._sent)))
        return list_id, messages

    def _forget(self, now_ns: int) -> None:
        while self._sent:
            list_id, sent = next(iter(self._sent.items()))
            if now_ns - sent.at_ns < self.config.ack_timeout_ns:
                return
            self.acknowledge(list_id)
