"""The P4Runtime session of all tests, with names from the P4Info, and helpers that expect a refusal.

Independent of the server: it uses only the message classes of `finsy`, and searches the P4Info for names.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4d, p4i, p4r
from google.protobuf import text_format

from ptf_tests.lib.p4rt_session import COMMIT, DELETE, INSERT, MODIFY, Failed, Session, entity_of

__all__ = ["COMMIT", "DELETE", "INSERT", "MODIFY", "Failed", "entity_of"]

PROGRAMS = Path(__file__).parent / "programs"
PATCH = Path(__file__).resolve().parents[2] / "live" / "tests" / "p4" / "patch.json"
"""The program of a patch panel, for switches in real time."""


def _path(name: str) -> Path:
    return PATCH if name == "patch" else PROGRAMS / f"{name}.json"


def program_json(name: str = "everything") -> bytes:
    return _path(name).read_bytes()


@cache
def _p4info(name: str) -> Any:
    return text_format.Parse(_path(name).with_suffix(".p4info.txtpb").read_text(), p4i.P4Info())


def p4info(name: str = "everything") -> Any:
    """Returns a P4Info that the caller may change."""
    info = p4i.P4Info()
    info.CopyFrom(_p4info(name))
    return info


def pipeline(name: str = "everything", info: Any = None) -> Any:
    """Returns the forwarding pipeline config of a test program, with its P4Info or another."""
    return p4r.ForwardingPipelineConfig(p4info=info or p4info(name), p4_device_config=program_json(name))


def without_struct(info: Any, program: bytes, *, in_program: str = "tuple_0") -> bytes:
    """Makes the digest of `resources` one of a tuple, to which p4c gives two names; returns the program."""
    [digest] = info.digests
    digest.preamble.name = digest.preamble.alias = "digest_0"
    members = [member.type_spec for member in info.type_info.structs["learned_t"].members]
    digest.type_spec.tuple.members.extend(members)
    return program.replace(b'"learned_t"', f'"{in_program}"'.encode())


class Names:
    """Ids by alias, from a search of the P4Info."""

    def __init__(self, info: Any) -> None:
        self.info = info
        self.ids = {
            item.preamble.alias: item.preamble.id
            for _, items in info.ListFields()
            if hasattr(items, "add")
            for item in items
        }

    def __getitem__(self, alias: str) -> int:
        return self.ids[alias]

    def action(self, alias: str, *values: int) -> Any:
        """Returns an action with its parameters in order."""
        action = p4r.Action(action_id=self[alias])
        for number, value in enumerate(values, 1):
            action.params.add(param_id=number, value=number_bytes(value))
        return action

    def entry(self, table: str, *match: Any, action: Any = None, priority: int = 0, **fields: Any) -> Any:
        """Returns a table entry; `action` is an `Action` or a `TableAction`."""
        entry = p4r.TableEntry(table_id=self[table], match=match, priority=priority, **fields)
        if isinstance(action, p4r.Action):
            entry.action.action.CopyFrom(action)
        elif action is not None:
            entry.action.CopyFrom(action)
        return entry


def admit_all(names: Names) -> tuple[int, Any]:
    """Returns the update that makes the E-EON program route frames to any MAC, without `l3_admit` entries."""
    admit = names.action("admit_to_l3")
    return MODIFY, names.entry("l3_admit", action=admit, is_default_action=True)


def number_bytes(value: int) -> bytes:
    return value.to_bytes(max(1, (value.bit_length() + 7) // 8), "big")


def exact(field: int, value: int) -> Any:
    return p4r.FieldMatch(field_id=field, exact=p4r.FieldMatch.Exact(value=number_bytes(value)))


def lpm(field: int, value: int, length: int) -> Any:
    return p4r.FieldMatch(
        field_id=field, lpm=p4r.FieldMatch.LPM(value=number_bytes(value), prefix_len=length)
    )


def one_shot(*actions: tuple[Any, int]) -> Any:
    """Returns a one-shot action set of actions with weights."""
    set_ = p4r.ActionProfileActionSet()
    for action, weight in actions:
        set_.action_profile_actions.add(action=action, weight=weight)
    return p4r.TableAction(action_profile_action_set=set_)


def bits(value: int) -> Any:
    return p4d.P4Data(bitstring=number_bytes(value))


class Client(Session):
    """A session that unwraps what it reads, and expects refusals."""

    def read(self, *entities: Any, role: str = "") -> list[Any]:
        """Returns the response to a Read, unwrapped from its `Entity`s."""
        found, failed = self.read_some(*entities, role=role)
        if failed is not None:
            raise failed
        return found

    def read_some(self, *entities: Any, role: str = "") -> tuple[list[Any], Failed | None]:
        """Returns the response to a Read before it fails, and the failure."""
        found: list[Any] = []
        try:
            for entity in self.entities(*entities, role=role):
                found.append(getattr(entity, entity.WhichOneof("entity")))
        except Failed as failed:
            return found, failed
        return found, None

    def state(self) -> list[Any]:
        """Returns all state that can be read."""
        resources = {"counter_data": p4r.CounterData(), "meter_config": p4r.MeterConfig()}
        return self.read(
            p4r.TableEntry(**resources),
            p4r.TableEntry(is_default_action=True, **resources),
            p4r.ActionProfileMember(),
            p4r.ActionProfileGroup(),
            p4r.CounterEntry(),
            p4r.MeterEntry(),
            p4r.DirectMeterEntry(),
            p4r.RegisterEntry(),
            p4r.ValueSetEntry(),
            p4r.DigestEntry(),
            p4r.PacketReplicationEngineEntry(),
        )

    def read_refused(self, *entities: Any) -> Failed:
        failed = self.read_some(*entities)[1]
        assert failed is not None, "the read was accepted"
        return failed

    def refused(self, *updates: tuple[int, Any], **fields: Any) -> Failed:
        try:
            self.write(*updates, **fields)
        except Failed as failed:
            return failed
        raise AssertionError("the write was accepted")


Connect = Callable[..., Client]


@contextlib.contextmanager
def primary(address: str, config: Any = None, **settings: Any) -> Iterator[Client]:
    """Connects a primary client until the block ends; it pushes the config, if there is one."""
    with contextlib.closing(Client(address, **settings)) as client:
        client.arbitrate()
        if config is not None:
            client.push(COMMIT, config)
        yield client


@contextlib.contextmanager
def meanwhile(work: Callable[[], object]) -> Iterator[None]:
    """Repeats some work in a thread until the block ends."""
    stopping = threading.Event()

    def repeat() -> None:
        while not stopping.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def failure(code: int, match: str, call: Callable[..., object], *arguments: Any, **fields: Any) -> Failed:
    """Returns the failure of a call, which must have this code and a message that matches."""
    with pytest.raises(Failed, match=match or None) as caught:
        call(*arguments, **fields)
    assert caught.value.code == code, caught.value
    return caught.value


def codes(failed: Failed) -> list[int]:
    return [code for code, _ in failed.updates]


def ports(sent: Iterable[tuple[int, int, bytes]]) -> list[int]:
    """Returns the ports on which frames left."""
    return [port for _, port, _ in sent]
