"""What waits to be sent on one client's stream: bounded, and never blocking for the sender.

A client that does not read its stream must not fill the memory, nor hold up the switch. Messages that
P4Runtime lets a server drop (packets, digests, idle notifications, errors: §16) are dropped, counted and
logged when `LIMIT` messages wait. An arbitration update may not get lost, so a client that does not take one
loses its stream.
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
    """The last item: how the stream ends."""

    error: StatusError | None


class Outbox:
    """Messages for one client, oldest first. Any thread may put, one takes."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self._queue: queue.SimpleQueue[p4r.StreamMessageResponse | End] = queue.SimpleQueue()
        self.dropped = 0

    def put(self, message: p4r.StreamMessageResponse) -> None:
        """Adds a `StreamMessageResponse`, or drops it."""
        if self._queue.qsize() < LIMIT:
            self._queue.put(message)
        elif message.WhichOneof("update") == "arbitration":
            text = f"{LIMIT} messages wait for this client, which does not read them"
            self.end(exhausted(text))
        else:
            self.dropped += 1
            # At 1, 2, 4, 8, ...: a flood does not flood the log.
            if self.dropped & (self.dropped - 1) == 0:
                _LOG.warning(
                    "client %s does not read its stream: %d messages wait, %d were dropped, the last a %s",
                    self._peer,
                    LIMIT,
                    self.dropped,
                    message.WhichOneof("update"),
                )

    def end(self, error: StatusError | None) -> None:
        """Ends the stream once what waits has been sent."""
        self._queue.put(End(error))

    def take(self) -> p4r.StreamMessageResponse | End:
        """Returns the next message, or an `End`. Waits for one."""
        return self._queue.get()
