"""Every EEE case again on a switch whose traffic manager has no gate: held packets recirculate (as in BMv2)
until they may leave. Departures, order and accounts must be the same, apart from the time of one
recirculation.

Cases that compare with the exact model are left out; all others are included under their name with a prefix,
e.g. `eee_recirculation.RecirculatingHoldByTimerReleasesAfterHoldAndWake`.
"""

from dataclasses import replace

import eee_hold
import eee_standard

from ptf_tests.lib.eee import EeeTest
from ptf_tests.lib.ports import ROUND_NS


def _without_gate(case: type[EeeTest]) -> type[EeeTest]:
    settings: dict[str, object] = {
        "__module__": __name__,
        "__doc__": case.__doc__,
        "options": replace(case.options, gate=False),
        "late_ns": ROUND_NS,
        # ptf keeps a case's groups here; without its own list the case would share its parent's.
        "_groups": [],
    }
    return type(f"Recirculating{case.__name__}", (case,), settings)


for _module in (eee_standard, eee_hold):
    for _name, _case in list(vars(_module).items()):
        if (
            isinstance(_case, type)
            and issubclass(_case, EeeTest)
            and "runTest" in vars(_case)
            and not _case.needs_gate
        ):
            globals()[f"Recirculating{_name}"] = _without_gate(_case)
del _name, _case, _module
