"""Set- and GetForwardingPipelineConfig (P4Runtime 1.5 §14, §15)."""

import json
from collections.abc import Iterator

import grpc
import pytest
from eeon_engine import ConfigError, Program, Switch
from eeon_engine.p4runtime import serve
from eeon_engine.p4runtime.program.pipeline import Pipeline, config_from_files
from finsy.proto import p4d, p4r, rpc_code
from p4rt_client import INSERT, MODIFY, Client, Names, exact, failure, p4info, pipeline, primary, program_json

pytestmark = pytest.mark.system

Action = p4r.SetForwardingPipelineConfigRequest


def config(cookie: int | None = None) -> p4r.ForwardingPipelineConfig:
    made = pipeline()
    if cookie is not None:
        made.cookie.cookie = cookie
    return made


@pytest.fixture
def bare() -> Switch:
    return Switch()


@pytest.fixture
def client(bare: Switch) -> Iterator[Client]:
    with serve(bare) as server, primary(server.address) as client:
        yield client


def drop_entry(names: Names, key: int = 1) -> p4r.TableEntry:
    return names.entry("exact_table", exact(1, key), action=names.action("drop"))


def test_a_committed_pipeline_runs_and_is_read_back(client, bare):
    client.push(Action.VERIFY_AND_COMMIT, config(cookie=77))
    assert bare.program is not None
    assert bare.program.digest == Program(program_json()).digest
    kinds = p4r.GetForwardingPipelineConfigRequest
    assert client.pipeline() == config(cookie=77)
    assert client.pipeline(kinds.COOKIE_ONLY) == p4r.ForwardingPipelineConfig(
        cookie=p4r.ForwardingPipelineConfig.Cookie(cookie=77)
    )
    assert not client.pipeline(kinds.P4INFO_AND_COOKIE).p4_device_config
    assert not client.pipeline(kinds.DEVICE_CONFIG_AND_COOKIE).HasField("p4info")


def wrapped(program: bytes) -> bytes:
    """Returns an encoded `p4.tmp.P4DeviceConfig`: `reassign`, empty extras, `device_data`."""
    length, size = [], len(program)
    while size >= 128:
        length.append(size % 128 + 128)
        size //= 128
    return b"\x08\x01\x12\x00\x1a" + bytes([*length, size]) + program


def test_an_old_message_around_the_program_is_taken_with_a_warning(client, bare, caplog):
    old = config()
    old.p4_device_config = wrapped(program_json())
    client.push(Action.VERIFY_AND_COMMIT, old)
    assert bare.program is not None
    assert bare.program.digest == Program(program_json()).digest
    assert client.pipeline() == old
    assert "p4.tmp.P4DeviceConfig, which is deprecated" in caplog.text


@pytest.mark.parametrize("device_config", [b"\x08\x01", wrapped(b"no JSON"), b"no JSON"])
def test_what_is_neither_a_program_nor_an_old_message_around_one_is_refused_and_logged(
    client, device_config, caplog
):
    wrong = config()
    wrong.p4_device_config = device_config
    arguments = (Action.VERIFY_AND_COMMIT, wrong)
    said = failure(rpc_code.INVALID_ARGUMENT, "p4_device_config", client.push, *arguments).message
    assert f"refused: {said}" in caplog.text


def test_switches_that_get_the_same_program_share_its_check():
    first, second = (Pipeline.from_config(config_from_files(program_json(), p4info())) for _ in range(2))
    assert first is second
    other = config_from_files(program_json(), p4info())
    other.cookie.cookie = 7
    assert Pipeline.from_config(other).config.cookie.cookie == 7


def cloning(class_of_service: int) -> p4r.CloneSessionEntry:
    replica = p4r.Replica(port=b"\x01")
    return p4r.CloneSessionEntry(session_id=1, replicas=[replica], class_of_service=class_of_service)


def test_reconcile_keeps_a_class_of_service(program, names):
    with serve(Switch(program, priorities=4), p4info=p4info()) as server, primary(server.address) as client:
        client.write((INSERT, cloning(3)))
        client.push(Action.RECONCILE_AND_COMMIT, config())
        (found,) = client.read(p4r.CloneSessionEntry())
        assert found.clone_session_entry == cloning(3)


def test_a_saved_write_that_the_switch_refuses_is_named_by_commit_and_the_rest_is_committed(
    client, bare, names
):
    """The switch has one queue per port, which shows only when the clone session is committed."""
    client.push(Action.VERIFY_AND_SAVE, config(cookie=4))
    client.write((INSERT, cloning(3)), (INSERT, drop_entry(names)))
    said = r"refused 1 of the 2 writes .* class of service 3"
    failure(rpc_code.INVALID_ARGUMENT, said, client.push, Action.COMMIT)
    assert client.pipeline().cookie.cookie == 4
    assert client.read(p4r.TableEntry(table_id=names["exact_table"])) == [drop_entry(names)]
    assert client.read(p4r.CloneSessionEntry()) == []


def test_counts_without_a_place_in_the_new_program_are_left_behind_and_logged(client, names, caplog):
    client.push(Action.VERIFY_AND_COMMIT, config())
    one = p4d.P4Data(bitstring=b"\1")
    client.write(
        (MODIFY, p4r.CounterEntry(counter_id=names["both"], data=p4r.CounterData(packet_count=1))),
        (MODIFY, p4r.RegisterEntry(register_id=names["wide_cells"], index=p4r.Index(index=1), data=one)),
    )
    client.push(Action.RECONCILE_AND_COMMIT, pipeline("resources"))
    assert "9 counts and register cells do not fit the new program" in caplog.text


def test_a_default_that_no_client_set_is_the_new_programs(client, names):
    client.push(Action.VERIFY_AND_COMMIT, config())
    client.write((MODIFY, names.entry("settings", action=names.action("drop"), is_default_action=True)))
    client.write((MODIFY, names.entry("settings", is_default_action=True)))
    changed = config()
    program = json.loads(changed.p4_device_config)
    tables = {table["name"]: table for table in program["pipelines"][0]["tables"]}
    table = tables["EverythingIngress.settings"]
    drop = table["action_ids"][table["actions"].index("EverythingIngress.drop")]
    table["default_entry"]["action_id"] = drop
    changed.p4_device_config = json.dumps(program).encode()
    client.push(Action.RECONCILE_AND_COMMIT, changed)
    asked = names.entry("settings", is_default_action=True)
    assert client.read(asked)[0].action.action.action_id == names["drop"]


def test_the_version_of_the_api_is_that_of_this_device_and_of_no_other(client):
    for request in (p4r.CapabilitiesRequest(), p4r.CapabilitiesRequest(device_id=1)):
        assert client.stub.Capabilities(request).p4runtime_api_version == "1.5.0"
    with pytest.raises(grpc.RpcError) as caught:
        client.stub.Capabilities(p4r.CapabilitiesRequest(device_id=2))
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_serve_refuses_a_p4info_of_another_program(program):
    info = p4info()
    info.tables[0].preamble.name = "other.table"
    with pytest.raises(ConfigError, match=r"other\.table"):
        serve(Switch(program), p4info=info)
    with pytest.raises(ConfigError, match="no program"):
        serve(Switch(), p4info=p4info())
    with pytest.raises(ConfigError, match="P4Info"):
        serve(Switch(program), p4info="tables { nonsense")
