"""Drawings as SVG: small, and whole in themselves."""

from __future__ import annotations

import io
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib", reason="tools[plots] is not installed")

from eeon_tools import svg


def figure():
    with svg.styled():
        drawn = svg.new_figure(4, 3)
        axis = drawn.subplots()
        axis.bar(range(4), [1.23456789, 2, 3, 4], hatch="//", label="bars < & >")
        axis.plot(range(4), [4, 3, 2, 1], marker="o", label="a line")
        axis.set_xticks(range(4), ["12us10", "120us100", "1ms1000", "none"], rotation=35)
        drawn.legend()
    return drawn


def test_a_drawing_has_every_part_that_it_refers_to_and_every_class_that_it_uses():
    text = svg.document(figure())
    root = ElementTree.fromstring(text)
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([\w-]+)', text)) == set(ids)
    assert {one.get("class") for one in root.iter() if one.get("class")} == set(
        re.findall(r"\.(s[0-9a-f]{8}){", text)
    )


def test_a_drawing_says_what_matplotlib_says_in_half_of_the_bytes():
    buffer = io.StringIO()
    with svg.styled():
        figure().savefig(buffer, format="svg")
    plain, text = buffer.getvalue(), svg.document(figure())
    assert len(text) < len(plain) / 2
    words = [
        [one.text for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        for text in (plain, text)
    ]
    assert words[0] == words[1]
    assert {"12us10", "bars < & >"} < set(words[1])


def test_coordinates_are_those_of_matplotlib_to_a_hundredth_of_a_point():
    buffer = io.StringIO()
    with svg.styled():
        figure().savefig(buffer, format="svg")

    def numbers(text: str) -> list[float]:
        paths = ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}path")
        return [float(one) for path in paths for one in re.findall(r"-?[\d.]+", path.get("d", ""))]

    made, given = numbers(svg.document(figure())), numbers(buffer.getvalue())
    assert len(made) > 50
    assert made == pytest.approx(given, abs=0.0051)
