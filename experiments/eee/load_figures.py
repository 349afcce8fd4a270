"""Figures 4.11 to 4.13 of the thesis (EEE over CPU load), figure 2 of the EEE paper (power over load)."""

from eeon_experiments.report.alternatives import EEE, EEE_COLOURS, RUNTIME
from eeon_experiments.report.captions import Figures
from eeon_experiments.report.drawing import BASELINE, Curve, Drawing, Panel, Series, paper
from eeon_experiments.report.runs import Chosen, Metric, Runs
from eeon_experiments.results import Row, Spread

from . import closed_forms, load_claims

figure = Figures(__file__)

_LOADED = ("standard", "12us10_10g", "120us100_10g", "1ms1000_10g")
_COALESCING = ("12us10", "120us100")
_PAPER = {"eee-load-runtime": (paper(1.2, "1ms1000 at 5 % load, +20 %"),)}
_AT_FULL_POWER = (paper(50, "Standard EEE at 10 %, about 50 %"), paper(70, "at 20 %, 70 %", "--"))


def load_drawings(runs: Runs) -> list[Drawing]:
    """Returns the drawings of the load sweep and of the power curve."""
    return [*_load_sweep(runs.where(scenario="terasort_24", stall=None, delay=None, rho=None)), _power(runs)]


def energy_delay(run: Row, column: str = "energy_10g_used_joules") -> float | None:
    """Returns energy times runtime in joule seconds."""
    energy, runtime = run.number(column), run.number(RUNTIME)
    return None if energy is None or runtime is None else energy * runtime


def _ideal_energy_delay(run: Row) -> float | None:
    return energy_delay(run, "energy_10g_ideal_joules")


def _load_sweep(runs: Runs) -> list[Drawing]:
    loads = sorted((value for value in runs.values("load") if value.isdigit()), key=int)
    settings = [eee for eee in _LOADED if eee in runs.values("eee")]

    def series(metric: Metric, ideal: Metric | None) -> list[Series]:
        def relative(eee: str, load: str) -> Spread | None:
            base: dict[str, Chosen] = {"eee": "standard", "load": load}
            if eee == "ideal":
                return None if ideal is None else runs.quotient(ideal, metric, **base)
            return runs.ratio(metric, base, **{**base, "eee": eee})

        found = []
        for eee in (*settings, "ideal"):
            name = eee.removesuffix("_10g")
            found.append(Series(EEE[name], [relative(eee, load) for load in loads], EEE_COLOURS[name]))
        return found

    metrics: tuple[tuple[str, Metric, Metric | None], ...] = (
        ("eee-load-runtime", RUNTIME, None),
        ("eee-load-energy", "energy_10g_used_joules", "energy_10g_ideal_joules"),
        ("eee-load-product", energy_delay, _ideal_energy_delay),
    )
    found = []
    for name, metric, ideal in metrics:
        rules = [BASELINE, *_PAPER.get(name, ())]
        numeric = [float(load) for load in loads]
        found.append(figure(name, [Panel("", loads, series(metric, ideal), rules=rules, numeric=numeric)]))
    return found


def _power_percent(run: Row) -> float | None:
    power = load_claims.loaded_power(run)
    return None if power is None else 100 * power


def _power(runs: Runs) -> Drawing:
    points = runs.where(scenario="poisson", stall=None, delay=None, load=None)
    loads = sorted((value for value in points.values("rho") if value.isdigit()), key=int)
    fine = [percent / 2 for percent in range(1, 199)]
    series, curves = [], []
    for eee in ("standard", *_COALESCING, "ideal"):
        colour, name = EEE_COLOURS[eee], f"{EEE[eee]}, closed form" if eee != "ideal" else "ideal"
        if eee != "ideal":
            values = [points.spread(_power_percent, eee=eee, rho=rho) for rho in loads]
            series.append(Series(f"{EEE[eee]}, measured", values, colour, dashes=""))
        closed = [100 * _closed(eee, int(rho) / 100) for rho in loads]
        exact = [Spread(value, value, value, 1) for value in closed]
        series.append(Series(name, exact, colour, reference=True))
        curves.append(
            Curve(
                name,
                fine,
                [100 * _closed(eee, x / 100) for x in fine],
                colour,
                ":" if eee == "ideal" else "-",
            )
        )
    panel = Panel(
        "10GBASE-T, frames of 1500 bytes",
        loads,
        series,
        rules=_AT_FULL_POWER,
        numeric=[float(load) for load in loads],
        curves=curves,
    )
    return figure("eee-power", [panel])


def _closed(eee: str, load: float) -> float:
    return closed_forms.ideal(load) if eee == "ideal" else load_claims.closed_form(eee, load)
