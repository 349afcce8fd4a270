"""The intended configuration of every switch, computed from the revision in force."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from finsy import P4Schema

from eeon_control.config import Routing
from eeon_control.config.pfc import Watchdog
from eeon_control.controller.messages import Intended
from eeon_control.fabric.bmv2_queues import Queues, of_fabric
from eeon_control.fabric.planning import with_defaults
from eeon_control.plan import around, intended, keys_of, pfc
from eeon_control.state import Revision, StateStore, digests
from eeon_control.targets import Target, resolve
from eeon_control.topology import Topology


@dataclass(frozen=True)
class Wanted:
    """A revision, and for every switch its target and its intended entries, in topology order.

    `queues`: switch -> port -> queue settings over Thrift, which cannot be read back; only for switches whose
    Thrift server is in the targets file (the engine's switches need none). `watchdogs`: switch -> lossless
    queue -> reaction to endless pauses. `made_otherwise`: a sentence if this version of eeon makes
    other entries from the revision.
    """

    revision: Revision
    topology: Topology
    routing: Routing
    tick_ps: int
    targets: Mapping[str, Target]
    switches: Mapping[str, Intended]
    queues: Queues
    watchdogs: Mapping[str, Mapping[int, pfc.Watched]]
    made_otherwise: str

    def around(
        self, dead: frozenset[str], storms: Mapping[str, Mapping[int, Watchdog]]
    ) -> Mapping[str, Intended]:
        """Returns the intended configuration of the switches while links (named by the ports at their ends)
        are down, and queues are in storms."""
        entries = {name: of.entries for name, of in self.switches.items()}
        left = dict(around(self.topology, self.routing, entries, dead))
        for name, of_switch in storms.items():
            if of_switch and name in left:
                left[name] = pfc.around_storms(left[name], of_switch)
        return {
            name: of if left[name] is of.entries else replace(of, entries=left[name])
            for name, of in self.switches.items()
        }


def load(store: StateStore, schema: P4Schema) -> Wanted | None:
    """Reads the revision in force; None before the first. Raises EeonError, or ProgramPinned for a revision
    of another program. Slow on a large fabric."""
    revision = store.current()
    if revision is None:
        return None
    revision.intent.check_program(f"revision {revision.number}")
    meant = revision.intended()
    topology, config, tick = meant.topology, meant.config, meant.targets.tick
    planned = intended(topology, config, tick)
    targets = resolve(topology, meant.targets.switches)
    queues = of_fabric(topology, config, targets)
    keep = meant.targets.foreign == "keep"
    switches = {
        name: Intended(revision.number, of, name in queues, keys_of(of) if keep else None)
        for name, of in with_defaults(planned, schema).items()
    }
    watchdogs = {name: pfc.watchdogs(config, switch) for name, switch in topology.switches.items()}
    made_otherwise = revision.made_otherwise(digests(planned))
    return Wanted(
        revision, topology, config.routing, int(tick), targets, switches, queues, watchdogs, made_otherwise
    )
