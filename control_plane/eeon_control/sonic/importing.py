"""Converts CONFIG_DB to the values of a configuration file."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count

from eeon_control.printable import some
from eeon_control.sonic.database import (
    MAPPED,
    READ,
    UNMAPPED,
    WRED_THRESHOLD_MAX,
    Database,
    Problems,
    Row,
    another_order,
    is_given,
    match_ports,
    number,
    places,
    reference,
)
from eeon_control.topology.model import Switch
from eeon_control.validation import did_you_mean

COLOURS = ("green", "yellow", "red")
_ECN_OF_GREEN = {"ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red"}
_ECN = {*_ECN_OF_GREEN, "ecn_none", "ecn_yellow", "ecn_red", "ecn_yellow_red"}
_DSCPS = 64
_WITHOUT_ENTRY = "0"
"""The class of a DSCP without an entry in its map, and the queue of such a class (saiqosmap.h)."""
OF_COLOUR = ("wred_{}_enable", "{}_min_threshold", "{}_max_threshold", "{}_drop_probability")
_WRED_FIELDS = {"ecn", *(form.format(colour) for form in OF_COLOUR for colour in COLOURS)}
_NAMED = {
    "QUEUE": ("wred_profile", "WRED_PROFILE", "WRED profile"),
    "BUFFER_QUEUE": ("profile", "BUFFER_PROFILE", "buffer"),
}
"""The field of a queue's row, the table whose row it names, and that in words."""


@dataclass
class _Import:
    database: Database
    problems: Problems
    queue: int | None
    without: Collection[str]
    notes: list[str] = field(default_factory=list)
    pools: dict[str, tuple[int, dict[str, int]]] = field(default_factory=dict)
    """The bytes of each buffer pool, and the limit of each of its ports."""

    def rows(self, table: str) -> Mapping[str, Row]:
        return {} if table in self.without else self.database.rows(table)

    def tables(self) -> None:
        """Reports unmapped tables: those of queues as problems, others in a note."""
        foreign = []
        for table in self.without:
            if table not in READ and table not in self.database.tables:
                self.problems.add("--without", f"is not an imported table{did_you_mean(table, READ)}", table)
        for table in sorted(self.database.tables):
            if table in self.without:
                continue
            if table in UNMAPPED:
                if self.database.rows(table):
                    self.problems.add(
                        table, f"cannot be mapped: {UNMAPPED[table]}. --without {table} leaves it out"
                    )
            elif table not in MAPPED:
                foreign.append(table)
        if foreign:
            shown = some(name[:60] for name in foreign)
            self.notes.append(f"tables not about queues, not read: {shown}")
        if self.database.no_tables:
            self.notes.append(f"not tables, not read: {', '.join(self.database.no_tables[:20])}")

    def classes(self) -> None:
        """Reports maps to several classes, which are not imported. Maps to a single class are ignored."""
        for table in ("DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP"):
            for name, row in self.rows(table).items():
                found = {str(value) for value in row.values()}
                if table == "DSCP_TO_TC_MAP" and len(row) < _DSCPS:
                    found.add(_WITHOUT_ENTRY)
                if len(found) > 1:
                    self.problems.add(
                        f"{table}|{name}",
                        "sends packets to several classes, which are not imported: write `classes`. "
                        f"--without {table} leaves it out",
                    )
        for port, row in self.rows("PORT_QOS_MAP").items():
            for key, value in row.items():
                if key in ("dscp_to_tc_map", "tc_to_queue_map") or not is_given(value):
                    continue
                of_pfc = ": lossless classes are not imported; write a pfc profile"
                reason = of_pfc if key.startswith("pfc") else ""
                self.problems.add(
                    f"PORT_QOS_MAP|{port}.{key}",
                    f"cannot be mapped{reason}. --without PORT_QOS_MAP leaves it out",
                    str(value),
                )

    def queues(self, ports: Collection[str]) -> dict[str, dict[str, str]]:
        """Returns the profiles of each port's one queue, by their tables."""
        known = self.database.rows("PORT")
        found: dict[str, dict[int, dict[str, str]]] = {}
        left_out = set()
        for table, (name, named, what) in _NAMED.items():
            for key, row in self.rows(table).items():
                at = f"{table}|{key}"
                for other, value in row.items():
                    if other == "scheduler" and ("SCHEDULER" in self.without or not is_given(value)):
                        continue
                    if other != name:
                        self.problems.add(
                            f"{at}.{other}",
                            "cannot be mapped: a port here has one queue. --without SCHEDULER leaves it out"
                            if other == "scheduler"
                            else "is an unknown field",
                        )
                profile = reference(row, name, named, at, self.problems)
                if profile is None:
                    continue
                for port, queue in places(key, at, known, self.problems):
                    if self.queue is not None and queue != self.queue:
                        left_out.add(at)
                        continue
                    if port not in ports:
                        continue
                    entry = found.setdefault(port, {}).setdefault(queue, {})
                    if entry.setdefault(named, profile) != profile:
                        self.problems.add(at, f"gives queue {queue} of {port} a second {what}", profile)
        if left_out:
            self.notes.append(f"queues other than {self.queue}, left out: {some(sorted(left_out))}")
        made = {}
        used, unused = self.used_queues(found), dict[tuple[str, int], list[str]]()
        for port, queues in found.items():
            if len(queues) > 1:
                several = ", ".join(str(queue) for queue in sorted(queues))
                self.problems.add(
                    f"QUEUE|{port}",
                    f"has settings for the queues {several}; a port here has one queue. --queue N imports "
                    "one of them and leaves out the others",
                )
                continue
            made[port] = queues[min(queues)]
            if len(of_port := used.get(port, set())) == 1 and str(min(queues)) not in of_port:
                unused.setdefault((min(of_port), min(queues)), []).append(port)
        for (other, queue), names in unused.items():
            self.notes.append(
                f"by PORT_QOS_MAP all packets go to queue {other}, but queue {queue} is imported, for "
                f"{some(names)}; --queue {other} imports the queue that they use"
            )
        if not found:
            self.problems.add("QUEUE", "neither this table nor BUFFER_QUEUE has rows for these ports")
        return made

    def used_queues(self, ports: Iterable[str]) -> dict[str, set[str]]:
        """Returns the queues of each port that packets use; nothing if the tables do not say."""
        if not self.rows("PORT_QOS_MAP") or {"DSCP_TO_TC_MAP", "TC_TO_QUEUE_MAP"} & {*self.without}:
            return {}
        bound = {name: row for key, row in self.rows("PORT_QOS_MAP").items() for name in key.split(",")}

        def mapped(name: str, table: str, values: Iterable[str]) -> set[str]:
            row = {**bound.get("global", {}), **bound.get(name, {})}
            called = reference(row, table.lower(), table, f"PORT_QOS_MAP|{name}", self.problems)
            entries = self.rows(table).get(called or "", {})
            return {str(entries.get(value, _WITHOUT_ENTRY)) for value in values}

        dscps = [str(dscp) for dscp in range(_DSCPS)]
        classes = set().union(*(mapped(name, "DSCP_TO_TC_MAP", dscps) for name in self.database.ports()))
        return {port: mapped(port, "TC_TO_QUEUE_MAP", classes) for port in ports}

    def aqm(self, name: str) -> dict[str, object] | None:
        """Returns a WRED profile as an AQM; None after a problem."""
        at = f"WRED_PROFILE|{name}"
        row = self.rows("WRED_PROFILE").get(name)
        if row is None:
            self.problems.add(at, "is named by a queue, but does not exist")
            return None
        for unknown in sorted(set(row) - _WRED_FIELDS):
            hint = (
                "no release of SONiC has separate thresholds for ECT packets; use mark_threshold in your "
                "own configuration"
                if "ec" in unknown and "threshold" in unknown
                else "is not a field of SONiC's YANG model"
            )
            self.problems.add(f"{at}.{unknown}", hint)
        ecn = str(row.get("ecn", "ecn_none"))
        if ecn not in _ECN:
            self.problems.add(f"{at}.ecn", f"is not one of {', '.join(sorted(_ECN))}", ecn)
        values: dict[str, tuple[int | None, ...]] = {}
        for colour in COLOURS:
            enabled = str(row.get(f"wred_{colour}_enable", "false")).lower()
            if enabled not in ("true", "false"):
                self.problems.add(f"{at}.wred_{colour}_enable", "is not true or false", enabled)
            elif enabled == "true":
                limit = partial(number, most=WRED_THRESHOLD_MAX, required=colour == "green")
                values[colour] = (
                    limit(row, f"{colour}_min_threshold", at, self.problems),
                    limit(row, f"{colour}_max_threshold", at, self.problems),
                    # SONiC's default.
                    100
                    if row.get(f"{colour}_drop_probability") is None
                    else number(row, f"{colour}_drop_probability", at, self.problems, most=100),
                )
        if "green" not in values:
            if values:
                self.problems.add(f"{at}.wred_green_enable", "is off; uncoloured packets are green")
            elif ecn != "ecn_none":
                self.notes.append(
                    f"{at}: ecn is {ecn}, but no packet is marked, because wred_green_enable is not true: "
                    "imported as drop_tail. To mark packets, set wred_green_enable to true on the switch"
                )
            return {"mode": "drop_tail"}
        for colour, of_colour in values.items():
            if of_colour != values["green"]:
                self.problems.add(
                    f"{at}.{colour}_min_threshold",
                    f"{colour} differs from green; packets have no colours here. Make them the same, or set "
                    f"wred_{colour}_enable to false",
                )
        low, high, probability = values["green"]
        if low is None or high is None or probability is None:
            return None
        if low > high:
            self.problems.add(f"{at}.green_min_threshold", f"is above green_max_threshold, {high}", str(low))
        if probability == 0:
            self.notes.append(
                f"{at}: green_drop_probability is 0: no packet is marked or dropped between "
                f"green_min_threshold and green_max_threshold, {high} bytes. To mark packets, set it to 1 "
                "or more on the switch"
            )
        elif ecn not in _ECN_OF_GREEN and ecn != "ecn_none":
            self.notes.append(
                f"{at}: ecn is {ecn}, but uncoloured packets are green, so none of them is marked"
            )
        return {
            "mode": "red",
            "min": f"{low}B",
            "max": f"{high}B",
            "max_probability": f"{probability}%",
            "ecn": ecn in _ECN_OF_GREEN,
            "protect": "ect",
        }

    def buffer(self, name: str | None, port: str, default: str | None) -> str | None:
        """Returns a buffer profile as a limit in bytes."""
        if name is None:
            if default is None:
                self.problems.add(
                    f"BUFFER_QUEUE|{port}",
                    "is missing; give such ports a limit with --buffer, for example 300KB",
                )
            return default
        at = f"BUFFER_PROFILE|{name}"
        row = self.rows("BUFFER_PROFILE").get(name)
        if row is None:
            self.problems.add(at, "is named by a queue, but does not exist")
            return None
        if row.get("dynamic_th") is not None:
            if default is not None:
                return default
            self.problems.add(
                f"{at}.dynamic_th",
                "cannot be mapped: a share (alpha) of the free buffer; a port here has a limit in bytes. "
                "Give static_th, or --buffer 300KB for all such ports",
                str(row["dynamic_th"]),
            )
            return None
        size = number(row, "size", at, self.problems, required=True)
        shared = number(row, "static_th", at, self.problems, required=True)
        if size is None or shared is None:
            return None
        action = str(row.get("packet_discard_action", "drop"))
        if action != "drop":
            self.problems.add(
                f"{at}.packet_discard_action", "cannot be mapped: a full queue here drops packets", action
            )
        pool = reference(row, "pool", "BUFFER_POOL", at, self.problems)
        pools = self.rows("BUFFER_POOL")
        if pool is not None and pools and pool not in pools:
            self.problems.add(f"BUFFER_POOL|{pool}", f"is named by {at}, but does not exist")
        of_pool = pools.get(pool or "", {})
        whole = number(of_pool, "size", f"BUFFER_POOL|{pool}", self.problems)
        if shared == 0 or (whole is not None and shared >= whole):
            if default is not None:
                return default
            what = "sets no limit within the pool" if shared == 0 else "is the whole pool"  # 0: saibuffer.h
            self.problems.add(
                f"{at}.static_th",
                f"{what} {pool}, which the ports share; a port here has its own limit. "
                "--buffer 300KB sets one for all such ports",
                str(shared),
            )
            return None
        if pool is not None and whole is not None:
            limits = self.pools.setdefault(pool, (whole, {}))[1]
            limits[port] = size + shared
        return f"{size + shared}B"

    def shared_pools(self) -> None:
        """Adds notes on pools smaller than the sum of their ports' limits."""
        for pool, (whole, limits) in self.pools.items():
            if sum(limits.values()) > whole:
                self.notes.append(
                    f"BUFFER_POOL|{pool} has {whole} bytes, but its {len(limits)} ports may queue "
                    f"{sum(limits.values())} together: here each port has its own limit"
                )


def import_(
    database: Database,
    switch: Switch,
    *,
    queue: int | None = None,
    buffer: str | None = None,
    without: Collection[str] = (),
) -> tuple[dict[str, object], list[str]]:
    """Returns the values of a configuration file for one switch, and notes on ignored parts.

    `queue`: the SONiC queue to import. `buffer`: the limit of ports that have no buffer in bytes.
    `without`: tables to omit. Raises InputError with everything that cannot be mapped.
    """
    problems = Problems(database.source)
    work = _Import(database, problems, queue, without)
    work.tables()
    work.classes()
    ports = match_ports(database, switch, problems)
    profiles: dict[str, dict[str, object]] = {}
    attached: dict[str, object] = {}
    queues = work.queues(ports)
    named = dict.fromkeys(one.get("WRED_PROFILE") for one in queues.values())
    aqms = {name: work.aqm(name) for name in named if name}
    for name in ports:
        if name not in queues:
            continue
        wred, held_in = (queues[name].get(table) for table in ("WRED_PROFILE", "BUFFER_PROFILE"))
        aqm = aqms[wred] if wred else {"mode": "drop_tail"}
        limit = work.buffer(held_in, name, buffer)
        if aqm is None or limit is None:
            continue
        called = _called(profiles, wred or held_in or "drop_tail", limit, {"buffer": limit, "aqm": aqm})
        attached[ports[name].name] = {"queue": called}
    problems.check()
    work.shared_pools()
    if unset := [name for name in ports if name not in queues]:
        work.notes.append(
            f"ports without a row of QUEUE or BUFFER_QUEUE get no profile here: {some(unset)}; set one for "
            "these ports, or for the role host_facing, uplink or spine"
        )
    if unlinked := [name for name in database.ports() if name not in ports]:
        work.notes.append(f"ports without a link in the topology, left out: {some(unlinked)}")
    if said := another_order(database):
        work.notes.append(said)
    unchecked = [name for name in ports if not database.ports()[name]]
    if unchecked:
        work.notes.append(f"ports without a speed get the topology's: {some(unchecked)}")
    description = f"{switch.name}, from SONiC's CONFIG_DB"
    return {"description": description, "profiles": {"queue": profiles}, "ports": attached}, work.notes


def _called(
    profiles: dict[str, dict[str, object]], called: str, limit: str, profile: dict[str, object]
) -> str:
    """Returns the name under which the profile is now in `profiles`. A WRED profile may have several buffers,
    and a WRED profile and a buffer profile may have the same name."""
    names = chain((called, f"{called}-{limit}"), (f"{called}-{limit}-{n}" for n in count(2)))
    return next(name for name in names if profiles.setdefault(name, profile) == profile)
