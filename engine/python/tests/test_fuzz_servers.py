"""A short fuzzing run of the P4Runtime and the Thrift server, without a fuzzer: inputs of the committed
corpora, all inputs that once revealed a fault, and mutations with a fixed seed.

The conditions are in `engine/python/fuzz/server_fuzz`; the last test checks that they find a fault.
"""

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

from eeon_engine.p4runtime import batch
from eeon_engine.thrift.cells import CellCalls
from server_fuzz import corpora
from server_fuzz.__main__ import main
from server_fuzz.draws import Draws
from server_fuzz.targets import TARGETS
from server_fuzz.world import Finding

# Spread over the corpus, whose longest inputs take longest.
_REPLAYED = 20
_CHANGED = dict.fromkeys(TARGETS, 50) | {"p4runtime_pipeline": 30, "thrift_calls": 75, "thrift_bytes": 75}


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", TARGETS)
def test_committed_and_changed_inputs_find_nothing(name, times):
    target, corpus = TARGETS[name], corpora.committed(name)
    assert corpus
    for item in [*corpora.regressions(name), *corpus[:: -(-len(corpus) // (_REPLAYED * times))]]:
        target(item)
    rng = random.Random(0x5EED)
    for _ in range(_CHANGED[name] * times):
        target(corpora.changed(rng.choice(corpus), rng.choice(corpus), rng))


def test_a_corpus_is_unpacked_as_it_was_packed_and_refused_when_it_breaks_off():
    file = corpora.pack([b"\3" * 300, b"", b"\1", b"\1"])
    assert corpora.unpack(file) == [b"", b"\1", b"\3" * 300]
    for end in (1, 3, 5, len(file) - 1):
        with pytest.raises(ValueError, match="breaks off"):
            corpora.unpack(file[:end])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nosuch", __file__], "nosuch: no such target; there are p4runtime_write"),
        (["thrift_bytes", "/nosuch"], "/nosuch: not read: No such file or directory"),
    ],
)
def test_a_target_and_a_file_that_are_not_there_are_named(monkeypatch, words, says):
    monkeypatch.setattr("sys.argv", ["server_fuzz", "run", *words])
    with pytest.raises(SystemExit, match=says):
        main()


def test_an_input_that_is_used_up_gives_zeros():
    draws = Draws(b"\xff")
    assert (draws.randrange(256), draws.randrange(256), draws.is_over) == (255, 0, True)


def test_a_batch_that_is_not_taken_back_is_found(monkeypatch):
    monkeypatch.setattr("eeon_engine.p4runtime.entities.forwarding.Forwarding.restore", lambda *_: None)
    with pytest.raises(Finding, match="taken back"):
        for item in corpora.committed("p4runtime_write"):
            TARGETS["p4runtime_write"](item)


def test_a_servicer_that_fails_is_found(monkeypatch):
    monkeypatch.setattr(batch, "write", lambda *arguments: 1 // 0)
    with pytest.raises(Finding, match="ZeroDivisionError"):
        for item in corpora.committed("p4runtime_bytes"):
            TARGETS["p4runtime_bytes"](item)


def test_a_register_that_is_written_wrongly_is_found(monkeypatch):
    right = CellCalls._cut
    monkeypatch.setattr(CellCalls, "_cut", lambda calls, reg, value: right(calls, reg, value ^ 1))
    with pytest.raises(Finding, match="reads"):
        for item in corpora.committed("thrift_calls"):
            TARGETS["thrift_calls"](item)
