"""Roles: who is asking, and what a role may write and see (P4Runtime 1.5 §5.2, §5.3).

The specification leaves the meaning of a role to an agreement outside of the protocol. Here that agreement is
the P4 program's: an object annotated `@p4runtime_role("name")` belongs to that role alone, as in SONiC's P4
programs. The default role has access to everything; any other role to what is its own and to what nobody
claims. Of a controller header the annotation says whose packets these are. A role configuration sent by a
client would be another agreement, and is refused (`arbitration`).
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


def of(name: str, number: int) -> Role:
    """Returns the role that a request names; INVALID_ARGUMENT if it gives both a name and a number, or a name
    that is too long to be kept and told."""
    if len(name) > _MAX_NAME:
        raise invalid(f"a role's name of {len(name)} characters, the limit is {_MAX_NAME}")
    if name and number:
        raise invalid(f"role '{name}' is given with a role id, {number}; use the name alone")
    return Role(name, number)


def in_scope(owner: str | None, role: Role) -> bool:
    """Returns whether a role has access to what `owner` claims."""
    return role == DEFAULT or owner is None or owner == role.name


def check_write(schema: Schema, role: Role, entity: p4r.Entity) -> None:
    """Raises PERMISSION_DENIED for an update of what another role claims (§12)."""
    if role == DEFAULT:
        return
    object_id = _object_of(entity)
    owner = schema.owners.get(object_id)
    if not in_scope(owner, role):
        raise denied(
            f"object {object_id} (0x{object_id:08x}) belongs to role '{owner}', the client has {role}"
        )


def is_visible(schema: Schema, role: Role, entity: p4r.Entity) -> bool:
    """Returns whether a read under this role answers the entity (§13)."""
    return role == DEFAULT or in_scope(schema.owners.get(_object_of(entity)), role)


def _object_of(entity: p4r.Entity) -> int:
    """Returns the P4Info id that an entity is about; 0 for what the P4Info does not list."""
    kind = entity.WhichOneof("entity")
    if kind is None:
        return 0
    body = getattr(entity, kind)
    match kind:
        case "table_entry":
            return int(body.table_id)
        case "direct_counter_entry" | "direct_meter_entry":
            return int(body.table_entry.table_id)
        case "action_profile_member" | "action_profile_group":
            return int(body.action_profile_id)
        case "counter_entry":
            return int(body.counter_id)
        case "meter_entry":
            return int(body.meter_id)
        case "register_entry":
            return int(body.register_id)
        case "value_set_entry":
            return int(body.value_set_id)
        case "digest_entry":
            return int(body.digest_id)
    return 0
