"""docs/run/controller.md lists exactly the exporter's metrics."""

import re
from pathlib import Path

from eeon_control import constants
from eeon_control.cli import main
from eeon_control.controller.machine import State
from eeon_control.controller.metrics.catalog import as_markdown
from eeon_control.entries import CLONE_SESSIONS
from eeon_control.plan import TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "run" / "controller.md").read_text()


def test_table_of_metrics_is_the_catalogue():
    table = PAGE.partition("controller.metrics` -->\n")[2].partition("<!-- end -->")[0]
    assert table == as_markdown(), "put in what `python -m eeon_control.controller.metrics` prints"


def test_picture_has_every_state():
    picture = PAGE.partition("sequences of faults")[2].partition("* It writes only")[0]
    assert set(re.findall(r"[a-z_]+", picture)) >= {state.value for state in State}


def test_tables_of_the_controller_are_named_and_no_others():
    line = PAGE.partition("These tables are the controller's")[2].split("\n\n")[1]
    tables = [name for name in TABLES if name != CLONE_SESSIONS]
    assert " ".join(line.split()) == ", ".join(f"`{name}`" for name in tables) + "."
    assert f"clone session {constants.COPY_SESSION}." in PAGE


def test_every_option_of_the_command_is_named():
    command = main.get_command(None, "controller").get_command(None, "run")
    named = [option for one in command.params for option in one.opts if option.startswith("--")]
    missing = [option for option in named if option not in PAGE and option != "--topology"]
    assert not missing
