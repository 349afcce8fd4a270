"""Subscribe (gNMI 0.8 §3.5): values once, when polled, at intervals, and on change.

A stream is one loop: it sleeps until the next subscription is due, reads, and sends. All streams share the
polling of ports (`Reader.ports`).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..p4runtime.errors import invalid
from ..values import PortInfo
from . import encoding as encodings
from . import paths
from .messages import gnmi
from .model import Value
from .paths import Node, Selection
from .service import PORTS_AGE_S, Reader, kept_models, set_target, update

MIN_INTERVAL_NS = 100_000_000
"""Minimum interval of samples."""
DEFAULT_INTERVAL_NS = 10_000_000_000
"""Sampling interval if a client leaves mode and interval to the switch (TARGET_DEFINED)."""
MAX_VALUES_PER_SECOND = 4000
"""Maximum sampling rate of one stream; 32 such streams cost less than one processor."""
_UPDATES_PER_MESSAGE = 1000

Response = gnmi.SubscribeResponse


@dataclass
class _Followed:
    """One subscription of a stream."""

    selection: Selection
    on_change: bool
    interval_ns: int = 0
    """Interval of samples; 0 without sampling."""
    is_lowest: bool = False
    """Whether the client wants the shortest possible interval."""
    suppress: bool = False
    heartbeat_ns: int = 0
    """Longest time without a message of unchanged values; 0 for no limit."""
    due_ns: int = 0
    beat_ns: int = 0
    ports: tuple[PortInfo, ...] | None = None
    sent: dict[Node, Value] = field(default_factory=dict)


class Stream:
    """The subscriptions of one Subscribe call."""

    def __init__(self, reader: Reader, request: gnmi.SubscribeRequest) -> None:
        if request.WhichOneof("request") != "subscribe":
            raise invalid("the first message of a Subscribe must have `subscribe`")
        self._reader = reader
        self._asked = asked = request.subscribe
        encodings.check(asked.encoding)
        # JSON is number 0, the value of an omitted encoding. Clients that omit it, such as finsy, expect
        # native values.
        self._encoding = gnmi.PROTO if asked.encoding == gnmi.JSON else asked.encoding
        of_models = kept_models(asked.use_models)
        if not asked.subscription:
            raise invalid("the request has no subscription; the root is a path without elements")
        if asked.mode not in gnmi.SubscriptionList.Mode.values():
            raise invalid(f"mode {asked.mode} does not exist; use STREAM (0), ONCE (1) or POLL (2)")
        self.mode = asked.mode
        self._leaves_out_values = bool(asked.updates_only)
        selections = paths.selections(asked.prefix, [one.path for one in asked.subscription])
        self._followed: list[_Followed] = []
        for one, whole in zip(asked.subscription, selections, strict=True):
            selection = whole.only(of_models)
            if asked.mode == gnmi.SubscriptionList.STREAM:
                self._followed += _followed(one, selection)
            else:
                self._followed.append(_Followed(selection, on_change=False))
        if self.is_streaming:
            self._check_rate()

    @property
    def is_streaming(self) -> bool:
        """Whether values are sent without a request for each."""
        return bool(self.mode == gnmi.SubscriptionList.STREAM)

    def _check_rate(self) -> None:
        """Raises INVALID_ARGUMENT if samples and heartbeats exceed a stream's limit. Sets the intervals that
        the client leaves to the switch."""
        ports = len(self._reader.ports())
        timed = [
            (one, len(one.selection.leaves) * (ports if one.selection.interface is None else 1))
            for one in self._followed
            if one.interval_ns or one.heartbeat_ns
        ]
        values = sum(values for _, values in timed)
        for one, _ in timed:
            if one.is_lowest:
                # At this interval, all samples together would be within the limit.
                one.interval_ns = max(MIN_INTERVAL_NS, values * 1_000_000_000 // MAX_VALUES_PER_SECOND)
        per_second = sum(
            values * 1e9 / min(filter(None, (one.interval_ns, one.heartbeat_ns))) for one, values in timed
        )
        if per_second > MAX_VALUES_PER_SECOND + 1:
            raise invalid(
                f"the stream would send {per_second:.0f} values per second, the limit is "
                f"{MAX_VALUES_PER_SECOND}; use longer intervals, or name the leaves that you need"
            )

    def first(self) -> Iterator[Response]:
        """Yields all values, then the end of the initial update. `updates_only` leaves the values out, but
        not those of a later poll (§3.5.1.2)."""
        ports = self._reader.ports() if self.is_streaming else None
        selections = [one.selection for one in self._followed]
        now = time.monotonic_ns()
        for one, found in zip(self._followed, self._reader.values(selections, ports), strict=True):
            one.ports, one.sent = ports, {path: value for path, _, value in found}
            one.due_ns, one.beat_ns = now + one.interval_ns, now + one.heartbeat_ns
            if not self._leaves_out_values:
                yield from self._messages(found)
        self._leaves_out_values = False
        yield Response(sync_response=True)

    def wait_s(self) -> float:
        """Returns the time in seconds until the next values are due."""
        now = time.monotonic_ns()
        due = [
            min(one.due_ns, one.beat_ns if one.heartbeat_ns else one.due_ns)
            for one in self._followed
            if one.interval_ns
        ]
        seconds = (min(due) - now) / 1e9 if due else 1.0
        if any(one.on_change for one in self._followed):
            seconds = min(seconds, PORTS_AGE_S)
        return max(seconds, 0.0)

    def due(self) -> Iterator[Response]:
        """Yields changed values, and due samples."""
        now = time.monotonic_ns()
        ports = self._reader.ports()
        reading = []
        for one in self._followed:
            beats = one.heartbeat_ns and now >= one.beat_ns
            if one.on_change:
                # Only a change of ports changes the leaves that are sent on change.
                if one.ports is not ports or beats:
                    reading.append(one)
            elif beats or now >= one.due_ns:
                # Missed samples are skipped.
                one.due_ns += one.interval_ns * max(0, 1 + (now - one.due_ns) // one.interval_ns)
                reading.append(one)
        if not reading:
            return
        found_of = self._reader.values([one.selection for one in reading], ports)
        for one, found in zip(reading, found_of, strict=True):
            beats = one.heartbeat_ns and now >= one.beat_ns
            one.ports = ports
            if beats:
                one.beat_ns = now + one.heartbeat_ns
            here = {path: value for path, _, value in found}
            gone = [path for path in one.sent if path not in here]
            if (one.on_change or one.suppress) and not beats:
                found = [item for item in found if one.sent.get(item[0]) != item[2]]
            one.sent = here
            yield from self._messages(found, gone)

    def _messages(self, found: Sequence[encodings.Found], gone: Sequence[Node] = ()) -> Iterator[Response]:
        timestamp = time.time_ns()
        parts = [found[at : at + _UPDATES_PER_MESSAGE] for at in range(0, len(found), _UPDATES_PER_MESSAGE)]
        for number, part in enumerate(parts or ([[]] if gone else [])):
            response = Response()
            notification = response.update
            notification.timestamp = timestamp
            set_target(notification, self._asked.prefix)
            if number == 0:
                notification.delete.extend(paths.message(path) for path in gone)
            notification.update.extend(update(*item, self._encoding) for item in part)
            yield response


def _followed(asked: gnmi.Subscription, selection: Selection) -> list[_Followed]:
    """Returns one subscription of STREAM; two if the switch chooses the mode, which depends on the leaf."""
    heartbeat = _heartbeat(asked, selection)

    def sampled(of: Selection, interval_ns: int, *, is_lowest: bool = False) -> _Followed:
        suppress = asked.suppress_redundant
        return _Followed(of, False, interval_ns, is_lowest, suppress=suppress, heartbeat_ns=heartbeat)

    interval = asked.sample_interval or MIN_INTERVAL_NS
    if asked.mode == gnmi.SAMPLE:
        if interval < MIN_INTERVAL_NS:
            raise invalid(
                f"path {selection.text}: sample_interval {interval} ns; the minimum is {MIN_INTERVAL_NS} ns"
            )
        return [sampled(selection, interval, is_lowest=not asked.sample_interval)]
    if asked.mode == gnmi.ON_CHANGE:
        counted = next((leaf for leaf in selection.leaves if leaf.is_count), None)
        if counted is not None:
            raise invalid(
                f"path {selection.text}: {counted.steps[-1].name} changes with every packet and cannot be "
                "sent ON_CHANGE; use SAMPLE, or TARGET_DEFINED for the whole subtree"
            )
        return [_Followed(selection, True, heartbeat_ns=heartbeat)]
    if asked.mode != gnmi.TARGET_DEFINED:
        raise invalid(f"path {selection.text}: subscription mode {asked.mode} does not exist")
    interval = max(interval, MIN_INTERVAL_NS) if asked.sample_interval else DEFAULT_INTERVAL_NS
    changing = selection.only(lambda leaf: not leaf.is_count)
    made = [
        _Followed(changing, True, heartbeat_ns=heartbeat),
        sampled(selection.only(lambda leaf: leaf.is_count), interval),
    ]
    return [one for one in made if one.selection.leaves]


def _heartbeat(asked: gnmi.Subscription, selection: Selection) -> int:
    if 0 < asked.heartbeat_interval < MIN_INTERVAL_NS:
        raise invalid(
            f"path {selection.text}: heartbeat_interval {asked.heartbeat_interval} ns; the minimum is "
            f"{MIN_INTERVAL_NS} ns"
        )
    return int(asked.heartbeat_interval)
