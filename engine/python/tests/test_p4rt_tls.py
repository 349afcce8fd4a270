"""TLS and mutual TLS (P4Runtime 1.5 §3.1.1): a client without a certificate gets no access."""

import re
import socket

import grpc
import pytest
from eeon_engine import ConfigError
from eeon_engine.p4runtime import Tls, serve
from finsy.proto import p4r, p4r_grpc
from p4rt_client import p4info

pytest.importorskip("cryptography", reason="cryptography is not installed; no certificates can be made")
from control_plane.tests.certificates import Identity
from control_plane.tests.certificates import made as identity

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def server_identity(authority: Identity) -> Identity:
    return identity("switch", authority)


def call(address: str, credentials: grpc.ChannelCredentials | None) -> str:
    """Returns the server's answer to Capabilities: its version, or the name of the status."""
    channel = (
        grpc.insecure_channel(address) if credentials is None else grpc.secure_channel(address, credentials)
    )
    with channel:
        try:
            answer = p4r_grpc.P4RuntimeStub(channel).Capabilities(p4r.CapabilitiesRequest(), timeout=10)
        except grpc.RpcError as error:
            return str(error.code().name)
        return str(answer.p4runtime_api_version)


@pytest.mark.parametrize("is_mutual", [False, True])
def test_only_clients_that_the_authority_allows_are_served(switch, authority, server_identity, is_mutual):
    another = identity("other authority")
    own, other = identity("controller", authority), identity("controller", another)
    certified, stranger = (
        grpc.ssl_channel_credentials(authority.certificate_pem, one.key_pem, one.certificate_pem)
        for one in (own, other)
    )
    bare = grpc.ssl_channel_credentials(authority.certificate_pem)
    distrusting = grpc.ssl_channel_credentials(another.certificate_pem)
    client_ca = authority.certificate_pem if is_mutual else None
    tls = Tls(server_identity.certificate_pem, server_identity.key_pem, client_ca)
    with serve(switch, p4info=p4info(), tls=tls) as server:
        found = [call(server.address, one) for one in (certified, bare, stranger, distrusting, None)]
    without_own = "UNAVAILABLE" if is_mutual else "1.5.0"
    assert found == ["1.5.0", without_own, without_own, "UNAVAILABLE", "UNAVAILABLE"]


@pytest.mark.parametrize(
    ("file", "mode", "said"),
    [
        ("key", 0o644, "others may read or change it (mode 0644): chmod 600"),
        ("key", 0o620, "others may read or change it (mode 0620): chmod 600"),
        ("chain", 0o664, "others may change it (mode 0664): chmod go-w"),
        ("authority", 0o646, "others may change it (mode 0646): chmod go-w"),
    ],
)
def test_files_that_others_may_change_and_a_key_that_others_may_read_are_refused(
    tmp_path, authority, server_identity, file, mode, said
):
    content = {
        "chain": server_identity.certificate_pem,
        "key": server_identity.key_pem,
        "authority": authority.certificate_pem,
    }
    paths = {name: tmp_path / name for name in content}
    for name, path in paths.items():
        path.write_bytes(content[name])
        path.chmod(0o600 if name == "key" else 0o644)
    files = (paths["chain"], paths["key"], paths["authority"])
    Tls.from_files(*files)
    paths[file].chmod(mode)
    with pytest.raises(ConfigError, match=re.escape(said)):
        Tls.from_files(*files)


def test_files_that_are_missing_or_no_pem_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"TLS certificate '.*absent\.pem': No such file"):
        Tls.from_files(tmp_path / "absent.pem", tmp_path / "absent.pem")
    (tmp_path / "der").write_bytes(b"\x30\x82")
    with pytest.raises(ConfigError, match="is not a PEM file"):
        Tls.from_files(tmp_path / "der", tmp_path / "der")


def test_a_key_that_does_not_belong_to_the_certificate_is_refused(switch, authority, server_identity):
    tls = Tls(server_identity.certificate_pem, authority.key_pem)
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
