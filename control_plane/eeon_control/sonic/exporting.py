"""Converts a configuration to rows of CONFIG_DB."""

import re
from collections.abc import Callable, Collection

from eeon_control.config import FabricConfig
from eeon_control.port_settings import Aqm, Codel, DropTail, Red
from eeon_control.printable import some
from eeon_control.sonic.database import WRED_THRESHOLD_MAX, Database, Problems, is_given, match_ports, places
from eeon_control.sonic.importing import COLOURS, OF_COLOUR
from eeon_control.topology.model import Switch
from eeon_control.units import Bytes

_NAME = re.compile(r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}")
"""SONiC's pattern for names of WRED profiles (sonic-wred-profile.yang)."""

Patch = dict[str, dict[str, dict[str, str]]]
_Refuse = Callable[[str, str, object], None]  # key, why it cannot be mapped, value


def export(
    database: Database,
    config: FabricConfig,
    switch: Switch,
    *,
    source: str,
    queue: int = 0,
    pool: str = "egress_lossy_pool",
) -> Patch:
    """Returns rows of WRED_PROFILE, BUFFER_PROFILE, QUEUE and BUFFER_QUEUE for the ports of one switch.

    `database`: the switch's table PORT, for the names. `pool`: the buffer pool of the profiles, which must
    exist in SONiC. Raises InputError with every setting that SONiC does not support; it calls the
    configuration `source`.
    """
    problems = Problems(database.source)
    ports = match_ports(database, switch, problems)
    refused = Problems(source)

    def refuse(key: str, why: str, value: object) -> None:
        refused.add(key, f"cannot be mapped: {why}", str(value))

    if config.classes:
        why = "the export has one queue per port, for all packets. Use a configuration without classes"
        refuse("classes", why, ", ".join(sorted(config.classes)))
    patch: Patch = {"WRED_PROFILE": {}, "BUFFER_PROFILE": {}, "QUEUE": {}, "BUFFER_QUEUE": {}}
    for name, port in ports.items():
        if config.attached(port, "queue") is None:
            rule = "is missing: a port of this role has no queue profile"
            refused.add(f"roles.{port.role.value}.queue", rule)
            continue
        settings = config.settings_of(port)
        called = settings.queue_name
        at = f"profiles.queue.{called}"
        if settings.eee.mode != "off":
            why = f"CONFIG_DB has no {settings.eee.mode} EEE. Attach eee: off to this port"
            refuse(f"{port.name}.eee", why, settings.eee_name)
        if not _NAME.fullmatch(called):
            names = "letters, digits, - and _, at most 32"
            refused.add(at, f"is not a name that SONiC accepts: {names}. Rename the profile")
        if settings.queue.held_packets == "outside" or not isinstance(settings.queue.buffer, Bytes):
            refuse(
                f"{at}.buffer",
                "SONiC's thresholds count bytes, held packets included. Give a buffer in bytes and leave "
                "held_packets out",
                settings.queue.buffer,
            )
        if settings.queue.qcn is not None:
            refuse(f"{at}.qcn", "CONFIG_DB has no QCN. Leave qcn out", settings.queue.qcn.set_point)
        wred = _wred(settings.queue.aqm, f"{at}.aqm", refuse)
        if wred is not None:
            patch["WRED_PROFILE"][called] = wred
            patch["QUEUE"][f"{name}|{queue}"] = {"wred_profile": called}
        limit = str(int(settings.queue.buffer_bytes))
        patch["BUFFER_PROFILE"][called] = {"pool": pool, "size": "0", "static_th": limit}
        patch["BUFFER_QUEUE"][f"{name}|{queue}"] = {"profile": called}
    _check_kept(database, ports, queue, patch, problems)
    problems.check()
    refused.check()
    return {table: rows for table, rows in patch.items() if rows}


def other_queues(database: Database, switch: Switch, queue: int) -> str | None:
    """Returns a note if the file has settings for the switch's ports, but for other queues only."""
    aside = Problems(database.source)
    ports, known = match_ports(database, switch, aside), database.rows("PORT")
    keys = [key for table in ("QUEUE", "BUFFER_QUEUE") for key in database.rows(table)]
    found = {number for key in keys for port, number in places(key, key, known, aside) if port in ports}
    if not found or queue in found:
        return None
    return (
        f"the switch has settings for queue {some(map(str, sorted(found)))}, and the patch is for queue "
        f"{queue}: if packets do not use that one, give --queue"
    )


def _check_kept(
    database: Database, ports: Collection[str], queue: int, patch: Patch, problems: Problems
) -> None:
    """Reports rows of the switch that contradict the patch: `config load` removes no row and no field."""
    off = {
        name
        for name, row in database.rows("WRED_PROFILE").items()
        if str(row.get("wred_green_enable")).lower() != "true"
    }
    aside = Problems(database.source)  # rows of other queues may have any form
    for table, field in (("QUEUE", "wred_profile"), ("BUFFER_QUEUE", "profile")):
        for key, row in database.rows(table).items():
            at = f"{table}|{key}"
            profile = str(row.get(field) or "").strip("[]").rpartition("|")[2]
            if key in patch[table] or not profile or (table == "QUEUE" and profile in off):
                continue
            others = [
                port
                for port, number in places(key, at, database.rows("PORT"), aside)
                if number == queue and port in ports
                if patch[table].get(f"{port}|{queue}") != {field: profile}
            ]
            if others:
                problems.add(
                    f"{at}.{field}",
                    f"applies to queue {queue} of {others[0]}, and `config load` keeps it beside the patch. "
                    "On the switch, replace it by rows for its other queues; then read config_db.json again",
                    profile,
                )
    for name in patch["BUFFER_PROFILE"]:
        if is_given(database.rows("BUFFER_PROFILE").get(name, {}).get("dynamic_th")):
            problems.add(
                f"BUFFER_PROFILE|{name}.dynamic_th",
                f"is kept by `config load` beside the static_th of the patch. Rename profiles.queue.{name}",
            )


def _wred(aqm: Aqm, at: str, refuse: _Refuse) -> dict[str, str] | None:
    """Returns a WRED profile, or None for a queue without one. `at`: the AQM's key."""
    if isinstance(aqm, DropTail):
        return None
    if not isinstance(aqm, Red):
        what = "CoDel" if isinstance(aqm, Codel) else "a marking threshold without drops"
        closest = "The closest is red with min and max in bytes and protect: ect"
        refuse(f"{at}.mode", f"SONiC's releases have WRED only, not {what}. {closest}", aqm.mode)
        return None
    low, high, percent = aqm.min, aqm.max, aqm.max_probability * 100
    if not isinstance(low, Bytes) or not isinstance(high, Bytes):
        key, value = ("target_delay", aqm.target_delay) if aqm.target_delay else ("min", low)
        refuse(f"{at}.{key}", "SONiC's thresholds count bytes. Give min and max in bytes", value)
        low = high = None
    elif high > WRED_THRESHOLD_MAX:
        refuse(f"{at}.max", f"SONiC's thresholds are at most {WRED_THRESHOLD_MAX}", high)
    if aqm.protect != "ect":
        refuse(
            f"{at}.protect",
            "SONiC's WRED protects only ECT packets, and drops ACKs and SYNs early. Set protect: ect to "
            "accept this",
            aqm.protect,
        )
    if aqm.average_shift:
        why = "CONFIG_DB has no averaging weight. Set average_weight: 1"
        refuse(f"{at}.average_weight", why, f"1/{1 << aqm.average_shift}")
    if aqm.by_size:
        why = "CONFIG_DB has one probability for packets of all sizes. Set by_size: false"
        refuse(f"{at}.by_size", why, "true")
    if percent.denominator != 1:
        refuse(f"{at}.max_probability", "SONiC takes whole percentages only", f"{float(percent):g}%")
    if low is None or high is None or percent.denominator != 1:
        return None
    fields = {"ecn": "ecn_all" if aqm.ecn else "ecn_none"}
    values = ("true", str(int(low)), str(int(high)), str(percent.numerator))
    for colour in COLOURS:
        fields |= {form.format(colour): value for form, value in zip(OF_COLOUR, values, strict=True)}
    return fields
