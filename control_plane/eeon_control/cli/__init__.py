"""The `eeon` command. Other packages add commands to it through the entry-point group `eeon.commands`.

Exit codes: 0 done (for `config plan`: nothing to change), 2 `config plan` found changes, 1 anything wrong,
wrong usage included, so that a script can tell 2 from a mistake; 130 stopped by Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import os

import click

from eeon_control import __version__
from eeon_control.cli.group import EeonGroup
from eeon_control.cli.help.page import ENVIRONMENT

# gRPC would write lines of its own to stderr about what commands say in words. It reads this at first use.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

_PLACES = {
    "clear": "eeon_control.cli.show:clear",
    "completion": "eeon_control.cli.help:completion",
    "config": "eeon_control.cli.config:config",
    "controller": "eeon_control.cli.controller:controller",
    "doctor": "eeon_control.cli.doctor:doctor",
    "help": "eeon_control.cli.help:help_",
    "init": "eeon_control.cli.init:init",
    "show": "eeon_control.cli.show:show",
    "sonic": "eeon_control.cli.sonic:sonic",
    "topology": "eeon_control.cli.topology:topology",
    "top": "eeon_control.cli.top:top",
}


@click.group(
    cls=EeonGroup,
    places=_PLACES,
    epilog="\b\nENVIRONMENT\n" + "\n".join(f"  {name:16}{text}" for name, text in ENVIRONMENT),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="eeon")
def main() -> None:
    """E-EON: data-centre switches in P4, their controller and their tools.

    \b
    WHERE TO BEGIN
      eeon demo                                    a shuffle under twelve settings
      eeon init my-fabric                          the files of a fabric of your own
      eeon fabric up leaf-spine-4                  a twin to configure
      eeon show path h1 h3 --flow tcp,40000,5000   the way of a flow, and its end
      eeon show ports --only drops                 the ports that drop, and why
      eeon show routes --only faults               routes not as planned, and why
      eeon trace shuffle -o a.pcap                 traffic
      eeon replay a.pcap -c mark_threshold         what a twin does with it
      eeon help show path                          all about one command
    """
