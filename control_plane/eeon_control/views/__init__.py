"""What `eeon show` shows, one view a file, as rows of plain values. Pure: readings in, rows out."""

from eeon_control.views.change import elapsed_ps, nonzero, rates, restarted, since
from eeon_control.views.counters import DROPS, counters
from eeon_control.views.ecn import ecn, with_mark_share
from eeon_control.views.eee import REGISTERS as EEE_REGISTERS
from eeon_control.views.eee import eee
from eeon_control.views.energy import REGISTERS as ENERGY_REGISTERS
from eeon_control.views.energy import energy
from eeon_control.views.fabric import fabric
from eeon_control.views.filters import Filter, counted, only, only_if, ordered, other_than
from eeon_control.views.path import path
from eeon_control.views.pfc import pfc
from eeon_control.views.ports import finished as ports_finished
from eeon_control.views.ports import ports
from eeon_control.views.qcn import qcn
from eeon_control.views.queues import REGISTERS as QUEUE_REGISTERS
from eeon_control.views.queues import queues
from eeon_control.views.routes import PlannedRoutes, routes
from eeon_control.views.selection import Selection, select
from eeon_control.views.table import Column, Row, View
from eeon_control.views.top import REGISTERS as TOP_REGISTERS
from eeon_control.views.top import top

__all__ = [
    "Column",
    "DROPS",
    "EEE_REGISTERS",
    "ENERGY_REGISTERS",
    "Filter",
    "PlannedRoutes",
    "QUEUE_REGISTERS",
    "Row",
    "Selection",
    "TOP_REGISTERS",
    "View",
    "counted",
    "counters",
    "ecn",
    "eee",
    "elapsed_ps",
    "energy",
    "fabric",
    "nonzero",
    "only",
    "only_if",
    "ordered",
    "other_than",
    "path",
    "pfc",
    "ports",
    "ports_finished",
    "qcn",
    "queues",
    "rates",
    "restarted",
    "routes",
    "select",
    "since",
    "top",
    "with_mark_share",
]
