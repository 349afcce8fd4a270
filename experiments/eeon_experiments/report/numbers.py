"""The numbers of a drawing as a table."""

from eeon_experiments.report.blocks import Block, Paragraph, Table
from eeon_experiments.report.drawing import Drawing, Panel
from eeon_experiments.results import Spread

_ABSENT = "–"


def number(value: Spread | None, unit: str) -> str:
    """Returns a mean, with minimum and maximum if there are several seeds."""
    if value is None:
        return _ABSENT
    if value.seeds == 1:
        return unit.format(value.mean)
    return f"{unit.format(value.mean)} ({unit.format(value.low)} to {unit.format(value.high)})"


def drawing_table(drawing: Drawing) -> list[Block]:
    """Returns one table per panel: a row for each position, a column for each alternative."""
    blocks: list[Block] = []
    for panel in drawing.panels:
        title = ": ".join(text for text in (panel.title, panel.y_label or drawing.y_label) if text)
        if title:
            blocks.append(Paragraph(title))
        blocks.append(_table(drawing, panel))
    return blocks


def _table(drawing: Drawing, panel: Panel) -> Block:
    own = panel.unit or drawing.unit
    columns = [*((one, own) for one in panel.series), *((one, "{:.2f}") for one in panel.overlay)]
    if not columns:
        return Paragraph("Not measured.")
    head = [drawing.x_label, *(one.name for one, _ in columns)]
    rows = [
        [position, *(number(one.values[index], unit) for one, unit in columns)]
        for index, position in enumerate(panel.positions)
    ]
    # The axis already says that the baseline is 1 in every column; other rules are separate numbers.
    for rule in panel.rules:
        if rule.value != 1.0:
            rows.append([rule.name, own.format(rule.value), *[""] * (len(columns) - 1)])
    return Table(head, rows)
