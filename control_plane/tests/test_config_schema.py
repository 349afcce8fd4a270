"""The published JSON Schemas: current, and consistent with the loaders about valid and invalid files."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from eeon_command import eeon
from eeon_control import config, data, schemas, topology
from eeon_control.errors import EeonError
from eeon_control.sources import parse_yaml
from expected_rows import bases
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

REPOSITORY = Path(__file__).resolve().parents[2]
EVERYTHING = bases(Path(__file__).parent / "expected" / "configuration.yaml")["everything"]


@cache
def validator(kind: str) -> Draft7Validator:
    return Draft7Validator(schemas.schema(kind))


def is_valid(kind: str, text: str) -> bool:
    return validator(kind).is_valid(parse_yaml(text, "x.yaml").value)


@pytest.mark.parametrize("kind", list(schemas.MODELS))
def test_committed_schema_is_what_the_models_say_and_the_command_prints(kind):
    committed = (REPOSITORY / "control_plane" / "schema" / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert committed == schemas.text(kind), "run `make reference`"
    assert committed == eeon("config", "schema", kind, code=0).stdout
    Draft7Validator.check_schema(json.loads(committed))


@pytest.mark.parametrize(
    "path",
    [
        *(REPOSITORY / "control_plane" / "examples").glob("*.yaml"),
        *(REPOSITORY / "topologies").glob("*.yaml"),
    ],
    ids=lambda path: path.stem,
)
def test_file_that_ships_is_valid_and_its_first_line_leads_the_editor_to_the_schema(path):
    kind = "config" if path.parent.name == "examples" else "topology"
    assert is_valid(kind, path.read_text())
    match = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text())
    assert match is not None
    schema = REPOSITORY / "control_plane" / "schema" / f"{kind}.schema.json"
    assert (path.parent / match[1]).resolve() == schema


WORDS = ["", "~", "null", "[]", "{}", "off", "auto", "true", "x"]
QUANTITIES = ["0", "1", "-1", "0.5", "5pkt", "3KB", "1ms", "10Gbps", "7pps"]


@st.composite
def with_a_value_replaced(draw, text: str) -> str:
    """Returns a valid file with some values replaced."""
    for _ in range(draw(st.integers(1, 3))):
        values = [match.span(1) for match in re.finditer(r": ([^,{}\[\]\n]+)", text)]
        start, end = draw(st.sampled_from(values))
        text = text[:start] + draw(st.sampled_from(WORDS + QUANTITIES)) + text[end:]
    return text


@pytest.mark.slow
@given(text=with_a_value_replaced(EVERYTHING))
def test_schema_of_configurations_is_never_stricter_than_the_loader(text):
    try:
        config.from_text(text)
    except EeonError:
        return
    assert is_valid("config", text), text


@given(
    text=with_a_value_replaced(
        (data.folder("topologies") / "leaf-spine-4.yaml").read_text().partition("\n")[2]
    )
)
def test_schema_of_topologies_is_never_stricter_than_the_loader(text):
    try:
        topology.from_text(text)
    except EeonError:
        return
    assert is_valid("topology", text), text
