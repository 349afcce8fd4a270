"""Calls on hash calculations and on digests.

Of these the engine has the objects but not yet what can be set on them: what is wrong with a call is told as
BMv2 tells it, and a call with nothing wrong is refused as not there.
"""

from typing import Any

from ..exceptions import ControlError, EngineError, NoSuchObjectError
from .names import Context


class HashAndDigestCalls:
    """Service `standard`: hash parameters and digests."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    # ---- hash calculations

    def bm_set_crc16_custom_parameters(self, cxt: int, calculation: str, parameters: Any) -> None:
        self._set_calculation(calculation, "crc16_custom")

    def bm_set_crc32_custom_parameters(self, cxt: int, calculation: str, parameters: Any) -> None:
        self._set_calculation(calculation, "crc32_custom")

    def bm_set_toeplitz_hash_key(self, cxt: int, calculation: str, key: bytes) -> None:
        self._set_calculation(calculation, "toeplitz")

    def _set_calculation(self, name: str, algorithm: str) -> None:
        found = self._context.names.algorithms.get(name)
        if found is None:
            raise NoSuchObjectError(
                f"the program has no calculation named '{name}'", "INVALID_CALCULATION_NAME"
            )
        if found != algorithm:
            raise ControlError(
                f"calculation '{name}': is of type {found}, not {algorithm}", "WRONG_TYPE_CALCULATION"
            )
        raise EngineError(f"calculation '{name}': the engine's hash parameters are fixed")

    # ---- digests. They are handed out one by one and wait for no acknowledgement.

    def bm_learning_ack(self, cxt: int, digest: int, buffer: int, samples: list[int]) -> None:
        self._check_digest(digest)

    def bm_learning_ack_buffer(self, cxt: int, digest: int, buffer: int) -> None:
        self._check_digest(digest)

    def bm_learning_set_timeout(self, cxt: int, digest: int, timeout_ms: int) -> None:
        self._check_digest(digest)
        raise ControlError(f"digest {digest}: is handed out at once, there is no time-out to set")

    def bm_learning_set_buffer_size(self, cxt: int, digest: int, samples: int) -> None:
        self._check_digest(digest)
        raise ControlError(f"digest {digest}: is handed out at once, there is no buffer to set")

    def _check_digest(self, digest: int) -> None:
        if digest not in self._context.names.ids.get("learn_lists", {}).values():
            raise NoSuchObjectError(f"the program has no digest of id {digest}", "INVALID_LIST_ID")
