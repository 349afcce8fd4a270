"""The operations of `eeon config` on both the switches and the state folder, without a command line.

    with store.lock("my program") as lock:
        work = operations.Work(store, lock)
        await operations.settle(work)                  # finish the work of an earlier, killed command
        outcome = await operations.apply(work, meant, action="apply")

Each leaves the fabric entirely in the old or entirely in the new configuration and reports which, or raises
an error that names the switches that could not be brought there. Then the journal stays, and `settle`
finishes it. `eeon controller run` uses the same functions.
"""

from eeon_control.operations.apply import Outcome, apply
from eeon_control.operations.drift import drift
from eeon_control.operations.gates import Rule, gates_of
from eeon_control.operations.partial import on_switches
from eeon_control.operations.recover import recover
from eeon_control.operations.rollback import goes_back_to, meant_by, rollback
from eeon_control.operations.saved_plan import SavedPlan, load_plan
from eeon_control.operations.settle import confirm, settle
from eeon_control.operations.work import Work, owned

__all__ = [
    "Outcome",
    "Rule",
    "SavedPlan",
    "Work",
    "apply",
    "confirm",
    "drift",
    "gates_of",
    "goes_back_to",
    "load_plan",
    "meant_by",
    "on_switches",
    "owned",
    "recover",
    "rollback",
    "settle",
]
