"""Scripts of P4Runtime requests with the code of each, to check any server that runs the test programs. For
tests only.

A script in `p4rt_scripts/` is a line `[area::situation]`, as docs/develop/conformance.md names tests, and
then a line for each request: the code, in parentheses BMv2's if it differs, in quotation marks a part of the
message, the kind of update or READ, and the entity in Protobuf's text format, in which `$name` stands for an
id. Each update is a separate batch.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from finsy.proto import p4r, rpc_code
from google.protobuf import text_format
from p4rt_client import Client, Failed, Names, p4info

SCRIPTS = Path(__file__).parent / "p4rt_scripts"
PROGRAMS = ("everything", "resources")
_LINE = re.compile(
    r'(?P<code>\w+)(?: \((?P<bmv2>\w+)\))?(?: "(?P<said>[^"]*)")? (?P<kind>[A-Z]+) (?P<text>.*)'
)


class Step(NamedTuple):
    """One request, and its expected answer."""

    code: str
    bmv2: str
    said: str
    kind: str
    entity: Any

    def answer(self, client: Client) -> tuple[str, str]:
        """Makes the request with a client, and returns its code and message."""
        try:
            if self.kind == "READ":
                client.read(self.entity)
            else:
                client.write((p4r.Update.Type.Value(self.kind), self.entity))
        except Failed as failed:
            ((code, message),) = failed.updates or [(failed.code, failed.message)]
            return rpc_code.Code.Name(code), message
        return "OK", ""


class Script(NamedTuple):
    """Requests to one switch, in order."""

    name: str
    program: str
    steps: Sequence[Step]


def _step(line: str, names: Names) -> Step:
    match = _LINE.fullmatch(line)
    assert match is not None, line
    text = re.sub(r"\$(\w+)", lambda name: str(names[name[1]]), match["text"])
    entity = text_format.Parse(text, p4r.Entity())
    code = match["code"]
    return Step(code, match["bmv2"] or code, match["said"] or "", match["kind"], entity)


@cache
def scripts(program: str) -> list[Script]:
    """Returns the scripts for a test program."""
    names = Names(p4info(program))
    lines = (SCRIPTS / f"{program}.txt").read_text().splitlines()
    told = "\n".join(line for line in lines if line and not line.startswith("#"))
    blocks = re.split(r"(?m)^\[(.*)\]\n", told)[1:]
    return [
        Script(name, program, [_step(line, names) for line in text.splitlines()])
        for name, text in zip(blocks[::2], blocks[1::2], strict=True)
    ]


ALL = [script for program in PROGRAMS for script in scripts(program)]
