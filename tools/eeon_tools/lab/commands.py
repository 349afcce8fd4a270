"""Tasks as typed commands: `h1 ping h2`, `h1 udp h2 --rate 1Mbps --for 2s`, `pingall`; `&` runs several
concurrently."""

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from eeon_control.errors import UnitError
from eeon_control.units import Bytes, DataRate, Duration, Quantity

from eeon_tools.engine import load_engine
from eeon_tools.errors import InputError
from eeon_tools.lab.tasks import MAX_PACKETS, Ping, SendFrames, Task, TcpFlow, UdpStream
from eeon_tools.lab.topology import LabHost

_HELP = """\
HOST ping HOST [-c 3] [-i 1s]                        echo requests
HOST udp HOST [--rate 1Mbps] [--for 1s | --count N] [--size 1000B] [--tos 0]
HOST tcp HOST SIZE [--algorithm {algorithms}]
HOST send FILE.pcap                                  frames as they are
pingall                                              every host asks every other
wait TIME        let time pass
hosts            hosts and their addresses
report           packets, drops and the deepest queue of each switch
help, exit
COMMAND & COMMAND runs both side by side."""


def help_text() -> str:
    """Returns the list of commands, one in each line."""
    return _HELP.format(algorithms="|".join(load_engine().TCP_NAMES))


Command = Sequence[Task] | Duration
"""The meaning of one line: tasks to run concurrently, or a wait of virtual time."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise InputError(self.prog, "", f"{message}; `help` lists the commands")


def _quantity(kind: type[Quantity]) -> Callable[[str], Quantity]:
    def parse(text: str) -> Quantity:
        try:
            value = kind.parse(text)
        except UnitError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        if value < 1:
            raise argparse.ArgumentTypeError(f"{text} is not above zero")
        return value

    return parse


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Returns a reader of whole numbers within bounds, in decimal or with the prefix of another base."""

    def parse(text: str) -> int:
        try:
            value = int(text, 10 if text.isdecimal() else 0)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a number from {least} to {most:,}")
        return value

    return parse


_count = _whole(1, MAX_PACKETS)


def _ping(source: str, words: Sequence[str]) -> Task:
    parser = _Parser("ping", add_help=False, allow_abbrev=False)
    parser.add_argument("destination")
    parser.add_argument("-c", dest="count", type=_count, default=3)
    parser.add_argument("-i", dest="interval", type=_quantity(Duration), default=Duration(10**12))
    given = parser.parse_args(words)
    return Ping(source, given.destination, given.count, int(given.interval))


def _udp(source: str, words: Sequence[str]) -> Task:
    parser = _Parser("udp", add_help=False, allow_abbrev=False)
    parser.add_argument("destination")
    parser.add_argument("--rate", type=_quantity(DataRate), default=DataRate(10**6))
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--for", dest="duration", type=_quantity(Duration), default=Duration(10**12))
    length.add_argument("--count", type=_count)
    parser.add_argument("--size", type=_quantity(Bytes), default=Bytes(1000))
    parser.add_argument("--tos", type=_whole(0, 255), default=0)
    given = parser.parse_args(words)
    return UdpStream(
        source, given.destination, given.rate, int(given.duration), given.count, given.size, given.tos
    )


def _tcp(source: str, words: Sequence[str]) -> Task:
    parser = _Parser("tcp", add_help=False, allow_abbrev=False)
    parser.add_argument("destination")
    parser.add_argument("size", type=_quantity(Bytes))
    parser.add_argument("--algorithm", default="newreno")
    given = parser.parse_args(words)
    return TcpFlow(source, given.destination, given.size, {"algorithm": given.algorithm})


def _send(source: str, words: Sequence[str]) -> Task:
    parser = _Parser("send", add_help=False, allow_abbrev=False)
    parser.add_argument("file", type=Path)
    return SendFrames.of_capture(source, parser.parse_args(words).file)


_VERBS = {"ping": _ping, "udp": _udp, "tcp": _tcp, "send": _send}


def parse(line: str, hosts: Mapping[str, LabHost]) -> Command:
    """Returns the command of a line; no tasks for an empty line or a comment. Raises InputError."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise InputError("command", line[:60], f"{error}") from error
    if words[:1] == ["wait"]:
        parser = _Parser("wait", add_help=False, allow_abbrev=False)
        parser.add_argument("time", type=_quantity(Duration))
        duration: Duration = parser.parse_args(words[1:]).time
        return duration
    if words == ["pingall"]:
        # A host without an address can neither send requests nor answer.
        asked = [name for name, host in hosts.items() if host.has_address]
        return [Ping(one, other, count=1) for one in asked for other in asked if one != other]
    tasks: list[Task] = []
    parts: list[list[str]] = [[]]
    for word in words:
        if word == "&":
            parts.append([])
        else:
            parts[-1].append(word)
    for part in parts:
        if part:
            tasks.append(_task(part, hosts))
        elif len(parts) > 1:
            raise InputError("command", line[:60], "has no command on one side of an &")
    return tasks


def _task(words: Sequence[str], hosts: Mapping[str, LabHost]) -> Task:
    host, verb = words[0], words[1] if len(words) > 1 else ""
    if host not in hosts:
        raise InputError(
            "command",
            " ".join(words)[:60],
            f"must begin with one of {', '.join(hosts)}; `help` lists the commands",
        )
    if verb not in _VERBS:
        raise InputError("command", f"{host} {verb}", f"write one of {', '.join(_VERBS)} after the host")
    return _VERBS[verb](host, words[2:])
