"""Access control: the rights of clients by the names in their certificates.

P4Runtime 1.5 leaves to the server how it identifies clients (§3.1.1) and which roles they may take (§5). With
mutual TLS, a file defines both. Without one, every client has all rights in any role.

    [clients."controller.example.net"]
    rights = ["read", "write", "pipeline"]

    [clients.routing-daemon]
    roles = ["routing"]
    rights = ["read", "write"]

A client's names are the DNS names, URIs and addresses in its certificate (subject alternative names) and its
common name. The first entry of the file with one of these names applies. `roles` are P4Runtime roles: "" is
the default role, which also applies if `roles` is omitted, and "*" stands for all.
"""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import cast

import grpc

from ...exceptions import ConfigError
from ...private_files import read_private
from ..errors import denied
from .roles import Role

_MAX_FILE_BYTES = 1 << 20
_NAMES = ("x509_subject_alternative_name", "x509_common_name")


class Right(Enum):
    """A right of a client."""

    READ = "read"
    """Read, GetForwardingPipelineConfig, and a stream without an election id."""
    WRITE = "write"
    """Become primary, and with it Write, packets in and out, digests, notifications."""
    PIPELINE = "pipeline"
    """SetForwardingPipelineConfig, as primary of the default role."""


@dataclass(frozen=True)
class Caller:
    """A client as identified by its certificate. `roles` is None for all roles."""

    name: str
    rights: frozenset[Right]
    roles: frozenset[str] | None

    def check(self, right: Right, role: Role) -> None:
        """Raises PERMISSION_DENIED unless the client has this right in this role."""
        if self.roles is not None and (role.number or role.name not in self.roles):
            named = ", ".join(sorted(repr(one) for one in self.roles)) or "none"
            raise denied(f"client '{self.name}' may not act as {role}; its roles are {named}")
        self.check_right(right)

    def check_right(self, right: Right) -> None:
        """Raises PERMISSION_DENIED unless the client has this right in some role."""
        if right not in self.rights:
            raise denied(f"client '{self.name}' has no right to {right.value} on this switch")


ANYBODY = Caller("", frozenset(Right), None)
"""Any client, if no file defines rights."""


class Access:
    """The rights in a file. `entries` are in the order of the file."""

    def __init__(self, entries: Mapping[str, Caller]) -> None:
        self._entries = dict(entries)

    @classmethod
    def from_file(cls, path: Path) -> "Access":
        """Reads a file of rights; raises `ConfigError` with what is wrong with it."""
        content = read_private("client rights", path, _MAX_FILE_BYTES, is_secret=False)
        try:
            document = tomllib.loads(content.decode("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ConfigError(f"client rights '{path}': is not TOML ({error})") from error
        clients = document.pop("clients", None)
        if document or not isinstance(clients, dict) or not clients:
            raise ConfigError(
                f"client rights '{path}': may only have tables [clients.NAME]"
                + (f", not '{next(iter(document))}'" if document else "; it has none")
            )
        return cls({name: _caller(path, name, entry) for name, entry in clients.items()})

    def caller(self, context: grpc.ServicerContext) -> Caller:
        """Returns the client of a call. A client that is not in the file has no rights."""
        # Each key has several values, as gRPC documents; its stubs declare a single one.
        found = cast("Mapping[str, Iterable[bytes]]", context.auth_context())
        names = [value.decode("utf-8", "replace") for key in _NAMES for value in found.get(key, ())]
        for name, caller in self._entries.items():
            if name in names:
                return caller
        return Caller(names[0] if names else "without a name", frozenset(), None)


def _caller(path: Path, name: str, entry: object) -> Caller:
    what = f"client rights '{path}': client '{name}'"
    if not name or not isinstance(entry, dict):
        raise ConfigError(f"{what}: is not a table [clients.NAME] with rights and roles")
    unknown = sorted(set(entry) - {"rights", "roles"})
    if unknown:
        raise ConfigError(f"{what}: unknown key '{unknown[0]}'; use rights and roles")
    rights = _words(what, "rights", entry.get("rights"))
    known = {right.value: right for right in Right}
    for right in rights:
        if right not in known:
            raise ConfigError(f"{what}: unknown right '{right}'; use {', '.join(known)}")
    roles = _words(what, "roles", entry.get("roles", [""]))
    return Caller(name, frozenset(known[one] for one in rights), None if "*" in roles else frozenset(roles))


def _words(what: str, key: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ConfigError(f'{what}: {key} is not a list of strings, such as ["read"]')
    return value
