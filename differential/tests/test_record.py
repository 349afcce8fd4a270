"""Campaigns with a record: interrupted and continued, in several processes; differences by the machine."""

import json
import pickle
from random import Random
from unittest.mock import Mock

import pytest
from finsy.proto import p4i

from differential import bmv2, campaign, compare, p4runtime
from differential.campaign import run
from differential.compare import Bench, Counts, Difference
from differential.frames import Subject
from differential.record import Campaign, Done, Record, RecordError
from differential.subjects import SUBJECTS

needs_bmv2 = pytest.mark.skipif(bmv2.why_not() is not None, reason=str(bmv2.why_not()))
TWO = tuple(subject for subject in SUBJECTS if subject.name in ("arithmetic", "hashes"))
HERE = Campaign(seed=7, bmv2="1.15.5", engine="e", tester="t")


def done(number: int, differences: int = 0) -> Done:
    return Done("hashes", number, Counts(cases=1000, frames=900, differences=differences), [], 0)


@pytest.mark.system
@needs_bmv2
def test_a_campaign_goes_on_where_it_was_interrupted_and_comes_to_the_same(tmp_path):
    parts, whole = tmp_path / "parts.jsonl", tmp_path / "whole.jsonl"
    for cases in (1000, 2000):
        with Record(parts, Campaign.here(7)) as record:
            before = parts.read_text()
            outcomes = run(TWO, cases, 7, tmp_path, print, record=record)
        assert parts.read_text().startswith(before)
        assert [outcome.counts.cases for outcome in outcomes] == [1000, 1000]
    # Up to 1,000 cases of a program are one configuration: the second run had nothing to do.
    assert len(parts.read_text().splitlines()) == 3
    for path in (parts, whole):
        with Record(path, Campaign.here(7)) as record:
            outcomes = run(TWO, 4000, 7, tmp_path, print, workers=3, record=record)
        assert [outcome.counts.cases for outcome in outcomes] == [2000, 2000]
    assert sorted(parts.read_text().splitlines()) == sorted(whole.read_text().splitlines())
    assert len(whole.read_text().splitlines()) == 5


@pytest.mark.system
@needs_bmv2
def test_a_campaign_without_time_begins_nothing(tmp_path):
    outcomes = run(TWO, 1000, 7, tmp_path, print, minutes=0)
    assert [outcome.counts.cases for outcome in outcomes] == [0, 0]


def test_a_record_keeps_what_is_done_and_cuts_off_half_a_line(tmp_path):
    path = tmp_path / "record.jsonl"
    with Record(path, HERE) as record:
        record.add(done(0))
        record.add(done(1, differences=1))
    whole = path.read_text()
    path.write_text(whole + '{"program": "hashes", "configu')
    with Record(path, HERE) as record:
        assert record.done == [done(0), done(1, differences=1)]
        assert path.read_text() == whole


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (Campaign(8, "1.15.5", "e", "t"), "is of seed 7, here it is 8"),
        (Campaign(7, "1.15.6", "e", "t"), "is of bmv2 1.15.5, here it is 1.15.6"),
        (Campaign(7, "1.15.5", "f", "t"), "is of engine e, here it is f"),
        (Campaign(7, "1.15.5", "e", "u"), "is of tester t, here it is u"),
    ],
)
def test_a_record_of_another_seed_or_of_other_versions_is_refused(tmp_path, other, what):
    path = tmp_path / "record.jsonl"
    Record(path, HERE).__exit__(None, None, None)
    with pytest.raises(RecordError, match=what):
        Record(path, other)


def test_two_campaigns_do_not_add_to_one_record(tmp_path):
    path = tmp_path / "record.jsonl"
    with Record(path, HERE), pytest.raises(RecordError, match="another campaign adds to it"):
        Record(path, HERE)


@pytest.mark.parametrize("text", ["{}", "[]", "x", "{", json.dumps(vars(HERE)) + '\n{"program": 1}'])
def test_a_file_that_is_no_record_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "record.jsonl"
    path.write_text(text + "\n")
    with pytest.raises(RecordError, match="no record of a campaign"):
        Record(path, HERE)
    assert path.read_text() == text + "\n"


def test_a_difference_comes_out_of_another_process_as_it_was():
    difference = Difference("frames", (1, "00"), {1: ["00"]}, {1: ["01"]})
    again = pickle.loads(pickle.dumps(difference))
    assert (str(again), vars(again)) == (str(difference), vars(difference))


@pytest.mark.system
def test_a_server_that_is_late_is_the_machines_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(p4runtime, "TIMEOUT_SECONDS", 0.1)
    with pytest.raises(campaign.MACHINES, match=r"no connection within 0\.1 s"):
        p4runtime.P4RuntimeClient(f"unix:{tmp_path}/nobody", p4i.P4Info(), b"")


@pytest.mark.system
def test_an_engine_whose_bmv2_does_not_start_is_closed(monkeypatch):
    closed = []
    close = compare.Engine.close
    monkeypatch.setattr(compare.Engine, "close", lambda engine: (closed.append(engine), close(engine)))
    monkeypatch.setattr(compare, "Bmv2", Mock(side_effect=bmv2.Ended("simple_switch does not start")))
    with pytest.raises(bmv2.Ended):
        Bench(TWO[0])
    assert len(closed) == 1


@pytest.mark.system
@needs_bmv2
def test_a_switch_that_does_not_start_is_started_again(tmp_path, monkeypatch):
    starts = []

    def starting(subject: Subject) -> Bench:
        starts.append(subject)
        if len(starts) < 3:
            raise bmv2.Ended("simple_switch does not start")
        return Bench(subject)

    monkeypatch.setattr(campaign, "Bench", starting)
    (outcome,) = run(TWO[:1], 5, 7, tmp_path, print)
    assert (outcome.interrupted, outcome.counts.differences, outcome.counts.cases) == (2, 0, 5)


@pytest.mark.system
@needs_bmv2
def test_a_difference_that_the_same_steps_do_not_show_again_is_counted_apart(tmp_path, monkeypatch):
    attempts = []

    def stumbling(bench: Bench, rng: Random, cases: int) -> None:
        attempts.append(bench)
        bench.packet(0, bytes(3))
        if len(attempts) == 1:
            raise Difference("frames", "a frame that came late", {}, {})

    monkeypatch.setattr(campaign, "configuration", stumbling)
    lines: list[str] = []
    (outcome,) = run(TWO[:1], 1, 7, tmp_path, lines.append)
    assert (outcome.interrupted, outcome.counts.differences, outcome.counts.cases) == (1, 0, 1)
    assert lines[-1] == "arithmetic: not again with the same 1 steps"
