"""Action profile members, groups and one-shot action sets, by P4Runtime ids (P4Runtime 1.5 §9.2), and the
references of table entries to them.

These classes keep no state: the engine identifies members and groups by id as well as by handle. A member of
weight w is w members of the engine, as in BMv2 under its own P4Runtime server. A one-shot is a group that is
deleted with the last entry that uses it. A watched port belongs to a member's place in a group: the engine
skips the member while this port is down.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from ..._engine import SwitchHandle
from ...values import Choice, ClientAction, ClientGroup, ClientMember, Share
from .. import bytestrings
from ..errors import exhausted, invalid, not_found, unimplemented
from ..messages import p4r
from ..program.schema import ActionProfile, Schema, Table, find, select
from . import translate
from .chunks import Chunk
from .translate import ActionCall

# Far beyond any useful selector; limits the memory that one message can make the engine allocate.
_MAX_GROUP_WEIGHT = 65_536

_PORT_BITS = 9

_Weighted = p4r.ActionProfileGroup.Member | p4r.ActionProfileAction


class ActionProfiles:
    def __init__(self, control: SwitchHandle, schema: Schema) -> None:
        self._control = control
        self._schema = schema

    # ---- actions of table entries

    def action_from_message(self, table: Table, action: p4r.TableAction) -> ClientAction:
        """Converts the action of an entry for the engine, which checks whether its kind suits the table."""
        match action.WhichOneof("type"):
            case "action":
                return ("action", *translate.action_from_message(table, action.action))
            case "action_profile_action_set":
                return self._one_shot(table, action.action_profile_action_set)
            case "action_profile_member_id":
                return ("member", action.action_profile_member_id)
        return ("group", action.action_profile_group_id)

    def _one_shot(self, table: Table, action_set: p4r.ActionProfileActionSet) -> ClientAction:
        profile = table.profile
        if profile is None:
            raise invalid(f"table '{table.name}' has no action profile; give it an action instead of a set")
        _check_modes(profile, action_set)
        actions = action_set.action_profile_actions
        choices: list[Choice] = []
        weights = []
        for item in actions:
            call = translate.action_from_message(table, item.action)
            weights.append(_weight(profile, item.weight))
            choices.append((*call, weights[-1], _watched(profile, item)))
        _check_weights(profile, weights, profile.max_group_size)
        note = p4r.ActionProfileActionSet(
            action_selection_mode=action_set.action_selection_mode, size_semantics=action_set.size_semantics
        )
        return ("one_shot", note.SerializeToString(), choices)

    def action_to_message(self, table: Table, action: ClientAction, message: p4r.TableAction) -> None:
        """Fills in the action of an entry."""
        match action:
            case ("action", name, data):
                translate.fill_action(table, name, data, message.action)
            case ("member", member):
                message.action_profile_member_id = member
            case ("group", group):
                message.action_profile_group_id = group
            case ("one_shot", note, choices):
                shown = message.action_profile_action_set
                shown.ParseFromString(note)
                shown.SetInParent()
                for name, data, weight, watch in choices:
                    added = shown.action_profile_actions.add()
                    translate.fill_action(table, name, data, added.action)
                    _show_weight(table.profile, added, weight, watch)

    # ---- members

    def write_member(self, kind: int, message: p4r.ActionProfileMember) -> None:
        profile = find(self._schema.profiles, "action profile", message.action_profile_id)
        control, number = self._control, message.member_id
        if kind == p4r.Update.INSERT:
            if number == 0:
                raise invalid(f"profile '{profile.name}': member 0 stands for all members; ids start at 1")
            control.client_add_member(profile.name, number, *self._call(profile, message))
        elif kind == p4r.Update.MODIFY:
            control.client_modify_member(profile.name, number, *self._call(profile, message))
        else:
            control.client_delete_member(profile.name, number)

    def _call(self, profile: ActionProfile, message: p4r.ActionProfileMember) -> ActionCall:
        if not message.HasField("action"):
            raise invalid(f"profile '{profile.name}': member {message.member_id} needs an action")
        return translate.action_from_message(self._table(profile), message.action)

    def _table(self, profile: ActionProfile) -> Table:
        """Returns one of the profile's tables; all of them may call the same actions."""
        if not profile.tables:
            raise invalid(f"profile '{profile.name}' belongs to no table")
        return self._schema.tables[profile.tables[0]]

    # ---- groups

    def write_group(self, kind: int, message: p4r.ActionProfileGroup) -> None:
        profile = find(self._schema.profiles, "action profile", message.action_profile_id)
        if not profile.with_selector:
            raise invalid(f"profile '{profile.name}' has no selector and so no groups")
        control, number = self._control, message.group_id
        if kind == p4r.Update.INSERT:
            if number == 0:
                raise invalid(f"profile '{profile.name}': group 0 stands for all groups; ids start at 1")
            note = p4r.ActionProfileGroup(max_size=message.max_size).SerializeToString()
            control.client_add_group(profile.name, number, _shares(profile, message), note)
            return
        found = control.client_groups(profile.name, number)
        if not found:
            raise not_found(f"profile '{profile.name}' has no group {number}")
        if kind == p4r.Update.DELETE:
            control.client_delete_group(profile.name, number)
            return
        ((_, _, note),) = found
        max_size = p4r.ActionProfileGroup.FromString(note).max_size
        if message.max_size != max_size:
            raise invalid(
                f"profile '{profile.name}': group {number} has max_size {max_size}, which cannot change to "
                f"{message.max_size}"
            )
        control.client_modify_group(profile.name, number, _shares(profile, message), note)

    # ---- reading

    def read_members(self, message: p4r.ActionProfileMember) -> Iterator[Chunk]:
        """Yields the members that an `ActionProfileMember` request selects; 0 stands for all."""
        for profile in select(self._schema.profiles, "action profile", message.action_profile_id):
            members = self._control.client_members(profile.name, message.member_id or None)
            yield Chunk(len(members), partial(self._members, profile, members))

    def _members(self, profile: ActionProfile, members: list[ClientMember]) -> Iterator[p4r.Entity]:
        for member_id, name, data in members:
            answer = p4r.ActionProfileMember(action_profile_id=profile.id, member_id=member_id)
            translate.fill_action(self._table(profile), name, data, answer.action)
            yield p4r.Entity(action_profile_member=answer)

    def read_groups(self, message: p4r.ActionProfileGroup) -> Iterator[Chunk]:
        """Yields the groups that an `ActionProfileGroup` request selects; 0 stands for all."""
        for profile in select(self._schema.profiles, "action profile", message.action_profile_id):
            if profile.with_selector:
                groups = self._control.client_groups(profile.name, message.group_id or None)
                cells = sum(1 + len(members) for _, members, _ in groups)
                yield Chunk(cells, partial(_groups, profile, groups))


def _groups(profile: ActionProfile, groups: list[ClientGroup]) -> Iterator[p4r.Entity]:
    for number, members, note in groups:
        message: p4r.ActionProfileGroup = p4r.ActionProfileGroup.FromString(note)
        message.action_profile_id, message.group_id = profile.id, number
        for member_id, weight, watch in members:
            added = message.members.add(member_id=member_id)
            _show_weight(profile, added, weight, watch)
        yield p4r.Entity(action_profile_group=message)


def _shares(profile: ActionProfile, message: p4r.ActionProfileGroup) -> list[Share]:
    """Returns the members with their weights and watched ports."""
    limit = profile.max_group_size
    # If the P4Info has a limit, §9.2.2 requires a max_size above 0. Like BMv2's server, this one also accepts
    # 0, which stands for the limit.
    if message.max_size < 0 or (limit and message.max_size > limit):
        raise invalid(
            f"profile '{profile.name}': group {message.group_id} asks for max_size {message.max_size}, "
            f"the P4Info allows 0 to {limit}"
        )
    weights = [_weight(profile, member.weight) for member in message.members]
    _check_weights(profile, weights, message.max_size or limit)
    ids = [member.member_id for member in message.members]
    if len(set(ids)) != len(ids):
        raise invalid(
            f"profile '{profile.name}': group {message.group_id} names a member twice; use its weight"
        )
    watched = [_watched(profile, member) for member in message.members]
    return list(zip(ids, weights, watched, strict=True))


def _check_modes(profile: ActionProfile, action_set: p4r.ActionProfileActionSet) -> None:
    """Refuses a group whose modes differ from those of the profile's other groups (§9.2.3)."""
    kinds = p4r.ActionProfileActionSet
    own_size = kinds.SUM_OF_WEIGHTS if profile.sum_of_weights else kinds.SUM_OF_MEMBERS
    # v1model's selectors use a hash.
    if action_set.action_selection_mode not in (
        kinds.DEFAULT_MODE_DETERMINED_BY_ACTION_SELECTOR,
        kinds.HASH,
    ) or action_set.size_semantics not in (kinds.DEFAULT_SIZE_DETERMINED_BY_ACTION_SELECTOR, own_size):
        raise unimplemented(
            f"profile '{profile.name}': a group cannot have a selection mode or size semantics of its own; "
            "leave them out"
        )


def _check_weights(profile: ActionProfile, weights: Sequence[int], max_size: int) -> None:
    if any(weight <= 0 for weight in weights):
        raise invalid(f"profile '{profile.name}': weight {min(weights)}; weights start at 1")
    if profile.max_member_weight and max(weights, default=0) > profile.max_member_weight:
        raise invalid(
            f"profile '{profile.name}': weight {max(weights)}, the limit is {profile.max_member_weight}"
        )
    size = sum(weights) if profile.sum_of_weights else len(weights)
    if max_size and size > max_size:
        raise invalid(f"profile '{profile.name}': the group has size {size}, the limit is {max_size}")
    if sum(weights) > _MAX_GROUP_WEIGHT:
        raise exhausted(
            f"profile '{profile.name}': the weights' sum is {sum(weights)}, the limit is {_MAX_GROUP_WEIGHT}"
        )


def _weight(profile: ActionProfile, weight: int) -> int:
    """Returns the weight for the engine. If the profile allows no weights, only 0 is valid, and means 1."""
    if not profile.weights_disallowed:
        return weight
    if weight != 0:
        raise invalid(f"profile '{profile.name}' disallows weights; leave weight {weight} out")
    return 1


def _watched(profile: ActionProfile, member: _Weighted) -> int | None:
    """Returns the watched port of a group's member or of a set's action; None if there is none."""
    if member.WhichOneof("watch_kind") == "watch":
        raise invalid("`watch` is deprecated and not supported; use watch_port")
    if not member.watch_port:
        return None
    return bytestrings.decode(member.watch_port, _PORT_BITS, f"profile '{profile.name}': watch_port", invalid)


def _show_weight(profile: ActionProfile | None, message: _Weighted, weight: int, watch: int | None) -> None:
    """Fills in the weight and the watched port of a group's member or of a set's action."""
    if profile is None or not profile.weights_disallowed:
        message.weight = weight
    if watch is not None:
        message.watch_port = bytestrings.encode(watch)
