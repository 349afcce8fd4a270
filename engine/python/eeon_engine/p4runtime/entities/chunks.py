"""The response to a Read in chunks, and limits on the cost of a request (P4Runtime 1.5 §13, §12).

Each part of the switch answers a Read request with a generator of chunks. A step of the generator queries the
engine for a bounded number of cells; the chunk that it yields converts them to messages without the engine.
The engine is therefore blocked for microseconds only, and packets move while messages are made.

The unit of cost is a cell: a table entry, a member or a counter is one cell, and a register cell is one for
each `CELL_BYTES` of its size.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..messages import p4r

CELLS_PER_CHUNK = 1000
"""Maximum number of cells in a step, and of entities in a message, which is then far below gRPC's default
limit of 4 MiB at the client."""
RESPONSE_BYTES = 1 << 20
"""Length at which a message gets no further entity."""
MAX_READ_CELLS = 1 << 22
"""Maximum number of cells in a Read. Programs may have up to 2^26 cells; larger arrays are read by index."""
MAX_WRITE_CELLS = 1 << 22
"""Maximum number of cells that one Write may change. Their old values, 32 MiB, are kept for undo."""
MAX_READ_ITEMS = 8192
"""Maximum number of entities in a Read request. Controllers may request each port's cells by index."""
CELL_BYTES = 8


class Chunk(NamedTuple):
    """A number of cells of a response."""

    cells: int
    entities: Callable[[], Iterable[p4r.Entity]]
    """Converts the cells to messages, without a query of the engine."""
    is_initial: bool = False
    """Whether every cell is a counter or a register cell of 0, as in a new switch. Most are, and need no
    message where only the others matter."""


def one(cell: Callable[[], p4r.Entity]) -> Chunk:
    """Returns a chunk of one entity."""
    return Chunk(1, lambda: (cell(),))


def whole(chunks: Iterable[Chunk]) -> Iterator[p4r.Entity]:
    """Yields all entities at once, for use where no other call waits."""
    for chunk in chunks:
        yield from chunk.entities()
