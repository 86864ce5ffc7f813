"""`tooling profile --sass`: source, PTX and machine code of a kernel side by side."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.axe import axe
from tests.simulator.machine_code.sass import DATA, KERNEL
from tooling.simulator.counters.document import to_json
from tooling.simulator.counters.page import to_html
from tooling.simulator.counters.profile import KernelProfile
from tooling.simulator.counters.table import headline
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.listings.document import listing_document
from tooling.simulator.listings.listing import Listing, listing_of
from tooling.simulator.listings.page import listings_page
from tooling.simulator.listings.table import show_listing
from tooling.simulator.nvidia.machine_code.tools import find_tools
from tooling.simulator.nvidia.ptx.reader import parse_module

SOURCE = "".join(f"line {number}\n" for number in range(1, 60))


@pytest.fixture
def listing(tmp_path: Path) -> Listing:
    """The listing of puzzle 15's kernel, whose source is at hand."""
    source = tmp_path / "p15.mojo"
    source.write_text(SOURCE)
    text = (DATA / "axis_sum.ptx").read_text("utf-8").replace("solutions/p15/p15.mojo", str(source))
    kernel = KernelProfile("axis_sum", KERNEL, Dim3(1, 4), Dim3(8), 32, 1, module=parse_module(text))
    found = listing_of(kernel, find_tools())
    kernel.registers = found.code.resources.registers
    return found


def printed(listing: Listing, width: int = 140, language: str = "en") -> str:
    stream = io.StringIO()
    show_listing(listing, Console(file=stream, width=width, no_color=True), language)
    return stream.getvalue()


def test_each_instruction_has_its_ptx_its_line_and_what_it_waits_for(listing: Listing) -> None:
    rows = [" ".join(line.split()) for line in printed(listing).splitlines()]
    assert "p15.mojo:23 line 23 22 mov.u32 %r… 0010 S2R R4, SR_TID.X 7 w0" in rows
    assert "51 st.shared.… 0120 STS [R5], R0 1 r0 LDG 00b0 (p15.mojo:38)" in rows
    (wait,) = [row for row in rows if " 0150 " in row]
    assert wait.endswith("3y STS 0120 (p15.mojo:38); STS 01e0")


def test_the_summary_has_resources_occupancy_mix_and_loops(listing: Listing) -> None:
    text = " ".join(printed(listing).split())
    assert (
        "48 instructions for sm_90a, by ptxas 13.5.37; 10 registers per thread, no spills; 0 B of stack per "
        "thread, 32 B of static shared memory per block occupancy 50%: 32 block(s) of 1 warp(s), limited by "
        "the number of blocks instructions: integers and moves 18, constant memory 6,"
    ) in text
    assert (
        "loop at 0140 (p15.mojo:47-55), depth 1: 15 instructions (integers and moves 8, shared memory 3, "
        "barriers and fences 2, float32 1, control flow 1); longest chain of dependent instructions: 5; from "
        "one iteration to the next: 1"
    ) in text
    assert "스레드당 레지스터 10개, 스필 없음" in " ".join(printed(listing, language="ko").split())


def test_with_registers_the_occupancy_is_exact(listing: Listing) -> None:
    kernel = listing.kernel
    assert headline(kernel, "en").endswith("32 B shared per block, 10 registers per thread, occupancy 50%")
    kernel.registers = None
    assert headline(kernel, "en").endswith("32 B shared per block, occupancy at most 50% (registers unknown)")


def test_registers_limit_the_occupancy() -> None:
    kernel = KernelProfile("k", "k", Dim3(1), Dim3(256), registers=62)
    assert (kernel.occupancy.fraction, kernel.occupancy.limited_by.value) == (0.5, "registers")


def test_the_document_has_all_of_it(listing: Listing) -> None:
    document = json.loads(to_json([listing.kernel], "p15", 0, [listing_document(listing)]))
    code: dict[str, Any] = document["kernels"][0]["machine_code"]
    assert {name: code[name] for name in ("target", "ptxas", "registers", "static_shared_bytes")} == {
        "target": "sm_90a",
        "ptxas": "13.5.37",
        "registers": 10,
        "static_shared_bytes": 32,
    }
    assert code["occupancy"]["blocks_by_limit"] == {
        "warps": 64,
        "blocks": 32,
        "shared memory": 202,
        "registers": 128,
    }
    store = next(each for each in code["instructions"] if each["address"] == 0x120)
    assert store == {
        "address": 0x120,
        "text": "STS [R5], R0",
        "ptx_line": 51,
        "file": str(listing.lines[0].file),
        "line": 38,
        "stall": 1,
        "yield": False,
        "write_scoreboard": None,
        "read_scoreboard": 0,
        "waits": {"2": [0xB0]},
        "reuse": 0,
    }
    assert code["ptx"]["51"].startswith("st.shared.b32")
    (loop,) = code["loops"]
    assert (loop["address"], loop["longest_chain"]) == (0x140, [0x140, 0x160, 0x170, 0x1A0, 0x1D0])


def test_without_machine_code_the_document_is_as_before(listing: Listing) -> None:
    (kernel,) = json.loads(to_json([listing.kernel], "p15", 0))["kernels"]
    assert "machine_code" not in kernel


def page_of(listing: Listing) -> str:
    return to_html([listing.kernel], "p15", "en", listings=listings_page([listing], "en"))


def test_the_page_links_the_three_columns_by_line(listing: Listing) -> None:
    page = page_of(listing)
    file = listing.lines[0].file
    rows = re.findall(rf'<span class="row h(\d)" data-line="{re.escape(file)}:38"[^>]*>(.*?)</span>', page)
    texts = [re.sub(r"<[^>]*>", "", text) for _, text in rows]
    assert len({hue for hue, _ in rows}) == 1
    assert texts[0] == "  38  line 38"
    assert "  51      st.shared.b32   [%r3], %r19;" in texts
    assert any(text.startswith("0120    1  r0     STS [R5], R0") for text in texts)
    assert page.count('<pre tabindex="0" role="group"') == 3


def test_a_wait_on_the_page_leads_to_the_instruction_without_a_script(listing: Listing) -> None:
    page = page_of(listing)
    assert '← <a href="#k1-sass-00b0">LDG 00b0 (p15.mojo:38)</a>' in page
    assert len(re.findall(r'<span class="row[^"]*"(?: data-line="[^"]*")? id="k1-sass-00b0">', page)) == 1


def test_the_page_needs_nothing_from_elsewhere(listing: Listing) -> None:
    assert re.findall(r"https?://|<link|src=", page_of(listing)) == []


def test_a_page_without_machine_code_has_neither_its_style_nor_its_script(listing: Listing) -> None:
    page = to_html([listing.kernel], "p15", "en")
    assert ".row" not in page
    assert "Machine code" not in page


def test_hovering_marks_the_line_in_all_columns(listing: Listing, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "p15.html"
    path.write_text(page_of(listing), "utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(path.as_uri())
    page.hover('.code pre .row[data-line$=":53"] >> nth=0')
    marked = page.eval_on_selector_all(
        ".row.on", "rows => rows.map(row => row.dataset.line.split(':').pop())"
    )
    count = "panes => panes.map(pane => pane.querySelectorAll('.on').length)"
    panes = page.eval_on_selector_all(".code pre", count)
    assert set(marked) == {"53"}
    assert [marks > 0 for marks in panes] == [True, True, True]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1400
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_page_with_two_kernels(
    listing: Listing, browser: Any, tmp_path: Path, scheme: str
) -> None:
    path = tmp_path / "p15.html"
    kernels = [listing.kernel, listing.kernel]
    path.write_text(to_html(kernels, "p15", "en", listings=listings_page([listing, listing], "en")), "utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page.goto(path.as_uri())
    found = axe.Axe().run(page).response["violations"]
    assert [f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]][:10] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()
