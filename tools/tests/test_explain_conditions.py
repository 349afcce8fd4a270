"""The text of a condition is true if and only if the condition is."""

import json
from typing import Any

import pytest
from eeon_tools.explain.source import Source
from eeon_tools.explain.story import _priority


def field(*value: str) -> dict[str, Any]:
    return {"type": "field", "value": list(value)}


def op(name: str, right: Any, left: Any = None) -> dict[str, Any]:
    return {"type": "expression", "value": {"op": name, "left": left, "right": right}}


def number(value: str) -> dict[str, Any]:
    return {"type": "hexstr", "value": value}


SKIP = op("d2b", field("scalars", "M.skip"))
VALID = op("d2b", field("ipv4", "$valid$"))
OTHER = op("d2b", field("scalars", "hasExited_0"))
TTL = op("==", number("0x01"), field("ipv4", "ttl"))


def shown(expression: Any, fragment: str) -> str:
    condition = {
        "name": "node_1",
        "expression": expression,
        "source_info": {"filename": "x.p4", "line": 7, "source_fragment": fragment},
    }
    program = {"pipelines": [{"name": "ingress", "tables": [], "conditionals": [condition]}]}
    return Source(json.dumps(program).encode()).condition("ingress", 0)[0]


@pytest.mark.parametrize(
    ("expression", "fragment"),
    [
        (SKIP, "m.skip"),
        (op("not", SKIP), "!m.skip"),
        (op("not", SKIP), "!(m.skip)"),
        (VALID, "hdr.ipv4.isValid()"),
        (op("not", VALID), "!hdr.ipv4.isValid()"),
        (op("==", number("0x01"), field("ipv4", "$valid$")), "hdr.ipv4.isValid()"),
        (TTL, "hdr.ipv4.ttl == LAST"),
        (op("not", TTL), "!(hdr.ipv4.ttl == 1)"),
        (op("and", TTL, VALID), "hdr.ipv4.isValid() && hdr.ipv4.ttl == 1"),
        (op("or", op("and", TTL, VALID), SKIP), "m.skip || (a && b)"),
        (op("d2b", field("scalars", "tmp_0")), "t.apply().hit && m.skip"),
        (op("d2b", field("scalars", "is_last_0")), "is_last"),
        (op("<", number("0x05"), field("ipv4", "ttl")), "(hdr.ipv4.ttl & 3) < 5"),
    ],
)
def test_the_text_of_the_source_is_shown_where_it_says_the_same(expression, fragment):
    assert shown(expression, fragment) == fragment


@pytest.mark.parametrize(
    ("expression", "fragment", "text"),
    [
        (op("not", SKIP), "m.skip", "!M.skip"),
        (SKIP, "!m.skip", "M.skip"),
        (op("not", VALID), "hdr.ipv4.isValid()", "!ipv4.isValid()"),
        (op("!=", number("0x01"), field("ipv4", "ttl")), "hdr.ipv4.ttl == 1", "ipv4.ttl != 1"),
        (op("or", TTL, VALID), "!(hdr.a.isValid() && hdr.b)", "ipv4.isValid() || (ipv4.ttl == 1)"),
        (op("not", OTHER), "m.skip", "!hasExited_0"),
        (OTHER, "m.skip", "hasExited_0"),
        (op("and", TTL, VALID), "m.skip", "ipv4.isValid() && (ipv4.ttl == 1)"),
    ],
)
def test_the_expression_is_shown_where_the_text_says_something_else(expression, fragment, text):
    assert shown(expression, fragment) == text


def test_priorities_are_those_that_were_written():
    assert [_priority(value) for value in (2**31 - 1 - 10, 2**31 - 2, 1, 0)] == [10, 1, 1, 0]


def test_a_statement_names_the_parameters_of_its_action():
    to_port = {"op": "assign", "parameters": [field("meta", "port"), {"type": "runtime_data", "value": 1}]}
    params = [{"name": "mac", "bitwidth": 48}, {"name": "port", "bitwidth": 9}]
    program = {"actions": [{"name": "forward", "runtime_data": params, "primitives": [to_port]}]}
    assert Source(json.dumps(program).encode()).statement(0, 0)[1] == "meta.port = port"
