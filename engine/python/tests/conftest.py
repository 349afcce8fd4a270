"""A switch that runs the program `everything`, with a P4Runtime server on loopback, and a client."""

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import Server, serve
from eeon_engine.thrift import serve as serve_thrift
from finsy.proto import p4i
from gnmi_client import GnmiClient
from google.protobuf import text_format
from p4rt_client import Client, Connect, Names, p4info, primary, program_json
from thrift_client import ThriftClient
from veth import links as links

RIGHTS = """
[clients.controller]
roles = ["*"]
rights = ["read", "write", "pipeline"]
[clients.operator]
rights = ["read", "write"]
[clients.observer]
rights = ["read"]
[clients.daemon]
roles = ["routing"]
rights = ["read", "write", "pipeline"]
"""
COMPILED = Path(__file__).parents[3] / "p4src" / "compiled"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--hostile-seconds",
        type=float,
        default=0.5,
        help="how long each attack of the hostile suite goes on; beyond 5 s with "
        "the deadlines of docs/run/security.md",
    )


@pytest.fixture(scope="session")
def names() -> Names:
    return Names(p4info())


@pytest.fixture(scope="session")
def program() -> Program:
    return Program(program_json())


@pytest.fixture
def switch(program: Program) -> Switch:
    return Switch(program)


@pytest.fixture
def server(switch: Switch) -> Iterator[Server]:
    with serve(switch, p4info=p4info()) as server:
        yield server


@pytest.fixture
def clients() -> Iterator[Connect]:
    """Returns a function that makes a client of an address. All clients are closed at the end."""
    with contextlib.ExitStack() as stack:

        def made(address: str, **settings: object) -> Client:
            client = Client(address, **settings)  # type: ignore[arg-type] # the keys are those of Client
            return stack.enter_context(contextlib.closing(client))

        yield made


@pytest.fixture
def gnmi_clients() -> Iterator[Callable[[str], GnmiClient]]:
    """Returns a function that makes a gNMI client of an address. All clients are closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda address: stack.enter_context(contextlib.closing(GnmiClient(address)))


@pytest.fixture
def connect(server: Server, clients: Connect) -> Connect:
    """Returns a function that makes a client of the first switch."""
    return partial(clients, server.address)


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """Connects the primary client."""
    with primary(server.address) as client:
        yield client


@pytest.fixture(scope="session")
def resource_names() -> Names:
    return Names(p4info("resources"))


@pytest.fixture
def resource_switch() -> Switch:
    """Returns a switch that runs the program `resources`."""
    return Switch(Program(program_json("resources")))


@pytest.fixture
def resource_server(resource_switch: Switch) -> Iterator[Server]:
    with serve(resource_switch, p4info=p4info("resources")) as server:
        yield server


@pytest.fixture
def thrift(switch: Switch) -> Iterator[ThriftClient]:
    """Connects a Thrift client to the first switch."""
    with serve_thrift(switch, "127.0.0.1:0") as server, ThriftClient(server.address) as client:
        yield client


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Makes certificates of an authority (`ca.pem`), a switch and its clients, each with its key, and the
    clients' rights, in a folder that any user may read."""
    pytest.importorskip("cryptography", reason="cryptography is not installed; no certificates can be made")
    from control_plane.tests.certificates import identity

    made = Path(tempfile.mkdtemp(dir="/tmp"))
    made.chmod(0o755)
    authority = identity(made, "ca")
    for name in ("switch", "controller", "operator", "observer", "daemon", "stranger"):
        identity(made, name, authority)
    (made / "rights.toml").write_text(RIGHTS)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def fabric_program() -> Program:
    """Returns the project's own program."""
    return Program((COMPILED / "eeon.json").read_bytes())


@pytest.fixture(scope="module")
def fabric_names() -> Names:
    return Names(text_format.Parse((COMPILED / "eeon.p4info.txtpb").read_text(), p4i.P4Info()))
