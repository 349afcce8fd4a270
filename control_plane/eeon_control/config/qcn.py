"""Quantized congestion notification (IEEE 802.1Q-2022 clauses 30 to 33): docs/models/qcn.md."""

from typing import Annotated

from pydantic import AfterValidator, Field

from eeon_control.config.classes import DEFAULT_CLASS
from eeon_control.model_base import Strict, of_bytes, whole
from eeon_control.units import Bytes

_Positive = Annotated[Bytes, *of_bytes("a number of bytes", above_zero=True)]


def _power_of_two(weight: int) -> int:
    if weight & (weight - 1):
        raise ValueError(f"the weight must be a power of two, not {weight}")
    return weight


def _some(classes: list[str]) -> list[str]:
    if not classes or len(set(classes)) < len(classes):
        raise ValueError("list at least one class, and each class once; to send no messages, leave `qcn` out")
    return classes


class Qcn(Strict):
    """The port samples frames of some queues, and tells their sources the queue's distance from its set
    point. The defaults are those of IEEE8021-CN-MIB."""

    set_point: _Positive = Bytes(26_000)
    """The intended queue length."""
    weight: Annotated[int, *whole(1, 1024, "the weight"), AfterValidator(_power_of_two)] = 2
    """The weight of the queue's growth relative to its distance from the set point: a power of two."""
    sample: _Positive = Bytes(150_000)
    """Bytes between samples without congestion; under congestion, down to an eighth of this."""
    jitter: Annotated[int, *whole(0, 99, "the jitter")] = 15
    """Random variation of `sample`, in percent in either direction."""
    classes: Annotated[list[str], AfterValidator(_some), Field(default_factory=lambda: [DEFAULT_CLASS])]
    """The traffic classes whose queues are sampled. The default is `default`."""
