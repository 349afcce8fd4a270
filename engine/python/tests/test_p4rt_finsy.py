"""The server with finsy, the client on which the controller is built: connect, push, write, read, receive
errors.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Network
from pathlib import Path

import finsy as fy
import pytest
from eeon_engine import Program, Switch, Twin
from eeon_engine.p4runtime import serve
from made_frames import frame
from p4rt_client import PROGRAMS, ports, program_json

pytestmark = pytest.mark.system

DEADLINE_S = 120  # Only a busy machine comes near it: each of these tests takes a second.


def options(program: str = "everything", **settings: object) -> fy.SwitchOptions:
    info, blob = Path(PROGRAMS, f"{program}.p4info.txtpb"), Path(PROGRAMS, f"{program}.json")
    return fy.SwitchOptions(p4info=info, p4blob=blob, **settings)  # type: ignore[arg-type]


Work = Callable[[fy.Switch, Switch], Awaitable[None]]


def on_a_switch(program: str = "everything") -> Callable[[Work], Callable[[], None]]:
    """Makes a test of what a finsy client does, which begins with a switch without a program."""

    def made(work: Work) -> Callable[[], None]:
        def test() -> None:
            switch = Switch()

            async def main(address: str) -> None:
                async with asyncio.timeout(DEADLINE_S), fy.Switch("sw1", address, options(program)) as client:
                    await work(client, switch)

            with serve(switch) as server:
                asyncio.run(main(server.address))

        return test

    return made


@on_a_switch()
async def test_finsy_pushes_its_pipeline_to_a_switch_without_a_program(
    client: fy.Switch, switch: Switch
) -> None:
    assert client.is_primary
    assert str(client.p4runtime_version) == "1.5.0"
    assert switch.program is not None
    assert switch.program.digest == Program(program_json()).digest


def test_finsy_keeps_a_pipeline_that_is_there() -> None:
    switch = Switch()

    async def insert(client: fy.Switch) -> None:
        match, action = fy.Match(value=9), fy.Action("forward", port=4)
        await client.write([+fy.P4TableEntry("exact_table", match=match, action=action)])

    async def look(client: fy.Switch) -> None:
        found = [entry async for entry in client.read(fy.P4TableEntry("exact_table"))]
        assert [entry["value"] for entry in found] == [9]

    async def main(address: str) -> None:
        for work in (insert, look):
            async with asyncio.timeout(DEADLINE_S), fy.Switch("sw1", address, options()) as client:
                await work(client)

    with serve(switch) as server:
        asyncio.run(main(server.address))


@on_a_switch()
async def test_finsy_routes_with_one_shots_and_reads_what_it_wrote(client: fy.Switch, switch: Switch) -> None:
    entry = fy.P4TableEntry(
        "lpm_table",
        match=fy.Match(value=(0x0A000000, 8)),
        action=fy.P4IndirectAction([(3, fy.Action("forward", port=1)), (1, fy.Action("forward", port=2))]),
    )
    await client.insert([entry])
    assert [found async for found in client.read(fy.P4TableEntry("lpm_table"))] == [entry]
    for key in range(100):
        switch.inject(1, frame(0x0A000000 + key * 7919))
    assert set(ports(switch.advance_to(1_000))) == {1, 2}


@on_a_switch()
async def test_finsy_reads_counters_and_registers(client: fy.Switch, switch: Switch) -> None:
    switch.inject(1, frame(3), at_ps=5_000)
    switch.advance_to(5_000)
    counters = [entry async for entry in client.read(fy.P4CounterEntry("both"))]
    assert [entry.packet_count for entry in counters] == [0, 0, 0, 1, 0, 0, 0, 0]
    register = [entry async for entry in client.read(fy.P4RegisterEntry("wide_cells", index=0))]
    assert [entry.data for entry in register] == [5]
    await client.modify([fy.P4RegisterEntry("signed_cells", index=1, data=-5)])
    register = [entry async for entry in client.read(fy.P4RegisterEntry("signed_cells", index=1))]
    assert [entry.data for entry in register] == [-5]


@on_a_switch()
async def test_finsy_decodes_the_error_of_each_update(client: fy.Switch, _: Switch) -> None:
    entry = fy.P4TableEntry("exact_table", match=fy.Match(value=9), action=fy.Action("drop"))
    await client.insert([entry])
    other = fy.P4TableEntry("exact_table", match=fy.Match(value=8), action=fy.Action("drop"))
    with pytest.raises(fy.P4ClientError) as caught:
        await client.write([+other, +entry, -fy.P4TableEntry("exact_table", match=fy.Match(value=7))])
    details = caught.value.details
    assert {index: error.canonical_code.name for index, error in details.items()} == {
        1: "ALREADY_EXISTS",
        2: "NOT_FOUND",
    }
    assert "an entry with this key already exists" in details[1].message


@on_a_switch()
async def test_finsy_deletes_everything(client: fy.Switch, _: Switch) -> None:
    await client.write(
        [
            +fy.P4TableEntry("exact_table", match=fy.Match(value=9), action=fy.Action("drop")),
            +fy.P4MulticastGroupEntry(1, replicas=[1, 2]),
            +fy.P4CloneSessionEntry(1, replicas=[1]),
            +fy.P4ActionProfileMember("plain_profile", member_id=1, action=fy.Action("drop")),
        ]
    )
    await client.delete_all()
    # The const entries stay; so do other kinds, which finsy 0.30 does not delete beside a const table.
    assert [entry.is_const async for entry in client.read(fy.P4TableEntry())] == [True, True]


@on_a_switch()
async def test_finsy_sends_and_receives_packets(client: fy.Switch, switch: Switch) -> None:
    entry = fy.P4TableEntry("exact_table", match=fy.Match(value=9), action=fy.Action("to_cpu"))
    await client.write([+entry, fy.P4PacketOut(frame(1), egress_port=7, _pad=0)])
    while switch.next_event_ps is None:
        await asyncio.sleep(0.01)
    assert ports(switch.advance_to(1_000)) == [7]
    async with asyncio.timeout(DEADLINE_S):
        packets = client.read_packets()
        reader = asyncio.ensure_future(anext(packets))
        await asyncio.sleep(0)
        switch.inject(3, frame(9))
        switch.advance_to(2_000)
        packet = await reader
    assert packet.payload == frame(9)
    assert packet["ingress_port"] == 3


def test_two_finsy_controllers_agree_who_is_primary() -> None:
    async def main(address: str) -> None:
        async with asyncio.timeout(DEADLINE_S):
            async with fy.Switch("one", address, options()) as one:
                assert one.is_primary
                async with fy.Switch("two", address, options(initial_election_id=5)) as two:
                    assert not two.is_primary

    with serve(Switch()) as server:
        asyncio.run(main(server.address))


def test_a_finsy_controller_configures_a_fabric_and_reads_it_back() -> None:
    """Works like the controller: every switch of a twin, routes with ECMP, counters, registers."""
    compiled = Path(__file__).parents[3] / "p4src" / "compiled"
    p4info, p4blob = compiled / "eeon.p4info.txtpb", compiled / "eeon.json"
    spec = {
        "seed": 1,
        "switches": [{"name": "leaf1", "device_id": 1}, {"name": "leaf2", "device_id": 2}],
        "hosts": [],
        "links": [
            {
                "a": {"node": "leaf1", "port": port},
                "b": {"node": "leaf2", "port": port},
                "rate_bps": 10_000_000_000,
                "delay_ps": 0,
            }
            for port in (1, 2)
        ],
    }
    twin = Twin(Program(p4blob.read_bytes()), json.dumps(spec))
    seen: dict[str, object] = {}
    hops = [
        (1, fy.Action("forward", port=n, src_mac=fy.MACAddress(n), dst_mac=fy.MACAddress(n))) for n in (1, 2)
    ]
    route = fy.P4TableEntry(
        "ipv4_route",
        match=fy.Match(dst=IPv4Network("10.0.2.0/24")),
        action=fy.P4IndirectAction(action_set=hops),
    )
    limit = fy.P4TableEntry(
        "port_buffer", match=fy.Match(port=1), action=fy.Action("set_buffer_limit", buffer_bytes=300_000)
    )

    async def ready(switch: fy.Switch) -> None:
        await switch.delete_all()
        await switch.insert([route, limit])
        entries = [
            entry
            async for entry in switch.read([fy.P4TableEntry("ipv4_route"), fy.P4TableEntry("port_buffer")])
        ]
        counters = [entry async for entry in switch.read(fy.P4CounterEntry("verdicts"))]
        registers = [entry async for entry in switch.read(fy.P4RegisterEntry("occupancy_bytes"))]
        seen[switch.name] = (entries, len(counters), {entry.data for entry in registers})

    async def main(addresses: dict[str, str]) -> None:
        switches = [
            fy.Switch(
                name,
                address,
                fy.SwitchOptions(p4info=p4info, p4blob=p4blob, device_id=number, ready_handler=ready),
            )
            for number, (name, address) in enumerate(addresses.items(), 1)
        ]
        async with asyncio.timeout(DEADLINE_S), fy.Controller(switches):
            while len(seen) < len(switches):
                await asyncio.sleep(0.02)

    with serve(twin.switch("leaf1")) as one, serve(twin.switch("leaf2")) as two:
        asyncio.run(main({"leaf1": one.address, "leaf2": two.address}))
    for name in ("leaf1", "leaf2"):
        assert seen[name] == ([route, limit], 512 * 128, {0}), name


# ---- the program `resources`: digests and their acknowledgements, meters, idle timeouts


@on_a_switch("resources")
async def test_finsy_reads_digests_and_acknowledges_them(client: fy.Switch, switch: Switch) -> None:
    route = fy.P4TableEntry("routes", match=fy.Match(), action=fy.Action("learn"))
    digest = fy.P4DigestEntry("learned_t", max_list_size=1, ack_timeout_ns=10**15)
    lists = client.read_digests("learned_t")
    reader = asyncio.ensure_future(anext(lists))
    await client.write([+route, +digest])
    switch.inject(5, frame(7))
    switch.advance_to(1_000)
    first = await reader
    assert first.data == [{"src": 0x020000000002, "port": 5, "offset": 7}]
    await client.write([first.ack()])
    # An acknowledged message may be sent again.
    reader = asyncio.ensure_future(anext(lists))
    while not reader.done():
        switch.inject(5, frame(7))
        switch.advance_to(switch.now_ps + 1_000)
        await asyncio.sleep(0.02)
    assert (await reader).data == first.data


@on_a_switch("resources")
async def test_finsy_sets_meters_and_reads_them_back(client: fy.Switch, switch: Switch) -> None:
    entry = fy.P4TableEntry(
        "metered_table",
        match=fy.Match(value=9),
        action=fy.Action("metered", port=4),
        meter_config=fy.P4MeterConfig(cir=1, cburst=1, pir=1, pburst=2),
    )
    await client.write([+entry])
    for _ in range(3):
        switch.inject(1, frame(9))
    assert ports(switch.advance_to(1_000)) == [4, 4]
    config = fy.P4MeterConfig(cir=5, cburst=6, pir=7, pburst=8)
    await client.modify([fy.P4MeterEntry("cells", index=2, config=config)])
    found = [meter async for meter in client.read(fy.P4MeterEntry("cells", index=2))]
    assert [meter.config for meter in found] == [config]


@on_a_switch("resources")
async def test_finsy_hears_of_idle_entries(client: fy.Switch, switch: Switch) -> None:
    entry = fy.P4TableEntry(
        "ageing_table",
        match=fy.Match(value=9),
        action=fy.Action("forward", port=4),
        idle_timeout_ns=10**6,
    )
    notices = client.read_idle_timeouts()
    reader = asyncio.ensure_future(anext(notices))
    await client.write([+entry])
    switch.advance_to(1_000_000_000)
    notice = await reader
    assert [idle.match for idle in notice.table_entry] == [fy.Match(value=9)]
