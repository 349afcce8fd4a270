"""Saved plans: what is intended and the state at planning time, to be applied exactly or not at all."""

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import ValidationError

from eeon_control.errors import InputError, StateError
from eeon_control.fabric import FabricPlan, SwitchPlan
from eeon_control.model_base import Frozen
from eeon_control.plan import Entry
from eeon_control.port_settings import QUEUE_AQM, TABLES
from eeon_control.state import Intended, Intent
from eeon_control.state.files import Disk, failing_as_state_error
from eeon_control.units import Duration

_FILE_LIMIT_BYTES = 1 << 30


class SavedPlan(Frozen):
    """A whole plan. It contains addresses, but no secrets."""

    format: Literal["eeon plan 1"] = "eeon plan 1"
    intent: Intent
    switches: dict[str, SwitchPlan]

    @classmethod
    def of(cls, meant: Intended, plan: FabricPlan) -> Self:
        return cls(intent=Intent.of(meant), switches=plan.switches)

    def save(self, path: Path) -> None:
        """Writes the file, or the one that a symbolic link names, atomically and for the owner only. Raises
        StateError."""
        with failing_as_state_error(path, "written"):
            if path.exists() and not path.is_file():  # such as /dev/null, which a rename would replace
                raise StateError(f"{path}: is not a regular file, so it gets no plan; give another name")
            Disk().replace_file(Path(os.path.realpath(path)), self.model_dump_json(indent=1).encode() + b"\n")

    def revive(self, source: str) -> Intended:
        """Returns the intended configuration. Raises InputError if its entries differ in this version."""
        meant = self.intent.revive(source)
        again = Intent.of(meant)
        if (again.program, again.entries) != (self.intent.program, self.intent.entries):
            what = "has another P4 program" if again.program != self.intent.program else "makes other entries"
            rule = f"this version of eeon {what} than the version that made the plan; make a new plan"
            raise InputError.of(source, rule)
        return meant

    def first_difference(self, plan: FabricPlan) -> str:
        """Returns the first change of a switch since the plan; empty without any."""
        for name, now in plan.switches.items():
            then = self.switches.get(name)
            if then is not None and then.held != now.held:
                tick = Duration.parse(self.intent.targets["tick"])
                return f"{name} has changed since: {_first(then, now, tick)}"
        return ""


def load_plan(path: Path) -> SavedPlan:
    """Reads a plan file. Raises InputError."""
    try:
        if path.stat().st_size > _FILE_LIMIT_BYTES:
            raise InputError.of(path, f"larger than {_FILE_LIMIT_BYTES} bytes")
        return SavedPlan.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError.of(path, f"cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        rule = f"not a plan that `eeon config plan --out` of this version of eeon wrote: {first['msg']}"
        raise InputError.of(path, rule, key=key) from None


def _first(then: SwitchPlan, now: SwitchPlan, tick: Duration) -> str:
    if then.push_pipeline != now.push_pipeline:
        return "it now runs the program" if then.push_pipeline else "it no longer runs the program"
    old, new = ({change.entry.key: change for change in one.changes} for one in (then, now))
    for key in [*old, *(key for key in new if key not in old)]:
        was_changed, is_changed = old.get(key), new.get(key)
        # An entry without a change is as intended.
        intended = is_changed.after if is_changed else was_changed.after if was_changed else None
        held_then = was_changed.before if was_changed else intended
        held_now = is_changed.before if is_changed else intended
        some = held_then or held_now
        if held_then != held_now and some is not None:
            return _moved(some, held_then, held_now, tick)
    return "it runs another program than it did then, or holds other entries"


def _moved(some: Entry, then: Entry | None, now: Entry | None, tick: Duration) -> str:
    table = QUEUE_AQM if some.table == QUEUE_AQM.name else TABLES.get(some.table)
    if table is None or some.is_default:
        return f"{some.table} {some.match_text}: {_text(then)} -> {_text(now)}"
    before, after = (None if one is None else one.actions[0] for one in (then, now))
    return f"{some.match_text.replace('=', ' ')}: {table.describe_change(before, after, tick)}"


def _text(entry: Entry | None) -> str:
    return entry.action_text if entry is not None else "none"
