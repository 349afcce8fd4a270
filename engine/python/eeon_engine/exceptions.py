"""What the engine and its Python layers raise.

EngineError
├── ProgramError               a BMv2 JSON program that cannot be loaded
├── ConfigError                settings of a switch or of a fabric that cannot be
├── ClockError                 virtual time asked to run backwards
└── ControlError               a refused control call; the switch is as it was before the call
    ├── NoSuchObjectError      no table, counter, register, ... of that name
    ├── NoSuchHandleError      no entry, member or group has that handle
    ├── DuplicateError         an entry with that key is already there
    ├── FullError              the table or profile holds as many entries as the program allows
    ├── ImmutableError         the program declares it constant
    ├── InUseError             something still refers to it
    ├── OutOfRangeError        an index beyond the end of an array
    └── InvalidValueError      a key, parameter or value that does not suit the object

Messages name the object, the value, the limit. The extension raises these same classes.
"""


class EngineError(Exception):
    """Base of everything that the engine raises on purpose."""


class ProgramError(EngineError, ValueError):
    """A BMv2 JSON program that cannot be loaded: the place in the JSON, and what would be right."""


class ConfigError(EngineError, ValueError):
    """Settings of a switch or of a fabric that contradict each other or name what is not there."""


class ClockError(EngineError, ValueError):
    """Virtual time was asked to run backwards."""


class ControlError(EngineError):
    """A refused control call. The switch is as it was before the call.

    `code` is BMv2's name for the refusal, for example `INVALID_HANDLE`; `ERROR` where it has none.
    """

    def __init__(self, message: str = "", code: str = "ERROR") -> None:
        super().__init__(message)
        self.code = code


class NoSuchObjectError(ControlError, LookupError):
    """No table, action profile, counter, register, ... has that name."""


class NoSuchHandleError(ControlError, LookupError):
    """No entry, member or group has that handle."""


class DuplicateError(ControlError):
    """An entry with the same key (and priority) is already there."""


class FullError(ControlError):
    """The object holds as many entries as the program allows."""


class ImmutableError(ControlError):
    """The program declares the object constant."""


class InUseError(ControlError):
    """Something still refers to the object."""


class OutOfRangeError(ControlError, IndexError):
    """An index beyond the end of an array."""


class InvalidValueError(ControlError, ValueError):
    """A key, parameter or value that does not suit the object."""
