"""compiled/ belongs to the sources. Does not detect whether the program is correct (ptf_tests do)."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path
from types import ModuleType

import pytest

P4SRC = Path(__file__).resolve().parents[1]


def load_compile(p4src: Path) -> ModuleType:
    """Imports compile.py of a copy of p4src/; it finds its files beside itself."""
    spec = importlib.util.spec_from_file_location("p4src_compile", p4src / "compile.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Returns a copy of p4src/ that a test may damage."""
    target = tmp_path / "p4src"
    shutil.copytree(P4SRC, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    return target


def test_committed_outputs_belong_to_the_sources() -> None:
    assert load_compile(P4SRC).check() == []


def test_changed_source_is_named(copy: Path) -> None:
    source = copy / "include" / "sizes.p4"
    source.write_text(source.read_text() + "// changed\n")
    assert load_compile(copy).check() == [
        "p4src/include/sizes.p4 has changed since the last compilation; run `make p4`"
    ]


def test_new_source_is_named(copy: Path) -> None:
    (copy / "include" / "more.p4").write_text("")
    assert load_compile(copy).check() == [
        "p4src/include/more.p4 is new since the last compilation; run `make p4`"
    ]


def test_output_edited_by_hand_is_named(copy: Path) -> None:
    output = copy / "compiled" / "eeon.json"
    output.write_text(output.read_text().replace("eeon", "neon", 1))
    assert load_compile(copy).check() == [
        "p4src/compiled/eeon.json is not what the compiler wrote; run `make p4`"
    ]


def test_outputs_hold_no_path_of_the_machine_that_compiled() -> None:
    program = json.loads((P4SRC / "compiled" / "eeon.json").read_text())
    names = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if "source_info" in node and "filename" in node["source_info"]:
                names.add(node["source_info"]["filename"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    walk(program)
    assert program["program"] == "p4src/eeon.p4"
    assert names and all(name.startswith(("p4src/", "p4include/")) or name == "" for name in names), names


def test_constants_are_the_numbers_of_the_source() -> None:
    constants = json.loads((P4SRC / "compiled" / "constants.json").read_text())
    assert constants["constants"]["CPU_PORT"] == 510
    assert constants["constants"]["ETHERTYPE_IPV6"] == 0x86DD
    assert list(constants["verdict_t"]) == [
        "FORWARDED",
        "MARKED",
        "EARLY_DROPPED",
        "TAIL_DROPPED",
        "NO_ROUTE",
        "TTL_EXPIRED",
        "TO_CPU",
        "MALFORMED",
        "CONSUMED",
        "NOT_ADMITTED",
        "MARTIAN",
    ]
    assert constants["eee_state_t"] == {"ACTIVE": 0, "HOLD": 1, "WAKE": 2}


def test_constants_have_the_widths_of_the_source() -> None:
    constants = json.loads((P4SRC / "compiled" / "constants.json").read_text())
    assert constants["type_bits"]["tick_t"] == 48
    assert constants["register_bits"]["lpi_ticks"] == 48
    assert constants["register_bits"]["wakes"] == 32
    assert constants["type_bits"]["probability_t"] == constants["type_bits"]["wire_time_t"] == 48
    assert (constants["constants"]["RED_DEPTH_BITS"], constants["constants"]["RED_RAMP_BITS"]) == (32, 8)
    assert constants["constants"]["WIRE_TIME_BITS"] == 24


def test_constants_alone_are_written_only_for_the_sources_that_were_compiled(copy: Path) -> None:
    module = load_compile(copy)
    (copy / "compiled" / "constants.json").write_text("{}\n")
    module.write_constants()
    assert module.check() == []
    source = copy / "include" / "sizes.p4"
    source.write_text(source.read_text() + "// changed\n")
    with pytest.raises(module.CompileError, match="the sources have changed"):
        module.write_constants()


@pytest.mark.system
def test_compiling_again_gives_the_same_bytes() -> None:
    module = load_compile(P4SRC)
    compiler = module.find_compiler()
    if compiler is None:
        pytest.skip("p4c-bm2-ss is not on PATH: the outputs are compared by digest only")
    recorded = json.loads((P4SRC / "compiled" / "provenance.json").read_text())["compiler"]
    here = f"{module.COMPILER} {module.compiler_version(compiler)}"
    if here != recorded:
        pytest.skip(f"the outputs were made by {recorded}, here is {here}: other bytes may be right")
    for name, data in module.build(compiler).items():
        assert (P4SRC / "compiled" / name).read_bytes() == data, f"{name} differs; run `make p4`"
