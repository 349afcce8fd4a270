"""Prometheus metrics of `eeon controller run`.

`catalog` names them; `readings` reads the switches when somebody asks, but not more often than it should;
`families` turns what was read into samples, purely; `server` is the HTTP server.
"""

from eeon_control.controller.metrics.catalog import CATALOG, Family, Kind
from eeon_control.controller.metrics.server import MetricsServer

__all__ = ["CATALOG", "Family", "Kind", "MetricsServer"]
