"""E9 and E10: EEE and coalescing over load, of the cores (thesis 4.3.3.4) and of one link (Christensen et al.
2010)."""

from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise

from eeon_experiments.claims.model import (
    Check,
    Checks,
    Missing,
    Point,
    change,
    compare,
    each,
    percent,
    share,
    within,
)
from eeon_experiments.results import Results, Row, Spread

from . import closed_forms
from .points import point

_LOADS = ("5", "10", "25", "40", "55")
_HELD = ("12us10_10g", "120us100_10g", "1ms1000_10g")
_SETTINGS = ("standard", *_HELD)
_NEEDED = ("standard", "120us100_10g", "1ms1000_10g")
_MEASURED = ("standard", "12us10", "120us100")
"""E10's settings."""
_FRAME_BYTES = 1500
"""Size of E10's frames in bytes, including preamble, FCS and gap."""


def e9(results: Results) -> Checks:
    slowed: dict[str, Spread] = {}
    best: dict[str, str] = {}
    numbers: dict[str, float] = {}
    for load in _LOADS:
        at = {eee: point("terasort_24", "shallow", eee=eee, load=load) for eee in _SETTINGS}
        try:
            slowed[load] = change(results, "runtime_seconds", at["1ms1000_10g"], at["standard"])
            products = _energy_delay(results, at, _NEEDED)
        except Missing:
            continue
        with suppress(Missing):  # not every load has this setting
            products |= _energy_delay(results, at, ("12us10_10g",))
        best[load] = min(products, key=lambda eee: products[eee])
        numbers[f"runtime_1ms1000_at_{load}"] = slowed[load].mean
        numbers |= {
            f"energy_delay_{eee}_at_{load}": product / products["standard"]
            for eee, product in products.items()
            if eee != "standard"
        }
    low, high = [load for load in slowed if int(load) < 10], [load for load in slowed if int(load) >= 40]
    if not low or not high:
        raise Missing("runs below 10 % and from 40 % load on")
    above = [load for load in best if int(load) > 10]
    shown = {f"{load} % load": one for load, one in slowed.items()}
    rising = slowed[low[0]].mean > slowed[high[0]].mean
    return Checks(
        [
            within(slowed[low[0]], 0.10, 0.40, f"1ms1000: runtime at {low[0]} % load"),
            Check(
                f"1ms1000: runtime {each(shown)}", rising and all(slowed[load].mean <= 0.05 for load in high)
            ),
            Check(
                "least energy-delay product of 10GbE: "
                + ", ".join(f"{load} % load {_name(eee)}" for load, eee in best.items()),
                all(best[load] == "1ms1000_10g" for load in above)
                and all(best[load] == "120us100_10g" for load in low),
            ),
        ],
        numbers,
    )


def _energy_delay(results: Results, at: dict[str, Point], settings: Iterable[str]) -> dict[str, float]:
    columns = ("energy_10g_used_joules", "runtime_seconds")
    return {
        eee: compare(results, columns, (at[eee], at[eee]), lambda joules, seconds: joules * seconds).mean
        for eee in settings
    }


def _name(eee: str) -> str:
    return eee.removesuffix("_10g")


def loaded_power(row: Row) -> float | None:
    """Returns the power of E10's loaded 10GBASE-T transmitter as a share of full power; None without numbers.

    The row has two 10GbE transmitters: this one, and the sink's, which sends nothing and sleeps all the time.
    """
    used, legacy = row.number("energy_10g_used_joules"), row.number("energy_10g_legacy_joules")
    if not used or not legacy:
        return None
    return 2 * used / legacy - closed_forms.LPI_POWER


def closed_form(eee: str, load: float) -> float:
    """Returns the result of the closed forms for E10's settings at a load from 0 to 1."""
    if eee == "standard":
        return closed_forms.standard(load, _FRAME_BYTES)
    timer, count = {"12us10": (12e-6, 10), "120us100": (120e-6, 100)}[eee]
    return closed_forms.coalescing(load, _FRAME_BYTES, timer, count)


def e10(results: Results) -> Checks:
    power: dict[tuple[str, str], Spread] = {}
    for rho in ("1", "5", "10", "20", "30", "50", "70", "90"):
        for eee in _MEASURED:
            rows = results.select(**point("poisson", "deep", None, eee=eee, rho=rho)).finished
            found = [value for row in rows if (value := loaded_power(row)) is not None]
            if found:
                power[eee, rho] = Spread.of(found)
    for rho in ("10", "20"):
        for eee in _MEASURED:
            if (eee, rho) not in power:
                raise Missing(f"{eee} at {rho} % of 10 Gbps")
    worst = max(abs(one.mean / closed_form(eee, int(rho) / 100) - 1) for (eee, rho), one in power.items())
    middle = [rho for rho in ("10", "20", "30", "50") if all((eee, rho) in power for eee in _MEASURED)]
    curves = {rho: [power[eee, rho].mean for eee in _MEASURED] for rho in middle}
    ordered = all(
        high > low
        for rho, means in curves.items()
        for high, low in pairwise([*means, closed_forms.ideal(int(rho) / 100)])
    )
    at_ten = {eee: power[eee, "10"] for eee in _MEASURED}
    return Checks(
        [
            within(power["standard", "10"], 0.4, 0.6, "Standard EEE at 10 % load, of full power", share),
            within(power["standard", "20"], 0.6, 0.8, "Standard EEE at 20 %", share),
            Check(
                f"at 10 %: {each(at_ten, share)}, ideal {share(closed_forms.ideal(0.1))}; the same order at "
                f"{', '.join(middle)} %",
                ordered,
            ),
            Check(f"largest deviation from the closed forms {percent(worst)}", worst <= 0.02),
        ],
        {f"{eee}_at_{rho}": one.mean for (eee, rho), one in power.items()} | {"off_theory": worst},
    )
