"""Resolution of a document of settings to a checked run: it reads every file that the document names, checks
all that can be checked without starting a twin, and computes the run's id.

A resolved run is plain values, so that it can be sent to another process or machine, which needs none of the
files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, reduce
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from eeon_control import config as configs
from eeon_control import data
from eeon_control import program as programs
from eeon_control import topology as topologies
from eeon_control.config import FabricConfig
from eeon_control.config.advice import marks
from eeon_control.errors import DataNotFound, InputError, PlanError, Problem, Severity
from eeon_control.sources import Document, KeyPath, read_yaml
from eeon_control.topology import Topology
from eeon_control.units import Duration
from eeon_control.validation import input_error
from eeon_tools.engine import load_program
from eeon_tools.errors import CoflowError, UnavailableError
from eeon_tools.replay.spec import TICK_PS
from pydantic import ValidationError

from eeon_experiments import overlay
from eeon_experiments.fabric import entries_of, spec_of, with_added_delay, workload_of
from eeon_experiments.settings import RunSettings
from eeon_experiments.versions import Versions
from eeon_experiments.workloads.flow_files import read_list, read_points
from eeon_experiments.workloads.transfers import CoflowFile

if TYPE_CHECKING:
    from eeon_engine.json_types import WorkloadSpec

_ID_DIGITS = 20
_APPLICATIONS: KeyPath = ("workload", "applications")
_OF_WORKLOAD = ("tcp", "workload", "start_jitter", "time_limit")
"""Settings without an effect on the fabric."""
_FILES = (("flows", "sizes"), ("flows", "listed"), ("coflows", "coflows"))
"""Kinds of applications, and their keys that may name a file."""
_APPLICATION = re.compile(r"applications\[([0-9]+)\]\.")
_OF_FLOWS = re.compile(r"drawn\.(\w+?)(?:_ps)?: [0-9.e]+: ")
_OF_TCP = "tcp: tcp: "


@dataclass(frozen=True)
class Run:
    """One run as plain values. Equal ids and `entries` mean the same numbers: the id is a hash of the input
    of the engine and the controller, the seed, and the versions of program and engine; `entries` is a hash of
    the table entries that the controller then writes into the switches."""

    id: str
    seed: int
    settings: dict[str, object] = field(repr=False)
    topology: dict[str, object] = field(repr=False)
    config: dict[str, object] = field(repr=False)
    source: str = ""
    entries: str = ""
    warnings: tuple[Problem, ...] = field(default=(), repr=False, compare=False)
    """The warnings of `eeon config validate` about the configuration."""
    marks_in_vain: bool = field(default=False, repr=False, compare=False)
    """Whether ports mark, although no application sends ECN-capable packets."""

    def parts(self) -> tuple[RunSettings, Topology, FabricConfig]:
        """Rebuilds and returns the checked models."""
        settings = RunSettings.model_validate(self.settings)
        topology = topologies.from_value(self.topology, self.source)
        config = configs.from_value(self.config, self.source)
        return settings, with_added_delay(topology, settings.link_delay), config


class Resolver:
    """Resolver of the runs of one file. It caches the topologies and configurations that runs share.

    With `drawn` it checks each seed's workload, which draws its flows; without, it checks none."""

    def __init__(self, folder: Path, versions: Versions, drawn: bool = True) -> None:
        self._folder = folder
        self._versions = versions
        self._drawn = drawn
        self._topologies: dict[str, Topology] = {}
        self._configs: dict[str, tuple[FabricConfig, tuple[Problem, ...]]] = {}
        self._documents: dict[Path, Document] = {}
        self._fabrics: dict[str, tuple[str, str]] = {}
        self._checked: set[str] = set()
        self._read_points = cache(lambda path: {"points": read_points(path)})
        self._read_list = cache(read_list)

    def resolve(self, document: Document, seeds: list[int], source: str) -> list[Run]:
        """Returns one run for each seed. Raises InputError with all mistakes."""
        document, problems = overlay.by_name(document)
        document, unread = self._with_files(document)
        if unread:
            raise InputError(problems + unread)
        settings: RunSettings | None = None
        topology: Topology | None = None
        config: FabricConfig | None = None
        warnings: tuple[Problem, ...] = ()
        try:
            settings = RunSettings.model_validate(document.value)
        except ValidationError as error:
            problems += input_error(error, document, RunSettings).problems
        delay = settings.link_delay if settings is not None else Duration(0)
        try:
            topology = self._topology(document, delay)
            if topology is not None:
                config, warnings = self._config(document, topology, delay)
        except InputError as error:
            problems += error.problems
        if settings is not None and topology is not None:
            problems += [document.problem(path, rule) for path, rule in settings.workload.broken(topology)]
            problems += _impossible(document, settings, topology)
            problems += _too_long(document, settings, config) if config is not None else ()
        if problems:
            raise InputError(problems)
        assert settings is not None and topology is not None and config is not None, "or there were problems"
        fabric, entries = self._fabric(document, settings, topology, config)
        workloads = [workload_of(settings, topology, seed) for seed in seeds]
        for workload in workloads if self._drawn else ():
            self._check_workload(document, settings, topology, config, workload)
        in_vain = not settings.can_be_marked() and any(
            marks(aqm) for port in topology.ports() for aqm in config.settings_of(port).aqms
        )
        versions = f"{self._versions.program} {self._versions.engine}"
        return [
            Run(
                id=_digest(versions, fabric, _canonical([seed, workload])),
                seed=seed,
                settings=document.value,
                topology=dict(topology.document),
                config=config.document.value,
                source=source,
                entries=entries,
                warnings=warnings,
                marks_in_vain=in_vain,
            )
            for seed, workload in zip(seeds, workloads, strict=True)
        ]

    def _with_files(self, document: Document) -> tuple[Document, list[Problem]]:
        """Returns the document with the contents of files of flows and coflows, which are beside the
        experiment's file."""
        problems = []
        for name, (kind, key) in product(document.mapping(_APPLICATIONS), _FILES):
            place = (*_APPLICATIONS, name, key)
            if document.get((*_APPLICATIONS, name, "kind")) != kind:
                continue
            try:
                held = self._held(document, place)
            except CoflowError as error:
                rule = f"{error.place}: {error.problem}" if error.place else error.problem
                problems.append(document.problem((*place, "file"), rule))
            except ValueError as error:
                problems.append(document.problem(place, str(error)))
            else:
                document = document if held is None else document.with_value(place, held)
        return document, problems

    def _held(self, document: Document, place: KeyPath) -> object:
        """Returns the content of the file that is named at a place, or the coflows of a file between the
        fabric's hosts; None where no file is named."""
        named = document.get(place)
        if place[-1] != "coflows":
            path = self._folder / named if isinstance(named, str) else None
            read = self._read_points if place[-1] == "sizes" else self._read_list
            return read(path) if path is not None and path.is_file() else None
        if isinstance(named, dict) and isinstance(named.get("file"), str):
            with suppress(ValidationError):  # the run's model reports it
                file = CoflowFile.model_validate(named)
                topology = self._topology(document, Duration(0))
                return None if topology is None else file.read(self._folder / file.file, topology)
        return None

    def _fabric(
        self, document: Document, settings: RunSettings, topology: Topology, config: FabricConfig
    ) -> tuple[str, str]:
        """Returns a digest of the engine's and the controller's input, without seed and workload, and a
        digest of the switches' table entries."""
        key = _ordered([one for one in document.value.items() if one[0] not in _OF_WORKLOAD])
        if key not in self._fabrics:
            try:
                spec = spec_of(settings, topology, config, 0)
                entries = entries_of(topology, config)
            except UnavailableError as error:
                raise InputError([document.problem(("nic",), str(error))]) from None
            except PlanError as error:
                raise InputError([document.problem(("config",), str(error))]) from None
            told = _digest(_canonical([spec, topology.document, config.document.value]))
            self._fabrics[key] = told, entries
        return self._fabrics[key]

    def _check_workload(
        self,
        document: Document,
        settings: RunSettings,
        topology: Topology,
        config: FabricConfig,
        workload: WorkloadSpec,
    ) -> None:
        """Raises InputError with the engine's first objection to the applications and their TCP. Skips
        combinations that were checked for an earlier run."""
        from eeon_engine.exceptions import ConfigError
        from eeon_engine.json_documents import check_workload, make_twin, start_workload

        hosts = [
            (host.name, int(host.port.rate), int(host.port.overhead)) for host in topology.hosts.values()
        ]
        whole = _digest(_canonical([hosts, workload["seed"], workload["applications"]]))
        tcp = _canonical([workload["tcp"], [one.get("tcp") for one in workload["applications"]]])
        try:
            if whole not in self._checked:
                check_workload(workload, hosts)
            if tcp not in self._checked:
                # Only a twin checks TCP settings.
                twin = make_twin(load_program(programs.load().json), spec_of(settings, topology, config, 0))
                start_workload(twin, workload)
        except ConfigError as error:
            raise InputError([_refused(document, workload, str(error))]) from None
        self._checked |= {whole, tcp}

    def _topology(self, document: Document, delay: Duration) -> Topology | None:
        """Returns the fabric; None if the key has a wrong type, which its model reports."""
        named = document.get(("topology",))
        if not named or not isinstance(named, (str, dict)):
            return None
        key = _ordered([named, int(delay)])
        if key not in self._topologies:
            if isinstance(named, dict):
                found = topologies.from_document(overlay.part(document, ("topology",)), "topology")
            else:
                found = topologies.load(self._file(document, ("topology",), "topologies", named))
            self._topologies[key] = with_added_delay(found, delay)
        return self._topologies[key]

    def _config(
        self, document: Document, topology: Topology, delay: Duration
    ) -> tuple[FabricConfig | None, tuple[Problem, ...]]:
        """Returns the configuration and its warnings; None if the key has a wrong type, which its model
        reports."""
        listed = document.get(("config",))
        if not isinstance(listed, list) or not listed:
            return None, ()
        if not all(one and isinstance(one, (str, dict)) for one in listed):
            return None, ()
        # Warnings have places, which other runs with an equal configuration may not share.
        places = document.places.of("config")
        key = _ordered([listed, document.get(("topology",)), int(delay), places])
        if key not in self._configs:
            parts = [self._part(document, ("config", index), one) for index, one in enumerate(listed)]
            config = configs.from_document(reduce(Document.merged_with, parts))
            problems = configs.check(config, topology, Duration(TICK_PS))
            errors = [problem for problem in problems if problem.severity is Severity.ERROR]
            if errors:
                raise InputError(errors)
            self._configs[key] = config, tuple(problems)
        return self._configs[key]

    def _part(self, document: Document, path: KeyPath, one: str | dict[str, object]) -> Document:
        if isinstance(one, dict):
            return overlay.part(document, path)
        file = self._file(document, path, "examples", one)
        if file not in self._documents:
            self._documents[file] = read_yaml(file)
        return self._documents[file]

    def _file(self, document: Document, path: KeyPath, kind: str, name: str) -> Path:
        """Returns the path of a file beside the experiment's, or of one that ships."""
        beside = self._folder / name
        try:
            return beside if beside.is_file() else Path(data.find_yaml(kind, name))
        except (DataNotFound, OSError) as error:
            said = str(error.strerror) if isinstance(error, OSError) else str(error)
            raise InputError([document.problem(path, said.removeprefix(f"{name}: "), name)]) from None


def _too_long(document: Document, settings: RunSettings, config: FabricConfig) -> Iterator[Problem]:
    """Yields frames that are longer than the headroom of lossless classes is for."""
    for name in sorted(set(config.lossless.values())):
        profile = config.profiles.pfc[name]
        for path, frame in settings.longest_frames() if profile.headroom == "checked" else ():
            if frame > profile.max_frame:
                yield document.problem(
                    path,
                    f"makes frames of {frame}; a lossless class has headroom for {profile.max_frame}; "
                    f"set profiles.pfc.{name}.max_frame to {frame} in config",
                )


def _impossible(document: Document, settings: RunSettings, topology: Topology) -> Iterator[Problem]:
    if settings.host.tx_delay and settings.scheduler is not None:
        yield document.problem(
            ("host", "tx_delay"),
            "cannot be combined with a scheduler, whose rates take effect in NICs at once; leave one out",
        )
    if settings.faults and settings.scheduler is not None:
        yield document.problem(
            ("faults",),
            "cannot be combined with a scheduler, which does not know failed links; leave one out",
        )
    for index, fault in enumerate(settings.faults):
        try:
            fault.check(topology)
        except ValueError as error:
            yield document.problem(("faults", index), str(error))


def _refused(document: Document, workload: WorkloadSpec, said: str) -> Problem:
    """Returns the engine's objection to a workload as a problem at its place in the file."""
    path: KeyPath = ()
    rule = said.removeprefix("workload ")
    if found := _APPLICATION.match(rule):
        path = "workload", "applications", workload["applications"][int(found[1])]["name"]
        rule = rule[found.end() :]
    if found := _OF_FLOWS.match(rule):
        key = {"racks": "pattern"}.get(found[1], found[1])  # the racks of the fabric are not in the file
        path, rule = (*path, key), rule[found.end() :]
    if "leaves no flow" in rule:
        seed = workload["seed"]
        rule = f"no flow starts in the measured time with seed {seed}; make duration longer, or load larger"
    if rule.startswith(_OF_TCP):
        rule = rule.removeprefix(_OF_TCP)
        named = *path, "tcp", rule.split()[0]
        path = named if document.has(named) else named[:-1]
    return document.problem(path, rule)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)


def _ordered(value: object) -> str:
    """Returns a text that also tells mappings of another order apart: nodes have their addresses by it."""
    return json.dumps(value, default=str)


def _digest(*parts: str) -> str:
    digest = hashlib.sha256()
    for text in parts:
        digest.update(hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()[:_ID_DIGITS]
