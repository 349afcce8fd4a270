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
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import grpc
from finsy.proto import U128, p4i, p4r, p4r_grpc
from google.protobuf import text_format

COMPILED = Path(__file__).resolve().parents[3] / "p4src" / "compiled"
GROUP_MEMBERS = 16
"""A leaf of a large fabric has this many spines; the program's own limit is 64."""
PORTS = 510
"""All ports in the range of v1model's field, except the program's CPU port and the drop port."""
_BATCH = 512
_READY_SECS = 60.0
_SETTLE_SECS = 1.0
_SINGLE_WRITES = 1000
"""Number of timed batches with a single update."""


def resident(pid: int) -> tuple[int, int]:
    """Returns the current and the peak resident set in kB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = {name: words.split() for name, _, words in (line.partition(":") for line in lines)}
    return int(fields["VmRSS"][0]), int(fields["VmHWM"][0])


def number(value: int) -> bytes:
    """Returns the canonical bytestring of a number."""
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


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
            made = p4r.TableEntry(table_id=table.preamble.id)
            for one in same:
                made.match.add(field_id=one.id).exact.value = number(1)
            match = made.match.add(field_id=field.id)
            if field.match_type == p4i.MatchField.LPM:
                match.lpm.value, match.lpm.prefix_len = number(entry + 1), field.bitwidth
            else:
                match.exact.value = number(entry)
            if table.implementation_id:
                groups = self._groups(profiles[table.implementation_id])
                made.action.action_profile_group_id = 1 + entry % groups
            else:
                made.action.action.CopyFrom(self._largest(table))
            yield made


def entity(of: Any) -> Any:
    """Returns an entity that contains this message."""
    kinds = {
        p4r.ActionProfileMember: "action_profile_member",
        p4r.ActionProfileGroup: "action_profile_group",
        p4r.TableEntry: "table_entry",
    }
    made = p4r.Entity()
    getattr(made, kinds[type(of)]).CopyFrom(of)
    return made


def chunks(updates: list[Any]) -> Iterator[list[Any]]:
    """Yields the list in parts."""
    return (updates[at : at + _BATCH] for at in range(0, len(updates), _BATCH))


def free_port() -> int:
    """Returns a free TCP port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def measure(name: str, command: list[str]) -> None:
    """Starts a switch, fills it, and prints a row for each step."""
    info = text_format.Parse((COMPILED / "eeon.p4info.txtpb").read_text(), p4i.P4Info())
    address, thrift = f"127.0.0.1:{free_port()}", free_port()
    with tempfile.TemporaryDirectory() as scratch:
        arguments = [*command, "--no-p4", "--device-id", "1", "--thrift-port", str(thrift)]
        arguments += ["--packet-in", f"ipc://{scratch}/p", "--", "--grpc-server-addr", address]
        process = subprocess.Popen([*arguments, "--cpu-port", "510"], cwd=scratch, stdout=subprocess.DEVNULL)
        try:
            with grpc.insecure_channel(address) as channel:
                grpc.channel_ready_future(channel).result(timeout=_READY_SECS)

                def row(step: str, writes_per_second: float | None = None) -> None:
                    time.sleep(_SETTLE_SECS)
                    now, highest = resident(process.pid)
                    rate = "" if writes_per_second is None else f"{writes_per_second:10,.0f}"
                    print(f"{name:20} {step:36} {now / 1000:8.1f} {highest / 1000:8.1f} {rate}", flush=True)

                row("started")
                fill(p4r_grpc.P4RuntimeStub(channel), info, row)
        finally:
            process.terminate()
            process.wait()


def fill(stub: Any, info: Any, row: Any) -> None:
    """Loads the program and writes as many objects as it has room for."""
    election = U128.encode(1)
    request = p4r.StreamMessageRequest()
    request.arbitration.device_id = 1
    request.arbitration.election_id.CopyFrom(election)
    hold = iter([request])

    def requests() -> Iterator[Any]:
        yield next(hold)
        while True:
            time.sleep(_READY_SECS)
            yield request

    stream = stub.StreamChannel(requests())
    next(stream)
    config = p4r.ForwardingPipelineConfig(p4info=info, p4_device_config=(COMPILED / "eeon.json").read_bytes())
    push = p4r.SetForwardingPipelineConfigRequest(
        device_id=1,
        election_id=election,
        action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
        config=config,
    )
    stub.SetForwardingPipelineConfig(push)
    row("with the program")

    def write(made: Iterable[list[Any]]) -> tuple[int, float]:
        requests = [p4r.WriteRequest(device_id=1, election_id=election, updates=batch) for batch in made]
        start = time.monotonic()
        for request in requests:
            stub.Write(request)
        count = sum(len(request.updates) for request in requests)
        return count, count / (time.monotonic() - start)

    entities = [entity(of) for of in Filler(info).updates()]
    inserts = [p4r.Update(type=p4r.Update.INSERT, entity=one) for one in entities]
    count, rate = write(chunks(inserts))
    row(f"with {count:,} members, groups, entries", rate)
    entries = [one for one in entities if one.WhichOneof("entity") == "table_entry"]
    again = [p4r.Update(type=p4r.Update.MODIFY, entity=one) for one in entries]
    row("entries modified, 512 in a batch", write(chunks(again))[1])
    row("entries modified one by one", write([update] for update in again[:_SINGLE_WRITES])[1])
    read = p4r.ReadRequest(device_id=1)
    for kind in (p4r.TableEntry(), p4r.ActionProfileMember(), p4r.ActionProfileGroup()):
        read.entities.append(entity(kind))
    found = sum(len(response.entities) for response in stub.Read(read))
    row(f"after reading {found:,} of them at once")
    stream.cancel()


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
