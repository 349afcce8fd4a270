"""The same calls to this server and to simple_switch_grpc: the same status codes, or a difference that is
named.

Both run `everything`. A case is what one client writes, in its order; its codes are compared. Where they
differ the case says what BMv2's server (PI) answers, and why ours does not.
"""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from finsy.proto import p4r, rpc_code
from p4rt_client import (
    DELETE,
    INSERT,
    MODIFY,
    Client,
    Failed,
    Names,
    between,
    bits,
    codes,
    exact,
    lpm,
    one_shot,
    optional,
    p4info,
    program_json,
    ternary,
)

SWITCH = shutil.which("simple_switch_grpc")
CPU_PORT = 510

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(SWITCH is None, reason="simple_switch_grpc is not on PATH"),
]

Updates = list[tuple[int, object]]

OK, UNKNOWN, EXHAUSTED, UNIMPLEMENTED = (
    rpc_code.OK,
    rpc_code.UNKNOWN,
    rpc_code.RESOURCE_EXHAUSTED,
    rpc_code.UNIMPLEMENTED,
)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def bmv2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a simple_switch_grpc without a program."""
    address = f"127.0.0.1:{free_port()}"
    assert SWITCH is not None
    log = tmp_path_factory.mktemp("bmv2") / "log"
    arguments = [SWITCH, "--no-p4", "--device-id", "1", "--log-file", str(log), "--"]
    arguments += ["--grpc-server-addr", address, "--cpu-port", str(CPU_PORT)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.create_connection(address.split(":"), timeout=1):  # type: ignore[arg-type]
                break
            assert process.poll() is None and time.monotonic() < deadline, "simple_switch_grpc did not start"
            time.sleep(0.05)
        yield address
        process.terminate()


@pytest.fixture
def both(bmv2: str) -> Iterator[tuple[Client, Client]]:
    """A primary of this server and one of BMv2's, each with the program and nothing else."""
    with serve(Switch()) as server:
        clients = (Client(server.address), Client(bmv2))
        config = p4r.ForwardingPipelineConfig(p4info=p4info(), p4_device_config=program_json())
        for client in clients:
            client.arbitrate()
            client.push(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT, config)
        yield clients
        for client in clients:
            client.close()


def written(client: Client, updates: Updates) -> list[int]:
    """The code of each update, each in a batch of its own."""
    found = []
    for update in updates:
        try:
            client.write(update)
        except Failed as failed:
            found += codes(failed) or [failed.code]
        else:
            found.append(OK)
    return found


def entry(names: Names, key: int = 1, port: int = 1, **fields: object) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, key), action=names.action("forward", port), **fields)  # type: ignore[arg-type]


def exact_entries(names: Names) -> Updates:
    return [
        (INSERT, entry(names)),
        (INSERT, entry(names)),
        (MODIFY, entry(names, port=2)),
        (MODIFY, entry(names, 2)),
        (DELETE, entry(names)),
        (DELETE, entry(names)),
        (0, entry(names)),
    ]


def keys(names: Names) -> Updates:
    drop = names.action("drop")
    tables = ("exact_table", "ternary_table", "range_table")
    exact_table, ternary_table, range_table = (
        lambda *match, table=table, **fields: (INSERT, names.entry(table, *match, action=drop, **fields))
        for table in tables
    )
    return [
        exact_table(),
        exact_table(lpm(1, 1, 32)),
        exact_table(exact(1, 1 << 32)),
        exact_table(exact(9, 1)),
        exact_table(exact(1, 1), priority=1),
        ternary_table(ternary(1, 1, 1), exact(2, 1)),
        ternary_table(ternary(1, 1, 1), exact(2, 1), priority=1),
        ternary_table(exact(2, 2), priority=1),
        ternary_table(ternary(1, 3, 1), exact(2, 1), priority=1),
        range_table(between(1, 1, 2), optional(2, 1), priority=1),
        range_table(between(1, 2, 1), priority=1),
        range_table(priority=2),
    ]


def actions(names: Names) -> Updates:
    action = names.action("forward", 1)
    return [
        (INSERT, names.entry("exact_table", exact(1, 1))),
        (INSERT, names.entry("exact_table", exact(1, 1), action=p4r.Action(action_id=action.action_id))),
        (INSERT, names.entry("exact_table", exact(1, 1), action=names.action("forward", 512))),
        (INSERT, names.entry("exact_table", exact(1, 1), action=names.action("forward_as", 1, 1))),
        (INSERT, names.entry("exact_table", exact(1, 1), action=one_shot((action, 1)))),
        (INSERT, names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=action)),
    ]


def defaults(names: Names) -> Updates:
    default = names.entry("settings", action=names.action("forward", 1), is_default_action=True)
    const = names.entry("range_table", action=names.action("drop"), is_default_action=True)
    return [
        (MODIFY, default),
        (INSERT, default),
        (DELETE, default),
        (MODIFY, names.entry("settings", is_default_action=True)),
        (MODIFY, const),
    ]


def profiles(names: Names) -> Updates:
    def member(number: int) -> p4r.ActionProfileMember:
        action = names.action("forward", number)
        return p4r.ActionProfileMember(action_profile_id=names["selector"], member_id=number, action=action)

    def group(*members: int, number: int = 1) -> p4r.ActionProfileGroup:
        made = p4r.ActionProfileGroup(action_profile_id=names["selector"], group_id=number, max_size=16)
        for member_id in members:
            made.members.add(member_id=member_id, weight=1)
        return made

    points = names.entry(
        "lpm_table", lpm(1, 0x0A000000, 8), action=p4r.TableAction(action_profile_group_id=1)
    )
    return [
        (INSERT, member(1)),
        (INSERT, member(1)),
        (MODIFY, member(2)),
        (INSERT, member(2)),
        (INSERT, group(1, 3, number=2)),
        (INSERT, group(1, 2)),
        (INSERT, group(1)),
        (INSERT, points),
        (DELETE, member(1)),
        (DELETE, group()),
        (DELETE, points),
        (DELETE, group()),
        (DELETE, member(1)),
        (DELETE, member(1)),
    ]


def one_shots(names: Names) -> Updates:
    forward = [names.action("forward", port) for port in range(3)]

    def made(*actions: tuple[object, int]) -> p4r.TableEntry:
        return names.entry("lpm_table", lpm(1, 0x0A000000, 8), action=one_shot(*actions))  # type: ignore[arg-type]

    return [
        (INSERT, made((forward[1], 0))),
        (INSERT, made((forward[1], 17))),
        (INSERT, made((forward[1], 1), (forward[2], 2))),
        (INSERT, made((forward[1], 1))),
        (MODIFY, made((forward[2], 1))),
        (DELETE, made()),
    ]


def cells(names: Names) -> Updates:
    def counter(index: int) -> p4r.CounterEntry:
        data = p4r.CounterData(packet_count=1)
        return p4r.CounterEntry(counter_id=names["both"], index=p4r.Index(index=index), data=data)

    return [(MODIFY, counter(1)), (INSERT, counter(1)), (DELETE, counter(1)), (MODIFY, counter(-1))]


def replication(names: Names) -> Updates:
    def group(number: int, *ports: int) -> p4r.MulticastGroupEntry:
        replicas = [p4r.Replica(egress_port=port, instance=1) for port in ports]
        return p4r.MulticastGroupEntry(multicast_group_id=number, replicas=replicas)

    session = p4r.CloneSessionEntry(session_id=1, replicas=[p4r.Replica(egress_port=1, instance=1)])
    return [
        (INSERT, group(1, 1, 2)),
        (INSERT, group(1, 1)),
        (MODIFY, group(1, 3)),
        (MODIFY, group(2, 3)),
        (INSERT, group(0, 1)),
        (DELETE, group(1)),
        (DELETE, group(1)),
        (INSERT, session),
        (INSERT, session),
        (DELETE, session),
        (DELETE, session),
    ]


def unsupported(names: Names) -> Updates:
    register = p4r.RegisterEntry(register_id=names["wide_cells"], index=p4r.Index(index=1), data=bits(1))
    whole = p4r.CounterEntry(counter_id=names["both"], data=p4r.CounterData(packet_count=1))
    return [(MODIFY, register), (MODIFY, whole), (INSERT, p4r.Entity(extern_entry=p4r.ExternEntry()))]


@pytest.mark.parametrize(
    ("case", "differences"),
    [
        (exact_entries, {}),
        (keys, {}),
        (actions, {}),
        (defaults, {}),
        # What is in use is FAILED_PRECONDITION (§9.2.1, §9.2.2); PI passes BMv2's own error on.
        (profiles, {8: UNKNOWN, 9: UNKNOWN}),
        # A group beyond max_group_size is INVALID_ARGUMENT (§9.2.3).
        (one_shots, {1: EXHAUSTED}),
        # PI does nothing on a DELETE of a counter cell; it is INVALID_ARGUMENT (§9.3.2).
        (cells, {2: OK}),
        (replication, {}),
        # Registers and whole arrays, which PI does not write.
        (unsupported, {0: UNIMPLEMENTED, 1: UNIMPLEMENTED}),
    ],
)
def test_the_same_writes_get_the_same_codes(
    both: tuple[Client, Client], names: Names, case: Callable[[Names], Updates], differences: dict[int, int]
) -> None:
    """`differences` maps the position of an update to what BMv2 answers instead."""
    ours, theirs = (written(client, case(names)) for client in both)
    expected = [differences.get(at, code) for at, code in enumerate(ours)]
    assert theirs == expected
    assert all(ours[at] != code for at, code in differences.items())


@pytest.mark.parametrize("atomicity", [p4r.WriteRequest.ROLLBACK_ON_ERROR, p4r.WriteRequest.DATAPLANE_ATOMIC])
def test_bmv2_has_no_atomic_batches(both: tuple[Client, Client], names: Names, atomicity: int) -> None:
    ours, theirs = both
    ours.write((INSERT, entry(names)), atomicity=atomicity)
    assert theirs.refused((INSERT, entry(names)), atomicity=atomicity).code == UNIMPLEMENTED


def test_both_read_back_the_same_entries(both: tuple[Client, Client], names: Names) -> None:
    # BMv2 does not say is_const, and its const entries have other priorities than §9.1.4 wants.
    const = names["const_table"]
    updates = [update for case in (exact_entries, keys, defaults) for update in case(names)]
    for client in both:
        written(client, updates)
        written(client, [(INSERT, entry(names, key)) for key in (3, 300, 70_000)])
    ours, theirs = (
        sorted(
            e.SerializeToString(deterministic=True)
            for e in client.read(p4r.TableEntry())
            if e.table_id != const
        )
        for client in both
    )
    assert ours == theirs
