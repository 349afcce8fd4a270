"""The command line of `eeon-switch`: BMv2's flags and ours, without starting anything."""

from pathlib import Path

import pytest
from eeon_engine.switch_command.options import Options, Shown, UsageError, parse


def options(*arguments: str, with_grpc: bool = True) -> Options:
    return parse(arguments, with_grpc=with_grpc, version="v", json_version="j")


def refusal(*arguments: str) -> str:
    with pytest.raises(UsageError) as error:
        options(*arguments)
    return str(error.value)


def test_a_program_alone_gets_bmv2s_defaults() -> None:
    given = options("x.json")
    assert given == Options(program=Path("x.json"), grpc_address="0.0.0.0:9559")
    assert (given.thrift_port, given.tick_ps, given.queue_limit_packets) == (9090, 1_000_000, 64)


def test_thrift_listens_on_loopback_unless_told_otherwise() -> None:
    assert options("x.json").thrift_host == "127.0.0.1"
    assert options("--thrift-host", "0.0.0.0", "x.json").thrift_host == "0.0.0.0"


def test_simple_switch_has_no_p4runtime() -> None:
    assert options("x.json", with_grpc=False).grpc_address is None


def test_the_harness_of_p4c_writes_interface_and_flag_into_one_argument() -> None:
    assert options("-i 0@pcap0", "-i 1@pcap1", "x.json").interfaces == [(0, "pcap0"), (1, "pcap1")]


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


def test_target_flags_stand_behind_two_dashes() -> None:
    given = options(
        "x.json", "--", "--cpu-port", "255", "--grpc-server-addr", "127.0.0.1:1", "--drop-port", "510"
    )
    assert (given.cpu_port, given.grpc_address, given.drop_port) == (255, "127.0.0.1:1", 510)
    assert options("--no-p4", "--", "--cpu-port", "255").program is None
    assert "flags of the target come behind '--'" in refusal("x.json", "--cpu-port", "255")


def test_unknown_flags_are_refused_by_name() -> None:
    assert "--frobnicate" in refusal("--frobnicate", "x.json")
    assert "--frobnicate" in refusal("x.json", "--", "--frobnicate")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "--no-p4"),
        (["-i", "veth0", "x.json"], "not PORT@INTERFACE"),
        (["-i", "0@a", "-i", "0@b", "x.json"], "port 0 is given to 'a' and to 'b'"),
        (["--log-console", "--log-file", "f", "x.json"], "exclusive"),
        (["--use-files", "0", "--packet-in", "ipc:///x", "x.json"], "exclusive"),
        (["--restore-state", "f", "x.json"], "--restore-state"),
        (["x.json", "--", "--load-modules", "f.so"], "--load-modules"),
        (["x.json", "--", "--dp-grpc-server-addr", "a:1"], "--dp-grpc-server-addr"),
        (["x.json", "--", "--cpu-port", "0"], "not a valid CPU port"),
        (["-i", "5@a", "x.json", "--", "--cpu-port", "5"], "is the port of interface 'a'"),
        (["x.json", "--", "--grpc-server-ssl"], "--grpc-server-cert is required"),
        (["--port-rate", "10", "x.json"], "needs a number and one of the units"),
        (["--port-rate", "3=10", "x.json"], "needs a number and one of the units"),
        (["--port-rate", "three=10Gbps", "x.json"], "not RATE or PORT=RATE"),
        (["--port-buffer", "many", "x.json"], "units"),
        (["-L", "loud", "x.json"], "invalid choice"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_reason(arguments: list[str], reason: str) -> None:
    assert reason in refusal(*arguments)


def test_rates_and_buffers_have_units_and_a_buffer_replaces_bmv2s_limit_in_packets() -> None:
    given = options(
        "--port-rate", "1.5Gbps", "--port-buffer", "300KB", "--port-gate", "gate", "--seed", "7", "x.json"
    )
    assert (given.rate_bps, given.queue_limit_bytes, given.queue_limit_packets) == (
        1_500_000_000,
        300_000,
        None,
    )
    assert (given.gate_register, given.seed) == ("gate", 7)


def test_a_rate_is_of_every_port_or_of_the_one_before_its_equals_sign() -> None:
    given = options("--port-rate", "1Gbps", "--port-rate", "3=10Gbps", "--port-rate", "0=5Mbps", "x.json")
    assert given.rate_bps == 1_000_000_000
    assert given.port_rates_bps == {3: 10_000_000_000, 0: 5_000_000}


def test_timestamps_are_microseconds_unless_nanoseconds_are_asked_for() -> None:
    assert options("--timestamp-unit", "ns", "x.json").tick_ps == 1_000


def test_texts_that_are_asked_for_are_shown_whatever_else_is_missing() -> None:
    for flags, text in ((["-v"], "v"), (["--json-version"], "j"), (["-h"], "--grpc-server-addr")):
        with pytest.raises(Shown, match=text):
            options(*flags)


def test_tls_takes_its_files_and_client_authorities_only_when_clients_must_show_certificates() -> None:
    files = ["--grpc-server-cert", "c", "--grpc-server-key", "k", "--grpc-server-cacert", "a"]
    tls = ["x.json", "--", "--grpc-server-ssl", *files]
    assert options(*tls).tls == (Path("c"), Path("k"), None)
    assert options(*tls, "--grpc-server-with-client-auth").tls == (Path("c"), Path("k"), Path("a"))
    without = options("x.json", "--", *files)
    assert without.tls is None
    assert any("SSL/TLS is disabled" in note for note in without.notes)
