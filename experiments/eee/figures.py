"""Figure 2 of the EEE paper (power over load), and numbers of a run for the others."""

from functools import partial

from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import Curve, Drawing, Panel, Series, paper
from eeon_experiments.report.runs import Runs
from eeon_experiments.results import Row, Spread
from eeon_tools.svg import BLUE, GREEN, GREY, SKY

from . import closed_forms, load_claims

_SETTINGS = {
    "standard": ("Standard EEE", GREY),
    "12us10": ("12us10", SKY),
    "120us100": ("120us100", BLUE),
    "ideal": ("ideal", GREEN),
}
_AT_FULL_POWER = (paper(50, "Standard EEE at 10 %, about 50 %"), paper(70, "at 20 %, 70 %", "--"))


def _energy_delay(run: Row, column: str) -> float | None:
    """Returns energy times runtime in joule seconds."""
    energy, runtime = run.number(column), run.number("runtime_seconds")
    return None if energy is None or runtime is None else energy * runtime


NUMBERS = {
    "energy_delay": partial(_energy_delay, column="energy_10g_used_joules"),
    "ideal_energy_delay": partial(_energy_delay, column="energy_10g_ideal_joules"),
}


def _power_percent(run: Row) -> float | None:
    power = load_claims.loaded_power(run)
    return None if power is None else 100 * power


def drawings(runs: Runs) -> list[Drawing]:
    """Returns the power curve."""
    points = runs.where(scenario="poisson", stall=None, delay=None, load=None)
    loads = sorted((value for value in points.values("rho") if value.isdigit()), key=int)
    fine = [percent / 2 for percent in range(1, 199)]
    series, curves = [], []
    for eee, (setting, colour) in _SETTINGS.items():
        name = setting if eee == "ideal" else f"{setting}, closed form"
        if eee != "ideal":
            values = [points.spread(_power_percent, eee=eee, rho=rho) for rho in loads]
            series.append(Series(f"{setting}, measured", values, colour, dashes=""))
        exact = [Spread.of([100 * _closed(eee, int(rho) / 100)]) for rho in loads]
        series.append(Series(name, exact, colour, reference=True))
        closed = [100 * _closed(eee, x / 100) for x in fine]
        curves.append(Curve(name, fine, closed, colour, ":" if eee == "ideal" else "-"))
    panel = Panel(
        "10GBASE-T, frames of 1500 bytes",
        loads,
        series,
        rules=_AT_FULL_POWER,
        numeric=[float(load) for load in loads],
        curves=curves,
    )
    return [Figures(__file__)("eee-power", [panel])]


def _closed(eee: str, load: float) -> float:
    return closed_forms.ideal(load) if eee == "ideal" else load_claims.closed_form(eee, load)
