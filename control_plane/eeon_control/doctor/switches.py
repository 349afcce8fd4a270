"""Checks of the switches in a targets file: P4Runtime, Thrift, protection, program."""

import asyncio
import hashlib
import time
from collections.abc import Iterator, Mapping

from finsy import GRPCStatusCode

from eeon_control import program as programs
from eeon_control.doctor.finding import Finding, fault, ok, warning
from eeon_control.errors import FabricError
from eeon_control.fabric import thrift
from eeon_control.fabric.concurrent import in_turn
from eeon_control.fabric.session import P4RuntimeSession
from eeon_control.fabric.sync import run
from eeon_control.fabric.thrift import ThriftClient
from eeon_control.program import Program
from eeon_control.targets import Target, is_loopback

_SHORT = 12  # number of characters shown of a digest
_NO_PIPELINE = "no pipeline"
_CLOCK_SECONDS = 0.2
_CLOCK_TOLERANCE = 0.2


def reach(targets: Mapping[str, Target]) -> Iterator[Finding]:
    """Checks some switches at a time. Yields the findings by switch, in the order given."""
    program = programs.load()
    for findings in run(in_turn(one(name, target, program) for name, target in targets.items())):
        assert not isinstance(findings, FabricError), "a switch that fails is a finding"
        yield from findings


async def one(name: str, target: Target, program: Program) -> list[Finding]:
    """Checks one switch: P4Runtime, its pipeline, protection, Thrift, clock."""
    found = await _p4runtime(name, target, program)
    has_pipeline = any(one.check == f"{name} pipeline" and _NO_PIPELINE not in one.found for one in found)
    return [*found, *_protection(name, target), *(await _thrift(name, target, has_pipeline=has_pipeline))]


async def _p4runtime(name: str, target: Target, program: Program) -> list[Finding]:
    check = f"{name} P4Runtime"
    begun = time.monotonic()
    try:
        async with P4RuntimeSession(name, target, program.schema()) as session:
            await session.has_pipeline()
            took_ms = (time.monotonic() - begun) * 1000
            reached = ok(check, f"{target.address} answers in {took_ms:.0f} ms")
            return [reached, await _pipeline(name, session, program)]
    except FabricError as error:
        if error.code is GRPCStatusCode.DEADLINE_EXCEEDED:
            mend = "check whether its process is stopped or starved of CPU (ps, top), then restart the switch"
        elif error.code is GRPCStatusCode.UNAVAILABLE:
            mend = "start the switch, or correct its address or `tls` in the targets file"
        else:
            mend = "correct this at the switch, or its row in the targets file"
        return [fault(check, str(error), mend)]


async def _pipeline(name: str, session: P4RuntimeSession, program: Program) -> Finding:
    check = f"{name} pipeline"
    expected = program.digest[:_SHORT]
    mend = "run `eeon config apply`"
    held = await session.pipeline()
    if held is None:
        return warning(check, f"{_NO_PIPELINE}; the program's digest is {expected}", mend)
    digest = hashlib.sha256(held.p4_device_config).hexdigest()[:_SHORT]
    if session.is_program(held):
        what = "" if digest == expected else f"; equivalent to {expected}"
        return ok(check, f"the program, digest {digest}{what}")
    if digest == expected:
        return warning(check, f"the program, digest {expected}, with another P4Info", mend)
    return warning(check, f"another program, digest {digest}; expected {expected}", mend)


def _protection(name: str, target: Target) -> Iterator[Finding]:
    check = f"{name} TLS"
    if target.tls is not None:
        mutual = target.tls.certificate is not None
        yield ok(check, "mutual TLS" if mutual else "TLS; the switch does not authenticate the controller")
    elif is_loopback(target.address):
        yield ok(check, "none; the address is on this machine")
    else:
        yield warning(
            check,
            f"the connection to {target.address} is not encrypted: anyone on the path can read and change it",
            "start the switch with TLS and set `tls` in the targets file (docs/run/security.md)",
        )


async def _thrift(name: str, target: Target, *, has_pipeline: bool) -> list[Finding]:
    check = f"{name} Thrift"
    if target.thrift is None:
        return [ok(check, "not given; BMv2's registers and queues, and any switch's clock, need it")]
    try:
        await thrift.ask(name, target, lambda client: None)
        if not has_pipeline:
            return [ok(check, f"{target.thrift} answers")]
        begun, first = time.monotonic(), await thrift.ask(name, target, ThriftClient.elapsed_us)
        await asyncio.sleep(_CLOCK_SECONDS)
        second, ended = await thrift.ask(name, target, ThriftClient.elapsed_us), time.monotonic()
    except FabricError as error:
        return [fault(check, str(error), "start the switch with --thrift-port, or correct `thrift`")]
    found = [ok(check, f"{target.thrift} answers")]
    speed = (second - first) / 1e6 / (ended - begun)
    if abs(speed - 1) > _CLOCK_TOLERANCE:
        found.append(
            warning(
                f"{name} clock",
                f"the switch's clock runs at {speed:.0%} of real time",
                "a twin's clock stands still; eeon-switch slows its clock when the computer is too slow for "
                "the load",
            )
        )
    else:
        found.append(ok(f"{name} clock", f"in step with this computer's clock; up for {second / 1e6:.0f} s"))
    return found
