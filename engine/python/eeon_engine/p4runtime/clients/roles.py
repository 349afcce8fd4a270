"""Roles: their identity, and the objects that a role may write and read (P4Runtime 1.5 §5.2, §5.3).

The specification leaves the meaning of a role to an agreement outside the protocol. Here the P4 program is
the agreement: an object annotated with `@p4runtime_role("name")` belongs to this role alone, as in SONiC's P4
programs. The default role has access to everything; any other role has access to its own objects and to those
without an owner. On a controller header, the annotation defines which role receives and sends its packets. A
role configuration from a client would be another agreement, and is refused (`arbitration`).
"""

from typing import NamedTuple

from ..errors import denied, invalid
from ..messages import p4r
from ..program.schema import Schema


class Role(NamedTuple):
    """A role by name, or by its number, which P4Runtime 1.4 deprecated."""

    name: str
    number: int

    def __str__(self) -> str:
        if self == DEFAULT:
            return "the default role"
        return f"role '{self.name}'" if self.name else f"role {self.number}"


DEFAULT = Role("", 0)
_MAX_NAME = 256
_KINDS = ("table", "action_profile", "counter", "meter", "register", "value_set", "digest")
_ID_FIELDS = tuple(f"{kind}_id" for kind in _KINDS)
"""The fields that have the P4Info id of an entity's object; of a direct resource, of its table."""


def of(name: str, number: int) -> Role:
    """Returns the role in a request. Raises INVALID_ARGUMENT if it has both a name and a number, or a name
    that is too long."""
    if len(name) > _MAX_NAME:
        raise invalid(f"the role's name has {len(name)} characters, the limit is {_MAX_NAME}")
    if name and number:
        raise invalid(f"role '{name}' also has role id {number}; give the name alone")
    return Role(name, number)


def in_scope(owner: str | None, role: Role) -> bool:
    """Returns whether a role has access to an object with this owner."""
    return role == DEFAULT or owner is None or owner == role.name


def check_write(schema: Schema, role: Role, entity: p4r.Entity) -> None:
    """Raises PERMISSION_DENIED for an update of another role's object (§12)."""
    if role == DEFAULT:
        return
    object_id = _object_of(entity)
    owner = schema.owners.get(object_id)
    if not in_scope(owner, role):
        raise denied(
            f"object {object_id} (0x{object_id:08x}) belongs to role '{owner}', the client has {role}"
        )


def is_visible(schema: Schema, role: Role, entity: p4r.Entity) -> bool:
    """Returns whether a read in this role returns the entity (§13)."""
    return role == DEFAULT or in_scope(schema.owners.get(_object_of(entity)), role)


def _object_of(entity: p4r.Entity) -> int:
    """Returns the P4Info id of an entity's object; 0 if the P4Info does not list it."""
    body = getattr(entity, entity.WhichOneof("entity") or "", entity)
    body = getattr(body, "table_entry", body)
    return next((int(getattr(body, name)) for name in _ID_FIELDS if hasattr(body, name)), 0)
