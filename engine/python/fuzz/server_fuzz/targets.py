"""The targets by name."""

from collections.abc import Callable
from dataclasses import dataclass

from . import p4runtime_bytes, p4runtime_pipeline, p4runtime_write, thrift_bytes, thrift_calls


@dataclass(frozen=True)
class Target:
    """A target: `run` raises an exception if a condition is violated. `mutations` is the number of mutated
    inputs in a replay."""

    run: Callable[[bytes], None]
    mutations: int


TARGETS = {
    "p4runtime_write": Target(p4runtime_write.run, 50),
    "p4runtime_bytes": Target(p4runtime_bytes.run, 50),
    "p4runtime_pipeline": Target(p4runtime_pipeline.run, 30),
    "thrift_calls": Target(thrift_calls.run, 75),
    "thrift_bytes": Target(thrift_bytes.run, 75),
}
