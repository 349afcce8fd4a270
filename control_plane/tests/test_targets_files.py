"""The targets file: addresses, TLS for all switches and for one, Thrift, and refusals."""

from dataclasses import replace
from pathlib import Path

import pytest
from eeon_control import topology
from eeon_control.cli.options import Fabric
from eeon_control.errors import InputError
from eeon_control.targets import Target, Targets, load_targets, resolve
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


def test_another_address_on_the_command_line_keeps_the_device_id_and_the_tls_of_the_file(tmp_path, keys):
    file = tmp_path / "targets.yaml"
    tls = f"{{ca: {keys / 'ca.pem'}, server_name: x}}"
    file.write_text(
        f"tick: 1ns\ntls: {tls}\nswitches: {{a: {{address: 'h:1?device_id=7', thrift: 'localhost:9'}}, b: 'h:2'}}\n"
    )
    for text, address in (("a=h:3", "h:3?device_id=7"), ("a=h:3?device_id=8", "h:3?device_id=8")):
        found = Fabric("leaf-spine-4", targets_file=file, target_texts=(text,)).targets.switches
        assert found == {
            name: replace(Target.parse(one), tls=Tls(ca=f"{keys}/ca.pem", server_name="x"))
            for name, one in (("a", address), ("b", "h:2"))
        }


def test_resolving_keeps_tls_and_thrift_and_fills_in_the_device_id(keys):
    fabric4 = topology.load("leaf-spine-4")
    tls = Tls(ca=f"{keys}/ca.pem")
    given = {name: Target("127.0.0.1:1", None, tls, "127.0.0.1:2") for name in fabric4.switches}
    resolved = resolve(fabric4, given)
    assert resolved["spine1"] == Target("127.0.0.1:1", 3, tls, "127.0.0.1:2")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_a_key_that_others_may_read_or_change_is_refused_with_the_chmod_that_mends_it(tmp_path, mode):
    authority = certificates.identity(tmp_path, "ca")
    certificates.identity(tmp_path, "controller", authority)
    key = tmp_path / "controller.key"
    key.chmod(mode)
    text = "tick: 1ns\ntls: {ca: ca.pem, certificate: controller.pem, key: controller.key}\nswitches: {a: 'h:1', b: 'h:1'}\n"
    said = refusal(tmp_path, text)
    assert said == (
        f"{tmp_path}/targets.yaml:2: error: tls.key: controller.key: others may read or change this private "
        f"key (mode {mode:04o}): chmod 600 {key}"
    )
    key.chmod(0o600)
    assert load(tmp_path, text).switches["a"].tls.key == str(key)


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_its_password(tmp_path):
    from cryptography.hazmat.primitives import serialization

    own = certificates.identity(tmp_path, "ca")
    (tmp_path / "ca.key").write_bytes(
        own.private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    text = "tick: 1ns\ntls: {ca: ca.pem, certificate: ca.pem, key: ca.key}\nswitches: {a: 'h:1'}\n"
    assert "tls.key: ca.key: is encrypted with a password" in refusal(tmp_path, text)
