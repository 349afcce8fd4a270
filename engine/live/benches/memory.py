#!/usr/bin/env python3
"""Memory of a live `eeon-switch` whose tables and action profiles are full, as Linux counts it (proc(5)), and
how many updates a second it takes over P4Runtime.

The switch is started as by a user, with a P4Runtime and a Thrift server, and gets the E-EON program and its
entries over P4Runtime, so that the memory of the servers is included. If BMv2's simple_switch_grpc is on
PATH, it is measured in the same way. Each row has the resident set after the step, the peak so far, and, if
the step writes, updates per second: those of one client that waits for each answer.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))

from finsy.proto import U128, p4i, p4r
from google.protobuf import text_format
from p4rt_client import INSERT, MODIFY, entity_of, exact, lpm, primary

from ptf_tests.run import switch_process

COMPILED = Path(__file__).resolve().parents[3] / "p4src" / "compiled"
GROUP_MEMBERS = 16
"""A leaf of a large fabric has this many spines; the program's own limit is 64."""
PORTS = 510
"""All ports in the range of v1model's field, except the program's CPU port and the drop port."""
_BATCH = 512
_SETTLE_SECS = 1.0
_STREAM_SECS = 3600.0
_SINGLE_WRITES = 1000
"""Number of timed batches with a single update."""


def resident(pid: int) -> tuple[int, int]:
    """Returns the current and the peak resident set in kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    return int(fields["VmRSS"][0]), int(fields["VmHWM"][0])


class Filler:
    """The updates that fill the program's tables and action profiles."""

    def __init__(self, info: Any) -> None:
        self._info = info
        self._actions = {action.preamble.id: action for action in info.actions}

    def updates(self) -> Iterator[Any]:
        """Yields members, groups, and entries of every table with a key."""
        for profile in self._info.action_profiles:
            yield from self._profile(profile)
        for table in self._info.tables:
            if table.match_fields:
                yield from self._table(table)

    def _largest(self, table: Any) -> Any:
        found = max(
            (self._actions[ref.id] for ref in table.action_refs), key=lambda action: len(action.params)
        )
        action = p4r.Action(action_id=found.preamble.id)
        for param in found.params:
            action.params.add(param_id=param.id, value=b"\x01")
        return action

    def _profile(self, profile: Any) -> Iterator[Any]:
        table = next(table for table in self._info.tables if table.preamble.id == profile.table_ids[0])
        kind, action = profile.preamble.id, self._largest(table)
        for member in range(1, profile.size + 1):
            yield p4r.ActionProfileMember(action_profile_id=kind, member_id=member, action=action)
        for group in range(self._groups(profile)):
            made = p4r.ActionProfileGroup(action_profile_id=kind, group_id=group + 1, max_size=GROUP_MEMBERS)
            for place in range(GROUP_MEMBERS):
                made.members.add(member_id=1 + group * GROUP_MEMBERS + place, weight=1)
            yield made

    def _groups(self, profile: Any) -> int:
        return int(profile.size) // GROUP_MEMBERS

    def _table(self, table: Any) -> Iterator[Any]:
        profiles = {profile.preamble.id: profile for profile in self._info.action_profiles}
        # Entries differ only in the last field.
        *same, field = table.match_fields
        room = min(table.size, 1 << field.bitwidth)
        for entry in range(min(room, PORTS) if field.bitwidth == 9 else room):
            if field.match_type == p4i.MatchField.LPM:
                last = lpm(field.id, entry + 1, field.bitwidth)
            else:
                last = exact(field.id, entry)
            match = [*(exact(one.id, 1) for one in same), last]
            made = p4r.TableEntry(table_id=table.preamble.id, match=match)
            if table.implementation_id:
                groups = self._groups(profiles[table.implementation_id])
                made.action.action_profile_group_id = 1 + entry % groups
            else:
                made.action.action.CopyFrom(self._largest(table))
            yield made


def measure(name: str, command: list[str]) -> None:
    """Starts a switch, fills it, and prints a row for each step."""
    info = text_format.Parse((COMPILED / "eeon.p4info.txtpb").read_text(), p4i.P4Info())
    port, thrift = switch_process.free_ports(2)
    address = f"127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as scratch:
        arguments = [*command, "--no-p4", "--device-id", "1", "--thrift-port", str(thrift)]
        arguments += ["--packet-in", f"ipc://{scratch}/p", "--", "--grpc-server-addr", address]
        arguments += ["--cpu-port", "510"]
        with switch_process.running(arguments, port, Path(scratch, "output.txt"), Path(scratch)) as process:

            def row(step: str, writes_per_second: float | None = None) -> None:
                time.sleep(_SETTLE_SECS)
                now, highest = resident(process.pid)
                rate = "" if writes_per_second is None else f"{writes_per_second:10,.0f}"
                print(f"{name:20} {step:36} {now / 1000:8.1f} {highest / 1000:8.1f} {rate}", flush=True)

            row("started")
            fill(address, info, row)


def fill(address: str, info: Any, row: Callable[..., None]) -> None:
    """Loads the program and writes as many objects as it has room for."""
    config = p4r.ForwardingPipelineConfig(p4info=info, p4_device_config=(COMPILED / "eeon.json").read_bytes())
    with primary(address, config, stream_timeout_s=_STREAM_SECS) as client:
        row("with the program")

        def write(updates: list[Any], size: int = _BATCH) -> float:
            """Writes the updates in batches of this size. Returns the updates per second."""
            election = U128.encode(client.election_id)
            batches = (updates[at : at + size] for at in range(0, len(updates), size))
            requests = [p4r.WriteRequest(device_id=1, election_id=election, updates=one) for one in batches]
            start = time.monotonic()
            for request in requests:
                client.stub.Write(request)
            return len(updates) / (time.monotonic() - start)

        entities = [entity_of(of) for of in Filler(info).updates()]
        rate = write([p4r.Update(type=INSERT, entity=one) for one in entities])
        row(f"with {len(entities):,} members, groups, entries", rate)
        entries = [one for one in entities if one.HasField("table_entry")]
        again = [p4r.Update(type=MODIFY, entity=one) for one in entries]
        row("entries modified, 512 in a batch", write(again))
        row("entries modified one by one", write(again[:_SINGLE_WRITES], 1))
        found = client.read(p4r.TableEntry(), p4r.ActionProfileMember(), p4r.ActionProfileGroup())
        row(f"after reading {len(found):,} of them at once")


def main() -> int:
    """Prints the table."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    print(f"{'switch':20} {'step':36} {'MB now':>8} {'highest':>8} {'writes/s':>10}")
    measure("eeon-switch", [sys.executable, "-m", "eeon_engine.switch_command"])
    if shutil.which("simple_switch_grpc"):
        measure("simple_switch_grpc", ["simple_switch_grpc", "--log-level", "off"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
