"""The reasons for a packet's outcome, in words.

For any program: the outcome and the statement that requested it. For the E-EON program the verdict comes
first, with the numbers behind it: see `eeon`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eeon_control.constants import CPU_PORT, DROP_PORT

from eeon_tools.explain import eeon, values
from eeon_tools.explain.journeys import Journey
from eeon_tools.explain.scene import Scene
from eeon_tools.explain.source import Source

if TYPE_CHECKING:
    from eeon_engine.json_types import DroppedStep, EgressStep, IngressStep, JourneyStep

_CAUSES = {
    "queue_full": "the queue of port {port} is full",
    "no_such_port": "port {port} has no link",
    "priority_out_of_range": "its priority names a queue that port {port} does not have",
    "no_replicas": "its multicast group or clone session has no ports",
    "recirculation_limit": "it was recirculated more often than the switch allows",
    "instant_limit": "it was resubmitted or cloned too often at one instant",
    "frame_too_long": "the frame is longer than 65,535 bytes",
    "no_buffer": "the switch holds its maximum number of packets",
    "program_changed": "another program was loaded",
}


@dataclass(frozen=True)
class Ending:
    """The outcome of one packet. `outcome`: `sent`, `to_cpu`, `dropped` or `inside`. `verdict`: the E-EON
    program's, or None. `reasons`: the first names the outcome and its cause, the others add details."""

    packet: int
    outcome: str
    verdict: str | None
    reasons: tuple[str, ...]


def endings(scene: Scene, journey: Journey) -> list[Ending]:
    """Returns the outcomes of the packet and of each of its copies."""
    found = []
    for packet in journey.packets():
        steps = journey.of_packet(packet)
        outcome, text = _generic(scene.source, steps, journey.end_ps)
        verdict: str | None = None
        reasons: list[str] = []
        if scene.is_eeon:
            verdict, reasons = eeon.reasons(scene, steps)
        found.append(Ending(packet, outcome, verdict, (*reasons, text)))
    return found


def _generic(source: Source, steps: list[JourneyStep], end_ps: int) -> tuple[str, str]:
    last = steps[-1]
    at = values.time(last["at_ps"])
    if last["step"] == "sent":
        if last["port"] == CPU_PORT:
            return "to_cpu", f"sent to the CPU (port {CPU_PORT}) at {at}"
        return "sent", f"sent on port {last['port']} at {at}"
    if last["step"] == "dropped":
        return "dropped", f"dropped at {at}: {_cause(source, steps, last)}"
    queued = next((step for step in reversed(steps) if step["step"] == "queued"), None)
    if queued is not None and queued["gate_opens_ps"] is None:
        return "inside", f"still in the queue of port {queued['port']}: its gate never opens"
    return "inside", f"still inside at {values.time(end_ps)}, when the explanation ends"


def _cause(source: Source, steps: list[JourneyStep], last: DroppedStep) -> str:
    cause = last["cause"]
    if cause in _CAUSES:
        return _CAUSES[cause].format(port=last["port"])
    runs = [step for step in steps if step["step"] in ("ingress", "egress")]
    if not runs:
        return cause.replace("_", " ")
    if cause == "program_fault":
        return f"the program failed in {runs[-1]['step']}: {runs[-1]['fault']}"
    return _who_dropped(source, runs[-1])


def _who_dropped(source: Source, run: IngressStep | EgressStep) -> str:
    """Returns the last statement of a run that made `egress_spec` the drop port, as text."""
    action = place = ""
    how = f"{run['step']} left egress_spec at the drop port, {DROP_PORT}"
    for event in run["events"]:
        match event["event"]:
            case "action":
                action, place = event["action"], ""
            case "statement":
                place = source.statement(event["action_index"], event["primitive"])[2]
            case "request" if event["primitive"] == "mark_to_drop":
                how = f"mark_to_drop{_where(action, place)}"
            case "set" if event["field"].endswith(".egress_spec") and event["new"] == DROP_PORT:
                if "mark_to_drop" not in how:
                    how = f"egress_spec set to the drop port{_where(action, place)}"
    return how


def _where(action: str, place: str) -> str:
    """Returns action and place. p4c numbers the actions that it generates, so a place says more."""
    named = f" in {action}" if action and ("." in action or not place) else ""
    return named + (f" at {place}" if place else "")
