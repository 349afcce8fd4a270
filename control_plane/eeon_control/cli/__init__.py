"""The `eeon` command. Other packages add commands to it through the entry-point group `eeon.commands`.

Exit codes: 0 done (for `config plan`: nothing to change), 2 `config plan` found changes, 1 anything wrong,
wrong usage included, so that a script can tell 2 from a mistake.
"""

from __future__ import annotations

import os

import click

from eeon_control import __version__
from eeon_control.cli.config import config
from eeon_control.cli.controller import controller
from eeon_control.cli.doctor import doctor
from eeon_control.cli.group import EeonGroup
from eeon_control.cli.help import complete_own_help, completion, help_
from eeon_control.cli.show import clear, show

# gRPC would write lines of its own to stderr about what commands say in words. It reads this at first use.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")


@click.group(
    cls=EeonGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="eeon")
def main() -> None:
    """E-EON: data-centre switches in P4, their controller and their tools."""


main.add_command(completion)
main.add_command(config)
main.add_command(controller)
main.add_command(clear)
main.add_command(doctor)
main.add_command(help_)
main.add_command(show)

complete_own_help(main)
