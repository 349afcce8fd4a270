"""Batches: order, atomicity, errors of single updates (P4Runtime 1.5 §12); unsupported entities."""

import pytest
from finsy.proto import p4r, rpc_code
from p4rt_client import (
    DELETE,
    INSERT,
    Client,
    Names,
    codes,
    exact,
    failure,
)

pytestmark = pytest.mark.system


def entry(names: Names, key: int, port: int = 1) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, key), action=names.action("forward", port))


def test_an_unknown_atomicity_is_invalid(client: Client) -> None:
    failure(rpc_code.INVALID_ARGUMENT, "atomicity 9", client.write, atomicity=9)


def test_the_device_is_checked_before_the_client(client: Client) -> None:
    client.device_id, client.election_id = 2, 99
    failure(rpc_code.NOT_FOUND, "", client.write)
    failure(rpc_code.NOT_FOUND, "", client.read, p4r.TableEntry())


def test_a_read_answers_what_is_valid_and_reports_each_request(client: Client, names: Names) -> None:
    client.write((INSERT, entry(names, 1)), (INSERT, entry(names, 2)))
    table = p4r.TableEntry(table_id=names["exact_table"])
    found, failed = client.read_some(table, p4r.TableEntry(table_id=99), p4r.Entity(), entry(names, 2))
    assert found == [entry(names, 1), entry(names, 2), entry(names, 2)]
    assert failed is not None
    assert failed.code == rpc_code.UNKNOWN
    assert codes(failed) == [
        rpc_code.OK,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.INVALID_ARGUMENT,
        rpc_code.OK,
    ]
    assert "2 of 4 requests failed" in failed.message


def test_large_batches_report_every_error(client: Client, names: Names) -> None:
    failed = client.refused(*((DELETE, entry(names, key)) for key in range(500)))
    assert codes(failed) == [rpc_code.NOT_FOUND] * 500
