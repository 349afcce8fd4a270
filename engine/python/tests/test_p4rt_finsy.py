"""The server with finsy, where the controller's tests do not use it: packets, digests, meters, timeouts."""

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

DEADLINE_S = 120  # Only a busy machine comes near it: each of these tests takes a second.

Work = Callable[[fy.Switch, Switch], Awaitable[None]]


def on_a_switch(program: str = "everything") -> Callable[[Work], Callable[[], None]]:
    """Makes a test of what a finsy client does, which begins with a switch without a program."""

    def made(work: Work) -> Callable[[], None]:
        def test() -> None:
            switch = Switch()
            info, blob = Path(PROGRAMS, f"{program}.p4info.txtpb"), Path(PROGRAMS, f"{program}.json")
            options = fy.SwitchOptions(p4info=info, p4blob=blob)

            async def main(address: str) -> None:
                async with asyncio.timeout(DEADLINE_S), fy.Switch("sw1", address, options) as client:
                    await work(client, switch)

            with serve(switch) as server:
                asyncio.run(main(server.address))

        return test

    return made


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
