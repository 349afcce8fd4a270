"""The queue of messages to one client's stream. It is bounded, and never blocks the sender.

A client that does not read its stream must neither fill the memory nor delay the switch. Messages that
P4Runtime lets a server drop (packets, digests, idle notifications, errors: §16) are dropped, counted and
logged while `LIMIT` messages are queued. An arbitration update must not be lost, so a client that does not
read one loses its stream.
"""

import logging
import queue
from dataclasses import dataclass

from ..errors import StatusError, exhausted
from ..messages import p4r

_LOG = logging.getLogger(__name__)

LIMIT = 4096


@dataclass(frozen=True)
class End:
    """The last item, with the status of the stream."""

    error: StatusError | None


class Outbox:
    """Messages for one client, oldest first. Any thread may put messages; one thread takes them."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self._queue: queue.SimpleQueue[p4r.StreamMessageResponse | End] = queue.SimpleQueue()
        self.dropped = 0

    def put(self, message: p4r.StreamMessageResponse) -> None:
        """Adds a `StreamMessageResponse`, or drops it."""
        if self._queue.qsize() < LIMIT:
            self._queue.put(message)
        elif message.WhichOneof("update") == "arbitration":
            text = f"{LIMIT} messages are queued for this client, which does not read its stream"
            self.end(exhausted(text))
        else:
            self.dropped += 1
            # Logged at 1, 2, 4, 8, ... drops, so that a flood does not fill the log.
            if self.dropped & (self.dropped - 1) == 0:
                _LOG.warning(
                    "client %s does not read its stream: %d messages queued, %d dropped, the last of type %s",
                    self._peer,
                    LIMIT,
                    self.dropped,
                    message.WhichOneof("update"),
                )

    def end(self, error: StatusError | None) -> None:
        """Ends the stream after the queued messages have been sent."""
        self._queue.put(End(error))

    def take(self) -> p4r.StreamMessageResponse | End:
        """Waits for the next message or the `End`, and returns it."""
        return self._queue.get()
