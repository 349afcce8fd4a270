"""A command's manual page: as data, generated from click's description, and as roff for man."""

import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

import click

from eeon_control import __version__
from eeon_control.cli.help.examples import EXAMPLES, EXIT_CODES, USUAL_EXIT_CODES

SUMMARY_WIDTH = 96
"""Maximum number of characters in a command's summary."""
_SECTION = re.compile(r"[A-Z][A-Z ]+")
ENVIRONMENT = (
    ("EEON_STATE", "the fabric's state folder, where --state is not given"),
    ("XDG_STATE_HOME", "where state folders and counter baselines are  [default: ~/.local/state]"),
)


@dataclass
class Page:
    """A page. `path`: `eeon config plan`. `options`, `commands`: (name, text). `examples`: lines to type."""

    path: str
    summary: str
    usage: str
    description: list[str]
    options: list[tuple[str, str]] = field(default_factory=list)
    commands: list[tuple[str, str]] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    exit_codes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def file_name(self) -> str:
        """The name of the page's file for man: `eeon-config-plan.1`."""
        return f"{self.path.replace(' ', '-')}.1"

    def as_roff(self) -> str:
        """Returns the page for man(1), with the macros of man(7)."""
        name = self.path.replace(" ", "-")
        lines = [
            f'.TH "{_roff(name.upper())}" 1 "" "eeon {__version__}" "E-EON"',
            ".SH NAME",
            rf"{_roff(name)} \- {_roff(self.summary)}",
            ".SH SYNOPSIS",
            _roff(self.usage),
            ".SH DESCRIPTION",
        ]
        for number, paragraph in enumerate(self.description):
            lines += [*([".PP"] if number else []), _roff(paragraph)]
        for heading, pairs in (
            ("OPTIONS", self.options),
            ("COMMANDS", self.commands),
            ("EXIT CODES", self.exit_codes),
            ("ENVIRONMENT", ENVIRONMENT),
        ):
            lines += [f".SH {heading}"] if pairs else []
            for term, text in pairs:
                lines += [".TP", rf"\fB{_roff(term)}\fR", _roff(text) or r"\ "]
        lines += [".SH EXAMPLES", ".nf", *(_roff(line) for line in self.examples), ".fi"]
        if self.commands:
            below = ", ".join(rf"\fB{_roff(f'{name}-{command}')}\fR(1)" for command, _ in self.commands)
            lines += [".SH SEE ALSO", below]
        return "\n".join(lines) + "\n"


def page_of(ctx: click.Context) -> Page:
    command = ctx.command
    below = ctx.command_path.partition(" ")[2]
    paragraphs, sections = _parts(inspect.cleandoc(f"{command.help or ''}"))
    _, from_epilog = _parts(inspect.cleandoc(command.epilog or ""))
    sections |= from_epilog
    codes = EXIT_CODES.get(below, USUAL_EXIT_CODES)
    return Page(
        path=ctx.command_path,
        summary=command.get_short_help_str(limit=SUMMARY_WIDTH).rstrip("."),
        usage=" ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]),
        description=paragraphs,
        options=[record for param in command.get_params(ctx) if (record := param.get_help_record(ctx))],
        commands=[
            (str(one.info_name), one.command.get_short_help_str(limit=SUMMARY_WIDTH)) for one in _below(ctx)
        ],
        examples=sections.get("EXAMPLES", list(EXAMPLES.get(below, (f"{ctx.command_path} --help",)))),
        exit_codes=[_code(line) for line in sections.get("EXIT CODES", [])]
        or [(str(code), text) for code, text in codes],
    )


def complete(ctx: click.Context) -> None:
    """Adds the examples and exit codes that a command's own text lacks to its --help."""
    command = ctx.command
    page = page_of(ctx)
    text = f"{command.help or ''}\n{command.epilog or ''}"
    more = []
    if "EXAMPLES" not in text:
        more.append("\b\nEXAMPLES\n" + "\n".join(f"  {line}" for line in page.examples))
    if "EXIT CODES" not in text:
        more.append("\b\nEXIT CODES\n" + "\n".join(f"  {code}  {text}" for code, text in page.exit_codes))
    command.epilog = "\n\n".join([*([command.epilog.strip()] if command.epilog else []), *more])


def contexts(root: click.Context) -> Iterator[click.Context]:
    """Yields a context for a group and for all of its commands, in order of name."""
    yield root
    for one in _below(root):
        yield from contexts(one)


def _below(ctx: click.Context) -> Iterator[click.Context]:
    """Yields a context for each command of a group, in order of name; nothing for another command."""
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            command = ctx.command.get_command(ctx, name)
            if command is not None and not command.hidden:
                yield click.Context(command, info_name=name, parent=ctx)


def root_context(command: click.Command) -> click.Context:
    """Returns the context of the program as `eeon`, however the process was started."""
    return click.Context(command, info_name="eeon", **command.context_settings)


def _parts(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Returns paragraphs and sections: verbatim blocks (click's \\b) headed by a line in capitals."""
    paragraphs: list[str] = []
    sections: dict[str, list[str]] = {}
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.splitlines()
        if lines and lines[0].strip() == "\b" and len(lines) > 1 and _SECTION.fullmatch(lines[1].strip()):
            sections[lines[1].strip()] = textwrap.dedent("\n".join(lines[2:])).splitlines()
        elif block.strip():
            paragraphs.append(" ".join(block.replace("\b", "").split()))
    return paragraphs, sections


def _code(line: str) -> tuple[str, str]:
    code, _, text = line.strip().partition(" ")
    return code, text.strip()


def _roff(text: str) -> str:
    """Escapes text so that it contains no roff requests."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in escaped.splitlines())
