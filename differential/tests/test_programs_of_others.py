"""Programs of others beside BMv2: `P4_PROGRAMS` names a folder of `NAME.json` with `NAME.p4info.txtpb`.

For example, those that p4c compiles from sonic-pins' SAI and from up4, and those in ONOS' sources. Both
switches get the same random entries over P4Runtime and the same frames. A seed on which BMv2 ends is skipped.
"""

import os
from pathlib import Path
from random import Random

import pytest

from differential import bmv2
from differential.campaign import configuration
from differential.compare import Bench, Difference
from differential.frames import Subject

pytestmark = [pytest.mark.system, pytest.mark.nightly]

FOLDER = os.environ.get("P4_PROGRAMS", "")
SEEDS = range(int(os.environ.get("P4_PROGRAMS_SEEDS", "2")))

if not FOLDER:
    pytest.skip("P4_PROGRAMS names no folder of programs", allow_module_level=True)
if bmv2.why_not("simple_switch_grpc") is not None:
    pytest.skip(str(bmv2.why_not("simple_switch_grpc")), allow_module_level=True)


def _with_ipv4(rng: Random, port: int, data: bytes) -> bytes | None:
    # Tables match on IPv4 headers that may be invalid. BMv2 then reads the values of an earlier packet.
    return data[:12] + b"\x08\x00\x45" + data[15:]


PROGRAMS = sorted(Path(FOLDER).glob("*.json"))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.stem for program in PROGRAMS])
def test_a_program_does_the_same_on_both(program: Path, seed: int) -> None:
    subject = Subject(
        name=program.stem,
        path=program,
        p4info=program.with_suffix(".p4info.txtpb"),
        has_replication=True,
        entries_at_most=48,
        limit=_with_ipv4,
        least_bytes=128,
    )
    bench = Bench(subject)
    try:
        configuration(bench, Random(seed), 500)
    except Difference as difference:
        if difference.kind != "BMv2 ended":
            raise
        pytest.skip("BMv2 has ended by a signal")
    finally:
        bench.close()
