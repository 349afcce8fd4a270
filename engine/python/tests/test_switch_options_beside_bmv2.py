"""Every option in the help of `simple_switch` and `simple_switch_grpc`, in each spelling that boost accepts.

`eeon-switch` accepts and refuses the same options as BMv2, with the exceptions listed here.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from eeon_engine.switch_command.options import UsageError, parse

pytestmark = [pytest.mark.system, pytest.mark.slow]

PROGRAM = "none.json"
"""A missing file, which BMv2 reports as soon as it has parsed its arguments."""

VALUES = {
    "--interface": "0@none0",
    "--pcap": ".",
    "--packet-in": "ipc:///tmp/none",
    "--nanolog": "ipc:///tmp/none",
    "--log-file": "none",
    "--log-level": "warn",
    "--notifications-addr": "ipc:///tmp/none",
    "--restore-state": "none",
    "--load-modules": "none.so",
    "--grpc-server-addr": "127.0.0.1:0",
    "--grpc-server-cert": "none",
    "--grpc-server-key": "none",
    "--grpc-server-cacert": "none",
    "--dp-grpc-server-addr": "127.0.0.1:0",
}
"""Values of options that take no number."""

SHOW = {"--help", "--version", "--json-version"}

REFUSED = {"--restore-state", "--load-modules", "--dp-grpc-server-addr"}
"""BMv2's options that `eeon-switch` lacks and refuses with a message."""

TLS = ("--grpc-server-cert", "--grpc-server-key", "--grpc-server-cacert", "--grpc-server-with-client-auth")
"""Refused without `--grpc-server-ssl`: P4Runtime would be unencrypted, which BMv2 does not report."""


DIFFERENT = {
    "--in": "BMv2 refuses --interface when it is shortened",
    "--de": "begins BMv2's --debugger, too, which this build of it may lack",
}


def options_of(help_text: str) -> tuple[dict[str, tuple[str, bool]], dict[str, tuple[str, bool]]]:
    """Returns the general options and the target's: name to letter, and whether a value follows."""
    general, _, target = help_text.partition("Target specific options")
    found = []
    for text in (general, target):
        lines = re.findall(r"^  (?:-(\w) \[ )?(--[\w-]+)(?: \])? (\[?=?arg)?", text, re.MULTILINE)
        found.append({name: (letter, bool(value)) for letter, name, value in lines})
    return found[0], found[1]


def spellings(name: str, letter: str, has_value: bool, all_names: list[str]) -> Iterator[list[str]]:
    """Yields the whole name, its shortest prefix, one that is too short, and the letter.

    The value is the next argument, or follows an equals sign.
    """
    value = VALUES.get(name, "1")
    shortest = next(
        name[:end]
        for end in range(4, len(name) + 1)
        if end == len(name) or sum(other.startswith(name[:end]) for other in all_names) == 1
    )
    for written in dict.fromkeys((name, shortest, *[shortest[:-1]] * (len(shortest) > 4))):
        if not has_value:
            yield [written]
        else:
            yield [written, value]
            yield [f"{written}={value}"]
    if letter and has_value:
        yield [f"-{letter}", value]
        yield [f"-{letter}{value}"]


def lines_of(switch: str) -> Iterator[list[str]]:
    shown = subprocess.run([switch, "--help"], capture_output=True, text=True).stdout
    general, target = options_of(shown)
    assert len(general) > 20 and len(target) >= 7
    for name, (letter, has_value) in general.items():
        if name not in SHOW:
            for spelled in spellings(name, letter, has_value, list(general)):
                yield [*spelled, PROGRAM]
                yield [PROGRAM, *spelled]
    for name, (letter, has_value) in target.items():
        for spelled in spellings(name, letter, has_value, list(target)):
            yield [PROGRAM, "--", *spelled]
            yield ["--", PROGRAM, *spelled]
            yield [PROGRAM, *spelled]
    yield ["--device-id", "1", "--thrift-port=2", PROGRAM, "--log-c", "-Lwarn", "-i0@a", "-i", "1@b"]
    yield ["--thrift-port", "x", PROGRAM]
    yield ["--log-level", "loud", PROGRAM]
    yield ["-i", "veth0", PROGRAM]
    yield ["--frobnicate", PROGRAM]
    yield [PROGRAM, "--", "--frobnicate"]
    yield []


def bmv2_takes(switch: str, arguments: list[str], folder: Path) -> bool:
    """Returns whether it continues to the program, or starts without one.

    Another running BMv2 with this device id would use the same socket for notifications.
    """
    try:
        done = subprocess.run(
            [switch, *arguments], cwd=folder, capture_output=True, text=True, errors="replace", timeout=2
        )
    except subprocess.TimeoutExpired:
        return True
    said = done.stdout + done.stderr
    began = (
        f"input file {PROGRAM} cannot be opened" in said
        or "Nanomsg returned a exception when trying to bind" in said
    )
    return began and "Target parser returned an error" not in said


def ours_takes(arguments: list[str], with_grpc: bool) -> bool:
    try:
        parse(arguments, with_grpc=with_grpc, version="v", json_version="j")
    except UsageError:
        return False
    return True


def named(arguments: list[str]) -> set[str]:
    """Returns the options in a command line, as they are written."""
    return {argument.partition("=")[0] for argument in arguments if argument.startswith("-")}


@pytest.mark.parametrize("switch", ["simple_switch", "simple_switch_grpc"])
def test_what_bmv2_takes_or_refuses_is_taken_or_refused(switch, tmp_path, monkeypatch):
    if shutil.which(switch) is None:
        pytest.skip(f"{switch} is not on PATH")
    monkeypatch.chdir(tmp_path)
    different = []
    for arguments in lines_of(switch):
        begun = named(arguments)
        if begun & DIFFERENT.keys() or any(
            full.startswith(given) for given in begun - {"--", "-i", "-L"} for full in (*REFUSED, *TLS)
        ):
            continue
        theirs = bmv2_takes(switch, arguments, tmp_path)
        ours = ours_takes(arguments, with_grpc=switch == "simple_switch_grpc")
        if theirs != ours:
            different.append((" ".join(arguments), "BMv2 takes it" if theirs else "BMv2 refuses it"))
    assert different == []
