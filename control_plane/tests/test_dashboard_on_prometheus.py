"""The dashboard's queries and the alert rules, on a real Prometheus that scrapes a real controller."""

import contextlib
import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from bmv2_process import free_port
from controller_process import ControllerProcess
from eeon_control import config, operations, state, topology
from revisions import done
from switch_processes import meant_for, running
from test_controller_dashboard import FOLDER, RULES, panels
from waiting import SECONDS, wait_until

pytestmark = pytest.mark.system

NEED_EVENTS = {"Applies", "Left to confirm", "Marked", "Drops by class"}
"""Panels with a line without data until an apply was finished or waits for a confirmation, or a packet was
marked or dropped."""
RATE_SECONDS = 8
CLASSES = {
    "profiles": {
        "pfc": {"lossless": {"limit": "100KB", "watchdog": {}}},
        "queue": {"fabric": {"qcn": {"set_point": "66KB", "classes": ["slow"]}}},
    },
    "classes": {
        "gold": {"priority": 3, "dscp": [26], "pfc": "lossless"},
        "slow": {"priority": 2, "dscp": [10]},
        "default": {"priority": 0},
    },
}
"""A watched lossless class and one with QCN, so that their panels have data."""


class Prometheus:
    """A Prometheus that scrapes `exporter` each second, with the rules of the repository."""

    def __init__(self, folder: Path, exporter: str) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        settings = folder / "prometheus.yml"
        content = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(FOLDER / "prometheus" / "eeon.rules.yaml")],
            "scrape_configs": [{"job_name": "eeon", "static_configs": [{"targets": [exporter]}]}],
        }
        with settings.open("w", encoding="utf-8") as file:
            yaml.safe_dump(content, file)
        self.log = folder / "prometheus.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [
                    *("prometheus", f"--config.file={settings}", f"--storage.tsdb.path={folder / 'data'}"),
                    f"--web.listen-address={self.address}",
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def get(self, path: str, **parameters: str) -> Any:
        """Returns the data of an answer of Prometheus' HTTP API."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{query}", timeout=30) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        return found["data"]

    def ask(self, expression: str) -> list[Any]:
        """Returns the present value of an expression of the dashboard."""
        text = re.sub(r"\$__(rate_)?interval", f"{RATE_SECONDS}s", expression)
        result: list[Any] = self.get("query", query=re.sub(r"\$(switch|port)\b", ".*", text))["result"]
        return result

    def has_rates(self) -> bool:
        """Returns whether it has three samples of the exporter."""
        assert self.process.poll() is None, self.log.read_text()
        with contextlib.suppress(OSError):  # It does not listen yet.
            return bool(self.ask("count_over_time(eeon_port_energy_joules_total[1m]) >= 3"))
        return False


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory) -> Iterator[Prometheus]:
    if shutil.which("prometheus") is None:
        pytest.skip("prometheus is not on PATH: install the package prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    fabric = topology.load("leaf-spine-4")
    store = state.StateStore.open(folder / "state")
    with running("engine", fabric) as switches:
        wanted = config.overridden(config.load("drop_tail"), CLASSES)
        done(store, operations.apply, meant_for(switches, fabric, wanted))
        with ControllerProcess(store.folder, "--metrics-address", "0") as controller:
            address = str(controller.wait_for("metrics")["address"])
            controller.wait_for_all("in_sync", list(switches))
            found = Prometheus(folder, address.removeprefix("http://").partition("/")[0])
            try:
                wait_until(found.has_rates, "no three samples of the exporter")
                yield found
            finally:
                found.process.kill()
                found.process.wait(timeout=SECONDS)


def test_every_panel_has_data(prometheus):
    without = {
        panel["title"]
        for panel in panels()
        for target in panel["targets"]
        if not prometheus.ask(target["expr"])
    }
    assert without <= NEED_EVENTS


def test_panels_that_need_events_are_those_that_have_no_data(prometheus):
    """Otherwise, the list above could hide a panel whose query is wrong."""
    by_title = {panel["title"]: panel["targets"] for panel in panels()}
    for title in NEED_EVENTS:
        assert not all(prometheus.ask(target["expr"]) for target in by_title[title]), title


def test_prometheus_takes_the_alert_rules_and_none_fires_while_all_is_well(prometheus):
    def rules() -> list[dict[str, Any]]:
        return [rule for group in prometheus.get("rules")["groups"] for rule in group["rules"]]

    wait_until(lambda: all(rule["health"] == "ok" for rule in rules()), "a rule that it does not take")
    wanted = {rule["alert"] for group in RULES["groups"] for rule in group["rules"]}
    assert {rule["name"] for rule in rules()} == wanted
    assert not [alert["labels"] for alert in prometheus.get("alerts")["alerts"]]
