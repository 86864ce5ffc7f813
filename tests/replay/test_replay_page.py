"""The page of `tooling replay` in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.axe import axe
from tests.machine import needs_simulated_gpu
from tests.replay.recorded import cells_after, edited, embedded, replay
from tests.replay.test_replay import MISSING_BARRIER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.mojo,
    needs_simulated_gpu,
]
_VALUES = """buffer => [...[...document.querySelectorAll('.buffer')]
    .find(one => one.querySelector('h3').firstChild.textContent === buffer)
    .querySelectorAll('.cells button > span')].map(one => one.textContent)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("replays")
    found = {name: folder / f"{name}.html" for name in ("reduction", "race")}
    replay("p15", "--solution", "--html", str(found["reduction"]))
    source = edited("p12", MISSING_BARRIER, MISSING_BARRIER.replace("    barrier()\n", ""), folder)
    replay(source, "--html", str(found["race"]), "--lang", "ko")
    return found


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A new window; an error in its console, or a request to a network, fails the test."""
    complaints: list[str] = []
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "request",
        lambda request: None if request.url.startswith("file:") else complaints.append(request.url),
    )
    yield opened
    context.close()
    assert complaints == []


def test_a_reduction_is_stepped_through_by_keys(page: Any, pages: dict[str, Path]) -> None:
    page.goto(pages["reduction"].as_uri())
    trace = embedded(pages["reduction"])["trace"]
    assert page.inner_text("#count") == "step 1 of 38"
    barriers = [number for number, step in enumerate(trace["steps"]) if step["kind"] == "barrier"]
    assert len(barriers) == 7
    for number in barriers:
        page.keyboard.press("PageDown")
        assert page.inner_text("#count") == f"step {number + 1} of 38"
        assert page.evaluate(_VALUES, "cache") == [
            str(value) for value in cells_after(trace, number)[0].values()
        ]
        assert page.locator(".lanes .active").count() == 8
        assert page.inner_text("#source [aria-current] b") == str(trace["steps"][number]["line"])
    assert page.evaluate(_VALUES, "cache") == ["15", "9", "2", "3", "4", "5", "0", "0"]
    page.keyboard.press("End")
    assert page.evaluate(_VALUES, "output") == ["15", "51", "87", "123"]
    assert page.inner_text("#says") == "The launch has ended: other blocks have changed output."
    page.keyboard.press("Home")
    assert page.evaluate(_VALUES, "cache") == ["·"] * 8
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#count") == "step 3 of 38"
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-label") == "Pause"
    page.wait_for_function("document.getElementById('count').textContent === 'step 5 of 38'")
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-label") == "Play"


def test_divergent_threads_are_shown_apart(page: Any, pages: dict[str, Path]) -> None:
    page.goto(pages["reduction"].as_uri())
    says = embedded(pages["reduction"])["says"]
    index = says.index("Line 50: threads 0–3 read cache[4–7].")
    page.evaluate(f"show({index})")
    assert page.inner_text("#source .now .at") == "Threads 0–3"
    assert page.inner_text("#source .other:not(.now) .at") == "Threads 4–7"
    assert page.locator(".lanes .active span").all_inner_texts() == ["← 4", "← 5", "← 0", "← 0"]
    cell = page.locator(".buffer", has_text="cache").locator("button").nth(4)
    cell.click()
    written = says.index("Line 38: threads 0–7 write cache[0–7].") + 1
    assert page.inner_text("#detail") == (
        f"cache[4]: 4; written by thread 4 in step {written}; last read by threads 0 in step {index + 1}"
    )


def test_a_finding_opens_first_and_leads_to_both_parties(page: Any, pages: dict[str, Path]) -> None:
    page.goto(pages["race"].as_uri())
    mark = embedded(pages["race"])["trace"]["marks"][0]
    assert page.get_attribute("html", "lang") == "ko"
    assert page.inner_text("#count") == f"{mark['step'] + 1}/44단계"
    assert page.inner_text(".mark h2") == f"지적: {mark['what']}"
    assert page.locator(".lanes .accused b").all_inner_texts() == ["0", "4"]
    assert page.locator(".cells .accused").count() == 1
    assert page.locator("#source .accused b").all_inner_texts() == ["35", "46"]
    page.locator(".mark nav button").first.click()
    assert page.inner_text("#count") == f"{mark['parties'][1]['step'] + 1}/44단계"
    assert page.inner_text("#source .now b") == "35"


@pytest.mark.parametrize("name", ["reduction", "race"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(
    page: Any, pages: dict[str, Path], name: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(pages[name].as_uri())
    for step, width in ((0, 360), (9, 768), (12, 1440), (37, 390)):
        page.evaluate(f"show({step})")
        for each in (360, 390, 768, 1024, 1440, width):
            page.set_viewport_size({"width": each, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= each
        found = axe.Axe().run(page).response["violations"]
        assert [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]] == []
