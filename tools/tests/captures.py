"""Captures as data: packets, what hosts send of them, what `eeon trace info` counts, which flows they have.

A file has cases; the name of a case is a sentence. `names` has values, in the notation of Python and scapy,
for the packets of the whole file. A case has some of these keys:

    packets      packets in scapy's notation, or lists of them; or mappings with `is`, `at` (its time, by
                 default 1 us after the one before), `kept` (the number of captured bytes), `length` (of the
                 frame, if it has more bytes) and `on` (the interface; with `out` if the packet leaves there)
    link         the link type of the file, for packets of IP
    interfaces   the number of Ethernet interfaces of a pcapng file
    file         instead of packets, the bytes of the file, with the functions of made_captures.py
    maps, unmapped, speed, whole    `--map`, `--unmapped`, `--speed`, `--keep-super-frames`
    gap          `--gap` of `eeon trace flows`
    rows         texts that replace the `$` in the packets, and the answers to each

and these answers:

    reads        values of every packet that is read, by expressions with its time `t`, `b` and `n`, as below
    unreadable   why the file is refused
    sends        the numbers of the packets that hosts send
    hosts, times, lengths    of the frames that hosts send: host, picoseconds, bytes
    frames       the frames, in scapy's notation
    each         values of every frame by expressions, in which `p` is the packet, `b` its captured bytes,
                 `n` the frame's length, and `given` are the packets of the capture
    all          an expression that is true of every frame
    counts       counts of the feed
    remarks      texts, one of which occurs in each of its remarks
    refused      the error of a replay
    wrong        true, if a checksum of a frame is not right: all of them are checked
    info         values in the JSON of `eeon trace info`, by path (control_plane/tests/scenarios.py)
    says         texts in its output
    lacks        texts that are not in its output
    flows        the lines of `eeon trace flows` without the first
    flows say    texts in its output, or in its error without `flows`

A text in slashes is a regular expression. An Ethernet header with both addresses is added to packets of IP:
scapy would look missing ones up in the network.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from eeon_control import topology
from eeon_tools.errors import TraceError
from eeon_tools.replay.feed import Feed, Offer, SendRules
from eeon_tools.trace.capture import read_packets
from eeon_tools.trace.frames import MIN_FRAME_BYTES
from made_captures import block, capture, interface, packet, pcap, section
from scapy import packet as packets
from scapy.layers import inet, inet6, l2

from control_plane.tests.answers import occurs, part, texts_of
from control_plane.tests.eeon_command import eeon
from control_plane.tests.expected_rows import value

CASES = Path(__file__).parent / "expected" / "captures"
HOSTS = list(topology.load("leaf-spine-4").hosts.values())
ETHER = l2.Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
Case = dict[str, Any]
_MODULES = (bz2, gzip, lzma, random, struct, zstd)
_PACKETS = {"packets", "link", "interfaces", "file", "rows"}
_OPTIONS = {"maps", "unmapped", "speed", "whole", "gap", "wrong"}
_FEEDS = {"sends", "hosts", "times", "lengths", "frames", "each", "all", "counts", "remarks", "refused"}
_ANSWERS = _FEEDS | {"info", "says", "lacks", "flows", "flows say", "unreadable", "reads"}


def _names() -> dict[str, Any]:
    made = (right, pcap, block, section, interface, packet)
    found: dict[str, Any] = {one.__name__.rpartition(".")[2]: one for one in (*made, *_MODULES)}
    for layers in (packets, inet, inet6, l2):
        found |= {name: one for name, one in vars(layers).items() if not name.startswith("_")}
    return found


def cases(file: Path) -> Iterator[Any]:
    """Returns the cases of a file as parameters of pytest."""
    found: dict[str, Case] = value(file.read_text("utf-8"))
    names = dict(NAMES)
    for name, text in found.pop("names", {}).items():
        names[name] = eval(text, names)
    for name, case in found.items():
        for text, answers in case.get("rows", {"": {}}).items():
            each = case.get("each", {}) | answers.get("each", {})
            whole = case | answers | ({"each": each} if each else {})
            unknown = whole.keys() - _PACKETS - _OPTIONS - _ANSWERS
            assert not unknown, f"{name}: {unknown}"
            assert whole.keys() & _ANSWERS, f"{name}: no answer"
            yield pytest.param(whole, text, names, id=f"{file.stem}: {name}: {text}".rstrip(": "))


def right(frame: bytes) -> bytes:
    """Returns a frame with the checksums that scapy computes."""
    found = l2.Ether(frame)
    for layer in found.iterpayloads():
        for checksum in {"chksum", "cksum"} & layer.fields.keys():
            if layer.fields[checksum] or not isinstance(layer, inet.UDP):  # 0 is none
                delattr(layer, checksum)
    return bytes(found)


NAMES = _names()
"""scapy's layers, by name."""


def check(case: Case, text: str, names: dict[str, Any], folder: Path) -> None:
    """Writes a case's capture and compares all answers."""
    if "file" in case:
        _check_file(case, text, names, folder / "capture")
        return
    path = folder / ("c.pcapng" if "interfaces" in case else "c.pcap")
    given = written(case, path, text, names)
    if _FEEDS & case.keys():
        _check_feed(case, path, {**names, "given": given})
    for key in ("says", "lacks"):
        for one in texts_of(case.get(key, [])):
            assert (one in eeon("trace", "info", str(path), code=0).output) == (key == "says"), one
    if "info" in case:
        document = json.loads(eeon("trace", "info", str(path), "--json", code=0).stdout)
        assert {place: part(document, place) for place in case["info"]} == case["info"]
    if {"flows", "flows say"} & case.keys():
        _check_flows(case, path, folder)


def _check_file(case: Case, text: str, names: dict[str, Any], path: Path) -> None:
    path.write_bytes(eval(case["file"].replace("$", text), names))
    if "unreadable" in case:
        with pytest.raises(TraceError) as refused:
            list(read_packets(path))
        assert occurs(case["unreadable"], str(refused.value)), refused.value
        return
    found = list(read_packets(path))
    for expression, wanted in case["reads"].items():
        known = [{**names, "t": one.time_ns, "b": one.captured, "n": one.frame_bytes} for one in found]
        assert [eval(expression, one) for one in known] == wanted, expression


def written(case: Case, path: Path, text: str, names: dict[str, Any]) -> list[bytes]:
    """Writes the capture of a case, and returns the bytes of its packets."""
    rows: list[tuple[int, str, bytes, int]] = []
    for one in case["packets"]:
        told = one if isinstance(one, dict) else {"is": one}
        assert told.keys() <= {"is", "at", "kept", "length", "on"}, told
        told = {key: str(word).replace("$", text) for key, word in told.items()}
        made = eval(told["is"], names)
        for frame in made if isinstance(made, list) else [made]:
            at_ns = _nanoseconds(told["at"]) if "at" in told else rows[-1][0] + 1000 if rows else 0
            is_ethernet = "link" in case or isinstance(frame, l2.Ether | bytes)
            data = bytes(frame if is_ethernet else ETHER / frame)
            kept, length = int(told.get("kept", len(data))), int(told.get("length", len(data)))
            rows.append((at_ns, told.get("on", "0"), data[:kept], length))
    if "link" in case:
        frames = [_cooked(case["link"], on, data) for _, on, data, _ in rows]
        path.write_bytes(pcap(case["link"], *frames, times_us=[at_ns // 1000 for at_ns, *_ in rows]))
    elif "interfaces" in case:
        blocks = (packet(at_ns // 1000, data, int(on)) for at_ns, on, data, _ in rows)
        path.write_bytes(section() + interface() * case["interfaces"] + b"".join(blocks))
    else:
        capture(path, ((at_ns, length, data) for at_ns, _, data, length in rows))
    return [data for _, _, data, _ in rows]


def _nanoseconds(text: str) -> int:
    """Returns the nanoseconds of a time such as `1.5ms`; captures have more of them than a `Duration`."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", text).groups()
    return int(Decimal(number) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit])


def _cooked(link: int, on: str, ip: bytes) -> bytes:
    """Returns a packet of IP with the header of its link type."""
    number, _, way = on.partition(" ")
    kind, ethertype = 4 if way == "out" else 0, 0x0800 if ip[0] >> 4 == 4 else 0x86DD
    if link == 113:
        return struct.pack(">HHH8sH", kind, 1, 6, bytes(8), ethertype) + ip
    if link == 276:
        return struct.pack(">HHIHBB8s", ethertype, 0, int(number), 1, kind, 6, bytes(8)) + ip
    return ip


def _check_feed(case: Case, path: Path, names: dict[str, Any]) -> None:
    rules = SendRules(tuple(case.get("maps", ())), case.get("unmapped"), case.get("whole", False))
    feed = Feed(path, HOSTS, case.get("speed", 1.0), rules)
    if "refused" in case:
        with pytest.raises(TraceError) as refused:
            list(feed.offers())
        assert occurs(case["refused"], str(refused.value)), refused.value
        return
    offers = list(feed.offers())
    found = {
        "sends": [offer.number for offer in offers],
        "hosts": [HOSTS[offer.host].name for offer in offers],
        "times": [offer.at_ps for offer in offers],
        "lengths": [offer.frame_bytes for offer in offers],
        "counts": {key: asdict(feed.counts)[key] for key in case.get("counts", ())},
    }
    for key in found.keys() & case.keys():
        assert found[key] == case[key], key
    if "remarks" in case:
        remarks = feed.counts.remarks()
        assert len(remarks) == len(case["remarks"]), remarks
        assert all(map(occurs, case["remarks"], remarks)), remarks
    if "frames" in case:
        assert [offer.captured for offer in offers] == [bytes(eval(one, names)) for one in case["frames"]]
    whole = (offer for offer in offers if offer.frame_bytes in (len(offer.captured), MIN_FRAME_BYTES))
    padded = (offer.captured.ljust(offer.frame_bytes, b"\0") for offer in whole)
    assert all(right(frame) == frame for frame in padded) != case.get("wrong", False), "checksums"
    for offer in offers:
        assert eval(case.get("all", "True"), _of(offer, names)), case.get("all")
    for expression, wanted in case.get("each", {}).items():
        assert [eval(expression, _of(offer, names)) for offer in offers] == wanted, expression


def _of(offer: Offer, names: Mapping[str, Any]) -> dict[str, Any]:
    return {**names, "p": l2.Ether(offer.captured), "b": offer.captured, "n": offer.frame_bytes}


def _check_flows(case: Case, path: Path, folder: Path) -> None:
    listed = folder / "flows.csv"
    options = [word for one in case.get("maps", ()) for word in ("--map", one)]
    options += ["--gap", case["gap"]] if "gap" in case else []
    done = eeon("trace", "flows", str(path), "-o", str(listed), *options, code=int("flows" not in case))
    for one in texts_of(case.get("flows say", [])):
        assert occurs(one, done.output), done.output
    if "flows" in case:
        assert listed.read_text().splitlines() == ["source,destination,bytes,start", *case["flows"]]
    else:
        assert not listed.exists()
