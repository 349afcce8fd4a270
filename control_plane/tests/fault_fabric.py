"""A fabric of real engine switches in separate processes, which tests kill, restart, cut off, or make refuse.

Nothing here depends on sleeps: a switch dies at its n-th update because it counts them itself, or when the
apply reports a certain step. The state of a switch is read with plain gRPC, without the controller's code.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
from bmv2_process import free_port
from eeon_control import config, operations, program, state, topology
from eeon_control.fabric import Step
from eeon_control.fabric.sync import run
from eeon_control.targets import Targets
from finsy.proto import U128, p4r, p4r_grpc, rpc_code
from programs import another
from watched_disk import WatchedDisk

TICK_PS = 1000
TOPOLOGY_TEXT = """
name: faults
leaf_spine: {leaves: 2, spines: 1, hosts_per_leaf: 2, host_link: {rate: 1Gbps}, uplink: {rate: 10Gbps}}
defaults: {delay: 500ns}
"""
TOPOLOGY = topology.from_text(TOPOLOGY_TEXT)
OLD = ("red_ack_syn", "eee_120us100")
NEW = ("mark_threshold", "eee_standard")
FOREIGN_COOKIE = 7
Image = dict[str, frozenset[bytes]]

_fork = multiprocessing.get_context("forkserver")
# Slow imports happen once; none of these modules starts a thread before its use.
_fork.set_forkserver_preload(["eeon_engine.p4runtime", "eeon_control.operations"])


def _switch_process(
    device_id: int, ports: list, port: int, ready, dies_at, refuses_at, refusals, dies_by
) -> None:
    """Runs a switch until it is killed. The shared numbers count updates down; at 0, it dies or refuses."""
    from eeon_engine import _engine, p4runtime
    from eeon_engine.p4runtime import batch, errors

    write_one = batch._one

    def faulty(forwarding, role, update):
        for left in (dies_at, refuses_at):
            if left.value > 0:
                left.value -= 1
        if dies_at.value == 0:
            os.kill(os.getpid(), dies_by.value)
        if refuses_at.value == 0:
            refusals.value -= 1
            refuses_at.value = 0 if refusals.value > 0 else -1
            return errors.StatusError(rpc_code.RESOURCE_EXHAUSTED, "the table is full, says the test")
        return write_one(forwarding, role, update)

    batch._one = faulty
    switch = _engine.Switch(
        device_id=device_id,
        tick_ps=TICK_PS,
        gate_register="gate_open_at",
        ports=[_engine.Port(number, rate_bps=rate, overhead_bytes=24) for number, rate in ports],
    )
    with p4runtime.serve(switch, address=f"127.0.0.1:{port}"):
        ready.send(True)
        threading.Event().wait()


_NO_FAULTS = (-1, -1, 0, int(signal.SIGKILL))


class SwitchProcess:
    """A switch. Its address stays the same after a restart; its entries are lost."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.device_id = TOPOLOGY.switches[name].device_id
        self.port = free_port()
        self._faults = [_fork.Value("i", start) for start in _NO_FAULTS]
        self._process = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.is_alive()

    def start(self) -> None:
        mine, theirs = _fork.Pipe()
        ports = [(port.number, int(port.rate)) for port in TOPOLOGY.switches[self.name].ports]
        arguments = (self.device_id, ports, self.port, theirs, *self._faults)
        self._process = _fork.Process(target=_switch_process, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        assert mine.poll(60) and mine.recv(), f"{self.name} did not start"

    def kill(self) -> None:
        """Sends SIGKILL, and waits for the end of the process."""
        self._process.kill()
        self._process.join(60)

    def dies_at_update(self, number: int) -> None:
        """Makes the process kill itself before its `number`-th update from now."""
        self._faults[0].value = number

    def hangs_at_update(self, number: int) -> None:
        """Makes the process stop there, with its connections open. Use `kill` in the end."""
        self._faults[0].value, self._faults[3].value = number, signal.SIGSTOP

    def wait_until_it_hangs(self) -> None:
        """Waits until the process has stopped itself (`hangs_at_update`)."""
        deadline = time.monotonic() + 60
        # The state follows the name in parentheses: T if it is stopped.
        while Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < deadline, f"{self.name} does not come to that update"
            time.sleep(0.01)

    def refuses_update(self, number: int, *, times: int = 1) -> None:
        """Makes the switch refuse `times` updates, from the `number`-th one from now."""
        self._faults[1].value, self._faults[2].value = number, times

    def heal(self) -> None:
        for fault, off in zip(self._faults, _NO_FAULTS, strict=True):
            fault.value = off
        if not self.is_running:
            self.start()


class FaultyFabric:
    """All switches, the state folder of one controller, and the switches' entries in OLD and in NEW."""

    def __init__(self) -> None:
        self.switches = {name: SwitchProcess(name) for name in TOPOLOGY.switches}

    def start(self) -> None:
        for one in self.switches.values():
            one.start()

    def stop(self) -> None:
        for one in self.switches.values():
            if one.is_running:
                one.kill()

    # -- the controller -----------------------------------------------------------------------------------

    def targets(self, **elsewhere: str) -> Targets:
        addresses = {name: f"127.0.0.1:{one.port}" for name, one in self.switches.items()} | elsewhere
        return Targets.from_value({"tick": "1ns", "switches": addresses}, "test")

    def meant(self, names: tuple[str, ...], **elsewhere: str) -> state.Intended:
        return state.Intended(TOPOLOGY, config.load(*names), self.targets(**elsewhere))

    def apply(
        self,
        store: state.StateStore,
        names: tuple[str, ...],
        observer: Callable[[Step, str], None] = lambda step, switch: None,
        *,
        elsewhere: dict[str, str] | None = None,
        **options,
    ) -> operations.Outcome:
        """Applies a configuration like `eeon config apply`."""
        given = {key: options.pop(key) for key in ("election_id", "clock") if key in options}
        with store.lock("eeon config apply") as lock:
            work = operations.Work(store, lock, observer=observer, **given)
            run(operations.settle(work))
            meant = self.meant(names, **(elsewhere or {}))
            return run(operations.apply(work, meant, **options))

    def settle(self, store: state.StateStore, **given) -> list[str]:
        """Settles like the next command or the controller. Returns the messages."""
        said: list[str] = []
        with store.lock("eeon config recover") as lock:
            run(operations.settle(operations.Work(store, lock, say=said.append, **given)))
        return said

    def drift(self, store: state.StateStore) -> operations.Drift:
        return run(operations.drift(store))

    def killed_controller(
        self,
        store: state.StateStore,
        kill_at: str,
        number: int,
        *,
        names: tuple[str, ...] = NEW,
        confirm_seconds: float | None = None,
    ) -> int:
        """Applies in a process that kills itself at the n-th step of that name, or the n-th disk operation.

        Returns its exit code: -9 if it came that far.
        """
        addresses = {name: str(one) for name, one in self.targets().switches.items()}
        arguments = (str(store.folder), addresses, kill_at, number, names, confirm_seconds)
        process = _fork.Process(target=_controller_process, args=arguments, daemon=True)
        process.start()
        process.join(120)
        return process.exitcode

    def command(
        self,
        folder: Path,
        *arguments: str,
        stdout: int = subprocess.PIPE,
        stderr: int | None = None,
        elsewhere: dict[str, str] | None = None,
    ) -> subprocess.Popen[str]:
        """Starts `eeon config apply` in a separate process, on the topology and targets of this fabric."""
        (folder / "topology.yaml").write_text(TOPOLOGY_TEXT)
        (folder / "targets.yaml").write_text(json.dumps(self.targets(**(elsewhere or {})).as_value()))
        place = ["-t", str(folder / "topology.yaml"), "-T", str(folder / "targets.yaml")]
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "eeon_control", "config", "apply", *place, *arguments],
            stdout=stdout,
            stderr=stderr,
            text=True,
        )

    # -- an independent check -----------------------------------------------------------------------------

    def image(self) -> Image:
        """Returns every entry of every table of every switch, defaults included, as the switch sends it."""
        return {name: entries_of(one.port, name) for name, one in self.switches.items()}

    def heal(self) -> None:
        for one in self.switches.values():
            one.heal()


def entries_of(port: int, name: str) -> frozenset[bytes]:
    device_id = TOPOLOGY.switches[name].device_id
    info = program.load().schema().p4info
    requests = [p4r.Entity(table_entry=p4r.TableEntry())]
    requests += [
        p4r.Entity(table_entry=p4r.TableEntry(table_id=table.preamble.id, is_default_action=True))
        for table in info.tables
        if not table.const_default_action_id and not table.implementation_id
    ]
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        replies = p4r_grpc.P4RuntimeStub(channel).Read(
            p4r.ReadRequest(device_id=device_id, entities=requests), timeout=60
        )
        found = [
            entity.SerializeToString(deterministic=True) for reply in replies for entity in reply.entities
        ]
    return frozenset(found)


def _controller_process(
    folder: str,
    addresses: dict[str, str],
    kill_at: str,
    number: int,
    names: tuple[str, ...],
    confirm_seconds: float | None,
) -> None:
    left = number

    def count(step: str) -> None:
        nonlocal left
        if step == kill_at:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    store = state.StateStore.open(Path(folder), disk=WatchedDisk(lambda _: count("disk")))
    targets = Targets.from_value({"tick": "1ns", "switches": addresses}, "test")
    with store.lock("eeon config apply") as lock:
        work = operations.Work(store, lock, observer=lambda step, switch: count(step.value))
        meant = state.Intended(TOPOLOGY, config.load(*names), targets)
        run(operations.apply(work, meant, confirm_seconds=confirm_seconds))


_ids = itertools.count(1000, 1000)


def next_id() -> int:
    """Returns an election id far above all earlier ones."""
    return next(_ids)


# -- actions of others at a switch: plain gRPC, without the controller's code --------------------------------


@contextlib.contextmanager
def primacy(switch: SwitchProcess, election_id: int) -> Iterator[p4r_grpc.P4RuntimeStub]:
    """Becomes primary with that election id in its context. Take the id from `next_id`: a switch accepts none
    below the largest that it has seen."""
    asked: queue.SimpleQueue = queue.SimpleQueue()
    bid = p4r.MasterArbitrationUpdate(device_id=switch.device_id, election_id=U128.encode(election_id))
    asked.put(p4r.StreamMessageRequest(arbitration=bid))
    with grpc.insecure_channel(f"127.0.0.1:{switch.port}") as channel:
        stub = p4r_grpc.P4RuntimeStub(channel)
        answers = stub.StreamChannel(iter(asked.get, None))
        assert next(answers).arbitration.status.code == rpc_code.OK
        yield stub
        asked.put(None)
        for _ in answers:
            pass  # until the switch has noticed the end


def set_buffer(
    switch: SwitchProcess,
    stub: p4r_grpc.P4RuntimeStub,
    election_id: int,
    kind: p4r.Update.Type.ValueType = p4r.Update.MODIFY,
    port: bytes = b"\x01",
    limit: bytes = b"\x05",
) -> None:
    """Changes port 1's buffer limit to 5 bytes, or another port's."""
    info = program.load().schema()
    entry = p4r.TableEntry(table_id=info.tables["port_buffer"].id)
    entry.match.add(field_id=1).exact.value = port
    entry.action.action.action_id = info.actions["set_buffer_limit"].id
    entry.action.action.params.add(param_id=1, value=limit)
    update = p4r.Update(type=kind, entity=p4r.Entity(table_entry=entry))
    request = p4r.WriteRequest(
        device_id=switch.device_id, election_id=p4r.Uint128(low=election_id), updates=[update]
    )
    stub.Write(request, timeout=60)


def write_as(switch: SwitchProcess, election_id: int) -> None:
    """Writes as another client with the primary's election id, which is all that a switch checks."""
    with grpc.insecure_channel(f"127.0.0.1:{switch.port}") as channel:
        set_buffer(switch, p4r_grpc.P4RuntimeStub(channel), election_id)


def run_another_program(switch: SwitchProcess) -> None:
    """Loads another program, and writes an entry."""
    pipeline = another(program.load().schema().get_pipeline_config(), FOREIGN_COOKIE)
    theirs = next_id()
    with primacy(switch, theirs) as stub:
        stub.SetForwardingPipelineConfig(
            p4r.SetForwardingPipelineConfigRequest(
                device_id=switch.device_id,
                election_id=p4r.Uint128(low=theirs),
                action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
                config=pipeline,
            ),
            timeout=60,
        )
        set_buffer(switch, stub, theirs, p4r.Update.INSERT, port=b"\x09", limit=b"\x07")


def cookie_of(switch: SwitchProcess) -> int:
    """Returns the cookie of a switch's program."""
    with grpc.insecure_channel(f"127.0.0.1:{switch.port}") as channel:
        reply = p4r_grpc.P4RuntimeStub(channel).GetForwardingPipelineConfig(
            p4r.GetForwardingPipelineConfigRequest(device_id=switch.device_id),
            timeout=60,
        )
    return reply.config.cookie.cookie


class Partition:
    """A TCP proxy in front of a switch. `cut` drops bytes from the controller, `cut_replies` those to the
    controller. Connections stay open, as in a network partition."""

    def __init__(self, port: int) -> None:
        self._behind = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._forward, self._backward = threading.Event(), threading.Event()
        self._sockets: list[socket.socket] = []
        self.mend()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._forward.clear()

    def cut_replies(self) -> None:
        self._backward.clear()

    def mend(self) -> None:
        self._forward.set()
        self._backward.set()

    def close(self) -> None:
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._behind))
                self._sockets += [near, far]
                for source, sink, open_ in ((near, far, self._forward), (far, near, self._backward)):
                    threading.Thread(target=self._pump, args=(source, sink, open_), daemon=True).start()

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket, open_: threading.Event) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if open_.is_set():  # bytes that arrive while it is cut are lost, as is the connection
                    sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def partition(switch: SwitchProcess) -> Iterator[Partition]:
    proxy = Partition(switch.port)
    try:
        yield proxy
    finally:
        proxy.close()


def at(step: Step, switch: str, action: Callable[[], None]) -> Callable[[Step, str], None]:
    """Returns an observer that acts once, at that step of the apply at that switch."""
    waiting = [action]

    def observe(now: Step, where: str) -> None:
        if (now, where) == (step, switch) and waiting:
            waiting.pop()()

    return observe


class SetClock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.moment = state.Moment(wall_seconds=1.7e9, boot_seconds=1000.0, boot_id="this boot")

    def __call__(self) -> state.Moment:
        return self.moment

    def set(self, **parts) -> None:
        self.moment = self.moment.model_copy(update=parts)
