"""/healthz and /readyz: whether the controller's event loop answers, and whether the fabric is as intended."""

import asyncio
import contextlib
import logging
import time
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from eeon_control.controller.metrics import MetricsServer
from eeon_control.errors import EeonError
from supervised import supervised, until

pytestmark = pytest.mark.system

_BUSY_SECONDS = 8.0  # far more than the probe waits, even if its thread starts late


def asked(address: str, path: str, seconds: float) -> tuple[int, str]:
    try:
        with urlopen(f"http://{address}{path}", timeout=seconds) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


@contextlib.asynccontextmanager
async def answering(folder, caplog):
    """Yields a function that asks the controller, four switches, and their supervisor, which serves metrics."""
    caplog.set_level(logging.INFO)
    async with supervised(folder) as (fabric, supervisor), MetricsServer("127.0.0.1", 0).open(supervisor):
        (told,) = [one for one in caplog.records if one.getMessage() == "metrics"]

        async def ask(path: str, seconds: float = 60) -> tuple[int, str]:
            return await asyncio.to_thread(asked, told.eeon_fields["address"], path, seconds)

        yield ask, fabric, supervisor


async def test_a_fabric_in_sync_is_ready_and_one_with_a_lost_switch_or_an_unreadable_folder_is_not(
    tmp_path, caplog
):
    async with answering(tmp_path, caplog) as (ask, fabric, supervisor):
        assert await ask("/healthz") == (200, "ok\n")
        assert await ask("/readyz") == (200, "ok\n")
        fabric.switches["spine2"].stop()
        states = supervisor.states
        await until(lambda: states()["spine2"] is not states()["leaf1"])
        code, said = await ask("/readyz")
        assert code == 503 and said.startswith("not in sync: spine2 (")
        assert await ask("/healthz") == (200, "ok\n"), "it is the fabric that is not well"
        supervisor.folder_readable = False
        assert await ask("/readyz") == (503, "the state folder cannot be read\n")


async def test_a_controller_whose_loop_hangs_answers_no_probe(tmp_path, caplog):
    async with answering(tmp_path, caplog) as (ask, _, _):
        probe = asyncio.create_task(ask("/healthz", 1))
        await asyncio.sleep(0)  # the probe's thread begins
        time.sleep(_BUSY_SECONDS)
        with pytest.raises(TimeoutError):
            await probe
        assert await ask("/healthz") == (200, "ok\n")


async def test_an_address_in_use_is_told(tmp_path, caplog):
    async with answering(tmp_path, caplog) as (_, _, supervisor):
        port = int(caplog.records[-1].eeon_fields["address"].partition(":")[2])
        with pytest.raises(EeonError) as error:
            async with MetricsServer("127.0.0.1", port).open(supervisor):
                pass
    assert str(error.value) == f"--metrics-address 127.0.0.1:{port}: address already in use; choose another"
