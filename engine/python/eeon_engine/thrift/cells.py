"""Calls on meters, registers, hash calculations and digests, but those that are forwarded.

Digests have no settings here: invalid calls get BMv2's errors, and valid calls are refused because the
setting does not exist. No program that the engine can load has a Toeplitz hash.
"""

from ..exceptions import ControlError, NoSuchObjectError
from .interface import standard, unsigned
from .names import Context
from .tables import meter_rates

_I64_MAX = (1 << 63) - 1
"""What BMv2 also answers for a cell that an i64 cannot hold."""


class CellCalls:
    """Service `standard`: meters, registers, hash calculations, digests."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    def bm_meter_set_rates(
        self, cxt: int, meter: str, cell: int, rates: list[standard.BmMeterRateConfig]
    ) -> None:
        # BMv2 checks the name and the index before the rates.
        self._control.meter_get_rates(meter, unsigned(cell, 64))
        self._control.meter_set_rates(meter, unsigned(cell, 64), meter_rates(rates))

    def bm_meter_array_set_rates(self, cxt: int, meter: str, rates: list[standard.BmMeterRateConfig]) -> None:
        self._control.meter_get_rates(meter, 0)
        self._control.meter_array_set_rates(meter, meter_rates(rates))

    def bm_register_read(self, cxt: int, reg: str, cell: int) -> int:
        value = self._control.register_read(reg, unsigned(cell, 64))
        return min(int.from_bytes(value, "big"), _I64_MAX)

    def bm_register_read_all(self, cxt: int, reg: str) -> list[int]:
        return [min(value, _I64_MAX) for value in self._context.register_cells(reg)]

    def bm_register_write(self, cxt: int, reg: str, cell: int, value: int) -> None:
        self._control.register_write(reg, unsigned(cell, 64), self._cut(reg, value))

    def bm_register_write_range(self, cxt: int, reg: str, first: int, beyond: int, value: int) -> None:
        if first == beyond:
            # BMv2 writes nothing, but refuses an index beyond the end.
            self._control.register_read(reg, unsigned(first - 1 if first else 0, 64))
            return
        self._control.register_write_range(
            reg, unsigned(first, 64), unsigned(beyond, 64), self._cut(reg, value)
        )

    # ---- hash calculations

    def bm_set_toeplitz_hash_key(self, cxt: int, calculation: str, key: bytes) -> None:
        found = self._context.names["calculations"].get(calculation)
        if found is None:
            raise NoSuchObjectError(
                f"the program has no calculation named '{calculation}'", "INVALID_CALCULATION_NAME"
            )
        raise ControlError(
            f"calculation '{calculation}' is of type {found['algo']}, not toeplitz", "WRONG_TYPE_CALCULATION"
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
        if digest not in [found["id"] for found in self._context.names["learn_lists"].values()]:
            raise NoSuchObjectError(f"the program has no digest with id {digest}", "INVALID_LIST_ID")

    def _cut(self, reg: str, value: int) -> bytes:
        """Returns the low bits of a number, as many as a cell has, of its two's complement if negative."""
        array = self._context.names["register_arrays"].get(reg)
        width = 64 if array is None else array["bitwidth"]
        return unsigned(value, width).to_bytes((width + 7) // 8, "big")
