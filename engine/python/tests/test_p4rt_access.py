"""Rights by certificate: clients that may read, write or push a program, and their roles."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from access_probe import credentials_of, files
from eeon_engine import ConfigError, Switch
from eeon_engine.p4runtime import Access, Server, Tls, serve
from finsy.proto import p4r, rpc_code
from p4rt_client import INSERT, Client, Connect, exact, failure, lpm, p4info

pytestmark = pytest.mark.system


@pytest.fixture
def server(resource_switch: Switch, folder: Path) -> Iterator[Server]:
    tls = Tls.from_files(folder / "switch.pem", folder / "switch.key", folder / "ca.pem")
    access = Access.from_file(folder / "rights.toml")
    with serve(resource_switch, p4info("resources"), tls=tls, access=access) as server:
        yield server


@pytest.fixture
def connect(server: Server, folder: Path, clients: Connect) -> Connect:
    """Returns a function that connects a client with the certificate of a name."""

    def connected(name: str, **settings: object) -> Client:
        credentials = credentials_of(files(folder, name))
        return clients(server.address, credentials=credentials, **settings)

    return connected


DENIED = rpc_code.PERMISSION_DENIED


def test_a_client_has_the_roles_that_the_file_gives_and_no_other(connect, resource_names):
    daemon = connect("daemon", role="routing")
    assert daemon.arbitrate().status.code == rpc_code.OK
    route = resource_names.entry("routes", lpm(1, 0x0A000000, 8), action=resource_names.action("forward", 1))
    daemon.write((INSERT, route))
    assert route in daemon.read(p4r.TableEntry(), role="routing")
    said = "may not act as role 'filter'; its roles are 'routing'"
    failure(DENIED, said, daemon.read, p4r.TableEntry(), role="filter")
    failure(DENIED, said, connect("daemon", role="filter").arbitrate)


def test_an_observer_may_watch_without_an_election_id(connect):
    observer = connect("observer")
    bid = p4r.MasterArbitrationUpdate(device_id=1)
    observer.send(p4r.StreamMessageRequest(arbitration=bid))
    assert observer.receive().arbitration.status.code == rpc_code.NOT_FOUND


def test_another_clients_election_id_is_no_right_to_write(connect, resource_names):
    connect("controller", election_id=7).arbitrate()
    thief = connect("operator", election_id=7)
    action = resource_names.action("drop")
    entry = resource_names.entry("ageing_table", exact(1, 1), action=action)
    failure(DENIED, "belongs to client 'controller', not to 'operator'", thief.write, (INSERT, entry))


def test_a_client_without_rights_may_still_ask_for_the_version(connect):
    answer = connect("stranger").stub.Capabilities(p4r.CapabilitiesRequest(), timeout=30)
    assert answer.p4runtime_api_version


def test_rights_need_certificates_of_clients(switch, folder):
    access = Access.from_file(folder / "rights.toml")
    for tls in (None, Tls.from_files(folder / "switch.pem", folder / "switch.key")):
        with pytest.raises(ConfigError, match="need mutual TLS"):
            serve(switch, p4info=p4info(), tls=tls, access=access)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"may only have tables \[clients.NAME\]"),
        ("clients = 3", r"may only have tables \[clients.NAME\]"),
        ("[other]\n[clients.a]\nrights = []", "not 'other'"),
        ("[clients.a]\nrights = ['fly']", "unknown right 'fly'; use read, write, pipeline"),
        ("[clients.a]\nright = ['read']", "unknown key 'right'"),
        ("[clients.a]\nroles = ['']", "rights is not a list of strings"),
        ("[clients.a]\nrights = 'read'", "rights is not a list of strings"),
        ("[clients.a]\nrights = ['read']\nroles = [1]", "roles is not a list of strings"),
        ("[clients", "is not TOML"),
    ],
)
def test_a_file_that_does_not_say_what_it_must_is_refused(tmp_path, text, said):
    file = tmp_path / "rights.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=said):
        Access.from_file(file)
