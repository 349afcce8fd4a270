"""Arbitration (P4Runtime 1.5 §5) with a real server; every stream is a separate client."""

import grpc
import pytest
from finsy.proto import U128, p4r, rpc_code
from p4rt_client import Client, Connect

pytestmark = pytest.mark.system


CASES = {
    "the_first_client_with_an_election_id_is_primary": "a 5 OK 5",
    "a_client_without_an_election_id_is_a_backup_and_hears_of_no_primary": "a - NOT_FOUND -",
    "a_lower_election_id_is_a_backup": "a 5 OK 5, b 4 ALREADY_EXISTS 5",
    "all_128_bits_of_an_election_id_count": (
        f"a {2**64 - 1} OK {2**64 - 1}, b {2**64} OK {2**64}, c {2**128 - 1} OK {2**128 - 1}"
    ),
    # No client is promoted: the highest id ever received is 5, and 4 is lower.
    "when_the_primary_leaves_the_backups_are_told_and_one_may_take_over": (
        "a 5 OK 5, b 4 ALREADY_EXISTS 5, a leaves, b hears NOT_FOUND 5, b 4 NOT_FOUND 5, b 5 OK 5"
    ),
    "a_primary_may_step_down": "a 5 OK 5, a 3 NOT_FOUND 5",
}
"""Clients, the election ids that they send (-: none), and the status and the highest id in the answer."""


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_election_ids_decide_who_is_primary(connect: Connect, steps: str) -> None:
    clients: dict[str, Client] = {}
    for name, does, *told in map(str.split, steps.split(",")):
        client = clients[name] = clients.get(name) or connect()
        if does == "leaves":
            client.close()
            continue
        if does == "-":
            client.send(arbitration=p4r.MasterArbitrationUpdate(device_id=1))
        answer = client.receive().arbitration if does in ("-", "hears") else client.arbitrate(int(does))
        highest = str(U128.decode(answer.election_id)) if answer.HasField("election_id") else "-"
        assert [rpc_code.Code.Name(answer.status.code), highest, answer.device_id] == [*told, 1], (name, does)


def test_a_write_without_an_election_id_is_not_one_with_0(connect: Connect) -> None:
    client = connect()
    client.arbitrate(election_id=0)
    client.write()
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.Write(p4r.WriteRequest(device_id=1))
    assert caught.value.code() is grpc.StatusCode.PERMISSION_DENIED
