"""The built site in a real browser: no errors, and every control works."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.axe import axe
from tests.book.web_server import serving
from tests.numbers import COUNT
from tooling.book.site.handler import Changes, Credentials, Handler, Reader
from tooling.book.site.serve import reader_of
from tooling.book.summary import read_summary
from tooling.learning.page_runs import PageRuns
from tooling.project import Project
from tooling.translations.parity.glossary import load as load_glossary

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = [entry.page for entry in read_summary(ROOT / "book" / "src")]
BOTH = [*PAGES, *(f"ko/{page}" for page in PAGES)]
# A telephone, and widths below and above each breakpoint of the layout.
WIDTHS = (360, 640, 767, 768, 900, 991, 992, 1024, 1247, 1248, 1280, 1312, 1440)
TAB = "[data-tab-group=package-manager] [role=tab]"


def open_folds(page: Any) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")


@pytest.mark.parametrize("path", BOTH)
def test_only_code_and_tables_are_scrolled_sideways(page: Any, address: str, path: str) -> None:
    page.goto(address + path, wait_until="load")
    open_folds(page)
    boxes = page.locator(".figure-scroll, .formula, .language-text:not(.columns), .tab-labels")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 740})
        wide = boxes.evaluate_all(
            "all => all.filter(box => box.scrollWidth > box.clientWidth)"
            ".map(box => box.innerHTML.slice(0, 200))"
        )
        assert wide == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_label_of_a_figure_is_cut_off(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/raw.html")
    cut = page.evaluate(
        """async paths => {
          await Promise.all([...document.fonts].map(font => font.load()));
          const cut = [];
          for (const path of paths) {
            const text = await (await fetch(new URL(path, location.origin))).text();
            const found = new DOMParser().parseFromString(text, 'text/html');
            const place = document.querySelector('article');
            place.replaceChildren(...found.querySelectorAll('figure.drawn'));
            for (const drawing of place.querySelectorAll('.figure-scroll svg')) {
              drawing.style.cssText = 'display: block; width: auto; max-width: none';
              const edge = drawing.getBoundingClientRect();
              for (const label of drawing.querySelectorAll('text')) {
                const box = label.getBoundingClientRect();
                if (Math.min(box.left - edge.left, edge.right - box.right) < -0.5
                    || box.top < edge.top - 3 || box.bottom > edge.bottom + 3)
                  cut.push(`${path}: ${label.textContent}`);
              }
            }
          }
          return cut;
        }""",
        BOTH,
    )
    assert cut == [], "\n".join(cut)


@pytest.mark.parametrize("width", [360, 1024, 1440])
def test_text_has_one_left_edge(page: Any, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}puzzle_04/raw.html")
    selectors = ("article > p", "article > h2 a", "td", "h1 .eyebrow", ".language-mojo", ".language-text")
    starts = page.evaluate(
        """selectors => selectors.map(selector => {
          const found = document.querySelector(`article :is(${selector})`);
          const range = document.createRange();
          const text = document.createTreeWalker(found, NodeFilter.SHOW_TEXT).nextNode();
          range.setStart(text, 0);
          range.setEnd(text, 1);
          return range.getBoundingClientRect().left;
        })""",
        selectors,
    )
    # Boxes of a narrow page are as wide as its text, and the numbers of lines are in them.
    inside, numbered = (0, 0) if width >= 768 else (16, 41)
    wanted = [starts[0]] * 3 + [starts[0] + inside, starts[0] + numbered, starts[0] + inside]
    assert starts == pytest.approx(wanted, abs=1)


@pytest.mark.parametrize(
    ("path", "heads"), [("puzzle_04/raw", "what|value"), ("ko/puzzle_04/raw", "항목|값")]
)
def test_heads_of_values_are_for_screen_readers(page: Any, address: str, path: str, heads: str) -> None:
    page.goto(f"{address}{path}.html")
    head = page.locator(".facts thead")
    assert "|".join(head.locator("th").all_text_contents()) == heads
    assert head.bounding_box()["height"] <= 1


def test_a_narrow_page_has_its_sections_in_a_fold_below_the_title(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/raw.html")
    fold = page.locator(".on-page")
    assert not fold.is_visible()  # they are in the margin
    page.set_viewport_size({"width": 390, "height": 740})
    assert fold.locator("summary").inner_text() == "On this page"
    fold.locator("summary").click()
    fold.get_by_text("Run it").click()
    assert urlsplit(page.url).fragment == "run-it"
    assert fold.get_attribute("open") is None
    page.goto(f"{address}index.html")
    assert page.locator(".on-page").count() == 0


def test_numbers_of_lines_are_beside_the_code_and_not_copied(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/raw.html")
    block = page.locator("article figure.code pre").first
    lines = block.evaluate(
        """pre => [...pre.querySelectorAll(".line")].map(line => {
          const number = getComputedStyle(line, "::before");
          return [number.content.slice(1, -1), number.display, line.textContent];
        })"""
    )
    source = (ROOT / "problems" / "p12" / "p12.mojo").read_text(encoding="utf-8").splitlines()
    assert {display for _, display, _ in lines} == {"block"}
    assert ("def dot_product(\n", source.index("def dot_product(") + 1) in [
        (text, int(number)) for number, _, text in lines
    ]
    copied = block.evaluate("""pre => {
        getSelection().selectAllChildren(pre.querySelector("code"));
        return getSelection().toString();
    }""")
    assert copied.rstrip() == "".join(text for _, _, text in lines).rstrip()
    assert "def dot_product(" in copied


@pytest.mark.parametrize("width", [390, 1440])
def test_lines_that_are_left_out_are_marked_in_the_first_column(page: Any, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{address}puzzle_33/puzzle_33.html")
    open_folds(page)
    block = page.locator("figure.changed pre").first
    marks = block.evaluate(
        """pre => [...pre.querySelectorAll(".left-out")].map(mark => {
          const row = mark.parentElement, box = element => element.getBoundingClientRect();
          const first = pre.querySelector(".line:not([style])"); // a line without indentation
          return [Math.abs(box(mark).left - box(first.firstElementChild).left),
                  box(row).height / box(row.nextElementSibling).height,
                  getComputedStyle(mark, "::before").content, getComputedStyle(row, "::before").content];
        })"""
    )
    assert len(marks) > 3
    assert all(aside < 1.5 and lines <= 1.1 for aside, lines, *_ in marks), marks
    # One mark, which is not read out.
    assert {tuple(contents) for _, _, *contents in marks} == {('"⋮" / ""', "none")}
    copied = block.evaluate("""pre => {
        getSelection().selectAllChildren(pre.querySelector("code"));
        return getSelection().toString();
    }""")
    assert "barrier()" in copied
    assert "⋮" not in copied


def test_a_single_short_word_in_the_last_line_has_the_word_before_it_with_it(page: Any, address: str) -> None:
    endings = {390: "one tile\N{NO-BREAK SPACE}down.", 1440: "one tile down."}
    page.goto(f"{address}puzzle_16/tiled.html")
    item = page.locator("article li", has_text="Two directions.")
    for width in (390, 1440, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(
            "([item, end]) => item.textContent.trim().endsWith(end)",
            arg=[item.element_handle(), endings[width]],
        )
        assert item.evaluate("item => item.style.paddingRight") == ""  # no line is shorter for it


@pytest.mark.parametrize("path", ["puzzle_01/raw", "ko/puzzle_26/warp_shuffle_xor", "index"])
def test_causes_are_at_the_right_of_values_where_both_have_room(page: Any, address: str, path: str) -> None:
    page.goto(f"{address}{path}.html")
    open_folds(page)

    def boxes() -> tuple[dict[str, float], dict[str, float]]:
        return tuple(page.locator(f".judged-values > {part}").first.bounding_box() for part in ("div", "dl"))

    for width in (660, 900, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        values, causes = boxes()
        assert causes["x"] > values["x"] + values["width"]
        assert causes["y"] == pytest.approx(values["y"], abs=1)
    page.set_viewport_size({"width": 390, "height": 800})
    values, causes = boxes()
    assert causes["x"] == pytest.approx(values["x"], abs=1)
    assert causes["y"] > values["y"] + values["height"]


def test_the_cover_shows_a_right_answer_beside_the_wrong_one(page: Any, address: str) -> None:
    page.goto(f"{address}index.html")
    wrong, right = page.locator(".first-run .judged").all()
    line = page.locator(".corrected .line").inner_text()
    assert line.strip() == "output[unsafe_offset=i] = a[unsafe_offset=i] + 10"
    assert right.locator(".sign-good").count() == 1
    below, above = right.bounding_box(), wrong.bounding_box()
    assert below["x"] > above["x"] + above["width"]
    corrected, drawing = (
        page.locator(f".first-run {part}").bounding_box() for part in (".corrected", "figure.drawn")
    )
    assert 24 <= corrected["y"] - (drawing["y"] + drawing["height"]) <= 56
    for width in (960, 1184):  # stacked below, beside each other from there on
        page.set_viewport_size({"width": width, "height": 800})
        code = page.locator(".first-run pre > code")
        assert code.evaluate_all("all => all.filter(one => one.scrollWidth > one.clientWidth).length") == 0


def test_code_wraps_on_a_phone_and_a_line_goes_on_further_in(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"{address}puzzle_34/cluster_coordination_basics.html")
    wide, hanging = page.evaluate(
        """() => {
          const shown = [...document.querySelectorAll(".language-mojo")].filter(code => code.clientWidth);
          const letter = document.createRange(), lines = [...shown[0].querySelectorAll(".line")];
          const text = node => document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
          const long = lines.find(line => line.textContent.startsWith("    output:"));
          const walker = text(long), lefts = [];
          while (walker.nextNode()) {
            letter.selectNodeContents(walker.currentNode);
            lefts.push(...[...letter.getClientRects()].map(box => [Math.round(box.top), box.left]));
          }
          const tops = [...new Set(lefts.map(([top]) => top))];
          const of = top => lefts.filter(each => each[0] === top).map(each => each[1]);
          const starts = tops.map(top => Math.min(...of(top)));
          return [shown.map(code => code.scrollWidth - code.clientWidth), starts];
        }"""
    )
    assert set(wide) == {0}
    assert len(hanging) > 1
    assert hanging[1] > hanging[0] + 40  # the first line begins with four spaces


def test_a_line_that_is_wider_than_its_box_goes_on_four_letters_further_in(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1000, "height": 800})
    page.goto(f"{address}puzzle_33/puzzle_33.html")
    letters_further = page.evaluate(
        """() => {
          const line = [...document.querySelectorAll(".language-mojo .line")].find(
            line => line.clientHeight > 1.5 * parseFloat(getComputedStyle(line).lineHeight));
          const letters = document.createRange();
          letters.selectNodeContents(line);
          const boxes = [...letters.getClientRects()].filter(box => box.width && box.left);
          const first = Math.min(...boxes.map(box => box.top)), last = Math.max(...boxes.map(box => box.top));
          const left = top => Math.min(...boxes.filter(box => box.top === top).map(box => box.left));
          const space = line.textContent.search(/\\S/);
          letters.setStart(line.firstChild.firstChild || line.firstChild, space);
          letters.setEnd(line.firstChild.firstChild || line.firstChild, space + 1);
          return (left(last) - left(first)) / letters.getBoundingClientRect().width;
        }"""
    )
    assert letters_further == pytest.approx(4, abs=0.3)


def test_tabs_by_mouse_and_memory(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    assert page.locator(f"{TAB}[aria-selected=true]").inner_text() == "uv"
    page.locator(TAB, has_text="no GPU").click()
    shown = page.locator("[role=tabpanel] code:visible", has_text="uv run tooling run p15")
    assert shown.all_inner_texts() == ["uv run tooling run p15_tile_tensor --target sim\n"]
    page.goto(f"{address}puzzle_23/tile.html")
    assert page.locator(f"{TAB}[aria-selected=true]").inner_text() == "no GPU"
    page.goto(f"{address}ko/puzzle_12/raw.html")
    assert page.locator(f"{TAB}[aria-selected=true]").inner_text() == "GPU 없음"


def test_tabs_by_keyboard(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    page.locator(TAB).first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "no GPU"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == "pixi Apple"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "uv"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "tabpanel"


API = "[data-tab-group=api] [role=tab]"


@pytest.mark.parametrize(
    ("path", "tab", "program"),
    [
        ("puzzle_12/layout_tensor.html", "LayoutTensor", "p12_layout_tensor"),
        ("puzzle_15/puzzle_15.html", "raw", "p15_raw"),
        ("ko/puzzle_23/tile.html", "LayoutTensor", "p23"),
        ("puzzle_34/cluster_coordination_basics.html", "LayoutTensor", "p34"),
    ],
)
def test_the_open_tab_decides_command_and_output(
    page: Any, address: str, path: str, tab: str, program: str
) -> None:
    """Open a tab, copy the command: it runs the file that the tab shows, and the page shows its output."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(address + path)
    for label, name in (("TileTensor", f"{program[:3]}_tile_tensor"), (tab, program)):
        page.locator(API, has_text=label).first.click()
        file = page.locator("a.filename:visible").first.inner_text()
        assert file.endswith(f"/{name}.mojo")
        page.locator(TAB, has_text="uv").first.click()
        command = page.locator("[data-tab-group=package-manager] pre:visible").first
        command.hover()
        command.locator(".copy").click()
        copied = page.evaluate("navigator.clipboard.readText()").split()
        assert copied[:5] == ["uv", "run", "tooling", "run", name]
        flags = "".join(f".{flag.removeprefix('--')}" for flag in copied[5:])
        recorded = json.loads((ROOT / "tests/data/outputs" / program[:3] / "runs.json").read_text("utf-8"))
        printed = recorded[f"{name}{flags}.unsolved"]["lines"][-1]
        assert printed in page.locator("pre:visible > .language-text").first.inner_text()
    page.goto(f"{address}puzzle_16/tiled.html")
    chosen = page.locator(f"{API}[aria-selected=true]").first.inner_text()
    assert chosen == (tab if tab != "raw" else "TileTensor")


def test_without_scripts_every_version_is_shown_with_its_name(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto(f"{address}puzzle_15/puzzle_15.html")
    names = opened.locator("[data-tab-group=package-manager] .variant-name:visible").all_inner_texts()
    assert names[:3] == ["TileTensor", "LayoutTensor", "raw"]
    context.close()


def test_a_chosen_tab_holds_for_all_groups_of_a_page(page: Any, address: str) -> None:
    page.goto(f"{address}howto.html")
    page.locator(TAB, has_text="no GPU").first.click()
    assert set(page.locator(f"{TAB}[aria-selected=true]").all_inner_texts()) == {"no GPU"}


def test_a_vendor_that_cannot_run_a_puzzle_has_no_tab(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_34/cluster_coordination_basics.html")
    assert page.locator(TAB).all_inner_texts() == ["uv", "no GPU", "pixi"]


def test_a_tab_that_a_page_lacks_leaves_the_first_one_chosen(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    page.locator(TAB, has_text="pixi Apple").click()
    page.goto(f"{address}puzzle_34/cluster_coordination_basics.html")
    assert page.locator(f"{TAB}[aria-selected=true]").inner_text() == "uv"


@pytest.mark.parametrize("path", PAGES)
def test_the_switcher_leads_to_the_same_page_and_back(page: Any, address: str, path: str) -> None:
    page.goto(address + path)
    page.locator(".switcher").click()
    page.wait_for_url(f"{address}ko/{path}")
    assert page.evaluate("document.documentElement.lang") == "ko"
    page.locator(".switcher").click()
    page.wait_for_url(address + path)


def test_the_switcher_keeps_the_section(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html#configuration")
    box = page.locator(".switcher").bounding_box()
    # Where a reader would click: a locator's own click scrolls the page first.
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**/ko/puzzle_15/puzzle_15.html")
    heading = page.locator("h2", has_text="구성")
    assert 0 <= heading.bounding_box()["y"] < 300


def test_theme_is_kept_and_shown(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    theme = "document.documentElement.dataset.theme"
    assert page.evaluate(theme) == "light"
    page.locator(".theme-button").click()
    assert page.evaluate(theme) == "dark"
    colour = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert page.evaluate(colour) == "rgb(221, 228, 234)"
    page.goto(f"{address}ko/howto.html")
    assert page.evaluate(theme) == "dark"


@pytest.mark.parametrize(
    ("language", "query", "wanted"),
    [
        ("", "reduction", "puzzle_12/puzzle_12.html"),
        ("", "barier", "puzzle_11/puzzle_11.html#without-the-barrier"),
        ("", "shared memroy", "puzzle_08/puzzle_08.html"),
        ("", "matmul", "puzzle_16/puzzle_16.html"),
        ("", "coalesced", "puzzle_21/puzzle_21.html"),
        ("ko/", "행렬곱", "puzzle_16/puzzle_16.html"),
        ("ko/", "공유 메모리를", "puzzle_08/puzzle_08.html"),
        ("ko/", "배리어는", "puzzle_34/puzzle_34.html"),
        ("ko/", "축 합계", "puzzle_15/puzzle_15.html"),
        ("ko/", "공유메모리", "puzzle_08/puzzle_08.html"),
        ("ko/", "텐서코어를", "puzzle_33/puzzle_33.html"),
        ("ko/", "뱅크충돌", "puzzle_32/puzzle_32.html"),
        ("ko/", "비동기복사", "puzzle_28/puzzle_28.html"),
        ("ko/", "누적합", "puzzle_14/puzzle_14.html"),
        ("ko/", "배리여", "puzzle_34/puzzle_34.html"),
        ("ko/", "글로벌 메모리", "basics/gpu.html"),
        ("ko/", "데드락", "puzzle_34/cluster_coordination_basics.html"),
        ("ko/", "윈도우", "puzzle_11/puzzle_11.html"),
        ("ko/", "커스텀 연산", "puzzle_17/puzzle_17.html"),
        ("ko/", "브레이크포인트", "puzzle_09/"),
        ("ko/", "레이스 컨디션", "puzzle_10/racecheck.html"),
        ("ko/", "레이스컨디션", "puzzle_10/racecheck.html"),
        ("ko/", "인접", "puzzle_25/puzzle_25.html"),
        ("ko/", "오버플로우", "puzzle_18/puzzle_18.html"),
        ("ko/", "장벽", "puzzle_29/barrier.html"),
        ("ko/", "리덕션이란", "puzzle_12/puzzle_12.html"),
        ("ko/", "점유율을 높이면", "puzzle_31/puzzle_31.html"),
    ],
)
def test_search_finds(page: Any, address: str, language: str, query: str, wanted: str) -> None:
    page.goto(f"{address}{language}introduction.html")
    page.keyboard.press("/")
    page.locator("#search-input").fill(query)
    found = page.locator(".search-results a")
    addresses = [link.get_attribute("href") for link in found.all()]
    assert any(wanted in found_address for found_address in addresses), addresses
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "introduction" not in url)


def test_every_form_of_the_glossary_finds_what_the_written_form_finds(page: Any, address: str) -> None:
    glossary = load_glossary(ROOT / "i18n/ko/glossary.yaml", "ko")
    forms = {form: term.accepted[0] for term in glossary.terms for form in (*term.accepted[1:], *term.rivals)}
    assert len(forms) > 150
    page.goto(f"{address}ko/introduction.html")
    page.keyboard.press("/")
    page.locator("#search-input").fill("배리어")
    count = (
        "forms => Object.entries(forms).filter(([a, b]) => find(b).length && !find(a).length).map(([a]) => a)"
    )
    assert page.evaluate(count, forms) == []


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("block_idx", "puzzle_06/"),
        ("warp.shuffle_xor()", "puzzle_26/"),
        ("block_dim_count", "puzzle_16/idiomatic"),
    ],
)
def test_a_name_from_a_program_finds_the_page_that_explains_it_first(
    page: Any, address: str, query: str, first: str
) -> None:
    page.goto(f"{address}introduction.html")
    page.keyboard.press("/")
    page.locator("#search-input").fill(query)
    assert first in page.locator(".search-results a").first.get_attribute("href")


def test_the_number_of_a_puzzle_finds_its_page_first(page: Any, address: str) -> None:
    page.goto(f"{address}introduction.html")
    page.keyboard.press("/")
    for number in range(1, 36):
        page.locator("#search-input").fill(f"puzzle {number}")
        first = page.locator(".search-results a").first.get_attribute("href")
        assert first == f"puzzle_{number:02}/puzzle_{number:02}.html"


def test_an_empty_search_result_is_reported(page: Any, address: str) -> None:
    page.goto(f"{address}introduction.html")
    page.locator(".search-button").click()
    page.locator("#search-input").fill("xylophone")
    assert "Nothing found" in page.locator(".search-status").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("dialog.search").is_visible()


def test_long_lists_of_results_say_that_they_are_cut_and_begin_at_their_top(page: Any, address: str) -> None:
    for prefix, says in (
        ("", r"\d+ results found\. The first 20 are shown; another word narrows them down\."),
        ("ko/", r"검색 결과 \d+건 가운데 앞의 20건을 보여 줍니다\. 단어를 더 넣으면 줄어듭니다\."),
    ):
        page.goto(f"{address}{prefix}introduction.html")
        page.keyboard.press("/")
        page.locator("#search-input").fill("GPU")
        assert re.fullmatch(says, page.locator(".search-status").inner_text())
        assert page.locator(".search-results li").count() == 20
        page.locator(".search-results").evaluate("list => { list.scrollTop = 880; }")
        page.locator("#search-input").fill("block")
        assert page.locator(".search-results").evaluate("list => list.scrollTop") == 0


def test_search_is_loaded_again_after_a_failure(browser: Any, address: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}ko/introduction.html")
    for name in ("search-ko.js", "search.js"):
        page.route(f"**/{name}", lambda route: route.abort())
        page.locator(".search-button").click()
        failed = page.get_by_role("alert")
        assert failed.inner_text() == (
            "검색을 불러오지 못했습니다. 네트워크 연결을 확인하고 다시 시도합니다."
        )
        page.get_by_role("button", name="닫기").click()
        failed.wait_for(state="detached")
        page.unroute(f"**/{name}")
    page.locator(".search-button").click()
    page.locator("#search-input").fill("배리어")
    page.locator(".search-results a").first.wait_for()
    context.close()


def test_a_selection_that_ends_beside_the_search_does_not_close_it(page: Any, address: str) -> None:
    page.goto(f"{address}introduction.html")
    page.keyboard.press("/")
    page.locator("#search-input").fill("reduction")
    box = page.locator("#search-input").bounding_box()
    page.mouse.move(box["x"] + 80, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(20, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert page.locator("dialog.search").is_visible()
    page.mouse.click(20, 300)
    assert not page.locator("dialog.search").is_visible()


def test_what_is_searched_has_spaces_between_cells_and_no_marks(page: Any, address: str) -> None:
    page.goto(f"{address}introduction.html")
    page.keyboard.press("/")
    page.locator("#search-input").wait_for()
    cover = page.evaluate("searchSections.filter(row => row[0] === 'cover.html').map(row => row[4]).join()")
    assert " 31 Occupancy Measure what registers and shared memory do to occupancy. " in cover
    marks = "searchSections.filter(row => /\\u2060/.test(row.join())).length"
    assert page.evaluate(marks) == 0


def test_search_and_pages_work_from_a_disk(page: Any, site: Path) -> None:
    page.goto((site / "ko" / "puzzle_15" / "puzzle_15.html").as_uri())
    page.keyboard.press("/")
    page.locator("#search-input").fill("스레드를")
    assert page.locator(".search-results a").count() > 3


def test_contents_on_a_narrow_screen(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    assert not page.locator("#sidebar").is_visible()
    page.locator(".menu-button").click()
    assert page.locator("#sidebar").is_visible()
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "page"
    page.keyboard.press("Escape")
    page.wait_for_function("getComputedStyle(document.getElementById('sidebar')).visibility === 'hidden'")
    assert page.evaluate("document.activeElement.className").endswith("menu-button")


def test_a_wide_figure_is_scrolled_by_itself_and_with_the_keyboard(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 300, "height": 740})  # narrower than the figure, which has one form
    page.goto(f"{address}puzzle_11/raw.html", wait_until="load")
    box = page.locator(".figure-scroll", has=page.locator("#p11-edge-wide"))
    assert box.get_attribute("tabindex") == "0"
    assert box.get_attribute("data-more") is not None
    box.focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("!document.querySelector('[data-more] #p11-edge-wide')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 300


@pytest.mark.parametrize(("width", "wanted"), [(360, "p34-narrow"), (1440, "p34-wide")])
def test_a_figure_has_a_narrow_form(page: Any, address: str, width: int, wanted: str) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(f"{address}puzzle_34/cluster_coordination_basics.html", wait_until="load")
    assert page.locator("figure svg:visible").first.get_attribute("id") == wanted
    assert page.locator(".figure-scroll").first.get_attribute("tabindex") is None


@pytest.mark.parametrize("path", ["puzzle_03/puzzle_03.html", "basics/gpu.html", "trust.html"])
def test_a_figure_is_as_wide_as_the_text_on_a_telephone(page: Any, address: str, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}{path}", wait_until="load")
    text = page.locator("article > p").first.bounding_box()
    figures = page.locator("article > figure svg.fills:visible").all()
    assert figures
    for figure in figures:
        box = figure.bounding_box()  # with a pixel of space on each side
        assert box["x"] + 1 == pytest.approx(text["x"], abs=0.1)
        assert box["width"] - 2 == pytest.approx(text["width"], abs=0.1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_figure_is_found_by_its_number(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_16/tiled.html#figure-16-6")
    figure = page.locator("figure:target")
    assert figure.locator(".figure-number").inner_text() == "Figure 16.6"
    assert 0 < figure.bounding_box()["y"] < 200
    page.goto(f"{address}ko/print.html#puzzle_16_tiled--figure-16-6")
    assert page.locator("figure:target .figure-number").inner_text() == "그림 16.6"


def test_the_drawing_beside_the_first_run_begins_where_the_code_does(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}index.html")
    code, drawing = (
        page.locator(f".first-run {name}").bounding_box() for name in ("figure.changed", "figure.drawn")
    )
    assert (drawing["y"], drawing["x"] > code["x"] + code["width"]) == (code["y"], True)


def test_latin_letters_of_the_korean_cover_are_as_high_as_hangul(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}ko/index.html")
    latin, hangul = page.evaluate(
        """async () => {
          await document.fonts.ready;
          const title = document.querySelector('h1'), look = getComputedStyle(title);
          const context = document.createElement('canvas').getContext('2d');
          context.font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
          return ['GPU', '퍼즐'].map(text => context.measureText(text).actualBoundingBoxAscent);
        }"""
    )
    assert latin == pytest.approx(hangul, rel=0.05)
    title = page.locator("h1")
    assert title.bounding_box()["height"] < 1.5 * float(
        title.evaluate("title => parseFloat(getComputedStyle(title).fontSize)")
    )


@pytest.mark.parametrize(("width", "names"), [(390, ["Next", "Previous"]), (1024, ["Previous", "Next"])])
def test_next_comes_first_where_the_steps_are_stacked(
    page: Any, address: str, width: int, names: list[str]
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(f"{address}puzzle_16/tiled.html")
    boxes = {name: page.locator(".step", has_text=name).bounding_box() for name in names}
    assert sorted(boxes, key=lambda name: (boxes[name]["y"], boxes[name]["x"])) == names


def test_a_fragment_opens_the_fold_around_it(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    page.evaluate("document.querySelector('.solution-explanation').id = 'why'")
    page.evaluate("location.hash = 'why'")
    page.wait_for_selector("#why", state="visible")


def test_the_solution_is_folded_at_first(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    assert not page.locator(".solution-explanation").is_visible()
    page.locator(".solution-details > summary").click()
    assert page.locator(".solution-explanation").is_visible()


def test_without_scripts_every_way_to_run_is_shown(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    for command in (
        "pixi run tooling run p15",
        "pixi run -e amd tooling run p15",
        "uv run tooling run p15 --target sim",
    ):
        assert page.get_by_text(command, exact=True).first.is_visible()
    context.close()


@pytest.mark.parametrize("case", [("en", "disk"), ("en", "server"), ("ko", "disk"), ("ko", "server")])
def test_a_replay_opens_in_place_of_its_figure_and_is_loaded_only_then(
    page: Any, address: str, site: Path, case: tuple[str, str]
) -> None:
    language, place = case
    close, count = {"en": ("Close", "step 7 of 37"), "ko": ("닫기", "7/37단계")}[language]
    prefix = "" if language == "en" else "ko/"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(color_scheme="dark")
    path = f"{prefix}puzzle_15/puzzle_15.html"
    page.goto((site / path).as_uri() if place == "disk" else f"{address}{path}")
    assert [url for url in asked if "replay" in url] == []
    page.locator("details.solution-details summary").click()
    link = page.locator("a.replay").nth(1)
    for opened in range(2):
        link.click()
        frame = page.frame_locator(".replay-dialog iframe")
        frame.locator("#count", has_text=count).wait_for()
        assert page.locator("figure.drawn").nth(1).is_hidden()
        assert page.evaluate("document.querySelector('.replay-dialog').matches(':modal')") is False
        assert frame.locator("html").get_attribute("data-theme") == "dark"
        assert frame.locator(".lanes .accused").count() == 2
        page.keyboard.press("ArrowLeft")  # the frame has the focus
        assert frame.locator("#count").inner_text() != count
        if opened:
            page.get_by_role("button", name=close).click()
        else:
            page.keyboard.press("Escape")
        page.locator(".replay-dialog").wait_for(state="detached")
        assert page.evaluate("document.activeElement.className") == "replay"
        assert page.locator("figure.drawn").nth(1).is_visible()
    assert len([url for url in asked if url.endswith("replay.js")]) in (1, 2)


def test_a_replay_in_place_is_enlarged_and_replaced_by_another(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/puzzle_12.html")
    solution, wrong = page.locator(".replays a.replay").all()
    assert solution.inner_text() == "Step through this run (shows the solution)"
    assert wrong.inner_text() == "Step through a wrong answer (shows most of the solution)"
    solution.click()
    frame = page.frame_locator(".replay-dialog iframe")
    frame.locator("#count", has_text="step 1 of").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Enlarge").click()
    assert page.evaluate("document.querySelector('.replay-dialog').matches(':modal')") is True
    assert frame.locator("#count").inner_text().startswith("step 2 of")  # it was not loaded again
    page.keyboard.press("Escape")
    page.locator(".replay-dialog").wait_for(state="detached")
    solution.click()
    frame.locator("#count", has_text="step 1 of").wait_for()
    wrong.click()
    frame.locator(".mark").wait_for()
    assert page.locator(".replay-dialog").count() == 1
    assert page.locator("figure.drawn").first.is_hidden()
    page.get_by_role("button", name="Close").click()
    page.locator("figure.drawn").first.wait_for(state="visible")


def test_an_open_replay_takes_the_theme_of_its_page(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_12/puzzle_12.html")
    page.locator(".replays a.replay").first.click()
    frame = page.frame_locator(".replay-dialog iframe")
    frame.locator("#count", has_text="step 1 of").wait_for()
    page.keyboard.press("ArrowRight")
    for theme in ("dark", "light"):
        page.evaluate("theme => chooseTheme(theme)", theme)
        frame.locator(f"html[data-theme={theme}]").wait_for()
    assert frame.locator("#count").inner_text().startswith("step 2 of")  # it was not loaded again


WIDE_VALUES = [
    # A replay, its buffer and cell, and what it contains at the end.
    ("p18_test.solved", "output", 127, "0.632121"),
    ("p18_test.solved", "shared", 8, "9.11882e-4"),
    ("p27.normalize.solved", "output", 0, "0.222222"),
    ("p29_tile_tensor.double-buffer.solved", "output", 7, "0.962963"),
    ("p25_tile_tensor.average.solved", "output", 0, "3.33333"),
]


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("case", WIDE_VALUES)
def test_no_value_of_a_replay_is_cut_off(
    page: Any, address: str, width: int, case: tuple[str, str, int, str]
) -> None:
    replay, buffer, cell, value = case
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}replays/{replay}.html")
    page.keyboard.press("End")
    shown = page.locator(".buffer", has=page.locator("h3", has_text=re.compile(f"^{buffer}")))
    texts = shown.locator(".cells button").nth(cell).locator("span").all_inner_texts()
    assert texts == [value]
    cut = """async () => {
      await document.fonts.ready;
      const found = [];
      for (let step = 0; step <= last; step++) {
        show(step);
        for (const span of document.querySelectorAll(".cells span, .lanes span"))
          if (span.scrollWidth > span.clientWidth && span.getClientRects().length)
            found.push([step, span.textContent]);
      }
      return found;
    }"""
    assert page.evaluate(cut) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "replay", ["p12_tile_tensor.solved", "p16_tile_tensor.tiled.solved", "p11.barrier_in_branch"]
)
def test_the_threads_of_a_line_do_not_cover_its_code(
    page: Any, address: str, width: int, replay: str
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}replays/{replay}.html")
    covered = """() => {
      const found = [];
      for (let step = 0; step <= last; step++) {
        show(step);
        for (const chip of document.querySelectorAll("#source .at")) {
          const box = chip.getBoundingClientRect(), range = document.createRange();
          range.selectNodeContents(chip.closest("li").querySelector("span"));
          for (const line of range.getClientRects())
            if (line.width && line.right > box.left + 0.5
                && line.bottom > box.top + 2 && line.top < box.bottom - 2)
              found.push([step + 1, chip.closest("li").textContent]);
        }
      }
      return found;
    }"""
    assert page.evaluate(covered) == []
    assert page.locator("#source").evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_the_buttons_of_a_replay_have_different_icons(page: Any, address: str) -> None:
    page.goto(f"{address}replays/p12_tile_tensor.solved.html")
    icons = page.locator(".buttons button path").evaluate_all(
        "all => all.map(path => path.getAttribute('d'))"
    )
    assert len(icons) == len(set(icons)) == 5


@pytest.mark.parametrize("place", ["disk", "server"])
def test_a_replay_has_the_fonts_of_the_book(page: Any, address: str, site: Path, place: str) -> None:
    path = "ko/replays/p12_tile_tensor.solved.html"
    page.goto((site / path).as_uri() if place == "disk" else f"{address}{path}")
    loaded = """async () => {
      await document.fonts.ready;
      const loaded = [...document.fonts].filter(font => font.status === "loaded");
      return [...new Set(loaded.map(font => font.family.replaceAll('"', "")))].sort();
    }"""
    assert page.evaluate(loaded) == ["Book Mono", "Book Sans", "Book Sans KR"]


def test_a_replay_can_be_read_in_the_colours_of_the_system(browser: Any, address: str) -> None:
    context = browser.new_context(forced_colors="active", viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{address}replays/p11.barrier_in_branch.html")
    look = """all => all.map(one => {
      const style = getComputedStyle(one);
      const looks = [style.backgroundColor, style.borderTopStyle, style.borderTopColor, style.outlineStyle];
      return looks.join();
    })"""
    swatches = page.locator("section:has(#threads) .key i").evaluate_all(look)
    assert len(swatches) == len(set(swatches)) == 4
    swatches = page.locator("section:has(#memory) .key i").evaluate_all(look)
    assert len(swatches) == len(set(swatches)) == 3
    page.evaluate("show(14)")  # thread 7 writes, and the others wait at the barrier
    threads = page.locator(".lanes li").evaluate_all(look)
    assert len(set(threads[:7])) == 1
    assert threads[7] != threads[0]
    bars = page.locator("#source li").evaluate_all(
        "all => all.map(one => getComputedStyle(one).borderLeftColor)"
    )
    now = page.locator("#source li.now").evaluate("one => getComputedStyle(one).borderLeftColor")
    assert bars.count(now) == 1
    context.close()


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_replay(page: Any, address: str, language: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}{'' if language == 'en' else 'ko/'}puzzle_12/puzzle_12.html")
    for width in (360, 768, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        page.locator(".replays a.replay").nth(1).click()
        page.frame_locator(".replay-dialog iframe").locator(".mark").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
        assert found == []
        page.locator(".replay-dialog button").last.click()
        page.locator(".replay-dialog").wait_for(state="detached")


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_an_open_replay_is_as_wide_as_the_window(page: Any, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{address}puzzle_12/layout_tensor.html")
    page.locator("details.solution-details summary").click()
    page.locator("details a.replay").first.click()
    frame = page.frame_locator(".replay-dialog iframe")
    frame.locator("#count", has_text="step 1 of").wait_for()
    inside = frame.locator("html").evaluate("root => [root.scrollWidth, innerWidth]")
    assert inside[0] <= inside[1]
    assert inside[1] >= 0.9 * width or inside[1] >= 1300
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_scripts_there_is_no_button_for_a_replay(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    page.locator("details.solution-details summary").click()
    assert page.locator("a.replay").first.is_visible() is False
    assert page.locator("figure.drawn svg").first.is_visible()
    context.close()


def test_print_shows_every_tab_and_no_frame(page: Any, address: str) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(f"{address}puzzle_15/puzzle_15.html")
    colour = "getComputedStyle(document.querySelector('figure svg text')).fill"
    assert page.evaluate(colour) == "rgb(28, 35, 43)"
    assert not page.locator(".bar").is_visible()
    assert not page.locator(".sidebar").is_visible()
    assert page.get_by_text("pixi run -e amd tooling run p15", exact=True).is_visible()


class Below(SimpleHTTPRequestHandler):
    """Serves the site below a base path, and its page for wrong addresses everywhere else."""

    def __init__(self, *arguments: Any, base: str, site: Path) -> None:
        self.base, self.site = base, site
        super().__init__(*arguments, directory=str(site))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        inside = path.startswith(self.base) and (self.site / path.removeprefix(self.base)).is_file()
        if inside:
            self.path = "/" + path.removeprefix(self.base)
            super().do_GET()
            return
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((self.site / "404.html").read_bytes())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.parametrize("base", ["/", "/gpu/", "/a/deep/base/"])
@pytest.mark.parametrize("lost", ["nowhere.html", "puzzle_99/nowhere.html", "ko/basics/more/nowhere"])
def test_the_page_for_wrong_addresses_works_below_any_base_path(
    browser: Any, site: Path, base: str, lost: str
) -> None:
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    with serving(partial(Below, base=base, site=site)) as address:
        page.goto(f"{address.removesuffix('/')}{base}{lost}")
        page.wait_for_function("document.querySelector('.theme-button').title")  # its scripts have run
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.get_by_role("heading", name="No page here").is_visible()
        assert page.get_by_role("heading", name="페이지가 없습니다").is_visible()
        assert page.evaluate("document.fonts.load('17px \"Book Sans\"').then(found => found.length)") == 1
        page.locator(".search-button").click()
        page.locator("#search-input").fill("matmul")
        found = page.locator(".search-results a").first
        found.wait_for()
        assert found.get_attribute("href") == f"{address.removesuffix('/')}{base}puzzle_16/puzzle_16.html"
        page.keyboard.press("Escape")
        page.locator("article p a").first.click()
        page.wait_for_url(f"**{base}introduction.html")
        assert page.locator(".sidebar a[aria-current]").count() == 1
    context.close()


@pytest.mark.parametrize("path", ["cover.html", "ko/puzzle_12/puzzle_12.html"])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_page_from_a_disk_is_whole(browser: Any, site: Path, path: str, *, scripts: bool) -> None:
    context = browser.new_context(java_script_enabled=scripts, offline=True)
    page = context.new_page()
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.goto((site / path).as_uri(), wait_until="load")
    assert failed == []
    missing = "links => links.map(a => a.href).filter(link => !link.startsWith('http'))"
    for link in page.locator("article a").evaluate_all(missing):
        assert Path(unquote(urlsplit(link).path)).is_file(), link
    assert page.locator("article :is(.map-title, figure svg):visible").count() > 1
    context.close()


@pytest.fixture
def served(site: Path, checkout: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The site as `tooling book serve` serves it, with the puzzles of a copy; its address has the key."""
    monkeypatch.setattr("sys.argv", ["tooling"])
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    environment = {
        **os.environ,
        "PUZZLE_ROOT": str(checkout.root),
        "PUZZLE_TARGET": "sim",
        "PYTHONPATH": str(ROOT),
    }
    runs, access = PageRuns(checkout, environment), Credentials()
    reader = partial(reader_of, checkout, print)
    with serving(
        partial(Handler, site=site, changes=Changes(), reader=reader, access=access, runs=runs)
    ) as running:
        yield f"{running}KO/puzzle_02/puzzle_02.html?key={access.key}"
        runs.stop()


@pytest.mark.mojo
@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("", ("p02 is not right yet", "Show hint 2 of 3", f"1 of {COUNT} puzzles solved")),
        ("ko/", ("p02: 아직 정답이 아닙니다", "힌트 보기 (2/3)", f"퍼즐 {COUNT}개 중 1개를 풀었습니다")),
    ],
)
def test_a_served_page_judges_the_reader_s_file(
    served: str, page: Any, checkout: Project, prefix: str, words: tuple[str, str, str]
) -> None:
    wrong, hint, progress = words
    page.goto(served.replace("KO/", prefix), wait_until="load")
    assert "key=" not in page.url
    page.locator("details:has(.solution-tips) > summary").click()
    shown = page.locator(".solution-tips li:visible")
    assert shown.count() == 1
    page.get_by_role("button", name=hint).click()
    assert shown.count() == 2
    page.locator(".served-run").click()
    verdict = page.locator(".served-verdict")
    verdict.locator(".sign-bad").wait_for(timeout=240_000)
    assert wrong in verdict.inner_text()
    assert page.locator(".puzzle-facts .solved").count() == 0

    problem = checkout.problems / "p02" / "p02.mojo"
    answer = "output[unsafe_offset=i] = a[unsafe_offset=i] + b[unsafe_offset=i]"
    problem.write_text(re.sub(r"# FILL ME IN.*", answer, problem.read_text("utf-8")), "utf-8")
    page.reload(wait_until="load")
    assert shown.count() == 0  # the tips are folded again
    page.locator("details:has(.solution-tips) > summary").click()
    assert shown.count() == 2
    verdict.locator(".sign-bad").wait_for()  # the last verdict
    page.locator(".served-run").click()
    page.locator(".puzzle-facts .solved").wait_for(timeout=240_000)
    assert verdict.locator(".sign-good").count() == 2  # the program's own, and the judge's
    assert progress in page.locator(".served-progress").inner_text()
    found = axe.Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    assert found == []


@pytest.mark.parametrize(("prefix", "tick"), [("", "solved"), ("ko/", "풀었음")])
def test_the_served_map_ticks_solved_puzzles(site: Path, page: Any, prefix: str, tick: str) -> None:
    handler = partial(Handler, site=site, changes=Changes(), reader=lambda: Reader(("01", "15"), COUNT))
    with serving(partial(handler, access=Credentials(), runs=None)) as address:
        page.goto(f"{address}{prefix}cover.html", wait_until="load")
        ticked = page.locator(".map li:has(.solved)")
        assert ticked.evaluate_all("all => all.map(one => one.dataset.puzzle)") == ["p01", "p15"]
        assert page.locator(".map .solved").first.get_attribute("aria-label") == tick
        page.locator(".menu-button").click()
        for part in (1, 3):
            page.locator(f".sidebar section[style='--part: {part}'] summary").click()
        assert page.locator(".sidebar .solved:visible").count() == 2
        page.goto(f"{address}{prefix}index.html", wait_until="load")
        assert page.locator(".map .solved").count() == 2


def test_a_served_page_without_the_key_says_where_the_button_is(served: str, page: Any) -> None:
    page.goto(served.replace("KO/", "").partition("?")[0], wait_until="load")
    assert page.locator(".served-run").count() == 0
    assert page.locator(".served-state").inner_text() == (
        "To judge your file here, open the address that tooling book serve printed."
    )


def test_the_static_site_has_no_button(page: Any, address: str) -> None:
    page.goto(f"{address}puzzle_02/puzzle_02.html", wait_until="load")
    assert page.locator("[class^=served]").count() == 0
    page.locator("details:has(.solution-tips) > summary").click()
    assert page.locator(".solution-tips li:visible").count() == 3
