"""Target: pipelines. One of our programs with its P4Info, both mutated, in any action of
SetForwardingPipelineConfig, with entries before and after.

A refused pipeline leaves the switch unchanged; an accepted one can be read back, written to, and run.
"""

import json
from functools import cache
from typing import Any

from finsy.proto import p4r

from . import messages
from .draws import Draws
from .entities import Maker
from .p4runtime_session import Refused, Session
from .p4runtime_write import forwards
from .world import PROGRAMS, World, check_conservation, engine_state, no_bug_logged, require, traffic, world

# A check of E-EON's own program takes a hundred times as long, and adds little.
_SMALL = PROGRAMS[1:]
_MAX_PUSHES = 4
_MAX_ENTITIES = 4


def run(data: bytes) -> None:
    """Runs one input."""
    draws = Draws(data)
    first = world(draws.choice(_SMALL))
    with no_bug_logged(), Session(first.switch(), first.pipeline) as session:
        maker = Maker(first, draws)
        for _ in range(1 + draws.randrange(_MAX_PUSHES)):
            _write(session, maker, draws)
            _push(session, first, draws)
            _write(session, maker, draws)
            traffic(first, session.switch, draws)
            check_conservation(session.switch)
        forwards(session, first)


def _write(session: Session, maker: Maker, draws: Draws) -> None:
    request = p4r.WriteRequest()
    for _ in range(draws.randrange(_MAX_ENTITIES)):
        kind, entity = maker.update()
        request.updates.add(type=kind, entity=entity)
    session.sign(request)
    session.write(request)


def _push(session: Session, of: World, draws: Draws) -> None:
    other = world(draws.choice(_SMALL)) if draws.one_in(6) else of
    request = p4r.SetForwardingPipelineConfigRequest(action=draws.choice((3, 4, 1, 2, 5, 3, 4, 0)))
    if request.action != 5:
        request.config.CopyFrom(other.pipeline.config)
        for _ in range(draws.randrange(4)):
            messages.change(request.config.p4info, draws)
        if draws.one_in(3):
            request.config.p4_device_config = _edited(other.name, draws)
        elif draws.one_in(24):
            messages.change(request.config, draws)
    session.sign(request)
    program, before = session.switch.program, None
    runs_first = program is not None and program.json == of.program.json
    if runs_first:
        before = engine_state(session.switch, of)
    try:
        session.set_pipeline(request)
    except Refused:
        # The only refusal after a commit is that of a class of service without a queue.
        if runs_first and session.switch.program is program:
            require(engine_state(session.switch, of) == before, "a refused pipeline changed the switch")
        return
    answer = session.get_pipeline(p4r.GetForwardingPipelineConfigRequest(device_id=session.switch.device_id))
    if request.action in (2, 3, 4):
        require(answer.config == request.config, "the pipeline that is read is not the one that was set")


@cache
def _document(name: str) -> str:
    return json.dumps(json.loads(world(name).program.json))


def _edited(name: str, draws: Draws) -> bytes:
    """Returns the program's JSON with one to three values swapped, removed or set to extremes."""
    document = json.loads(_document(name))
    for _ in range(1 + draws.randrange(3)):
        _edit(document, draws)
    return json.dumps(document).encode()


def _edit(node: Any, draws: Draws) -> None:
    while True:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        if not keys:
            return
        key = draws.choice(keys)
        inside = node[key]
        if isinstance(inside, dict | list) and inside and not draws.one_in(12):
            node = inside
            continue
        match draws.randrange(3):
            case 0:
                del node[key]
            case 1:
                node[key] = draws.choice((None, 0, -1, 2**31, "x", [], {}, True, 1.5, "9" * 20))
            case _:
                node[key] = node[draws.choice(keys)]
        return
