"""States of a page in a real browser: on paper, under the contents, after a return, with a broken address."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow


def test_folds_are_open_on_paper_and_folded_again_after_printing(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/raw.html")
    page.evaluate("window.chooseTheme('dark')")
    folds = page.locator("article details:not(.on-page)")
    before = folds.evaluate_all("all => all.map(fold => fold.open)")
    contents = page.locator(".sidebar details[open]").count()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folds.evaluate_all("all => all.every(fold => fold.open)")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert folds.evaluate_all("all => all.map(fold => fold.open)") == before
    assert not all(before)
    assert page.locator(".sidebar details[open]").count() == contents
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("fragment", ["100%", "50%-off", "%E0%A4%A"])
def test_a_malformed_fragment_leaves_the_page_working(page: Any, address: str, fragment: str) -> None:
    page.goto(f"{address}puzzle_12/raw.html#{fragment}")
    page.locator(".theme-button").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.keyboard.press("/")
    page.locator(".search input").wait_for()


def test_the_focus_stays_in_open_contents(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 740})
    page.goto(f"{address}puzzle_12/raw.html")
    page.locator(".menu-button").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        where = page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('#sidebar')"
        )
        assert where, page.evaluate("document.activeElement.outerHTML")
    page.mouse.click(380, 400)  # on the curtain
    assert page.evaluate("document.activeElement.className") == "bar-button menu-button"
    assert not page.locator("main").evaluate("main => main.inert")


def test_open_contents_close_when_the_window_becomes_wide(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 768, "height": 1024})
    page.goto(f"{address}puzzle_12/raw.html")
    page.locator(".menu-button").click()
    page.set_viewport_size({"width": 1024, "height": 768})
    page.locator(".curtain").wait_for(state="hidden")
    page.locator(".theme-button").click()


def test_a_link_that_opens_elsewhere_does_not_move_this_tab(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_08/raw.html")
    page.evaluate("scrollTo(0, 2000)")
    with page.context.expect_page():
        page.locator(".switcher").click(modifiers=["Control"])
    page.goto(f"{address}puzzle_14/simple.html")
    assert page.evaluate("scrollY") == 0


def test_a_selection_of_text_and_code_is_without_the_button(page: Any, address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{address}puzzle_12/raw.html")
    page.locator(".copy").first.wait_for()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('article'))")
    page.keyboard.press("Control+C")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "problems/p12/p12.mojo" in copied
    assert "Copy" not in copied


def test_headings_that_are_not_shown_take_no_focus(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/raw.html")
    hidden = page.locator("h2:is(.opening, .answer) a.header")
    assert hidden.evaluate_all("all => all.map(link => link.tabIndex)") == [-1, -1]


@pytest.mark.parametrize("width", [390, 1280])
def test_the_replay_of_the_cover_opens_in_place_of_its_picture(page: Any, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}index.html")
    page.locator(".hero-picture a.replay").first.click()
    page.locator(".hero-picture .replay-dialog").wait_for()
    picture = page.locator(".hero-picture figure.drawn")
    assert picture.evaluate("figure => figure.getClientRects().length") == 0
    page.locator(".replay-dialog button").last.click()
    assert page.evaluate("document.activeElement.className") == "replay"


def test_a_page_that_the_browser_has_kept_shows_what_was_chosen_since(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/layout_tensor.html")
    page.evaluate("localStorage.setItem('theme', 'dark'); localStorage.setItem('tab:api', 'LayoutTensor')")
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("[data-tab-group=api] [aria-selected=true]").first.inner_text() == "LayoutTensor"


_LAST_LINES = """() => [...document.querySelectorAll("article :is(p, li)")].filter(
  text => text.style.paddingRight
).map(text => {
  const lines = () => {
    const range = document.createRange(), rights = new Map();
    range.selectNodeContents(text);
    const left = text.getBoundingClientRect().left, em = parseFloat(getComputedStyle(text).fontSize);
    for (const box of range.getClientRects()) {
      const line = Math.round((box.top + box.bottom) / 2 / 15);
      rights.set(line, Math.max(rights.get(line) || 0, box.right - left));
    }
    return [text.clientHeight, [...rights].sort((one, other) => one[0] - other[0]).at(-1)[1] / em];
  };
  const [high, last] = lines();
  text.style.paddingRight = "";
  const [before, short] = lines();
  return [high === before, last, short];
})"""


@pytest.mark.parametrize("width", [390, 1440])
def test_more_than_one_short_word_is_in_the_last_line_of_a_text(page: Any, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{address}puzzle_33/puzzle_33.html")
    page.wait_for_function("document.querySelector('article p[style*=padding-right]')")
    texts = page.evaluate(_LAST_LINES)
    assert texts
    assert [(same_height, last >= 4.7, short < 4.4) for same_height, last, short in texts] == [
        (True, True, True)
    ] * len(texts)


def test_lines_are_not_made_shorter_on_paper(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_33/puzzle_33.html")
    page.wait_for_function("document.querySelector('article p[style*=padding-right]')")
    page.emulate_media(media="print")
    text = page.locator("article p[style*=padding-right]").first
    assert text.evaluate("text => getComputedStyle(text).paddingRight") == "0px"
