"""TLS and mutual TLS (P4Runtime 1.5 §3.1.1): a client without a certificate gets no access."""

import re
import shutil
import socket
from contextlib import closing
from pathlib import Path

import grpc
import pytest
from access_probe import credentials_of, files
from eeon_engine import ConfigError
from eeon_engine.p4runtime import Tls, serve
from finsy.proto import p4r
from p4rt_client import Client, p4info

pytest.importorskip("cryptography", reason="cryptography is not installed; no certificates can be made")
from control_plane.tests.certificates import made as identity

pytestmark = pytest.mark.system


def call(address: str, credentials: grpc.ChannelCredentials | None) -> str:
    """Returns the server's answer to Capabilities: its version, or the name of the status."""
    with closing(Client(address, credentials=credentials)) as client:
        try:
            answer = client.stub.Capabilities(p4r.CapabilitiesRequest(), timeout=10)
        except grpc.RpcError as error:
            return str(error.code().name)
        return str(answer.p4runtime_api_version)


@pytest.mark.parametrize("is_mutual", [False, True])
def test_only_clients_that_the_authority_allows_are_served(switch, folder, is_mutual):
    another = identity("other authority")
    other, ca = identity("controller", another), (folder / "ca.pem").read_bytes()
    certified = credentials_of(files(folder, "controller"))
    stranger = grpc.ssl_channel_credentials(ca, other.key_pem, other.certificate_pem)
    bare = credentials_of(files(folder))
    distrusting = grpc.ssl_channel_credentials(another.certificate_pem)
    client_ca = folder / "ca.pem" if is_mutual else None
    tls = Tls.from_files(folder / "switch.pem", folder / "switch.key", client_ca)
    with serve(switch, p4info=p4info(), tls=tls) as server:
        found = [call(server.address, one) for one in (certified, bare, stranger, distrusting, None)]
    without_own = "UNAVAILABLE" if is_mutual else "1.5.0"
    assert found == ["1.5.0", without_own, without_own, "UNAVAILABLE", "UNAVAILABLE"]


@pytest.mark.parametrize(
    ("file", "mode", "said"),
    [
        ("switch.key", 0o644, "others may read or change it (mode 0644): chmod 600"),
        ("switch.key", 0o620, "others may read or change it (mode 0620): chmod 600"),
        ("switch.pem", 0o664, "others may change it (mode 0664): chmod go-w"),
        ("ca.pem", 0o646, "others may change it (mode 0646): chmod go-w"),
    ],
)
def test_files_that_others_may_change_and_a_key_that_others_may_read_are_refused(
    tmp_path, folder, file, mode, said
):
    paths = [Path(shutil.copy(folder / name, tmp_path)) for name in ("switch.pem", "switch.key", "ca.pem")]
    Tls.from_files(*paths)
    (tmp_path / file).chmod(mode)
    with pytest.raises(ConfigError, match=re.escape(said)):
        Tls.from_files(*paths)


def test_files_that_are_missing_or_no_pem_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"TLS certificate '.*absent\.pem': No such file"):
        Tls.from_files(tmp_path / "absent.pem", tmp_path / "absent.pem")
    (tmp_path / "der").write_bytes(b"\x30\x82")
    with pytest.raises(ConfigError, match="is not a PEM file"):
        Tls.from_files(tmp_path / "der", tmp_path / "der")


def test_a_key_that_does_not_belong_to_the_certificate_is_refused(switch, folder):
    tls = Tls.from_files(folder / "switch.pem", folder / "controller.key")
    with pytest.raises(ConfigError, match="belong together"):
        serve(switch, p4info=p4info(), tls=tls)


@pytest.mark.parametrize(
    "address", ["127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:", "127.0.0.1", "unix:", "OTHER"]
)
def test_an_address_of_another_server_or_without_a_port_is_refused_with_what_to_give(
    switch, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    mode = tmp_path.stat().st_mode
    with serve(switch, p4info=p4info()) as server:
        address = address.replace("OTHER", server.address)
        said = f"address '{address}': cannot listen there; give an address .* that no other program uses$"
        with pytest.raises(ConfigError, match=said):
            serve(switch, p4info=p4info(), address=address)
    assert tmp_path.stat().st_mode == mode


def test_a_unix_socket_of_another_server_is_refused_and_one_that_was_left_behind_is_used(switch, tmp_path):
    address = f"unix:{tmp_path}/s"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(f"{tmp_path}/s")
    with serve(switch, address=address):
        with pytest.raises(ConfigError, match="that no other program uses"):
            serve(switch, address=address)
        assert call(address, None) == "1.5.0"
