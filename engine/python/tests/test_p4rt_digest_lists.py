"""Digest lists that are full, due, repeated and forgotten; the clock is a number (P4Runtime 1.5 §9.8)."""

from eeon_engine.p4runtime.entities.digests import Config, DigestLists


def lists(max_timeout_ns: int = 100, max_list_size: int = 3, ack_timeout_ns: int = 0) -> DigestLists:
    return DigestLists(Config(max_timeout_ns, max_list_size, ack_timeout_ns))


def test_a_list_is_sent_when_it_is_full() -> None:
    made = lists()
    assert made.add(b"a", 0) == []
    assert made.add(b"b", 1) == []
    assert made.add(b"c", 2) == [(1, [b"a", b"b", b"c"])]
    assert made.due(1000) == []


def test_a_list_is_sent_when_its_first_message_has_waited_long_enough() -> None:
    made = lists()
    made.add(b"a", 10)
    made.add(b"b", 60)
    assert made.due(109) == []
    assert made.due(110) == [(1, [b"a", b"b"])]


def test_a_repeat_in_a_list_counts_once() -> None:
    made = lists(max_list_size=2)
    assert made.add(b"a", 0) == made.add(b"a", 1) == []
    assert made.add(b"b", 2) == [(1, [b"a", b"b"])]


def test_without_a_time_out_or_with_size_one_every_message_is_a_list() -> None:
    for made in (lists(max_timeout_ns=0), lists(max_list_size=1)):
        assert made.add(b"a", 0) == [(1, [b"a"])]
        assert made.add(b"b", 0) == [(2, [b"b"])]


def test_size_zero_is_the_servers_own_limit() -> None:
    made = lists(max_list_size=0)
    sent = [item for number in range(2048) for item in made.add(number.to_bytes(2, "big"), 0)]
    assert [len(messages) for _, messages in sent] == [1024, 1024]


def test_without_an_acknowledgement_time_out_repeats_are_sent_again() -> None:
    made = lists(max_list_size=1)
    assert [made.add(b"a", at) for at in (0, 1)] == [[(1, [b"a"])], [(2, [b"a"])]]


SECOND = 10**9


def test_a_sent_message_is_held_back_until_acknowledged_or_forgotten() -> None:
    made = lists(max_list_size=1, ack_timeout_ns=SECOND)
    assert made.add(b"a", 0) == [(1, [b"a"])]
    assert made.add(b"a", 2 * SECOND - 1) == []
    assert made.add(b"a", 2 * SECOND) == [(2, [b"a"])]
    made.acknowledge(1)
    assert made.add(b"a", 2 * SECOND + 10) == []
    made.acknowledge(2)
    assert made.add(b"a", 2 * SECOND + 11) == [(3, [b"a"])]


def test_a_list_is_forgotten_at_the_second_look_after_it_was_sent_as_in_pi() -> None:
    made = lists(max_list_size=1, ack_timeout_ns=SECOND)
    assert made.due(0) == []
    assert made.add(b"a", SECOND - 1) == [(1, [b"a"])]
    assert made.add(b"a", 2 * SECOND - 1) == []
    assert made.add(b"a", 2 * SECOND) == [(2, [b"a"])]
    assert made.add(b"a", 4 * SECOND - 1) == []


def test_time_outs_below_a_tenth_of_a_second_are_a_tenth_as_in_pi() -> None:
    made = lists(max_list_size=1, ack_timeout_ns=1)
    assert made.add(b"a", 0) == [(1, [b"a"])]
    assert made.add(b"a", SECOND // 5 - 1) == []
    assert made.add(b"a", SECOND // 5) == [(2, [b"a"])]


def test_lists_without_acknowledgement_are_remembered_within_bounds() -> None:
    made = lists(max_list_size=1, ack_timeout_ns=10**18)
    for number in range(70_000):
        made.add(number.to_bytes(4, "big"), number)
    assert made.add((0).to_bytes(4, "big"), 70_000) != []
    assert made.add((69_999).to_bytes(4, "big"), 70_000) == []
