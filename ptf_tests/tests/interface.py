"""The numbers and names in the cases are those of the program."""

import json
from pathlib import Path

from finsy import P4TableEntry
from ptf.base_tests import BaseTest
from ptf.testutils import test_param_get

from ptf_tests.lib.base_test import SwitchTest
from ptf_tests.lib.packets import Ecn, PacketClass, Verdict
from ptf_tests.lib.ports import CPU_PORT


class NumbersOfTheCasesAreThoseOfTheProgram(BaseTest):
    """compiled/constants.json is generated from the P4 sources."""

    def runTest(self) -> None:
        constants = Path(test_param_get("p4info")).with_name("constants.json")
        if not constants.is_file():
            self.skipTest(f"{constants}: no such file beside the P4Info")
        numbers = json.loads(constants.read_text(encoding="utf-8"))
        self.assertEqual(numbers["packet_class_t"], {member.name: member.value for member in PacketClass})
        self.assertEqual(numbers["verdict_t"], {member.name: member.value for member in Verdict})
        ecn = {"NOT_ECT": Ecn.NOT_ECT, "ECT_1": Ecn.ECT1, "ECT_0": Ecn.ECT0, "CE": Ecn.CE}
        self.assertEqual(numbers["ecn_t"], ecn)
        self.assertEqual(numbers["constants"]["CPU_PORT"], CPU_PORT)


class PipelineLoadsAndTheSwitchStartsEmpty(SwitchTest):
    """The program is accepted over P4Runtime, and no table has an entry that no client wrote."""

    def runTest(self) -> None:
        for table in self.client.schema.tables:
            entries = self.client.read(P4TableEntry(table.alias))
            self.assertEqual([entry for entry in entries if not entry.is_default_action], [], table.alias)
