"""Figures show the numbers of their puzzles; outputs are shown as recorded."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from tooling.book.checks.context import CheckContext
from tooling.book.checks.unused import check_unused_figures
from tooling.book.directives.pictures import figure as show_figure
from tooling.book.directives.pictures import figure_ref
from tooling.book.directives.runs import Shown, shown_outputs
from tooling.book.directives.verdicts import answer
from tooling.book.editions import editions
from tooling.book.errors import BookError
from tooling.book.figure_numbers import FigureNumber, number_figures
from tooling.book.figures import every_figure, find_figure
from tooling.book.figures.canvas import (
    ARROW,
    GRID,
    PAGE,
    PAPER,
    PHONE,
    QUIET,
    SMALL,
    TEXT,
    Canvas,
    Ink,
    Size,
    measured,
)
from tooling.book.figures.charts import Axis, Bar, Limit, Series, draw_bars, draw_chart, draw_counts
from tooling.book.figures.drawing import draw, drawing_files
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.book.figures.h200 import measured as benchmark
from tooling.book.figures.lanes import Row, cells, draw_rows
from tooling.book.figures.p13 import blocks_of
from tooling.book.figures.p14 import offset
from tooling.book.figures.p16 import measured_roof
from tooling.book.figures.p21 import first_requests
from tooling.book.figures.p33 import measured_speeds
from tooling.book.figures.palette import PALETTE, file_style, page_style
from tooling.book.figures.reduction import stride
from tooling.book.figures.requests import draw_request, request
from tooling.book.figures.texts import TEXTS_PAGE, text_of, texts_of
from tooling.book.figures.traces import (
    BARRIER,
    SHARED,
    Event,
    Trace,
    as_text,
    load,
    shared_moves,
    trace_path,
    traced_run,
)
from tooling.book.page import PageContext
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.recordings import digest, fold
from tooling.book.verdict_recordings import verdict_path
from tooling.catalog.mutants import load_mutants
from tooling.project import Project
from tooling.text import Text

FIGURES = every_figure()


class Picture(NamedTuple):
    """The file of a drawing."""

    language: str
    narrow: bool
    text: str


@cache
def index_of(project: Project) -> PuzzleIndex:
    return PuzzleIndex(project)


@cache
def pictures(project: Project, name: str) -> tuple[Picture, ...]:
    """A figure in each language and width."""
    files = drawing_files(index_of(project), find_figure(name), Path())
    return tuple(Picture(path.parent.name, path.stem.endswith("-narrow"), text) for path, text in files)


@pytest.mark.parametrize("figure", FIGURES, ids=[figure.name for figure in FIGURES])
def test_a_figure_is_drawn_in_two_languages_and_two_widths(real: Project, figure: Figure) -> None:
    widths = (False,) if figure.narrow is None else (False, True)
    drawn = pictures(real, figure.name)
    assert [each[:2] for each in drawn] == [
        (language, narrow) for language in ("en", "ko") for narrow in widths
    ]
    for language, narrow, text in drawn:
        svg = "{http://www.w3.org/2000/svg}"
        picture = ElementTree.fromstring(text)
        assert int(picture.get("width", "")) <= (360 if narrow else 730)
        assert (language == "ko") == bool(re.search("[가-힣]", text))
        (edition,) = (each for each in editions(real) if each.language == language)
        said = text_of(real, edition, figure.name)
        assert picture.findtext(f"{svg}desc") == said.description  # where it is opened by itself, too
        assert "`" not in said.description
        assert said.caption.count("`") % 2 == 0
        sizes = {"13", "14", "15"} if figure.name != "cover" else {"14", "15", "18"}
        sizes |= {
            "gpu-coalescing": {"12"},
            "p21-memory": {"12"},
            "p26-butterfly": {"12"},  # on a narrow screen, four digits in an outline
            "p16-shared": {"22"},
            "p16-tiled": {"18", "22"},
            "p33": {"22"},
        }.get(figure.name, set())
        assert set(re.findall(r'font-size="([^"]*)"', text)) <= sizes


@pytest.mark.parametrize("figure", FIGURES, ids=[figure.name for figure in FIGURES])
def test_a_figure_is_drawn_in_the_colours_of_the_palette(real: Project, figure: Figure) -> None:
    for _, _, text in pictures(real, figure.name):
        drawn = text.partition("</style>")[2]
        assert set(re.findall(r"var\(--figure-([a-z-]+)\)", drawn)) <= PALETTE.keys()
        colours = re.findall(r'(?:fill|stroke)(?:="|: )([^";]*)', drawn)
        named = {colour for colour in colours if not re.fullmatch(r"var\(--figure-[a-z-]+\)", colour)}
        assert named <= {"none", "url(#hatched)"}


def test_every_figure_has_its_texts_in_every_language(real: Project) -> None:
    for edition in editions(real):
        assert list(texts_of(edition)) == [figure.name for figure in FIGURES]


def test_texts_of_a_figure_are_english_where_they_are_not_translated(checkout: Project) -> None:
    source, korean = editions(checkout)
    korean.page(TEXTS_PAGE).unlink()
    assert text_of(checkout, korean, "p15") == texts_of(source)["p15"]
    path = source.page(TEXTS_PAGE)
    path.write_text(path.read_text("utf-8").replace("## `p15`\n", "## `p15-other`\n"), "utf-8")
    with pytest.raises(BookError, match="the figure `p15` has no caption and description"):
        text_of(checkout, korean, "p15")
    found = [finding.message for finding in check_unused_figures(CheckContext(checkout))]
    assert found == ["there is no figure `p15-other`, which has a caption here"]


@pytest.mark.slow
def test_a_figure_is_the_same_whenever_it_is_drawn(real: Project) -> None:
    fresh = PuzzleIndex(real)
    again = {
        figure.name: tuple(text for _, text in drawing_files(fresh, figure, Path()))
        for figure in reversed(FIGURES)
    }
    assert [
        name for name, texts in again.items() if texts != tuple(p.text for p in pictures(real, name))
    ] == []


def test_both_style_sheets_have_the_whole_palette() -> None:
    for style, dark in (
        (page_style(), ":root[data-theme=dark]"),
        (file_style(), "(prefers-color-scheme: dark)"),
    ):
        light_part, _, dark_part = style.partition(dark)
        for shade, part in enumerate((light_part, dark_part)):
            found = re.findall(r"--figure-([a-z-]+): (#[0-9a-f]{6});", part)
            assert dict(found) == {name: values[shade] for name, values in PALETTE.items()}
    assert "@media screen" in page_style()  # paper is white


def test_a_figure_is_as_wide_as_the_text_or_has_its_caption_beside_it(real: Project) -> None:
    between = []
    for figure in FIGURES:
        for picture in pictures(real, figure.name):
            text = picture.text
            width = int(ElementTree.fromstring(text).get("width", ""))
            if not picture.narrow and SMALL < width < 0.97 * PAGE:
                between.append(figure.name)
    # The cover has columns of its own, and a map of puzzle 23 is in a fold.
    assert set(between) == {"cover", "cover-mistake", "p23-memory"}


def test_a_narrow_figure_fills_the_text_or_is_small(real: Project) -> None:
    small = {}
    for figure in FIGURES:
        for picture in pictures(real, figure.name):
            text = picture.text
            width = int(ElementTree.fromstring(text).get("width", ""))
            if picture.narrow and 1.08 * width < PHONE:  # a page makes none larger than that
                small[figure.name] = width
    # The steps of puzzle 15 and a map of puzzle 23 are in folds, which have less room. A tile of puzzle 41
    # has 32 cells of whole pixels.
    assert small == {
        "p16-copies": 200,
        "p15-steps": 322,
        "p23-memory": 289,
        "p41": 323,
    }


@pytest.mark.parametrize(("name", "narrow"), [("p03", "narrow fills"), ("p16-copies", "narrow")])
def test_large_drawings_for_narrow_screens_are_made_as_wide_as_the_text(
    real: Project, name: str, narrow: str
) -> None:
    page = PageContext(editions(real)[0], "x.md", "", PuzzleIndex(real))
    assert re.findall(r'<svg id="[^"]*" class="([^"]*)"', show_figure(page, [name])) == ["wide", narrow]


def test_the_axis_sum_shows_its_sums(real: Project) -> None:
    text = pictures(real, "p15")[0].text
    assert [number for number in ("15", "51", "87", "123") if f">{number}<" not in text] == []


def test_a_reduction_is_drawn_from_what_the_threads_did(real: Project) -> None:
    moves = shared_moves(Facts(PuzzleIndex(real), "p15").trace("p15"), block=0)
    assert moves[0].cells == (0, 1, 2, 3, 4, 5, 0, 0)
    assert [(stride(move), sorted(move.written), move.cells[: len(move.written)]) for move in moves[1:]] == [
        (4, [0, 1, 2, 3], (4, 6, 2, 3)),
        (2, [0, 1], (6, 9)),
        (1, [0], (15,)),
    ]
    assert moves[1].read == {thread: (thread, thread + 4) for thread in range(4)}


def test_a_halo_is_drawn_from_what_the_threads_loaded(real: Project) -> None:
    first, second = blocks_of(Facts(PuzzleIndex(real), "p13"))
    assert [(cell.index, cell.thread, cell.source) for cell in first.cells[8:]] == [
        (8, 0, 8),
        (9, 1, 9),
        (10, 2, 10),
    ]
    assert [cell.source for cell in second.cells] == [8, 9, 10, 11, 12, 13, 14, None, None, None, None]
    assert [store.value for store in second.stores] == [62, 68, 74, 80, 41, 14, 0]


def test_the_steps_of_a_scan_are_drawn_from_what_the_threads_did(real: Project) -> None:
    loaded, *steps = shared_moves(Facts(PuzzleIndex(real), "p14").trace("p14_tile_tensor --simple"), block=0)
    assert loaded.cells == (0, 1, 2, 3, 4, 5, 6, 7)
    assert [(offset(step), step.cells) for step in steps] == [
        (1, (0, 1, 3, 5, 7, 9, 11, 13)),
        (2, (0, 1, 3, 6, 10, 14, 18, 22)),
        (4, (0, 1, 3, 6, 10, 15, 21, 28)),
    ]


def test_traces_agree_with_the_references(real: Project) -> None:
    facts = Facts(PuzzleIndex(real), "p23")
    stored: dict[int, float] = {}
    for event in facts.trace("p23 --tiled").events:
        if event.action == "store":
            stored.update(zip(event.elements, event.values, strict=True))
    (expected,) = facts.expected("tiled").values()
    assert [stored[index] for index in range(len(stored))] == expected.reshape(-1).tolist()


@pytest.mark.parametrize("run", sorted({run for figure in FIGURES for run in figure.traces}))
def test_a_trace_is_written_as_it_was_read(real: Project, run: str) -> None:
    path = trace_path(real, *traced_run(PuzzleIndex(real), run))
    assert as_text(load(path)) == path.read_text(encoding="utf-8")


def test_cells_without_a_store_are_unknown() -> None:
    events = (
        Event("store", 0, threads=(0,), elements=(2,), values=(7.0,)),
        Event(BARRIER, 0),
        Event("load", 0, threads=(1,), elements=(2,)),
        Event(BARRIER, 0),
        Event("store", 1, threads=(0,), elements=(0,), values=(1.0,)),
    )
    trace = Trace("", "", (2, 1, 1), (2, 1, 1), (1, 1, 1), 4, events)
    (move,) = shared_moves(trace, block=0)
    assert move.cells == (None, None, 7.0)


def test_the_roofline_is_drawn_from_what_was_measured(real: Project) -> None:
    roof = measured_roof(Facts(PuzzleIndex(real), "p16"))
    assert (round(roof.peak, 1), round(roof.bandwidth, 2)) == (66.9, 4.23)
    rates = [(point.intensity, round(point.speed, 2)) for point in roof.points]
    assert rates == [(1 / 12, 0.36), (8, 8.42)]


def test_the_sectors_of_an_embedding_are_those_of_its_first_tokens(real: Project) -> None:
    facts = Facts(PuzzleIndex(real), "p21")
    tokens = facts.inputs("default")["tokens"].tolist()
    linear, square = first_requests(facts)
    assert (linear.rows, linear.all_sectors()) == ((tokens[0],), 4)
    assert (square.rows, square.all_sectors()) == (tuple(tokens[:16]), 16)
    assert square.lanes[15:17] == ((tokens[15], 0), (tokens[0], 1))


def test_a_roofline_without_its_measurements_is_refused(checkout: Project) -> None:
    path = checkout.recordings / "h200" / "benchmarks.json"
    path.write_text(path.read_text("utf-8").replace("p33:tiled ", "p33:other "), "utf-8")
    with pytest.raises(BookError, match="there is no measurement of `p33:tiled` with 16777216 elements"):
        measured_roof(Facts(PuzzleIndex(checkout), "p16"))


def test_a_request_contains_the_lanes_of_its_warp() -> None:
    event = Event("load", 0, 1, tuple(range(30, 34)), (0, 1, 2, 3))
    trace = Trace("", "", (1, 1, 1), (64, 1, 1), (1, 1, 1), 4, (event,))
    addresses = request(trace, event, warp=1).sample.addresses
    assert addresses[:2].tolist() == [8, 12]
    assert (addresses[2:] < 0).all()


def test_a_request_to_shared_memory_is_drawn_by_banks(real: Project) -> None:
    trace = Facts(PuzzleIndex(real), "p12").trace("p12")
    store = next(event for event in trace.events if event.buffer == SHARED and event.action == "store")
    drawn = draw_request(partial(Canvas, language="ko"), request(trace, store)).svg("x", "y")
    ElementTree.fromstring(drawn)
    assert "뱅크" in drawn
    assert drawn.count('class="lane"') == 8
    crowded = Facts(PuzzleIndex(real), "p12").trace("p32 --two-way unsolved")
    store = next(event for event in crowded.events if event.buffer == SHARED)
    sheet = partial(Canvas, language="en")
    drawn = draw_request(sheet, request(crowded, store)).svg("x", "y")
    assert drawn.count('class="lane"') == 32
    assert (drawn.count('class="first"'), drawn.count('class="again"')) == (1, 1)
    barrier = next(event for event in trace.events if event.action == BARRIER)
    with pytest.raises(ValueError, match="requests no words"):
        request(trace, barrier)


@pytest.mark.parametrize(
    ("name", "lanes", "rows", "room"),  # the room: of a page, or of a fold on a screen of 360 pixels
    [
        ("p12-banks", 8 + 32, {"first": 2 * 2, "again": 1 * 2}, 360),
        ("p23-memory", 3, {"moved": 3, "still": 3 * 3}, 306),
    ],
)
def test_a_narrow_map_has_lines_of_sixteen_words(
    real: Project, name: str, lanes: int, rows: dict[str, int], room: int
) -> None:
    narrow = [picture.text for picture in pictures(real, name) if picture.narrow]
    assert len(narrow) == 2
    for text in narrow:
        assert text.count('class="lane"') == lanes
        assert {row: text.count(f'class="{row}"') for row in rows} == rows
        edges = [
            float(left) + float(width)
            for left, width in re.findall(r'<rect[^>]* x="([\d.]+)"[^>]* width="([\d.]+)"', text)
        ]
        assert max(edges) <= room


@pytest.mark.parametrize("name", ["p12-banks", "p30", "p33-banks", "p35"])
def test_the_numbers_of_lanes_have_room_in_their_cells(real: Project, name: str) -> None:
    size = 12
    for picture in pictures(real, name):
        text = picture.text
        assert f".map .lane {{ font-size: {size}px;" in text
        found = re.findall(r'<g><title>.*?width="([\d.]+)".*?class="lane"[^>]*>(\d+)<', text)
        assert found
        for width, lane in found:
            assert float(width) - len(lane) * size * 0.6 > 4


def test_a_figure_of_a_program_that_was_never_traced_is_an_error(checkout: Project) -> None:
    edition = editions(checkout)[1]
    page = PageContext(edition, "puzzle_15/puzzle_15.md", "", PuzzleIndex(checkout))
    shown = show_figure(page, ["p15"])
    assert 'aria-label="4행 6열 행렬.' in shown and "<figcaption>행마다 블록이 하나씩 있습니다." in shown
    (checkout.recordings / "traces" / "p15.json").unlink()
    with pytest.raises(BookError, match="this program was never traced: p15") as refusal:
        show_figure(page, ["p15-steps"])
    assert refusal.value.hint == "tooling figure p15 --trace"


@pytest.mark.parametrize(
    ("name", "trace", "why"),
    [
        ("p34-reduction", "p34_tile_tensor.reduction", "StopIteration"),
        ("p14", "p14_tile_tensor.simple", "IndexError"),
    ],
)
def test_a_figure_whose_data_do_not_fit_its_code_is_an_error(
    checkout: Project, name: str, trace: str, why: str
) -> None:
    path = checkout.recordings / "traces" / f"{trace}.json"
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[: whole.index('"events": [')] + '"events": []}\n', encoding="utf-8")
    with pytest.raises(BookError, match=f"the figure `{name}` cannot be drawn") as refusal:
        draw(PuzzleIndex(checkout), find_figure(name), "en")
    assert f"its data are not as its code expects: {why}" in str(refusal.value.why)
    assert refusal.value.hint == f"if the program has changed: `tooling figure {name[:3]} --trace`"


@pytest.mark.parametrize(
    ("name", "language", "shown"),
    [
        ("p01-addresses", 0, "with <code>i + 1</code>, thread 3"),
        ("p01-addresses", 1, "<code>i + 1</code>을"),
        ("p04-line", 0, "is its <code>row * 2 + col</code>. The"),
        ("p04-exchanged", 0, "The offset in <code>a</code> that"),
        ("p04-exchanged", 0, "each other’s element"),
        ("p08", 0, "through the shared memory of its block"),
        ("p14", 0, "the element <code>offset</code> positions before its own, and the offset doubles"),
        ("p08", 1, "<code>a</code>와 <code>output</code>의"),
        ("p16-copies", 0, "the threads (<em>x</em>,\N{NO-BREAK SPACE}<em>y</em>) that"),
        ("p23-tiles", 0, "One thread for each tile."),
        ("p24-times", 0, "<code>traditional</code> and <code>simple-warp</code>"),
        ("p33-banks", 0, "its first element of <code>a</code>."),
    ],
)
def test_a_caption_shows_as_code_what_is_between_backticks(
    real: Project, name: str, language: int, shown: str
) -> None:
    page = PageContext(editions(real)[language], "x.md", "", PuzzleIndex(real))
    html = show_figure(page, [name])
    assert shown in html.partition("<figcaption>")[2].partition("</figcaption>")[0]
    assert "`" not in html


def test_figures_are_numbered_in_the_order_of_the_contents(real: Project) -> None:
    numbers = number_figures(editions(real)[0])
    names = ("p16", "p16-naive", "p16-roofline", "p16-flight", "p16-shared", "p16-tiled", "p16-copies", "p17")
    numbered = [numbers[name].number for name in names]
    assert numbered == ["16.1", "16.2", "16.3", "16.4", "16.5", "16.6", "16.7", "17.1"]
    assert {figure.name for figure in FIGURES} - numbers.keys() == {"cover", "cover-mistake"}
    assert len({each.number for each in numbers.values()}) == len(numbers)


def test_figures_outside_puzzles_are_numbered_after_the_letter_of_their_page(real: Project) -> None:
    numbers = number_figures(editions(real)[0])
    names = ("gpu", "gpu-launches", "why-times", "gpu-divergence", "gpu-coalescing")
    assert [numbers[name].number for name in names] == ["G.1", "G.2", "W.1", "W.2", "W.3"]  # of two pages
    assert numbers["gpu"].anchor == "figure-g-1"


@pytest.mark.parametrize(
    ("name", "language", "label", "anchor"),
    [
        ("p16-tiled", 0, "Figure 16.6", "figure-16-6"),
        ("p16-tiled", 1, "그림 16.6", "figure-16-6"),
        ("gpu", 0, "Figure G.1", "figure-g-1"),
        ("gpu", 1, "그림 G.1", "figure-g-1"),
    ],
)
def test_the_number_of_a_figure_begins_its_caption_and_is_its_anchor(
    real: Project, name: str, language: int, label: str, anchor: str
) -> None:
    source, edition = editions(real)[0], editions(real)[language]
    page = PageContext(edition, "x.md", "", PuzzleIndex(real), number_figures(source))
    shown = show_figure(page, [name])
    assert shown.startswith(f'<figure class="drawn has-narrow" id="{anchor}">')
    assert f'<figcaption><span class="figure-number">{label}</span> ' in shown
    without = PageContext(edition, "x.md", "", PuzzleIndex(real))
    assert "figure-number" not in show_figure(without, [name])


@pytest.mark.parametrize(
    ("path", "language", "shown"),
    [
        ("puzzle_16/tiled.md", 0, '<a href="#figure-16-6">Figure\N{NO-BREAK SPACE}16.6</a>'),
        (
            "puzzle_16/idiomatic.md",
            0,
            '<a href="../puzzle_16/tiled.html#figure-16-6">Figure\N{NO-BREAK SPACE}16.6</a>',
        ),
        ("next.md", 0, '<a href="puzzle_16/tiled.html#figure-16-6">Figure\N{NO-BREAK SPACE}16.6</a>'),
        (
            "basics/gpu.md",
            1,
            '<a href="../puzzle_16/tiled.html#figure-16-6">그림\N{NO-BREAK SPACE}16.6</a>',
        ),
    ],
)
def test_a_reference_to_a_figure_is_its_number_and_leads_to_it(
    real: Project, path: str, language: int, shown: str
) -> None:
    numbers = {"p16-tiled": FigureNumber("16.6", "puzzle_16/tiled.md")}
    page = PageContext(editions(real)[language], path, "", PuzzleIndex(real), numbers)
    assert figure_ref(page, ["p16-tiled"]) == shown


def test_a_trace_of_an_older_solution_is_reported_and_still_shown(checkout: Project) -> None:
    solution = checkout.solutions / "p01" / "p01.mojo"
    solution.write_text(solution.read_text(encoding="utf-8").replace("+ 10", "+ 11"), encoding="utf-8")
    facts = Facts(PuzzleIndex(checkout), "p01")
    with pytest.raises(BookError, match="has changed since it was traced") as refusal:
        facts.require_current("p01")
    assert refusal.value.hint == "tooling figure p01 --trace"
    assert facts.trace("p01").events  # a page shows it until it is recorded again


@pytest.mark.mojo
@pytest.mark.slow
def test_a_solution_still_does_what_its_trace_says(real: Project) -> None:
    from tooling.book.figures.tracing import record

    run = traced_run(PuzzleIndex(real), "p01")
    assert as_text(record(real, *run)) == trace_path(real, *run).read_text(encoding="utf-8")


def test_long_counting_is_folded() -> None:
    lines = ["a: 1", *(f"tile_id: {number}" for number in range(32)), "out"]
    assert list(fold(lines)) == [
        "a: 1",
        "tile_id: 0",
        "tile_id: 1",
        "tile_id: 2",
        "...",
        "tile_id: 31",
        "out",
    ]


def test_short_counting_is_not_folded() -> None:
    lines = [f"  Block {number} : 0.0" for number in range(4)]
    assert list(fold(lines)) == lines


def test_every_row_of_a_wide_matrix_gets_a_line() -> None:
    row = "[10.0, 11.0, 12.0, 13.0, 14.0]"
    rows = [f"  [{row},", f"   {row},", f"   {row}]"]
    assert list(fold([f"out: [{row}, {row}, {row}]"])) == ["out:", *rows]
    assert list(fold([f"[{row}, {row}, {row}]"])) == rows


@pytest.mark.parametrize(
    "line",
    [
        "out: [[1.0, 2.0], [3.0, 4.0]]",
        f"out: HostBuffer([{', '.join(['10.0'] * 16)}])",
        f"out: HostBuffer([{', '.join(map(str, range(32)))}])",
    ],
)
def test_a_short_matrix_and_a_long_list_stay_in_their_line(line: str) -> None:
    assert list(fold([line])) == [line]


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        (range(33), "0, 1, 2, 3, 4, 5, 6, 7, ..., 29, 30, 31, 32"),
        ([7] * 17, "7, 7, 7, ..., 7"),
    ],
)
def test_of_a_very_long_list_the_ends_are_shown(numbers: Sequence[int], shown: str) -> None:
    line = f"out: HostBuffer([{', '.join(map(str, numbers))}])"
    assert list(fold([line])) == [f"out: HostBuffer([{shown}])"]


def test_a_comment_does_not_make_a_recording_old(checkout: Project) -> None:
    program = checkout.problems / "p15" / "p15.mojo"
    before = digest(program)
    program.write_text(program.read_text(encoding="utf-8") + "\n# a remark\n", encoding="utf-8")
    assert digest(program) == before
    program.write_text(program.read_text(encoding="utf-8").replace("TPB = 8", "TPB = 16"), encoding="utf-8")
    assert digest(program) != before


def test_every_file_of_a_program_can_make_a_recording_old(checkout: Project) -> None:
    selection = PuzzleIndex(checkout).selection("p17", [])
    path = verdict_path(checkout, selection, "unsolved")
    shown = Shown(selection, "unsolved", path)
    judged = Shown(selection, "unsolved", path, judged=True)
    before = shown.program(checkout)
    assert judged.program(checkout) == before
    part = checkout.problems / "p17" / "op" / "conv1d.mojo"
    part.write_text(part.read_text(encoding="utf-8") + "\ncomptime UNUSED = 1\n", encoding="utf-8")
    assert judged.program(checkout) == shown.program(checkout) != before


def test_a_wrong_answer_may_change_any_file_of_a_program(real: Project) -> None:
    selection = PuzzleIndex(real).selection("p17", [])
    mutant, *_ = load_mutants(real, selection.puzzle)
    (edit,) = mutant.edits
    assert edit.file == "op/conv1d.mojo"
    judged = answer(real, selection, mutant.name)
    assert list(judged) == ["p17.py", "op/__init__.mojo", "op/conv1d.mojo"]
    assert edit.with_ in judged["op/conv1d.mojo"]
    assert edit.replace not in judged["op/conv1d.mojo"]


def test_each_output_of_the_book_is_listed_once(real: Project) -> None:
    names = [shown.name for shown in shown_outputs(real)]
    assert "p15 (unsolved)" in names
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("p13-halo", 3),  # the elements of the halo
        ("p14", 8 + 4 + 2),  # the values that become part of the last element, step by step
        ("p21", 2),  # to the row of the first token, and from there
        ("p26-butterfly", 2 + 4 + 8),  # the lanes that have the largest element, doubled by each exchange
    ],
)
def test_the_arrows_to_follow_are_marked(real: Project, name: str, marked: int) -> None:
    for picture in pictures(real, name):
        text = picture.text
        assert text.count("url(#marked)") == marked


def test_what_the_marked_arrows_reach_is_outlined(real: Project) -> None:
    outline = f'fill="none" stroke="{Ink.MARK.line}" stroke-width="1.5"/>'
    for picture in pictures(real, "p26-butterfly"):
        assert picture.text.count(outline) == 1 + 1 + 2 + 4 + 8


def test_curves_end_in_the_direction_of_their_heads() -> None:
    canvas = Canvas(100, 60, "en")
    canvas.curve(10, 0, 50, 40)
    canvas.curve(10, 0, 10, 40)
    canvas.side_curve(0, 10, 40, 50)
    canvas.bend(90, 0, 10, 40)
    drawn = canvas.svg("x", "y")
    assert re.findall(r'<path d="(M[^"]*)" fill="none"', drawn) == [
        "M10.5 0C10.5 17.5 50.5 17.5 50.5 35",  # the head is at the end of the line, not on it
        "M10.5 0V35",
        "M0 10.5C17.5 10.5 17.5 50.5 35 50.5",
        "M90.5 0V32.5Q90.5 40.5 82.5 40.5H15",
    ]
    assert 'id="head"' in drawn
    assert 'id="marked"' not in drawn


def test_neighbouring_cells_have_the_same_gap() -> None:
    canvas = Canvas(200, 60, "en")
    for column in range(3):
        for row in range(2):
            canvas.cell(column * 30, row * 30, 30, 30)
    canvas.cell(120, 0, 5, 20)
    canvas.cell(126, 0, 5, 20)
    canvas.cell(170, 0, 30, 30)
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', canvas.svg("x", "y"))
    assert found[:3] == [("1.5", "1.5", "27"), ("1.5", "31.5", "27"), ("31.5", "1.5", "27")]
    assert found[6:] == [("120.5", "0.5", "5"), ("126.5", "0.5", "5"), ("170.5", "0.5", "30")]


def test_small_cells_that_touch_share_a_border_and_that_of_a_marked_one_is_whole() -> None:
    canvas = Canvas(200, 60, "en")
    for column, ink in enumerate((Ink.SPARE, Ink.MARK, Ink.LIVE)):
        canvas.cell(column * 20, 0, 20, 20, str(column), ink=ink)
    canvas.cell(100, 0, 20, 20, "alone")
    for column in range(2):
        canvas.cell(140 + column * 20, 0, 20, 20, ink=Ink.RESULT)
    drawn = canvas.svg("x", "y")
    rects = r'<rect x="([\d.]+)" y="0.5" width="20" height="20" fill="[^"]*" stroke="([^"]*)"/>'
    found = re.findall(rects, drawn)
    assert [x for x, _ in found] == ["0.5", "40.5", "20.5", "100.5", "140.5", "160.5"]
    assert found[2] == ("20.5", Ink.MARK.line)
    assert {line for _, line in found[-2:]} == {PAPER}  # or both would be one
    assert drawn.index("<text") > drawn.index('<rect x="20.5"')  # over all cells
    assert "\n\n" not in drawn  # an empty line would end the HTML in a page


def test_frames_and_straight_arrows_cover_whole_pixels() -> None:
    canvas = Canvas(200, 60, "en")
    canvas.frame(1, 1, 40, 20)
    canvas.arrow(50, 2, 50, 40)
    canvas.arrow(60, 10, 100, 10, head=False)
    canvas.arrow(60, 10, 100, 30, head=False)
    drawn = canvas.svg("x", "y")
    assert '<rect x="1.5" y="1.5" width="40" height="20"' in drawn
    ways = ("M50.5 2L50.5 35", "M60 10.5L100 10.5", "M60 10L100 30")
    assert [way for way in ways if f'd="{way}"' not in drawn] == []


def test_code_within_a_label_has_its_own_font() -> None:
    canvas = Canvas(200, 60, "en")
    label = Text("T{reader} reads `shared[{writer}]`").of(reader=4, writer=3)
    canvas.label(1, 10, label)
    drawn = canvas.svg("x", "y")
    assert re.search(r">T4 reads <tspan font-family=\"[^\"]*\">shared\[3\]</tspan></text>", drawn)
    assert canvas.length(label, Size.VALUE) > canvas.length("shared[3]", Size.VALUE, mono=True)


def test_a_variable_within_a_label_is_italic() -> None:
    canvas = Canvas(200, 60, "en")
    canvas.label(1, 10, Text("thread *t*: `2 * t`"))
    canvas.label(1, 30, "a*b*c", mono=True)
    drawn = canvas.svg("x", "y")
    assert re.search(
        r'>thread <tspan font-style="italic">t</tspan>: <tspan [^>]*>2 \* t</tspan></text>', drawn
    )
    assert ">a*b*c</text>" in drawn
    assert canvas.length(Text("*t*"), Size.VALUE) == canvas.length(Text("t"), Size.VALUE)


def test_banks_that_no_pass_needs_have_one_row(real: Project) -> None:
    for picture in pictures(real, "p33-banks"):
        text = picture.text
        rows = text.count('class="first"') + text.count('class="again"')
        assert rows == (8 + 1 + 2 if picture.narrow else 8 + 1)


@pytest.mark.parametrize(("name", "wide", "narrow"), [("p16", 9, 9), ("p16-tiled", 3, 3), ("p33", 1, 0)])
def test_products_have_one_sign(real: Project, name: str, wide: int, narrow: int) -> None:
    for picture in pictures(real, name):
        text = picture.text
        labels = re.findall(r"<text[^>]*>([^<]*)<", text)
        disks = text.count(f'r="1.75" fill="{TEXT}"')
        assert labels.count("·") + disks == (narrow if picture.narrow else wide)
        assert "×" not in labels


def test_each_bank_of_a_row_is_a_cell(real: Project) -> None:
    for picture in pictures(real, "p33-banks"):
        text = picture.text
        rows = re.findall(
            r'class="(?:first|again)" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"[^>]*/>'
            r'<path class="bank" d="([^"]*)"',
            text,
        )
        assert len(rows) == (8 + 1 + 2 if picture.narrow else 8 + 1)
        for x, y, wide, high, between in rows:
            banks = 16 if picture.narrow else 32
            edges = [int(x) + bank * int(wide) // banks for bank in range(1, banks)]
            assert between == "".join(f"M{edge} {y}v{high}" for edge in edges)


def test_a_map_of_banks_says_how_many_passes_it_takes(real: Project) -> None:
    for picture in pictures(real, "p33-banks"):
        text = picture.text
        beside = re.findall(r'text-anchor="end"[^>]*>([^<]*)<', text)
        assert beside == (["패스 8번", "패스 1번"] if picture.language == "ko" else ["8 passes", "1 pass"])
        label = r'class="note( added)?(?: end)?"[^>]*>(?:(?:pass|패스) (\d+)|(\d+–\d+))<'
        labels = re.findall(label, text)
        numbers = [(bool(added), one or several) for added, one, several in labels]
        conflicts = [(number > 1, str(number)) for number in range(1, 9)]
        once = (False, "1")
        narrow = [*conflicts, (False, "1–8"), once, once]
        assert numbers == (narrow if picture.narrow else [*conflicts, once])


def _name(colour: str) -> str:
    """The name in the palette of a colour of a drawing."""
    return colour.removeprefix("var(--figure-").removesuffix(")")


def _contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("shade", [0, 1], ids=["light", "dark"])
def test_labels_and_arrows_are_readable_in_both_shades(shade: int) -> None:
    colours = {name: values[shade] for name, values in PALETTE.items()}
    for ink in Ink:
        ground = colours["paper" if ink is Ink.FRAME else f"{ink.value}-fill"]
        assert _contrast(colours[_name(ink.text)], ground) >= 4.5
    assert min(_contrast(colours[name], colours["paper"]) for name in ("text", "quiet")) >= 4.5
    lines = ("arrow", "live-line", "mark-line")
    assert min(_contrast(colours[name], colours["paper"]) for name in lines) >= 3


def test_active_cells_differ_from_empty_ones_on_dark_pages() -> None:
    live, plain, spare = (PALETTE[f"{name}-fill"][1] for name in ("live", "plain", "spare"))
    assert _contrast(live, spare) >= 1.8
    assert _contrast(plain, spare) >= 1.3


def test_the_entries_of_a_legend_are_as_far_apart_as_their_widths_ask() -> None:
    canvas = Canvas(400, 80, "en")
    words = Text("input"), Text("shared memory"), Text("output")
    canvas.legend(0, 10, *((Ink.PLAIN, text) for text in words))
    canvas.legend(0, 40, *((Ink.PLAIN, text) for text in words), across=2)
    labels = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', canvas.svg("x", "y"))
    first, second, third, *others = ((float(x), float(y)) for x, y in labels)
    gaps = [
        right[0] - left[0] - measured(canvas.say(text), Size.LABEL)
        for text, left, right in ((words[0], first, second), (words[1], second, third))
    ]
    assert gaps == pytest.approx([48, 48], abs=0.01)
    assert [y for _, y in others] == [40, 40, 64]
    assert others[0][0] == others[2][0]


def test_errors_in_figures_have_the_red_of_a_verdict(real: Project) -> None:
    style = (real.root / "book" / "theme" / "assets" / "book.css").read_text(encoding="utf-8")
    assert PALETTE["wrong-text"] == tuple(re.findall(r"--bad: (#\w+);", style)[:2])
    # Stronger than in a verdict, beside the violet of part XI.
    assert PALETTE["wrong-fill"] == ("#f8cfca", "#5a272b")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("p01-addresses", ["13"]),  # the store past the end
        ("p04-offsets", ["4", "4", "5", "6"]),  # past the end of the matrix
        ("p04-exchanged", ["2", "1"]),  # the element of another thread
        ("p14-race", ["9"]),  # the sum that has an element twice
        ("cover-mistake", ["13", "12", "11", "10"]),  # in reverse order
    ],
)
def test_a_wrong_value_is_red(real: Project, name: str, wrong: list[str]) -> None:
    for picture in pictures(real, name):
        text = picture.text
        red = re.escape(Ink.WRONG.text)
        assert re.findall(rf'fill="{red}" font-family="[^"]*">([^<]*)</text>', text) == wrong


def test_a_gpu_has_all_lanes_of_its_warps_and_the_sizes_of_the_page(real: Project) -> None:
    pages = ("basics/gpu.md", "basics/warps.md")
    page = "\n".join([(real.root / "book/src" / each).read_text(encoding="utf-8") for each in pages])
    memories = {"65,536 of 32 bits", "256 KiB", "60 MiB", "140 GiB", "4,288 GB/s"}
    assert all(size in " ".join(page.split()) for size in memories)
    for picture in pictures(real, "gpu"):
        text = picture.text
        warps = re.findall(r'<rect [^>]*width="(\d+)" height="(\d+)"[^>]*/><path d="M\S+ \S+(v[^"]*)"', text)
        assert len(warps) == 2 * 2 * 3
        for long, high, borders in warps:
            assert borders == f"v{high}" + f"m{int(long) // 32} -{high}v{high}" * 30  # between 32 lanes
        labels = re.findall(r"<text[^>]*>([^<]*)<", text)
        if picture.language == "en":
            assert memories <= {size for label in labels for size in label.split(", ")}


def test_sectors_of_a_gpu_are_those_that_its_page_counts(real: Project) -> None:
    for picture in pictures(real, "gpu-coalescing"):
        text = picture.text
        # Boxes of the legend are 15 pixels wide.
        words = re.findall(
            r'<rect x="[\d.]+" y="[\d.]+" width="(?!15")\d+" height="\d+" fill="([^"]*)"', text
        )
        assert (words.count(Ink.LIVE.fill), words.count("url(#hatched)")) == (32 + 32, 32 * 7)
        lanes = [label for _, _, ink, label, _ in _labels(text) if ink == Ink.LIVE.text]
        assert lanes == [str(lane) for lane in (*range(32), *range(32))]
        assert ("32 sectors, 128 of 1,024 bytes used" in text) != (picture.language == "ko")


def test_the_banks_of_a_gpu_serve_the_lanes_of_each_pass(real: Project) -> None:
    for picture in pictures(real, "gpu-banks"):
        text = picture.text
        narrow = picture.narrow
        lanes = [int(lane) for lane in re.findall(r'class="lane"[^>]*>(\d+)<', text)]
        first, second = range(16), range(16, 32)
        halves = (*first[:8], *second[:8], *first[8:], *second[8:])
        assert lanes == [*range(32), *(halves if narrow else (*first, *second))]
        assert text.count('class="note added') == (2 if narrow else 1)
        added = re.findall(r'<g class="added"><title>lane (\d+)<', text)
        assert [int(lane) for lane in added] == list(second)  # the cells of the second pass are red, too
        assert f".map .added rect {{ fill: {Ink.WRONG.fill}; stroke: {Ink.WRONG.line}; }}" in text
        if picture.language == "en":
            assert re.findall(r'text-anchor="end"[^>]*>([^<]*)<', text) == ["1 pass", "2 passes"]
        banks = re.findall(r'<rect class="(?:first|again)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text)
        right = max(float(left) + float(width) for left, width in banks)
        assert right == pytest.approx(359 if narrow else 729, abs=1)


def test_the_occupancy_of_a_gpu_is_calculated(real: Project) -> None:
    for picture in pictures(real, "gpu-occupancy"):
        text = picture.text
        labels = re.findall(r"<text[^>]*>([^<]*)<", text)
        assert [label for label in labels if label.endswith("%")] == ["100%", "100%", "50%"]
        if not picture.narrow:
            assert [label for label in labels if label.isdigit()] == [
                "16",
                "4",
                "2",
                "32",
                "2",
                "2",
                "64",
                "1",
                "2",
            ]
        if picture.language == "en":
            blocks = [label for label in labels if label.startswith(("block ", "32 warps"))]
            assert blocks == ["block 0", "block 1", "block 0", "block 1", "block 0", "32 warps idle"]


def test_the_kernels_of_puzzle_30_are_on_one_screen(real: Project) -> None:
    for picture in pictures(real, "p30"):
        text = picture.text
        assert text.count('class="lane"') == 32 + 2 + 32
        assert (">⋮ 30 more like this<" in text) != (picture.language == "ko")
        height = re.search(r'height="(\d+)"', text)
        assert height is not None
        assert int(height[1]) < (600 if picture.narrow else 500)
        assert re.findall(r'font-weight="600">(kernel\d)<', text) == ["kernel1", "kernel2", "kernel3"]
        results = re.findall(r'text-anchor="end"[^>]*>([^<]*%[^<]*)<', text)  # at the right of the headings
        assert [re.findall(r"[\d.]+", result) for result in results] == [
            ["4", "100"],
            ["32", "12.5"],
            ["5", "80"],
        ]
        if picture.language == "en":
            assert results[1] == "32 sectors, 12.5% used"


def _boxes(text: str) -> list[tuple[float, float, str]]:
    """Where the cells and frames of a drawing begin and end, with their colours."""
    found = re.findall(r'<rect x="([\d.]+)"[^>]* width="([\d.]+)"[^>]* fill="([^"]*)"', text)
    return [(float(x), float(x) + float(width), fill) for x, width, fill in found]


def test_threads_that_the_guard_stops_are_below_the_elements_that_they_would_write(real: Project) -> None:
    for picture in pictures(real, "p04-line"):
        text = picture.text
        found = re.findall(
            r'<text x="([\d.]+)" y="([\d.]+)"[^>]* fill="([^"]*)"[^>]*>\(?(\d), ?(\d)\)?</text>', text
        )
        rows: dict[float, list[tuple[str, str, str]]] = {}
        for _, y, colour, *place in sorted(found, key=lambda one: float(one[0])):
            rows.setdefault(float(y), []).append((*place, colour))
        live, spare, marked = (ink.text for ink in (Ink.LIVE, Ink.SPARE, Ink.MARK))
        above, column, row = (rows[y] for y in sorted(rows))
        assert above == [(x, y, live) for x, y in ("00", "10", "01", "11")]
        assert column == [("2", "0", marked), ("2", "1", spare)]
        assert row == [(x, y, spare) for x, y in ("02", "12", "22")]
        heads = {
            name: re.findall(rf'<path d="([^"]*)"[^>]*marker-end="url\(#{name}\)"( stroke-dasharray)?', text)
            for name in ("head", "marked")
        }
        assert [bool(dashed) for _, dashed in heads["head"]] == [False] * 4 + [True] * 4
        # That of (0, 2) passes beside (2, 1), and both end at the element with offset 4.
        one, other = (float(way[1:].split()[0]) for way, _ in heads["head"][4:6])
        boxes = [(left, right) for left, right, _ in _boxes(text)]
        ends = min(right for left, right in boxes if left < one < right and right - left < 60)
        assert ends + 3 < other
        assert any(left < one < other < right for left, right in boxes)
        assert [bool(dashed) for _, dashed in heads["marked"]] == [True]
        (elements,) = {y for _, y, colour, *_ in _labels(text) if colour == Ink.RESULT.text}
        assert min(rows) < elements < max(rows)


def test_values_in_cells_are_set_in_the_font_of_code(real: Project) -> None:
    for figure in FIGURES:
        for language, narrow, text in pictures(real, figure.name):
            if language != "en":
                continue
            sizes = r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
            ground = re.escape(f' fill="{PAPER}"')  # the background of a label, not a cell
            found = re.findall(f"<rect {sizes}(?!{ground})", text)
            boxes = [tuple(map(float, box)) for box in found]
            middles = [(x + wide / 2, y + high / 2) for x, y, wide, high in boxes]
            values = [
                attributes
                for x, y, colour, label, attributes in _labels(text)
                if re.fullmatch(r"[\d.,]+", label)
                and colour != QUIET  # a number of an element or a thread
                and figure.name not in {"gpu-coalescing", "gpu-banks", "p21-memory"}  # numbers of lanes
                and any(math.dist((x, y), middle) < 2 for middle in middles)
            ]
            assert [value for value in values if "font-family" not in value] == [], (figure.name, narrow)
            if figure.name == "p14-race":
                assert len(values) == 2 * 4 * 3


def _labels(text: str) -> list[tuple[float, float, str, str, str]]:
    """The places of the labels of a drawing, their colours, what they say, and their attributes."""
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"([^>]* fill="([^"]*)"[^>]*)>([^<]*)</text>', text)
    return [(float(x), float(y), colour, said, attributes) for x, y, attributes, colour, said in found]


def test_the_sums_of_a_race_end_with_its_cells(real: Project) -> None:
    for picture in pictures(real, "p14-race"):
        text = picture.text
        ends = {end for _, end, _ in _boxes(text)}
        sums = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end"[^>]*><tspan', text)
        assert len(sums) == 2
        for x in map(float, sums):
            assert min(abs(end - x) for end in ends) <= 1
        assert max(map(float, sums)) == (359 if picture.narrow else 729)


def test_a_race_says_what_each_colour_of_its_cells_means(real: Project) -> None:
    for picture in pictures(real, "p14-race"):
        text = picture.text
        keys = re.findall(r'width="16" height="16"[^>]* fill="([^"]*)"[^>]*/>\n<text[^>]*>([^<]*)<', text)
        inks = [ink.fill for ink in (Ink.LIVE, Ink.SPARE, Ink.MARK, Ink.WRONG)]
        assert [fill for fill, _ in keys] == inks
        assert {box[2] for box in _boxes(text)} - {"none"} == set(inks)
        if picture.language == "en":
            assert [said for _, said in keys] == ["just written", "unchanged", "read by T4", "wrong"]


def test_the_output_of_a_cluster_is_as_wide_as_its_blocks(real: Project) -> None:
    for picture in pictures(real, "p34"):
        text = picture.text
        boxes = _boxes(text)
        output = [box[:2] for box in boxes if box[2] == Ink.RESULT.fill]
        cluster, *blocks = [box[:2] for box in boxes if box[2] == "none"]
        assert len(output) == len(blocks) == 4
        assert output == [pytest.approx(block, abs=1) for block in blocks]
        assert cluster[1] == pytest.approx(349 if picture.narrow else 729, abs=1)


@pytest.mark.parametrize("name", ["p12-banks", "p23-vectors", "p30", "p32", "p33-banks", "p35"])
def test_maps_of_requests_are_as_wide_as_the_text(real: Project, name: str) -> None:
    for picture in pictures(real, name):
        text = picture.text
        right = 359 if picture.narrow else 729
        boxes = re.findall(
            r'<rect class="(?:moved|still|first|again)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text
        )
        ends = {float(x) + float(wide) for x, wide in boxes}
        assert right - 1 <= max(ends) <= right


@pytest.mark.parametrize("narrow", [False, True])
def test_words_share_borders_with_their_neighbours_and_with_their_sector(
    real: Project, *, narrow: bool
) -> None:
    trace = Facts(PuzzleIndex(real), "p23").trace("p23 --tiled")
    load_of_warp = next(event for event in trace.events if event.action == "load")
    sheet = partial(Canvas, language="en")
    drawn = draw_request(sheet, request(trace, load_of_warp), narrow=narrow).svg("x", "y")
    numbers = r'x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"'
    sector = re.search(rf'class="moved" {numbers}', drawn)
    words = re.findall(rf'<rect {numbers} rx="0"(?: class="unused"|/><text class="lane")', drawn)[:8]
    assert sector is not None
    left, top, width, high = map(float, sector.groups())
    places = sorted(tuple(map(float, word)) for word in words if float(word[1]) == top)
    assert [x for x, *_ in places] == [left + word * width / 8 for word in range(8)]
    assert {(y, each, height) for _, y, each, height in places} == {(top, width / 8, high)}


def test_curves_are_named_beside_a_point_of_theirs() -> None:
    series = (
        Series("--up", {1024: 1, 1 << 20: 100}, Ink.RESULT, 1024, (1, 1)),
        Series("--down", {1024: 100, 1 << 20: 1}, Ink.PLAIN, 1 << 20, (-1, -1)),
    )
    sheet = partial(Canvas, language="en")
    drawn = draw_chart(sheet, series, Axis("GB/s", (1, 10, 100), logarithmic=True), "elements").svg("x", "y")
    labels = {
        text: (float(x), float(y), anchor)
        for x, y, anchor, text in re.findall(
            r'<text x="([\d.]+)" y="([\d.]+)" font-size="\d+" text-anchor="(\w+)"[^>]*>([^<]*)<', drawn
        )
    }
    left, right = labels["1 Ki"][0], labels["1 Mi"][0]
    low = labels["1"][1]
    assert labels["--up"] == (left + 13, low + 10, "start")
    assert labels["--down"] == (right - 13, low - 10, "end")
    assert labels["10"][1] == (labels["1"][1] + labels["100"][1]) / 2


def test_a_limit_in_a_chart_has_no_points_and_may_lack_some() -> None:
    series = (
        Series("--times", {1: 4, 2: 5, 4: 800, 8: 820}, Ink.RESULT, 1, (1, 3), values=True),
        Series("least", {2: 1, 8: 100}, Ink.PLAIN, 2, (1, 1), limit=True),
    )
    sheet = partial(Canvas, language="en")
    drawn = draw_chart(sheet, series, Axis("µs", (1, 1000), logarithmic=True), "elements").svg("x", "y")
    assert drawn.count("<circle") == 4
    assert drawn.count("stroke-dasharray") == 1
    values = re.findall(r'text-anchor="(middle|end)"[^>]*>(4\.0|5\.0|800|820)<', drawn)
    assert values == [("middle", "4.0"), ("end", "5.0"), ("middle", "800"), ("end", "820")]


def test_values_of_a_chart_are_equally_far_from_their_points() -> None:
    series = (Series("--times", {1: 4, 2: 5, 4: 6}, Ink.RESULT, 1, (1, 3), values=True),)
    sheet = partial(Canvas, language="en")
    drawn = draw_chart(sheet, series, Axis("µs", (0, 5, 10)), "elements").svg("x", "y")
    points = _points(drawn, filled=True)
    values = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*text-anchor="middle"[^>]*>[456]\.0<', drawn)
    assert len(values) == 2
    for (x, y), (across, height) in zip(points, values, strict=False):
        assert abs(x - float(across)) < 0.1
        assert abs(y - 16 - float(height)) < 0.1
    lines = re.findall(rf'points="([\d.]+),([\d.]+) ([\d.]+),\2"[^>]*stroke="{re.escape(GRID)}"', drawn)
    assert len({(begin, end) for begin, _, end in lines}) == 1
    assert len(lines) == 3  # at each tick


def test_bands_of_a_chart_are_between_its_points_and_have_their_names_above_it(real: Project) -> None:
    for picture in pictures(real, "p23-sizes"):
        text = picture.text
        bands = re.findall(r'<rect x="([\d.]+)" y="34" width="([\d.]+)"[^>]*fill-opacity="0.6"', text)
        ((left, width),) = (map(float, each) for each in bands)  # only the second one has a tint
        disks = _points(text, filled=True)
        assert abs(left - disks[3][0]) < 0.1  # the sizes are 1, 4, 16 and 64 Ki
        assert disks[6][0] < left + width < disks[7][0]  # 5 Mi are between 4 and 16
        axis, edge = (re.findall(r'<polyline points="([\d.]+),[\d.]+ ([\d.]+),[\d.]+"', text))[0]
        assert abs(float(edge) - (359 if picture.narrow else 729)) < 0.2
        names = {
            label: float(x)
            for x, label in re.findall(
                r'<text x="([\d.]+)" y="46"[^>]*text-anchor="middle"[^>]*>([^<]*)<', text
            )
        }
        edges = (float(axis), left, left + width, float(edge))
        assert list(names.values()) == [pytest.approx(sum(ends) / 2, abs=0.2) for ends in pairwise(edges)]
        if picture.language == "en":
            assert list(names) == ["launch", "L2 cache", "memory"]
            copy = [">a copy:<", ">4,250 GB/s<"] if picture.narrow else [">a copy: 4,250 GB/s<"]
            assert all(label in text for label in (">4,288<", ">4,284<", *copy))
            # The line of a copy ends where the curves reach it.
            ((limit, end),) = re.findall(
                r'points="([\d.]+),[\d.]+ ([\d.]+),[\d.]+"[^>]*stroke-dasharray', text
            )
            assert (float(limit), float(end)) == (disks[0][0], disks[8][0])


def test_no_name_of_a_curve_crosses_the_edge_of_a_band(real: Project) -> None:
    for picture in pictures(real, "p23-sizes"):
        text = picture.text
        ((left, width),) = re.findall(r'<rect x="([\d.]+)" y="34" width="([\d.]+)"', text)
        curves = re.findall(r'<text x="([\d.]+)"[^>]*font-weight="600">([^<0-9:]*)<', text)
        if picture.language == "en":
            assert len(curves) == (4 if picture.narrow else 2)  # in two lines
            for x, name in curves:
                long = 1.1 * measured(name, Size.LABEL)
                outside = name in {"caches overwritten", "caches", "overwritten"}
                assert float(x) < float(left) if outside else float(left) < float(x)
                assert outside or float(x) + long < float(left) + float(width)


def _points(drawn: str, *, filled: bool) -> list[tuple[float, float]]:
    """Where the disks of a chart are, or its rings, which are larger."""
    found = re.findall(
        r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)" fill="([^"]+)" stroke="([^"]+)"', drawn
    )
    assert {(radius, fill == line) for *_, radius, fill, line in found} <= {("3.5", True), ("6", False)}
    return [(float(x), float(y)) for x, y, _, fill, line in found if (fill == line) == filled]


def test_points_of_a_chart_that_coincide_are_rings_around_disks() -> None:
    series = (
        Series("--cold", {1: 20, 2: 50, 4: 99.5}, Ink.RESULT, 1, (1, -1)),
        Series("--limit", {1: 100, 4: 100}, Ink.SPARE, 1, (1, -1), limit=True),
        Series("--warm", {1: 2, 2: 50, 4: 99}, Ink.PLAIN, 1, (1, 1), ring=True),
    )
    sheet = partial(Canvas, language="en")
    drawn = draw_chart(sheet, series, Axis("GB/s", (0, 100)), "elements").svg("x", "y")
    disks, rings = _points(drawn, filled=True), _points(drawn, filled=False)
    assert [x for x, _ in disks] == [x for x, _ in rings]
    assert disks[1] == rings[1]
    assert abs(disks[2][1] - rings[2][1]) < 6 - 3.5  # the disk is within the ring
    assert drawn.rindex('r="6"') < drawn.index('r="3.5"')  # disks cover rings


def test_curves_cover_the_limits_of_a_chart() -> None:
    series = (
        Series("--times", {1: 4, 2: 5}, Ink.RESULT, 1, (1, 3)),
        Series("least", {1: 1, 2: 5}, Ink.PLAIN, 2, (1, 1), limit=True),
    )
    sheet = partial(Canvas, language="en")
    drawn = draw_chart(sheet, series, Axis("µs", (0, 10)), "elements").svg("x", "y")
    assert drawn.index("stroke-dasharray") < drawn.index('stroke-width="2"')


def test_values_of_a_chart_are_clear_of_the_lines_of_ticks() -> None:
    series = (Series("--times", {1: 4, 2: 5}, Ink.RESULT, 1, (1, 3), values=True),)
    drawn = draw_chart(partial(Canvas, language="en"), series, Axis("µs", (0, 10)), "elements").svg("x", "y")
    halo = rf'<text [^>]*stroke="{re.escape(PAPER)}" stroke-width="3" paint-order="stroke">([\d.]+)<'
    assert re.findall(halo, drawn) == ["4.0", "5.0"]


def _starts(drawn: str) -> dict[str, tuple[float, str]]:
    """Where the labels of a drawing are, with their anchors."""
    found = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<', drawn)
    return {text: (float(x), anchor) for x, anchor, text in found}


def _ends_of_bars(drawn: str) -> list[tuple[float, float]]:
    found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)
    return [(float(x), float(x) + float(width)) for x, width in found]


def test_the_value_of_a_bar_is_at_its_end_and_clear_of_lines() -> None:
    bars = [Bar(5, "5", Ink.LIVE, "--short"), Bar(90, "90", Ink.RESULT, "--long"), Bar(14, "14", Ink.LIVE)]
    drawn = draw_bars(
        partial(Canvas, language="en"), {"k": bars}, "µs", limits=[Limit(15, "peak: 15 µs")]
    ).svg("x", "y")
    (line, top, bottom), (zero, *_) = re.findall(
        rf'points="([\d.]+),([\d.]+) \1,([\d.]+)"[^>]*"{re.escape(TEXT)}"', drawn
    )
    starts = {text: x for text, (x, _) in _starts(drawn).items()}
    (left, short), (_, long), (_, near) = _ends_of_bars(drawn)
    assert abs(starts["peak: 15 µs"] - float(line)) < 0.1
    assert starts["k"] == starts["--short"] == starts["--long"] == 1 < left == float(zero)
    assert short + 5 < starts["5"] < short + 7 < float(line)
    assert long + 5 < starts["90"] < long + 7
    assert near < float(line)
    assert abs(starts["14"] - float(line) - 6) < 0.1  # there is no room for it before the line
    passed = re.escape(Ink.RESULT.text)  # the line crosses a bar in the colour of text on it
    ((x, above, below),) = re.findall(rf'points="([\d.]+),([\d.]+) \1,([\d.]+)"[^>]*"{passed}"', drawn)
    assert x == line
    assert float(top) < float(above) < float(below) < float(bottom)
    assert 'width="730"' in drawn


@pytest.mark.parametrize("narrow", [False, True])
def test_bars_have_the_same_height_and_gaps_and_reach_the_right_edge(*, narrow: bool) -> None:
    rows = {"first": [Bar(60, "60", Ink.LIVE)], "second": [Bar(495, "495", Ink.RESULT)]}
    drawn = draw_bars(partial(Canvas, language="en"), rows, "µs", narrow=narrow).svg("x", "y")
    starts = {text: x for text, (x, _) in _starts(drawn).items()}
    assert starts["µs"] == starts["first"] == 1
    (left, short), (_, long) = _ends_of_bars(drawn)
    assert abs((long - left) / (short - left) - 495 / 60) < 0.3
    assert abs(starts["495"] + 3 * 14 * 0.6 - (360 if narrow else 730)) < 5
    tops = [float(top) for top in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', drawn)]
    assert tops[1] - tops[0] == (34 if narrow else 36)


def test_long_names_are_above_bars_on_a_narrow_screen() -> None:
    long, short = "without bank conflicts", "--tiled"
    bars = [Bar(60, "60", Ink.FRAME, short), Bar(495, "495", Ink.SPARE, long)]
    drawn = draw_bars(partial(Canvas, language="en"), {"k": bars}, "µs", narrow=True).svg("", "")
    assert [left for left, _ in _ends_of_bars(drawn)] == [1, 1]
    tops = [float(top) for top in re.findall(r'<rect x="[\d.]+" y="([\d.]+)"', drawn)]
    names = [
        float(found[1]) for name in (short, long) if (found := re.search(rf' y="(\S+)"[^>]*>{name}<', drawn))
    ]
    assert [top - name for top, name in zip(tops, names, strict=True)] == [10, 10]
    ((line, start, _, end),) = re.findall(r'points="([\d.]+),([\d.]+) ([\d.]+),([\d.]+)"', drawn)
    assert float(line) == 1  # of zero, beside the names and the bars
    assert float(start) < names[0] < tops[1] + 20 < float(end)
    assert {x for name in (short, long) for x in re.findall(rf'<text x="(\S+)"[^>]*>{name}<', drawn)} == {"9"}
    outlines = re.findall(r'<rect [^>]*fill="([^"]*)" stroke="([^"]*)"([^>]*)/>', drawn)
    assert outlines == [
        ("none", Ink.FRAME.line, ' stroke-dasharray="5 4"'),
        (Ink.SPARE.line, ARROW, ""),
    ]


@pytest.mark.parametrize("narrow", [False, True])
def test_what_is_counted_are_squares_with_their_number_behind_them(*, narrow: bool) -> None:
    rows = {"few": [Ink.LIVE] * 2, "many": [Ink.LIVE] * 20 + [Ink.MARK] * 8}
    drawn = draw_counts(partial(Canvas, language="en"), rows, narrow=narrow).svg("x", "y")
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', drawn)
    squares = [tuple(map(float, square)) for square in found]
    assert len(squares) == 30
    assert len({(wide, high) for _, _, wide, high in squares}) == 1
    assert all(wide == high for _, _, wide, high in squares)
    starts = _starts(drawn)
    assert starts["few"] == starts["many"] == (1, "start")
    for number, top in (("2", squares[0][1]), ("28", squares[-1][1])):
        end = max(x + wide for x, y, wide, _ in squares if y == top)
        assert abs(starts[number][0] - end - 6) < 1


def test_speeds_are_drawn_from_what_was_measured(real: Project) -> None:
    facts = Facts(PuzzleIndex(real), "p33")
    speeds = {size: [round(speed, 1) for speed in found] for size, found in measured_speeds(facts).items()}
    assert speeds == {1024: [8.1, 23.7, 41.6], 4096: [8.5, 36.5, 112.0]}
    copies = {round(one.of_a_copy, -2) for (one,) in benchmark(facts, "p30 --benchmark").values()}
    assert copies == {3900}


def test_the_names_of_measured_kernels_may_have_blanks(real: Project) -> None:
    rows = benchmark(Facts(PuzzleIndex(real), "p23"), "benchmarks/kernels/vector_addition.mojo")
    assert [one.bandwidth for one in rows["tiled 16"]] == [1058.7]
    first, last = rows["cold"][0], rows["cold"][-1]
    assert (first.elements, first.microseconds, last.elements) == (1024, 3.78, 1 << 28)


def test_the_name_of_a_curve_has_its_colour() -> None:
    inks = (Ink.SPARE, Ink.PLAIN, Ink.RESULT)
    series = [
        Series(f"--{ink.value}", {1: place, 2: place + 1}, ink, 1, (1, 1)) for place, ink in enumerate(inks)
    ]
    drawn = draw_chart(partial(Canvas, language="en"), series, Axis("s", (0, 3)), "n").svg("", "")
    lines = re.findall(r'<polyline points="[^"]*" fill="none" stroke="([^"]+)" stroke-width="2"', drawn)
    names = [re.search(rf'fill="([^"]+)"[^>]*>--{ink.value}<', drawn) for ink in inks]
    assert lines == [name and name[1] for name in names]
    assert len(set(lines)) == 3
    for shade, paper in enumerate(PALETTE["paper"]):
        values = [PALETTE[_name(line)][shade] for line in lines]
        assert min(_contrast(value, paper) for value in values) >= 4.5


def test_two_arrows_to_a_thread_end_beside_each_other() -> None:
    rows = (
        Row("a", cells({0: "1", 1: "2"}, Ink.PLAIN)),
        Row(
            "b", cells({0: "2", 1: "2"}, Ink.LIVE), tuple((source, to) for to in (0, 1) for source in (0, 1))
        ),
        Row("c", cells({0: "2", 1: "2"}, Ink.LIVE), ((0, 0), (1, 1)), dashed=True),
    )
    sheet = partial(Canvas, language="en")
    drawn = draw_rows(sheet, rows, (0, 1), Text("lane")).svg("x", "y")
    ways = re.findall(r'<path d="M([\d.]+) ([\d.]+)(?:V|L([\d.]+) )([\d.]+)" fill="none"', drawn)[:4]
    starts = [float(start) for start, *_ in ways]
    ends = []
    for start, top, end, bottom in ways:  # all are straight; their heads are 5 pixels long
        along = math.hypot(float(end or start) - float(start), float(bottom) - float(top))
        ends.append(float(start) + (float(end or start) - float(start)) * (1 + 5 / along))
    first = min(starts)
    side = 342  # the cells are as wide as the text
    assert sorted(each - first for each in ends) == pytest.approx([0, 16, side, side + 16], abs=0.6)
    assert sum(end != "" for _, _, end, _ in ways) == 2  # the values of the partners cross
    assert drawn.count("stroke-dasharray") == 2


def test_a_long_number_is_drawn_smaller() -> None:
    canvas = Canvas(100, 40, "en")
    canvas.cell(0, 0, 40, 40, "108")
    canvas.cell(50, 0, 40, 40, "16524")
    canvas.cell(50, 0, 40, 40, "1652")
    assert re.findall(r'font-size="([\d.]+)"', canvas.svg("x", "y")) == ["15", "13", "14"]
