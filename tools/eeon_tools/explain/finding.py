"""Finds a packet of a capture: the first of a flow, or the first that was marked, dropped or held.

The capture is sent through the scene's fabric once, and the engine records the stream of hops.
"""

from __future__ import annotations

from array import array
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control.routing.flow_hash import Flow
from eeon_control.topology import Topology

from eeon_tools.errors import InputError
from eeon_tools.explain.journeys import make_fabric
from eeon_tools.explain.scene import Scene
from eeon_tools.hops.recording import Recording, Visit, recording_filter
from eeon_tools.replay.feed import AS_A_NIC, Feed, SendRules, flat
from eeon_tools.replay.unmarked import why_unmarked
from eeon_tools.trace.frames import ECN_NAMES

if TYPE_CHECKING:
    from eeon_engine.hops import FlowFilter, HopFilter

_LIMIT = 16_000_000
_IDLE_PS = 3_600 * 10**12


def parse_flow(text: str, topology: Topology) -> FlowFilter:
    """Parses `tcp,h1,40000,h3,5000`: protocol, source and its port, destination and its port; hosts by name
    or address. Raises InputError or EeonError for any other form."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 5 or not all(parts) or parts[0].lower() not in ("tcp", "udp"):
        raise InputError(
            "--flow", text[:80], "write PROTOCOL,SOURCE,PORT,DESTINATION,PORT: tcp,h1,40000,h3,5000"
        )
    protocol, source, source_port, destination, destination_port = parts
    flow = Flow.parse(f"{protocol},{source_port},{destination_port}")
    return {
        "protocol": flow.protocol,
        "source": _address(source, topology),
        "source_port": flow.source_port,
        "destination": _address(destination, topology),
        "destination_port": flow.destination_port,
    }


def _address(text: str, topology: Topology) -> str:
    host = topology.hosts.get(text)
    if host is not None:
        return str(host.ipv4)
    try:
        return str(ip_address(text))
    except ValueError:
        raise InputError(
            "--flow", text[:80], f"is neither a host of {topology.name} nor an IP address"
        ) from None


def find_packet(
    scene: Scene,
    capture: Path,
    kind: str | None,
    flow: str | None,
    switch: str | None,
    speed: float = 1.0,
    rules: SendRules = AS_A_NIC,
) -> tuple[int, int]:
    """Returns the first packet of `kind` (`marked`, `dropped` or `held`; None for any), of `flow` and at
    `switch` if these are given: its number in the capture, from 1, and that of its segment, which is 1 unless
    it was segmented. Raises InputError if there is none."""
    assert scene.fabric is not None, "a scene without a fabric has no hosts that send"
    topology = scene.fabric.topology
    asked = recording_filter(limit=_LIMIT)
    asked["kinds"] = (
        ["offered"]
        if kind is None
        else ["arrived", "judged", "queued", "held", "paused", "recirculated", "sent", "dropped"]
    )
    if flow is not None:
        asked["flow"] = parse_flow(flow, topology)
    recording, numbers = _record(scene, capture, asked, speed, rules)
    unmarked = ""
    if kind is None:
        offered = recording.hops.column("packet")
        if len(offered):
            return _in_capture(numbers, offered[0])
    else:
        hosts = set(topology.hosts)
        visits = [visit for visit in recording.visits() if switch in (None, visit.node)]
        found = [visit for visit in visits if _is(visit, kind) and (visit.node not in hosts or visit.dropped)]
        if found:
            return _in_capture(numbers, min(found, key=_decided_ps).number)
        if kind == "marked":
            unmarked = f": {_why_unmarked(recording, visits, switch)}"
    place = "" if switch is None else f" at {switch}"
    missing = recording.truncation()
    what = f"is {kind}" if kind else "has this flow"
    raise InputError(
        "--first" if kind else "--flow",
        kind or flow or "",
        f"no packet of {capture.name} {what}{place} under this configuration{unmarked}"
        + (f"; {missing}" if missing else ""),
    )


def _in_capture(numbers: array[int], sent: int) -> tuple[int, int]:
    """Returns the packet and its segment of the frame that hosts sent as number `sent`, from 1."""
    number = numbers[sent - 1]
    return number, sent - numbers.index(number)


def _why_unmarked(recording: Recording, visits: list[Visit], switch: str | None) -> str:
    by_ecn = dict.fromkeys(ECN_NAMES, 0)
    for codepoint in {visit.number: visit.ecn for visit in visits if visit.ecn is not None}.values():
        by_ecn[ECN_NAMES[codepoint]] += 1
    depths: dict[str, int] = {}
    for visit in visits:
        depths[visit.place] = max(visit.decided_bytes, depths.get(visit.place, 0))
    ports = [port for port in recording.topology.ports() if switch in (None, port.node)]
    return why_unmarked(recording.config, ports, by_ecn, depths)


def _is(visit: Visit, kind: str) -> bool:
    match kind:
        case "marked":
            return visit.verdict == "marked" and not visit.dropped
        case "dropped":
            return bool(visit.dropped)
        case _:
            return visit.held_ps > 0 or visit.paused_ps > 0


def _decided_ps(visit: Visit) -> tuple[int, int]:
    at = visit.end_ps if visit.dropped else visit.queued_ps
    return (visit.arrived_ps if at is None else at, visit.number)


def _record(
    scene: Scene, capture: Path, asked: HopFilter, speed: float, rules: SendRules
) -> tuple[Recording, array[int]]:
    """Returns the recording, in which frames are numbered as hosts send them, and the number in the capture
    of each."""
    fabric = scene.fabric
    assert fabric is not None, "a scene without a fabric has no hosts that send"
    from eeon_engine import hops

    hosts = list(fabric.topology.hosts.values())
    feed = Feed(capture, hosts, speed, rules)
    twin, _ = make_fabric(scene, for_tracing=False)
    hops.record(twin, asked)
    numbers = array("I")
    for batch in feed.batches():
        numbers.extend(offer.number for offer in batch)
        twin.feed(*flat(batch))
        twin.run_until(batch[-1].at_ps)
    twin.run_to_idle(feed.counts.last_ps + _IDLE_PS)
    found = hops.take(twin)
    assert found is not None, "the twin was asked to record"
    return Recording(capture.name, found, fabric.topology, fabric.config, twin.now_ps), numbers
