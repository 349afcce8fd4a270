"""`eeon trace shuffle|coflow|info|flows`: make traces, describe them, and list their flows."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from eeon_control import topology as topologies
from eeon_control.cli.options import (
    FILE,
    INPUT,
    QuantityType,
    as_one,
    json_option,
    output_file,
    together,
    topology_option,
)
from eeon_control.cli.output import console, counted, print_json
from eeon_control.outputs import replacing
from eeon_control.topology import Topology
from eeon_control.units import Bytes, Duration

from eeon_tools.cli.support import (
    NumberRange,
    break_teller,
    keep_good_option,
    packet_progress,
    reads_again,
    reports_errors,
    seed_option,
    send_options,
)
from eeon_tools.replay.feed import SendRules
from eeon_tools.replay.spec import LONGEST_RUN_PS
from eeon_tools.tables import Rows
from eeon_tools.trace import manifest as manifests
from eeon_tools.trace.capture import read_packets, seekable
from eeon_tools.trace.coflow import SAMPLE, CoflowReplay
from eeon_tools.trace.copies import REPEATED
from eeon_tools.trace.info import TraceInfo, describe
from eeon_tools.trace.mapreduce import Shuffle

if TYPE_CHECKING:
    from eeon_tools.trace.generate import Workload

_PS_PER_NS = 1000
BYTES = QuantityType(Bytes, minimum=1)
DURATION = QuantityType(Duration, minimum=_PS_PER_NS)
HEARTBEAT = QuantityType(Duration, minimum=10**9)

coflows_argument = click.argument(
    "coflows", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
"""The argument for a coflow file; without it, the sample that ships."""
range_option = click.option(
    "--range",
    "span",
    default="1-",
    metavar="FIRST-LAST",
    help="Coflows to use, counted from 1 in file order: 5-20, 7, or 5- for all from the fifth.",
)
"""The option for a range of coflows, for `parse_range`."""


def _nanoseconds(_ctx: click.Context, _param: click.Parameter, value: Duration) -> int:
    if value > LONGEST_RUN_PS:
        raise click.BadParameter(f"{value}: must be at most 26 days, for which a twin runs")
    return value // _PS_PER_NS


@click.group()
def trace() -> None:
    """Make and describe traces: pcap files of the frames that the hosts of a fabric send."""


def _writes_trace(function: Callable[..., Workload]) -> Callable[..., None]:
    """Makes a command of a function that returns a workload for a topology, with the options of every
    generator: the output, the fabric, and how hosts send."""

    @functools.wraps(function)
    @reports_errors
    def command(
        output: Path, topology_name: str, seed: int, window: Bytes, one_way_delay: Duration,
        ce_threshold: Bytes, ecn: bool, ipv6: bool, dscps: tuple[int, ...], whole_frames: bool,
        max_packets: int, **own: object,
    ) -> None:  # fmt: skip
        from eeon_tools.trace.generate import generate
        from eeon_tools.trace.senders import SenderSettings

        topology = topologies.load(topology_name)
        workload = function(topology, **own)
        senders = SenderSettings(one_way_delay // _PS_PER_NS, window, ce_threshold, ecn, ipv6, dscps)
        with packet_progress(f"writing {output.name}") as progress:
            manifest = generate(
                output_file(output), topology, workload, senders, seed,
                topology_file=Path(topology_name) if Path(topology_name).is_file() else None,
                whole_frames=whole_frames, max_packets=max_packets, progress=progress,
            )  # fmt: skip
        total = sum(manifest.packets.values())
        classes = ", ".join(f"{count:,} {name}" for name, count in manifest.packets.items() if count)
        seconds = manifest.duration_ns / 1e9
        click.echo(
            f"{output}: {counted(total, 'packet')}, {counted(manifest.connections, 'connection')}, "
            f"{seconds:.6f} s"
        )
        click.echo(f"  {classes}")
        click.echo(f"  manifest: {manifests.manifest_path(output)}")

    return together(
        click.option("-o", "--output", type=FILE, required=True, help="Trace to write: .pcap or .pcapng."),
        topology_option(default="leaf-spine-4"),
        seed_option("Seed; the same settings and seed give the same bytes."),
        click.option("--window", type=BYTES, default="64KiB",
                     help="Maximum number of bytes that a sender has in flight."),
        click.option("--one-way-delay", type=DURATION, default="30us",
                     help="Time from a full frame's departure from its host to the queue of the receiver's "
                          "link; at least its time on the host's link."),
        click.option("--ce-threshold", type=BYTES, default="97.5KB",
                     help="Depth of the queue of the receiver's link above which data gets CE, so that "
                          "its ACKs carry ECE."),
        click.option("--ecn/--no-ecn", default=True, help="Whether connections negotiate ECN."),
        click.option("--ipv6", is_flag=True, help="IPv6 instead of IPv4."),
        click.option("--dscp", "dscps", type=click.IntRange(0, 63), multiple=True, default=(0,),
                     help="DSCP of the connections; repeatable: connections take the values in turn."),
        click.option("--full", "whole_frames", is_flag=True,
                     help="Store whole frames; by default, only headers, with the true length beside them."),
        click.option("--max-packets", type=click.IntRange(1), default=20_000_000,
                     help="Refuse to write a longer trace."),
    )(command)  # fmt: skip


@trace.command()
@_writes_trace
@click.option("--maps", type=click.IntRange(1, 1_000_000), default=40, help="Number of map tasks.")
@click.option(
    "--reducers", type=click.IntRange(1, 100_000), help="Number of reduce tasks.  [default: two per host]"
)
@click.option("--split", "split_bytes", type=BYTES, default="64MB", help="Input of one map task.")
@click.option("--output-ratio", type=NumberRange(0, 1000, min_open=True), default=1.0,
              help="Map output bytes per input byte.")  # fmt: skip
@click.option("--parallel-fetches", type=click.IntRange(1, 10_000), default=5,
              help="Maximum number of parallel fetches of one reducer.")  # fmt: skip
@click.option("--map-slots", type=click.IntRange(1, 1000), default=2,
              help="Maximum number of maps that a host runs in parallel.")  # fmt: skip
@click.option("--startup", "startup_ns", type=DURATION, default="1.6s",
              callback=_nanoseconds, help="Start-up time of a task.")  # fmt: skip
@click.option("--cycles-per-byte", type=NumberRange(0, 1e6), default=84.0,
              help="Cycles of a map task per byte, on a 2.5 GHz core.")  # fmt: skip
@click.option("--noise", "noise_sigma", type=NumberRange(0, 3), default=0.0953,
              help="Sigma of the log-normal noise on task times.")  # fmt: skip
@click.option("--heartbeat", "heartbeat_ns", type=HEARTBEAT, default="1s", callback=_nanoseconds,
              help="Interval at which hosts get maps and report finished maps.")  # fmt: skip
@as_one("job", Shuffle)
def shuffle(topology: Topology, job: Shuffle) -> Workload:
    """Write the trace of one MapReduce job's shuffle.

    The job follows the model of MRPerf, and the hosts are those of a twin.
    """
    return replace(job, reducers=job.reducers or 2 * len(topology.hosts))


@trace.command()
@_writes_trace
@coflows_argument
@range_option
@click.option(
    "--scale",
    type=NumberRange(0, 1000, min_open=True),
    default=1.0,
    help="Factor applied to every transfer's size.",
)
@click.option(
    "--time-scale",
    type=NumberRange(1e-6, 1e9),
    default=1.0,
    help="Factor applied to the speed of arrivals in the file.",
)
def coflow(_topology: Topology, coflows: Path | None, span: str, scale: float, time_scale: float) -> Workload:
    """Write the trace of a file of coflows.

    COFLOWS is a file in the format of the Facebook 2010 trace (default: a sample). Racks become the fabric's
    hosts: the first host of every leaf in turn, then the second host of every leaf, and so on.
    """
    return CoflowReplay(coflows or SAMPLE, *parse_range(span), scale, time_scale)


def parse_range(text: str) -> tuple[int, int | None]:
    """Returns the first and last coflow of `5-20`, `7` or `5-`. Raises `click.BadParameter`."""
    first, dash, last = text.partition("-")
    if first.isdecimal() and int(first) >= 1 and (not dash or last.isdecimal() or not last):
        low = int(first)
        high = low if not dash else int(last) if last else None
        if high is None or high >= low:
            return low, high
    raise click.BadParameter(
        f"{text!r} is not FIRST-LAST, FIRST- or one number, counted from 1", param_hint="--range"
    )


@trace.command()
@click.argument("capture", type=INPUT)
@json_option
@click.option("--top", type=click.IntRange(0, 1000), default=8, help="Number of senders to list.")
@keep_good_option
@reports_errors
def info(capture: Path, as_json: bool, top: int, keep_good: bool) -> None:
    """Describe CAPTURE: pcap or pcapng, plain or compressed.

    The file may be compressed with gzip or zstd; - is standard input."""
    with seekable(capture) as file:
        found = describe(read_packets(file, break_teller(keep_good)))
    manifest = manifests.read(capture)
    if as_json:
        print_json(found.as_dict(), indent=2)
        return
    _print_info(capture, found, manifest, top)


@trace.command()
@click.argument("capture", type=INPUT)
@click.option("-o", "--output", type=FILE, required=True, help="List to write: CSV.")
@topology_option(required=False, more="  [default: the one in the trace's manifest, or leaf-spine-4]")
@click.option("--gap", type=DURATION,
              help="Idle time after which new data of a connection begin another flow.  "
                   "[default: a connection is one flow in each direction]")  # fmt: skip
@send_options
@keep_good_option
@reports_errors
@reads_again("capture")
def flows(
    capture: Path,
    output: Path,
    topology_name: str | None,
    gap: Duration | None,
    rules: SendRules,
    keep_good: bool,
) -> None:
    """List the TCP flows of CAPTURE for an experiment.

    The experiment reads them with `{kind: flows, listed: FILE}`. Each line has source, destination, bytes and
    start. The experiment's hosts send the flows with their own TCP, which reacts to the fabric; bytes that
    the capture has twice count once."""
    from eeon_tools.replay import flows as replay_flows
    from eeon_tools.replay.feed import Feed

    topology_name = topology_name or manifests.topology_of(capture) or "leaf-spine-4"
    hosts = list(topologies.load(topology_name).hosts.values())
    by_address = {
        address.packed: index for index, one in enumerate(hosts) for address in (one.ipv4, one.ipv6)
    }
    feed = Feed(capture, hosts, 1.0, rules, break_teller(keep_good))
    gap_ps = None if gap is None else int(gap)
    found, left_out = replay_flows.flows_of(feed.offers(), by_address, capture, gap_ps)
    with replacing(output_file(output)) as scratch, scratch.open("w", encoding="utf-8") as file:
        file.writelines(replay_flows.lines(found, [host.name for host in hosts]))
    click.echo(f"{output}: {counted(len(found), 'flow')}, {sum(flow.bytes for flow in found):,} bytes")
    for why, count in left_out.items():
        click.echo(f"  packets left out because they {why}: {count:,}")
    for remark in feed.counts.remarks():
        if remark.startswith("packets"):
            click.echo(f"  {remark}")


def _print_info(capture: Path, found: TraceInfo, manifest: manifests.Manifest | None, top: int) -> None:
    out = console()
    seconds = found.duration_ns / 1e9
    rate, packet_rate = found.per_second(8 * found.bytes), found.per_second(found.packets)
    click.echo(f"{capture}: {counted(found.packets, 'packet')}, {found.bytes:,} frame bytes, {seconds:.6f} s")
    if rate is not None and packet_rate is not None:
        click.echo(f"  {rate / 1e9:.3f} Gbit/s and {packet_rate:,.0f} packets/s on average")
    click.echo(f"  {found.payload_bytes:,} bytes of TCP payload; {found.snapped:,} frames stored in part")
    if found.super_frames:
        click.echo(
            f"  frames longer than TCP segments: {found.super_frames:,}; segmentation offload, which no link "
            f"has carried; `eeon replay` cuts them into {found.super_frame_segments:,}"
        )
    if found.copies:
        click.echo(
            f"  further copies of packets, seen at another interface: {found.copies:,}; "
            "`eeon replay` leaves them out"
        )
    if found.repeated:
        click.echo(f"  {REPEATED.format(found.repeated)}")
    if found.cut:
        click.echo(
            f"  frames cut within their headers, which count as other: {found.cut:,}; capture more of each "
            "(`tcpdump -s 128`)"
        )
    if found.fragments:
        click.echo(
            f"  TCP fragments without the TCP header, which count as other: {found.fragments:,}; "
            "their payload is not counted"
        )
    if found.out_of_order:
        click.echo(f"  packets earlier than the one before them: {found.out_of_order:,}")
    if manifest is not None:
        kind = manifest.generator.get("kind", "?")
        click.echo(f"  made by `eeon trace {kind}` for {manifest.topology}, seed {manifest.seed}")
    for title, rows in (
        ("class", found.classes),
        ("ECN", found.ecn),
        ("DSCP", found.dscp if found.dscp.keys() - {"0"} else {}),
        ("sender", dict(itertools.islice(found.senders.items(), top))),
    ):
        shown = [
            (name, f"{one.packets:,}", f"{one.bytes:,}", f"{100 * one.bytes / (found.bytes or 1):.2f} %")
            for name, one in rows.items()
            if one.packets
        ]
        if shown:
            out.print()
            Rows((title, "packets", "bytes", "share of bytes"), shown).show(out)
