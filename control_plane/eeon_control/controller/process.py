"""The process of `eeon controller run`: signals, the service manager, the end."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from eeon_control.controller.supervisor import Supervisor


async def run(
    supervisor: Supervisor, service: Callable[[Supervisor], AbstractAsyncContextManager[None]] | None = None
) -> None:
    """Runs until SIGTERM or SIGINT. SIGHUP causes an immediate check of the state folder and all switches.

    `service`: open while it runs, for the metrics. Raises EeonError if it cannot start.
    """
    loop = asyncio.get_running_loop()
    async with contextlib.nullcontext() if service is None else service(supervisor):
        work = asyncio.create_task(supervisor.run())
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, work.cancel)
        loop.add_signal_handler(signal.SIGHUP, supervisor.look_now)
        started = asyncio.create_task(supervisor.started.wait())
        await asyncio.wait({work, started}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if not work.done():
            _notify("READY=1")
        with contextlib.suppress(asyncio.CancelledError):
            await work
        _notify("STOPPING=1")


def _notify(message: str) -> None:
    """Notifies systemd, if it has started this process with Type=notify (sd_notify(3))."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as to_systemd:
        to_systemd.sendto(message.encode(), address)
