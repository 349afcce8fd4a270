"""Calls on the switch as a whole: its program, its state, its ports, ids of objects."""

import hashlib
import json
import threading
from collections.abc import Collection

from .._engine import Program
from ..exceptions import ControlError, EngineError, InvalidValueError, NoSuchObjectError
from ..values import Group
from .interface import signed, standard
from .names import MAX_ANSWER_CELLS, Context, port_number

_NO_PROGRAM = b"{}"

_KINDS = {
    "MATCH_TABLE": "tables",
    "ACTION_PROFILE": "action_profiles",
    "COUNTER": "counter_arrays",
    "METER": "meter_arrays",
    "REGISTER": "register_arrays",
    "LEARNING_LIST": "learn_lists",
}


class WholeCalls:
    """Service `standard`: program, state, ports."""

    def __init__(self, context: Context, port: int, interfaces: Collection[str] = ()) -> None:
        """Makes the service; clients may add `interfaces` as ports."""
        self._context = context
        self._control = context.control
        self._port = port
        self._interfaces = frozenset(interfaces)
        self._swap = threading.Lock()
        self._next: Program | None = None

    # ---- program

    def bm_get_config(self) -> str:
        return self._json().decode("utf-8")

    def bm_get_config_md5(self) -> bytes:
        return hashlib.md5(self._json(), usedforsecurity=False).digest()

    def bm_load_new_config(self, json_text: str) -> None:
        with self._swap:
            if self._next is not None:
                raise ControlError("a new config is already loaded; swap first", "ONGOING_SWAP")
            program = Program(json_text.encode("utf-8"))
            self._control.check_program(program)
            self._next = program

    def bm_swap_configs(self) -> None:
        with self._swap:
            if self._next is None:
                raise ControlError("no new config is loaded; load one first", "NO_ONGOING_SWAP")
            program, self._next = self._next, None
            self._control.load_program(program)

    def _json(self) -> bytes:
        program = self._control.program
        return _NO_PROGRAM if program is None else program.json

    # ---- state

    def bm_serialize_state(self) -> str:
        # BMv2's dump is its memory layout, with a raw MD5 digest that its CLI cannot read.
        control, names = self._control, self._context.names
        if sum(array["size"] for array in names["register_arrays"].values()) > MAX_ANSWER_CELLS:
            raise InvalidValueError(f"the registers have over {MAX_ANSWER_CELLS} cells; read them by index")
        groups, nodes, lags = control.mc_get_entries()
        count = len(groups) + len(nodes) + sum(control.mt_get_num_entries(name) for name in names["tables"])
        self._context.check_entries("the switch's state", count)
        state = {
            "tables": {
                name: {
                    "entries": self._context.entries(name),
                    "default_entry": control.mt_get_default_entry(name),
                }
                for name in names["tables"]
            },
            "action_profiles": {
                name: {"members": self._context.members(name), "groups": self._groups(name)}
                for name in names["action_profiles"]
            },
            "registers": {
                name: list(self._context.register_cells(name)) for name in names["register_arrays"]
            },
            "multicast": {"groups": groups, "nodes": nodes, "lags": lags},
        }
        return json.dumps({"config_md5": self.bm_get_config_md5(), "state": state}, default=bytes.hex)

    def _groups(self, profile: str) -> list[Group]:
        try:
            return self._control.mt_act_prof_get_groups(profile)
        except InvalidValueError:
            # The profile has no selector and therefore no groups.
            return []

    # ---- the switch, its ports, its objects

    def bm_mgmt_get_info(self) -> standard.BmConfig:
        return standard.BmConfig(device_id=signed(self._control.device_id, 64), thrift_port=self._port)

    def bm_dev_mgr_show_ports(self) -> list[standard.DevMgrPortInfo]:
        return [
            standard.DevMgrPortInfo(port_num=port, iface_name=interface, is_up=is_up, extra={})
            for port, interface, is_up in self._control.port_info()
        ]

    def bm_dev_mgr_add_port(self, iface: str, port: int, pcap: str) -> None:
        if pcap:
            raise EngineError(f"port {port}: frames cannot be recorded to '{pcap}'; leave the file out")
        if iface not in self._interfaces:
            raise EngineError(
                f"port {port}: interface '{iface[:64]}' may not be added over Thrift; start the switch with "
                "--allow-interface INTERFACE"
            )
        self._control.port_add(iface, port_number(port))

    def bm_dev_mgr_remove_port(self, port: int) -> None:
        self._control.port_remove(port_number(port))

    def bm_get_id_from_name(self, cxt: int, type: int, name: str) -> int:
        kind = standard.BmResourceType._VALUES_TO_NAMES.get(type)
        if kind is None:
            raise InvalidValueError(f"resource type {type}: types are 0 to 5", "INVALID_RESOURCE_TYPE")
        try:
            return int(self._context.names[_KINDS[kind]][name]["id"])
        except KeyError:
            raise NoSuchObjectError(
                f"the program has no {kind.lower().replace('_', ' ')} named '{name}'", "INVALID_RESOURCE_NAME"
            ) from None
