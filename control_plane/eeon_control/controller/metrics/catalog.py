"""The catalogue of metrics: name, kind, labels and meaning. The exporter, the docs and the tests use it.

Names and units follow the Prometheus conventions: base units (seconds, bytes, joules), `_total` for counters.
The topology and the program bound the labels: switch, port, class, verdict; never an address or a text.
"""

from dataclasses import dataclass
from enum import StrEnum

from eeon_control.energy import assumed


class Kind(StrEnum):
    """The kinds of Prometheus metrics in use."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Family:
    """One metric. `resets`: for a counter, when it restarts at 0."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    help: str
    resets: str = ""


_SWITCH = ("switch",)
_PORT = ("switch", "port")
_CLASS = (*_PORT, "class")
_PRIORITY = (*_PORT, "priority")
_CAUSE = (*_CLASS, "verdict")

_WITH_SWITCH = "when the switch restarts or its program is loaded"
_WITH_CONTROLLER = "when the controller restarts"
_NEVER = "never: its value is in the state folder"

_ASSUMED = "; ".join(assumed())


def _counter(name: str, labels: tuple[str, ...], help: str, resets: str = _WITH_SWITCH) -> Family:
    return Family(f"eeon_{name}", Kind.COUNTER, labels, help, resets)


def _gauge(name: str, labels: tuple[str, ...], help: str) -> Family:
    return Family(f"eeon_{name}", Kind.GAUGE, labels, help)


_FAMILIES = (
    # The fabric.
    _gauge(
        "config_revision", (), "Number of the revision that the fabric is meant to hold; 0 before the first."
    ),
    _counter(
        "config_applies_total",
        ("result",),
        "Applies and rollbacks by result: committed, or undone on all switches after a failure.",
        _NEVER,
    ),
    _gauge(
        "config_journal", (), "1 while an apply is writing, or while a killed apply is unfinished; else 0."
    ),
    _gauge(
        "config_confirm_remaining_seconds",
        (),
        "Time left to confirm the revision in force; absent when no confirmation is pending.",
    ),
    _counter(
        "config_finished_total",
        ("what", "result"),
        "Unfinished work that this controller completed, by result: that of killed commands (journal) and of "
        "missing confirmations (confirmation).",
        _WITH_CONTROLLER,
    ),
    _gauge("config_readable", (), "1 when the state folder is readable and valid, else 0."),
    # The controller.
    _gauge("controller_info", ("version", "election_id"), "Always 1; the labels identify the controller."),
    _gauge(
        "controller_in_charge",
        (),
        "1 when no controller of larger election id runs on the state folder, else 0; only then are port "
        "metrics exported.",
    ),
    # Switches.
    _gauge(
        "switch_up",
        _SWITCH,
        "1 when the switch is connected and, for the controller in charge, was read within the last 30 s; "
        "else 0.",
    ),
    _gauge("switch_primary", _SWITCH, "1 when this controller is the switch's primary, else 0."),
    _gauge(
        "switch_in_sync",
        _SWITCH,
        "1 when this controller, as the switch's primary, has read it back as intended and no event since "
        "suggests a change; else 0.",
    ),
    _gauge(
        "switch_drift_entries",
        _SWITCH,
        "Table entries that differed from the intended ones at the last comparison and are not repaired yet.",
    ),
    _counter(
        "switch_restores_total",
        ("switch", "cause"),
        "Restores of the switch to the intended configuration, by cause: program (it had lost its program), "
        "drift (another client wrote while the switch was in sync), entries (anything else).",
        _WITH_CONTROLLER,
    ),
    Family(
        "eeon_switch_restore_seconds",
        Kind.HISTOGRAM,
        _SWITCH,
        "Duration of restores: from the loss of the connection, or from the comparison that found a "
        "difference, until everything was read back as intended.",
        _WITH_CONTROLLER,
    ),
    _counter(
        "switch_restored_entries_total", _SWITCH, "Table entries written by restores.", _WITH_CONTROLLER
    ),
    _counter(
        "switch_connections_lost_total",
        _SWITCH,
        "Times an established P4Runtime stream to the switch ended.",
        _WITH_CONTROLLER,
    ),
    _counter(
        "switch_refusals_total",
        _SWITCH,
        "Requests of the controller that the switch refused, and writes that did not read back as written.",
        _WITH_CONTROLLER,
    ),
    _gauge("switch_reading_age_seconds", _SWITCH, "Age of the reading that the port metrics come from."),
    _gauge("switch_reading_seconds", _SWITCH, "Duration of the last reading of the switch."),
    # Ports: link states reported by the switch.
    _gauge(
        "port_up",
        _PORT,
        "1 when the port's link is up, else 0; absent where the switch serves neither gNMI nor Thrift.",
    ),
    # Ports: counters of the P4 program.
    _counter("port_received_packets_total", _CLASS, "Packets that entered the switch on the port."),
    _counter(
        "port_received_bytes_total", _CLASS, "Frame bytes, without FCS, that entered the switch on the port."
    ),
    _counter("port_sent_packets_total", _CLASS, "Packets that left on the port, including marked ones."),
    _counter(
        "port_sent_bytes_total",
        _CLASS,
        "Frame bytes, without FCS, that left on the port, including those of marked packets.",
    ),
    _counter("port_marked_packets_total", _CLASS, "Packets that this switch marked CE and sent."),
    _counter("port_marked_bytes_total", _CLASS, "Frame bytes of packets that this switch marked CE."),
    _counter(
        "port_dropped_packets_total",
        _CAUSE,
        "Packets dropped, by cause: early_dropped (AQM) and tail_dropped (buffer full) at the egress port; "
        "no_route, ttl_expired, malformed, not_admitted (not addressed to the switch) and martian (an "
        "address that is never routed) at the ingress port.",
    ),
    _counter("port_dropped_bytes_total", _CAUSE, "Frame bytes of packets dropped, by cause."),
    # Ports: registers; absent if a target offers none.
    _gauge("port_occupancy_bytes", _PORT, "Bytes in the port's queue at the time of the reading."),
    _gauge("port_occupancy_packets", _PORT, "Packets in the port's queue at the time of the reading."),
    _gauge(
        "port_held_packets", _PORT, "Packets held by EEE at the time of the reading, while the link sleeps."
    ),
    # Lossless classes and congestion points, if the configuration has them.
    _counter(
        "port_pauses_sent_total",
        _PRIORITY,
        "Pause frames sent to the port's neighbour, to pause or to resume it.",
    ),
    _counter("port_pauses_received_total", _PRIORITY, "Pauses that arrived at the port, obeyed or not."),
    _counter(
        "port_lossless_dropped_packets_total",
        _PRIORITY,
        "Packets that arrived at the port and exceeded the limit of their lossless class.",
    ),
    _counter(
        "port_control_ignored_packets_total",
        _PORT,
        "MAC control frames that arrived at the port and paused nothing.",
    ),
    _gauge(
        "port_lossless_bytes", _PRIORITY, "Bytes of a lossless class that arrived at the port and are queued."
    ),
    _gauge("port_neighbour_paused", _PRIORITY, "1 while the port's neighbour is paused, else 0."),
    _counter(
        "port_pause_storms_total",
        _PRIORITY,
        "Pause storms that the watchdog detected: the port's neighbour paused it without end.",
        _WITH_CONTROLLER,
    ),
    _gauge("port_pause_storm", _PRIORITY, "1 while the port is in such a storm, else 0."),
    _counter("port_qcn_samples_total", _PRIORITY, "Frames that a congestion point sampled."),
    _counter("port_cnms_total", _PRIORITY, "Congestion notification messages that a congestion point sent."),
    _counter(
        "port_cnms_ignored_packets_total",
        _PORT,
        "Congestion notification messages that arrived at a port that is not trusted.",
    ),
    _gauge(
        "port_buffer_bytes", _PORT, "The port's intended buffer limit; absent where the limit counts packets."
    ),
    _gauge("port_speed_bytes", _PORT, "The link's speed in bytes per second, in each direction."),
    _counter(
        "port_wakes_total",
        _PORT,
        "Times the link was woken from low-power idle; the switch counts modulo 2^32.",
    ),
    _counter(
        "port_lpi_seconds_total",
        _PORT,
        "Time in low-power idle (LPI) since this controller began to read the port, the current sleep "
        "included; its rate is the share of time in LPI.",
        _WITH_CONTROLLER,
    ),
    _counter(
        "port_transition_seconds_total",
        _PORT,
        "Time spent going to sleep and waking, since this controller began to read the port.",
        _WITH_CONTROLLER,
    ),
    _counter(
        "port_energy_joules_total",
        _PORT,
        f"Estimated energy of the port's PHY since this controller began to read it. {_ASSUMED}.",
        _WITH_CONTROLLER,
    ),
    _counter(
        "port_legacy_energy_joules_total",
        _PORT,
        "Energy that the same PHY would have used in the same time without ever sleeping.",
        _WITH_CONTROLLER,
    ),
)

CATALOG: dict[str, Family] = {family.name: family for family in _FAMILIES}


def as_markdown() -> str:
    """Returns the catalogue as the table of docs/run/controller.md."""
    lines = ["| metric | labels | meaning |", "|---|---|---|"]
    for family in CATALOG.values():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        text = family.help.replace("|", "\\|")
        resets = f" Resets {family.resets}." if family.resets else ""
        lines.append(f"| `{family.name}` | {labels} | {family.kind}. {text}{resets} |")
    return "\n".join(lines) + "\n"
