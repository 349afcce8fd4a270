"""A fabric of real engine switches in separate processes, which tests kill, restart, stop, or make refuse.

Nothing here depends on sleeps: a switch dies at its n-th update because it counts them itself, or when the
apply reports a certain step. The state of a switch is read with plain gRPC, without the controller's code.
"""

import contextlib
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from eeon_control import operations, program, state, topology
from eeon_control.fabric import Step
from eeon_control.fabric.progress import nobody
from finsy.proto import p4r, rpc_code
from killed_applies import killed
from revisions import done, meant
from switch_processes import EngineSwitch

from ptf_tests.lib.p4rt_session import MODIFY, Session

TOPOLOGY_TEXT = """
name: faults
leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2, host_link: {rate: 1Gbps}, uplink: {rate: 10Gbps}}
defaults: {delay: 500ns}
"""
TOPOLOGY = topology.from_text(TOPOLOGY_TEXT)
OLD = ("red_ack_syn", "eee_120us100")
NEW = ("mark_threshold", "eee_standard")
Image = dict[str, frozenset[bytes]]


class FaultyFabric:
    """All switches, and their entries in OLD and in NEW, which it learns without faults, in a folder."""

    def __init__(self, switches: dict[str, EngineSwitch], folder: Path) -> None:
        self.switches = switches
        self.images: dict[tuple[str, ...], Image] = {}
        store = state.StateStore.open(folder / "state")
        for names in (OLD, NEW):
            self.apply(store, names)
            self.images[names] = self.image()
        assert all(self.images[OLD][name] != self.images[NEW][name] for name in switches)

    # -- the controller -----------------------------------------------------------------------------------

    def meant(self, names: tuple[str, ...], **elsewhere: str) -> state.Intended:
        addresses = {name: one.address for name, one in self.switches.items()}
        return meant(TOPOLOGY, names, addresses | elsewhere)

    def apply(
        self,
        store: state.StateStore,
        names: tuple[str, ...],
        observer: Callable[[Step, str], None] = nobody,
        **options,
    ) -> operations.Outcome:
        """Applies a configuration like `eeon config apply`."""
        self.settle(store)
        return done(store, operations.apply, self.meant(names), observer=observer, **options)

    def settle(self, store: state.StateStore) -> list[str]:
        """Settles like the next command or the controller. Returns the messages."""
        said: list[str] = []
        done(store, operations.settle, say=said.append)
        return said

    def killed_controller(self, store: state.StateStore, step: str, number: int, names=NEW, **how) -> int:
        """Applies in a process that kills itself at the n-th step of that name, or the n-th disk operation.
        Returns its exit code: -9 if it came that far."""
        targets = self.meant(names).targets.as_value()
        return killed(store.folder, TOPOLOGY_TEXT, names, targets, number, step, **how)[0]

    def words(self, folder: Path, *options: str, **elsewhere: str) -> list[str]:
        """Returns `eeon config apply` of NEW, with files of the topology and targets, which it writes."""
        (folder / "topology.yaml").write_text(TOPOLOGY_TEXT)
        targets = self.meant(OLD, **elsewhere).targets.as_value()
        (folder / "targets.yaml").write_text(json.dumps(targets))
        of_new = [word for name in NEW for word in ("-c", name)]
        place = ["-t", str(folder / "topology.yaml"), "-T", str(folder / "targets.yaml")]
        return [sys.executable, "-u", "-m", "eeon_control", "config", "apply", *place, *of_new, *options]

    def command(self, folder: Path, *options: str, stdout=subprocess.PIPE, stderr=None, **elsewhere: str):
        """Starts it in a separate process."""
        words = self.words(folder, *options, **elsewhere)
        return subprocess.Popen(words, stdout=stdout, stderr=stderr, text=True)

    # -- an independent check -----------------------------------------------------------------------------

    def image(self) -> Image:
        """Returns every entry of every table of every switch, defaults included, as the switch sends it."""
        return {name: entries_of(one) for name, one in self.switches.items()}

    def holds(self, names: tuple[str, ...]) -> bool:
        """Returns whether every switch has exactly the entries of OLD or NEW."""
        return self.image() == self.images[names]

    def heal(self) -> None:
        for one in self.switches.values():
            one.heal()

    def heals_to(self, names: tuple[str, ...], store: state.StateStore) -> bool:
        """Heals the switches and settles. Returns whether they hold OLD or NEW."""
        self.heal()
        self.settle(store)
        return self.holds(names)


def entries_of(switch: EngineSwitch) -> frozenset[bytes]:
    info = program.load().schema().p4info
    requests = [p4r.Entity(table_entry=p4r.TableEntry())]
    requests += [
        p4r.Entity(table_entry=p4r.TableEntry(table_id=table.preamble.id, is_default_action=True))
        for table in info.tables
        if not table.const_default_action_id and not table.implementation_id
    ]
    with contextlib.closing(Session(switch.address, switch.switch.device_id)) as session:
        return frozenset(
            entity.SerializeToString(deterministic=True) for entity in session.entities(*requests)
        )


_ids = itertools.count(1000, 1000)


def next_id() -> int:
    """Returns an election id far above all earlier ones."""
    return next(_ids)


# -- actions of others at a switch: plain gRPC, without the controller's code --------------------------------


@contextlib.contextmanager
def primacy(switch: EngineSwitch, election_id: int) -> Iterator[None]:
    """Stays primary with that election id in its context. Take the id from `next_id`: a switch accepts none below
    the largest that it has seen."""
    with contextlib.closing(Session(switch.address, switch.switch.device_id, election_id)) as session:
        assert session.arbitrate().status.code == rpc_code.OK
        yield
        session.leave()


def write_as(switch: EngineSwitch, election_id: int) -> None:
    """Sets port 1's buffer limit to 5 bytes, as another client with the primary's election id, which is all
    that a switch checks."""
    info = program.load().schema()
    entry = p4r.TableEntry(table_id=info.tables["port_buffer"].id)
    entry.match.add(field_id=1).exact.value = b"\x01"
    entry.action.action.action_id = info.actions["set_buffer_limit"].id
    entry.action.action.params.add(param_id=1, value=b"\x05")
    with contextlib.closing(Session(switch.address, switch.switch.device_id, election_id)) as session:
        session.write((MODIFY, entry))


def at(step: Step, switch: str, action: Callable[[], None]) -> Callable[[Step, str], None]:
    """Returns an observer that acts once, at that step of the apply at that switch."""
    waiting = [action]

    def observe(now: Step, where: str) -> None:
        if (now, where) == (step, switch) and waiting:
            waiting.pop()()

    return observe
