"""The reference of configuration keys in Markdown, generated from the JSON Schema.

`docs/run/configuration.md` has it between two markers, below a hand-written introduction. `python -m
eeon_control.reference FILE` writes it there.
"""

import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic.json_schema import JsonSchemaValue

from eeon_control import schemas

BEGIN = "<!-- made by `make reference` from the JSON Schema: do not edit below -->"
END = "<!-- end of what is made -->"
_UNITS = {"pkt": "packets", "KiB": "bytes", "us": "time", "Gbps": "bit rate", "kpps": "packet rate"}


def reference() -> str:
    """Returns one table for each mapping of a configuration file, from the top down."""
    return "\n\n".join(["### The file", *Tables().of(schemas.schema("config"))])


def into(page: str, made: str | None = None) -> str:
    """Returns a page with the reference, or `made`, between its markers. Raises ValueError without these."""
    start, end = page.find(BEGIN), page.find(END)
    if not 0 <= start < end:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}")
    text = reference() if made is None else made
    return f"{page[: start + len(BEGIN)]}\n\n{text}\n\n{page[end:]}"


@dataclass(frozen=True)
class Tables:
    """The conversion of a JSON Schema to tables.

    `units`: further kinds of text, by a unit in their pattern. `elsewhere`: models whose tables are on
    another page -> address of that page.
    """

    units: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    def of(self, schema: JsonSchemaValue) -> Iterator[str]:
        """Yields a schema's description, then a table for it and for every mapping below it."""
        yield _lines(_described(schema))
        yield self._table(schema)
        written: set[str] = set(self.elsewhere)
        waiting = _references(schema)
        while waiting:
            name = waiting.pop(0)
            if name in written:
                continue
            written.add(name)
            model = schema["$defs"][name]
            yield f"### {name}"
            yield _lines(_described(model))
            yield self._table(model)
            waiting += _references(model)

    def _table(self, model: JsonSchemaValue) -> str:
        rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
        required = model.get("required", [])
        for key, value in model.get("properties", {}).items():
            default = "required" if key in required else f"`{value['default']}`" if "default" in value else ""
            if isinstance(value.get("default"), bool):
                default = f"`{str(value['default']).lower()}`"
            rows.append(f"| `{key}` | {self._value(value)} | {default} | {_described(value)} |")
        return "\n".join(rows)

    def _value(self, schema: JsonSchemaValue) -> str:
        """Returns the permitted values of a key, in words."""
        if "$ref" in schema:
            return self._link(schema["$ref"])
        if "enum" in schema:
            return ", ".join(f"`{one}`" for one in schema["enum"])
        if "const" in schema:
            return f"`{schema['const']}`"
        if choices := schema.get("anyOf") or schema.get("oneOf"):
            return " or ".join(dict.fromkeys(self._value(one) for one in choices if one != {"type": "null"}))
        match schema.get("type"):
            case "object":
                return self._mapping(schema)
            case "array":
                return f"list of {self._value(schema['items'])}"
            case "boolean":
                return "`true`, `false`"
            case "integer" if "maximum" in schema:
                return f"{schema.get('minimum', 0)} to {schema['maximum']}"
            case "string" if "pattern" in schema:
                return self._text(schema)
            case "string":
                return "text"
            case kind:
                return str(kind)

    def _text(self, schema: JsonSchemaValue) -> str:
        """Returns the kind of a text, by the units in its pattern, with its examples."""
        pattern = schema["pattern"]
        known = {**_UNITS, **self.units}
        kinds = [kind for unit, kind in known.items() if re.search(rf"[(|]{unit}[)|]", pattern)]
        if not kinds:
            kinds = ["probability" if "%" in pattern else "weight" if "/" in pattern else "name"]
        shown = [" or ".join(kinds)]
        return ", ".join(shown + [f"`{one}`" for one in schema.get("examples", [])])

    def _mapping(self, schema: JsonSchemaValue) -> str:
        if "properties" in schema:
            return f"`{{{schema['required'][0]}: ...}}` (short form)"
        if "patternProperties" in schema:
            [(pattern, value)] = schema["patternProperties"].items()
            return f"{'link speed' if 'bps' in pattern else 'name'}: {self._value(value)}"
        if isinstance(schema.get("additionalProperties"), dict):
            return f"name: {self._value(schema['additionalProperties'])}"
        return "mapping"

    def _link(self, reference_: str) -> str:
        name = reference_.rpartition("/")[2]
        return f"[{name}]({self.elsewhere.get(name, '')}#{name.lower()})"


def _lines(text: str) -> str:
    """Returns prose with one sentence per line, and no line above 160 characters."""
    sentences = re.split(r"(?<=\.) (?=[A-Z`])", text)
    return "\n".join(line for one in sentences for line in textwrap.wrap(one, 160, break_on_hyphens=False))


def _described(model: JsonSchemaValue) -> str:
    return " ".join(str(model.get("description", "")).split())


def _references(part: object) -> list[str]:
    """Returns the names of the models that a schema refers to, in order."""
    if isinstance(part, list):
        return [name for one in part for name in _references(one)]
    if not isinstance(part, dict):
        return []
    own = [str(part["$ref"]).rpartition("/")[2]] if "$ref" in part else []
    inner = (value for key, value in part.items() if key not in ("$defs", "$ref"))
    return own + [name for one in inner for name in _references(one)]


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(into(path.read_text(encoding="utf-8")), encoding="utf-8")
    print(path)
