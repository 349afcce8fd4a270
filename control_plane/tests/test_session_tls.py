"""TLS and mutual TLS to switches: a client without a certificate is refused, and the reason is reported.

With the engine's P4Runtime server, and with BMv2's if it is installed and built with TLS.
"""

import contextlib
import json
import shutil
from pathlib import Path

import pytest
from bmv2_process import start_bmv2
from eeon_command import eeon
from eeon_control import config, fabric, topology
from eeon_control.errors import FabricError
from eeon_control.fabric import FabricPlan
from eeon_control.targets import Target
from eeon_control.tls import Tls
from engine_switches import ONE_SWITCH, TICK_PS, engine, p4runtime

pytestmark = pytest.mark.system

FABRIC = topology.from_text(ONE_SWITCH, "one-switch.yaml")


@contextlib.contextmanager
def served(keys: Path, own: str = "switch", *, mutual: bool = True, tls: bool = True):
    files = [keys / f"{own}.pem", keys / f"{own}.key", *([keys / "ca.pem"] if mutual else [])]
    switch = engine.Switch(device_id=1, tick_ps=TICK_PS)
    with p4runtime.serve(switch, tls=p4runtime.Tls.from_files(*files) if tls else None) as server:
        yield server.address


def tls(keys: Path, who: str | None = "controller", ca: str = "ca", name: str | None = None) -> Tls:
    own = {"certificate": f"{who}.pem", "key": f"{who}.key"} if who else {}
    return Tls(ca=f"{ca}.pem", **own, server_name=name).at(keys)


def plan(address: str, protection: Tls | None, tick_ps: int = TICK_PS) -> FabricPlan:
    targets = {"leaf1": Target(address, 1, protection)}
    return fabric.plan_sync(FABRIC, config.load("drop_tail"), targets, tick_ps)


def apply(address: str, protection: Tls | None, tick_ps: int = TICK_PS) -> None:
    """Applies a configuration, which is then held."""
    targets = {"leaf1": Target(address, 1, protection)}
    fabric.apply_sync(FABRIC, config.load("drop_tail"), targets, tick_ps)
    assert plan(address, protection, tick_ps).is_empty


def failure(address: str, protection: Tls | None) -> str:
    with pytest.raises(FabricError) as reading:
        plan(address, protection)
    with pytest.raises(FabricError) as writing:
        apply(address, protection)
    assert str(reading.value) == str(writing.value), "who reads and who writes are told the same"
    return str(reading.value)


@pytest.mark.parametrize(("own", "name"), [("switch", None), ("named", "leaf1.example.net")])
def test_a_controller_with_its_certificate_is_served_also_by_a_name_that_is_given(keys, own, name):
    with served(keys, own) as address:
        apply(address, tls(keys, name=name))


def test_without_a_certificate_nothing_is_read_or_written(keys):
    with served(keys) as address:
        said = failure(address, tls(keys, None))
        assert "requires a certificate of the controller (mutual TLS) and got none; set `certificate`" in said
        plain = failure(address, None)
        assert "the switch requires TLS, but this connection has none; set `tls`" in plain
        # The switch still has no program: a client without a certificate had no effect.
        assert plan(address, tls(keys)).switches["leaf1"].push_pipeline


ONE_SIDED = {"mutual": False}


@pytest.mark.parametrize(
    ("own", "served_with", "protection", "says"),
    [
        ("stranger", ONE_SIDED, {}, "is not signed by an authority in {keys}/ca.pem"),
        (
            "switch",
            ONE_SIDED,
            {"ca": "stranger_ca"},
            "in {keys}/stranger_ca.pem (unable to get local issuer certificate); correct `ca`, and",
        ),
        ("named", ONE_SIDED, {}, "the switch's certificate is not valid for 127.0.0.1 "),
        ("switch", ONE_SIDED, {"name": "leaf2"}, "the switch's certificate is not valid for leaf2 "),
        (
            "expired",
            ONE_SIDED,
            {},
            "its authority in {keys}/ca.pem, is not valid now (certificate has expired)",
        ),
        (
            "switch",
            {},
            {"who": "stranger"},
            "does not accept the controller's certificate {keys}/stranger.pem",
        ),
        ("switch", {"tls": False}, {}, "the switch does not speak TLS on this port"),
    ],
)
def test_a_switch_that_trusts_nobody_or_is_not_trusted_is_not_spoken_to(
    keys, own, served_with, protection, says
):
    with served(keys, own, **served_with) as address:
        said = failure(address, tls(keys, **protection))
    assert says.format(keys=keys) in said
    assert said.startswith(f"leaf1 ({address}, device id 1): ")


def test_a_key_is_checked_before_anything_is_sent(keys, tmp_path):
    mixed = Tls(ca="ca.pem", certificate="controller.pem", key="stranger.key").at(keys)
    assert "the key does not match the certificate" in failure("127.0.0.1:1", mixed)
    # Its permissions may have been widened later.
    key = tmp_path / "controller.key"
    shutil.copy(keys / "controller.key", key)
    key.chmod(0o644)
    protection = Tls(ca="ca.pem", certificate="controller.pem", key=str(key)).at(keys)
    assert f"(mode 0644): chmod 600 {key}" in failure("127.0.0.1:1", protection)


def test_no_output_error_or_json_has_a_key_in_it(keys, tmp_path):
    (tmp_path / "one.yaml").write_text(ONE_SWITCH)
    secret = (keys / "controller.key").read_text().splitlines()[1]
    with served(keys) as address, served(keys, "stranger") as wrong:
        outputs = []
        for where, good in ((address, True), (wrong, False)):
            path = tmp_path / "targets.yaml"
            path.write_text(
                f"tick: 1ns\ntls: {{ca: {keys}/ca.pem, certificate: {keys}/controller.pem, "
                f'key: {keys}/controller.key}}\nswitches: {{leaf1: "{where}"}}\n'
            )
            common = ["-t", str(tmp_path / "one.yaml"), "-T", str(path)]
            for command in (
                ["config", "plan", "-c", "drop_tail", *common, "-o", "json"],
                ["show", "fabric", *common, "-o", "json"],
            ):
                result = eeon(*command)
                outputs.append(result.output)
                if good:
                    json.loads(result.stdout)
    assert all(secret not in one and "PRIVATE" not in one for one in outputs)


@pytest.mark.skipif(shutil.which("simple_switch_grpc") is None, reason="simple_switch_grpc is not on PATH")
def test_bmv2_gives_nothing_to_a_controller_without_a_certificate(keys, tmp_path):
    options = ["--grpc-server-ssl", "--grpc-server-with-client-auth"]
    options += [f"--grpc-server-cacert={keys}/ca.pem", f"--grpc-server-cert={keys}/switch.pem"]
    options += [f"--grpc-server-key={keys}/switch.key"]
    with start_bmv2(tmp_path, grpc_options=options) as bmv2:
        apply(bmv2.address, tls(keys), 1_000_000)
        assert "mutual TLS" in failure(bmv2.address, tls(keys, None))
        assert "requires TLS" in failure(bmv2.address, None)
