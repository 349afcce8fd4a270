"""Variants of the packaged program."""

import json
import re

from eeon_control.entries import Action
from finsy import P4Schema
from finsy.proto import p4r


def commented(program_json: bytes, lines: int = 1) -> bytes:
    """Returns p4c's output for the program with comments at the top of every source."""
    value = json.loads(program_json)
    text = json.dumps(_moved(value, lines))
    hidden = re.compile(r"(?<![A-Za-z0-9_.])(tbl_)?(eeon|priority)(\d+)(?=[_\"])")
    return hidden.sub(lambda found: f"{found[1] or ''}{found[2]}{int(found[3]) + lines}", text).encode()


def another(config: p4r.ForwardingPipelineConfig, cookie: int) -> p4r.ForwardingPipelineConfig:
    """Returns another program with the same P4Info: it has one more parser error."""
    value = json.loads(config.p4_device_config)
    value["errors"].append(["Another", 99])
    changed = p4r.ForwardingPipelineConfig()
    changed.CopyFrom(config)
    changed.p4_device_config = json.dumps(value).encode()
    changed.cookie.cookie = cookie
    return changed


def without_table(config: p4r.ForwardingPipelineConfig, alias: str) -> p4r.ForwardingPipelineConfig:
    """Returns an earlier program, which lacks one table."""
    earlier = another(config, 5)
    left = [table for table in earlier.p4info.tables if table.preamble.alias != alias]
    assert len(left) == len(earlier.p4info.tables) - 1
    del earlier.p4info.tables[:]
    earlier.p4info.tables.extend(left)
    return earlier


def beside_a_tenant(config: p4r.ForwardingPipelineConfig, role: str = "eeon") -> p4r.ForwardingPipelineConfig:
    """Returns another owner's program: all of this one, with its tables assigned to a role, and a table of
    the role `tenant`."""
    extended = another(config, 9)
    value = json.loads(extended.p4_device_config)
    tables = value["pipelines"][0]["tables"]
    (like,) = [table for table in tables if table["name"].endswith(".port_buffer")]
    tables.append(like | {"name": TENANT, "id": 1 + max(table["id"] for table in tables)})
    extended.p4_device_config = json.dumps(value).encode()
    for table in extended.p4info.tables:
        table.preamble.annotations.append(f'@p4runtime_role("{role}")')
    (known,) = [table for table in extended.p4info.tables if table.preamble.alias == "port_buffer"]
    other = extended.p4info.tables.add()
    other.CopyFrom(known)
    other.preamble.id, other.preamble.name, other.preamble.alias = 0x02ABCDEF, TENANT, "tenant"
    other.preamble.annotations[:] = ['@p4runtime_role("tenant")']
    return extended


TENANT = "eeon_ingress.tenant"


def _moved(value: object, lines: int) -> object:
    if isinstance(value, dict):
        return {
            key: part + lines if key == "line" and isinstance(part, int) else _moved(part, lines)
            for key, part in value.items()
        }
    return [_moved(part, lines) for part in value] if isinstance(value, list) else value


def allows(schema: P4Schema, action: Action) -> bool:
    """Returns whether the program's `@action_restriction` holds for the action's parameters.

    Supports the subset of p4-constraints' language that is Python, except for the spelling of `and`, `or`.
    """
    annotations = schema.actions[action.name].pbuf.preamble.annotations
    (text,) = (one for one in annotations if one.startswith("@action_restriction"))
    python = text[len('@action_restriction("') : -len('")')].replace("&&", "and").replace("||", "or")
    return bool(eval(python, {"__builtins__": {}}, dict(action.params)))
