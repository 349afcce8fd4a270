"""The page as one file: data, bokeh's script, and the page's own script and style; nothing is fetched."""

import json
import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from eeon_control.topology import SwitchRole, Topology

from eeon_tools.report import charts


def section(models: Sequence[dict[str, object]], topology: dict[str, object], explain: str | None) -> str:
    """Returns the interactive part: charts, packets, topology, ports and flows of these runs.

    `explain`: the command that explains a packet that the page does not have, with N for its number; None if
    there is none.
    """
    bokeh, script, element = charts.elements()
    data = json.dumps({"runs": models, "topology": topology, "explain": explain}, separators=(",", ":"))
    # A `<` in a script could end it.
    data = data.replace("<", "\\u003c")
    assets = files("eeon_tools.report") / "assets"
    own = (assets / "report.js").read_text(encoding="utf-8")
    body = (assets / "report.html").read_text(encoding="utf-8").replace("@CHARTS@", element)
    return "\n".join(
        [
            body,
            f'<script type="application/json" id="data">{data}</script>',
            bokeh,
            f"<script>{script}</script>",
            f"<script>{own}</script>",
        ]
    )


def layers(topology: Topology) -> dict[str, object]:
    """Returns the names of nodes from top to bottom, for the drawing: spines, leaves, hosts."""
    spines = [switch.name for switch in topology.switches.values() if switch.role is SwitchRole.SPINE]
    leaves = [switch.name for switch in topology.switches.values() if switch.role is not SwitchRole.SPINE]
    return {"layers": [layer for layer in (spines, leaves, list(topology.hosts)) if layer]}


def explain_command(trace: Path, topology: str) -> str:
    """Returns the command that explains a packet; the page's script inserts number and configuration."""
    return f"eeon explain {shlex.quote(str(trace))} -t {shlex.quote(topology)} {{config}} --packet {{packet}}"
