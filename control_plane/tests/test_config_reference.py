"""docs/run/configuration.md: the reference is current, examples are valid, tables agree with the program."""

import re
from pathlib import Path

import pytest
from eeon_control import config, reference, topology
from eeon_control.errors import Severity
from eeon_control.port_settings.mark_threshold import bandwidth_delay_share, default_threshold
from eeon_control.units import DataRate, Duration
from hypothesis import given
from hypothesis import strategies as st

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "run" / "configuration.md").read_text(encoding="utf-8")


def test_reference_is_what_the_schema_says():
    assert reference.into(PAGE) == PAGE, "run `make reference`"


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="the page needs the lines"):
        reference.into("# nothing\n")


def test_example_is_legal():
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    found = config.check(config.from_text(example), topology.load("leaf-spine-4"), Duration.parse("1ns"))
    assert [one for one in found if one.severity is Severity.ERROR] == []


def test_short_forms_mean_what_the_table_says():
    rows = re.findall(r"^\| (`.*`) \| `(\{mode: .*\})` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 6
    for shorts, long in rows:
        for short in re.findall(r"`(.*?)`", shorts):
            a, b = (f"{{buffer: 1MB, aqm: {aqm}}}" for aqm in (short, long))
            queues = config.from_text(f"profiles: {{queue: {{a: {a}, b: {b}}}}}").profiles.queue
            assert queues["a"] == queues["b"]


def test_default_thresholds_are_those_of_the_table():
    [rates] = re.findall(r"^\| link \| (.*) \|$", PAGE, re.MULTILINE)
    [thresholds] = re.findall(r"^\| threshold \| (.*) \|$", PAGE, re.MULTILINE)
    said = dict(zip(rates.split(" | "), thresholds.split(" | "), strict=True))
    assert said == {rate: str(default_threshold(DataRate.parse(rate))) for rate in said}
    assert len(said) == 6


@given(rate=st.integers(1, 10**12), rtt=st.integers(1, 10**10))
def test_default_threshold_is_never_below_its_bandwidth_delay_share(rate, rtt):
    threshold = default_threshold(DataRate(rate), Duration(rtt))
    assert threshold >= bandwidth_delay_share(DataRate(rate), Duration(rtt))
    assert threshold % 1500 == 0
