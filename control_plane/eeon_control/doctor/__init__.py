"""`eeon doctor`: finds problems that may keep this controller from working here, and explains the fixes."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from eeon_control import program as programs
from eeon_control.doctor import machine, software, switches
from eeon_control.doctor.finding import Check, Finding, Level, exit_code, ok, run
from eeon_control.targets import Target, host_of, is_unix


def examine(
    environment: Mapping[str, str],
    *,
    state: Path | None = None,
    targets: Mapping[str, Target] | None = None,
    interfaces: Iterable[str] = (),
) -> Iterator[Finding]:
    """Yields all findings, each as soon as it is known. Raises nothing.

    `state`: a fabric's state folder. `targets`: resolved targets of the switches to check.
    """
    visited = targets or {}
    hosts = [host_of(target.address) for target in visited.values() if not is_unix(target.address)]
    checks: list[tuple[str, Check]] = [
        ("python", software.python),
        ("packages", software.requirements),
        ("protobuf", lambda: software.protobuf_pool(environment=environment)),
        ("imports", software.imports),
        ("engine", software.engine),
        ("p4c", lambda: software.program("p4c")),
        ("bmv2", lambda: software.program("bmv2")),
        ("program", _program),
        ("capabilities", machine.capabilities),
        ("namespaces", machine.namespaces),
        ("clock", lambda: machine.clock(Path(__file__))),
        ("open files", lambda: machine.open_files(len(visited))),
    ]
    checks += [(f"interface {name}", partial(machine.offloads, name)) for name in interfaces]
    if state is not None:
        checks.append(("state folder", lambda: machine.state_folder(state)))
    if visited:
        checks += [
            ("proxy", lambda: software.proxies(environment, hosts)),
            ("switches", lambda: switches.reach(visited)),
        ]
    return run(checks)


def _program() -> Iterator[Finding]:
    program = programs.load()
    compiler = program.provenance.get("compiler", "")
    yield ok("program", f"{program.json_path}, digest {program.digest[:12]} {compiler}".rstrip())


__all__ = ["Finding", "Level", "examine", "exit_code"]
