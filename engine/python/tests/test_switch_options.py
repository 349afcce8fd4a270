"""The command line of `eeon-switch`: BMv2's flags and its own, without starting a switch."""

from pathlib import Path

import pytest
from eeon_engine.switch_command.options import Options, Shown, UsageError, parse

TLS = ["x.json", "--", "--grpc-server-ssl", "--grpc-server-cert", "c", "--grpc-server-key", "k"]
AUTHORITY = ["--grpc-server-cacert", "a", "--grpc-server-with-client-auth"]


def options(*arguments: str, with_grpc: bool = True) -> Options:
    return parse(arguments, with_grpc=with_grpc, version="v", json_version="j")


def refusal(*arguments: str, with_grpc: bool = True) -> str:
    with pytest.raises(UsageError) as error:
        options(*arguments, with_grpc=with_grpc)
    return str(error.value)


def test_a_program_alone_gets_bmv2s_defaults() -> None:
    given = options("x.json")
    assert given == Options(program=Path("x.json"), grpc_address="127.0.0.1:9559", notes=given.notes)
    assert (given.thrift_port, given.tick_ps, given.queue_limit_packets) == (9090, 1_000_000, 64)
    assert given.thrift_host == "127.0.0.1"


def test_simple_switch_has_no_p4runtime() -> None:
    assert options("x.json", with_grpc=False).grpc_address is None


def test_flags_behind_the_program_are_taken_as_mininets_switch_gives_them() -> None:
    given = options(
        "-i", "1@s1-eth1", "--nanolog", "ipc:///tmp/l", "--device-id", "3", "x.json", "--log-console"
    )
    assert (given.program, given.device_id, given.log_console) == (Path("x.json"), 3, True)
    assert any("--nanolog is ignored" in note for note in given.notes)


def test_a_bare_pcap_flag_does_not_swallow_the_program(tmp_path: Path) -> None:
    assert options("--pcap", "x.json").program == Path("x.json")
    assert options(f"--pcap={tmp_path}", "x.json").capture == tmp_path
    assert "does not exist" in refusal(f"--pcap={tmp_path}/none", "x.json")


def test_the_folder_of_pcap_is_the_next_argument_unless_that_is_a_flag(tmp_path: Path) -> None:
    mininet = [
        "-i",
        "1@s1-eth1",
        "--pcap",
        str(tmp_path),
        "--nanolog",
        "ipc:///l",
        "--device-id",
        "0",
        "x.json",
    ]
    given = options(*mininet, "--log-console", "--thrift-port", "9091")
    assert (given.program, given.capture, given.thrift_port) == (Path("x.json"), tmp_path, 9091)
    assert options("x.json", "--pcap").capture == Path()
    assert options("--pcap", "--log-console", "x.json").capture == Path()
    assert options("--pcap", "-i", "1@a", "x.json").interfaces == [(1, "a")]


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (["--thrift=9091"], "thrift_port", 9091),
        (["--thrift", "9091"], "thrift_port", 9091),
        (["--dev", "3"], "device_id", 3),
        (["--device-id=3"], "device_id", 3),
        (["--log-c"], "log_console", True),
        (["--log-file", "f"], "log_file", "f"),
        (["--log-lev", "warn"], "log_level", "warn"),
        (["-Lwarn"], "log_level", "warn"),
        (["-i1@a"], "interfaces", [(1, "a")]),
        (["--inter=1@a", "-i", "2@b"], "interfaces", [(1, "a"), (2, "b")]),
        (["--pack", "ipc:///x"], "packet_in", "ipc:///x"),
        (["--use=1"], "files_wait_s", 1.0),
        # p4c's harness writes interface and flag into one argument.
        (["-i 0@pcap0", "-i 1@pcap1"], "interfaces", [(0, "pcap0"), (1, "pcap1")]),
        (["--thrift-host", "0.0.0.0"], "thrift_host", "0.0.0.0"),
        (["--port-rate", "1.5Gbps"], "rate_bps", 1_500_000_000),
        (["--port-rate", "1Gbps", "--port-rate", "3=10Gbps"], "rate_bps", 1_000_000_000),
        (["--port-rate", "3=10Gbps", "--port-rate", "0=5Mbps"], "port_rates_bps", {3: 10**10, 0: 5 * 10**6}),
        (["--port-buffer", "300KB"], "queue_limit_bytes", 300_000),
        # A buffer replaces BMv2's limit in packets.
        (["--port-buffer", "300KB"], "queue_limit_packets", None),
        (["--port-gate", "gate"], "gate_register", "gate"),
        (["--queue-gate", "gates"], "class_gate_register", "gates"),
        (["--queue-timer", "timers"], "timer_register", "timers"),
        (["--queue-quantum", "1=6KB", "--queue-quantum", "3=1500B"], "quanta_bytes", {1: 6_000, 3: 1_500}),
        (["--seed", "7"], "seed", 7),
        (["--timestamp-unit", "ns"], "tick_ps", 1_000),
        # Thrift may also add the interfaces of the command line again.
        (
            ["-i", "0@a", "--allow-interface", "b", "--allow-interface", "c"],
            "allowed_interfaces",
            list("abc"),
        ),
    ],
)
def test_a_flag_is_taken_before_and_behind_the_program(
    arguments: list[str], field: str, value: object
) -> None:
    assert getattr(options(*arguments, "x.json"), field) == value
    assert getattr(options("x.json", *arguments), field) == value


def test_a_beginning_of_several_of_bmv2s_flags_is_refused_with_them() -> None:
    assert refusal("--log", "x.json").startswith(
        "flag --log is ambiguous: it could be --log-console, --log-file"
    )
    assert options("--max", "16", "x.json").max_message_bytes is None
    assert options("x.json", "--", "--cpu", "255", "--drop=510").cpu_port == 255
    assert "--max-mc-groups, --max-l1-entries" in refusal("x.json", "--", "--max", "1")


def test_target_flags_stand_behind_two_dashes() -> None:
    given = options(
        "x.json", "--", "--cpu-port", "255", "--grpc-server-addr", "127.0.0.1:1", "--drop-port", "510"
    )
    assert (given.cpu_port, given.grpc_address, given.drop_port) == (255, "127.0.0.1:1", 510)
    assert options("--no-p4", "--", "--cpu-port", "255").program is None
    # The program may stand behind them.
    given = options("--", "x.json", "--cpu-port", "255")
    assert (given.program, given.cpu_port) == (Path("x.json"), 255)
    assert "target flags go after '--'" in refusal("x.json", "--cpu-port", "255")


def test_unknown_flags_are_refused_by_name() -> None:
    assert "--frobnicate" in refusal("--frobnicate", "x.json")
    assert "--frobnicate" in refusal("x.json", "--", "--frobnicate")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "--no-p4"),
        (["-i", "veth0", "x.json"], "not PORT@INTERFACE"),
        (["-i", "0@a", "-i", "0@b", "x.json"], "port 0 is assigned to 'a' and to 'b'"),
        (["-i", "0@a", "-i", "3@a", "x.json"], "interface 'a' is assigned to port 0 and to port 3"),
        (["--log-console", "--log-file", "f", "x.json"], "exclusive"),
        (["--use-files", "0", "--packet-in", "ipc:///x", "x.json"], "exclusive"),
        (["--restore-state", "f", "x.json"], "--restore-state"),
        (["x.json", "--", "--load-modules", "f.so"], "--load-modules"),
        (["x.json", "--", "--dp-grpc-server-addr", "a:1"], "--dp-grpc-server-addr"),
        (["x.json", "--", "--cpu-port", "0"], "not a valid CPU port"),
        (["-i", "5@a", "x.json", "--", "--cpu-port", "5"], "is the port of interface 'a'"),
        (["x.json", "--", "--grpc-server-ssl"], "--grpc-server-cert is required"),
        (["x.json", "--", "--grpc-server-cert", "c"], "--grpc-server-cert without --grpc-server-ssl"),
        (["x.json", "--", "--grpc-server-key", "k"], "--grpc-server-key without --grpc-server-ssl"),
        (["x.json", "--", "--grpc-server-cacert", "a"], "--grpc-server-cacert without --grpc-server-ssl"),
        (["x.json", "--", "--grpc-server-with-client-auth"], "-with-client-auth without --grpc-server-ssl"),
        ([*TLS, "--grpc-server-cacert", "a"], "-cacert without --grpc-server-with-client-auth"),
        ([*TLS, "--grpc-server-with-client-auth"], "--grpc-server-cacert is required"),
        (["--port-rate", "10", "x.json"], "needs a number and one of the units"),
        (["--port-rate", "3=10", "x.json"], "needs a number and one of the units"),
        (["--port-rate", "three=10Gbps", "x.json"], "not RATE or PORT=RATE"),
        (["--port-buffer", "many", "x.json"], "units"),
        (["--queue-quantum", "6KB", "x.json"], "is not PRIORITY=SIZE"),
        (["--queue-quantum", "0=6", "x.json"], "units"),
        (["--queue-quantum", "0=0B", "x.json"], "from 1 byte"),
        (["--queue-quantum", "0=4294967296B", "x.json"], "from 1 byte"),
        (["--queue-quantum", "0=1KB", "--queue-quantum", "0=2KB", "x.json"], "given twice"),
        (["-L", "loud", "x.json"], "invalid choice"),
        (["--device-id", "18446744073709551616", "x.json"], "above 2^64 - 1"),
        (["--max-message", "1GiB", "x.json"], "from 1 byte to 1073741823"),
        (["--max-message", "0B", "x.json"], "from 1 byte"),
        (["-i", "512@a", "x.json"], "v1model's ports go from 0 to 511"),
        (["--port-rate", "512=1Gbps", "x.json"], "v1model's ports go from 0 to 511"),
        (["x.json", "--", "--cpu-port", "70000"], "v1model's ports go from 0 to 511"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_reason(arguments: list[str], reason: str) -> None:
    assert reason in refusal(*arguments)


def test_texts_that_are_asked_for_are_shown_whatever_else_is_missing() -> None:
    for flags, text in ((["-v"], "v"), (["--json-version"], "j"), (["-h"], "--grpc-server-addr")):
        with pytest.raises(Shown, match=text):
            options(*flags)


def test_tls_takes_its_files_and_mutual_tls_the_authority_of_clients() -> None:
    assert options(*TLS).tls == (Path("c"), Path("k"), None)
    assert options(*TLS, *AUTHORITY).tls == (Path("c"), Path("k"), Path("a"))


def test_p4runtime_listens_on_loopback_unless_told_otherwise_and_one_line_says_so() -> None:
    given = options("x.json")
    assert given.grpc_address == "127.0.0.1:9559"
    assert [note for note in given.notes if "P4Runtime" in note] == [
        "P4Runtime listens on 127.0.0.1:9559, for this computer only; -- --grpc-server-addr 0.0.0.0:9559 "
        "listens on every address, as BMv2 does"
    ]
    for local in ("127.0.0.1:1", "127.0.0.1", "[::1]:1", "localhost:1", "unix:/run/p4"):
        assert options("x.json", "--", "--grpc-server-addr", local).notes == []
    for address in ("0.0.0.0:1", "[::]:1", "192.0.2.1:1", "switch.example.net:1"):
        open_to_all = options("x.json", "--", "--grpc-server-addr", address)
        assert [note for note in open_to_all.notes if "has no TLS" in note], address
    encrypted = options(*TLS, "--grpc-server-addr", "0.0.0.0:1")
    assert not [note for note in encrypted.notes if "has no TLS" in note]


def test_thrift_is_closed_by_none_and_beside_tls_unless_its_port_is_given() -> None:
    assert options("x.json").thrift_port == 9090
    assert options("--thrift-port", "none", "x.json").thrift_port is None
    closed = options(*TLS)
    assert closed.thrift_port is None
    assert [note for note in closed.notes if "Thrift is closed, because P4Runtime has TLS" in note]
    assert options("--thrift-port", "9091", *TLS).thrift_port == 9091
    assert "simple_switch has no other server" in refusal("--thrift-port", "none", "x.json", with_grpc=False)
    assert options("x.json", with_grpc=False).thrift_port == 9090


def test_rights_of_clients_need_their_certificates() -> None:
    for tls in (["x.json"], TLS):
        assert "--client-rights needs client certificates" in refusal("--client-rights", "r", *tls)
    assert options("--client-rights", "r", *TLS, *AUTHORITY).client_rights == Path("r")
