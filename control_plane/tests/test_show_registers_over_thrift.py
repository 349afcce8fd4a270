"""BMv2 has no registers over P4Runtime: `eeon show` reads them over Thrift, given an address."""

import json
import shutil

import pytest
from bmv2_process import start_bmv2
from eeon_command import eeon
from engine_switches import ONE_SWITCH

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        shutil.which("simple_switch_grpc") is None, reason="simple_switch_grpc is not on PATH"
    ),
]


def test_queues_eee_and_energy_of_bmv2(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "one.yaml").write_text(ONE_SWITCH)
    (tmp_path / "slow.yaml").write_text(
        "profiles: {eee: {slow: {mode: coalesce, hold: 120us, trigger: 100pkt, sleep: 182us, wake: 17us}}}\n"
        "roles: {host_facing: {eee: slow}}\n"
    )
    targets = tmp_path / "targets.yaml"
    with start_bmv2(tmp_path) as bmv2:
        common = ["-t", str(tmp_path / "one.yaml"), "-T", str(targets)]
        targets.write_text(f'tick: 1us\nswitches: {{leaf1: "{bmv2.address}"}}\n')
        eeon("config", "apply", "-c", "drop_tail", "-c", str(tmp_path / "slow.yaml"), *common, code=0)
        without = json.loads(eeon("show", "queues", *common, "-o", "json", code=0).stdout)
        assert without["rows"][0]["occupancy_bytes"] is None and "give `thrift`" in without["notes"][0]
        targets.write_text(
            f'tick: 1us\nswitches: {{leaf1: {{address: "{bmv2.address}", thrift: "{bmv2.thrift}"}}}}\n'
        )
        shown = {
            view: json.loads(eeon("show", view, *common, "-o", "json", code=0).stdout)["rows"][0]
            for view in ("fabric", "queues", "eee", "energy")
        }
    assert shown["fabric"]["up_ps"] > 0
    assert shown["queues"]["occupancy_bytes"] == 0
    assert shown["eee"]["mode"] == "coalesce" and shown["eee"]["state"] == "active"
    # Nothing was ever sent: asleep since 182 us after the start, within the time of the reading.
    assert shown["eee"]["lpi_share"] > 0.5
    assert shown["energy"]["lpi_share"] == pytest.approx(1, abs=0.01)
    assert shown["energy"]["watts"] == pytest.approx(0.05, rel=0.1)
