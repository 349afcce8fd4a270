"""The command line of `eeon-switch`: BMv2's flags and its own, without starting a switch."""

import ast
import logging
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
from eeon_engine.switch_command import logs
from eeon_engine.switch_command.options import Options, Shown, UsageError, parse


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


def test_a_program_alone_gets_bmv2s_defaults():
    given = options("x.json")
    assert given == Options(program=Path("x.json"), grpc_address="127.0.0.1:9559", notes=given.notes)
    assert (given.thrift_port, given.tick_ps, given.queue_limit_packets) == (9090, 1_000_000, 64)
    assert given.thrift_host == "127.0.0.1"


@pytest.mark.parametrize(("arguments", "expected"), rows("set"))
def test_a_flag_is_taken_before_and_behind_the_program(arguments, expected):
    field, value = expected.split(" ", 1)
    for line in ([*arguments, "x.json"], ["x.json", *arguments]):
        assert getattr(options(*line), field) == ast.literal_eval(value)


@pytest.mark.parametrize(("arguments", "expected"), rows("whole"))
def test_a_command_line_sets_these_options(arguments, expected):
    given = options(*arguments)
    for field, _, value in (one.partition(" ") for one in expected.split("; ")):
        assert plain(getattr(given, field)) == ast.literal_eval(value)


def plain(value: object) -> object:
    """Returns paths as text."""
    if isinstance(value, tuple):
        return tuple(plain(one) for one in value)
    return str(value) if isinstance(value, Path) else value


@pytest.mark.parametrize(("arguments", "expected"), rows("notes"))
def test_a_command_line_gives_these_notes(arguments, expected):
    notes = options(*arguments).notes
    absent = expected.removeprefix("without ")
    if expected == "nothing":
        assert notes == []
    else:
        assert any(absent in note for note in notes) == (absent == expected)


@pytest.mark.parametrize(("arguments", "reason"), rows("refused"))
def test_what_cannot_be_followed_is_refused_with_its_reason(arguments, reason):
    assert reason in refusal(*arguments)


def test_texts_that_are_asked_for_are_shown_whatever_else_is_missing():
    without_effect = r"--debugger +no debugger; `eeon"
    for flags, text in (
        (["-v"], "v"),
        (["--json-version"], "j"),
        (["-h"], "--grpc-server-addr"),
        (["-h"], without_effect),
    ):
        with pytest.raises(Shown, match=text):
            options(*flags)


def test_simple_switch_has_thrift_alone():
    assert options("x.json", with_grpc=False).thrift_port == 9090
    assert options("x.json", with_grpc=False).grpc_address is None
    assert "simple_switch has no other server" in refusal("--thrift-port", "none", "x.json", with_grpc=False)


@pytest.mark.parametrize(("kept", "files"), [(0, ["log.txt"]), (2, ["log.1.txt", "log.2.txt", "log.txt"])])
def test_a_log_file_is_as_large_as_it_may_be_and_as_many_are_kept(tmp_path, monkeypatch, kept, files):
    # A logger of its own: other tests use the package's.
    monkeypatch.setattr(logs, "logging", SimpleNamespace(**vars(logging) | {"getLogger": logging.Logger}))
    log = logs.set_up(Options(log_file=f"{tmp_path}/log", log_file_max_size=1000, log_file_max_files=kept))
    for _ in range(100):
        log.info("a line of the log")
    assert sorted(path.name for path in tmp_path.iterdir()) == files
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())
