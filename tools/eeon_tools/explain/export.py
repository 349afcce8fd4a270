"""An explanation as one JSON value. Its shape is `data/explain.schema.json`; `version` changes when the
shape does."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from eeon_tools.explain.endings import endings
from eeon_tools.explain.journeys import Journey, Way
from eeon_tools.explain.scene import Scene
from eeon_tools.explain.source import Source

if TYPE_CHECKING:
    from eeon_engine.json_types import JourneyStep, TraceEvent

VERSION = 2


def document(scene: Scene, journey: Journey) -> dict[str, object]:
    """Returns all that the engine recorded, with names and places from the source, and the endings."""
    return {
        "version": VERSION,
        "title": journey.title,
        "program": scene.source.name,
        "tick_ps": scene.tick_ps,
        "end_ps": journey.end_ps,
        "is_cut": journey.is_cut,
        "frame": journey.frame.hex(),
        "steps": [_step(scene.source, step) for step in journey.steps],
        "endings": [asdict(ending) for ending in endings(scene, journey)],
    }


def way_document(scene: Scene, way: Way) -> dict[str, object]:
    """Returns a packet's path over a fabric: its hosts, and the `document` of each switch, in order."""
    return {
        "version": VERSION,
        "title": way.title,
        "packet": way.number,
        "sender": way.sender,
        "frame_bytes": way.frame_bytes,
        "offered_ps": way.offered_ps,
        "left_ps": way.left_ps,
        "receiver": way.receiver or None,
        "delivered_ps": way.delivered_ps,
        "hops": [{"switch": name, **document(scene, journey)} for name, journey in way.journeys.items()],
    }


def _step(source: Source, step: JourneyStep) -> dict[str, object]:
    if "events" not in step:
        return {**step}
    return {**step, "events": [_event(source, event) for event in step["events"]]}


def _event(source: Source, event: TraceEvent) -> dict[str, object]:
    match event["event"]:
        case "state":
            name = source.state(event["parser"], event["state"])
            return {**event, "name": name, "key": source.select_names(event["parser"], event["state"])}
        case "condition":
            text, place = source.condition(event["pipeline"], event["conditional"])
            return {**event, "text": text, "place": place}
        case "statement":
            _, text, place = source.statement(event["action_index"], event["primitive"])
            return {**event, "text": text, "place": place}
        case _:
            return {**event}
