"""`eeon help` and `eeon completion`: manual pages and shell completion, generated from the commands."""

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from eeon_control.cli.help.page import contexts, page_of, root_context
from eeon_control.errors import EeonError

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_EEON_COMPLETE"  # the name that click derives from the program's


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option(
    "--man",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="write the pages of all commands for man(1) into FOLDER instead",
)
@click.pass_context
def help_(ctx: click.Context, words: tuple[str, ...], folder: Path | None) -> None:
    """Show a command's manual page: description, options, examples, exit codes."""
    root = root_context(ctx.find_root().command)
    if folder is not None:
        pages = [page_of(one) for one in contexts(root)]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for page in pages:
                (folder / page.file_name).write_text(page.as_roff(), encoding="utf-8")
        except OSError as error:
            raise EeonError(f"{folder}: cannot be written: {error.strerror}") from None
        click.echo(f"{len(pages)} pages in {folder}; try: man {folder}/eeon-show.1")
        return
    click.echo_via_pager(_context(root, words).get_help())


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS), required=False)
@click.pass_context
def completion(ctx: click.Context, shell: str | None) -> None:
    """Print a script that completes `eeon` in a shell.

    The script completes commands, options, and the topologies and examples of the package. It also completes
    the switches, ports and revisions of the topology and state folder on the command line. Without SHELL, the
    command takes the shell that $SHELL names.
    """
    wanted = shell or Path(os.environ.get("SHELL", "")).name
    found = get_completion_class(wanted) if wanted in _SHELLS else None
    if found is None:
        raise EeonError(f"unknown shell; write eeon completion {'|'.join(_SHELLS)}")
    click.echo(found(ctx.find_root().command, {}, "eeon", _VARIABLE).source())


def _context(root: click.Context, words: tuple[str, ...]) -> click.Context:
    found = root
    for word in words:
        command = found.command.get_command(found, word) if isinstance(found.command, click.Group) else None
        if command is None:
            raise EeonError(f"no command {' '.join(('eeon', *words))}; `eeon help` lists them")
        found = click.Context(command, info_name=word, parent=found)
    return found
