"""Capabilities, Get and Set (gNMI 0.8 §3.2 to 3.4), and the reader that Subscribe also uses."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from .._engine import SwitchHandle
from ..p4runtime.clients.access import Caller, Right
from ..p4runtime.errors import exhausted, invalid, not_found, unimplemented
from ..values import PortInfo
from . import encoding as encodings
from . import model, paths
from .messages import gnmi
from .model import Leaf
from .paths import Selection

VERSION = "0.8.0"
"""The version of the messages in finsy 0.30."""
MAX_VALUES = 65_536
"""Maximum number of values in a response: some megabytes."""
PORTS_AGE_S = 0.05
"""Maximum delay until a port's change is visible here; the switch polls its links ten times a second."""


class Reader:
    """A reader of one switch, shared by any number of calls."""

    def __init__(self, control: SwitchHandle) -> None:
        self._control = control
        self._lock = threading.Lock()
        self._ports: tuple[PortInfo, ...] = ()
        self._looked_at = float("-inf")

    def ports(self) -> tuple[PortInfo, ...]:
        """Returns the ports, at most `PORTS_AGE_S` old; the same tuple as long as none changes."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked_at >= PORTS_AGE_S:
                found = tuple(self._control.port_info())
                self._looked_at = now
                if found != self._ports:
                    self._ports = found
            return self._ports

    def values(
        self, selections: Sequence[Selection], ports: Iterable[PortInfo] | None = None
    ) -> list[list[encodings.Found]]:
        """Returns the values of each selection, from one pass over the ports. Raises RESOURCE_EXHAUSTED if
        they exceed a response's limit."""
        counted = [selection.interface for selection in selections if selection.has_counts]
        everywhere, named = None in counted, set(counted)
        given = tuple(self._control.port_info()) if ports is None else tuple(ports)
        values = sum(
            len(selection.leaves) * (len(given) if selection.interface is None else 1)
            for selection in selections
        )
        if values > MAX_VALUES:
            raise exhausted(
                f"the request asks for up to {values} values, the limit is {MAX_VALUES}; ask for fewer paths"
            )
        read = list(model.read(self._control, given, lambda name: everywhere or name in named))
        return [selection.values(read) for selection in selections]


def capabilities(request: gnmi.CapabilityRequest, caller: Caller) -> gnmi.CapabilityResponse:
    """Returns models, encodings and version, which every client may read."""
    del request, caller
    return gnmi.CapabilityResponse(
        supported_models=model.MODELS, supported_encodings=encodings.ENCODINGS, gNMI_version=VERSION
    )


def get(reader: Reader, request: gnmi.GetRequest, caller: Caller) -> gnmi.GetResponse:
    """Returns one notification for each path, with an update for each node that the path selects; no
    updates for an empty list. Raises NOT_FOUND for a named list entry that does not exist."""
    caller.check_right(Right.READ)
    encodings.check(request.encoding)
    of_models, of_type = kept_models(request.use_models), _kept(request.type)
    existing = paths.selections(request.prefix, request.path)
    asked = [one.only(lambda leaf: of_models(leaf) and of_type(leaf)) for one in existing]
    if not asked:
        raise invalid("the request has no path; the root is a path without elements")
    timestamp = time.time_ns()
    response = gnmi.GetResponse()
    for whole, selection, found in zip(existing, asked, reader.values(asked), strict=True):
        if not found and selection.is_of_one:
            if whole.leaves and not selection.leaves:
                raise not_found(
                    f"path {selection.text} has no data of this type in these models; "
                    "leave out type or use_models"
                )
            raise not_found(f"path {selection.text} does not exist on this switch at present")
        notification = response.notification.add(timestamp=timestamp)
        set_target(notification, request.prefix)
        notification.update.extend(_updates(selection, found, request.encoding))
    return response


def refuse_set(request: gnmi.SetRequest, caller: Caller) -> gnmi.SetResponse:
    """Refuses every Set: the switch's gNMI is read-only."""
    del request, caller
    raise unimplemented("gNMI is read-only on this switch; write tables over P4Runtime, on the same address")


def _updates(selection: Selection, found: Sequence[encodings.Found], encoding: int) -> Iterable[gnmi.Update]:
    if encoding == gnmi.PROTO:
        for path, leaf, value in found:
            yield update(path, leaf, value, encoding)
        return
    for at, below in groupby(found, lambda one: one[0][: selection.depth]):
        yield gnmi.Update(
            path=paths.message(at), val=encodings.subtree(list(below), selection.depth, encoding)
        )


def update(path: paths.Node, leaf: Leaf, value: model.Value, encoding: int) -> gnmi.Update:
    """Returns the update of one leaf."""
    return gnmi.Update(path=paths.message(path), val=encodings.scalar(leaf, value, encoding))


def set_target(notification: gnmi.Notification, prefix: gnmi.Path) -> None:
    """Copies the client's name for this switch into the response (§2.2.2.1)."""
    if prefix.target:
        notification.prefix.target = prefix.target


def kept_models(asked: Iterable[gnmi.ModelData]) -> Callable[[Leaf], bool]:
    """Returns the test for leaves of the models that a client names (§2.6); all leaves if it names none.
    Raises INVALID_ARGUMENT for a model that Capabilities does not list."""
    names = {one.name for one in asked}
    known = {one.name for one in model.MODELS}
    for name in sorted(names - known):
        raise invalid(f"model '{name[:80]}' is not supported; use {', '.join(sorted(known))}")
    kept = [leaf for leaf in model.LEAVES if not names or model.module_of(leaf) in names]
    trees = {leaf.steps[0] for leaf in kept}
    # Keys stay with the leaves that another model adds to their lists.
    return lambda leaf: leaf in kept or (leaf.is_key and leaf.steps[0] in trees)


def _kept(kind: int) -> Callable[[Leaf], bool]:
    if kind == gnmi.GetRequest.ALL:
        return lambda leaf: True
    # Keys are in every type: without them, entries of a list could not be told apart.
    if kind == gnmi.GetRequest.CONFIG:
        return lambda leaf: leaf.is_key or leaf.is_config
    # Leaves of type OPERATIONAL have no counterpart under `config`.
    names = {step.name for leaf in model.LEAVES if leaf.is_config for step in leaf.steps[-1:]}
    if kind == gnmi.GetRequest.OPERATIONAL:
        return lambda leaf: leaf.is_key or (not leaf.is_config and leaf.steps[-1].name not in names)
    if kind == gnmi.GetRequest.STATE:
        return lambda leaf: not leaf.is_config
    raise invalid(f"type {kind} does not exist; use ALL (0), CONFIG (1), STATE (2) or OPERATIONAL (3)")
