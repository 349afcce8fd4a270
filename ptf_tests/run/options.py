"""The command line of all targets."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ptf_tests.run import suite


def add_to(parser: argparse.ArgumentParser) -> None:
    """Adds the options of every target."""
    parser.add_argument(
        "cases", nargs="*", metavar="CASE", help="file or file.Class; ^CASE leaves out; default: all cases"
    )
    parser.add_argument("--program", type=Path, default=suite.PROGRAM, help="BMv2 JSON to test")
    parser.add_argument("--p4info", type=Path, default=suite.P4INFO, help="its P4Info, text format")
    parser.add_argument("--output", type=Path, help="folder for logs (default: out/ptf/<target>)")
    parser.add_argument(
        "--workers",
        type=int,
        choices=range(1, 65),
        default=1,
        metavar="N",
        help="processes side by side (default: 1); only on the engine, where each has a switch of its own",
    )


def request_from(arguments: argparse.Namespace) -> suite.Request:
    """Returns the request of parsed arguments."""
    output = arguments.output.resolve() if arguments.output else None
    return suite.Request(
        arguments.cases, arguments.program.resolve(), arguments.p4info.resolve(), output, arguments.workers
    )


def parse(argv: Sequence[str]) -> suite.Request:
    """Returns the request of a target's command line."""
    parser = argparse.ArgumentParser(description="Runs the PTF cases on one target.")
    add_to(parser)
    return request_from(parser.parse_args(argv))
