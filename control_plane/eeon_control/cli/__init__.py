"""The `eeon` command. Other packages add commands through the entry-point group `eeon.commands`.

Exit codes: 0 done (for `config plan`: nothing to change), 2 `config plan` found changes, 1 any error,
including wrong usage, so that a script can tell 2 from a mistake; 130 stopped by Ctrl-C or SIGTERM.
"""

import os

import click

from eeon_control import __version__
from eeon_control.cli.group import EeonGroup
from eeon_control.cli.help.page import ENVIRONMENT

# Without this, gRPC logs to stderr what commands report themselves. It reads the variable at first use.
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
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
)
@click.version_option(__version__, prog_name="eeon")
def main() -> None:
    """E-EON: data-centre switches in P4, their controller and their tools.

    \b
    WHERE TO BEGIN
      eeon demo                                    replay a shuffle, twelve settings
      eeon init my-fabric                          write your own fabric's files
      eeon fabric up leaf-spine-4                  start a twin to configure
      eeon show path h1 h3 --flow tcp,40000,5000   show a flow's path, and its end
      eeon show ports --only drops                 show ports that drop, and why
      eeon show routes --only faults               show routes not as planned
      eeon trace shuffle -o a.pcap                 write a trace of traffic
      eeon replay a.pcap -c mark_threshold         send it through a twin
      eeon help show path                          show all about one command
    """
