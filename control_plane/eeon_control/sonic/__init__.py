"""Conversion between SONiC's CONFIG_DB and our configuration. Anything that has no equivalent is named.

    document = sonic.parse(text, "config_db.json")
    fragment, notes = sonic.import_(document, topology.switches["leaf1"])
    patch = sonic.export(document, config, topology.switches["leaf1"])

The tables are those of SONiC's YANG models (sonic-buildimage, src/sonic-yang-models). One equivalence is
exact: today's WRED with ECN compares the queue's current depth with thresholds in bytes and, from `min` on,
marks ECT packets and drops the others, like our `red` with `protect: ect`.
"""

from eeon_control.sonic.database import Database, parse
from eeon_control.sonic.exporting import export
from eeon_control.sonic.importing import import_
from eeon_control.sonic.yang import check

__all__ = ["Database", "check", "export", "import_", "parse"]
