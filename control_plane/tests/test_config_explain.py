"""`config.explain`: which level won, and the line of every value."""

from __future__ import annotations

from eeon_control import config, topology

FABRIC = topology.load("leaf-spine-4")
TEXT = """\
profiles:
  queue:
    edge: {buffer: 300KB, aqm: mark_threshold}
    own: {buffer: 100KB, aqm: {autored: 100us, protect: ack_syn}}
  eee:
    slow: {mode: coalesce, hold: 60us, by_speed: {10Gbps: {hold: 90us, wake: 5us}}}
phy: {10Gbps: {sleep: 3us}}
roles:
  host_facing: {queue: edge, eee: 120us100}
  uplink: {queue: edge, eee: standard}
  spine: {queue: edge}
switches:
  leaf1: {eee: slow}
ports:
  "leaf1:3": {queue: own}
"""


def explained(port: str) -> config.Explanation:
    return config.explain(config.from_text(TEXT, "c.yaml"), FABRIC.port(port) or FABRIC.hosts[port].port)


def shown(found: config.Explanation) -> dict[str, tuple[str, str, int | None]]:
    return {one.key: (one.value, one.source, one.place and one.place.line) for one in found.settings}


def test_every_level_is_listed_and_one_of_each_kind_wins():
    found = explained("leaf1:3")
    levels = [
        (one.key, one.profile, one.wins, one.place and one.place.line) for one in (*found.queue, *found.eee)
    ]
    assert levels == [
        ("ports.leaf1:3.queue", "own", True, 15),
        ("switches.leaf1.queue", None, False, None),
        ("roles.uplink.queue", "edge", False, 10),
        ("ports.leaf1:3.eee", None, False, None),
        ("switches.leaf1.eee", "slow", True, 13),
        ("roles.uplink.eee", "standard", False, 10),
    ]


def test_each_value_has_its_line_or_its_rule():
    assert shown(explained("leaf1:3")) == {
        "buffer": ("100KB", "profiles.queue.own.buffer", 4),
        "aqm": ("red", "profiles.queue.own.aqm", 4),
        "min": ("125pkt", "autoRED: 100us at 10Gbps", 4),
        "max": ("375pkt", "autoRED: 100us at 10Gbps", 4),
        "max_probability": ("100%", "default", None),
        "average_weight": ("1/1", "default", None),
        "mean_packet": ("500B", "default", None),
        "by_size": ("false", "default", None),
        "ecn": ("true", "default", None),
        "protect": ("ack_syn", "profiles.queue.own.aqm.protect", 4),
        "eee.mode": ("coalesce", "profiles.eee.slow.mode", 6),
        "eee.stall": ("0s", "default", None),
        "eee.hold": ("90us", "profiles.eee.slow.by_speed.10Gbps.hold", 6),
        "eee.trigger": ("none", "default", None),
        "eee.sleep": ("3us", "phy.10Gbps.sleep", 7),
        "eee.wake": ("5us", "profiles.eee.slow.by_speed.10Gbps.wake", 6),
    }


def test_default_threshold_is_told_with_its_rule():
    rule = "auto: 15 frames of 1500B + C x RTT / 7 at 1Gbps, RTT 420us (DCTCP)"
    assert shown(explained("leaf2:1"))["threshold"] == ("30KB", rule, 3)


def test_preset_and_phy_are_told():
    found = shown(explained("leaf2:1"))
    assert found["eee.hold"] == ("120us", "preset 120us100", None)
    assert found["eee.wake"] == ("16.5us", "1000BASE-T (IEEE 802.3az-2010)", None)


def test_host_has_only_eee():
    found = explained("h1")
    assert found.queue == ()
    assert [one.key for one in found.eee] == ["roles.host.eee"]
    assert shown(found) == {"eee.mode": ("off", "preset off", None)}


def test_what_a_later_file_replaces_is_not_explained_by_the_earlier_one():
    first = config.from_text(TEXT, "a.yaml")
    changed = config.overridden(first, {"profiles.queue.own.aqm": "drop_tail"})
    found = config.explain(changed, FABRIC.port("leaf1:3"))
    [aqm] = [one for one in found.settings if one.key == "aqm"]
    assert (aqm.value, str(aqm.place)) == ("drop_tail", "<override>")
    assert not changed.document.has(("profiles", "queue", "own", "aqm", "autored"))
