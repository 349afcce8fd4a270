"""The charts of the page, drawn by bokeh: the page's script fills in their data, port by port."""

from bokeh.embed import components
from bokeh.layouts import column
from bokeh.models import (
    BasicTicker,
    BoxZoomTool,
    ColumnDataSource,
    CrosshairTool,
    CustomJSTickFormatter,
    DataRange1d,
    HoverTool,
    NumeralTickFormatter,
    PanTool,
    Range1d,
    ResetTool,
    TapTool,
    WheelZoomTool,
)
from bokeh.models.annotations import Span
from bokeh.models.renderers import DataRenderer
from bokeh.plotting import figure
from bokeh.resources import INLINE, Resources

RUN_COLOURS = ("#2b8cc4", "#e08a00")
"""Colours of the first and the second run (after Okabe and Ito); the second's lines are also dashed."""
KINDS = (
    ("marked", "#c25b96", "triangle"),
    ("dropped early", "#d55e00", "x"),
    ("no room", "#d55e00", "square_x"),
    ("dropped", "#d55e00", "asterisk"),
    ("held", "#1a9e77", "circle"),
    ("paused", "#1a9e77", "diamond"),
)
"""Kinds of details: kind, colour, shape. The shapes distinguish them even without colours."""

_TIME = """
const ms = range.end >= 10000;
return (ms ? tick / 1000 : tick).toLocaleString("en-US", { maximumFractionDigits: 3 }) + (ms ? " ms" : " us");
"""
"""The label of a tick in microseconds: in milliseconds from 10 ms on."""


def elements() -> tuple[str, str, str]:
    """Returns bokeh's own script, the script of the charts, and the element in which they are drawn."""
    time = Range1d(start=0, end=1, name="time")
    depth = _chart("depth", "bytes in the queue", 290, time)
    for number, colour in enumerate(RUN_COLOURS):
        _step(depth, "depth", number, colour)
    for number in range(len(RUN_COLOURS)):
        for name, colour, dash in (("threshold", "#c25b96", "dotted"), ("buffer", "#d55e00", "dotdash")):
            line = Span(dimension="width", line_color=colour, line_dash=dash, visible=False)
            line.name, line.line_width, line.line_alpha = f"{name}{number}", 2, (1, 0.5)[number]
            depth.add_layout(line)
    points: list[DataRenderer] = []
    for kind, colour, shape in KINDS:
        columns = ("x", "y", "n", "why", "at", "time")
        source = ColumnDataSource({column: [] for column in columns}, name=f"points {kind}")
        drawn = depth.scatter("x", "y", source=source, marker=shape, size=9, color=colour, fill_alpha=0.55)
        points.append(drawn)
    tips = [("packet", "@n"), ("at", "@time"), ("why", "@why")]
    depth.add_tools(HoverTool(renderers=points, tooltips=tips), TapTool(renderers=points))
    counts = _chart("counts", "marks, drops", 130, time)
    for number in range(len(RUN_COLOURS)):
        for what, colour in (("marks", KINDS[0][1]), ("drops", KINDS[1][1])):
            _step(counts, what, number, colour)
    asleep = _chart("asleep", "asleep, %", 120, time)
    asleep.y_range = Range1d(start=0, end=100)
    for number, colour in enumerate(RUN_COLOURS):
        _step(asleep, "asleep", number, colour, width=1.4)
    asleep.xaxis.axis_label = "time since the start"
    script, element = components(
        column(depth, counts, asleep, sizing_mode="stretch_width"), wrap_script=False
    )
    bokeh = Resources(mode="inline", components=["bokeh"], version=INLINE.version)
    return bokeh.render_js(), script, element


def _step(chart: figure, name: str, number: int, colour: str, width: float = 1.6) -> None:
    """Draws the steps of run `number`, whose data the page's script fills in."""
    source = ColumnDataSource({"x": [], "y": []}, name=f"{name}{number}")
    dash = "dashed" if number else "solid"
    chart.step("x", "y", source=source, mode="after", color=colour, line_width=width, line_dash=dash)


def _chart(name: str, label: str, height: int, time: Range1d) -> figure:
    zoom = WheelZoomTool(dimensions="width", modifiers={"ctrl": True})
    box = BoxZoomTool(dimensions="width")
    tools = [PanTool(dimensions="width"), zoom, box, ResetTool(), CrosshairTool()]
    chart = figure(
        name=name,
        height=height,
        x_range=time,
        tools=tools,
        active_drag=box,
        sizing_mode="stretch_width",
        y_axis_label=label,
        toolbar_location="above" if name == "depth" else None,
        output_backend="canvas",
    )
    chart.toolbar.logo = None
    chart.background_fill_alpha = chart.border_fill_alpha = 0
    chart.outline_line_alpha = 0.3
    chart.grid.grid_line_alpha = 0.25
    chart.min_border_left = 76
    chart.xaxis.formatter = CustomJSTickFormatter(code=_TIME, args={"range": time})
    chart.xaxis.ticker = BasicTicker(desired_num_ticks=5)
    chart.yaxis.ticker = BasicTicker(min_interval=1)
    chart.yaxis.formatter = NumeralTickFormatter(format="0,0")
    if name != "asleep":
        chart.y_range = DataRange1d(start=0)
    return chart
