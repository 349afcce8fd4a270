"""The cost of a Read or a Write, and waits of others: limits, partial responses, packets in between."""

import itertools
import json
from collections.abc import Iterator
from contextlib import closing
from functools import cache

import pytest
from eeon_engine import Program, Switch
from eeon_engine.p4runtime import Server, serve
from eeon_engine.p4runtime.device import Device
from eeon_engine.p4runtime.entities import chunks
from eeon_engine.p4runtime.errors import StatusError
from eeon_engine.p4runtime.program.pipeline import Pipeline, config_from_files
from eeon_engine.p4runtime.reading import Reading
from finsy.proto import p4i, p4r, rpc_code
from p4rt_client import INSERT, MODIFY, Client, Names, bits, entity_of, exact, meanwhile, p4info, program_json

pytestmark = pytest.mark.system

REGISTER, COUNTER = "EverythingIngress.wide_cells", "EverythingIngress.both"
TABLE = "EverythingIngress.exact_table"
# The limit on cells of BMv2 JSON programs.
LARGEST = 1 << 26


@cache
def sized(cells: int) -> tuple[bytes, p4i.P4Info]:
    """Returns the program `everything` with this number of cells in its register and counter, and of entries
    in its table."""
    document, info = json.loads(program_json()), p4info()
    for kind, name in (("register_arrays", REGISTER), ("counter_arrays", COUNTER)):
        next(one for one in document[kind] if one["name"] == name)["size"] = cells
    for pipeline in document["pipelines"]:
        for table in pipeline["tables"]:
            if table["name"] == TABLE:
                table["max_size"] = cells
    for one in (*info.registers, *info.counters, *info.tables):
        if one.preamble.name in (REGISTER, COUNTER, TABLE):
            one.size = cells
    return json.dumps(document).encode(), info


class Served:
    """A switch with large arrays, its server, and its primary."""

    def __init__(self, cells: int) -> None:
        program, info = sized(cells)
        self.switch = Switch(Program(program))
        self.server: Server = serve(self.switch, p4info=info)
        self.names = Names(info)
        self.client = Client(self.server.address)
        self.client.arbitrate()
        self.register = p4r.RegisterEntry(register_id=self.names["wide_cells"])
        self.counter = p4r.CounterEntry(counter_id=self.names["both"])

    def responses(self, *entities: object) -> Iterator[p4r.ReadResponse]:
        request = p4r.ReadRequest(device_id=1, entities=[entity_of(entity) for entity in entities])
        return iter(self.client.stub.Read(request, timeout=120))

    def close(self) -> None:
        self.client.close()
        self.server.stop()


@pytest.fixture
def large() -> Iterator[Served]:
    with closing(Served(5000)) as served:
        yield served


def test_what_is_asked_for_twice_is_answered_once(large):
    answers = large.client.read(*[large.register] * 50, *[large.counter] * 50)
    assert len(answers) == 10_000


def test_a_request_of_a_few_bytes_for_more_cells_than_the_limit_is_refused_before_any_is_read():
    with closing(Served(LARGEST // 4)) as served:
        for entity in (served.register, p4r.RegisterEntry(), served.counter, p4r.CounterEntry()):
            failed = served.client.read_refused(entity)
            assert failed.code == rpc_code.RESOURCE_EXHAUSTED, failed
            assert f"the limit is {chunks.MAX_READ_CELLS}" in failed.message
        by_index = p4r.RegisterEntry(register_id=served.register.register_id, index=p4r.Index(index=1 << 23))
        assert served.client.read(by_index)[0].index.index == 1 << 23
        every = p4r.RegisterEntry(register_id=served.register.register_id, data=bits(1))
        assert served.client.refused((MODIFY, every)).code == rpc_code.RESOURCE_EXHAUSTED
        by_index.data.CopyFrom(bits(9))
        served.client.write((MODIFY, by_index))
        assert served.client.read(by_index)[0].data == bits(9)


def test_many_small_requests_may_cost_no_more_than_one_large_one(large, monkeypatch):
    monkeypatch.setattr(chunks, "MAX_READ_CELLS", 9_999)
    assert len(large.client.read(large.register)) == 5000
    assert large.client.read_refused(large.register, large.counter).code == rpc_code.RESOURCE_EXHAUSTED
    # Each filter is a separate request, and inspects every entry.
    large.client.write(*((INSERT, entry) for entry in entries(large, 1000)))
    table = large.names["exact_table"]
    filters = [p4r.TableEntry(table_id=table, controller_metadata=number) for number in range(1, 11)]
    assert large.client.read_refused(*filters).code == rpc_code.RESOURCE_EXHAUSTED
    assert large.client.read(*filters[:5]) == []


def test_more_items_than_the_limit_are_refused(large, monkeypatch):
    monkeypatch.setattr(chunks, "MAX_READ_ITEMS", 100)
    failed = large.client.read_refused(*[large.register] * 101)
    assert failed.code == rpc_code.RESOURCE_EXHAUSTED
    assert "asks for 101 entities, the limit is 100" in failed.message


def entries(served: Served, count: int) -> list[p4r.TableEntry]:
    action = served.names.action("drop")
    return [served.names.entry("exact_table", exact(1, key), action=action) for key in range(count)]


def test_cells_that_are_asked_for_one_by_one_come_in_messages_of_a_thousand(large):
    counter = large.counter.counter_id
    cells = [p4r.CounterEntry(counter_id=counter, index=p4r.Index(index=index)) for index in range(2500)]
    sizes = [len(response.entities) for response in large.responses(*cells)]
    assert sizes == [1000, 1000, 500]


def test_packets_move_and_others_write_while_a_long_answer_is_taken(large):
    answer = large.responses(large.register)
    next(answer)
    # The client stops reading. Each of these calls would block forever if the response held the switch.
    large.switch.advance_to(10**12)
    last = p4r.RegisterEntry(
        register_id=large.register.register_id, index=p4r.Index(index=4999), data=bits(7)
    )
    large.client.write((MODIFY, last))
    rest = [entity.register_entry for response in answer for entity in response.entities]
    assert [entry.index.index for entry in rest] == list(range(5000 - len(rest), 5000))


def test_entries_that_stay_are_answered_once_while_others_come_and_go(large):
    made = entries(large, 5000)
    for start in range(0, 5000, 500):
        large.client.write(*((INSERT, entry) for entry in made[start : start + 500]))
    asked = p4r.TableEntry(table_id=large.names["exact_table"])
    before = {entry.match[0].exact.value for entry in large.client.read(asked)}
    assert len(before) == 5000

    def come_and_go() -> None:
        for kind in (p4r.Update.DELETE, INSERT):
            large.client.write(*((kind, entry) for entry in made[::50]))

    with meanwhile(come_and_go):
        staying = {entry.match[0].exact.value for index, entry in enumerate(made) if index % 50}
        for _ in range(5):
            found = [entity.table_entry for r in large.responses(asked) for entity in r.entities]
            seen = [entry.match[0].exact.value for entry in found]
            assert len([key for key in seen if key in staying]) == len(staying)
            assert staying <= set(seen)


def test_an_answer_is_not_gone_on_with_under_another_pipeline():
    program, info = sized(5000)
    config = config_from_files(program, info)
    device = Device(Switch(Program(program)), Pipeline.from_config(config))
    reading = device.read(p4r.ReadRequest(device_id=1, entities=[entity_of(p4r.RegisterEntry())]))
    responses = reading.responses()
    next(responses)
    device._commit(Pipeline.from_config(config), [])
    with pytest.raises(StatusError, match="another pipeline was committed") as caught:
        list(responses)
    assert caught.value.code == rpc_code.ABORTED


def test_requests_that_find_nothing_count_as_cells():
    """A part of an answer, while which the switch is blocked, has as many of them as it may have cells."""
    source = (chunks.Chunk(0, list) for _ in range(2500))
    assert [len(Reading._next_part(source)) for _ in range(4)] == [1000, 1000, 500, 0]


def test_a_short_answer_is_of_one_state(large):
    """No two of 900 cells are from different sides of a packet or a write, of whatever interface."""
    index = [p4r.Index(index=number) for number in range(900)]
    register = large.register.register_id
    values_of = itertools.cycle(range(250))

    def write() -> None:
        large.switch.register_write_range(REGISTER, 0, 900, bytes([next(values_of)]))

    with meanwhile(write):
        asked = [p4r.RegisterEntry(register_id=register, index=one) for one in index]
        for _ in range(20):
            values = {
                entity.register_entry.data.bitstring for r in large.responses(*asked) for entity in r.entities
            }
            assert len(values) == 1
