"""What was compiled belongs to its sources: compiled/, the engine's test programs, those of examples.

Does not detect whether a program is correct (ptf_tests do for E-EON's).
"""

import importlib.util
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

P4SRC = Path(__file__).resolve().parents[1]


def load_compile(p4src: Path) -> ModuleType:
    """Imports compile.py of a copy of p4src/; it finds its files beside itself."""
    spec = importlib.util.spec_from_file_location("p4src_compile", p4src / "compile.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # dataclasses look their module up there.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Returns a copy of p4src/ that a test may damage."""
    target = tmp_path / "p4src"
    shutil.copytree(P4SRC, target, ignore=shutil.ignore_patterns("__pycache__", "tests"))
    return target


@pytest.fixture
def constructs(tmp_path: Path) -> tuple[ModuleType, Any]:
    """Returns compile.py of another repository and its copy of the constructs, for a test to damage."""
    (tmp_path / "p4src").mkdir()
    shutil.copy(P4SRC / "compile.py", tmp_path / "p4src")
    module = load_compile(tmp_path / "p4src")
    folder = next(folder for folder in module.FOLDERS if folder.with_scripts)
    shutil.copytree(P4SRC.parent / folder.path.relative_to(tmp_path), folder.path)
    return module, folder


def test_committed_outputs_belong_to_the_sources():
    module = load_compile(P4SRC)
    for folder in module.FOLDERS:
        assert module.check(folder) == []


def test_every_folder_with_a_program_is_compiled():
    root = P4SRC.parent
    sources = [*root.glob("engine/*/tests/**/*.p4"), *root.glob("examples/*/*.p4"), P4SRC / "eeon.p4"]
    assert {folder.path for folder in load_compile(P4SRC).FOLDERS} == {path.parent for path in sources}


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("include/sizes.p4", "// changed\n", "has changed since the last compilation"),
        ("include/more.p4", "", "is new since the last compilation"),
        ("compiled/eeon.json", "\n", "is not what the compiler wrote"),
    ],
)
def test_what_does_not_belong_together_is_named(copy, file, text, fault):
    with (copy / file).open("a") as changed:
        changed.write(text)
    module = load_compile(copy)
    assert module.check(module.EEON) == [f"p4src/{file} {fault}; run `make p4`"]


def test_what_is_changed_new_or_gone_of_the_constructs_is_named(constructs):
    module, folder = constructs
    assert module.check(folder) == []
    (folder.path / "frame.h").write_text("// changed\n")
    (folder.path / "clone.json").write_text("{}\n")
    (folder.path / "random.json").unlink()
    (folder.path / "unheard_of.p4").write_text("")
    named = [sentence.split(" ")[0].rsplit("/", 1)[1] for sentence in module.check(folder)]
    assert named == ["frame.h", "unheard_of.p4", "clone.json", "random.json", "unheard_of.p4"]


def test_other_options_are_named(constructs):
    module, folder = constructs
    (sentence,) = module.check(replace(folder, options=("--emit-externs",)))
    assert "other options" in sentence


def test_outputs_hold_no_path_of_the_machine_that_compiled():
    text = (P4SRC / "compiled" / "eeon.json").read_text()
    names = set(re.findall(r'"filename": "(.*?)"', text))
    assert json.loads(text)["program"] == "p4src/eeon.p4"
    assert names and all(name.startswith(("p4src/", "p4include/")) or name == "" for name in names), names


def test_constants_are_the_numbers_and_the_widths_of_the_source():
    constants = json.loads((P4SRC / "compiled" / "constants.json").read_text())
    assert constants["constants"]["CPU_PORT"] == 510
    assert constants["constants"]["ETHERTYPE_IPV6"] == 0x86DD
    assert " ".join(constants["verdict_t"]) == (
        "FORWARDED MARKED EARLY_DROPPED TAIL_DROPPED NO_ROUTE TTL_EXPIRED TO_CPU MALFORMED CONSUMED"
        " NOT_ADMITTED MARTIAN"
    )
    assert constants["eee_state_t"] == {"ACTIVE": 0, "HOLD": 1, "WAKE": 2}
    assert constants["type_bits"]["tick_t"] == 48
    assert constants["register_bits"]["lpi_ticks"] == 48
    assert constants["register_bits"]["wakes"] == 32
    assert constants["type_bits"]["probability_t"] == constants["type_bits"]["wire_time_t"] == 48
    assert (constants["constants"]["RED_DEPTH_BITS"], constants["constants"]["RED_RAMP_BITS"]) == (32, 8)
    assert constants["constants"]["WIRE_TIME_BITS"] == 24


def test_constants_alone_are_written_only_for_the_sources_that_were_compiled(copy):
    module = load_compile(copy)
    (copy / "compiled" / "constants.json").write_text("{}\n")
    module.write_constants()
    assert module.check(module.EEON) == []
    source = copy / "include" / "sizes.p4"
    source.write_text(source.read_text() + "// changed\n")
    with pytest.raises(module.CompileError, match="the sources have changed"):
        module.write_constants()


@pytest.mark.system
def test_compiling_again_gives_the_same_bytes(tmp_path):
    module = load_compile(P4SRC)
    if shutil.which(module.COMPILER) is None:
        pytest.skip("p4c-bm2-ss is not on PATH: the outputs are compared by digest only")
    recorded = json.loads((P4SRC / "compiled" / "provenance.json").read_text())["compiler"]
    here = module.compiler_version(module.find_compiler())
    if here != recorded:
        pytest.skip(f"the outputs were made by {recorded}, here is {here}: other bytes may be right")
    module.compile_folder(module.EEON, tmp_path)
    for path in tmp_path.iterdir():
        assert (P4SRC / "compiled" / path.name).read_bytes() == path.read_bytes(), f"{path.name}: `make p4`"
