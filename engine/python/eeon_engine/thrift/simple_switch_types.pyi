"""Types of simple_switch.thrift, for mypy alone.

Made by `make reference`: do not edit. A client may leave out any field, which is then None.
"""

from typing import ClassVar

from thriftpy2.thrift import TException, TPayload

class MirroringOperationErrorCode:
    SESSION_NOT_FOUND: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class InvalidMirroringOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class MirroringSessionConfig(TPayload):
    port: int | None
    mgid: int | None
    def __init__(
        self,
        port: int | None = None,
        mgid: int | None = None,
    ) -> None: ...

class SimpleSwitch:
    thrift_services: ClassVar[list[str]]
