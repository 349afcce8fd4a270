"""Reads the exporter's page like Prometheus."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

from eeon_control.controller.metrics import CATALOG
from eeon_control.controller.metrics.families import Row, families
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

Samples = dict[tuple[str, ...], float]


def parsed(text: str) -> Samples:
    """Returns (name, label values in the catalogue's order...) -> value, for the metrics of the catalogue."""
    found = {}
    for family in text_string_to_metric_families(text):
        known = CATALOG.get(family.name) or CATALOG.get(f"{family.name}_total")
        for one in family.samples if known is not None else []:
            values = [one.labels[label] for label in (*known.labels, "le") if label in one.labels]
            found[one.name, *values] = one.value
    return found


def exported(rows: Iterable[Row]) -> Samples:
    """Returns the page with some rows, by Prometheus's own parser."""
    return collected(SimpleNamespace(collect=lambda: families(rows)))


def collected(collector: Any) -> Samples:
    """Returns the page of a collector, by Prometheus's own parser."""
    return parsed(generate_latest(collector).decode())


def scrape(address: str) -> Samples:
    """Scrapes an exporter once. The time limit is far above the maximum duration of a scrape."""
    with urlopen(f"http://{address}/metrics", timeout=60) as answer:
        return parsed(answer.read().decode())
