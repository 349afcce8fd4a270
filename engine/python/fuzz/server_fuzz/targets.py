"""The targets by name, each with initial inputs."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from finsy.proto import U128, p4r

from . import p4runtime_bytes, p4runtime_pipeline, p4runtime_write, thrift_bytes, thrift_calls
from .draws import Draws
from .entities import Maker
from .p4runtime_session import ELECTION_ID
from .thrift_stream import message
from .world import PROGRAMS, world


@dataclass(frozen=True)
class Target:
    """A target: `run` raises an exception if a condition is violated. `mutations` is the number of mutated
    inputs in a replay."""

    run: Callable[[bytes], None]
    seeds: Callable[[], list[bytes]]
    mutations: int


def _random_seeds() -> list[bytes]:
    """Returns random choices, for targets that generate their calls."""
    rng = random.Random(0)
    return [rng.randbytes(rng.choice((20, 100, 300, 1000))) for _ in range(30)]


def _p4runtime_messages() -> list[bytes]:
    """Returns requests for each program, and messages of a stream."""
    seeds = []
    for at, name in enumerate(PROGRAMS):
        maker = Maker(world(name).info, Draws(random.Random(at).randbytes(4000)))
        entities = [maker.entity() for _ in range(24)]
        for start in range(0, len(entities), 4):
            some = entities[start : start + 4]
            write = p4r.WriteRequest(device_id=1, election_id=U128.encode(ELECTION_ID))
            for entity in some:
                write.updates.add(type=p4r.Update.INSERT, entity=entity)
            calls = [(0x80, write), (1, p4r.ReadRequest(device_id=1, entities=some))]
            arbitration = p4r.MasterArbitrationUpdate(device_id=1, election_id=U128.encode(9))
            calls.append((4, p4r.StreamMessageRequest(arbitration=arbitration)))
            calls.append((3, p4r.GetForwardingPipelineConfigRequest(device_id=1)))
            packet = p4r.PacketOut(payload=bytes(40))
            packet.metadata.add(metadata_id=1, value=b"\3")
            calls.append((5, p4r.StreamMessageRequest(packet=packet)))
            seeds.append(bytes([at, 0]) + _packed(calls))
    small = world("resources").pipeline.config
    push = p4r.SetForwardingPipelineConfigRequest(device_id=1, action=3, config=small)
    seeds.append(bytes([2, 0]) + _packed([(0x80 + 3, push)]))
    return seeds


def _packed(calls: list[tuple[int, object]]) -> bytes:
    packed = b""
    for kind, request in calls:
        data = request.SerializeToString()  # type: ignore[attr-defined]
        packed += bytes([kind]) + len(data).to_bytes(2, "big") + data
    return packed


def _thrift_messages() -> list[bytes]:
    """Returns one call of each method for each program, in the form that `thrift_calls` makes."""
    seeds = []
    for at, name in enumerate(PROGRAMS):
        draws = Draws(random.Random(at).randbytes(20_000))
        calls = [
            message(f"{service}:{method}", thrift_calls.arguments(world(name), service, method, draws))
            for service, method in thrift_calls.METHODS
            if method != "bm_load_new_config"
        ]
        seeds += [
            bytes([at, 2, 90, 180, 1, 2, 3, 4]) + b"".join(calls[i : i + 6]) for i in range(0, len(calls), 6)
        ]
    return seeds


TARGETS = {
    "p4runtime_write": Target(p4runtime_write.run, _random_seeds, 50),
    "p4runtime_bytes": Target(p4runtime_bytes.run, _p4runtime_messages, 50),
    "p4runtime_pipeline": Target(p4runtime_pipeline.run, _random_seeds, 30),
    "thrift_calls": Target(thrift_calls.run, _random_seeds, 75),
    "thrift_bytes": Target(thrift_bytes.run, _thrift_messages, 75),
}
