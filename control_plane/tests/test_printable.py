"""Text from outside is shown but not executed: none of its escape sequences reaches the terminal."""

import re
import sys
from pathlib import Path

import click
import pytest
from eeon_command import at_terminal, eeon, place
from eeon_control.cli import main
from eeon_control.cli.streams import guarded
from eeon_control.cli.terminal import Terminal
from eeon_control.controller import log
from eeon_control.errors import Place, Problem
from eeon_control.printable import one_line
from finsy.proto import rpc_code
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

CLEARS = "\x1b[2J\x1b[H\x9b2J\x07"
TURNS = "\u202e\u2066\u200f"
FORGED = f"{CLEARS}{TURNS}\r\n4 of 4 switches changed\napplied; all is well"
# Forbidden in all output: C0 except line feed and tab, DEL, C1, the controls of UAX #9.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def test_one_line_stays_one_line_and_is_cut():
    assert one_line("refused\napplied\t!\udc80") == "refused\\u000aapplied\\u0009!\\udc80"
    assert one_line("x" * 5000) == "x" * 2000 + "..."


def test_problem_of_a_file_shows_key_and_value_on_one_line():
    problem = Problem(Place("a.yaml", 3), "roles\x1b[2J", f"x{FORGED}", "not known")
    assert str(problem).startswith("a.yaml:3: error: roles\\u001b[2J: x\\u001b[2J")
    assert OBEYED.search(str(problem)) is None and "\n" not in str(problem)


def test_log_line_with_a_comment_of_somebody_stays_one_printable_line():
    line = f"comment={log._text(f'x{FORGED}')}"
    assert OBEYED.search(line) is None and "\n" not in line


@pytest.fixture
def forging(switches4, tmp_path) -> list[str]:
    """Returns options for switches of which leaf2 answers with escape sequences."""
    switches4.switches["leaf2"].fault = lambda update: (rpc_code.RESOURCE_EXHAUSTED, FORGED)
    return place(tmp_path, switches4.targets)


COMMANDS = [
    ("config", "plan", "-c", "red_ack_syn"),
    ("config", "apply", "-c", "red_ack_syn"),
    ("show", "ports"),
    ("doctor",),
    ("doctor", "-o", "json"),
]


@pytest.mark.system
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_escape_sequences_of_a_switch_are_shown_and_forge_no_line(switches4, forging, command):
    if "apply" not in command:
        switches4.switches["leaf2"].refuses_to_read_as = FORGED
    done = eeon(*command, *forging)
    assert done.exit_code != 0
    both = done.stdout + done.stderr
    assert OBEYED.search(both) is None, both
    assert "u001b[2J" in both, "the switch's text is to be seen"
    assert not [line for line in both.splitlines() if line.startswith(("4 of 4", "applied;"))]


@pytest.mark.system
def test_on_a_terminal_the_colours_are_the_commands_own(forging):
    shown, code = at_terminal("config", "apply", "-c", "red_ack_syn", *forging, errors=True)
    assert code == 1 and "\\u001b[2J" in shown
    assert "\x1b[31m" in shown, "errors are red"
    assert "\x1b[2J" not in shown and "\x1b[H" not in shown and "\x9b" not in shown and "\u202e" not in shown


def test_command_of_another_package_is_guarded_too(monkeypatch):
    @click.command()
    def foreign() -> None:
        click.echo(f"out {CLEARS}")
        click.echo(f"err {CLEARS}", err=True)
        print(f"print {CLEARS}")
        sys.stderr.write(f"write {TURNS}\n")

    monkeypatch.setitem(main.commands, "foreign", foreign)
    result = eeon("foreign", code=0)
    assert OBEYED.search(result.output) is None
    assert result.stdout.count("\\u009b") == 2 and "write \\u202e" in result.stderr


def test_stderr_on_a_full_disk_stops_no_command(monkeypatch):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        with guarded():
            click.echo("err", err=True)
            Terminal(stderr=True).print("err")
        # Nothing is left to be written at the end.
        full.flush()


def test_cell_of_a_table_and_a_styled_text_are_escaped(capsys):
    table = Table("column")
    table.add_row(CLEARS)
    terminal = Terminal()
    terminal.width = 200
    terminal.print(table)
    terminal.print(f"text {TURNS}", style="red")
    terminal.print(Text(f"styled {CLEARS}"))
    shown = capsys.readouterr().out
    assert "│ \\u001b[2J" in shown and "styled \\u001b[2J" in shown and "\\u202e" in shown
    assert OBEYED.search(shown) is None


@pytest.mark.parametrize(
    "name", ["leaf1:100:", "leaf1:-1", ":smile:", "[red]a[/red]", "[/]", "[link=x]y", "\\[b]"]
)
def test_name_that_rich_would_read_as_markup_or_emoji_is_shown_as_it_is(name, capsys):
    table = Table(name, title=f"{name} in a title")
    table.add_row(f"{name} in a cell")
    terminal = Terminal()
    terminal.width = 200
    terminal.print(table)
    terminal.print(f"{name} in a text", style="red")
    terminal.print(Padding(f"{name} in a block", 1))
    shown = capsys.readouterr().out
    assert [line.strip() for line in shown.splitlines() if line.strip(" ┏━┓┡┩└─┘")] == [
        f"{name} in a title",
        f"┃ {name}{' ' * 10} ┃",
        f"│ {name} in a cell │",
        f"{name} in a text",
        f"{name} in a block",
    ]


def test_no_console_is_made_but_the_one_that_escapes():
    root = Path(__file__).parents[2]
    sources = [
        path
        for folder in ("control_plane/eeon_control", "tools/eeon_tools", "experiments/eeon_experiments")
        for path in (root / folder).rglob("*.py")
    ]
    assert len(sources) > 100
    made = [path.name for path in sources if re.search(r"(= ?|\s)Console\(", path.read_text())]
    assert made == [], "Terminal of eeon_control.cli.terminal is the console to use"
