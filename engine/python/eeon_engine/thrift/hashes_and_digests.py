"""Calls on hash calculations and on digests.

Digests have no settings here: invalid calls get BMv2's errors, and valid calls are refused because the
setting does not exist. No program that the engine can load has a Toeplitz hash.
"""

from ..exceptions import ControlError, NoSuchObjectError
from ..values import CrcParameters
from .interface import standard, unsigned
from .names import Context


def _crc(parameters: standard.BmCrc16Config | standard.BmCrc32Config, bits: int) -> CrcParameters:
    """Converts a `BmCrc16Config` or `BmCrc32Config`; a field that was not sent is 0."""
    numbers = (parameters.polynomial, parameters.initial_remainder, parameters.final_xor_value)
    polynomial, initial_remainder, final_xor = (unsigned(number or 0, bits) for number in numbers)
    reflected = bool(parameters.data_reflected), bool(parameters.remainder_reflected)
    return polynomial, initial_remainder, final_xor, *reflected


class HashAndDigestCalls:
    """Service `standard`: hash parameters and digests."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    # ---- hash calculations

    def bm_set_crc16_custom_parameters(
        self, cxt: int, calculation: str, parameters: standard.BmCrc16Config
    ) -> None:
        self._control.set_crc16_custom_parameters(calculation, _crc(parameters, 16))

    def bm_set_crc32_custom_parameters(
        self, cxt: int, calculation: str, parameters: standard.BmCrc32Config
    ) -> None:
        self._control.set_crc32_custom_parameters(calculation, _crc(parameters, 32))

    def bm_set_toeplitz_hash_key(self, cxt: int, calculation: str, key: bytes) -> None:
        found = self._context.names.algorithms.get(calculation)
        if found is None:
            raise NoSuchObjectError(
                f"the program has no calculation named '{calculation}'", "INVALID_CALCULATION_NAME"
            )
        raise ControlError(
            f"calculation '{calculation}' is of type {found}, not toeplitz", "WRONG_TYPE_CALCULATION"
        )

    # ---- digests. Their messages are delivered one by one, without acknowledgements.

    def bm_learning_ack(self, cxt: int, digest: int, buffer: int, samples: list[int]) -> None:
        self._check_digest(digest)

    def bm_learning_ack_buffer(self, cxt: int, digest: int, buffer: int) -> None:
        self._check_digest(digest)

    def bm_learning_set_timeout(self, cxt: int, digest: int, timeout_ms: int) -> None:
        self._check_digest(digest)
        raise ControlError(f"digest {digest} is sent at once; it has no time-out to set")

    def bm_learning_set_buffer_size(self, cxt: int, digest: int, samples: int) -> None:
        self._check_digest(digest)
        raise ControlError(f"digest {digest} is sent at once; it has no buffer to set")

    def _check_digest(self, digest: int) -> None:
        if digest not in self._context.names.ids.get("learn_lists", {}).values():
            raise NoSuchObjectError(f"the program has no digest with id {digest}", "INVALID_LIST_ID")
