"""Rules of thumb and shipped profiles of others, for the queue profiles that knobs vary. Pure functions."""

from math import ceil

from eeon_control.config import FabricConfig
from eeon_control.model_base import FULL_FRAME_BYTES
from eeon_control.port_settings.mark_threshold import bandwidth_delay_share
from eeon_control.topology import Topology, base_rtt
from eeon_control.units import Bytes, Duration

from eeon_experiments.settings import RunSettings
from eeon_experiments.tune.knobs import Space

SONIC = "sonic_azure"
SHARE, DCTCP = "c_rtt_7", "mark_auto"
_SONIC_RED: dict[str, object] = {
    "mode": "red",
    "min": "1048576B",
    "max": "2097152B",
    "max_probability": "5%",
    "protect": "ect",
    "ecn": True,
}
"""AZURE_LOSSLESS of SONiC's qos_config.j2: marks 5 % of ECT packets between 1 and 2 MiB."""


def rules(
    space: Space, settings: RunSettings, topology: Topology, config: FabricConfig
) -> dict[str, dict[str, object]]:
    """Returns the part of a configuration for each rule, by name; nothing if no knob belongs to an AQM.

    `mark_auto` is DCTCP's threshold (20 frames at 1 Gbps, 65 at 10 Gbps). `c_rtt_7` is C x RTT / 7, with this
    fabric's round-trip time, host delays included, and the fastest link of each profile.
    """
    paths = [path for knob in space.knobs for path in knob.paths if path[3:4] == ("aqm",)]
    profiles = list(dict.fromkeys(path[2] for path in paths if path[:2] == ("profiles", "queue")))
    if not profiles:
        return {}
    rtt = round_trip(settings, topology)
    found = {DCTCP: _of({one: {"mode": "mark_threshold", "threshold": "auto"} for one in profiles})}
    thresholds = {
        profile: threshold for profile in profiles if (threshold := _share(profile, rtt, topology, config))
    }
    if len(thresholds) == len(profiles):
        found[SHARE] = _of(
            {one: {"mode": "mark_threshold", "threshold": str(size)} for one, size in thresholds.items()}
        )
    found[SONIC] = _of(dict.fromkeys(profiles, _SONIC_RED))
    return found


def round_trip(settings: RunSettings, topology: Topology) -> Duration:
    """Returns the round-trip time of a full frame and its ACK through the empty fabric, hosts included."""
    hosts = 2 * (int(settings.host.tx_delay) + int(settings.host.rx_delay))
    return Duration(int(base_rtt(topology) or 0) + hosts)


def _share(profile: str, rtt: Duration, topology: Topology, config: FabricConfig) -> Bytes | None:
    rates = [port.rate for port in topology.ports() if config.attached(port, "queue") == profile]
    if not rates:
        return None
    return Bytes(ceil(bandwidth_delay_share(max(rates), rtt) / FULL_FRAME_BYTES) * FULL_FRAME_BYTES)


def _of(aqms: dict[str, dict[str, object]]) -> dict[str, object]:
    return {"profiles": {"queue": {profile: {"aqm": aqm} for profile, aqm in aqms.items()}}}
