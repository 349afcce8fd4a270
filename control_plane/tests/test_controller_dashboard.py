"""The Grafana dashboard and the alert rules: every expression is PromQL, of metrics and labels that exist."""

import json
import re
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from eeon_control.controller.metrics import CATALOG

FOLDER = Path(__file__).parents[1]
DASHBOARD = json.loads((FOLDER / "grafana" / "eeon.json").read_text())
RULES = yaml.safe_load((FOLDER / "prometheus" / "eeon.rules.yaml").read_text())

# The labels that Prometheus adds to every series.
_ADDED = {"instance", "job", "le"}


def panels() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def expressions() -> list[tuple[str, str]]:
    """Returns (place, expression) of all expressions."""
    found = [(f"panel {panel['title']}", target["expr"]) for panel in panels() for target in panel["targets"]]
    found += [(f"annotation {one['name']}", one["expr"]) for one in DASHBOARD["annotations"]["list"]]
    rules = [rule for group in RULES["groups"] for rule in group["rules"]]
    return found + [(f"alert {rule['alert']}", rule["expr"]) for rule in rules]


def parsed(expression: str) -> Any:
    """Replaces Grafana's variables by values."""
    text = re.sub(r"\$__(rate_)?interval", "1m", expression)
    return promql_parser.parse(text.replace("$switch", ".*").replace("$port", ".*"))


def selectors(expr: Any) -> list[Any]:
    """Yields all vector selectors in an expression."""
    match expr:
        case promql_parser.VectorSelector():
            return [expr]
        case promql_parser.MatrixSelector():
            return selectors(expr.vector_selector)
        case promql_parser.BinaryExpr():
            return selectors(expr.lhs) + selectors(expr.rhs)
        case promql_parser.Call():
            return [found for one in expr.args for found in selectors(one)]
        case promql_parser.NumberLiteral() | promql_parser.StringLiteral():
            return []
        case _:  # an aggregate, a subquery, and what is in parentheses or negative
            return selectors(expr.expr)


def labels_in(expression: str) -> set[str]:
    """Returns the label names in grouping clauses, which promql_parser returns in several forms."""
    clauses = re.findall(r"\b(?:by|on|group_left|ignoring|without) *\(([^)]*)\)", expression)
    return {label.strip() for clause in clauses for label in clause.split(",") if label.strip()}


def family_of(name: str):
    of_series = CATALOG.get(re.sub("_(bucket|sum|count)$", "", name))
    return CATALOG.get(name) or (of_series if of_series and of_series.kind == "histogram" else None)


@pytest.mark.parametrize(("where", "expression"), expressions())
def test_expression_is_promql_of_metrics_and_labels_that_the_exporter_has(where, expression):
    found = selectors(parsed(expression))
    assert found, f"{where} names no metric"
    known: set[str] = set(_ADDED)
    for selector in found:
        family = family_of(selector.name)
        assert family is not None, f"{where}: the exporter has no {selector.name}"
        known |= set(family.labels)
        matched = {matcher.name for matcher in selector.matchers.matchers}
        assert matched <= {*family.labels, *_ADDED}, f"{where}: {selector.name} has no label {matched}"
    assert labels_in(expression) <= known, where


@pytest.mark.parametrize(("where", "expression"), expressions())
def test_counters_are_only_used_as_rates(where, expression):
    """A counter's value alone is meaningless: without a rate, a panel shows a line that only rises."""
    text = expression
    for call in re.findall(r"(?:rate|increase|changes)\([^()]*\)", expression):
        text = text.replace(call, "")
    left = [name for name in CATALOG if CATALOG[name].kind == "counter" and name in text]
    assert not left, f"{where}: {left} outside of rate() and increase()"


def test_every_metric_is_in_the_dashboard_or_the_alerts():
    shown = {selector.name for _, expression in expressions() for selector in selectors(parsed(expression))}
    families = {family_of(name).name for name in shown}
    # Time series that describe others, or that another one includes.
    only_for_queries = {
        "eeon_switch_restored_entries_total",
        "eeon_port_buffer_bytes",
        "eeon_port_occupancy_packets",
        "eeon_port_received_packets_total",
        "eeon_port_marked_bytes_total",
        "eeon_port_dropped_bytes_total",
    }
    assert families | only_for_queries == set(CATALOG)


def test_panels_do_not_overlap_and_have_ids_of_their_own():
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert at["x"] + at["w"] <= 24 and not cells & taken, panel["title"]
        taken |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))


def test_dashboard_asks_for_its_data_source_instead_of_naming_one():
    uids = set(re.findall(r'"uid": "([^"]*)"', json.dumps(DASHBOARD["panels"])))
    assert uids == {"${datasource}"}


def test_alerts_say_what_is_wrong_and_how_bad_it_is():
    for group in RULES["groups"]:
        for rule in group["rules"]:
            assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("warning", "critical")
