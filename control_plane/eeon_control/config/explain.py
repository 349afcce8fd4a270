"""The origin of each setting of a port: the level that named its profiles, the line of each value. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from eeon_control.config.classes import priority_of
from eeon_control.config.model import FabricConfig, Kind
from eeon_control.config.presets import EEE_PRESETS
from eeon_control.errors import Place, PlanError
from eeon_control.port_settings import Aqm, MarkThreshold, Red
from eeon_control.port_settings.mark_threshold import DCTCP_RTT
from eeon_control.sources import KeyPath, dotted
from eeon_control.topology import phy
from eeon_control.topology.model import Port, PortRole
from eeon_control.units import DataRate, format_probability


@dataclass(frozen=True)
class Level:
    """One place that may name a profile for a port. `profile` is None if it names none; one level wins."""

    key: str
    place: Place | None
    profile: str | None
    wins: bool


@dataclass(frozen=True)
class Setting:
    """One value of a port, and its origin: a line of a file, or a rule in words."""

    key: str
    value: str
    source: str
    place: Place | None = None


@dataclass(frozen=True)
class Explanation:
    """The explanation of one port. `queue` and `eee` are levels, most specific first."""

    port: Port
    queue: tuple[Level, ...]
    eee: tuple[Level, ...]
    settings: tuple[Setting, ...]


def explain(config: FabricConfig, port: Port) -> Explanation:
    """Returns the origin of all settings of a switch port or a host's NIC."""
    eee = tuple(_levels(config, port, "eee"))
    if port.role is PortRole.HOST:
        return Explanation(port, (), eee, tuple(_eee(config, port)))
    settings = (*_queue(config, port), *_eee(config, port), *_quanta(config), *_pfc(config, port))
    return Explanation(port, tuple(_levels(config, port, "queue")), eee, settings)


def _levels(config: FabricConfig, port: Port, kind: Kind) -> Iterator[Level]:
    won = False
    for path, name in config.levels(port, kind):
        place = config.document.place(path) if name is not None else None
        yield Level(dotted(path), place, name, name is not None and not won)
        won = won or name is not None


def _queue(config: FabricConfig, port: Port) -> Iterator[Setting]:
    name = config.attached(port, "queue")
    if name is None:
        return
    path: KeyPath = ("profiles", "queue", name)
    profile = config.profiles.queue[name]
    yield _written(config, "buffer", profile.buffer, (*path, "buffer"))
    yield from _aqm(config, port, "aqm", profile.aqm, (*path, "aqm"))
    if not config.classes:
        return
    queues = config.settings_of(port).queue_aqms
    scope = "queue" if queues else "port"
    yield _written(config, "scope", scope, (*path, "scope"), default="default with classes")
    for of_class, aqm in profile.class_aqm.items() if queues else ():
        key = f"aqm.{priority_of(config.classes, of_class)}"
        yield from _aqm(config, port, key, aqm, (*path, "class_aqm", of_class))


def _aqm(config: FabricConfig, port: Port, name: str, aqm: Aqm, at: KeyPath) -> Iterator[Setting]:
    """Yields an AQM's settings. `name`: `aqm` for the port's AQM, else the prefix of its keys too."""
    prefix = "" if name == "aqm" else f"{name}."

    def written(key: str, value: object, *others: str, default: str = "default") -> Setting:
        paths = [(*at, one) for one in (key, *others)]
        return _written(config, prefix + key, value, *paths, default=default)

    def computed(key: str, value: object, rule: str, *keys: str) -> Setting:
        paths = [(*at, one) for one in keys]
        return replace(_written(config, prefix + key, value, *paths, at), source=rule)

    yield _written(config, name, aqm.mode, (*at, "mode"), at)
    if isinstance(aqm, MarkThreshold):
        settings = aqm.settings_at(port.rate)
        if aqm.threshold is None:
            rtt = DCTCP_RTT if aqm.rtt is None else aqm.rtt
            rule = f"auto: 15 frames of 1500B + C x RTT / 7 at {port.rate}, RTT {rtt} (DCTCP)"
            yield computed("threshold", settings.threshold, rule, "threshold")
        else:
            yield written("threshold", settings.threshold, "mark_threshold")
        yield written("l4s_threshold", settings.l4s_threshold, default="as threshold")
        yield written("at", aqm.at)
    elif isinstance(aqm, Red):
        ends = aqm.settings_at(port.rate)
        for key, size in (("min", ends.min), ("max", ends.max)):
            if aqm.target_delay is None:
                yield written(key, size, "red")
            else:
                rule = f"autoRED: {aqm.target_delay} at {port.rate}"
                yield computed(key, size, rule, "target_delay", "autored")
        yield written("max_probability", format_probability(aqm.max_probability))
        yield written("average_weight", f"1/{1 << aqm.average_shift}")
        for key in ("mean_packet", "by_size", "ecn", "protect"):
            yield written(key, getattr(aqm, key))
    else:  # its values are its keys and do not depend on the port
        for key, value in aqm:
            if key != "mode":
                yield written(key, value)


def _eee(config: FabricConfig, port: Port) -> Iterator[Setting]:
    name = config.attached(port, "eee") or "off"
    eee = config.eee_of(port)
    path: KeyPath = ("profiles", "eee", name)
    by_speed = (*path, "by_speed")
    at_speed = (*by_speed, _key_of_speed(config, by_speed, port.rate))

    def setting(key: str, value: object) -> Setting:
        if name in EEE_PRESETS:
            return Setting(f"eee.{key}", str(value), f"preset {name}")
        return _written(config, f"eee.{key}", value, (*at_speed, key), (*path, key))

    yield setting("mode", eee.mode)
    if eee.mode == "off":
        return
    yield setting("stall", eee.stall)
    if eee.hold is not None:
        yield setting("hold", eee.hold)
        yield setting("trigger", eee.trigger or "none")
    try:
        times = dict(zip(("sleep", "wake"), eee.timers(port.rate), strict=True))
    except PlanError as error:
        yield Setting("eee.sleep, eee.wake", "unknown", str(error))
        return
    own, known = config.profiles.eee[name].at(port.rate), phy.of_rate(port.rate)
    for key, span in times.items():
        if getattr(own, key) is not None:
            yield setting(key, span)
        elif getattr(eee, key) is not None:
            of_phy = ("phy", _key_of_speed(config, ("phy",), port.rate), key)
            yield _written(config, f"eee.{key}", span, of_phy)
        else:
            assert known is not None, "the only other source of times"
            yield Setting(f"eee.{key}", str(span), f"{known.name} (IEEE 802.3az-2010)")


def _key_of_speed(config: FabricConfig, path: KeyPath, rate: DataRate) -> str:
    """Returns the key of a link speed in the mapping at `path`, as the file has it; empty without any."""
    return next((key for key in config.document.mapping(path) if DataRate.parse(key) == rate), "")


def _quanta(config: FabricConfig) -> Iterator[Setting]:
    """Yields the quantum of each queue that shares its port by weight."""
    for name, one in config.classes.items():
        if one.quantum is not None:
            yield _written(config, f"quantum.{one.priority}", one.quantum, ("classes", name, "quantum"))


def _pfc(config: FabricConfig, port: Port) -> Iterator[Setting]:
    """Yields the thresholds of each lossless priority, and the parts of its headroom."""
    for priority, name in sorted(config.lossless.items()):
        path: KeyPath = ("profiles", "pfc", name)
        key = f"pfc.{priority}"
        try:
            at = config.pfc_at(port, priority)
        except PlanError as error:
            yield Setting(key, "none", str(error), config.document.place(path))
            continue
        parts = at.headroom
        sleeps = f", sleep and wake {parts.sleep}" if parts.sleep else ""
        rule = (
            f"in flight {parts.under_way}{sleeps}, a frame ahead of the pause {parts.reverse_frame}, the "
            f"pauses {parts.pause_frames}, the neighbour's last frame {parts.last_frame}, the packet that "
            f"crosses xoff {parts.crossing}"
        )
        yield _written(config, f"{key}.limit", at.limit, (*path, "limit"))
        yield Setting(f"{key}.headroom", str(parts.total), rule)
        auto = {"xoff": "auto: limit minus headroom", "xon": "auto: xoff minus two frames"}
        for end, default in auto.items():
            yield _written(config, f"{key}.{end}", getattr(at, end), (*path, end), default=default)


def _written(
    config: FabricConfig, key: str, value: object, *paths: KeyPath, default: str = "default"
) -> Setting:
    """Returns the setting of a value from the first of `paths` in the files, else of a default."""
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    found = next((path for path in paths if config.document.get(path) is not None), None)
    if found is None:
        return Setting(key, shown, default)
    return Setting(key, shown, dotted(found), config.document.place(found))
