"""The command line of `eeon-switch`: BMv2's flags and its own, without starting a switch."""

import ast
import shlex
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


def rows(part: str) -> list[tuple[list[str], str]]:
    """Returns the command lines in a part of `switch_options.txt`, each with what is expected."""
    text = (Path(__file__).parent / "switch_options.txt").read_text()
    lines = text.split(f"[{part}]\n")[1].split("\n\n")[0].splitlines()
    found = [line.partition(" -> ") for line in lines if not line.startswith("#")]
    return [(shlex.split(arguments), expected) for arguments, _, expected in found]


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


@pytest.mark.parametrize(("arguments", "expected"), rows("set"))
def test_a_flag_is_taken_before_and_behind_the_program(arguments: list[str], expected: str) -> None:
    field, value = expected.split(" ", 1)
    for line in ([*arguments, "x.json"], ["x.json", *arguments]):
        assert getattr(options(*line), field) == ast.literal_eval(value)


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


@pytest.mark.parametrize("arguments", [("x.json", "y.json"), ("x.json", "--", "y.json")])
def test_a_second_program_is_refused_as_what_it_is(arguments: tuple[str, ...]) -> None:
    assert refusal(*arguments) == "y.json is neither a flag nor a flag's value, and the program is x.json"


@pytest.mark.parametrize(("arguments", "reason"), rows("refused"))
def test_what_cannot_be_followed_is_refused_with_its_reason(arguments: list[str], reason: str) -> None:
    assert reason in refusal(*arguments)


def test_texts_that_are_asked_for_are_shown_whatever_else_is_missing() -> None:
    without_effect = r"--debugger +no debugger; `eeon"
    for flags, text in (
        (["-v"], "v"),
        (["--json-version"], "j"),
        (["-h"], "--grpc-server-addr"),
        (["-h"], without_effect),
    ):
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
