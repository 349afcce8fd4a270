"""A forwarding pipeline configuration, checked: the P4Info and the BMv2 program belong together (P4Runtime
1.5 §14).
"""

import json
from dataclasses import dataclass
from typing import Any

from finsy.proto import p4i, p4r
from google.protobuf import text_format

from .._engine import Program
from ..exceptions import ProgramError
from .errors import StatusError, invalid
from .schema import Schema


@dataclass(frozen=True)
class Pipeline:
    """What a client pushed, in the form in which it is used."""

    config: Any
    program: Program
    schema: Schema

    @classmethod
    def from_config(cls, config: Any) -> "Pipeline":
        """Checks a `ForwardingPipelineConfig`; INVALID_ARGUMENT names what cannot be realized."""
        if not config.HasField("p4info"):
            raise invalid("the pipeline config has no P4Info")
        if not config.p4_device_config:
            raise invalid("the pipeline config has no p4_device_config; it takes the BMv2 JSON of p4c-bm2-ss")
        try:
            program = Program(config.p4_device_config)
        except ProgramError as error:
            raise invalid(f"p4_device_config: {error}") from error
        schema = Schema.from_p4info(config.p4info)
        _check_names(schema, config.p4_device_config)
        kept = p4r.ForwardingPipelineConfig()
        kept.CopyFrom(config)
        return cls(kept, program, schema)


def config_from_files(program: bytes, p4info: Any) -> Any:
    """A `ForwardingPipelineConfig` of BMv2 JSON and a P4Info, given as a message or in text format."""
    if isinstance(p4info, str | bytes):
        try:
            p4info = text_format.Parse(p4info, p4i.P4Info())
        except text_format.ParseError as error:
            raise invalid(f"P4Info: {error}") from error
    return p4r.ForwardingPipelineConfig(p4info=p4info, p4_device_config=program)


def _check_names(schema: Schema, program: bytes) -> None:
    """Every object of the P4Info is in the program, with keys of the same number and width."""
    parsed = json.loads(program)
    tables = {
        table["name"]: table for pipeline in parsed.get("pipelines", []) for table in pipeline["tables"]
    }
    for table in schema.tables.values():
        found = tables.get(table.name)
        if found is None:
            raise _missing("table", table.name)
        if len(found["key"]) != len(table.fields):
            raise invalid(
                f"table '{table.name}' has {len(table.fields)} match fields in the P4Info "
                f"and {len(found['key'])} in the program; they are not of one compilation"
            )
        actions = set(found["actions"])
        for choice in table.actions.values():
            if choice.action.name not in actions:
                raise _missing(f"action '{choice.action.name}' in table", table.name)
    for kind, section, objects in (
        ("counter", "counter_arrays", schema.counters),
        ("register", "register_arrays", schema.registers),
    ):
        names = {item["name"] for item in parsed.get(section, [])}
        for item in objects.values():
            if item.name not in names:
                raise _missing(kind, item.name)


def _missing(kind: str, name: str) -> StatusError:
    return invalid(f"the program has no {kind} '{name}', the P4Info has; they are not of one compilation")
