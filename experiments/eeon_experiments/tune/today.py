"""A running fabric as the baseline of a search: the settings of its ports, and the load of its hosts.

Buffer, AQM and EEE of every port are read over P4Runtime; all other state of the switches must match the tune
file's `base`. The load is the traffic received on host-facing ports between two readings of the counters, or
in a range of the exporter's metrics from Prometheus. Only `read` connects to switches.
"""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from eeon_control import port_settings
from eeon_control import program as programs
from eeon_control.entries import Entry
from eeon_control.errors import DataNotFound, FabricError, InputError
from eeon_control.fabric.diff import difference
from eeon_control.fabric.planning import with_defaults
from eeon_control.fabric.read import FabricObservation, Wanted, observe
from eeon_control.plan import classes, intended
from eeon_control.port_settings import AQM, BUFFER, EEE, QUEUE_AQM, ByQueueSettings, Settings
from eeon_control.sources import Document, Places
from eeon_control.targets import Targets
from eeon_control.topology import Topology
from eeon_control.units import Bytes, DataRate, Duration, format_probability
from eeon_control.views.change import restarted
from eeon_control.views.port_tables import aqm_text, by_port, queue_aqms
from eeon_tools.errors import InputError as BadFile

from eeon_experiments import overlay
from eeon_experiments.resolve import Run
from eeon_experiments.tune.files import Tune

METRIC = "eeon_port_received_bytes_total"
_DATA = "data"
_PAYLOAD = Fraction(1460, 1514)
"""Share of payload in a full frame without FCS; nearly all data bytes are in full frames."""
_BYTES_OF_RANGE = 50_000_000
_DECIMALS = 9
"""Number of decimals of a probability, which the switch has as a slope of 49 bits."""


@dataclass(frozen=True)
class Load:
    """Payload that hosts sent, as a share of each host's link rate, over some seconds."""

    hosts: Mapping[str, float]
    seconds: float

    @property
    def mean(self) -> float:
        return math.fsum(self.hosts.values()) / len(self.hosts)

    def words(self) -> str:
        """Returns a text such as `Hosts send 37.00% of their links (h1 12.00% to h4 80.00%), over 10 s`."""
        low, high = (pick(self.hosts, key=self.hosts.__getitem__) for pick in (min, max))
        return (
            f"Hosts send {self.mean:.2%} of their links ({low} {self.hosts[low]:.2%} to {high} "
            f"{self.hosts[high]:.2%}), over {self.seconds:.3g} s"
        )


@dataclass(frozen=True)
class Today:
    """The state read: `config` overlays every port's settings on a configuration; `ports` describes them."""

    config: Mapping[str, object]
    ports: Sequence[str]
    load: Load
    held: Mapping[str, Sequence[Entry]]
    tick: Duration

    def sentence(self) -> str:
        """Returns a sentence about the settings and the load of today."""
        return f"What runs on {len(self.held)} switches: {'; '.join(self.ports)}. {self.load.words()}."


async def read(topology: Topology, targets: Targets, wait: Duration, kept: Path | None) -> Today:
    """Reads every switch, and again after `wait`, or reads the load from Prometheus' answer in `kept`.

    Raises FabricError if a switch does not answer or does not match the topology, or if counters do not
    advance; InputError or DataNotFound for `kept`.
    """
    load = None if kept is None else of_range(topology, kept)
    first = await _observed(topology, targets, Wanted(entries=True, counters=load is None))
    if load is None:
        await asyncio.sleep(int(wait) / 10**12)
        load = of_counters(topology, first, await _observed(topology, targets, Wanted(counters=True)))
    held = {name: one.entries for name, one in first.switches.items()}
    config, words = configuration(topology, held, targets.tick)
    return Today(config, words, load, held, targets.tick)


async def _observed(topology: Topology, targets: Targets, wanted: Wanted) -> FabricObservation:
    found = await observe(topology, targets.switches, wanted)
    if found.failures:
        raise FabricError("; ".join(found.failures.values()))
    return found


def configuration(
    topology: Topology, held: Mapping[str, Sequence[Entry]], tick: Duration
) -> tuple[dict[str, object], list[str]]:
    """Returns profiles for the ports' settings, attached to each port, and their description in words.

    Raises FabricError for a port without settings, or with an unknown action.
    """
    ports: dict[str, dict[str, str]] = {}
    names: dict[str, dict[str, tuple[str, dict[str, object]]]] = {"queue": {}, "eee": {}}
    counts: Counter[str] = Counter()
    for switch in topology.switches.values():
        tables, of_queues = by_port(held[switch.name]), queue_aqms(held[switch.name])
        has_classes = bool(classes.summary(held[switch.name]))
        for port in switch.ports:
            actions = tables.get(port.number, {})
            buffer, aqm, eee = (
                table.from_action(actions[table.name], tick) if table.name in actions else None
                for table in (BUFFER, AQM, EEE)
            )
            if buffer is None or aqm is None or eee is None:
                raise FabricError(
                    f"{port.name}: has no buffer, AQM or EEE of this program: the switch is not configured, "
                    f"or has other ports than topology {topology.name}"
                )
            scope: dict[str, object] = {"scope": "port"} if has_classes else {}
            if isinstance(aqm, ByQueueSettings):
                queues = of_queues.get(port.number, {})
                alike = {QUEUE_AQM.from_action(action, tick) for action in queues.values()}
                one = alike.pop() if len(alike) == 1 else None
                if one is None:
                    shown = aqm_text(actions[AQM.name], queues, tick)
                    raise FabricError(
                        f"{port.name}: its queues do not share one AQM ({shown}), and their classes are not "
                        "known here; give them one AQM for the search"
                    )
                aqm, scope = one, {}
            queue = {**_buffer(buffer), "aqm": _aqm(aqm, port.rate), **scope}
            attached = {"queue": _named(names["queue"], queue)}
            attached["eee"] = _named(names["eee"], _eee(eee)) if eee.mode != "off" else "off"
            ports[port.name] = attached
            said = f"{aqm.describe()}, buffer {buffer.describe()}, EEE {eee.describe()}"
            counts[said] += 1
    profiles = {kind: dict(known.values()) for kind, known in names.items() if known}
    words = [f"{count} ports {text}" for text, count in counts.items()]
    return {"profiles": profiles, "ports": ports}, words


def _named(known: dict[str, tuple[str, dict[str, object]]], profile: dict[str, object]) -> str:
    """Returns the name of an equal profile, or the name of a new one."""
    return known.setdefault(json.dumps(profile), (f"today_{len(known) + 1}", profile))[0]


def _buffer(limit: Settings) -> dict[str, object]:
    outside = isinstance(limit, port_settings.BufferLimitBesideHeld)
    assert hasattr(limit, "limit"), "every limit has one"
    return {"buffer": str(limit.limit), **({"held_packets": "outside"} if outside else {})}


def _aqm(aqm: Settings, rate: DataRate) -> dict[str, object]:
    """Returns the profile with this effect at a port of this speed."""
    match aqm:
        case port_settings.MarkThresholdSettings():
            l4s = {} if aqm.l4s_threshold == aqm.threshold else {"l4s_threshold": str(aqm.l4s_threshold)}
            at = {"at": "dequeue"} if aqm.at_dequeue else {}
            return {"mode": "mark_threshold", "threshold": str(aqm.threshold), **l4s, **at}
        case port_settings.RedSettings():
            ramp = Fraction(1) if aqm.max_probability is None else round(aqm.max_probability, _DECIMALS)
            return {
                "mode": "red",
                "min": str(aqm.min),
                "max": str(aqm.max),
                "max_probability": format_probability(Fraction(ramp)),
                "average_weight": f"1/{1 << aqm.average_shift}",
                "ecn": aqm.ecn,
                "protect": aqm.protect,
                **_mean_packet(aqm, rate),
            }
        case port_settings.CodelSettings():
            spans = {key: str(span) for key, span in aqm.spans().items()}
            return {"mode": "codel", **spans, "mtu": str(aqm.mtu), "ecn": aqm.ecn, "protect": aqm.protect}
    return {"mode": "drop_tail"}


def _mean_packet(aqm: port_settings.RedSettings, rate: DataRate) -> dict[str, object]:
    if aqm.mean_packet is not None:
        return {"mean_packet": str(aqm.mean_packet), "by_size": True}
    if aqm.half_life_ps is None:
        return {}
    packets = math.log(2) / -math.log1p(-(2.0**-aqm.average_shift))
    return {"mean_packet": str(Bytes(round(aqm.half_life_ps * int(rate) / Fraction(packets) / 8 / 10**12)))}


def _eee(eee: Settings) -> dict[str, object]:
    if not isinstance(eee, port_settings.EeeSettings):
        return {"mode": "off"}
    spans = {key: str(span) for key, span in eee.spans().items() if span or key in ("sleep", "wake")}
    sizes = [str(size) for size in eee.trigger.sizes]
    return {"mode": eee.mode, **spans, **({"trigger": sizes} if sizes else {})}


def of_counters(topology: Topology, first: FabricObservation, second: FabricObservation) -> Load:
    """Returns the traffic that hosts sent between two readings. Raises FabricError if there was none, and for
    a switch that lost its counts in between."""
    if gone := restarted(first, second):
        raise FabricError(
            f"{', '.join(gone)}: restarted, or loaded its program again, between the two readings of its "
            "counters; read them again"
        )
    counts = [
        {(one.switch, one.port): one.bytes for one in found.counters.received if one.packet_class == _DATA}
        for found in (first, second)
    ]
    spans = [second.switches[name].at_ps - first.switches[name].at_ps for name in topology.switches]
    seconds = sum(spans) / len(spans) / 10**12
    sent = {at: counts[1][at] - counts[0].get(at, 0) for at in counts[1]}
    return _load(topology, sent, seconds, "in two readings of the switches' counters")


def of_range(topology: Topology, path: Path) -> Load:
    """Returns the traffic that hosts sent, from Prometheus' answer to `query_range` for received bytes.

    Raises DataNotFound without the file, InputError for invalid content, FabricError if there was no traffic.
    """
    sent: dict[tuple[str, int], float] = {}
    times: list[float] = []
    for at, samples in _series(path):
        last = samples[0][1]
        for moment, value in samples:
            times.append(moment)
            # A counter restarts from zero after a restart of the switch.
            sent[at] = sent.get(at, 0.0) + (value - last if value >= last else value)
            last = value
    if not sent:
        raise BadFile(str(path), "", f"has no {METRIC} of class {_DATA}")
    return _load(topology, sent, max(times) - min(times), f"in {path}")


def _series(path: Path) -> Iterator[tuple[tuple[str, int], list[tuple[float, float]]]]:
    """Yields switch and port of each series of the metric, with its times and values."""
    if not path.is_file():
        raise DataNotFound(f"{path}: no such file")
    try:
        with path.open("rb") as file:
            answer = json.loads(file.read(_BYTES_OF_RANGE))
        for one in answer["data"]["result"]:
            labels = {str(key): str(value) for key, value in one["metric"].items()}
            if labels["__name__"] != METRIC or labels["class"] != _DATA or not one["values"]:
                continue
            samples = [(float(moment), float(value)) for moment, value in one["values"]]
            if not all(math.isfinite(value) for _, value in samples):
                raise ValueError("a sample is not a finite number")
            yield (labels["switch"], int(labels["port"])), samples
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(str(path), "", f"is not Prometheus' answer to query_range ({error!r})") from None


def _load(topology: Topology, sent: Mapping[tuple[str, int], float], seconds: float, where: str) -> Load:
    hosts = {}
    for name, host in topology.hosts.items():
        at = host.port.peer.node, host.port.peer.port
        if at not in sent:
            raise FabricError(f"{at[0]}:{at[1]}: no counts for the port of {name} {where}")
        link_bytes = int(host.port.rate) / 8 * seconds
        hosts[name] = float(_PAYLOAD) * sent[at] / link_bytes if link_bytes else 0.0
    if not any(hosts.values()):
        raise FabricError(
            f"the counters did not change: no host sent data {where} ({seconds:.3g} s), so there is no "
            "load to begin with; measure under load, for longer, or leave --from-targets out"
        )
    return Load(hosts, seconds)


def begun(tune: Tune, today: Today) -> Tune:
    """Returns the search with `today` as its baseline, and with its load for every workload's random flows.

    Raises InputError if no workload has a load that could be replaced.
    """
    document, measured = tune.document, {}
    base = overlay.part(document, ("base",))
    for name in tune.file.workloads:
        workload = overlay.overlaid([base, overlay.part(document, ("workloads", name))]).value.get("workload")
        applications = workload.get("applications") if isinstance(workload, dict) else None
        found = {
            key: {"load": format_probability(Fraction(f"{today.load.mean:.4g}"))}
            for key, one in (applications.items() if isinstance(applications, dict) else ())
            if isinstance(one, dict) and one.get("kind") == "flows" and "load" in one
        }
        if found:
            measured[name] = _over(tune, {"workload": {"applications": found}})
    if not measured:
        problem = document.problem(
            ("base", "workload"),
            f"no application of kind flows has a load that the measured one, {today.load.mean:.2%} of the "
            "hosts' links, could replace; add one",
            "",
        )
        raise InputError([problem])
    return replace(tune, today=today, held=_over(tune, {"config": [today.config]}), measured=measured)


def _over(tune: Tune, value: dict[str, object]) -> Document:
    return Document(value, Places(tune.document.place(("base",))))


def check(run: Run, today: Today) -> None:
    """Compares the baseline's whole plan with the switches' state. Raises FabricError if they differ."""
    _, topology, config = run.parts()
    wanted = with_defaults(intended(topology, config, today.tick), programs.load().schema())
    for name, entries in wanted.items():
        changes = difference(today.held[name], entries)
        if changes:
            tables = sorted({one.table for pair in changes for one in (pair.before, pair.after) if one})
            raise FabricError(
                f"{name}: {len(changes)} entries differ from those of topology {topology.name} and the "
                f"file's base.config ({', '.join(tables)}): put what runs there into base.config"
            )
