"""Digest lists that are full, due, repeated and forgotten; the clock is a number (P4Runtime 1.5 §9.8)."""

import re

import pytest
from eeon_engine.p4runtime.entities.digests import DigestLists
from finsy.proto import p4r

S = 10**9
STEP = re.compile(r"(?P<message>\w*)@(?P<at>\d+)(?:=(?P<list_id>\d+):(?P<messages>\w+))?")
"""A message, if there is one, at a time in nanoseconds; and the list that is then sent, if there is one."""


def lists(**config: int) -> DigestLists:
    return DigestLists(p4r.DigestEntry.Config(**{"max_timeout_ns": 100, "max_list_size": 3} | config))


CASES = {
    "a_list_is_sent_when_it_is_full": ({}, "a@0 b@1 c@2=1:abc @1000"),
    "a_list_is_sent_when_its_first_message_has_waited_long_enough": ({}, "a@10 b@60 @109 @110=1:ab"),
    "a_repeat_in_a_list_counts_once": ({"max_list_size": 2}, "a@0 a@1 b@2=1:ab"),
    "without_a_time_out_every_message_is_a_list": ({"max_timeout_ns": 0}, "a@0=1:a b@0=2:b"),
    "with_size_one_every_message_is_a_list": ({"max_list_size": 1}, "a@0=1:a b@0=2:b"),
    "without_an_acknowledgement_time_out_repeats_are_sent_again": ({"max_list_size": 1}, "a@0=1:a a@1=2:a"),
    "a_sent_message_is_held_back_until_acknowledged_or_forgotten": (
        {"max_list_size": 1, "ack_timeout_ns": S},
        f"a@0=1:a a@{2 * S - 1} a@{2 * S}=2:a ack1 a@{2 * S + 10} ack2 a@{2 * S + 11}=3:a",
    ),
    "a_list_is_forgotten_at_the_second_look_after_it_was_sent_as_in_pi": (
        {"max_list_size": 1, "ack_timeout_ns": S},
        f"@0 a@{S - 1}=1:a a@{2 * S - 1} a@{2 * S}=2:a a@{4 * S - 1}",
    ),
    "time_outs_below_a_tenth_of_a_second_are_a_tenth_as_in_pi": (
        {"max_list_size": 1, "ack_timeout_ns": 1},
        f"a@0=1:a a@{S // 5 - 1} a@{S // 5}=2:a",
    ),
}


@pytest.mark.parametrize(("config", "steps"), CASES.values(), ids=CASES)
def test_lists_are_sent_when_they_must_be(config, steps):
    made = lists(**config)
    for step in steps.split():
        if step.startswith("ack"):
            made.acknowledge(int(step.removeprefix("ack")))
            continue
        is_known = STEP.fullmatch(step)
        assert is_known, step
        message, at, list_id, messages = is_known.groups()
        sent = made.add(message.encode(), int(at)) if message else made.due(int(at))
        assert sent == ([(int(list_id), [one.encode() for one in messages])] if list_id else []), step


def test_size_zero_is_the_servers_own_limit():
    made = lists(max_list_size=0)
    sent = [item for number in range(2048) for item in made.add(number.to_bytes(2, "big"), 0)]
    assert [len(messages) for _, messages in sent] == [1024, 1024]


def test_lists_without_acknowledgement_are_remembered_within_bounds():
    made = lists(max_list_size=1, ack_timeout_ns=10**18)
    for number in range(70_000):
        made.add(number.to_bytes(4, "big"), number)
    assert made.add((0).to_bytes(4, "big"), 70_000) != []
    assert made.add((69_999).to_bytes(4, "big"), 70_000) == []
