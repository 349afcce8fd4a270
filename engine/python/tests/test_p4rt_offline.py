"""A `WriteRequest` applied to a switch without a server."""

import unittest.mock

import pytest
from eeon_engine import Program, Switch
from eeon_engine.exceptions import ConfigError
from eeon_engine.p4runtime import Writer, write
from eeon_engine.p4runtime.program.pipeline import Pipeline
from finsy.proto import p4r
from p4rt_client import INSERT, Names, entity_of, exact, p4info, program_json


def request(names: Names, *keys: int) -> p4r.WriteRequest:
    """Returns entries of the exact table, each of which forwards to the port of its key."""
    made = p4r.WriteRequest()
    for key in keys:
        entry = names.entry("exact_table", exact(1, key), action=names.action("forward", key))
        made.updates.add(type=INSERT, entity=entity_of(entry))
    return made


def test_one_refused_update_takes_all_back_and_is_named(switch, names):
    with pytest.raises(ConfigError, match=r"update 3 of 4: .*already exists"):
        write(switch, p4info(), request(names, 1, 2, 1, 3))
    assert switch.mt_get_entries("EverythingIngress.exact_table") == []


def test_a_switch_without_a_program_and_another_p4info_are_refused(switch, names):
    with pytest.raises(ConfigError, match="has no program"):
        write(Switch(), p4info(), request(names, 1))
    with pytest.raises(ConfigError):
        write(switch, p4info("resources"), request(names, 1))
    with pytest.raises(ConfigError, match="P4Info"):
        write(switch, "no P4Info", request(names, 1))


def test_a_program_loaded_for_tracing_takes_them_too(program, names):
    switch = Switch(Program(program.json, for_tracing=True))
    assert write(switch, p4info(), request(names, 7)) == 1


def test_a_writer_reads_the_p4info_once_for_each_program(switch, names):
    writer = Writer(switch, p4info())
    with unittest.mock.patch.object(Pipeline, "of_program", wraps=Pipeline.of_program) as read:
        assert [writer.write(request(names, key)) for key in (1, 2)] == [1, 1]
        assert read.call_count == 1
        switch.load_program(Program(program_json("resources")))
        with pytest.raises(ConfigError):
            writer.write(request(names, 3))
        assert read.call_count == 2
