"""Service `simple_pre_lag`: multicast groups, nodes, LAGs."""

import json

from ..exceptions import ControlError, InvalidValueError, NoSuchHandleError
from .interface import unsigned
from .names import MAX_U16, Context

_MAP_BITS = 512
"""Length of BMv2's sets of ports and of LAGs; the rest of a longer string is ignored."""


class PreCalls:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._control = context.control

    def bm_mc_mgrp_create(self, cxt: int, group: int) -> int:
        if not 0 < group <= MAX_U16:
            raise InvalidValueError(f"multicast group {group}: ids are 1 to {MAX_U16}", "INVALID_MGID")
        if not self._control.mc_groups(group):
            # Creating a group that exists does nothing, without an error, in BMv2.
            self._control.mc_mgrp_create(group)
        return group

    def bm_mc_mgrp_destroy(self, cxt: int, group: int) -> None:
        try:
            self._control.mc_mgrp_destroy(_group(group))
        except NoSuchHandleError:
            # This is not an error in BMv2.
            return

    def bm_mc_node_create(self, cxt: int, rid: int, ports: str, lags: str) -> int:
        if not 0 <= rid <= MAX_U16:
            raise InvalidValueError(f"replication id {rid}: ids are 0 to {MAX_U16}")
        return self._control.mc_node_create(rid, _numbers(ports), _numbers(lags))

    def bm_mc_node_update(self, cxt: int, node: int, ports: str, lags: str) -> None:
        self._control.mc_node_update(unsigned(node, 32), _numbers(ports), _numbers(lags))

    def bm_mc_node_associate(self, cxt: int, group: int, node: int) -> None:
        self._check_node(node)
        self._control.mc_node_associate(_group(group), unsigned(node, 32))

    def bm_mc_node_dissociate(self, cxt: int, group: int, node: int) -> None:
        self._check_node(node)
        self._control.mc_node_dissociate(_group(group), unsigned(node, 32))

    def bm_mc_set_lag_membership(self, cxt: int, lag: int, ports: str) -> None:
        self._control.mc_set_lag_membership(unsigned(lag, 16), _numbers(ports))

    def bm_mc_get_entries(self, cxt: int) -> str:
        groups, nodes, lags = self._control.mc_get_entries()
        self._context.check_entries("multicast groups and nodes", len(groups) + len(nodes))
        # BMv2 calls a node's set of ports and LAGs its L2 node; node and set are made and destroyed together.
        return json.dumps(
            {
                "mgrps": [{"id": mgid, "l1_handles": members} for mgid, members in groups],
                "l1_handles": [{"handle": node, "rid": rid, "l2_handle": node} for node, rid, _, _ in nodes],
                "l2_handles": [
                    {"handle": node, "ports": ports, "lags": of_node} for node, _, ports, of_node in nodes
                ],
                "lags": [{"id": lag, "ports": ports} for lag, ports in lags],
            }
        )

    def _check_node(self, node: int) -> None:
        """Checks that a node exists; BMv2 checks it before the group."""
        _, nodes, _ = self._control.mc_get_entries()
        if unsigned(node, 32) not in {handle for handle, *_ in nodes}:
            raise NoSuchHandleError(f"multicast node {node}: does not exist", "INVALID_L1_HANDLE")


def _group(group: int) -> int:
    if not 0 <= group <= MAX_U16:
        raise NoSuchHandleError(f"multicast group {group}: does not exist", "INVALID_MGRP_HANDLE")
    return group


def _numbers(bits: str) -> list[int]:
    """Returns the numbers in a set given as 0 and 1, number 0 last. As in BMv2, only the beginning of a
    string that is too long counts."""
    bits = bits[:_MAP_BITS]
    if bits.strip("01"):
        raise ControlError(f"set of ports or LAGs '{bits[:40]}': write it with 0 and 1, number 0 last")
    return [number for number, bit in enumerate(reversed(bits)) if bit == "1"]
