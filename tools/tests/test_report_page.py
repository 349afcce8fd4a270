"""The page in a real browser: it loads without errors, shows its numbers, zooms, and answers clicks."""

import shutil
from itertools import pairwise

import pytest

from control_plane.tests.eeon_command import eeon

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
TIMEOUT_MS = 240_000

pytestmark = [pytest.mark.system, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not on PATH")]


@pytest.fixture(scope="module")
def file(tmp_path_factory, incast):
    path = tmp_path_factory.mktemp("page") / "page.html"
    compared = ["--compare", "mark_threshold+eee_120us100", "--compare", "red_ect"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("eeon_tools.report.model.FLOWS", 2)
        eeon("replay", str(incast), *compared, "--html", str(path), code=0)
    return path


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, file):
    context = browser.new_context(viewport={"width": 400, "height": 900}, offline=True)
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
    yield page
    assert errors == []
    context.close()


def test_the_page_shows_the_numbers_of_its_data_without_a_network(page):
    marked = page.evaluate("eeon.data.runs[0].totals.marked")
    assert marked > 100
    row = page.locator("#totals tr", has_text="marked").first
    assert f"{marked:,}" in row.inner_text()
    deepest = page.evaluate("Math.max(...eeon.data.runs[0].ports.map((port) => port.deepest))")
    assert f"{deepest:,} B" in page.locator(".card").first.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400, "a phone need not scroll sideways"
    assert page.locator("#flows-key").inner_text() == "The 2 of 36 flows with the most marks and drops."
    assert page.locator("#flows tr").count() == 1 + 2
    assert page.evaluate("eeon.model('counts').left[0].ticker.min_interval") == 1, "no tick at half a mark"


def test_zoom_by_button_and_by_key(page):
    def width() -> float:
        return page.evaluate("eeon.model('time').end - eeon.model('time').start")

    before = width()
    page.get_by_role("button", name="Zoom in").click()
    assert width() == pytest.approx(before / 2)
    page.locator("#charts").focus()
    page.keyboard.press("+")
    assert width() == pytest.approx(before / 4)
    page.keyboard.press("Home")
    assert width() == pytest.approx(page.evaluate("eeon.data.runs[0].end_us"))


def test_a_mark_tells_its_queue_who_was_ahead_and_the_threshold_that_would_have_spared_it(page):
    page.get_by_role("button", name="First mark").click()
    text = page.locator("#detail").inner_text()
    queue = page.evaluate("eeon.data.runs[0].details.find((one) => one[3] === 'marked')[4]")
    assert f"A threshold of {queue:,} B or more would not have marked it (now 30,000 B)" in text
    assert "before it:" in text
    assert "--packet" in text
    # A click on a point of the chart shows the same text.
    page.evaluate("eeon.model('points held').selected.indices = [0]")
    assert "of it asleep" in page.locator("#detail").inner_text()


def test_a_packet_is_found_by_its_number_and_the_second_setting_has_its_own(page):
    number = page.evaluate("eeon.data.runs[1].details[0][0]")
    page.locator("#run-a").select_option("1")
    page.locator("#number").fill(str(number))
    page.get_by_role("button", name="Find").click()
    assert f"Packet {number:,}" in page.locator("#detail").inner_text()
    page.locator("#number").fill("99999999")
    page.get_by_role("button", name="Find").click()
    assert "-c red_ect --packet 99999999" in page.locator("#detail").inner_text()


def test_a_drawing_of_long_names_and_parallel_links_shows_each_of_them(page):
    page.evaluate("""() => {
      const { layers } = eeon.data.topology, { ports } = eeon.data.runs[0];
      const long = (name) => `frankfurt-row-12-rack-7-${name}`;
      eeon.data.topology.layers = layers.map((layer) => layer.map(long));
      for (const port of ports) [port.node, port.peer] = [long(port.node), long(port.peer)];
      ports.push({ ...ports.find((port) => !port.is_host) });
      document.querySelector("#port option").textContent = long(long(long("")));
    }""")
    page.locator("#metric").select_option("marks")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    lines = page.evaluate("""[...document.querySelectorAll('#topology line')].map((line) =>
        ['x1', 'y1', 'x2', 'y2'].map((name) => line.getAttribute(name)).join(' '))""")
    assert len(set(lines)) == len(lines) == page.evaluate("eeon.data.runs[0].ports.length")
    labels = page.evaluate("""[...document.querySelectorAll('#topology text')].map((text) => {
        const { x, y, width } = text.getBBox();
        return [y, x, x + width];
    })""")
    for (row, _, end), (next_row, start, _) in pairwise(sorted(labels)):
        assert row != next_row or end <= start
