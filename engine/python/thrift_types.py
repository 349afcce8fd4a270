"""Stubs of the Thrift interface: mypy's view of the modules that thriftpy2 makes from .thrift files.

`python engine/python/thrift_types.py` writes a stub beside each .thrift file; `make setup` runs it if a stub
is out of date. No program imports the stubs: `eeon_engine/thrift/interface.py` puts thriftpy2's modules in
their place.
"""

from pathlib import Path

import thriftpy2
from thriftpy2.thrift import TPayload, TType

FOLDER = Path(__file__).parent / "eeon_engine" / "thrift"
NAMES = sorted(path.stem for path in FOLDER.glob("*.thrift"))

_HEADER = '''"""Types of {name}.thrift, for mypy alone.

Made by `make setup`: do not edit. A client may leave out any field, which is then None.
"""

from typing import ClassVar

from thriftpy2.thrift import {bases}
'''

_SCALARS = {
    TType.BOOL: "bool",
    TType.BYTE: "int",
    TType.I16: "int",
    TType.I32: "int",
    TType.I64: "int",
    TType.DOUBLE: "float",
    TType.STRING: "str",
    TType.BINARY: "bytes",
}


def stub_path(name: str) -> Path:
    """Returns the path of the stub of a .thrift file."""
    return FOLDER / f"{name}_types.pyi"


def stub(name: str) -> str:
    """Returns the stub of the .thrift file of this name."""
    module = thriftpy2.load(str(FOLDER / f"{name}.thrift"), module_name=f"eeon_{name}_stub_thrift")
    meta = module.__thrift_meta__
    bases = ("TException" if meta["exceptions"] else "", "TPayload" if meta["structs"] else "")
    parts = [_HEADER.format(name=name, bases=", ".join(filter(None, bases)))]
    parts += [_enum(kind) for kind in meta["enums"]]
    parts += [_struct(kind, "TException") for kind in meta["exceptions"]]
    parts += [_struct(kind, "TPayload") for kind in meta["structs"]]
    parts += [
        f"class {kind.__name__}:\n    thrift_services: ClassVar[list[str]]\n" for kind in meta["services"]
    ]
    return "\n".join(parts)


def _enum(kind: type) -> str:
    names: dict[str, int] = vars(kind)["_NAMES_TO_VALUES"]
    lines = [f"class {kind.__name__}:", *(f"    {name}: ClassVar[int]" for name in names)]
    lines += [
        "    _NAMES_TO_VALUES: ClassVar[dict[str, int]]",
        "    _VALUES_TO_NAMES: ClassVar[dict[int, str]]",
    ]
    return "\n".join(lines) + "\n"


def _struct(kind: type[TPayload], base: str) -> str:
    fields = [(spec[1], _type(spec[0], spec[2])) for spec in kind.thrift_spec.values()]
    lines = [f"class {kind.__name__}({base}):", *(f"    {name}: {type_} | None" for name, type_ in fields)]
    lines += ["    def __init__(", "        self,"]
    lines += [f"        {name}: {type_} | None = None," for name, type_ in fields]
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def _type(kind: int, spec: object) -> str:
    """Returns the Python type of a field; `spec` is thriftpy2's, of a struct, a list's element or a map."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == TType.STRUCT and isinstance(spec, type):
        return spec.__name__
    if kind == TType.LIST:
        return f"list[{_element(spec)}]"
    if kind == TType.MAP and isinstance(spec, tuple):
        return f"dict[{_element(spec[0])}, {_element(spec[1])}]"
    raise ValueError(f"type {kind} of the interface has no Python type here; add it")


def _element(spec: object) -> str:
    """Returns the Python type of an element: thriftpy2 has a number, or a tuple with its details."""
    kind, inner = spec if isinstance(spec, tuple) else (spec, None)
    return _type(kind, inner)


if __name__ == "__main__":
    for name in NAMES:
        stub_path(name).write_text(stub(name), encoding="utf-8")
