"""Calls on action profiles: members and groups."""

from ..exceptions import NoSuchHandleError
from .interface import signed, standard, unsigned
from .names import Context
from .tables import shortest


class ActionProfileCalls:
    """Service `standard`: action profiles."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    def bm_mt_act_prof_add_member(self, cxt: int, profile: str, action: str, data: list[bytes]) -> int:
        return signed(self._control.mt_act_prof_add_member(profile, action, data), 32)

    def bm_mt_act_prof_modify_member(
        self, cxt: int, profile: str, member: int, action: str, data: list[bytes]
    ) -> None:
        self._control.mt_act_prof_modify_member(profile, unsigned(member, 32), action, data)

    def bm_mt_act_prof_delete_member(self, cxt: int, profile: str, member: int) -> None:
        self._control.mt_act_prof_delete_member(profile, unsigned(member, 32))

    def bm_mt_act_prof_get_members(self, cxt: int, profile: str) -> list[standard.BmMtActProfMember]:
        return [_member(*member) for member in self._context.members(profile)]

    def bm_mt_act_prof_get_member(self, cxt: int, profile: str, member: int) -> standard.BmMtActProfMember:
        for handle, action, data in self._control.mt_act_prof_get_members(profile):
            if handle == unsigned(member, 32):
                return _member(handle, action, data)
        raise NoSuchHandleError(
            f"action profile '{profile}': no member has handle {member}", "INVALID_MBR_HANDLE"
        )

    def bm_mt_act_prof_create_group(self, cxt: int, profile: str) -> int:
        return signed(self._control.mt_act_prof_create_group(profile), 32)

    def bm_mt_act_prof_delete_group(self, cxt: int, profile: str, group: int) -> None:
        self._control.mt_act_prof_delete_group(profile, unsigned(group, 32))

    def bm_mt_act_prof_add_member_to_group(self, cxt: int, profile: str, member: int, group: int) -> None:
        self._control.mt_act_prof_add_member_to_group(profile, unsigned(member, 32), unsigned(group, 32))

    def bm_mt_act_prof_remove_member_from_group(
        self, cxt: int, profile: str, member: int, group: int
    ) -> None:
        self._control.mt_act_prof_remove_member_from_group(profile, unsigned(member, 32), unsigned(group, 32))

    def bm_mt_act_prof_get_groups(self, cxt: int, profile: str) -> list[standard.BmMtActProfGroup]:
        return [_group(*group) for group in self._context.groups(profile)]

    def bm_mt_act_prof_get_group(self, cxt: int, profile: str, group: int) -> standard.BmMtActProfGroup:
        for handle, members in self._control.mt_act_prof_get_groups(profile):
            if handle == unsigned(group, 32):
                return _group(handle, members)
        raise NoSuchHandleError(
            f"action profile '{profile}': no group has handle {group}", "INVALID_GRP_HANDLE"
        )


def _member(handle: int, action: str, data: list[bytes]) -> standard.BmMtActProfMember:
    return standard.BmMtActProfMember(
        mbr_handle=signed(handle, 32), action_name=action, action_data=shortest(data)
    )


def _group(handle: int, members: list[int]) -> standard.BmMtActProfGroup:
    return standard.BmMtActProfGroup(
        grp_handle=signed(handle, 32), mbr_handles=[signed(member, 32) for member in members]
    )
