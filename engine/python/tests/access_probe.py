"""Tries each operation that a client may be allowed at a switch. A program for `test_security_page.py`.

    python access_probe.py '{"grpc": ADDRESS, "thrift": ADDRESS, "tls": [CA, CERTIFICATE, KEY], "role": NAME,
                             "as_nobody": BOOL}'

Prints a JSON object: for each operation, whether it is allowed. `tls` may lack certificate and key, or be
missing; `role` is the client's P4Runtime role.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import grpc
from finsy.proto import p4r
from gnmi_client import GnmiClient, request, subscription, until_sync
from p4rt_client import INSERT, MODIFY, Client, Failed, Names, exact, p4info, pipeline, primary
from thrift_client import ThriftClient
from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException

NOBODY = 65_534
PROGRAM = "resources"


def may(deed: Callable[[], object]) -> bool:
    """Returns whether it succeeds. A client that cannot connect and one that is refused count the same."""
    try:
        deed()
    except (Failed, OSError, TTransportException, TException):
        return False
    return True


def written(client: Client) -> None:
    client.arbitrate()
    names = Names(p4info(PROGRAM))
    entry = names.entry("ageing_table", exact(1, 1), action=names.action("drop"))
    found = client.read(p4r.TableEntry(table_id=entry.table_id), role=client.role)
    client.write((MODIFY if found else INSERT, entry))


def ports_read(address: str, credentials: grpc.ChannelCredentials | None) -> None:
    """Subscribes up to the first values. A switch without ports has none for Get."""
    client = GnmiClient(address, credentials)
    try:
        until_sync(client.subscribe(request(subscription("interfaces"))))
    except grpc.RpcError as error:
        raise Failed(error) from error


def interface_added(address: str) -> None:
    with ThriftClient(address) as client:
        client.standard.bm_dev_mgr_add_port("lo", 7, "")


def thrift_written(address: str) -> None:
    with ThriftClient(address) as client:
        client.standard.bm_mt_set_default_action(0, "ResourcesIngress.ageing_table", "NoAction", [])


def files(folder: Path, client: str = "") -> list[str]:
    """Returns the files of a client in the fixture `folder`: its CA, and if named its certificate and key."""
    names = ("ca.pem", f"{client}.pem", f"{client}.key") if client else ("ca.pem",)
    return [str(folder / name) for name in names]


def credentials_of(files: list[str] | None) -> grpc.ChannelCredentials | None:
    """Returns the credentials of a client with these files: its CA, and maybe its certificate and key."""
    if files is None:
        return None
    ca, *own = (Path(name).read_bytes() for name in files)
    certificate, key = own or (None, None)
    return grpc.ssl_channel_credentials(ca, key, certificate)


def set_up(address: str, tls: list[str] | None) -> None:
    """Gives a new switch its program."""
    with primary(address, pipeline(PROGRAM), credentials=credentials_of(tls)):
        pass


def become_nobody() -> None:
    """Gives up root's rights."""
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def main() -> None:
    asked = json.loads(sys.argv[1])
    credentials = credentials_of(asked.get("tls"))
    if asked.get("as_nobody"):
        become_nobody()
    client = Client(asked["grpc"], role=asked.get("role", ""), credentials=credentials)
    result = {
        "read": may(lambda: client.read(p4r.TableEntry(), role=client.role)),
        "read over gNMI": may(lambda: ports_read(asked["grpc"], credentials)),
        "write": may(lambda: written(client)),
        "set the pipeline": may(
            lambda: client.push(p4r.SetForwardingPipelineConfigRequest.VERIFY, pipeline(PROGRAM))
        ),
        "write over Thrift": may(lambda: thrift_written(asked["thrift"])),
        "add an interface over Thrift": may(lambda: interface_added(asked["thrift"])),
    }
    print(json.dumps(result), flush=True)
    # Does not wait for streams and channels.
    os._exit(0)


if __name__ == "__main__":
    main()
