"""A Read: its cost limits, and its response in parts (P4Runtime 1.5 §13).

The first part, of up to `CELLS_PER_CHUNK` cells, is a consistent state: while the engine is queried, no
packet is processed and nothing is written. A longer response continues in parts, with packets and writes in
between; each entity is as it was at some time during the Read. No other call waits while messages are made,
or while a client receives them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache

from ..exceptions import EngineError
from .clients import roles
from .clients.roles import Role
from .entities import chunks
from .entities.chunks import Chunk
from .entities.forwarding import Forwarding
from .errors import StatusError, exhausted, from_engine
from .messages import p4r


class Reading:
    """A response in progress. `errors` has the status of each requested item, as far as it is known."""

    def __init__(
        self,
        forwarding: Forwarding,
        role: Role,
        asked: Sequence[p4r.Entity],
        part: Callable[[bool], AbstractContextManager[None]],
    ) -> None:
        """Makes a reading; `part` is entered while the engine is queried, and is told whether packets and
        writes must wait. Raises RESOURCE_EXHAUSTED if it exceeds a limit."""
        if len(asked) > chunks.MAX_READ_ITEMS:
            raise exhausted(
                f"the read asks for {len(asked)} entities, the limit is {chunks.MAX_READ_ITEMS}; send several"
            )
        self._forwarding = forwarding
        self._role = role
        self._part = part
        self.errors: list[StatusError | None] = [None] * len(asked)
        # Duplicate items are read once, and share a status.
        self._items: dict[bytes, list[int]] = {}
        self._asked = asked
        for index, entity in enumerate(asked):
            self._items.setdefault(entity.SerializeToString(deterministic=True), []).append(index)
        self._check_cost()

    def _check_cost(self) -> None:
        count, cells = cache(self._forwarding.entries), 0
        for positions in self._items.values():
            try:
                cells += self._forwarding.read_cost(self._asked[positions[0]], count)
            except (StatusError, EngineError):
                # The object does not exist; the response will report it.
                continue
        if cells > chunks.MAX_READ_CELLS:
            raise exhausted(
                f"the read asks for {cells} cells, the limit is {chunks.MAX_READ_CELLS}; ask for fewer "
                "tables or arrays at a time, or for cells by index"
            )

    def responses(self) -> Iterator[p4r.ReadResponse]:
        """Yields the messages, at least one. Raises `StatusError` if the response cannot be continued."""
        source = self._chunks()
        sent = False
        for part in self._parts(source):
            for response in self._messages(part):
                sent = True
                yield response
        if not sent:
            yield p4r.ReadResponse()

    def _parts(self, source: Iterator[Chunk]) -> Iterator[list[Chunk]]:
        with self._part(True):
            part = self._next_part(source)
        while part:
            yield part
            with self._part(False):
                part = self._next_part(source)

    @staticmethod
    def _next_part(source: Iterator[Chunk]) -> list[Chunk]:
        part: list[Chunk] = []
        cells = 0
        for chunk in source:
            part.append(chunk)
            # A query of the engine that finds nothing also has a cost.
            cells += max(1, chunk.cells)
            if cells >= chunks.CELLS_PER_CHUNK:
                break
        return part

    def _chunks(self) -> Iterator[Chunk]:
        left = chunks.MAX_READ_CELLS
        for positions in self._items.values():
            try:
                for chunk in self._forwarding.read(self._asked[positions[0]]):
                    left -= chunk.cells
                    if left < 0:
                        raise exhausted(
                            f"the answer has more than {chunks.MAX_READ_CELLS} cells, the limit; ask for less"
                        )
                    yield chunk
            except StatusError as error:
                self._refuse(positions, error)
            except EngineError as error:
                self._refuse(positions, from_engine(error))

    def _refuse(self, positions: list[int], error: StatusError) -> None:
        for position in positions:
            self.errors[position] = error

    def _messages(self, part: list[Chunk]) -> Iterator[p4r.ReadResponse]:
        response, size = p4r.ReadResponse(), 0
        for entity in chunks.whole(part):
            if not roles.is_visible(self._forwarding.schema, self._role, entity):
                continue
            if len(response.entities) == chunks.CELLS_PER_CHUNK or size > chunks.RESPONSE_BYTES:
                yield response
                response, size = p4r.ReadResponse(), 0
            response.entities.append(entity)
            size += entity.ByteSize()
        if response.entities:
            yield response
