"""The parts of a program's BMv2 JSON that an explanation needs: names, places in the P4 source, conditions as
text.

p4c records in the JSON where statements and conditions are in the source (`source_info`). It keeps only a
short fragment of their text (`if`, `3, ...`), so conditions are formatted from their expressions instead.
"""

import json
import re
from collections.abc import Collection

_STRUCT = re.compile(r"(\w+?)(_t)?\.(.+)")
_PREFIX = {"not": "!", "~": "~", "-": "-"}
_WORDS = {"and": "&&", "or": "||"}
_CASTS = {"b2d", "d2b"}
_COMPARED = ("||", "&&", "==", "!=", "<=", ">=", "<", ">")
_TOKEN = re.compile(r"<<|>>|&&&|\|\||&&|[=!<>]=|[<>()\[\]]")
_COPY = re.compile(r"_\d+$")
"""The suffix that p4c adds to make a name unique."""
_MAX_DEPTH = 60


class Source:
    """Read access to one program. Wrong or missing parts give short names instead of errors: the engine has
    already accepted the program, and an explanation with a gap is better than none."""

    def __init__(self, text: bytes) -> None:
        # Not strict: p4c does not escape the line breaks of the source.
        self._json: object = json.loads(text, strict=False)
        self._actions = _list(self._json, "actions")
        self._pipelines = {_text(p, "name"): p for p in _list(self._json, "pipelines")}
        self._parsers = {_text(p, "name"): p for p in _list(self._json, "parsers")}
        self._tables = {_text(t, "name"): t for p in self._pipelines.values() for t in _list(p, "tables")}

    @property
    def name(self) -> str:
        """The P4 file's name, if the JSON has it, or `program`."""
        return _text(self._json, "program").rpartition("/")[2].removesuffix(".p4i") or "program"

    @property
    def tables(self) -> Collection[str]:
        """Full names of the tables."""
        return self._tables.keys()

    def has_field(self, name: str) -> bool:
        """Returns whether a header instance has a field, such as `scalars.metadata_t.verdict`."""
        header, _, field = name.partition(".")
        kinds = {_text(h, "name"): _text(h, "header_type") for h in _list(self._json, "headers")}
        for kind in _list(self._json, "header_types"):
            if _text(kind, "name") == kinds.get(header):
                return any(isinstance(f, list) and f[:1] == [field] for f in _list(kind, "fields"))
        return False

    def state(self, parser: str, index: int) -> str:
        return (
            _text(_at(_list(self._parsers.get(parser, {}), "parse_states"), index), "name")
            or f"state {index}"
        )

    def select_names(self, parser: str, index: int) -> list[str]:
        """Returns the parts of a parse state's transition key: fields, fields of a stack's last header
        (`labels.last.bottom`), bits that are read before they are extracted (`lookahead 8 bits`)."""
        state = _at(_list(self._parsers.get(parser, {}), "parse_states"), index)
        return [_part(_origin(state, part)) for part in _list(state, "transition_key")]

    def condition(self, pipeline: str, index: int) -> tuple[str, str]:
        """Returns the text and the place of a conditional of a pipeline."""
        found = _at(_list(self._pipelines.get(pipeline, {}), "conditionals"), index)
        written = found.get("source_info") or {}
        text = _text(written, "source_fragment")
        if not text or text.endswith("...") or not _says(text, found.get("expression")):
            text = self.expression(found.get("expression"), [])
        return text, _place(written)

    def statement(self, action: int, index: int) -> tuple[str, str, str]:
        """Returns the operation, the text and the place of a primitive of an action."""
        found = _at(self._actions, action)
        primitive = _at(_list(found, "primitives"), index)
        written = primitive.get("source_info") or {}
        names = [_text(p, "name") for p in _list(found, "runtime_data")]
        operation = _text(primitive, "op")
        arguments = _list(primitive, "parameters")
        if operation == "_jump_if_zero":
            text = self.expression(_at(arguments, 0), names)
        elif operation == "assign" and len(arguments) == 2:
            text = f"{self.expression(arguments[0], names)} = {self.expression(arguments[1], names)}"
        else:
            shown = ", ".join(self.expression(argument, names) for argument in arguments)
            text = f"{operation}({shown})"
        return operation, text, _place(written)

    def expression(self, node: object, params: list[str], depth: int = 0) -> str:
        """Returns an expression in the notation of P4, without the masks that p4c adds to keep widths."""
        if depth > _MAX_DEPTH:
            return "..."
        if not isinstance(node, dict):
            return str(node)
        kind, value = node.get("type"), node.get("value")
        if kind is None and "op" in node:
            return self._operation(node, params, depth)
        if kind == "expression":
            return self.expression(value, params, depth + 1)
        if kind == "field" and isinstance(value, list):
            return field_name(".".join(str(part) for part in value))
        if kind == "hexstr":
            return _number(value)
        if kind in ("local", "runtime_data") and isinstance(value, int) and 0 <= value < len(params):
            return params[value]
        if kind == "stack_field" and isinstance(value, list):
            return ".last.".join(str(part) for part in value)
        return str(value)

    def _operation(self, node: dict[str, object], params: list[str], depth: int) -> str:
        operation = str(node.get("op"))
        left, right = node.get("left"), node.get("right")
        shown = self.expression(right, params, depth + 1)
        if operation in _CASTS:
            return shown
        if operation == "valid":
            return f"{shown}.isValid()"
        if operation == "?":
            condition = self.expression(node.get("cond"), params, depth + 1)
            return f"({condition} ? {self._side(left, params, depth)} : {self._side(right, params, depth)})"
        if left is None:
            return f"{_PREFIX.get(operation, operation)}{self._side(right, params, depth)}"
        if operation == "&":
            for value, mask in ((left, right), (right, left)):
                if _is_width_mask(mask):
                    return self.expression(value, params, depth + 1)
        if operation == "==" and _valid_test(left):
            flag = "" if shown == "1" else "!"
            return flag + self.expression(left, params, depth + 1).replace(".$valid$", ".isValid()")
        return (
            f"{self._side(left, params, depth)} {_WORDS.get(operation, operation)} "
            f"{self._side(right, params, depth)}"
        )

    def _side(self, node: object, params: list[str], depth: int) -> str:
        text = self.expression(node, params, depth + 1)
        return f"({text})" if " " in text and not _is_wrapped(text) else text


def field_name(name: str) -> str:
    """Returns a field's name roughly as in the P4 source: p4c puts user metadata into a header called
    `scalars`."""
    if name.endswith(".$valid$"):
        return f"{name.removesuffix('.$valid$')}.isValid()"
    if name.startswith("scalars."):
        inner = name.removeprefix("scalars.")
        found = _STRUCT.fullmatch(inner)
        return f"{found[1]}.{found[3]}" if found else inner
    return name


def _origin(state: object, part: object) -> object:
    """Returns the original of a part of a key: p4c first copies a lookahead into a variable."""
    value = part.get("value") if isinstance(part, dict) else None
    for one in reversed(_list(state, "parser_ops")):
        arguments = _list(one, "parameters")
        to, of = _at(arguments, 0), _at(arguments, 1)
        if _text(one, "op") == "set" and to.get("value") == value and _text(to, "type") == "field":
            return of if _text(of, "type") in ("lookahead", "stack_field", "union_stack_field") else part
    return part


def _part(part: object) -> str:
    """Returns one part of a transition key in the BMv2 JSON format, chapter `parsers`, as text."""
    value = part.get("value") if isinstance(part, dict) else None
    names = [str(one) for one in value] if isinstance(value, list) else []
    match _text(part, "type"), names:
        case "lookahead", ["0", bits]:
            return f"lookahead {bits} bits"
        case "lookahead", [offset, bits]:
            return f"lookahead {bits} bits after {offset}"
        case "stack_field", [stack, field]:
            return f"{stack}.last.{field}"
        case "union_stack_field", [stack, header, field]:
            return f"{stack}.last.{header}.{field}"
        case _:
            return field_name(".".join(names))


def is_temporary(name: str) -> bool:
    """Returns whether a field is a local variable, of the source or of p4c."""
    return name.startswith("scalars.") and "." not in name.removeprefix("scalars.")


def _is_wrapped(text: str) -> bool:
    """Returns whether one pair of parentheses encloses the whole text."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return at > 0 and at == len(text) - 1
    return False


def _is_width_mask(node: object) -> bool:
    while isinstance(node, dict) and node.get("type") == "expression":
        node = node.get("value")
    if not isinstance(node, dict) or node.get("type") != "hexstr":
        return False
    try:
        value = int(str(node.get("value")), 16)
    except ValueError:
        return False
    return value > 1 and value & (value + 1) == 0


def _valid_test(node: object) -> bool:
    while isinstance(node, dict) and "left" in node and node.get("op") == "d2b":
        node = node.get("right")
    value = node.get("value") if isinstance(node, dict) else None
    return isinstance(value, list) and value[-1:] == ["$valid$"]


def _says(fragment: str, node: object) -> bool:
    """Returns whether a text of the source has the same truth value as an expression, as far as can be seen:
    p4c also attaches the text of an `if` to the opposite condition, and to one on its own variable."""
    holds, text = True, fragment.strip()
    while True:
        if _is_wrapped(text):
            text = text[1:-1].strip()
        elif text.startswith("!") and not _operator(text):
            holds, text = not holds, text[1:].strip()
        else:
            break
    asked, node = _peeled(node)
    if holds != asked:
        return False
    operation = node.get("op")
    operation = {"and": "&&", "or": "||"}.get(str(operation), operation)
    if operation in _COMPARED:
        return _operator(text) == operation
    if node.get("type") != "field" or not node.get("value"):
        return _operator(text) is None
    name = str(node["value"][-1]) if isinstance(node["value"], list) else ""
    name = "isValid" if name == "$valid$" else _COPY.sub("", name.rpartition(".")[2])
    # p4c stores the result of a call or of && in a variable named `tmp`.
    return name == "tmp" or (name in text and _operator(text) is None)


def _peeled(node: object) -> tuple[bool, dict[str, object]]:
    """Returns an expression without the casts and negations around it, and whether it is not negated."""
    holds = True
    while isinstance(node, dict):
        operation = node.get("op")
        if node.get("type") == "expression":
            node = node.get("value")
        elif operation == "not":
            holds, node = not holds, node.get("right")
        elif operation in _CASTS:
            node = node.get("right")
        elif operation == "==" and _valid_test(node.get("left")):
            right = node.get("right")
            holds = holds if int(_text(right, "value") or "1", 16) else not holds
            node = node.get("left")
        else:
            return holds, node
    return holds, {}


def _operator(text: str) -> str | None:
    """Returns the operator that a source expression applies last, of those that form a condition."""
    depth = 0
    found: list[str] = []
    for one in _TOKEN.findall(text):
        depth += (one in "([") - (one in ")]")
        if depth == 0 and one in _COMPARED:
            found.append(one)
    return next((one for one in ("||", "&&", *_COMPARED) if one in found), None)


def _number(value: object) -> str:
    try:
        number = int(str(value), 16)
    except ValueError:
        return str(value)
    return str(number) if number < 1 << 16 else hex(number)


def _place(written: object) -> str:
    file = _text(written, "filename").rpartition("/")[2]
    line = written.get("line") if isinstance(written, dict) else None
    return f"{file}:{line}" if file and isinstance(line, int) else ""


def _text(value: object, key: str) -> str:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _list(value: object, key: str) -> list[object]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _at(items: list[object], index: int) -> dict[str, object]:
    found = items[index] if 0 <= index < len(items) else None
    return found if isinstance(found, dict) else {}
