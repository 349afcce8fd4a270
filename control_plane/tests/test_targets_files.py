"""The targets file: addresses, TLS for all switches and for one, Thrift, and refusals."""

import re
from pathlib import Path

import pytest
from eeon_command import eeon, place
from eeon_control import topology
from eeon_control.errors import EeonError, InputError
from eeon_control.targets import Target, Targets, is_loopback, load_targets, resolve
from eeon_control.tls import Tls

certificates = pytest.importorskip(
    "certificates", reason="cryptography is not installed; no keys can be made"
)


def load(folder: Path, text: str) -> Targets:
    path = folder / "targets.yaml"
    path.write_text(text)
    return load_targets(path)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        load(folder, text)
    return str(error.value)


def test_resolving_keeps_tls_and_thrift_and_fills_in_the_device_id(keys):
    fabric4 = topology.load("leaf-spine-4")
    tls = Tls(keys / "ca.pem")
    given = {name: Target("127.0.0.1:1", None, tls, "127.0.0.1:2") for name in fabric4.switches}
    resolved = resolve(fabric4, given)
    assert resolved["spine1"] == Target("127.0.0.1:1", 3, tls, "127.0.0.1:2")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_a_key_that_others_may_read_or_change_is_refused_with_the_chmod_that_mends_it(tmp_path, mode):
    authority = certificates.identity(tmp_path, "ca")
    own = certificates.identity(tmp_path, "controller", authority)
    own.key.chmod(mode)
    text = "tick: 1ns\ntls: {ca: ca.pem, certificate: controller.pem, key: controller.key}\nswitches: {a: 'h:1', b: 'h:1'}\n"
    said = refusal(tmp_path, text)
    assert said == (
        f"{tmp_path}/targets.yaml:2: error: tls.key: controller.key: others may read or change this private "
        f"key (mode {mode:04o}): chmod 600 {own.key}"
    )
    own.key.chmod(0o600)
    assert load(tmp_path, text).switches["a"].tls.key == own.key


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_its_password(tmp_path):
    from cryptography.hazmat.primitives import serialization

    own = certificates.identity(tmp_path, "ca")
    own.key.write_bytes(
        own.private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    text = "tick: 1ns\ntls: {ca: ca.pem, certificate: ca.pem, key: ca.key}\nswitches: {a: 'h:1'}\n"
    assert "tls.key: ca.key: is encrypted with a password" in refusal(tmp_path, text)


def test_loopback_is_known_by_its_text():
    for address in ("127.0.0.1:9090", "127.3.2.1:1", "[::1]:9090", "localhost:9090", "unix:/run/a.p4rt"):
        assert is_loopback(address), address
    for address in ("192.0.2.1:9090", "0.0.0.0:9090", "[::]:1", "localhost.example.net:9090"):
        assert not is_loopback(address), address


def test_two_switches_of_one_address_and_device_id_are_refused():
    given = {
        name: Target("127.0.0.1:1", 7 if name in ("leaf1", "spine2") else None)
        for name in topology.load("leaf-spine-4").switches
    }
    with pytest.raises(
        EeonError, match=r"spine2: 127.0.0.1:1 with device id 7 is already used by leaf1; give each switch"
    ):
        resolve(topology.load("leaf-spine-4"), given)


@pytest.mark.system
@pytest.mark.parametrize(
    ("meant", "own", "warning"),
    [
        # As `eeon fabric up` scales a live fabric.
        (
            "rate: 1Gbps",
            "rate: 100Mbps",
            "leaf1:1 has 100Mbps to h1 in {}, .*, but 1Gbps to h1 in leaf-spine-4: ",
        ),
        (
            "hosts_per_leaf: 2",
            "hosts_per_leaf: 1",
            "leaf1:2 has 10Gbps to spine1 in {}, .*, but 1Gbps to h2 in ",
        ),
        ("spines: 2", "spines: 1", "leaf1:4 has no link in {}, .*, but 10Gbps to spine2 in "),
    ],
)
def test_a_configuration_for_other_links_than_those_of_the_switches_is_warned_of(
    tmp_path, meant, own, warning
):
    given = _with_own_topology(tmp_path, meant, own)
    for verb in (["plan"], ["apply", "--dry-run"]):
        warned = eeon("config", *verb, "-t", "leaf-spine-4", *given).stderr
        assert re.search(warning.format(tmp_path / "own.yaml"), warned), warned
        assert f"give -t {tmp_path / 'own.yaml'}" in warned


@pytest.mark.system
def test_the_switches_own_topology_is_not_warned_of_nor_is_any_when_its_file_is_gone(tmp_path):
    given = _with_own_topology(tmp_path, "rate: 1Gbps", "rate: 100Mbps")
    fits = eeon("config", "plan", "-t", str(tmp_path / "own.yaml"), *given).stderr
    assert "warning" not in fits and "127.0.0.1:1" in fits
    (tmp_path / "own.yaml").unlink()
    gone = eeon("config", "plan", "-t", "leaf-spine-4", *given).stderr
    assert "warning" not in gone and "127.0.0.1:1" in gone


@pytest.mark.system
def test_the_switches_own_topology_may_be_a_packaged_one(tmp_path):
    switches = dict.fromkeys(topology.load("leaf-spine-4").switches, "127.0.0.1:1")
    given = ["-c", "drop_tail", *place(tmp_path, switches, topology="two-rack-24")[2:]]
    other = eeon("config", "plan", "-t", "leaf-spine-4", *given).stderr
    assert "in two-rack-24, the topology of these switches, but" in other, other
    assert "warning" not in eeon("config", "plan", "-t", "two-rack-24", *given).stderr


def _with_own_topology(folder: Path, meant: str, own: str) -> list[str]:
    """Returns options for switches whose targets file names leaf-spine-4 with `own` in place of `meant`."""
    whole = Path(__file__).parents[2] / "topologies" / "leaf-spine-4.yaml"
    (folder / "own.yaml").write_text(whole.read_text().replace(meant, own))
    switches = dict.fromkeys(topology.load("leaf-spine-4").switches, "127.0.0.1:1")
    return ["-c", "drop_tail", *place(folder, switches, topology="own.yaml")[2:]]
