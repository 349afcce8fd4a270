"""Scripts of Thrift calls with the answer to each, to check any switch that runs the test programs. For tests
only.

A script in `thrift_refusals/` is a line `[situation]`, and then a line for each call: `OK`, or the exception
and its code, in parentheses BMv2's if they differ; then the call, with its arguments as plain data.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from thrift_client import simple_pre_lag, standard

from differential.thrift import Call, Client

SCRIPTS = Path(__file__).parent / "thrift_refusals"
_LINE = re.compile(
    r"(?P<answer>[\w.]+)(?: \((?P<bmv2>[\w.]+)\))? (?P<service>\w+)\.(?P<method>\w+)(?P<arguments>\(.*\))"
)


class Step(NamedTuple):
    """One call, and its expected answer."""

    answer: str
    bmv2: str
    call: Call

    def asked(self, client: Client) -> str:
        """Makes the call, and returns the answer in a script's form."""
        found: Any = client.make(self.call)
        if not isinstance(found, tuple):
            return "OK"
        _, kind, code = found
        refusal = getattr(standard, kind, None) or getattr(simple_pre_lag, kind, None)
        if refusal is None:
            return str(kind)
        return f"{kind}.{refusal.thrift_spec[1][2]._VALUES_TO_NAMES[code]}"


class Script(NamedTuple):
    """Calls to one switch, in order."""

    name: str
    program: str
    steps: tuple[Step, ...]


def _step(line: str) -> Step:
    match = _LINE.fullmatch(line)
    assert match is not None, line
    call = Call(match["service"], match["method"], ast.literal_eval(match["arguments"]))
    return Step(match["answer"], match["bmv2"] or match["answer"], call)


@cache
def scripts(program: str) -> list[Script]:
    """Returns the scripts for a test program."""
    blocks = re.split(r"(?m)^\[(.*)\]$", (SCRIPTS / f"{program}.txt").read_text())[1:]
    return [
        Script(name, program, tuple(map(_step, filter(None, text.splitlines()))))
        for name, text in zip(blocks[::2], blocks[1::2], strict=True)
    ]
