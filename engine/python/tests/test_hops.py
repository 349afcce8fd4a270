"""The stream of hops in Python: of a twin, and of a single switch."""

import pytest
from eeon_engine import ConfigError, Switch, hops
from p4rt_client import INSERT
from test_engine_twin import DATAGRAM, batch, client, route, twin

__all__ = ["client", "twin"]  # the fixtures

VERDICT = "scalars.metadata_t.verdict"
BYTES = "scalars.metadata_t.queued_bytes"


@pytest.mark.system
def test_a_twin_tells_the_way_of_each_packet_under_names(twin, client, fabric_names):
    client.write((INSERT, route(fabric_names)))
    hops.record(twin, {"fields": [VERDICT, BYTES], "snap_bytes": 20})
    twin.feed("h1", **batch(2, 100_000_000))
    twin.run_to_idle()
    found = hops.take(twin)
    assert found is not None
    way = [event for event in found.events() if event.packet == 2]
    assert [(event.kind, event.node, event.port) for event in way] == [
        ("offered", "h1", 0),
        ("sent", "h1", 0),
        ("arrived", "leaf1", 1),
        ("judged", "leaf1", 1),
        ("queued", "leaf1", 2),
        ("sent", "leaf1", 2),
        ("delivered", "h2", 0),
    ]
    judged, sent = way[3], way[5]
    assert judged.values == (0, 1000)
    assert judged.flow == hops.Flow("10.0.1.1", "10.0.2.1", 17, 50000, 9)
    # 1000 bytes and 24 of preamble, SFD, FCS and gap at 1 Gbit/s.
    assert sent.until_ps - sent.at_ps == 1024 * 8 * 1000
    assert (len(sent.frame), sent.frame[:6].hex(), sent.length) == (20, "020000000002", 1000)
    assert found.lost == 0
    assert hops.take(twin) is None, "nothing is recorded any more"


def test_a_switch_alone_tells_its_hops_and_how_many_were_too_many(fabric_program):
    switch = Switch(fabric_program)
    hops.record(switch, {"kinds": ["arrived", "dropped"], "limit": 3})
    for _ in range(3):
        switch.inject(1, DATAGRAM)
    switch.advance_to(1_000_000)
    found = hops.take(switch)
    assert found is not None
    events = [(event.kind, event.node, event.cause) for event in found.events()]
    # Without a route, ingress drops the frames.
    assert events == [("arrived", "switch", ""), ("dropped", "switch", "ingress"), ("arrived", "switch", "")]
    assert (found.lost, found.limit, len(found)) == (3, 3, 3)


@pytest.mark.parametrize(
    ("filter", "message"),
    [
        ({"kinds": ["send"]}, "hops: kinds: 'send' is not one of offered, arrived, judged"),
        ({"ports": [["leaf9", 1]]}, "hops: ports: unknown node 'leaf9'"),
        ({"fields": ["verdict"]}, "hops: fields: 'verdict' is not header.field"),
        ({"fields": [VERDICT], "port_field": BYTES}, "hops: port_field: .* is not one of the fields"),
        ({"fields": ["scalars.nothing"]}, "hops: the program has no field scalars.nothing"),
        ({"fields": [VERDICT] * 17}, "hops: 17 fields, at most 16"),
        ({"limit": 1 << 40}, "hops: a limit of 1099511627776 events, at most 16777216"),
        ({"flow": {"source": "somewhere"}}, "hops: .*invalid IP address"),
        ({"color": "red"}, "hops: unknown field `color`"),
    ],
)
def test_a_filter_that_cannot_be_is_refused_by_name(twin, filter, message):
    with pytest.raises(ConfigError, match=message):
        hops.record(twin, filter)
    assert hops.take(twin) is None
