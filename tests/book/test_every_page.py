"""Every page of the site at three widths, in both themes and languages: accessible, whole and readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.axe import axe
from tooling.book.summary import read_summary

ROOT = Path(__file__).resolve().parents[2]
PAGES = [entry.page for entry in read_summary(ROOT / "book" / "src")]
WIDTHS = (1440, 1024, 360)
AA = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"],
    "resultTypes": ["violations"],
}
"""The rules of WCAG at levels A and AA, of any impact."""
FIRST_TIER = {"cover.html", "404.html", "puzzle_23/tile.html", "ko/puzzle_22/backward_pass.html"}
"""A page of each kind; the other pages belong to the second tier."""

_MEASURE = Path(__file__).with_name("measure_page.js").read_text(encoding="utf-8")


def cases() -> list[Any]:
    pages = [*PAGES, *(f"ko/{page}" for page in PAGES), "404.html", "print.html", "ko/print.html"]
    return [pytest.param(page, marks=() if page in FIRST_TIER else pytest.mark.slow) for page in pages]


def open_whole(page: Any, address: str) -> None:
    """Opens a page, its folds and all its tabs."""
    page.goto(address, wait_until="load")
    page.evaluate("""async () => {
        document.querySelectorAll("details").forEach(fold => { fold.open = true; });
        document.querySelectorAll(".tab-panel, .variants > div").forEach(part => { part.hidden = false; });
        await document.fonts.ready;
    }""")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", cases())
def test_a_page_is_accessible_whole_and_readable(page: Any, address: str, path: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    open_whole(page, address + path)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("dispatchEvent(new Event('resize'))")
        assert page.evaluate(_MEASURE, width) == [], width
        if path.endswith("print.html") or width == 1024:
            continue  # its chapters are those of the pages; 1024 px show nothing that 1440 px do not
        found = axe.Axe().run(page, options=AA).response["violations"]
        assert [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]] == [], width


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", ["cover.html", "puzzle_12/puzzle_12.html", "ko/puzzle_34/puzzle_34.html"])
def test_menus_close(page: Any, address: str, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address + path, wait_until="load")
    menu, sidebar = page.locator(".menu-button"), page.locator("#sidebar")
    if menu.is_visible():
        for close in (".sidebar-close", ".curtain", "Escape"):
            menu.click()
            assert sidebar.is_visible()
            if close == ".curtain":
                page.mouse.click(width - 4, 500)
            elif close == "Escape":
                page.keyboard.press(close)
            else:
                page.locator(close).click()
            page.wait_for_function(
                "() => !document.querySelector('#sidebar.open') && document.querySelector('.curtain').hidden"
            )
    else:
        assert sidebar.is_visible()
    search = page.locator("dialog.search")
    for way in ("button", "beside", "Escape"):
        page.locator(".search-button").click()
        search.wait_for(state="visible")
        if way == "button":
            search.locator("button").first.click()
        elif way == "beside":
            page.mouse.click(width / 2, 890)
        else:
            page.keyboard.press(way)
        search.wait_for(state="hidden")
