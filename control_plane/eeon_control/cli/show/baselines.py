"""`eeon clear counters`: stores the counters' values for one user; `eeon show` then shows the increase.

Nothing is written to a switch, so other users see no change, as with SONiC's `sonic-clear`. Each topology
has one file, `$XDG_STATE_HOME/eeon-show/TOPOLOGY.json` (~/.local/state by default).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from datetime import datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from pydantic import BeforeValidator, Field, ValidationError

from eeon_control import constants
from eeon_control.errors import StateError
from eeon_control.fabric import ReceivedCount, VerdictCount
from eeon_control.fabric.read import FabricCounters, FabricObservation, Observation
from eeon_control.model_base import Frozen
from eeon_control.state.clock import Moment
from eeon_control.state.files import FILE_MODE, FOLDER_MODE, Disk, failing_as_state_error
from eeon_control.state.folder import home
from eeon_control.targets import Target

_LIMIT_BYTES = 64 << 20
_Count = Annotated[int, Field(ge=0, lt=1 << 64)]
_Port = Annotated[int, Field(ge=0, le=constants.DROP_PORT)]


def _moment(value: object) -> object:
    """Converts the time of day alone, which version 0.1.0 wrote."""
    if not isinstance(value, str):
        return value
    return Moment(wall_seconds=datetime.fromisoformat(value).timestamp(), boot_seconds=0, boot_id="")


class SwitchBaseline(Frozen):
    """The non-zero counter cells of one switch; `address` distinguishes it from others of the same name."""

    address: str
    elapsed_us: int | None
    received: list[tuple[_Port, str, _Count, _Count]]
    verdicts: list[tuple[_Port, str, str, _Count, _Count]]


class Baseline(Frozen):
    """The switches that answered when the counters were cleared."""

    taken_at: Annotated[Moment, BeforeValidator(_moment)]
    switches: dict[str, SwitchBaseline]

    @classmethod
    def of(cls, observed: FabricObservation, targets: Mapping[str, Target], taken_at: Moment) -> Baseline:
        switches = {
            name: SwitchBaseline(
                address=targets[name].address,
                elapsed_us=one.elapsed_us,
                received=[astuple(count)[1:] for count in one.counters.received if count.packets],
                verdicts=[astuple(count)[1:] for count in one.counters.verdicts if count.packets],
            )
            for name, one in observed.switches.items()
        }
        return cls(taken_at=taken_at, switches=switches)

    def observation(self, targets: Mapping[str, Target]) -> FabricObservation:
        """Returns the baseline as an observation of the switches that are still at the same address."""
        switches = {
            name: Observation(
                at_ps=0,
                elapsed_us=one.elapsed_us,
                counters=FabricCounters(
                    tuple(ReceivedCount(name, *cell) for cell in one.received),
                    tuple(VerdictCount(name, *cell) for cell in one.verdicts),
                ),
            )
            for name, one in self.switches.items()
            if name in targets and targets[name].address == one.address
        }
        return FabricObservation(switches, {})


def path_of(topology: str) -> Path:
    return home() / "eeon-show" / f"{quote(topology, safe='')}.json"


def load(topology: str) -> Baseline | None:
    """Returns the baseline, or None if counters were not cleared. Raises StateError for a damaged file."""
    path = path_of(topology)
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            raise StateError(f"{path}: larger than {_LIMIT_BYTES} bytes; remove it")
        return Baseline.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(f"{path}: {error.strerror}; remove it, or use --raw") from None
    except ValidationError:
        raise StateError(
            f"{path}: is not what `eeon clear counters` writes; remove it, or use --raw"
        ) from None


def save(topology: str, baseline: Baseline) -> Path:
    """Replaces the baseline. Raises StateError."""
    path = path_of(topology)
    with failing_as_state_error(path, "written"):
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        Disk().replace_file(path, baseline.model_dump_json().encode())
        path.chmod(FILE_MODE)
    return path


def forget(topology: str) -> bool:
    """Removes the baseline. Returns whether there was one."""
    path = path_of(topology)
    with failing_as_state_error(path, "removed"):
        try:
            path.unlink()
        except FileNotFoundError:
            return False
    return True
