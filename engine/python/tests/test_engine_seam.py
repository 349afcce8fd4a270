"""The interface between Rust and Python."""

import eeon_engine
from eeon_engine import _engine, exceptions

CLASSES = {name: value for name, value in vars(_engine).items() if isinstance(value, type)}


def test_every_class_is_part_of_the_package():
    for name, cls in CLASSES.items():
        assert getattr(eeon_engine, name) is cls
        assert name in eeon_engine.__all__


def test_every_exception_is_exported():
    for name, value in vars(exceptions).items():
        if isinstance(value, type) and issubclass(value, Exception):
            assert name in eeon_engine.__all__


def test_the_extension_raises_every_exception_that_has_none_below_it():
    classes = [value for value in vars(exceptions).values() if isinstance(value, type)]
    leaves = {cls.__name__ for cls in classes if issubclass(cls, Exception) and not cls.__subclasses__()}
    assert set(_engine.EXCEPTIONS) == leaves


def test_a_refused_control_call_tells_its_reason_and_bmv2s_name_of_it():
    for name in _engine.EXCEPTIONS:
        cls = getattr(exceptions, name)
        if issubclass(cls, exceptions.ControlError):
            refusal = cls("table t: 16 entries", "TABLE_FULL")
            assert (str(refusal), refusal.code) == ("table t: 16 entries", "TABLE_FULL")
