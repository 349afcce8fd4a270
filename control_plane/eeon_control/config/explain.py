"""The origin of each setting of a port: the level that named its profiles, the line of each value. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from eeon_control.config.classes import priority_of
from eeon_control.config.model import FabricConfig, Kind
from eeon_control.config.presets import EEE_PRESETS
from eeon_control.errors import Place, PlanError
from eeon_control.port_settings import Aqm, Eee, MarkThreshold, Red
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
    queue = () if port.role is PortRole.HOST else tuple(_levels(config, port, "queue"))
    eee = tuple(_levels(config, port, "eee"))
    settings = (*_queue(config, port), *_eee(config, port), *_quanta(config, port), *_pfc(config, port))
    return Explanation(port, queue, eee, settings)


def default_thresholds(config: FabricConfig, rates: list[DataRate]) -> dict[str, dict[str, str]]:
    """Returns the threshold by link speed, as text, for every queue profile with `threshold: auto`."""
    return {
        name: {str(rate): str(profile.aqm.settings_at(rate).threshold) for rate in rates}
        for name, profile in config.profiles.queue.items()
        if isinstance(profile.aqm, MarkThreshold) and profile.aqm.threshold is None
    }


def _levels(config: FabricConfig, port: Port, kind: Kind) -> Iterator[Level]:
    won = False
    for path, name in config.levels(port, kind):
        place = config.document.place(path) if name is not None else None
        yield Level(dotted(path), place, name, name is not None and not won)
        won = won or name is not None


def _queue(config: FabricConfig, port: Port) -> Iterator[Setting]:
    name = None if port.role is PortRole.HOST else config.attached(port, "queue")
    if name is None:
        return
    path: KeyPath = ("profiles", "queue", name)
    profile = config.profiles.queue[name]
    yield _written(config, "buffer", str(profile.buffer), (*path, "buffer"))
    yield from _aqm(config, port, "", profile.aqm, (*path, "aqm"))
    if not config.classes:
        return
    queues = config.settings_of(port).queue_aqms
    scope = "queue" if queues else "port"
    yield _written(config, "scope", scope, (*path, "scope"), default="default with classes")
    for of_class, aqm in profile.class_aqm.items() if queues else ():
        priority = priority_of(config.classes, of_class)
        yield from _aqm(config, port, f"aqm.{priority}.", aqm, (*path, "class_aqm", of_class))


def _aqm(config: FabricConfig, port: Port, prefix: str, aqm: Aqm, at: KeyPath) -> Iterator[Setting]:
    """Yields an AQM's settings. `prefix`: of its keys; empty for the port's AQM."""
    for one in _aqm_settings(config, port, aqm, at):
        yield replace(one, key=prefix.rstrip(".") if prefix and one.key == "aqm" else prefix + one.key)


def _aqm_settings(config: FabricConfig, port: Port, aqm: Aqm, at: KeyPath) -> Iterator[Setting]:
    yield _written(config, "aqm", aqm.mode, (*at, "mode"), at)
    if isinstance(aqm, MarkThreshold):
        settings = aqm.settings_at(port.rate)
        threshold, l4s = str(settings.threshold), str(settings.l4s_threshold)
        if aqm.threshold is None:
            rtt = DCTCP_RTT if aqm.rtt is None else aqm.rtt
            rule = f"auto: 15 frames of 1500B + C x RTT / 7 at {port.rate}, RTT {rtt} (DCTCP)"
            yield Setting("threshold", threshold, rule, config.document.place((*at, "threshold")))
        else:
            yield _written(config, "threshold", threshold, (*at, "threshold"), (*at, "mark_threshold"))
        yield _written(config, "l4s_threshold", l4s, (*at, "l4s_threshold"), default="as threshold")
        yield _written(config, "at", aqm.at, (*at, "at"))
    elif isinstance(aqm, Red):
        low, high = aqm.settings_at(port.rate).min, aqm.settings_at(port.rate).max
        if aqm.target_delay is not None:
            key = next(
                (key for key in ("target_delay", "autored") if config.document.has((*at, key))), "mode"
            )
            place = config.document.place((*at, key))
            rule = f"autoRED: {aqm.target_delay} at {port.rate}"
            yield from (Setting(end, str(size), rule, place) for end, size in (("min", low), ("max", high)))
        else:
            yield _written(config, "min", str(low), (*at, "min"), (*at, "red"))
            yield _written(config, "max", str(high), (*at, "max"), (*at, "red"))
        probability = format_probability(aqm.max_probability)
        yield _written(config, "max_probability", probability, (*at, "max_probability"))
        yield _written(config, "average_weight", f"1/{1 << aqm.average_shift}", (*at, "average_weight"))
        yield _written(config, "mean_packet", str(aqm.mean_packet), (*at, "mean_packet"))
        yield _written(config, "by_size", "true" if aqm.by_size else "false", (*at, "by_size"))
        yield _written(config, "ecn", "true" if aqm.ecn else "false", (*at, "ecn"))
        yield _written(config, "protect", aqm.protect, (*at, "protect"))
    else:  # its values are its keys and do not depend on the port
        for key, value in aqm:
            if key != "mode":
                shown = str(value).lower() if isinstance(value, bool) else str(value)
                yield _written(config, key, shown, (*at, key))


def _eee(config: FabricConfig, port: Port) -> Iterator[Setting]:
    name = config.attached(port, "eee") or "off"
    eee = config.eee_of(port)
    path: KeyPath = ("profiles", "eee", name)
    speeds = config.document.mapping((*path, "by_speed"))
    speed = next((key for key in speeds if DataRate.parse(key) == port.rate), None)

    def setting(key: str, value: str) -> Setting:
        if name in EEE_PRESETS:
            return Setting(f"eee.{key}", value, f"preset {name}")
        at_speed = (*path, "by_speed", speed or "", key)
        return _written(config, f"eee.{key}", value, at_speed, (*path, key))

    yield setting("mode", eee.mode)
    if eee.mode == "off":
        return
    yield setting("stall", str(eee.stall))
    if eee.hold is not None:
        yield setting("hold", str(eee.hold))
        yield setting("trigger", str(eee.trigger or "none"))
    try:
        times = dict(zip(("sleep", "wake"), eee.timers(port.rate), strict=True))
    except PlanError as error:
        yield Setting("eee.sleep, eee.wake", "unknown", str(error))
        return
    own = config.profiles.eee[name].at(port.rate)
    for key, span in times.items():
        if getattr(own, key) is not None:
            yield setting(key, str(span))
        else:
            yield _phy_time(config, port, key, str(span), eee)


def _quanta(config: FabricConfig, port: Port) -> Iterator[Setting]:
    """Yields the quantum of each queue that shares the port by weight."""
    if port.role is PortRole.HOST:
        return
    for name, one in config.classes.items():
        if one.quantum is not None:
            yield _written(config, f"quantum.{one.priority}", str(one.quantum), ("classes", name, "quantum"))


def _pfc(config: FabricConfig, port: Port) -> Iterator[Setting]:
    """Yields the thresholds of each lossless priority, and the parts of its headroom."""
    if port.role is PortRole.HOST:
        return
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
        yield _written(config, f"{key}.limit", str(at.limit), (*path, "limit"))
        yield Setting(f"{key}.headroom", str(parts.total), rule)
        yield _written(
            config, f"{key}.xoff", str(at.xoff), (*path, "xoff"), default="auto: limit minus headroom"
        )
        yield _written(
            config, f"{key}.xon", str(at.xon), (*path, "xon"), default="auto: xoff minus two frames"
        )


def _phy_time(config: FabricConfig, port: Port, key: str, value: str, eee: Eee) -> Setting:
    """Returns the setting of a sleep or wake time that the profile does not give."""
    if getattr(eee, key) is not None:
        speeds = config.document.mapping(("phy",))
        given = next((one for one in speeds if DataRate.parse(one) == port.rate), "")
        return _written(config, f"eee.{key}", value, ("phy", given, key))
    known = phy.of_rate(port.rate)
    return Setting(f"eee.{key}", value, f"{known.name if known else port.rate} (IEEE 802.3az-2010)")


def _written(
    config: FabricConfig, key: str, value: str, *paths: KeyPath, default: str = "default"
) -> Setting:
    """Returns the setting of a value from the first of `paths` in the files, else of a default."""
    document = config.document
    given = (path for path in paths if document.has(path) and document.get(path) is not None)
    found = next(given, None)
    if found is None:
        return Setting(key, value, default)
    return Setting(key, value, dotted(found), document.place(found))
