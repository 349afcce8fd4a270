"""Types of simple_pre_lag.thrift, for mypy alone.

Made by `make reference`: do not edit. A client may leave out any field, which is then None.
"""

from typing import ClassVar

from thriftpy2.thrift import TException

class McOperationErrorCode:
    TABLE_FULL: ClassVar[int]
    INVALID_MGID: ClassVar[int]
    INVALID_MGRP_HANDLE: ClassVar[int]
    INVALID_L1_HANDLE: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class InvalidMcOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class SimplePreLAG:
    thrift_services: ClassVar[list[str]]
