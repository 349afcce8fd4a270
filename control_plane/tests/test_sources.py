"""YAML as every file is read and written: version 1.2, with libyaml and without."""

import importlib.util
import sys
from pathlib import Path

import pytest
from eeon_control import sources
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], include_characters=" \n")),
    st.sampled_from(
        ["on", "No", "010", "0x1F", "0o17", "1e5", "1_000", ".5", "12:30", "2026-11-28", "~", "=", "<<"]
    ),
)


@given(st.recursive(_PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abc"), inner)))
def test_what_is_written_is_read_back(value):
    text = sources.yaml_text({"key": value})
    assert sources.parse_yaml(text, "f.yaml").value == {"key": value}, text


@pytest.mark.parametrize("number", ["0x" + "f" * 5000, "0b" + "1" * 30_000, "9" * 5000])
def test_a_number_that_is_too_long_for_python_to_print_is_text(number):
    assert sources.parse_yaml(f"key: {number}", "f.yaml").value == {"key": number}


def test_every_file_reads_the_same_without_libyaml(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    spec = importlib.util.spec_from_file_location("sources_without_libyaml", sources.__file__)
    without = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, without)
    spec.loader.exec_module(without)
    assert without.EventParser is not sources.EventParser
    files = [*ROOT.glob("topologies/*.yaml"), *ROOT.glob("control_plane/examples/*.yaml")]
    assert files
    for file in files:
        ours, theirs = sources.read_yaml(file), without.read_yaml(file)
        assert ours.value == theirs.value
        assert str(ours.places) == str(theirs.places)
