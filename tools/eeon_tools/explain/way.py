"""A packet's path over all switches of a fabric, as a tree of lines: first its outcome and the place, then
each hop with its reasons, and the requested amount of its steps."""

from eeon_tools.explain import values
from eeon_tools.explain.endings import Ending, endings
from eeon_tools.explain.journeys import Journey, Way
from eeon_tools.explain.scene import Scene
from eeon_tools.explain.story import Amount, Node, add_reasons, add_steps


def tell_way(scene: Scene, way: Way, amount: Amount = Amount.REASONS) -> Node:
    """Returns the tree; with `Amount.BRIEF`, one line for each hop."""
    found = {name: endings(scene, journey) for name, journey in way.journeys.items()}
    root = Node("title", f"{way.title}, {values.size(way.frame_bytes)} from "
                         f"{way.sender}: {_outcome(way, found)}")  # fmt: skip
    root.add("queue", _sent(way))
    for name, journey in way.journeys.items():
        first = journey.steps[0]
        assert first["step"] == "arrived", "a packet's first step is its arrival"
        node = root.add("stage", f"{name}, received on port {first['port']} at {values.time(first['at_ps'])}")
        if amount is Amount.BRIEF:
            node.text += f": {found[name][0].reasons[0]}"
            continue
        add_reasons(node, scene, journey, amount)
        add_steps(node, scene, journey, amount)
    if way.delivered_ps is not None:
        root.add("sent", f"received by {way.receiver} at {values.time(way.delivered_ps)}")
    return root


def _outcome(way: Way, found: dict[str, list[Ending]]) -> str:
    """Returns the packet's outcome, with the switches that marked, dropped or held it the longest."""
    parts = [f"marked at {name}" for name, all_ in found.items() if all_[0].verdict == "marked"]
    waits = {name: _waited(journey) for name, journey in way.journeys.items()}
    longest = max(waits, key=lambda name: waits[name], default=None)
    if longest is not None and waits[longest]:
        parts.append(f"waited longest at {longest}, {values.time(waits[longest])}")
    for name, all_ in found.items():
        if all_[0].outcome in ("dropped", "to_cpu", "inside"):
            parts.append({"dropped": "dropped at", "to_cpu": "sent to the CPU by", "inside": "still at"}[
                all_[0].outcome
            ] + f" {name}")  # fmt: skip
    if way.delivered_ps is not None:
        parts.append(f"at {way.receiver} after {values.time(way.delivered_ps - way.offered_ps)}")
    elif not found:
        parts.append("it reached no switch")
    return "; ".join(parts)


def _sent(way: Way) -> str:
    text = f"{way.sender} offers it at {values.time(way.offered_ps)}"
    if way.left_ps is None:
        return f"{text}; its NIC has not sent it"
    if way.left_ps == way.offered_ps:
        return f"{text} and sends it at once"
    return f"{text}; its NIC begins to send it {values.time(way.left_ps - way.offered_ps)} later"


def _waited(journey: Journey) -> int:
    """Returns the picoseconds from the packet's first queue to its last departure from one."""
    steps = journey.of_packet(journey.root)
    queued = next((step["at_ps"] for step in steps if step["step"] == "queued"), None)
    left = next((step["at_ps"] for step in reversed(steps) if step["step"] == "dequeued"), None)
    return left - queued if queued is not None and left is not None else 0
