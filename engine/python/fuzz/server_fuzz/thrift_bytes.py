"""Target: bytes to the Thrift server. The boundaries of their pieces make no difference, all answers are
valid messages, and the switch continues."""

from itertools import pairwise

from .draws import Draws
from .thrift_stream import Caller, answers
from .world import PROGRAMS, Finding, World, check_conservation, no_bug_logged, require, traffic, world

_MAX_PIECES = 8


def run(data: bytes) -> None:
    """Runs one input: a program, the positions of cuts, the bytes."""
    draws = Draws(data)
    chosen = world(draws.choice(PROGRAMS))
    cuts = draws.bytes(draws.randrange(_MAX_PIECES))
    frames = Draws(draws.bytes(4))
    sent = draws.rest()
    with no_bug_logged():
        whole = _talk(chosen, [sent], frames)
        try:
            answers(whole)
        except (EOFError, StopIteration) as error:
            raise Finding(f"the output is not a valid answer: {error!r}") from error
        if cuts:
            in_pieces = _talk(chosen, _cut(sent, cuts), None)
            require(in_pieces == whole, "cut in pieces the same bytes get other answers")


def _talk(chosen: World, pieces: list[bytes], frames: Draws | None) -> bytes:
    switch = chosen.switch()
    answer = Caller(switch).exchange(pieces)
    if frames is not None:
        traffic(chosen, switch, frames)
        check_conservation(switch)
    return answer


def _cut(sent: bytes, cuts: bytes) -> list[bytes]:
    places = sorted({0, len(sent), *(cut * len(sent) // 256 for cut in cuts)})
    return [sent[start:end] for start, end in pairwise(places)]
