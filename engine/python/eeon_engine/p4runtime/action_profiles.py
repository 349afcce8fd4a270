"""Action profile members, groups and one-shot action sets, by P4Runtime ids (P4Runtime 1.5 §9.2).

P4Runtime lets the client choose ids and gives members weights; BMv2 hands out handles, and a group holds each
member once. So a member of weight w is w members of the engine with the same action, made when a group first
asks for them. A one-shot is a hidden group. Hidden groups and members that are equal are shared and counted,
so that a thousand routes over the same uplinks need one group, not a thousand.

What a member watches belongs to its place in a group: the engine passes it over while that port is down.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from finsy.proto import p4r

from ..control import SwitchControl
from . import bytestrings, translate
from .errors import already_exists, exhausted, invalid, not_found, precondition, unimplemented
from .journal import Journal
from .schema import ActionProfile, Schema, Table, find
from .translate import ActionCall

# Far beyond any selector that is of use, and a bound on what one message can make the engine allocate.
_MAX_GROUP_WEIGHT = 65_536

_PORT_BITS = 9


@dataclass(eq=False)
class Member:
    """A member that the client made; `handles` are its copies in the engine, the first one always there."""

    member_id: int
    call: ActionCall
    handles: list[int]
    users: int = 0


@dataclass(eq=False)
class Group:
    """A group that the client made."""

    group_id: int
    message: Any
    handle: int
    members: "_Members"
    users: int = 0


_Members = list[tuple[Member, int, int | None]]
"""Members of a group with their weight and the port that they watch."""

_Shape = tuple[tuple[ActionCall, int, int | None], ...]
"""Actions with their weight and the port that they watch."""


@dataclass(eq=False)
class OneShot:
    """A hidden group, shared by all entries that ask for the same actions with the same weights."""

    shape: _Shape
    handle: int = 0
    users: int = 0


@dataclass(eq=False)
class _Shared:
    """A hidden member."""

    handle: int
    users: int = 0


@dataclass
class _Books:
    members: dict[int, Member] = field(default_factory=dict)
    groups: dict[int, Group] = field(default_factory=dict)
    one_shots: dict[_Shape, OneShot] = field(default_factory=dict)
    shared: dict[tuple[ActionCall, int], _Shared] = field(default_factory=dict)


class ActionProfiles:
    """All action profiles of one switch."""

    def __init__(self, control: SwitchControl, schema: Schema) -> None:
        self._control = control
        self._schema = schema
        self._books = {profile_id: _Books() for profile_id in schema.profiles}

    # ---- what table entries refer to

    def member(self, profile: ActionProfile, member_id: int) -> Member:
        """A member by id; NOT_FOUND."""
        found = self._books[profile.id].members.get(member_id)
        if found is None:
            raise not_found(f"profile '{profile.name}' has no member {member_id}; insert it first")
        return found

    def group(self, profile: ActionProfile, group_id: int) -> Group:
        """A group by id; NOT_FOUND."""
        if not profile.with_selector:
            raise invalid(f"profile '{profile.name}' has no selector and so no groups")
        found = self._books[profile.id].groups.get(group_id)
        if found is None:
            raise not_found(f"profile '{profile.name}' has no group {group_id}; insert it first")
        return found

    def check_style(self, profile: ActionProfile, *, one_shot: bool) -> None:
        """A profile is programmed by one-shots or by members and groups, not both (§9.2.3)."""
        books = self._books[profile.id]
        if one_shot and (books.members or books.groups):
            raise invalid(
                f"profile '{profile.name}' is programmed by members and groups; one-shots cannot be mixed in"
            )
        if not one_shot and books.one_shots:
            raise invalid(f"profile '{profile.name}' is programmed by one-shots; members cannot be mixed in")

    def acquire_one_shot(self, table: Table, action_set: Any, journal: Journal) -> OneShot:
        """The hidden group for an action set; made when no entry uses it yet."""
        profile = table.profile
        if profile is None or not profile.with_selector:
            raise invalid(f"table '{table.name}' has no action selector; one-shot action sets need one")
        self.check_style(profile, one_shot=True)
        self._check_modes(profile, action_set)
        actions = action_set.action_profile_actions
        if not actions:
            raise invalid(f"table '{table.name}': the action set is empty; give it at least one action")
        shape = []
        for item in actions:
            call = translate.action_from_message(table, item.action)
            shape.append((call, _weight(profile, item.weight), _watched(profile, item)))
        self._check_weights(profile, [weight for _, weight, _ in shape], profile.max_group_size)
        one_shot = self._books[profile.id].one_shots.get(tuple(shape)) or OneShot(tuple(shape))
        self.retain(profile, one_shot, journal)
        return one_shot

    def retain(self, profile: ActionProfile, one_shot: OneShot, journal: Journal) -> None:
        """One more entry uses the hidden group."""
        if one_shot.users == 0:
            self._make(profile, one_shot, journal)
        one_shot.users += 1
        journal.push(lambda: self._drop(one_shot))

    def release(self, profile: ActionProfile, one_shot: OneShot, journal: Journal) -> None:
        """One entry less uses the hidden group."""
        self._drop(one_shot)

        def undo() -> None:
            one_shot.users += 1

        journal.push(undo)
        if one_shot.users == 0:
            self._unmake(profile, one_shot, journal)

    @staticmethod
    def _drop(one_shot: OneShot) -> None:
        one_shot.users -= 1

    def _make(self, profile: ActionProfile, one_shot: OneShot, journal: Journal) -> None:
        books, control = self._books[profile.id], self._control
        one_shot.handle = control.mt_act_prof_create_group(profile.name)
        books.one_shots[one_shot.shape] = one_shot

        def undo_group() -> None:
            control.mt_act_prof_delete_group(profile.name, one_shot.handle)
            del books.one_shots[one_shot.shape]

        journal.push(undo_group)
        for name, watch in _copies(one_shot.shape):
            shared = self._retain_shared(profile, name, journal)
            self._join(profile, one_shot, shared, watch, journal)

    def _unmake(self, profile: ActionProfile, one_shot: OneShot, journal: Journal) -> None:
        books, control = self._books[profile.id], self._control
        for name, watch in _copies(one_shot.shape):
            shared = books.shared[name]
            self._leave(profile, one_shot, shared, watch, journal)
            self._release_shared(profile, name, journal)
        control.mt_act_prof_delete_group(profile.name, one_shot.handle)
        del books.one_shots[one_shot.shape]

        def undo() -> None:
            one_shot.handle = control.mt_act_prof_create_group(profile.name)
            books.one_shots[one_shot.shape] = one_shot

        journal.push(undo)

    def _retain_shared(
        self, profile: ActionProfile, name: tuple[ActionCall, int], journal: Journal
    ) -> _Shared:
        books, control = self._books[profile.id], self._control
        shared = books.shared.get(name)
        if shared is None:
            shared = _Shared(control.mt_act_prof_add_member(profile.name, name[0].action.name, name[0].data))
            books.shared[name] = shared
        shared.users += 1
        journal.push(lambda: self._release_shared(profile, name, Journal()))
        return shared

    def _release_shared(self, profile: ActionProfile, name: tuple[ActionCall, int], journal: Journal) -> None:
        books, control = self._books[profile.id], self._control
        shared = books.shared[name]
        if shared.users == 1:
            control.mt_act_prof_delete_member(profile.name, shared.handle)
            del books.shared[name]
        shared.users -= 1

        def undo() -> None:
            if shared.users == 0:
                shared.handle = control.mt_act_prof_add_member(
                    profile.name, name[0].action.name, name[0].data
                )
                books.shared[name] = shared
            shared.users += 1

        journal.push(undo)

    def _join(
        self, profile: ActionProfile, group: OneShot, member: _Shared, watch: int | None, journal: Journal
    ) -> None:
        self._control.mt_act_prof_add_member_to_group(profile.name, member.handle, group.handle, watch)
        journal.push(
            lambda: self._control.mt_act_prof_remove_member_from_group(
                profile.name, member.handle, group.handle
            )
        )

    def _leave(
        self, profile: ActionProfile, group: OneShot, member: _Shared, watch: int | None, journal: Journal
    ) -> None:
        self._control.mt_act_prof_remove_member_from_group(profile.name, member.handle, group.handle)
        journal.push(
            lambda: self._control.mt_act_prof_add_member_to_group(
                profile.name, member.handle, group.handle, watch
            )
        )

    @staticmethod
    def _check_modes(profile: ActionProfile, action_set: Any) -> None:
        """How one group differs from the profile's others: not at all (§9.2.3)."""
        kinds = p4r.ActionProfileActionSet
        own_size = kinds.SUM_OF_WEIGHTS if profile.sum_of_weights else kinds.SUM_OF_MEMBERS
        # v1model's selectors choose by a hash.
        if action_set.action_selection_mode not in (
            kinds.DEFAULT_MODE_DETERMINED_BY_ACTION_SELECTOR,
            kinds.HASH,
        ) or action_set.size_semantics not in (kinds.DEFAULT_SIZE_DETERMINED_BY_ACTION_SELECTOR, own_size):
            raise unimplemented(
                f"profile '{profile.name}': a group cannot have a selection mode or size semantics of its "
                "own; leave them out"
            )

    def _check_weights(self, profile: ActionProfile, weights: list[int], max_size: int) -> None:
        if any(weight <= 0 for weight in weights):
            raise invalid(f"profile '{profile.name}': weight {min(weights)}; weights start at 1")
        if profile.max_member_weight and max(weights, default=0) > profile.max_member_weight:
            raise invalid(
                f"profile '{profile.name}': weight {max(weights)}, the limit is {profile.max_member_weight}"
            )
        size = sum(weights) if profile.sum_of_weights else len(weights)
        if max_size and size > max_size:
            raise invalid(f"profile '{profile.name}': a group of size {size}, the limit is {max_size}")
        if sum(weights) > _MAX_GROUP_WEIGHT:
            raise exhausted(
                f"profile '{profile.name}': weights of {sum(weights)}, the limit is {_MAX_GROUP_WEIGHT}"
            )

    # ---- members

    def write_member(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of an `ActionProfileMember`."""
        profile = find(self._schema.profiles, "action profile", message.action_profile_id)
        members, control = self._books[profile.id].members, self._control
        member = members.get(message.member_id)
        if kind == p4r.Update.INSERT:
            if message.member_id == 0:
                raise invalid(f"profile '{profile.name}': member 0 stands for all members; ids start at 1")
            if member is not None:
                raise already_exists(f"profile '{profile.name}': member {message.member_id} is there already")
            self.check_style(profile, one_shot=False)
            call = self._call(profile, message)
            handle = control.mt_act_prof_add_member(profile.name, call.action.name, call.data)
            member = Member(message.member_id, call, [handle])
            members[message.member_id] = member

            def undo_insert() -> None:
                self._delete_copies(profile, member)
                del members[message.member_id]

            journal.push(undo_insert)
            return
        if member is None:
            raise not_found(f"profile '{profile.name}' has no member {message.member_id}")
        if kind == p4r.Update.MODIFY:
            self._set_action(profile, member, self._call(profile, message), journal)
            return
        if member.users:
            raise precondition(
                f"profile '{profile.name}': member {message.member_id} has {member.users} users"
            )
        self._delete_copies(profile, member)
        del members[message.member_id]

        def undo_delete() -> None:
            member.handles = [
                control.mt_act_prof_add_member(profile.name, member.call.action.name, member.call.data)
            ]
            members[message.member_id] = member

        journal.push(undo_delete)

    def _call(self, profile: ActionProfile, message: Any) -> ActionCall:
        if not message.HasField("action"):
            raise invalid(f"profile '{profile.name}': member {message.member_id} needs an action")
        for table_id in profile.tables:
            if table_id in self._schema.tables:
                return translate.action_from_message(self._schema.tables[table_id], message.action)
        raise invalid(f"profile '{profile.name}' belongs to no table")

    def _set_action(self, profile: ActionProfile, member: Member, call: ActionCall, journal: Journal) -> None:
        before = member.call
        for handle in member.handles:
            self._control.mt_act_prof_modify_member(profile.name, handle, call.action.name, call.data)
        member.call = call
        journal.push(lambda: self._set_action(profile, member, before, Journal()))

    def _delete_copies(self, profile: ActionProfile, member: Member) -> None:
        for handle in member.handles:
            self._control.mt_act_prof_delete_member(profile.name, handle)
        member.handles = []

    # ---- groups

    def write_group(self, kind: int, message: Any, journal: Journal) -> None:
        """One update of an `ActionProfileGroup`."""
        profile = find(self._schema.profiles, "action profile", message.action_profile_id)
        if not profile.with_selector:
            raise invalid(f"profile '{profile.name}' has no selector and so no groups")
        groups, control = self._books[profile.id].groups, self._control
        group = groups.get(message.group_id)
        if kind == p4r.Update.INSERT:
            if message.group_id == 0:
                raise invalid(f"profile '{profile.name}': group 0 stands for all groups; ids start at 1")
            if group is not None:
                raise already_exists(f"profile '{profile.name}': group {message.group_id} is there already")
            self.check_style(profile, one_shot=False)
            canonical, members = self._members(profile, message)
            group = Group(message.group_id, canonical, control.mt_act_prof_create_group(profile.name), [])
            groups[message.group_id] = group

            def undo_insert() -> None:
                control.mt_act_prof_delete_group(profile.name, group.handle)
                del groups[message.group_id]

            journal.push(undo_insert)
            self._set_members(profile, group, members, journal)
            return
        if group is None:
            raise not_found(f"profile '{profile.name}' has no group {message.group_id}")
        if kind == p4r.Update.MODIFY:
            if message.max_size != group.message.max_size:
                raise invalid(
                    f"profile '{profile.name}': group {message.group_id} was made with max_size "
                    f"{group.message.max_size}, which cannot change to {message.max_size}"
                )
            before = group.message
            canonical, members = self._members(profile, message)
            self._set_members(profile, group, members, journal)
            group.message = canonical

            def undo_modify() -> None:
                group.message = before

            journal.push(undo_modify)
            return
        if group.users:
            raise precondition(
                f"profile '{profile.name}': group {message.group_id} is used by {group.users} table entries"
            )
        self._set_members(profile, group, [], journal)
        control.mt_act_prof_delete_group(profile.name, group.handle)
        del groups[message.group_id]

        def undo_delete() -> None:
            group.handle = control.mt_act_prof_create_group(profile.name)
            groups[message.group_id] = group

        journal.push(undo_delete)

    def _members(self, profile: ActionProfile, message: Any) -> tuple[Any, _Members]:
        """The canonical message, and the members with their weights and what they watch."""
        limit = profile.max_group_size
        # With a limit in the P4Info, §9.2.2 wants max_size above 0. BMv2's server takes 0 as the limit, so
        # this does too.
        if message.max_size < 0 or (limit and message.max_size > limit):
            raise invalid(
                f"profile '{profile.name}': group {message.group_id} asks for max_size {message.max_size}, "
                f"the P4Info allows 0 to {limit}"
            )
        weights = [_weight(profile, member.weight) for member in message.members]
        self._check_weights(profile, weights, message.max_size or limit)
        ids = [member.member_id for member in message.members]
        if len(set(ids)) != len(ids):
            raise invalid(
                f"profile '{profile.name}': group {message.group_id} names a member twice; use its weight"
            )
        watched = [_watched(profile, member) for member in message.members]
        canonical = p4r.ActionProfileGroup()
        canonical.CopyFrom(message)
        for member, port in zip(canonical.members, watched, strict=True):
            write_watch(member, port)
        members = [self.member(profile, m.member_id) for m in message.members]
        return canonical, list(zip(members, weights, watched, strict=True))

    def _set_members(self, profile: ActionProfile, group: Group, members: _Members, journal: Journal) -> None:
        """Makes `members` the group's; what stays is not touched."""
        weights = {id(member): weight for member, weight, _ in members}
        before = {id(member): (weight, watch) for member, weight, watch in group.members}
        # In before out: a group that entries point at is never empty in between.
        for member, weight, watch in members:
            had, watched = before.get(id(member), (0, None))
            if watch != watched:
                for copy in range(min(had, weight)):
                    self._watch_copy(profile, group, member, copy, watched, watch, journal)
            for copy in range(had, weight):
                self._join_copy(profile, group, member, copy, watch, journal)
        for member, weight, watch in group.members:
            for copy in range(weights.get(id(member), 0), weight):
                self._leave_copy(profile, group, member, copy, watch, journal)
        old, group.members = group.members, members
        _count(old, -1)
        _count(members, 1)

        def undo() -> None:
            group.members = old
            _count(members, -1)
            _count(old, 1)

        journal.push(undo)

    def _watch_copy(
        self,
        profile: ActionProfile,
        group: Group,
        member: Member,
        copy: int,
        before: int | None,
        after: int | None,
        journal: Journal,
    ) -> None:
        self._control.mt_act_prof_watch_port(profile.name, member.handles[copy], group.handle, after)
        journal.push(lambda: self._watch_copy(profile, group, member, copy, after, before, Journal()))

    def _join_copy(
        self,
        profile: ActionProfile,
        group: Group,
        member: Member,
        copy: int,
        watch: int | None,
        journal: Journal,
    ) -> None:
        control = self._control
        while len(member.handles) <= copy:
            # A copy stays until its member is deleted; undoing the group leaves a spare one behind, no more.
            member.handles.append(
                control.mt_act_prof_add_member(profile.name, member.call.action.name, member.call.data)
            )
        control.mt_act_prof_add_member_to_group(profile.name, member.handles[copy], group.handle, watch)
        journal.push(lambda: self._leave_copy(profile, group, member, copy, watch, Journal()))

    def _leave_copy(
        self,
        profile: ActionProfile,
        group: Group,
        member: Member,
        copy: int,
        watch: int | None,
        journal: Journal,
    ) -> None:
        self._control.mt_act_prof_remove_member_from_group(profile.name, member.handles[copy], group.handle)
        journal.push(lambda: self._join_copy(profile, group, member, copy, watch, Journal()))

    # ---- reading

    def read_members(self, message: Any) -> Iterator[Any]:
        """Members that an `ActionProfileMember` request asks for; 0 stands for all."""
        for profile in self._asked(message.action_profile_id):
            members = self._books[profile.id].members
            for member_id in _chosen(members, message.member_id):
                call = members[member_id].call
                yield p4r.Entity(
                    action_profile_member=p4r.ActionProfileMember(
                        action_profile_id=profile.id, member_id=member_id, action=call.message()
                    )
                )

    def read_groups(self, message: Any) -> Iterator[Any]:
        """Groups that an `ActionProfileGroup` request asks for; 0 stands for all."""
        for profile in self._asked(message.action_profile_id):
            groups = self._books[profile.id].groups
            for group_id in _chosen(groups, message.group_id):
                yield p4r.Entity(action_profile_group=groups[group_id].message)

    def _asked(self, profile_id: int) -> list[ActionProfile]:
        if profile_id == 0:
            return list(self._schema.profiles.values())
        return [find(self._schema.profiles, "action profile", profile_id)]


def _chosen(objects: dict[int, Any], wanted: int) -> list[int]:
    if wanted == 0:
        return sorted(objects)
    return [wanted] if wanted in objects else []


def _weight(profile: ActionProfile, weight: int) -> int:
    """The weight that the engine uses; where the profile disallows weights, 0 is the only one and means 1."""
    if not profile.weights_disallowed:
        return weight
    if weight != 0:
        raise invalid(f"profile '{profile.name}' disallows weights; leave weight {weight} out")
    return 1


def _watched(profile: ActionProfile, member: Any) -> int | None:
    """The port that a member of a group, or an action of a set, watches."""
    if member.WhichOneof("watch_kind") == "watch":
        raise invalid("watch is deprecated and not supported; use watch_port")
    if not member.watch_port:
        return None
    return bytestrings.decode(member.watch_port, _PORT_BITS, f"profile '{profile.name}': watch_port", invalid)


def write_watch(message: Any, port: int | None) -> None:
    """Puts a watched port into a member of a group or an action of a set, in its shortest form."""
    message.ClearField("watch_port")
    if port is not None:
        message.watch_port = bytestrings.encode(port)


def _copies(shape: _Shape) -> Iterator[tuple[tuple[ActionCall, int], int | None]]:
    """The hidden members of an action set by name, and what they watch: an action of weight w, or given w
    times, is w members.
    """
    seen: dict[ActionCall, int] = {}
    for call, weight, watch in shape:
        for _ in range(weight):
            seen[call] = seen.get(call, 0) + 1
            yield (call, seen[call]), watch


def _count(members: _Members, change: int) -> None:
    for member, _, _ in members:
        member.users += change
