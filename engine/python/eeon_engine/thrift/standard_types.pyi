"""Types of standard.thrift, for mypy alone.

Made by `make reference`: do not edit. A client may leave out any field, which is then None.
"""

from typing import ClassVar

from thriftpy2.thrift import TException, TPayload

class TableOperationErrorCode:
    TABLE_FULL: ClassVar[int]
    INVALID_HANDLE: ClassVar[int]
    EXPIRED_HANDLE: ClassVar[int]
    COUNTERS_DISABLED: ClassVar[int]
    METERS_DISABLED: ClassVar[int]
    AGEING_DISABLED: ClassVar[int]
    INVALID_TABLE_NAME: ClassVar[int]
    INVALID_ACTION_NAME: ClassVar[int]
    WRONG_TABLE_TYPE: ClassVar[int]
    INVALID_MBR_HANDLE: ClassVar[int]
    MBR_STILL_USED: ClassVar[int]
    MBR_ALREADY_IN_GRP: ClassVar[int]
    MBR_NOT_IN_GRP: ClassVar[int]
    INVALID_GRP_HANDLE: ClassVar[int]
    GRP_STILL_USED: ClassVar[int]
    EMPTY_GRP: ClassVar[int]
    DUPLICATE_ENTRY: ClassVar[int]
    BAD_MATCH_KEY: ClassVar[int]
    INVALID_METER_OPERATION: ClassVar[int]
    DEFAULT_ACTION_IS_CONST: ClassVar[int]
    DEFAULT_ENTRY_IS_CONST: ClassVar[int]
    NO_DEFAULT_ENTRY: ClassVar[int]
    INVALID_ACTION_PROFILE_NAME: ClassVar[int]
    NO_ACTION_PROFILE_SELECTION: ClassVar[int]
    IMMUTABLE_TABLE_ENTRIES: ClassVar[int]
    BAD_ACTION_DATA: ClassVar[int]
    NO_TABLE_KEY: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class CounterOperationErrorCode:
    INVALID_COUNTER_NAME: ClassVar[int]
    INVALID_INDEX: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class MeterOperationErrorCode:
    INVALID_METER_NAME: ClassVar[int]
    INVALID_INDEX: ClassVar[int]
    BAD_RATES_LIST: ClassVar[int]
    INVALID_INFO_RATE_VALUE: ClassVar[int]
    INVALID_BURST_SIZE_VALUE: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class RegisterOperationErrorCode:
    INVALID_REGISTER_NAME: ClassVar[int]
    INVALID_INDEX: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class ParseVSetOperationErrorCode:
    INVALID_PARSE_VSET_NAME: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class LearnOperationErrorCode:
    INVALID_LIST_ID: ClassVar[int]
    INVALID_LIST_NAME: ClassVar[int]
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class SwapOperationErrorCode:
    CONFIG_SWAP_DISABLED: ClassVar[int]
    ONGOING_SWAP: ClassVar[int]
    NO_ONGOING_SWAP: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class DevMgrErrorCode:
    ERROR: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class CrcErrorCode:
    INVALID_CALCULATION_NAME: ClassVar[int]
    WRONG_TYPE_CALCULATION: ClassVar[int]
    INVALID_CONFIG: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class ToeplitzHashErrorCode:
    INVALID_CALCULATION_NAME: ClassVar[int]
    WRONG_TYPE_CALCULATION: ClassVar[int]
    INVALID_KEY: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class IdLookupErrorCode:
    INVALID_RESOURCE_TYPE: ClassVar[int]
    INVALID_RESOURCE_NAME: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class BmMatchParamType:
    EXACT: ClassVar[int]
    LPM: ClassVar[int]
    TERNARY: ClassVar[int]
    VALID: ClassVar[int]
    RANGE: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class BmActionEntryType:
    NONE: ClassVar[int]
    ACTION_DATA: ClassVar[int]
    MBR_HANDLE: ClassVar[int]
    GRP_HANDLE: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class BmResourceType:
    MATCH_TABLE: ClassVar[int]
    ACTION_PROFILE: ClassVar[int]
    COUNTER: ClassVar[int]
    METER: ClassVar[int]
    REGISTER: ClassVar[int]
    LEARNING_LIST: ClassVar[int]
    _NAMES_TO_VALUES: ClassVar[dict[str, int]]
    _VALUES_TO_NAMES: ClassVar[dict[int, str]]

class InvalidTableOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidCounterOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidMeterOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidRegisterOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidParseVSetOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidLearnOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidSwapOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidDevMgrOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidCrcOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidToeplitzHashOperation(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class InvalidIdLookup(TException):
    code: int | None
    def __init__(
        self,
        code: int | None = None,
    ) -> None: ...

class BmMatchParamExact(TPayload):
    key: bytes | None
    def __init__(
        self,
        key: bytes | None = None,
    ) -> None: ...

class BmMatchParamLPM(TPayload):
    key: bytes | None
    prefix_length: int | None
    def __init__(
        self,
        key: bytes | None = None,
        prefix_length: int | None = None,
    ) -> None: ...

class BmMatchParamTernary(TPayload):
    key: bytes | None
    mask: bytes | None
    def __init__(
        self,
        key: bytes | None = None,
        mask: bytes | None = None,
    ) -> None: ...

class BmMatchParamValid(TPayload):
    key: bool | None
    def __init__(
        self,
        key: bool | None = None,
    ) -> None: ...

class BmMatchParamRange(TPayload):
    start: bytes | None
    end_: bytes | None
    def __init__(
        self,
        start: bytes | None = None,
        end_: bytes | None = None,
    ) -> None: ...

class BmMatchParam(TPayload):
    type: int | None
    exact: BmMatchParamExact | None
    lpm: BmMatchParamLPM | None
    ternary: BmMatchParamTernary | None
    valid: BmMatchParamValid | None
    range: BmMatchParamRange | None
    def __init__(
        self,
        type: int | None = None,
        exact: BmMatchParamExact | None = None,
        lpm: BmMatchParamLPM | None = None,
        ternary: BmMatchParamTernary | None = None,
        valid: BmMatchParamValid | None = None,
        range: BmMatchParamRange | None = None,
    ) -> None: ...

class BmActionEntry(TPayload):
    action_type: int | None
    action_name: str | None
    action_data: list[bytes] | None
    mbr_handle: int | None
    grp_handle: int | None
    def __init__(
        self,
        action_type: int | None = None,
        action_name: str | None = None,
        action_data: list[bytes] | None = None,
        mbr_handle: int | None = None,
        grp_handle: int | None = None,
    ) -> None: ...

class BmAddEntryOptions(TPayload):
    priority: int | None
    def __init__(
        self,
        priority: int | None = None,
    ) -> None: ...

class BmMtEntryLife(TPayload):
    timeout_ms: int | None
    time_since_hit_ms: int | None
    def __init__(
        self,
        timeout_ms: int | None = None,
        time_since_hit_ms: int | None = None,
    ) -> None: ...

class BmMtEntry(TPayload):
    match_key: list[BmMatchParam] | None
    options: BmAddEntryOptions | None
    entry_handle: int | None
    action_entry: BmActionEntry | None
    life: BmMtEntryLife | None
    def __init__(
        self,
        match_key: list[BmMatchParam] | None = None,
        options: BmAddEntryOptions | None = None,
        entry_handle: int | None = None,
        action_entry: BmActionEntry | None = None,
        life: BmMtEntryLife | None = None,
    ) -> None: ...

class BmMtActProfMember(TPayload):
    mbr_handle: int | None
    action_name: str | None
    action_data: list[bytes] | None
    def __init__(
        self,
        mbr_handle: int | None = None,
        action_name: str | None = None,
        action_data: list[bytes] | None = None,
    ) -> None: ...

class BmMtActProfGroup(TPayload):
    grp_handle: int | None
    mbr_handles: list[int] | None
    def __init__(
        self,
        grp_handle: int | None = None,
        mbr_handles: list[int] | None = None,
    ) -> None: ...

class BmCounterValue(TPayload):
    bytes: int | None
    packets: int | None
    def __init__(
        self,
        bytes: int | None = None,
        packets: int | None = None,
    ) -> None: ...

class BmMeterRateConfig(TPayload):
    units_per_micros: float | None
    burst_size: int | None
    def __init__(
        self,
        units_per_micros: float | None = None,
        burst_size: int | None = None,
    ) -> None: ...

class BmCrc16Config(TPayload):
    polynomial: int | None
    initial_remainder: int | None
    final_xor_value: int | None
    data_reflected: bool | None
    remainder_reflected: bool | None
    def __init__(
        self,
        polynomial: int | None = None,
        initial_remainder: int | None = None,
        final_xor_value: int | None = None,
        data_reflected: bool | None = None,
        remainder_reflected: bool | None = None,
    ) -> None: ...

class BmCrc32Config(TPayload):
    polynomial: int | None
    initial_remainder: int | None
    final_xor_value: int | None
    data_reflected: bool | None
    remainder_reflected: bool | None
    def __init__(
        self,
        polynomial: int | None = None,
        initial_remainder: int | None = None,
        final_xor_value: int | None = None,
        data_reflected: bool | None = None,
        remainder_reflected: bool | None = None,
    ) -> None: ...

class DevMgrPortInfo(TPayload):
    port_num: int | None
    iface_name: str | None
    is_up: bool | None
    extra: dict[str, str] | None
    def __init__(
        self,
        port_num: int | None = None,
        iface_name: str | None = None,
        is_up: bool | None = None,
        extra: dict[str, str] | None = None,
    ) -> None: ...

class BmConfig(TPayload):
    device_id: int | None
    thrift_port: int | None
    notifications_socket: str | None
    elogger_socket: str | None
    debugger_socket: str | None
    def __init__(
        self,
        device_id: int | None = None,
        thrift_port: int | None = None,
        notifications_socket: str | None = None,
        elogger_socket: str | None = None,
        debugger_socket: str | None = None,
    ) -> None: ...

class Standard:
    thrift_services: ClassVar[list[str]]
