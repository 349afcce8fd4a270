"""Prometheus metrics of `eeon controller run`.

`catalog` lists them; `readings` reads the switches on a scrape, but not more often than its limit;
`families` makes rows of readings and families of rows, and is pure; `server` runs the HTTP server.
"""

from eeon_control.controller.metrics.catalog import CATALOG
from eeon_control.controller.metrics.server import MetricsServer

__all__ = ["CATALOG", "MetricsServer"]
