"""The Python types of the JSON that Rust and Python exchange, generated from `schema.json` in this folder.

`python engine/schema/python_types.py FILE` writes them; `make reference` does so after it has written the
schema. They are TypedDicts: values remain the plain dictionaries from JSON, and mypy knows their keys.
"""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from datamodel_code_generator import (
    DataModelType,
    Formatter,
    InputFileType,
    LiteralType,
    PythonVersion,
    generate,
)

SCHEMA = Path(__file__).with_name("schema.json")
ROOT = Path(__file__).resolve().parents[2]
HEADER = '''"""What crosses between Rust and Python as JSON or as dictionaries.

Made by `make reference` of the Rust types: do not edit. ARCHITECTURE.md says how a type is changed.
"""'''


def python_types() -> str:
    """Returns the module's source."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        # JSON Schema does not define formats such as "uint64"; in Python all of them are int.
        warnings.filterwarnings("ignore", "format of '.*' not understood")
        source = generate(
            json.dumps(_in_order(schema)),
            input_file_type=InputFileType.JsonSchema,
            output_model_type=DataModelType.TypingTypedDict,
            target_python_version=PythonVersion.PY_311,
            custom_file_header=HEADER,
            formatters=[Formatter.BUILTIN],
            enum_field_as_literal=LiteralType.All,
            skip_root_model=True,
            use_title_as_name=True,
            additional_imports=["typing.final"],
            use_type_alias=True,
            use_closed_typed_dict=False,
            use_schema_description=True,
            use_field_description=True,
            use_inline_field_description=True,
            use_single_line_docstring=True,
            use_standard_collections=True,
            use_union_operator=True,
        )
    assert isinstance(source, str), "a schema of one document makes one module"
    # mypy narrows a union by a member that only one type has, but only if the types are final.
    return _formatted(re.sub(r"^class \w+\(TypedDict\)", r"@final\n\g<0>", source, flags=re.MULTILINE))


def _in_order(node: Any) -> Any:  # noqa: ANN401
    """Returns the schema with members in the order of their declaration, as far as `required` has it."""
    if isinstance(node, list):
        return [_in_order(item) for item in node]
    if not isinstance(node, dict):
        return node
    ordered = {key: _in_order(value) for key, value in node.items()}
    if isinstance(properties := ordered.get("properties"), dict):
        first = [name for name in ordered.get("required", ()) if name in properties]
        ordered["properties"] = {name: properties[name] for name in [*first, *properties]}
    return ordered


def _formatted(source: str) -> str:
    ruff = [sys.executable, "-m", "ruff", "format", "--config", str(ROOT / "ruff.toml"), "-"]
    run = subprocess.run(ruff, input=source, text=True, capture_output=True, check=True)
    return run.stdout


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(python_types(), encoding="utf-8")
