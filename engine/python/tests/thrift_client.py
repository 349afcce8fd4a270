"""Calls over Thrift, with the client of the differential tester. For tests only."""

from collections.abc import Callable
from typing import Any

import pytest
from eeon_engine.thrift.interface import standard
from eeon_engine.thrift.tables import match_param
from thriftpy2.thrift import TException

from differential.thrift import Client as ThriftClient

__all__ = ["EXACT", "ThriftClient", "add", "code_of", "standard"]

EXACT = "EverythingIngress.exact_table"


def add(thrift: ThriftClient, value: int, action: str, *data: bytes) -> int:
    """Adds an entry to the exact table of `everything`, and returns its handle."""
    key, name = [match_param(("exact", value.to_bytes(4, "big")))], f"EverythingIngress.{action}"
    options = standard.BmAddEntryOptions()
    return int(thrift.standard.bm_mt_add_entry(0, EXACT, key, name, list(data), options))


def code_of(kind: type[TException], call: Callable[..., Any], *arguments: Any) -> int:
    """Returns the code of a call that must be refused with this exception."""
    with pytest.raises(kind) as refused:
        call(*arguments)
    return int(refused.value.code)  # type: ignore[attr-defined]
