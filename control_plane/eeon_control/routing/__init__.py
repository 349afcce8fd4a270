"""The paths of packets through the fabric, computed from the switches' routes. Pure.

walk = Walk(topology, {"leaf1": SwitchRoutes(...), ...}, topology.hosts["h1"], topology.hosts["h3"])
next(walk.paths(Flow.parse("tcp,40000,5000"))).switches          # ("leaf1", "spine2", "leaf2")
"""

from eeon_control.routing.flow_hash import Flow
from eeon_control.routing.links import LinksDown, RouteKey
from eeon_control.routing.table import ROUTE_TABLES, Route, SwitchRoutes, in_order_of_use
from eeon_control.routing.walk import Path, Walk

__all__ = [
    "Flow",
    "LinksDown",
    "Path",
    "ROUTE_TABLES",
    "Route",
    "RouteKey",
    "SwitchRoutes",
    "Walk",
    "in_order_of_use",
]
