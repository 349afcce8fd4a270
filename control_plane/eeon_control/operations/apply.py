"""Brings the fabric to a configuration, and records it as a revision."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eeon_control import fabric
from eeon_control.errors import FabricError, NothingWritten, StateError
from eeon_control.fabric import ApplyReport, FabricPlan, Rollout
from eeon_control.fabric.bmv2_queues import Queues, of_fabric, of_switch
from eeon_control.fabric.transaction import Ledger
from eeon_control.fabric.undo import Snapshot
from eeon_control.operations.saved_plan import SavedPlan
from eeon_control.operations.work import Work, owned
from eeon_control.state import Draft, FabricKind, Intended, Journal, Pending, Revision, clock


@dataclass(frozen=True)
class Outcome:
    """`report`: the writes, which were read back. `revision`: the one in force now. `is_new`: whether this
    apply made it; an apply without changes makes none. `queues_not_set`: switch -> why BMv2's own queues were
    not set as configured: no Thrift server is known."""

    report: ApplyReport
    revision: Revision
    is_new: bool
    pending: Pending | None = None
    queues_not_set: Mapping[str, str] = field(default_factory=dict)


async def apply(
    work: Work,
    meant: Intended,
    *,
    action: str = "apply",
    comment: str = "",
    confirm_seconds: float | None = None,
    saved: SavedPlan | None = None,
    rollout: Rollout | None = None,
) -> Outcome:
    """Brings all switches to the intended configuration, or none, and commits a revision.

    Call `settle` first. With `confirm_seconds`, the revision must be confirmed. With `saved`, the switches
    must be in the state that this plan found. `rollout`: the waves; without it, all at once. Raises
    ApplyError, FabricError, StateError.
    """
    current = work.store.current()
    if current is not None and current.intent.fabric != meant.topology.name:
        raise StateError(
            f"{work.store.folder} is the state of fabric {current.intent.fabric}, but this configuration is "
            f"for {meant.topology.name}; give another folder with --state"
        )
    waiting = work.store.pending()
    if waiting is not None and action.startswith("apply"):
        left = waiting.seconds_left(clock.now())
        raise StateError(
            f"revision {waiting.revision} waits to be confirmed ({left:.0f} s left); run `eeon config "
            "confirm` or `eeon config rollback` first"
        )
    if confirm_seconds is not None and not work.store.current_number():
        raise StateError(
            "no revision to roll back to if this one is not confirmed; apply once without --confirm"
        )
    if confirm_seconds is not None and current is not None:
        why = difference(current.intended(), meant)
        if why:
            raise StateError(
                f"revision {current.number}, to which an unconfirmed apply would roll back, {why}; apply "
                "once without --confirm"
            )
    gated = rollout is not None and bool(rollout.gates)
    ledger = _Ledger(work, work.draft(meant, action, comment), confirm_seconds, saved, gated)
    ours = owned(meant, work.store.intended())
    bid = work.bid()
    while True:
        try:
            report = await fabric.apply(
                meant.topology,
                meant.config,
                meant.targets.switches,
                int(meant.targets.tick),
                election_id=bid,
                ledger=ledger,
                observer=work.observer,
                queues_before=queues_in_force(work, meant),
                rollout=rollout,
                owned=ours,
            )
            break
        except NothingWritten:
            # A controller of this folder may have bid before it saw this command; now it does not write.
            before, bid = bid, work.bid()
            if bid <= before:
                raise
    assert ledger.revision is not None
    not_set = {
        name: f"{name}: no Thrift server is known; give `thrift` in the targets file"
        for name, switch in meant.topology.switches.items()
        if meant.targets.switches[name].thrift is None and of_switch(meant.config, switch)
    }
    return Outcome(report, ledger.revision, ledger.is_new, ledger.pending, not_set)


def difference(then: Intended, now: Intended) -> str:
    """Returns why one fabric's intended configuration does not fit another fabric; empty if it does.

    The links of a live fabric have its scale, on which thresholds depend. Other links may have been changed
    permanently; a rollback across such a change is the user's decision.
    """
    made_for, here = FabricKind.of(then.targets), FabricKind.of(now.targets)
    if made_for != here:
        return f"was made for another fabric ({made_for}); this one is: {here}"
    if here.name == "live fabric":
        rates = {port.name: port.rate for port in now.topology.ports()}
        for port in then.topology.ports():
            rate = rates.get(port.name, port.rate)
            if rate != port.rate:
                return (
                    f"was made for another scale of the fabric: {port.name} had {port.rate}, now has {rate}"
                )
    return ""


def queues_in_force(work: Work, now: Intended) -> Queues:
    """Returns the current revision's settings of BMv2's own queues, for the switches' present addresses."""
    current = work.store.current()
    if current is None:
        return {}
    held = current.intended()
    return of_fabric(held.topology, held.config, now.targets.switches)


@dataclass
class _Ledger(Ledger):
    """Writes the journal before the first write to a switch, and the revision after the last read-back."""

    work: Work
    draft: Draft
    confirm_seconds: float | None
    saved: SavedPlan | None
    gated: bool
    journal: Journal | None = None
    revision: Revision | None = None
    pending: Pending | None = None
    is_new: bool = False

    @property
    def advice(self) -> str:
        return (
            f"the journal in {self.work.store.folder} is kept: `eeon config recover`, the next command "
            "that changes the fabric, or a running `eeon controller run` restores them"
        )

    def begin(self, plan: FabricPlan, before: Mapping[str, Snapshot], waves: Sequence[Sequence[str]]) -> None:
        if self.saved is not None:
            difference = self.saved.first_difference(plan)
            if difference:
                raise FabricError(
                    f"the plan is out of date: {difference}; nothing was written. Make a new plan"
                )
        if before:
            self.journal = Journal(
                revision=self.work.store.current_number() + 1,
                draft=self.draft,
                holder=self.work.lock.holder,
                before=dict(before),
                confirm_seconds=self.confirm_seconds,
                waves=[list(wave) for wave in waves],
                gated=self.gated,
            )
            self.work.store.begin(self.work.lock, self.journal)

    def wave(self, number: int) -> None:
        assert self.journal is not None, "a wave has switches that are written"
        self.journal = self.journal.model_copy(update={"wave": number})
        self.work.store.begin(self.work.lock, self.journal)

    def commit(self, plan: FabricPlan) -> None:
        store = self.work.store
        current = store.current()
        if plan.is_empty and current is not None and current.intent == self.draft.intent:
            self.revision = current
            return
        number = store.current_number()
        if self.confirm_seconds is not None:
            self.pending = Pending(
                revision=number + 1, back_to=number, since=clock.now(), seconds=self.confirm_seconds
            )
        self.revision = store.commit(self.work.lock, self.draft, self.pending)
        self.is_new = True

    def undone(self, why: str) -> None:
        self.work.store.end(self.work.lock, undone=why)
