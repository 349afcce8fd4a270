"""JSON Schemas of hand-written files (configuration, topology, targets), generated from the models.

Editors (with yaml-language-server, for example) use them for completion and to mark mistakes. They describe
the form of a file. docs/run/configuration.md lists the further checks of the loaders: names that must exist,
values that must be ordered or fit 32 bits, keys that exclude each other.

    # yaml-language-server: $schema=config.schema.json

The copies in control_plane/schema/ ship with the package; `python -m eeon_control.schemas FOLDER` writes
them.
"""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema, WithDefaultSchema

from eeon_control.config import FabricConfig
from eeon_control.model_base import Strict
from eeon_control.targets import TargetsFile
from eeon_control.topology.schema import TopologyFile
from eeon_control.units import Quantity

_DIALECT = "http://json-schema.org/draft-07/schema#"  # the version that editors' YAML plugins support best
MODELS: dict[str, tuple[type[BaseModel], str]] = {
    "config": (FabricConfig, "E-EON configuration"),
    "topology": (TopologyFile, "E-EON topology"),
    "targets": (TargetsFile, "E-EON targets"),
}


def schema(kind: str) -> JsonSchemaValue:
    """Returns the JSON Schema of one kind of file: `config`, `topology` or `targets`."""
    return of_model(*MODELS[kind])


def of_model(model: type[BaseModel], title: str) -> JsonSchemaValue:
    """Returns the JSON Schema of the files that a model describes."""
    made = model.model_json_schema(by_alias=True, schema_generator=_Generator)
    _tidy(made)
    return {"$schema": _DIALECT, **made, "title": title}


def text(kind: str) -> str:
    """Returns the schema in its committed form: indented JSON with a final newline."""
    return json.dumps(schema(kind), indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> list[Path]:
    """Writes all schemas into a folder. Returns their paths."""
    paths = [folder / f"{kind}.schema.json" for kind in MODELS]
    for path, kind in zip(paths, MODELS, strict=True):
        path.write_text(text(kind), encoding="utf-8")
    return paths


class _Generator(GenerateJsonSchema):
    """Omits titles that repeat the key, writes defaults in the files' notation, and takes the text below each
    field as its description. pydantic can read that text too, but would do so in every process that imports
    the models, which takes a quarter of a command's start."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        made = self.generate_inner(schema["schema"])
        default = schema.get("default")
        if isinstance(default, Quantity):
            default = str(default)
        if isinstance(default, (str, bool, int)) and default != "":
            return {**made, "default": default}
        return made

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        made = super().model_schema(schema)
        model = schema["cls"]
        for owner in model.__mro__:
            for name, text in _texts_below_fields(owner) if issubclass(owner, Strict) else ():
                key = model.model_fields[name].alias or name
                made["properties"][key].setdefault("description", text)
        return made


def _texts_below_fields(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yields (field, the string below it) of a class, without inherited fields."""
    (defined,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(defined, ast.ClassDef)
    for field, below in pairwise(defined.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(text))):
                yield name, inspect.cleandoc(text)


def _tidy(part: object) -> None:
    """Tidies a schema: descriptions on one line, no keys beside patterns, optional keys without a value."""
    if isinstance(part, list):
        for one in part:
            _tidy(one)
        return
    if not isinstance(part, dict):
        return
    for one in part.values():
        _tidy(one)
    if isinstance(part.get("description"), str):
        part["description"] = (
            part["description"].replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n\n")
        )
    if "patternProperties" in part:
        part["additionalProperties"] = False
    if isinstance(part.get("properties"), dict):
        _allow_empty_values(part["properties"], part.get("required", []))


def _allow_empty_values(properties: JsonSchemaValue, required: list[str]) -> None:
    """Allows an optional key to have no value; see model_base.Strict."""
    for key, value in properties.items():
        if key in required:
            continue
        kept = {name: value.pop(name) for name in ("description", "default", "examples") if name in value}
        choices = value["anyOf"] if set(value) == {"anyOf"} else [value]
        if {"type": "null"} not in choices:
            choices = [*choices, {"type": "null"}]
        properties[key] = {**kept, "anyOf": choices}


if __name__ == "__main__":
    for written in write(Path(sys.argv[1])):
        print(written)
