"""The flows of a capture: the bytes of each TCP connection, as the list that experiments take.

A flow is the data that one end of a connection sends to the other: its bytes, counted once even if they were
sent again, from the time at which the first of them was seen. In an experiment hosts send them with a TCP
that reacts to the fabric; the capture's losses, marks and delays are not in the list.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eeon_tools.errors import TraceError
from eeon_tools.replay.feed import Offer
from eeon_tools.trace.frames import FIN, RST, SYN
from eeon_tools.trace.layers import TCP, IpFrame

MAX_FLOWS = 1 << 20
"""The limit of an experiment's list."""
_HALF = 1 << 31
_SEQUENCES = 1 << 32


@dataclass(slots=True)
class CapturedFlow:
    """Host indices; times in picoseconds since the capture's first packet. `ended_ps`: the time of the last
    new byte."""

    source: int
    destination: int
    bytes: int
    at_ps: int
    ended_ps: int


@dataclass(slots=True)
class _Direction:
    """Sequence numbers: of the first byte, and the one after the highest byte seen. `has_first`: no earlier
    byte can arrive, because the first is known from a SYN, or far behind. `end`: that of a FIN or RST."""

    first: int
    next: int
    has_first: bool
    flow: CapturedFlow | None = None
    end: int | None = None

    def has_ended_before(self, first: int, payload: int) -> bool:
        """Returns whether a segment is not of this connection, but of the next one of its ports."""
        if self.end is None or not payload:
            return False
        return (first + payload - self.first) % _SEQUENCES > (self.end - self.first) % _SEQUENCES


def flows_of(
    offers: Iterable[Offer], hosts: dict[bytes, int], trace: Path, gap_ps: int | None
) -> tuple[list[CapturedFlow], Counter[str]]:
    """Returns the flows in order of time, and the numbers of packets in no flow, by the reason why they are
    not: a verb with its object. `hosts`: the index of the host of each address of `offers`. If a direction
    sends nothing new for longer than `gap_ps`, its next new bytes begin another flow.

    Raises TraceError if there are more than an experiment takes, or none."""
    flows: list[CapturedFlow] = []
    left_out: Counter[str] = Counter()
    directions: dict[bytes, _Direction] = {}
    for offer in offers:
        frame = offer.captured
        ip = IpFrame.of(frame, offer.frame_bytes)
        found = ip.transport if ip is not None else None
        if found is not None and found.protocol == TCP and not found.is_first:
            # Its bytes are missing in the flow.
            left_out["are TCP fragments without the TCP header"] += 1
            continue
        if ip is None or found is None or (payload := ip.tcp_payload) is None:
            left_out["are not TCP"] += 1
            continue
        # Several addresses of the capture may be one host; connections are those of the capture.
        name = (offer.ends or ip.source + ip.destination) + frame[found.at : found.at + 4]
        sequence = int.from_bytes(frame[found.at + 4 : found.at + 8], "big")
        flags = frame[found.at + 13]
        is_syn = bool(flags & SYN)
        direction = directions.get(name)
        # A SYN with another sequence number opens a new connection of these ports; otherwise it was resent.
        first = (sequence + is_syn) % _SEQUENCES
        if (
            direction is None
            or (is_syn and (first != direction.first or direction.end is not None))
            or direction.has_ended_before(first, payload)
        ):
            direction = directions[name] = _Direction(first, first, is_syn)
        if flags & (FIN | RST) and direction.end is None:
            ahead = (first + payload - direction.next) % _SEQUENCES
            direction.end = (direction.next + (ahead if ahead < _HALF else 0)) % _SEQUENCES
        if not payload:
            continue
        destination = hosts.get(ip.destination)
        if destination is None:
            left_out["are not for a host"] += 1
            continue
        new = (first + payload - direction.next) % _SEQUENCES
        if 0 < new < _HALF:
            direction.next = (direction.next + new) % _SEQUENCES
            # Beyond half of the numbers, a byte sent again would look like an earlier one.
            direction.has_first |= (direction.next - direction.first) % _SEQUENCES >= _HALF // 2
        else:
            new = (direction.first - first) % _SEQUENCES
            if direction.has_first or new == 0 or new >= _HALF:
                continue  # Retransmission.
            direction.first = first
        flow = direction.flow
        if flow is None or (gap_ps is not None and offer.at_ps - flow.ended_ps > gap_ps):
            if len(flows) == MAX_FLOWS:
                why = f"begins one flow more than the limit, {MAX_FLOWS:,}; list a part of the capture"
                raise TraceError(trace, f"packet {offer.number}", why)
            flow = CapturedFlow(offer.host, destination, 0, offer.at_ps, offer.at_ps)
            flows.append(flow)
            direction.flow = flow
        flow.bytes += new
        flow.ended_ps = offer.at_ps
    if not flows:
        raise TraceError(trace, "", "has no TCP connection with payload, so no flow to list")
    return flows, left_out


def lines(flows: Iterable[CapturedFlow], names: list[str]) -> Iterator[str]:
    """Yields the lines of the list as CSV. Captures count nanoseconds."""
    yield "source,destination,bytes,start\n"
    for flow in flows:
        yield f"{names[flow.source]},{names[flow.destination]},{flow.bytes},{flow.at_ps // 1000}ns\n"
