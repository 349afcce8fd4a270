"""What a Read answers, in chunks, and what a request may cost (P4Runtime 1.5 §13, §12).

Parts of the switch answer a request of a Read with a generator of chunks. Each step of the generator asks the
engine for a bounded number of cells; the chunk that it yields makes messages of them without asking anybody.
So the engine is kept for microseconds, and messages are made while packets move.

Costs are counted in cells: a table entry, a member, a counter are one, a register cell is one for each
`CELL_BYTES` of it.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..messages import p4r

CELLS_PER_CHUNK = 1000
"""Cells that one step asks for at most; also entities of one message, which keeps far below gRPC's default
limit of 4 MiB at the client."""
RESPONSE_BYTES = 1 << 20
"""A message that is longer gets no further entity."""
MAX_READ_CELLS = 1 << 22
"""Cells of one Read. The engine takes programs with 2^26 cells; such arrays are read by index."""
MAX_WRITE_CELLS = 1 << 22
"""Maximum number of cells that one Write may change. Their old values, 32 MiB, are kept for undo."""
MAX_READ_ITEMS = 8192
"""Entities that one Read asks for. Controllers ask cell by cell for what their ports count."""
CELL_BYTES = 8


class Chunk(NamedTuple):
    """Some cells of an answer."""

    cells: int
    entities: Callable[[], Iterable[p4r.Entity]]
    """Makes the messages. Asks the engine nothing."""


def one(cell: Callable[[], p4r.Entity]) -> Chunk:
    """Returns a chunk of one entity."""
    return Chunk(1, lambda: (cell(),))


def ranges(size: int) -> Iterator[tuple[int, int]]:
    """Yields the indices of an array in steps: first, and one beyond the last."""
    for start in range(0, size, CELLS_PER_CHUNK):
        yield start, min(start + CELLS_PER_CHUNK, size)


def whole(chunks: Iterable[Chunk]) -> Iterator[p4r.Entity]:
    """Yields all entities at once, where nobody else is kept waiting."""
    for chunk in chunks:
        yield from chunk.entities()


def cell_cost(width_bits: int) -> int:
    """Returns what a cell of a register costs."""
    return max(1, (width_bits + 7) // 8 // CELL_BYTES)
