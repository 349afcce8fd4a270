"""Runs a switch with its P4Runtime and Thrift servers, from the arguments to the exit status.

Exit status: 0 after SIGINT or SIGTERM, and for --help and similar flags; 1 for invalid arguments, programs,
ports or addresses (as BMv2), and if the switch stops by itself. SIGUSR1 prints the counts.
"""

import logging
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from .._engine import LiveSwitch, Program, json_version
from ..exceptions import ConfigError, EngineError, ProgramError
from . import logs, names
from .options import Options, Shown, UsageError, parse
from .packet_log import PacketLog

_STOPPING = {signal.SIGINT, signal.SIGTERM}
_POLL_MS = 100
"""Interval in milliseconds at which events are written to the log."""
_SWITCH_SECONDS = 0.001
_OPEN_FILES = 4096
"""Limit on open files; connections to both servers, interfaces and files need some 1,200."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    name, given = _name(given)
    if given[:1] == ["--install-names"]:
        return _install(given[1:])
    try:
        options = parse(
            given,
            with_grpc=name != "simple_switch",
            version=f"eeon-switch {version('eeon-engine')}",
            json_version=json_version(),
        )
    except Shown as text:
        print(text)
        return 0
    except UsageError as error:
        print(
            f"Error while parsing command line arguments: {error}\nRun with -h to see possible values",
            flush=True,
        )
        return 1
    try:
        log = logs.set_up(options)
    except OSError as error:
        print(f"log file '{options.log_file}.txt': {error.strerror}", file=sys.stderr)
        return 1
    try:
        return _run(options, log)
    except (EngineError, OSError) as error:
        log.error("%s", error)
        if options.has_log:
            print(error, file=sys.stderr, flush=True)
        return 1


def _name(arguments: list[str]) -> tuple[str, list[str]]:
    """Returns the name of the command, and its arguments; commands made by `names` pass the name in --as."""
    if arguments[:1] == ["--as"] and len(arguments) > 1:
        return arguments[1], arguments[2:]
    return Path(sys.argv[0]).name, arguments


def _install(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("eeon-switch --install-names FOLDER: names one folder", file=sys.stderr)
        return 1
    try:
        paths = names.install(Path(arguments[0]))
    except OSError as error:
        print(f"eeon-switch: {error}", file=sys.stderr)
        return 1
    for path in paths:
        print(path)
    print(f"Put {paths[0].parent} on PATH in front of a real BMv2 where you want these to be found.")
    return 0


def _run(options: Options, log: logging.Logger) -> int:
    _allow_connections()
    # Each other holder of the GIL delays a waiting thread, such as a primary's write, by this interval.
    sys.setswitchinterval(_SWITCH_SECONDS)
    # Not threading.Event: a signal handler that interrupts one of its methods would wait for its lock.
    came: set[int] = set()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda number, _frame: came.add(number))
    print("Calling target program-options parser", flush=True)
    for note in options.notes:
        print(f"Warning: {note}", flush=True)
    with ExitStack() as stack:
        packets_are_logged = options.has_log and log.isEnabledFor(logging.DEBUG)
        switch = _make(options, packets_are_logged)
        packet_log = PacketLog(switch, log) if packets_are_logged else None
        stack.callback(switch.stop)
        _start_servers(options, switch, log, stack)
        switch.start()
        while not came & _STOPPING and not switch.has_ended:
            for event in switch.take_events(_POLL_MS):
                log.info("%s", event)
            _write_log(switch, log, packet_log)
            if signal.SIGUSR1 in came:
                came.remove(signal.SIGUSR1)
                _show_counts(switch)
        failed = not came & _STOPPING
    _write_log(switch, log, packet_log)
    for event in switch.take_events(0):
        log.log(logging.ERROR if failed else logging.INFO, "%s", event)
    _show_counts(switch)
    return 1 if failed else 0


def _write_log(switch: LiveSwitch, log: logging.Logger, packet_log: PacketLog | None) -> None:
    """Writes the packets' steps, if they are logged, and the texts of the program's `log_msg`."""
    if packet_log is not None:
        packet_log.write()
    elif switch.program is not None:
        for line in switch.take_log():
            log.info("%s", line)


def _allow_connections() -> None:
    """Raises the limit of open files to the maximum, so that connections reach their own limit first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _make(options: Options, follows_all: bool) -> LiveSwitch:
    program = None
    if options.program is not None:
        try:
            program = Program(options.program.read_bytes())
        except OSError as error:
            raise OSError(
                f"JSON input file '{options.program}' cannot be opened: {error.strerror}"
            ) from error
        except ProgramError as error:
            raise ProgramError(f"JSON input file '{options.program}': {error}") from error
    by_files = options.files_wait_s is not None
    for port, name in options.interfaces:
        print(f"Adding interface {name} as port {port}{' (files)' if by_files else ''}", flush=True)
    return LiveSwitch(
        program,
        interfaces=options.interfaces if not by_files and options.packet_in is None else None,
        packet_in=options.packet_in,
        files=options.interfaces if by_files else None,
        wait_s=options.files_wait_s or 0.0,
        capture=options.capture,
        device_id=options.device_id,
        tick_ps=options.tick_ps,
        cpu_port=options.cpu_port,
        drop_port=options.drop_port,
        gate_register=options.gate_register,
        class_gate_register=options.class_gate_register,
        timer_register=options.timer_register,
        seed=options.seed,
        priorities=options.priorities,
        rate_bps=options.rate_bps,
        port_rates_bps=options.port_rates_bps,
        overhead_bytes=ETHERNET_OVERHEAD_BYTES if options.rate_bps or options.port_rates_bps else 0,
        queue_limit_packets=options.queue_limit_packets,
        queue_limit_bytes=options.queue_limit_bytes,
        quanta_bytes=options.quanta_bytes,
        follows_all=follows_all,
    )


ETHERNET_OVERHEAD_BYTES = 24
"""Preamble, SFD, FCS and inter-frame gap of one frame (IEEE 802.3, 3.1.1 and 4.4.2)."""


def _start_servers(options: Options, switch: LiveSwitch, log: logging.Logger, stack: ExitStack) -> None:
    if options.grpc_address is not None:
        # Imported here, because gRPC loads slowly and simple_switch does not need it.
        from ..p4runtime import MAX_MESSAGE_BYTES, Access, Tls, serve

        tls = None if options.tls is None else Tls.from_files(*options.tls)
        access = None if options.client_rights is None else Access.from_file(options.client_rights)
        server = serve(
            switch,
            address=options.grpc_address,
            tls=tls,
            access=access,
            max_message_bytes=options.max_message_bytes or MAX_MESSAGE_BYTES,
        )
        stack.callback(server.stop)
        print(f"Server listening on {server.address}", flush=True)
    if options.thrift_port is not None:
        _open_thrift(options, switch, log, stack)


def _open_thrift(options: Options, switch: LiveSwitch, log: logging.Logger, stack: ExitStack) -> None:
    from ..thrift import serve

    log.info("Starting Thrift server on port %d", options.thrift_port)
    try:
        server = serve(
            switch,
            address=f"{options.thrift_host}:{options.thrift_port}",
            interfaces=options.allowed_interfaces,
        )
    except ConfigError as error:
        if options.grpc_address is None or not options.thrift_port_is_default:
            raise
        # Several switches with P4Runtime on one machine do not need Thrift, unless the user asked for it.
        log.warning("Thrift server not started: %s", error)
        return
    stack.callback(server.stop)
    log.info("Thrift server was started")


def _show_counts(switch: LiveSwitch) -> None:
    """Prints every count that is not zero, on one line: packets received, sent, and lost by place."""
    shown: dict[str, int] = {}
    if switch.program is not None:
        counts = switch.stats()
        shown |= {name: count for name, count in counts.items() if isinstance(count, int)}
        shown |= {f"drops_{cause}": count for cause, count in counts["drops"].items()}
    shown |= {name: count for name, count in switch.io_counts().items() if isinstance(count, int)}
    line = " ".join(f"{name}={count}" for name, count in shown.items() if count)
    print(f"Counts: {line or 'nothing received'}", flush=True)
