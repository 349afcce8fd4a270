"""The programs that are compared, with their settings: ports, relevant values, frames to avoid.

README.md lists what is avoided or left out, with reasons; each rule here has a line there.
"""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

from scapy.utils import checksum

from .frames import Layer, Rule, Subject, Walk

ROOT = Path(__file__).resolve().parents[1]
CONSTRUCTS = ROOT / "engine/simple_switch/tests/constructs"
BM_PROGRAMS = ROOT / "engine/bm/tests/programs"
NUMBERS: dict[str, int] = json.loads((ROOT / "p4src/compiled/constants.json").read_text())["constants"]
CPU_PORT, DROP_PORT = NUMBERS["CPU_PORT"], NUMBERS["DROP_PORT"]
RED_DEPTH_BITS = NUMBERS["RED_DEPTH_BITS"]
"""Fractional bits of `red_average`."""

# ---- IP: lengths, versions and checksums that agree.


def _agreeing_ip(options_name: str) -> Rule:
    def rule(rng: Random, walk: Walk) -> None:
        if rng.random() < 0.08:
            return
        names = [layer.name for layer in walk.layers]
        ipv4, ipv6, tcp = walk.layer("ipv4"), walk.layer("ipv6"), walk.layer("tcp")
        if tcp is not None:
            words = rng.choice((5, 5, 5, 6, 8, 15))
            tcp.set("data_offset", words)
            if len(walk.payload) < 4 * words - 20:
                walk.payload = rng.randbytes(4 * words - 20)
            if rng.random() < 0.3:
                walk.payload = walk.payload[: 4 * words - 20]
        padding = rng.choice((0, 0, 0, 1, 18))
        walk.payload += bytes(padding)
        if ipv6 is not None:
            after = walk.layers[names.index("ipv6") + 1 :]
            ipv6.set("version", 6)
            ipv6.set("payload_length", _bytes(after) + len(walk.payload) - padding)
        if ipv4 is not None:
            at = names.index("ipv4")
            options = walk.layer(options_name)
            words = 0
            if options is not None:
                words = rng.choice((1, 2, 5, 10))
                options.fields[0].width = 32 * words
                options.fields[0].value = rng.getrandbits(32 * words)
            ipv4.set("version", 4)
            ipv4.set("ihl", 5 + words)
            ipv4.set("total_length", _bytes(walk.layers[at:]) + len(walk.payload) - padding)
            ipv4.set("header_checksum", 0)
            header = Walk(layers=[ipv4] + ([options] if options is not None else [])).encode()
            ipv4.set("header_checksum", checksum(header) if rng.random() < 0.93 else rng.getrandbits(16))

    return rule


def _bytes(layers: list[Layer]) -> int:
    return Walk(layers=layers).bits // 8


# ---- The programs of single constructs.


def _four_cells(data: bytes) -> bytes | None:
    return bytes([data[0] & 3]) + data[1:]


def _four_wide_cells(data: bytes) -> bytes | None:
    if data[0] == 13 and len(data) > 81:
        return data[:81] + bytes([data[81] & 3]) + data[82:]
    return data


def _labels_that_are_there(data: bytes) -> bytes | None:
    operation, index = data[0], data[1] % 4
    labels = 0
    while operation != 0xFF and labels < 4 and 2 + labels < len(data):
        labels += 1
        if data[1 + labels] & 1:
            break
    if (operation == 1 and index >= labels) or (operation == 12 and labels < 4):
        return None
    return data[:1] + bytes([index]) + data[2:]


def _few_rounds(data: bytes) -> bytes | None:
    # BMv2 has space for 512 bytes of headers, and the engine ends a loop of 128 resubmissions.
    return bytes([data[0] % 60]) + data[1:]


def _counted_unions(rng: Random, walk: Walk) -> None:
    request = walk.layer("request")
    values = [layer for layer in walk.layers if layer.name.startswith("values.")]
    if request is not None and rng.random() < 0.9:
        request.set("count", len(values))
    for layer in values:
        layer.set("kind", 1 if layer.name.endswith("byte") else 2)


def _varbit_lengths(rng: Random, walk: Walk) -> None:
    request = walk.layer("request")
    for name, field in (("a", "first"), ("b", "second")):
        layer = walk.layer(name)
        if request is not None and layer is not None and rng.random() < 0.93:
            request.set(field, layer.fields[1].width)
    a, b = walk.layer("a"), walk.layer("b")
    if a is not None and b is not None and rng.random() < 0.4:
        a.set("bytes", b.fields[1].value)


def _varbit_assigned(data: bytes) -> bytes | None:
    # b.bytes is read even if b is invalid.
    a, b = data[1], data[2]
    there = a % 8 == b % 8 == 0 and max(a, b) <= 64 and len(data) >= 3 + 4 + (a + b) // 8
    return data if there or data[0] != 2 else None


def _varbit_output(data: bytes) -> bytes:
    # The two varbits were compared although one of them may be invalid.
    failed = any(data[5:9])
    return data[:3] + b"\0" + data[4:] if failed else data


def _checked(rng: Random, walk: Walk) -> None:
    request = walk.layer("request")
    if request is not None and rng.random() < 0.6:
        first = bytes([request.get("op"), request.get("value")])
        request.set("header_sum", checksum(first))
        request.set("payload_sum", checksum(first + walk.payload))


# ---- The probe: one v1model operation a packet.

RESUBMIT, RANDOM, REGISTER, GATE, CLONE_FOR_EVER, ASSERT, GROW = 4, 12, 13, 14, 15, 18, 19
TIMES_IN_REPORT = ((20, 8), (28, 8), (36, 4))
DEPTHS_IN_REPORT = ((40, 4), (44, 4), (48, 4))


def _probe_frame(data: bytes) -> bytes | None:
    if len(data) < 10:
        return data
    changed = bytearray(data)
    operation = changed[0]
    if operation in (RANDOM, GATE, CLONE_FOR_EVER) or (operation == ASSERT and changed[1] == 0):
        return None
    if operation == REGISTER:
        changed[4:6] = (int.from_bytes(changed[4:6], "big") % 16).to_bytes(2, "big")
    if operation == RESUBMIT:
        changed[1] %= 128
    if operation == GROW:
        changed[1] %= 60
    return bytes(changed)


def _probe_output(data: bytes) -> bytes:
    changed = bytearray(data)
    for at, length in TIMES_IN_REPORT:
        there = changed[at : at + length]
        changed[at : at + length] = bytes([len(there) == length and any(there)] * len(there))
    for at, length in DEPTHS_IN_REPORT:
        changed[at : at + length] = bytes(len(changed[at : at + length]))
    return bytes(changed)


# ---- The switch itself.

IPV4 = (0x0A000001, 0x0A000002, 0x0A000101, 0x0A010001, 0x0AFF0001, 0xC0A80101, 0xC0A80201, 0, 0xFFFFFFFF)
IPV6 = tuple(0x20010DB8 << 96 | rest for rest in (1, 2, 1 << 64, 1 << 64 | 1, 2 << 64, 0xFFFF, 1 << 95))
STATIONS = (*range(0x020100000001, 0x020100000008), 0xFFFFFFFFFFFF)
DEPTHS = (0, 1, 60, 99, 100, 101, 1000, 1499, 1500, 1501, 3000, 5000, 100_000)

EEON = Subject(
    name="eeon",
    path=ROOT / "p4src/compiled/eeon.json",
    share=16,
    ports=(0, 1, 2, 3, 6, CPU_PORT - 1, CPU_PORT),
    rule=_agreeing_ip("ipv4_options"),
    entries_at_most=24,
    defaults={"eeon_ingress.admit.l3_admit": "eeon_ingress.admit.admit_to_l3"},
    values={
        ("ethernet", "dst_addr"): STATIONS,
        ("ipv4", "src_addr"): IPV4[:7],
        ("ipv6", "src_addr"): IPV6,
        ("ipv4", "dst_addr"): IPV4,
        ("ipv6", "dst_addr"): IPV6,
        ("ipv4", "dscp"): (0, 0, 26, 46),
        ("ipv6", "dscp"): (0, 0, 26, 46),
        ("ipv4", "ttl"): (0, 1, 2, 3, 64, 64, 64, 64, 255, 255),
        ("ipv6", "hop_limit"): (0, 1, 2, 3, 64, 64, 64, 64, 255, 255),
        ("packet_out", "egress_port"): (0, 1, 2, 3, 6, CPU_PORT - 1, CPU_PORT, DROP_PORT),
        ("ipv4", "fragment_offset"): (0, 0, 0, 0, 1, 0x1FFF),
        ("ipv4", "more_fragments"): (0, 0, 0, 1),
        ("tcp", "syn"): (0, 0, 0, 0, 1),
        ("tcp", "fin"): (0, 0, 0, 0, 1),
        ("tcp", "rst"): (0, 0, 0, 0, 1),
    },
    parameters={
        "forward.port": (0, 1, 2, 3, 6, 0, 1, 2, 3, 6, CPU_PORT - 1, CPU_PORT - 1, CPU_PORT, DROP_PORT),
        "threshold_bytes": DEPTHS,
        "l4s_threshold_bytes": DEPTHS,
        "buffer_bytes": (*DEPTHS, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        "min_threshold": (0, 1, 2, *DEPTHS),
        "max_threshold": (0, 1, 2, *DEPTHS),
        # Nothing is marked between the thresholds, and everything above: no random number decides.
        "probability_slope": (0,),
        "average_shift": (0, 1, 4, 9, 47, 48, 63, 64, 255),
        # The idle time of a port depends on the real clock.
        "idle_halvings": (0,),
        "mean_bytes": (0, 1, 256, 1500, 0xFFFF),
        # Gates open at once: a packet-out is two bytes longer before it recirculates than after.
        "sleep_ticks": (0,),
        "wake_ticks": (0,),
        # Asleep immediately, or never.
        "stall_ticks": (0, 1 << 39),
        "hold_ticks": (0,),
        "trigger_packets": (0, 1, 2),
        "trigger_bytes": (0, 60, 1500),
        "ticks_per_byte_q24": (0,),
        "overhead_bytes": (0, 24, 0xFFFF),
        # CoDel's target is always exceeded, or never; no interval ends during the run: no signals.
        "target_ticks": (0, 0, 0xFFFFFFFF),
        "interval_ticks": (0xFFFFFFFF,),
        "mtu_bytes": DEPTHS,
        # Pauses end immediately, and none is sent again; QCN draws between equal limits.
        "quantum_ticks_q16": (0,),
        "loop_ticks": (0,),
        "pause_refresh_ticks": (1 << 39,),
        "jitter_q16": (0,),
        "buffer_packets": (0, 1, 2, 100, 0xFFFFFFFF, 0xFFFFFFFF),
        "set_priority.priority": (0, 0, 0, 0, 0, 0, 0, 1, 7),
    },
    registers={
        "occupancy_bytes": (*DEPTHS, 0xFFFFFFFF),
        "occupancy_packets": (0, 1, 2, 100, 0xFFFFFFFF),
        "red_average": tuple(depth << RED_DEPTH_BITS for depth in DEPTHS),
        "eee_state": (0, 0, 1, 2),
        "queue_bytes": (*DEPTHS, 0xFFFFFFFF),
        "queue_packets": (0, 1, 2, 100, 0xFFFFFFFF),
        "raised_bytes": (*DEPTHS, 0xFFFFFFFF),
        "raised_packets": (0, 1, 2, 100, 0xFFFFFFFF),
        "outside_bytes": (*DEPTHS, 0xFFFFFFFF),
        "codel_count": (0, 1, 2, 100, 0xFFFFFFFF),
        "codel_last_count": (0, 1, 2, 100, 0xFFFFFFFF),
        "ticket_next": (0, 1, 5, 0xFFFFFFFF),
        "ticket_serving": (0, 1, 5, 0xFFFFFFFF),
    },
    times=(
        *("busy_until", "asleep_at", "wake_start", "lpi_ticks", "gate_open_at"),
        *("codel_first_above", "codel_drop_next", "class_gate_open_at", "pause_sent_at"),
        "pause_timer",
    ),
    only_read=("codel_state",),
)

EEON_HELD = replace(
    EEON,
    name="eeon, held",
    share=8,
    ports=(0, 1, 2, 3, 6, CPU_PORT - 1),
    parameters=EEON.parameters
    | {"sleep_ticks": (0, 1, 50), "wake_ticks": (0, 1, 30), "hold_ticks": (0, 0, 20, 100)},
)

ONES_200 = sum(1 << 8 * byte for byte in range(25))
"""A one in each byte of 200 bits."""


def _construct(name: str, request: dict[str, tuple[int, ...]] | None = None, **settings: object) -> Subject:
    """Returns the program of a construct; `request` has the usual values of the fields of this header."""
    values = {("request", field): numbers for field, numbers in (request or {}).items()}
    # The settings are fields of Subject; the callers below pass the right types.
    return Subject(name, CONSTRUCTS / f"{name}.json", values=values, **settings)  # type: ignore[arg-type]


def _bm(name: str, **settings: object) -> Subject:
    # As above.
    return Subject(name=f"bm/{name}", path=BM_PROGRAMS / f"{name}.json", **settings)  # type: ignore[arg-type]


LENGTHS = (0, 1, 5, 6, 7, 8, 9, 20, 40, 100, 1000, 0xFFFF)

OPERATIONS: tuple[Subject, ...] = (
    _construct("assertions", {"b": (0, 1, 2, 0xFE, 0xFF)}, least_bytes=2),
    _construct(
        "clone",
        {"op": (0, 1, 2, 3, 4, 5), "drop": (0, 0, 0, 1, 2), "session": (1, 2, 3, 4, 5, 6)},
        least_bytes=4,
        has_replication=True,
    ),
    _construct(
        "multicast",
        {"group": (0, 1, 2, 3, 7, 9), "skip": (0, 1, 2, 3, 7, 8)},
        least_bytes=3,
        has_replication=True,
    ),
    _construct(
        "recirculate", {"times": (0, 1, 2, 3, 10, 59), "drop": (0, 0, 0, 1)}, least_bytes=2, limit=_few_rounds
    ),
    _construct(
        "resubmit", {"times": (0, 1, 2, 3, 10, 59), "drop": (0, 1, 2)}, least_bytes=2, limit=_few_rounds
    ),
    _construct(
        "truncate",
        {"where": (0, 1, 2, 3, 4), "then": (0, 1, 2, 3, 4, 5, 6), "length": LENGTHS, "second": LENGTHS},
        least_bytes=6,
        has_replication=True,
    ),
)

_TEST_PROGRAMS = ROOT / "engine/python/tests/programs"

OVER_P4RUNTIME: tuple[Subject, ...] = (
    replace(EEON, name="eeon, P4Runtime", p4info=ROOT / "p4src/compiled/eeon.p4info.txtpb", share=2),
    Subject(
        name="everything, P4Runtime",
        path=_TEST_PROGRAMS / "everything.json",
        p4info=_TEST_PROGRAMS / "everything.p4info.txtpb",
        share=2,
        ports=(0, 1, 2, 3, 7, CPU_PORT),
        values={
            ("key", "value"): (0, 1, 2, 3, 0xCAFE0001, 0xCAFE0002, 0x0A000001, 0x0A010001),
            ("ethernet", "type"): (0, 0x0800, 0x1234),
        },
        least_bytes=20,
        times=("EverythingIngress.wide_cells",),
    ),
)

SUBJECTS: tuple[Subject, ...] = (
    EEON,
    EEON_HELD,
    *OVER_P4RUNTIME,
    Subject(
        name="probe",
        path=ROOT / "engine/simple_switch/tests/p4/probe.json",
        share=3,
        limit=_probe_frame,
        mask=_probe_output,
        values={
            ("request", "op"): (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 18, 19, 20),
            ("request", "count"): (0, 1, 2, 3, 5, 20, 99, 255),
            ("request", "port"): (0, 1, 2, 3, 4, 5, 6, 7, 300, CPU_PORT, DROP_PORT, 512),
            ("request", "argument"): (0, 1, 2, 3, 4, 5, 9, 16, 40, 52, 53, 62, 63, 70, 100),
            ("request", "priority"): (0, 0, 0, 0, 0, 0, 0, 1, 8),
        },
        times=("gate",),
        has_replication=True,
    ),
    *OPERATIONS,
    _construct("action_selector", {"key": (0, 1, 2, 3, 4)}, least_bytes=5, share=2),
    _construct("arithmetic", least_bytes=3),
    _construct("checksums", least_bytes=4, rule=_checked),
    _construct("control_flow", least_bytes=2),
    _construct("counters_meters", least_bytes=1, limit=_four_cells),
    _construct("hashes", least_bytes=10),
    _construct("header_stack", least_bytes=2, limit=_labels_that_are_there),
    _construct("header_union", least_bytes=2),
    _construct("header_union_stack", rule=_counted_unions),
    _construct("log_messages"),
    _construct("parser_errors"),
    _construct(
        "table_kinds",
        {"a": (0x1200, 0x1234, 0x1235, 0x12FF, 0x1134, 0, 1, 0xFFFF), "b": tuple(range(11))},
        least_bytes=3,
        share=2,
    ),
    _construct("value_set", {"a": (0, 1, 0xFFF, 0x123), "b": (0, 1, 15), "c": (0, 1, 0x1234)}),
    _construct("varbit", least_bytes=3, rule=_varbit_lengths, limit=_varbit_assigned, mask=_varbit_output),
    _construct("wide_arithmetic", least_bytes=82, limit=_four_wide_cells),
    _construct(
        "wide_keys",
        {
            "a": (0x11 * ONES_200, 0x11 << 192, 0x11 << 192 | 1, 0x22 << 192, 0, 1, (1 << 200) - 1),
            "b": (0, 1, 1 << 135, (1 << 136) - 1),
        },
        least_bytes=42,
    ),
    _bm("headers", rule=_agreeing_ip("options")),
    _bm(
        "shared_profile",
        values={("ethernet", "dst"): (0, 1, 2, 3, 4, 5)},
        tables_left_out=("ingress.first",),
        least_bytes=14,
    ),
    _bm(
        "tables",
        least_bytes=14,
        share=2,
        values={
            ("ethernet", "type"): (0x0001, 0x0100, 0x0101, 0x01FF, 0x0200, 0x02FF, 0x0800),
            ("ethernet", "dst"): (0, 1, 2, 0x0A0000000001, 0x0A0000000002, 0x0A0000FF0001, 0xFFFFFFFFFFFF),
            ("ethernet", "src"): (0, 1, 2, 3, 4, 0x0B0000000001),
        },
    ),
)
