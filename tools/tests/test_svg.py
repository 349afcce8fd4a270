"""Drawings as SVG: small and self-contained."""

import io
import re
from xml.etree import ElementTree

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
        re.findall(r"\.(n\d+){", text)
    )


def test_two_drawings_on_one_page_share_no_name():
    with svg.styled():
        other = svg.new_figure(4, 3)
        other.subplots().plot(range(4), [1, 3, 2, 4], marker="s")
    names = [set(re.findall(r'(?:id|class)="(\w+)"', svg.element(one))) for one in (figure(), other)]
    assert names[0] and names[1] and not names[0] & names[1]
    referred = re.findall(r'(?:url\(|href=")#(\w+)|}\.(\w+){', svg.element(other))
    assert {one or style for one, style in referred} == names[1]


def test_a_clip_path_stays_where_it_is_when_a_mark_is_moved():
    with svg.styled():
        drawn = svg.new_figure(4, 3)
        drawn.subplots().plot([2], [3], marker="o")
    [use] = ElementTree.fromstring(svg.document(drawn)).iter("{http://www.w3.org/2000/svg}use")
    assert use.get("clip-path") is None


def test_what_lets_see_what_is_below_stays_in_parts():
    def paths(alpha: float) -> int:
        with svg.styled():
            drawn = svg.new_figure(4, 3)
            drawn.subplots().bar(range(4), [1, 2, 3, 4], alpha=alpha)
        return svg.document(drawn).count("<path")

    assert paths(0.5) == paths(1.0) + 3


def test_a_drawing_says_what_matplotlib_says_in_a_third_of_the_bytes():
    buffer = io.StringIO()
    with svg.styled():
        figure().savefig(buffer, format="svg")
    plain, text = buffer.getvalue(), svg.document(figure())
    assert len(text) < len(plain) / 3
    words = [
        [one.text for one in ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}text")]
        for text in (plain, text)
    ]
    assert words[0] == words[1]
    assert {"12us10", "bars < & >"} < set(words[1])


def corners(text: str) -> list[complex]:
    """Returns the ends of lines in paths, outside of definitions."""
    root = ElementTree.fromstring(text)
    defined = {one for defs in root.iter("{http://www.w3.org/2000/svg}defs") for one in defs.iter()}
    found = []
    for path in root.iter("{http://www.w3.org/2000/svg}path"):
        # The background of the axes is invisible.
        if path in defined or path.get("style") == "fill: none":
            continue
        here = 0j
        for command, given in re.findall(r"([A-Za-z])([^A-Za-z]*)", path.get("d", "")):
            numbers = [float(one) for one in re.findall(r"-?[\d.]+", given)]
            match command:
                case "M" | "L":
                    here = complex(*numbers)
                case "H" | "h":
                    here = complex(numbers[0] + here.real * (command == "h"), here.imag)
                case "V" | "v":
                    here = complex(here.real, numbers[0] + here.imag * (command == "v"))
            found.append(here)
    return found


def test_coordinates_are_those_of_matplotlib_to_a_hundredth_of_a_point():
    buffer = io.StringIO()
    with svg.styled():
        figure().savefig(buffer, format="svg")
    made, given = corners(svg.document(figure())), corners(buffer.getvalue())
    assert len(given) > 50
    for corner in given:
        nearest = min(made, key=lambda one: abs(one - corner))
        assert max(abs((nearest - corner).real), abs((nearest - corner).imag)) < 0.00501
