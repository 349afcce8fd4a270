"""finsy, unmodified, with features that `everything` lacks: digests and their acknowledgements, meters, idle
timeouts."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import finsy as fy
import pytest
from eeon_engine import Switch
from eeon_engine.p4runtime import serve
from made_frames import frame
from p4rt_client import PROGRAMS, ports

pytestmark = pytest.mark.system

MS_PS = 1_000_000_000


def run(switch: Switch, work: Callable[[fy.Switch], Awaitable[None]]) -> None:
    """Runs `work` as a finsy client of `switch`, with the program `resources`."""
    options = fy.SwitchOptions(
        p4info=Path(PROGRAMS, "resources.p4info.txtpb"), p4blob=Path(PROGRAMS, "resources.json")
    )

    async def main(address: str) -> None:
        async with asyncio.timeout(30), fy.Switch("sw1", address, options) as client:
            await work(client)

    with serve(switch) as server:
        asyncio.run(main(server.address))


def test_finsy_reads_digests_and_acknowledges_them() -> None:
    switch = Switch()

    async def work(client: fy.Switch) -> None:
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

    run(switch, work)


def test_finsy_sets_meters_and_reads_them_back() -> None:
    switch = Switch()

    async def work(client: fy.Switch) -> None:
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

    run(switch, work)


def test_finsy_hears_of_idle_entries() -> None:
    switch = Switch()

    async def work(client: fy.Switch) -> None:
        entry = fy.P4TableEntry(
            "ageing_table",
            match=fy.Match(value=9),
            action=fy.Action("forward", port=4),
            idle_timeout_ns=10**6,
        )
        notices = client.read_idle_timeouts()
        reader = asyncio.ensure_future(anext(notices))
        await client.write([+entry])
        switch.advance_to(MS_PS)
        notice = await reader
        assert [idle.match for idle in notice.table_entry] == [fy.Match(value=9)]

    run(switch, work)
