"""The command line of simple_switch and simple_switch_grpc, and the effect of each flag. Pure functions:
arguments in, `Options` or `UsageError` out.

BMv2's flags for debugging and observation are accepted and noted, so that scripts for BMv2 run. Flags that
would change the switch's behaviour, but have no effect here, are refused by name.
Sources: BMv2's bm_sim/options_parse.cpp, targets/simple_switch/main.cpp, targets/simple_switch_grpc/main.cpp.
"""

import argparse
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn

from .._engine import parse_data_rate, parse_size
from ..exceptions import ConfigError

LOG_LEVELS = ("trace", "debug", "info", "warn", "error", "off")
DEFAULT_GRPC_ADDRESS = "127.0.0.1:9559"
"""BMv2's port, but only on loopback."""
DEFAULT_THRIFT_PORT = 9090
DEFAULT_THRIFT_HOST = "127.0.0.1"
DEFAULT_DROP_PORT = 511
_LAST_PORT = DEFAULT_DROP_PORT  # v1model's ports have nine bits.
DEFAULT_QUEUE_PACKETS = 64
"""BMv2's queue capacity in packets (SimpleSwitch::egress_buffers)."""

_NO_PORT = "none"
_PICOSECONDS = {"ns": 1_000, "us": 1_000_000}


class UsageError(Exception):
    """Invalid arguments. The text names them, and what is valid."""


class Shown(Exception):
    """The text that --help, --version or --json-version asks for."""


@dataclass
class Options(argparse.Namespace):
    """The content of the command line. Parsers fill it, and their defaults are these; `_complete` sets what
    follows from several flags."""

    program: Path | None = None
    interfaces: list[tuple[int, str]] = field(default_factory=list)
    packet_in: str | None = None
    files_wait_s: float | None = None
    """Time after which ports that are files are read; None if ports are not files."""
    capture: Path | None = None
    thrift_port: int | None = DEFAULT_THRIFT_PORT
    """None: no Thrift server."""
    thrift_port_is_default: bool = True
    thrift_host: str = DEFAULT_THRIFT_HOST
    allowed_interfaces: list[str] = field(default_factory=list)
    """Interfaces that Thrift's clients may add as ports."""
    grpc_address: str | None = None
    """None: no P4Runtime server."""
    tls: tuple[Path, Path, Path | None] | None = None
    """Certificate chain, private key, and the authority for clients' certificates."""
    client_rights: Path | None = None
    """File with the rights of clients by certificate; None gives all clients all rights."""
    max_message_bytes: int | None = None
    """Limit of P4Runtime messages; None uses the server's default."""
    device_id: int = 0
    cpu_port: int | None = None
    drop_port: int = DEFAULT_DROP_PORT
    priorities: int = 1
    log_console: bool = False
    log_file: str | None = None
    log_level: str = "trace"
    log_file_max_size: int = 5 << 20
    log_file_max_files: int = 3
    tick_ps: int = _PICOSECONDS["us"]
    rate_bps: int | None = None
    """Rate of the ports that are not in `port_rates_bps`."""
    port_rates_bps: dict[int, int] = field(default_factory=dict)
    queue_limit_packets: int | None = DEFAULT_QUEUE_PACKETS
    queue_limit_bytes: int | None = None
    gate_register: str | None = None
    class_gate_register: str | None = None
    timer_register: str | None = None
    quanta_bytes: dict[int, int] = field(default_factory=dict)
    """Quanta by priority, for queues that share a port by weight."""
    seed: int = 0
    notes: list[str] = field(default_factory=list)
    """Flags that were accepted but have no effect, each with the reason."""

    @property
    def has_log(self) -> bool:
        """Whether a log is requested, on the console or in a file."""
        return self.log_console or self.log_file is not None


class _Parser(argparse.ArgumentParser):
    ignored: Sequence[argparse.Action] = ()
    """Flags that are accepted with a note, which has their help as the reason."""
    refused: Sequence[argparse.Action] = ()
    """Flags that are refused, with their help as the reason."""
    own: Set[str] = frozenset()
    """Flags that BMv2 does not have."""

    @property
    def long_flags(self) -> list[str]:
        """The flags of this parser that begin with two dashes."""
        return [flag for flag in self._option_string_actions if flag.startswith("--")]

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def parse(arguments: Sequence[str], *, with_grpc: bool, version: str, json_version: str) -> Options:
    """Parses the arguments after the command's name. `with_grpc`: as for simple_switch_grpc.

    Raises `UsageError`, or `Shown` if the arguments only request a text.
    """
    end = list(arguments).index("--") if "--" in arguments else len(arguments)
    parser, target_parser = _common_parser(), _target_parser()
    options, extra = parser.parse_known_args(_in_full(arguments[:end], parser), Options())
    target = _in_full(arguments[end + 1 :], target_parser)
    if options.help:
        raise Shown(f"{parser.format_help()}\n{target_parser.format_help()}".rstrip())
    if options.version:
        raise Shown(version)
    if options.json_version:
        raise Shown(json_version)
    unknown = [argument for argument in extra if argument.startswith("-")]
    if unknown:
        is_target = unknown[0].partition("=")[0] in target_parser.long_flags
        behind = f"; target flags go after '--': -- {unknown[0]}" if is_target else ""
        raise UsageError(f"unknown flag {unknown[0]}{behind}")
    if options.program is None and options.pcap is not None and options.pcap.endswith(".json"):
        # As in BMv2, --pcap may stand before the program without a folder.
        options.program, options.pcap = Path(options.pcap), "."
    if options.program is None and not options.no_p4 and target and not target[0].startswith("-"):
        # If the program is not before '--', BMv2 takes the first argument after it.
        options.program = Path(target.pop(0))
    _, unknown = target_parser.parse_known_args(extra + target, options)
    if unknown and not unknown[0].startswith("-"):
        known = "--no-p4 runs no program" if options.program is None else f"the program is {options.program}"
        raise UsageError(f"{unknown[0]} is neither a flag nor a flag's value, and {known}")
    if unknown:
        raise UsageError(f"unknown target flag {unknown[0]}")
    options.notes = _noted(options, parser) + _noted(options, target_parser)
    _complete(options, with_grpc)
    return options


def _in_full(arguments: Sequence[str], parser: _Parser) -> list[str]:
    """Returns the arguments with abbreviated flags in full. A prefix of exactly one BMv2 flag stands for this
    flag, even if flags of the engine have the same prefix.
    """
    known = parser.long_flags
    full = []
    for argument in arguments:
        flag, separator, value = argument.partition("=")
        if flag.startswith("--") and flag not in known:
            found = [name for name in known if name.startswith(flag)]
            found = [name for name in found if name not in parser.own] or found
            if len(found) > 1:
                raise UsageError(f"flag {flag} is ambiguous: it could be {', '.join(found)}")
            argument = (found or [flag])[0] + separator + value
        full.append(argument)
    return full


def _complete(options: Options, with_grpc: bool) -> None:
    """Checks flags together, and sets what follows from them. Raises `UsageError`."""
    notes = options.notes
    if options.program is None and not options.no_p4:
        raise UsageError("please specify an input JSON configuration file, or --no-p4")
    if options.no_p4 and options.program is not None:
        notes.append("ignoring the program, as --no-p4 was given")
        options.program = None
    if options.log_console and options.log_file is not None:
        raise UsageError("--log-console and --log-file are exclusive")
    if options.files_wait_s is not None and options.packet_in is not None:
        raise UsageError("--use-files and --packet-in are exclusive")
    if options.files_wait_s is not None:
        options.files_wait_s = max(0.0, options.files_wait_s)
    options.quanta_bytes = dict(options.queue_quantum)
    if len(options.quanta_bytes) < len(options.queue_quantum):
        raise UsageError("--queue-quantum: a priority is given twice; give each priority one quantum")
    if options.log_file_max_size <= 0:
        raise UsageError("--log-file-max-size must be greater than 0")
    if options.packet_in is not None and options.interfaces:
        notes.append("-i is ignored: with --packet-in every port exists")
        options.interfaces = []
    options.capture = Path(options.pcap) if options.pcap else None
    if options.capture is not None and not options.capture.is_dir():
        raise UsageError(f"directory '{options.capture}' specified with --pcap does not exist")
    if options.capture is not None and (options.packet_in is not None or options.files_wait_s is not None):
        notes.append("--pcap is ignored: it captures only network interfaces")
        options.capture = None
    _check_ports(options)
    options.tls = _tls(options)
    has_default_address = options.grpc_address is None
    options.grpc_address = (options.grpc_address or DEFAULT_GRPC_ADDRESS) if with_grpc else None
    options.thrift_port_is_default = options.asked_thrift_port is None
    options.thrift_port = _thrift_port(options, with_grpc)
    if options.client_rights is not None and (options.tls is None or options.tls[2] is None):
        raise UsageError(
            "--client-rights needs client certificates: --grpc-server-ssl and --grpc-server-with-client-auth"
        )
    if options.grpc_address is not None and options.tls is None:
        notes += _open_to_others(options.grpc_address, is_default=has_default_address)
    # Interfaces of the command line may be removed and added again.
    options.allowed_interfaces[:0] = [name for _, name in options.interfaces]
    options.tick_ps = _PICOSECONDS[options.timestamp_unit]
    options.port_rates_bps = {port: rate for port, rate in options.port_rate if port is not None}
    # The last one holds.
    options.rate_bps = next((rate for port, rate in reversed(options.port_rate) if port is None), None)
    if options.queue_limit_bytes is not None:
        # A limit in bytes replaces BMv2's limit in packets.
        options.queue_limit_packets = None


def _check_ports(options: Options) -> None:
    seen: dict[int, str] = {}
    for port, name in options.interfaces:
        if port in seen:
            raise UsageError(f"port {port} is assigned to '{seen[port]}' and to '{name}'")
        if name in seen.values():
            other = next(number for number, known in seen.items() if known == name)
            raise UsageError(f"interface '{name}' is assigned to port {other} and to port {port}")
        seen[port] = name
    if options.cpu_port == 0:
        raise UsageError("--cpu-port 0 is not a valid CPU port")
    if options.cpu_port in seen:
        raise UsageError(f"--cpu-port {options.cpu_port} is the port of interface '{seen[options.cpu_port]}'")


def _thrift_port(options: Options, with_grpc: bool) -> int | None:
    given = options.asked_thrift_port
    if given == _NO_PORT:
        if not with_grpc:
            raise UsageError("--thrift-port none: simple_switch has no other server; use simple_switch_grpc")
        return None
    if given is not None:
        return int(given)
    if options.tls is not None and with_grpc:
        options.notes.append(
            "Thrift is closed, because P4Runtime has TLS; --thrift-port PORT opens it on loopback, where "
            "every user of this computer can change the switch"
        )
        return None
    return DEFAULT_THRIFT_PORT


def _open_to_others(address: str, *, is_default: bool) -> list[str]:
    """Returns notes about an address that is reachable by others, or about the default one."""
    if is_default:
        return [
            f"P4Runtime listens on {address}, for this computer only; -- --grpc-server-addr 0.0.0.0:9559 "
            "listens on every address, as BMv2 does"
        ]
    host = (address.rpartition(":")[0] or address).strip("[]")
    if address.startswith("unix:") or host == "localhost":
        return []
    try:
        if ip_address(host).is_loopback:
            return []
    except ValueError:
        pass
    return [
        f"P4Runtime on {address} has no TLS: every client that reaches it can change the switch; "
        "--grpc-server-ssl protects it"
    ]


def _tls(options: Options) -> tuple[Path, Path, Path | None] | None:
    given = {flag: getattr(options, f"grpc_server_{flag}") for flag in ("cert", "key", "cacert")}
    if not options.grpc_server_ssl:
        for flag, value in (given | {"with-client-auth": options.grpc_server_with_client_auth}).items():
            if value:
                raise UsageError(
                    f"--grpc-server-{flag} without --grpc-server-ssl: P4Runtime would be unencrypted; give "
                    "both or neither"
                )
        return None
    certificate, key, authority = given.values()
    for flag in ("cert", "key"):
        if given[flag] is None:
            raise UsageError(f"with --grpc-server-ssl, --grpc-server-{flag} is required")
    if options.grpc_server_with_client_auth and authority is None:
        raise UsageError("with --grpc-server-with-client-auth, --grpc-server-cacert is required")
    if authority is not None and not options.grpc_server_with_client_auth:
        raise UsageError(
            "--grpc-server-cacert without --grpc-server-with-client-auth: clients would be served without a "
            "certificate; give both or neither"
        )
    return certificate, key, authority


def _noted(given: Options, parser: _Parser) -> list[str]:
    """Returns a note for each given flag without effect. Raises `UsageError` for one that is refused."""

    def reasons(actions: Sequence[argparse.Action]) -> list[tuple[str, str | None]]:
        return [
            (action.option_strings[0], action.help)
            for action in actions
            if getattr(given, action.dest) not in (None, False)
        ]

    for flag, reason in reasons(parser.refused):
        raise UsageError(f"{flag}: {reason}")
    return [f"{flag} is ignored: {reason}" for flag, reason in reasons(parser.ignored)]


def _interface(text: str) -> tuple[int, str]:
    port, separator, name = text.strip().partition("@")
    if not separator or not name or not port.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not PORT@INTERFACE, such as 0@veth0")
    return _port(port), name


def _port(text: str) -> int:
    value = _positive(text)
    if value > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"port {value}: v1model's ports go from 0 to {_LAST_PORT}")
    return value


def _port_or_none(text: str) -> int | str:
    return _NO_PORT if text == _NO_PORT else _positive(text)


def _positive(text: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number") from None
    if not 0 <= value < 1 << 64:
        raise argparse.ArgumentTypeError(f"{value} is {'negative' if value < 0 else 'above 2^64 - 1'}")
    return value


def _port_rate(text: str) -> tuple[int | None, int]:
    """Parses RATE or PORT=RATE."""
    port, separator, rate = text.rpartition("=")
    if separator and not port.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not RATE or PORT=RATE, such as 10Gbps or 3=10Gbps")
    try:
        return _port(port) if separator else None, parse_data_rate(rate)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _queue_quantum(text: str) -> tuple[int, int]:
    priority, separator, size = text.partition("=")
    if not separator or not priority.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not PRIORITY=SIZE, such as 1=6KB")
    return int(priority), _size_up_to(size, (1 << 32) - 1)


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ConfigError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _size_up_to(text: str, largest: int) -> int:
    size = _size(text)
    if not 0 < size <= largest:
        raise argparse.ArgumentTypeError(f"'{text}': the size is from 1 byte to {largest}")
    return size


def _message_size(text: str) -> int:
    # gRPC's limits are of 31 bits, and answers may be twice as long as requests.
    return _size_up_to(text, (1 << 30) - 1)


def _flags(group: argparse._ActionsContainer, kept: set[str] | None = None) -> Callable[..., argparse.Action]:
    """Returns an `add_argument` for flags and metavar in one text; a flag without further settings has no
    value. It adds the flags to `kept`."""

    def add(flags: str, help: str, **settings: Any) -> argparse.Action:  # noqa: ANN401 - each has its own type
        *names, last = flags.split()
        if not last.startswith("-"):
            settings["metavar"] = last
        else:
            names.append(last)
            settings = settings or {"action": "store_true"}
        if kept is not None:
            kept.update(names)
        return group.add_argument(*names, help=help, **settings)

    return add


def _common_parser() -> _Parser:
    parser = _Parser(
        prog="eeon-switch",
        add_help=False,
        allow_abbrev=False,
        usage="%(prog)s [options] [PROGRAM.json] [-- target options]",
    )
    what = "BMv2 JSON file, made by p4c-bm2-ss"
    parser.add_argument("program", nargs="?", type=Path, metavar="PROGRAM.json", help=what)
    add = _flags(parser)
    add("-h --help", "show this text")
    add("-v --version", "show the version")
    add("--json-version", "show the newest supported version of BMv2's JSON")
    add("--no-p4", "start without a program")
    parser.own = own_flags = set[str]()
    group = parser.add_argument_group("ports")
    add, own = _flags(group), _flags(group, own_flags)
    add(
        "-i --interface PORT@INTERFACE",
        "attach a network interface (needs root or CAP_NET_RAW)",
        action="append",
        dest="interfaces",
        type=_interface,
    )
    add(
        "--use-files SECONDS",
        "use files or FIFOs as ports: after this time, port X reads X_in.pcap and writes X_out.pcap",
        type=float,
        dest="files_wait_s",
    )
    add("--packet-in ADDRESS", "carry all ports over one nanomsg PAIR socket: ipc://PATH or tcp://IP:PORT")
    add(
        "--pcap FOLDER",
        "capture each interface in NAME_in.pcap and NAME_out.pcap in FOLDER (default: current folder)",
        nargs="?",
        const=".",
    )
    add("--max-port-count N", "accepted without effect; all 512 ports of v1model can be used", type=_positive)
    own(
        "--port-rate [PORT=]RATE",
        "rate of every port, for example 10Gbps, or of one port, for example 3=10Gbps; repeatable "
        "(default: no limit)",
        type=_port_rate,
        action="append",
        default=[],
    )
    own(
        "--port-buffer SIZE",
        "limit of each queue in bytes, for example 300KB "
        f"(default: {DEFAULT_QUEUE_PACKETS} packets, as in BMv2)",
        type=_size,
        dest="queue_limit_bytes",
    )
    own(
        "--port-gate REGISTER",
        "register that holds, per port, the tick before which the port sends nothing",
        dest="gate_register",
    )
    own(
        "--queue-gate REGISTER",
        "register that holds, per queue (port << 3 | priority), the tick before which the queue "
        "sends nothing; MAC control frames and congestion notification messages then leave before "
        "every queue",
        dest="class_gate_register",
    )
    own(
        "--queue-timer REGISTER",
        "register that holds, per queue (port << 3 | priority), the tick at which the program "
        "runs for the queue without a packet (instance_type 7)",
        dest="timer_register",
    )
    own(
        "--queue-quantum PRIORITY=SIZE",
        "bytes that this queue of every port may send per turn, for example 1=6KB: queues with a "
        "quantum share the port by weight; repeatable (default: strict priority)",
        type=_queue_quantum,
        action="append",
        default=[],
    )
    group = parser.add_argument_group("control")
    add, own = _flags(group), _flags(group, own_flags)
    add(
        "--thrift-port PORT",
        f"TCP port of the Thrift server, or none (default {DEFAULT_THRIFT_PORT}; none with TLS)",
        type=_port_or_none,
        dest="asked_thrift_port",
    )
    own(
        "--thrift-host ADDRESS",
        "address on which Thrift listens, without authentication or encryption "
        f"(default {DEFAULT_THRIFT_HOST}; 0.0.0.0 for every address)",
    )
    own(
        "--allow-interface INTERFACE",
        "interface that Thrift clients may add as a port, in addition to those of -i; repeatable",
        action="append",
        dest="allowed_interfaces",
    )
    own("--client-rights FILE", "rights of client certificates over P4Runtime (needs mutual TLS)", type=Path)
    own(
        "--max-message SIZE",
        "maximum size of a P4Runtime message (default 8MiB)",
        type=_message_size,
        dest="max_message_bytes",
    )
    add("--device-id N", "P4Runtime device id (default 0)", type=_positive)
    own("--timestamp-unit", "unit of timestamps (default us)", choices=sorted(_PICOSECONDS), default="us")
    own("--seed N", "seed of the program's random()", type=_positive)
    add = _flags(parser.add_argument_group("log"))
    add("--log-console", "log to stdout")
    add("--log-file FILE", "log to FILE.txt")
    add("-L --log-level", "lowest level of the messages to log", choices=LOG_LEVELS)
    add("--log-flush", "accepted without effect; the log is always flushed after every line")
    add("--log-file-max-size BYTES", "size at which the log file is rotated", type=_positive)
    add("--log-file-max-files N", "number of rotated log files to keep", type=_positive)
    add = _flags(parser.add_argument_group("accepted and ignored, with a note"))
    no_debugger = "no debugger; `eeon explain` follows a packet"
    parser.ignored = (
        add("--nanolog ADDRESS", "event logs over nanomsg are not written"),
        add(
            "--notifications-addr ADDRESS",
            "learning and ageing are not published over nanomsg; P4Runtime clients get them",
        ),
        add("--debugger", no_debugger),
        add("--debugger-addr ADDRESS", no_debugger),
        add(
            "--dump-packet-data BYTES",
            "packets are not written to the log; --pcap captures them",
            type=_positive,
        ),
    )
    add = _flags(parser.add_argument_group("refused"))
    no_state = "the engine writes and reads no state files; write the state over P4Runtime or Thrift"
    parser.refused = (add("--restore-state FILE", no_state),)
    return parser


def _target_parser() -> _Parser:
    parser = _Parser(prog="--", add_help=False, allow_abbrev=False, usage=argparse.SUPPRESS)
    add = _flags(parser.add_argument_group("target options, after '--'"))
    add(
        "--grpc-server-addr ADDRESS",
        f"address on which P4Runtime listens (default {DEFAULT_GRPC_ADDRESS})",
        dest="grpc_address",
    )
    add("--grpc-server-ssl", "encrypt P4Runtime with TLS")
    add("--grpc-server-cert PEM", "the server's certificate chain", type=Path)
    add("--grpc-server-key PEM", "the server's private key", type=Path)
    add("--grpc-server-cacert PEM", "certificates of authorities that sign client certificates", type=Path)
    add("--grpc-server-with-client-auth", "require a certificate from clients")
    add("--cpu-port PORT", "port of packet-in and packet-out (default: none)", type=_port)
    add("--drop-port PORT", f"port number that means a drop (default {DEFAULT_DROP_PORT})", type=_port)
    add("--priority-queues N", "queues per port, 1 to 8 (default 1)", type=_positive, dest="priorities")
    add = _flags(parser.add_argument_group("target options accepted and ignored, with a note"))
    may_swap, own_limits = "programs may always be replaced", "multicast has the engine's own limits"
    parser.ignored = (
        add("--enable-swap", may_swap),
        add("--disable-swap", may_swap),
        add("--max-mc-groups N", own_limits, type=_positive),
        add("--max-l1-entries N", own_limits, type=_positive),
        add("--max-l2-entries N", own_limits, type=_positive),
    )
    add = _flags(parser.add_argument_group("target options refused"))
    no_modules = "the engine cannot load BMv2's extern modules"
    no_grpc = "packets over gRPC are not supported; --packet-in needs no root either"
    parser.refused = (add("--load-modules FILES", no_modules), add("--dp-grpc-server-addr ADDRESS", no_grpc))
    return parser
