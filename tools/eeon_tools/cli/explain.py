"""`eeon explain`: the path of one packet through a fabric or a switch, and the reasons for its verdict."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control.cli.options import FILE, QuantityType, config_options, text_output_option, topology_option
from eeon_control.cli.output import print_json, print_problems
from eeon_control.cli.terminal import Terminal
from eeon_control.constants import PORT_MAX
from eeon_control.units import Duration
from rich.text import Text
from rich.tree import Tree

from eeon_tools.cli.support import reports_errors, seed_option, send_options, speed_option
from eeon_tools.errors import InputError, TraceError
from eeon_tools.replay.feed import SendRules
from eeon_tools.trace import manifest as manifests

if TYPE_CHECKING:
    from eeon_tools.explain import Scene
    from eeon_tools.explain.story import Node

_HEX = re.compile(r"(0[xX])?[0-9a-fA-F]+")
_SEPARATORS = re.compile(r"[\s:]+")
# A row of a hex dump: its offset, then bytes, perhaps in two halves. A column of text follows two blanks.
_DUMP_ROW = re.compile(
    r"\s*(?:0[xX])?0*(?P<offset>[0-9a-fA-F]{0,8})(?P<colon>:?)"
    r"(?:\s+(?P<bytes>(?:[0-9a-fA-F]{2} ){8} (?:[0-9a-fA-F]{2} ?){1,8}|(?:[0-9a-fA-F]{2}[ :]?)+)"
    r"(?: .*)?)?\s*"
)
_MAX_FRAME_BYTES = 65_535


@click.command()
@click.argument("packet")
@click.option(
    "-n", "--packet", "number", type=click.IntRange(1), help="Number of the packet in the capture, from 1."
)
@click.option(
    "--segment",
    type=click.IntRange(1),
    help="Number of the segment, if the sender's NIC segments the packet.  [default: 1]",
)
@click.option(
    "--first",
    type=click.Choice(["marked", "dropped", "held"]),
    help="The first packet of the capture that is marked, dropped or held, at --switch if it is given.",
)
@click.option(
    "--flow",
    metavar="5-TUPLE",
    help="Consider packets of this flow only, for example tcp,h1,40000,h3,5000; without --first, its "
    "first packet.",
)
@click.option(
    "--after",
    type=click.IntRange(0),
    help="Send only this many packets of the capture before the packet.  [default: all before it]",
)
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    help="Port on which the packet arrives.  [default: the port of its sender]",
)
@click.option("--at", type=QuantityType(Duration), help="Arrival time of a frame in hex.  [default: 0]")
@topology_option(required=False, more="  [default: the capture's]")
@config_options(required=False)
@click.option(
    "--switch",
    help="Switch of the fabric.  [default: all on the path; for a frame in hexadecimal, the first leaf]",
)
@click.option("--program", type=FILE, help="Use another program: a BMv2 JSON file.")
@click.option("--p4info", type=FILE, help="Its P4Info in text format, for --entries.")
@click.option(
    "--entries", type=FILE,
    help="Its entries: a JSON file as in the P4 tutorials, or a P4Runtime WriteRequest in text format.",
)  # fmt: skip
@click.option(
    "--register", "registers", multiple=True, metavar="NAME[INDEX]=VALUE",
    help="Set a register cell before the packet arrives; repeatable.",
)  # fmt: skip
@send_options
@speed_option
@seed_option("Seed of the random draws.")
@click.option("--brief", "amount", flag_value="brief", help="Print one line per switch.")
@click.option(
    "--details",
    "amount",
    flag_value="steps",
    help="Print the tables, registers and conditions of every switch.",
)
@click.option(
    "--all", "amount", flag_value="all", help="Also print every field, statement and local variable."
)
@text_output_option
@reports_errors
def explain(
    packet: str,
    number: int | None,
    segment: int | None,
    first: str | None,
    flow: str | None,
    after: int | None,
    port: int | None,
    at: Duration | None,
    topology_name: str | None,
    config_names: tuple[str, ...],
    switch: str | None,
    program: Path | None,
    p4info: Path | None,
    entries: Path | None,
    registers: tuple[str, ...],
    rules: SendRules,
    speed: float,
    seed: int,
    output: str,
    amount: str | None,
) -> None:
    """Show why PACKET was marked, dropped, held or forwarded, and its path through the fabric.

    PACKET is a pcap or pcapng file (with --packet, --first or --flow), a frame in hexadecimal, or - for
    hexadecimal from standard input. With --topology and --config, the switches have the entries that the
    controller would write. The command then sends a capture through the whole fabric from its first packet
    on, as `eeon replay` does, and shows the packet's whole path: --details adds the steps in each switch,
    --switch shows one switch only.
    """
    from eeon_tools.explain import Amount, document, of_program, of_topology, tell, tell_way, way_document
    from eeon_tools.explain.finding import find_packet
    from eeon_tools.explain.journeys import follow, follow_capture, follow_way
    from eeon_tools.explain.scene import RegisterValue
    from eeon_tools.replay import comparing

    capture = _capture(packet)
    if program is not None and (topology_name or config_names or switch):
        raise InputError(
            "--program", str(program), "runs on a switch of its own; leave --topology, --config, --switch out"
        )
    cells = [RegisterValue.parse(text) for text in registers]
    if capture is not None and topology_name is None and program is None:
        topology_name = manifests.topology_of(capture)
    if topology_name is None:
        if config_names or switch:
            raise InputError("--config" if config_names else "--switch", "", "needs --topology")
        scene = of_program(program, seed, p4info, entries)
    else:
        if p4info or entries:
            raise InputError(
                "--entries" if entries else "--p4info", "", "is for --program; the controller writes here"
            )
        scene = of_topology(topology_name, config_names, switch, seed)
        if config_names:
            print_problems(comparing.warnings([config_names], topology_name))
    chosen = None if amount is None else Amount(amount)
    for option, value in (("--first", first), ("--flow", flow)):
        if value is not None and (capture is None or scene.fabric is None):
            raise InputError(option, value, "is for captures that go through a fabric; give --topology")
        if value is not None and number is not None:
            raise InputError(option, value, "chooses a packet, as --packet does; give one of them")
    if segment is not None and (number is None or scene.fabric is None):
        raise InputError(
            "--segment", str(segment), "is of a packet that a host sends; give --packet, --topology"
        )
    if capture is not None and (first or flow):
        number, segment = find_packet(scene, capture, first, flow, switch, speed, rules)
    if capture is None:
        frame = _bytes(packet)
        for option, given in (("--packet", number), ("--after", after)):
            if given is not None:
                raise InputError(option, str(given), "is for captures; PACKET is one frame in hexadecimal")
        port = _sender_port(scene, frame) if port is None else port
        journey = follow(scene, frame, port, int(at or 0), cells)
    else:
        _check_capture(capture, number, at, None if scene.fabric is None else port)
        assert number is not None, "a capture's packet has a number"
        if scene.fabric is None:
            if port is None:
                rule = "give the port on which the capture's packets arrive, or --topology"
                raise InputError("--port", "", rule)
            journey = follow_capture(scene, capture, number, port, after, speed, cells)
        else:
            way = follow_way(scene, capture, number, after, speed, cells, rules, switch, segment or 1)
            if switch is None:
                if output == "json":
                    print_json(way_document(scene, way), indent=2)
                else:
                    _show(tell_way(scene, way, chosen or Amount.REASONS))
                return
            journey = way.at(switch)
    if output == "json":
        print_json(document(scene, journey), indent=2)
    else:
        _show(tell(scene, journey, chosen or Amount.STEPS))


def _capture(packet: str) -> Path | None:
    """Returns the file, or None for hexadecimal. Raises TraceError for a capture that does not exist."""
    if packet == "-":
        return None
    try:
        if Path(packet).is_file():
            return Path(packet)
    except (OSError, ValueError):  # a name that is too long for a file system, or has a zero byte
        pass
    if packet.endswith((".pcap", ".pcapng")):
        raise TraceError(packet, "", "no such file; `eeon trace shuffle -o FILE` makes a capture")
    return None


def _bytes(packet: str) -> bytes:
    name = "standard input" if packet == "-" else "PACKET"
    text = packet
    if packet == "-":
        text = sys.stdin.buffer.read(4 * _MAX_FRAME_BYTES).decode("ascii", "replace")
    digits = _SEPARATORS.sub("", _without_offsets(name, text))
    if not _HEX.fullmatch(digits):
        shown = repr(text[:40]) if text.strip() else "empty"
        raise InputError(name, shown, "neither a file nor hexadecimal; write the frame as in 0x0201...0800")
    digits = digits[2:] if digits[:2] in ("0x", "0X") else digits
    if len(digits) % 2:
        raise InputError(name, f"{len(digits)} digits", "are not whole bytes; a digit is missing or extra")
    if len(digits) > 2 * _MAX_FRAME_BYTES:
        raise InputError(
            name, f"{len(digits) // 2} bytes", f"are more than the longest frame, {_MAX_FRAME_BYTES}"
        )
    return bytes.fromhex(digits)


def _without_offsets(name: str, text: str) -> str:
    """Returns the bytes of a hex dump without offsets and text; any other text unchanged.

    The dumps are those of Wireshark, `tcpdump -xx`, `xxd`, `hexdump -C` and `od -tx1`. Raises InputError for
    a dump of words in the host's byte order, such as that of `od -x`.
    """
    found = ""
    rows = [_DUMP_ROW.fullmatch(line) for line in text.strip().splitlines()]
    for row in rows:
        at = len(found) // 2
        if row is None or len(rows) < 2 or (row["offset"].lower() or "0") not in (f"{at:x}", f"{at:o}"):
            return text
        if not row["colon"] and re.match(r"\w{4}", row["bytes"] or ""):
            raise InputError(
                name, repr(row[0][:40]), "has words in the host's byte order; use `od -Ax -tx1` or `xxd`"
            )
        found += _SEPARATORS.sub("", row["bytes"] or "")
    return found


def _sender_port(scene: Scene, frame: bytes) -> int:
    from eeon_tools.trace.layers import IpFrame

    ip = IpFrame.of(frame, len(frame))
    if scene.fabric is not None and ip is not None:
        for host in scene.fabric.topology.hosts.values():
            if ip.source and ip.source in (host.ipv4.packed, host.ipv6.packed) and host.leaf == scene.switch:
                return next(number for number, peer in scene.ports.items() if peer == host.name)
    raise InputError(
        "--port", "", f"give the port on which the frame arrives; no host at {scene.switch} is its sender"
    )


def _check_capture(capture: Path, number: int | None, at: Duration | None, port: int | None) -> None:
    if number is None:
        raise InputError(
            "--packet", "", f"give the number of a packet of {capture.name}, from 1, or --first marked"
        )
    if at is not None:
        raise InputError("--at", str(at), "is for frames in hexadecimal; packets of a capture have times")
    if port is not None:
        raise InputError(
            "--port", str(port), "is not needed: packets of a capture come from the fabric's hosts"
        )


_STYLES = {
    "title": "bold",
    "stage": "bold cyan",
    "state": "cyan",
    "table": "magenta",
    "action": "yellow",
    "if": "blue",
    "read": "green",
    "write": "green",
    "queue": "bold",
    "copy": "bold cyan",
    "statement": "dim",
    "note": "dim",
    "drop": "bold red",
    "sent": "bold",
    "why": "bold cyan",
    "ending": "bold",
}


def _show(root: Node) -> None:
    """Prints the tree. The plain text does not depend on the locale and the version of rich."""
    if sys.stdout.isatty():
        Terminal().print(_tree(root))
        return
    for line in root.lines():
        click.echo(line)


def _tree(node: Node) -> Tree:
    tree = Tree(Text(node.text, style=_STYLES.get(node.kind, "")))
    for child in node.children:
        tree.children.append(_tree(child))
    return tree
