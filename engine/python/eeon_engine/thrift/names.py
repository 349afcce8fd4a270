"""Data of a program that Thrift calls need and the engine does not provide: ids, kinds of tables, widths.

They are read from the program's JSON once per program, and never change by a control call.
"""

from collections.abc import Iterator
from functools import lru_cache

from .. import program_json
from .._engine import Program, SwitchHandle
from ..exceptions import InvalidValueError
from ..program_json import Named
from ..values import Entry, Group, Member

MAX_ANSWER_CELLS = 1 << 20
"""Maximum number of register cells in an answer, which is in memory before it is sent."""
MAX_ANSWER_ENTRIES = 1 << 16
"""Maximum number of entries, members, groups or nodes in an answer, because BMv2's interface has no partial
reads. Each takes some 2 kB while the answer is made."""
MAX_U16 = 0xFFFF
"""The largest number of a port or of a multicast group in the engine's calls."""
_CELLS_PER_STEP = 4096


# The switches of a fabric run the same program.
@lru_cache(maxsize=1)
def _names(program: bytes) -> Named:
    return program_json.by_name(program_json.objects(program))


def port_number(port: int) -> int:
    """Returns a port's number. Raises `InvalidValueError` if no port can have it."""
    if not 0 <= port <= MAX_U16:
        raise InvalidValueError(f"port {port}: v1model's ports go from 0 to 511")
    return port


class Context:
    """The switch, and the names of its current program."""

    def __init__(self, control: SwitchHandle) -> None:
        self.control = control
        self._known: tuple[Program | None, Named] = (None, program_json.by_name({}))

    @property
    def names(self) -> Named:
        """The objects of the current program by kind and name."""
        program = self.control.program
        known, names = self._known
        if program is not known:
            names = program_json.by_name({}) if program is None else _names(program.json)
            # A single assignment, so that other threads see either the old or the new pair.
            self._known = (program, names)
        return names

    def register_cells(self, name: str) -> Iterator[int]:
        """Yields every cell of a register, in blocks; packets move in between."""
        array = self.names["register_arrays"].get(name)
        if array is None:
            # The engine raises an error with the existing names.
            self.control.register_read(name, 0)
            return
        size = array["size"]
        if size > MAX_ANSWER_CELLS:
            raise InvalidValueError(
                f"register '{name}': {size} cells, the limit of an answer is {MAX_ANSWER_CELLS}; read them "
                "by index"
            )
        for start in range(0, size, _CELLS_PER_STEP):
            end = min(start + _CELLS_PER_STEP, size)
            cells = self.control.register_read_range(name, start, end)
            length = len(cells) // (end - start)
            for at in range(0, len(cells), length):
                yield int.from_bytes(cells[at : at + length], "big")

    def check_entries(self, what: str, count: int) -> None:
        """Refuses an answer that exceeds the limit."""
        if count > MAX_ANSWER_ENTRIES:
            raise InvalidValueError(
                f"{what}: {count} entries, the limit of an answer is {MAX_ANSWER_ENTRIES}; read them by "
                "handle, or over P4Runtime"
            )

    def entries(self, table: str) -> list[Entry]:
        """Returns a table's entries, if they are within the limit of an answer."""
        self.check_entries(f"table '{table}'", self.control.mt_get_num_entries(table))
        return self.control.mt_get_entries(table)

    def members(self, profile: str) -> list[Member]:
        """Returns an action profile's members, if they are within the limit of an answer."""
        found = self.control.mt_act_prof_get_members(profile)
        self.check_entries(f"members of action profile '{profile}'", len(found))
        return found

    def groups(self, profile: str) -> list[Group]:
        """Returns an action profile's groups with their members, if within the limit of an answer."""
        found = self.control.mt_act_prof_get_groups(profile)
        count = len(found) + sum(len(members) for _, members in found)
        self.check_entries(f"groups of action profile '{profile}'", count)
        return found
