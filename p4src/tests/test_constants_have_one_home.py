"""The program's numbers are read from compiled/constants.json, not repeated. Does not detect numbers that are
not specific, such as 4096 or 16: only those by which a copy can be recognised, by value or by name.

Tests and fuzz targets may write a number: it is their expected value.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
NUMBERS = json.loads((REPOSITORY / "p4src/compiled/constants.json").read_text(encoding="utf-8"))
PARTS = ("control_plane", "tools", "experiments", "ptf_tests", "differential", "engine/python")

CONSTANTS: dict[str, int] = NUMBERS["constants"]
# Numbers that occur in this repository's programs for no other reason.
TELLING = {
    CONSTANTS["COPY_PORT"],
    CONSTANTS["CPU_PORT"],
    CONSTANTS["DROP_PORT"],
    CONSTANTS["TICKS_AHEAD_LIMIT"],
    1 << NUMBERS["type_bits"]["tick_t"],
    1 << NUMBERS["constants"]["WIRE_TIME_BITS"],
}
# The engine runs any program, and has the defaults of BMv2's command.
ELSEWHERE = {("engine/python/eeon_engine/switch_command/options.py", "DEFAULT_DROP_PORT")}


def number_of(node: ast.AST) -> int | None:
    """Returns the value of `511`, `"511"`, `1 << 48` or `2**48`; other arithmetic does not count as a
    constant."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.Constant(value=str() as text) if text.isdecimal():
            return int(text)
        case ast.BinOp(ast.Constant(value=1), ast.LShift(), ast.Constant(value=int() as bits)):
            return 1 << bits
        case ast.BinOp(ast.Constant(value=2), ast.Pow(), ast.Constant(value=int() as bits)):
            return int(2**bits)
    return None


def named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yields (name, value) of assignments, keyword arguments and the items of a dict."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.keyword(arg=str() as name, value=value):
            yield name, value
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, value


def typed_again(source: str, place: str) -> list[str]:
    """Returns each number of the program that a Python source has as a literal, with its line."""
    tree = ast.parse(source)
    allowed = {
        id(value) for node in ast.walk(tree) for name, value in named(node) if (place, name) in ELSEWHERE
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and number_of(node) in TELLING and id(node) not in allowed:
            text = ast.get_source_segment(source, node) or ""
            if not text.startswith("0x"):  # a port or a scale is not written in hexadecimal
                found.append(f"{place}:{node.lineno}: {text}")
        for name, value in named(node):
            if CONSTANTS.get(name.lstrip("_").upper()) is not None and number_of(value) is not None:
                found.append(f"{place}:{value.lineno}: {name} = {ast.unparse(value)}")
    return found


def sources() -> Iterator[Path]:
    for part in PARTS:
        for path in sorted((REPOSITORY / part).rglob("*.py")):
            inside = path.relative_to(REPOSITORY / part).parts
            if "fuzz" not in inside and ("tests" not in inside or part == "ptf_tests"):
                yield path


@pytest.mark.slow
def test_no_source_types_a_number_of_the_program_again():
    found = [
        line
        for path in sources()
        for line in typed_again(path.read_text(encoding="utf-8"), path.relative_to(REPOSITORY).as_posix())
    ]
    assert not found, "take it from p4src/compiled/constants.json:\n" + "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "CPU_PORT = 510",
        "start('--cpu-port', '510')",
        "if port == 511: pass",
        "now % 2**48",
        "one = 1 << 48",
        "spec = {'drop_port': 511}",
        "round(x * (1 << 24))",
        "_PORT_CELLS: int = 512",
        "Program(port_table_size=512)",
    ],
)
def test_literal_is_found_in_every_form(source):
    assert typed_again(source, "x.py")


@pytest.mark.parametrize(
    "source",
    [
        "SAMPLES = 512",
        "limit = 16 << 20",
        "ethertype = 0x01FF",
        "cpu_port = None",
        "'at most 511 ports'",
        "CPU_PORT = numbers['CPU_PORT']",
    ],
)
def test_other_numbers_are_not_taken_for_the_programs(source):
    assert typed_again(source, "x.py") == []
