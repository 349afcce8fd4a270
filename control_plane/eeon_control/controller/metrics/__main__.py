"""`python -m eeon_control.controller.metrics` prints the catalogue as a table in Markdown."""

from eeon_control.controller.metrics.catalog import as_markdown

print(as_markdown(), end="")
