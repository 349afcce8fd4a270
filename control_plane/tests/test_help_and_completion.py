"""Manual pages, help texts and shell completion, generated from the commands."""

import os
import re
import shutil
import subprocess
import sys

import click
import pytest
from click.shell_completion import ShellComplete
from eeon_command import eeon
from eeon_control import topology
from eeon_control.cli import main
from eeon_control.cli.config import config
from eeon_control.cli.help.page import Page, contexts, page_of, root_context
from eeon_control.cli.lazy import load, summary_of
from eeon_control.state import StateStore

_FOR_FILES = {"pydantic", "rich", "yaml"}
_FOR_SWITCHES = {"grpc", "finsy"}


def own_commands() -> list[click.Context]:
    root = root_context(main)
    return [
        one
        for name in main.places
        for one in contexts(click.Context(main.get_command(root, name), info_name=name, parent=root))
    ]


@pytest.mark.parametrize("ctx", own_commands(), ids=lambda ctx: ctx.command_path)
def test_every_command_has_a_page_with_examples_and_exit_codes_and_so_has_its_help(ctx):
    path = ctx.command_path.split()[1:]
    page = page_of(ctx).as_roff()
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT CODES", "ENVIRONMENT", "EXAMPLES"):
        assert f"\n.SH {heading}\n" in page
    if isinstance(ctx.command, click.Group):
        return
    help_text = eeon(*path, "--help").output
    assert "EXAMPLES\n" in help_text and "EXIT CODES\n" in help_text and "-h, --help" in help_text
    examples = page_of(ctx).examples
    assert all(line.startswith("eeon ") for line in examples)
    assert any(line.startswith(ctx.command_path) and not line.endswith(" --help") for line in examples)


@pytest.mark.parametrize("ctx", own_commands(), ids=lambda ctx: ctx.command_path)
def test_the_options_in_a_commands_examples_are_options_it_has(ctx):
    known = {name for param in ctx.command.get_params(ctx) for name in (*param.opts, *param.secondary_opts)}
    for line in page_of(ctx).examples:
        if line.startswith(f"{ctx.command_path} ") and not isinstance(ctx.command, click.Group):
            used = {word for word in line.split(" > ")[0].split() if word.startswith("-")}
            assert used <= known, line


@pytest.mark.parametrize("place", [*main.places.values(), *config.places.values()])
def test_a_list_of_commands_says_of_each_what_its_own_help_says(place):
    assert summary_of(place) == load(place).get_short_help_str(96)


def test_commands_where_to_begin_have_these_options():
    steps = re.findall(r"^ +(eeon(?: \S+)+)  +\S", eeon("--help").output, re.MULTILINE)
    assert len(steps) == 9
    for step in steps:
        ctx, words = root_context(main), step.split()[1:]
        while isinstance(ctx.command, click.Group):
            command = ctx.command.get_command(ctx, words[0])
            ctx = click.Context(command, info_name=words.pop(0), parent=ctx)
        ctx.command.make_parser(ctx).parse_args(words)


_GROUPS = ("show", "config", "controller", "sonic", "fabric", "trace", "lab")


@pytest.mark.parametrize("group", [(), *((name,) for name in _GROUPS)])
def test_lists_of_commands_say_what_each_tells_without_being_cut(group):
    for line in eeon(*group, "--help", columns=80).output.splitlines()[1:]:  # after [ARGS]...
        assert not line.rstrip().endswith("..."), line


@pytest.mark.system
@pytest.mark.parametrize(
    ("arguments", "libraries"),
    [
        (["--version"], _FOR_FILES | _FOR_SWITCHES),
        (["--help"], _FOR_FILES | _FOR_SWITCHES),
        (["config", "--help"], _FOR_FILES | _FOR_SWITCHES),
        (["completion", "bash"], _FOR_FILES | _FOR_SWITCHES),
        (["config", "validate", "-c", "drop_tail", "-t", "leaf-spine-4"], _FOR_SWITCHES),
    ],
    ids=lambda value: " ".join(sorted(value)) if isinstance(value, set) else " ".join(value),
)
def test_a_command_waits_for_no_library_that_it_does_not_need(arguments, libraries):
    program = (
        "import sys; from eeon_control.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert not libraries & set(done.stdout.splitlines()[-1].split())


@pytest.mark.system
@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not on PATH")
def test_groff_has_nothing_to_say_against_the_pages(tmp_path):
    eeon("help", "--man", str(tmp_path))
    pages = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run(["groff", "-man", "-ww", "-z", *pages], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_text_that_roff_would_take_for_commands_is_escaped():
    page = Page("eeon x", "a\\b", "eeon x", [".so /etc/passwd", "it's -n"])
    assert "\\&.so /etc/passwd" in page.as_roff()
    assert "a\\eb" in page.as_roff() and "it\\(aqs \\-n" in page.as_roff()


@pytest.mark.system
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_of_each_shell_asks_eeon(shell):
    result = eeon("completion", shell, code=0)
    assert f"_EEON_COMPLETE={shell}_complete" in result.stdout


def test_the_shell_may_be_left_out_where_the_environment_names_it(monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert "fish_complete" in eeon("completion").stdout
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "unknown shell; write eeon completion bash|zsh|fish" in eeon("completion").stderr


def test_revisions_are_offered_newest_first(tmp_path, monkeypatch):
    monkeypatch.delenv("EEON_STATE", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(StateStore, "current_number", lambda self: 3)
    StateStore.open(tmp_path / "eeon" / topology.load("leaf-spine-4").name)
    words = ["config", "rollback", "-t", "leaf-spine-4"]
    offered = ShellComplete(main, {}, "eeon", "_EEON_COMPLETE").get_completions(words, "")
    assert [item.value for item in offered] == ["3", "2", "1"]


@pytest.mark.system
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not on PATH")
def test_bash_gets_what_it_asks_for():
    environment = os.environ | {
        "_EEON_COMPLETE": "bash_complete",
        "COMP_WORDS": "eeon show en",
        "COMP_CWORD": "2",
    }
    done = subprocess.run(
        [sys.executable, "-m", "eeon_control"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["plain,energy"]
