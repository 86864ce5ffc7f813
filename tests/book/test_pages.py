"""Rendering a chapter for mdBook: directives, tabs, formulas, banner."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest

from tests.book.edited import edited
from tooling.book.directives.banner import PageState, States, load, status_path
from tooling.book.directives.captions import teaching_marks
from tooling.book.directives.chapter_renderer import ChapterRenderer
from tooling.book.directives.formulas import RENDERER, record_path, render_formulas, save
from tooling.book.directives.formulas import load as load_formulas
from tooling.book.editions import editions
from tooling.book.errors import BookError
from tooling.book.listings import Listing, Listings, opening_fence
from tooling.book.marks import mark_of
from tooling.book.parts import glyph, part_number
from tooling.book.phrases import PART_TITLES
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.site.typography.highlight import highlight, highlight_page
from tooling.catalog.catalogue import load_catalogue
from tooling.cli import main
from tooling.mdbook.files import Files
from tooling.platform.exit_codes import ExitCode
from tooling.project import Project

PAGE = "puzzle_15/puzzle_15.md"
REPOSITORY = "https://github.com/o/r"
_LINE = '<span class="line">{}\n</span>'


def listed(listing: Listing, code: str, language: str = "") -> tuple[str, Listings]:
    """The block of a listing as mdBook renders it, and its table."""
    table: Listings = {}
    return _as_html(f"{opening_fence(listing, table, language)}\n{code}```"), table


def coloured(html: str, listings: Listings | None = None, language: str = "en") -> str:
    return edited(html, highlight_page, REPOSITORY, language, listings or {})


def renderer(project: Project, language: str = "en", states: States | None = None) -> ChapterRenderer:
    edition = next(each for each in editions(project) if each.language == language)
    return ChapterRenderer(edition, PuzzleIndex(project), states, Files(project.root))


def test_run_tabs_follow_the_manifest(real: Project) -> None:
    at_work = renderer(real)
    text = at_work.render("puzzle_34/puzzle_34.md", "# x\n\n{{#run p34 --coordination}}\n")
    assert at_work.problems == []
    for command in (
        "pixi run tooling run p34 --coordination",
        "uv run tooling run p34 --coordination",
        "uv run tooling run p34 --coordination --target sim",
    ):
        assert f"```bash\n{command}\n```" in text
    assert "amd" not in text
    assert "apple" not in text


def test_constants_of_a_graph_are_those_of_all_its_files(real: Project) -> None:
    at_work = renderer(real)
    written = "{{#constant p17 INPUT_SIZE}} {{#constant p17 TPB}} {{#constant p17 BLOCKS_PER_GRID}}"
    assert at_work.render("puzzle_17/puzzle_17.md", written) == "15 15 (2, 1)"
    assert at_work.problems == []


def test_run_tabs_of_a_graph_bring_its_extra(real: Project) -> None:
    at_work = renderer(real)
    text = at_work.render("puzzle_15/puzzle_15.md", "# x\n\n{{#run p17 solution}}\n")
    assert at_work.problems == []
    assert re.findall(r"```bash\n(.*)\n```", text) == [
        "uv run --extra max tooling run p17 --solution",
        "uv run --extra max tooling run p17 --solution --target sim",
        "pixi run -e max tooling run p17 --solution",
        "pixi run -e max tooling run p17 --solution --target amd",
        "pixi run -e max tooling run p17 --solution --target apple",
    ]


@pytest.mark.parametrize(
    ("language", "puzzle", "told"),
    [
        ("en", "p20", "Needs MAX and PyTorch, the extra <code>torch</code>."),
        ("en", "p21", "Needs MAX, the extra <code>max</code>."),
        ("ko", "p21", "MAX가 필요합니다(선택 패키지 <code>max</code>)."),
    ],
)
def test_a_card_names_the_extra(real: Project, language: str, puzzle: str, told: str) -> None:
    card = renderer(real, language).render(PAGE, f"{{{{#puzzle {puzzle}}}}}")
    assert f'<p class="chip-why">{told}</p>' in card


def test_a_card_of_a_program_in_mojo_names_no_extra(real: Project) -> None:
    assert "chip-why" not in renderer(real).render(PAGE, "{{#puzzle p15}}")


def test_a_tooltip_has_the_code_of_a_reason_without_backticks(real: Project) -> None:
    table = renderer(real).render("puzzle_29/x.md", "{{#compatibility p29}}")
    assert "Mojo refuses mbarrier_init for AMD GPUs" in table
    assert "`" not in table


def test_a_recorded_benchmark_is_a_table(real: Project) -> None:
    table = renderer(real, "ko").render(PAGE, "{{#times gpu-coalescing}}")
    assert re.findall(r"<th [^>]*>([^<]*)</th>", table) == ["커널", "원소 수", "시간(µs)", "GB/s"]
    assert re.findall(r"<code>([^<]*)</code>", table) == ["kernel1", "kernel2"]
    assert re.findall(r"<td>([^<]*)</td>", table)[:3] == ["16,777,216", "75.86", "2,654.0"]


def test_a_recorded_benchmark_by_size_has_bars_up_to_the_bandwidth_of_a_copy(real: Project) -> None:
    table = renderer(real).render(PAGE, "{{#sizes p23-benchmark}}")
    heads = re.findall(r'<th [^>]*scope="rowgroup">([^<]*)</th>', table)
    assert heads == ["16 elements", "128 elements", "1,048,576 elements", "268,435,456 elements"]
    groups = re.split("(<tbody[^>]*>)", table)
    assert [group.count("<code>") for group in groups[::2]] == [0, 4, 4, 4, 4]
    assert groups[1::2] == ['<tbody class="launches">'] * 2 + ["<tbody>"] * 2
    assert [group.count("mostly the time of the launch") for group in groups[::2]] == [
        0,
        1,
        1,
        0,
        0,
    ]
    assert re.findall(r"<code>tiled</code></td>(.*)</tr>", table)[-1] == (
        '<td>10,299.55</td><td>312.8</td><td class="share" style="--share: 7.4%">0.074</td>'
    )
    assert '<td class="share" style="--share: 100.0%">1.012</td>' in table


def test_a_table_of_no_benchmark_is_refused(real: Project) -> None:
    at_work = renderer(real)
    at_work.render(PAGE, "{{#times p10-memory-bug-memcheck}}")
    (problem,) = at_work.problems
    assert problem.what == "this is not a table of a benchmark"


def test_benchmarks_before_and_after_a_repair_are_one_table(real: Project) -> None:
    table = renderer(real).render(PAGE, "{{#times p30-benchmark-unsolved p30-benchmark}}")
    heads = re.findall(r"<th [^>]*>([^<]*)</th>", table)
    assert heads[:3] == ["kernel", "time (µs)", "bandwidth relative to a copy"]
    assert heads[3:] == ["as given", "repaired"] * 2
    assert re.findall(r"<code>kernel2</code></td>(.*)</tr>", table) == [
        "<td>471.77</td><td>75.43</td><td>0.110</td><td>0.685</td>"
    ]


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (
            "p30-benchmark p31-benchmark",
            "`p30-benchmark` and `p31-benchmark` measured different kernels or sizes",
        ),
        (
            "p30-benchmark p31-benchmark p32",
            "`p30-benchmark p31-benchmark p32` is not the name of a recording",
        ),
    ],
)
def test_times_of_other_kernels_are_not_compared(real: Project, names: str, problem: str) -> None:
    at_work = renderer(real)
    at_work.render(PAGE, f"{{{{#times {names}}}}}")
    assert [each.what for each in at_work.problems] == [problem]


def test_the_card_of_a_later_page_names_the_puzzle_and_the_file_that_the_page_runs(real: Project) -> None:
    text = "{{#puzzle p16}}\n\n{{#run p16 --tiled solution}}\n{{#run p16_tile_tensor --tiled}}\n"
    card, _, _ = renderer(real).render("puzzle_16/tiled.md", text).partition("</section>")
    assert 'data-name="Matrix multiplication"' in card
    assert re.findall(r">(problems/[^<]*)</a>", card)[0] == "problems/p16/p16_tile_tensor.mojo"
    assert "puzzle-summary" not in card
    assert "data-name" not in renderer(real).render("puzzle_16/puzzle_16.md", "{{#puzzle p16}}")


def test_a_reason_is_beside_the_chips_of_the_vendors_that_it_is_about(real: Project) -> None:
    card = renderer(real).render("puzzle_16/tiled.md", "{{#puzzle p16}}")
    assert (
        '<li class="chip-limit">NVIDIA: compute 8.0 or later</li></ul>\n<p class="chip-why">The program'
        in card
    )
    card = renderer(real).render(PAGE, "{{#puzzle p34}}")
    rows = re.findall(
        r'<div class="chip-row">\n<ul class="chips">(.*)</ul>\n<p class="chip-why">(.*)</p>', card
    )
    assert [(re.findall(">([^<]+)<", chips), why) for chips, why in rows] == [
        (["NVIDIA: compute 9.0 or later"], "Thread-block clusters exist from compute capability 9.0 on."),
        (
            ["AMD, Apple: not supported"],
            "These GPUs have no thread-block clusters.",
        ),
    ]


def test_the_card_of_a_first_page_names_task_and_files_of_every_version(real: Project) -> None:
    card = renderer(real).render(PAGE, "{{#puzzle p15}}")
    facts = "<span>Part III: Algorithms</span> <span>1\N{NO-BREAK SPACE}min\N{NO-BREAK SPACE}read</span>"
    assert f'</svg><span class="separated">{facts}</span></p>' in card
    assert '<p class="puzzle-summary">Sum every row of a matrix, one block for each row.</p>' in card
    assert re.findall(r">(problems/[^<]*)</a>", card) == [
        "problems/p15/p15_tile_tensor.mojo",
        "problems/p15/p15.mojo",
        "problems/p15/p15_raw.mojo",
    ]
    assert "puzzle-files" not in renderer(real).render("puzzle_16/tiled.md", "{{#puzzle p16}}")


def test_tips_are_named_where_a_page_has_several(real: Project) -> None:
    several = renderer(real).render(PAGE, "{{#hints p26 --pair-swap}}\n\n{{#hints p26 --parallel-max}}")
    assert re.findall("<summary>(.*)</summary>", several) == [
        "Tips for <code>--pair-swap</code>",
        "Tips for <code>--parallel-max</code>",
    ]
    assert "<summary>Tips</summary>" in renderer(real).render(PAGE, "{{#hints p26 --pair-swap}}")


def test_the_code_of_a_wrong_answer_is_that_which_is_judged(real: Project) -> None:
    at_work = renderer(real)
    shown = at_work.render(PAGE, "{{#wrong p01 read_backwards add_10_solution}}")
    first, _, code = shown.partition("\n")
    ((name, listing),) = at_work.listings.items()
    assert first == f"```mojo,{name}"
    assert (listing.file, listing.changed) == ("p01.mojo", True)
    numbers = [number or 0 for number in listing.lines]
    (skipped,) = (row for row in range(1, len(numbers)) if numbers[row] != numbers[row - 1] + 1)
    # The mark is left out; of the lines below it, the comment is not wrong.
    assert listing.written == ((skipped + 1, skipped + 2),)
    assert code.startswith("def add_10(\n")
    assert "output[unsafe_offset=i] = a[unsafe_offset=SIZE - 1 - i] + 10\n" in shown
    assert "FILL" not in shown


def test_what_a_wrong_answer_changes_is_above_its_verdict(real: Project) -> None:
    at_work = renderer(real)
    shown, judged, _ = at_work.render(PAGE, "{{#verdict p12_tile_tensor missing_barrier}}").partition("<div")
    assert judged
    html = coloured(_as_html(shown), at_work.listings)
    assert html.startswith(
        '<figure class="code changed"><figcaption><span class="filename">p12_tile_tensor.mojo</span> '
    )
    assert re.findall(r'class="key" data-sign="(.)">([^<]*)<', html) == [
        ("−", "left out"),
        ("▸", "named below"),
    ]
    (listing,) = at_work.listings.values()
    _, *lines = shown.splitlines()
    assert _marked(lines[: lines.index("```")], listing) == [
        "    if global_i < SIZE:",
        "        shared[local_i] = a[global_i] * b[global_i] (named)",
        "    else:",
        "        shared[local_i] = 0",
        "    barrier() (removed)",
        "",
        "    while stride > 0:",
        "        var upper = Scalar[dtype](0)",
        "        if local_i < stride:",
        "            upper = shared[local_i + stride] (named)",
    ]


def test_a_call_over_several_lines_is_shown_whole(real: Project) -> None:
    at_work = renderer(real)
    shown = at_work.render(PAGE, "{{#verdict p28 copies_not_waited_for}}").partition("\n```")[0]
    (listing,) = at_work.listings.values()
    marked = "\n".join(_marked(shown.splitlines()[1:], listing))
    assert "]( (named)\n        a_shared, a_tile\n    )\n\n" in marked


def test_functions_are_named_where_the_lines_belong_to_several(real: Project) -> None:
    name = "p33_tile_tensor --tensor-core fragments_loaded_too_early"
    shown = renderer(real).render(PAGE, f"{{{{#verdict {name}}}}}")
    assert "def load_a_fragment[\n\n    return [" in shown
    alone = renderer(real).render(PAGE, "{{#verdict p12_tile_tensor missing_barrier}}")
    assert "def " not in alone.partition("<div")[0]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("p33_tile_tensor --tensor-core fragments_loaded_too_early", 23),  # names lines of three functions
        ("p33 --tensor-core products_without_tensor_cores", 15),
        ("p29_tile_tensor --multi-stage no_wait_after_loading", 14),
    ],
)
def test_a_long_excerpt_is_shortened(real: Project, name: str, rows: int) -> None:
    shown = renderer(real).render(PAGE, f"{{{{#verdict {name}}}}}")
    _, *lines = shown.partition("\n```")[0].splitlines()
    assert len(lines) == rows


def test_lines_of_the_host_are_not_shown_with_a_kernel(real: Project) -> None:
    name = "p34_tile_tensor --coordination arrive_in_a_branch"
    shown = renderer(real).render(PAGE, f"{{{{#verdict {name}}}}}")
    code, _, verdict = shown.partition("<div")
    assert "synchronize" not in code
    assert "def " not in code
    assert "p34_tile_tensor.mojo:195" in verdict


def test_the_solution_of_a_changed_line_stays_folded(real: Project) -> None:
    shown = renderer(real).render(PAGE, "{{#verdict p01 counted_from_one}}")
    assert "output[unsafe_offset=i + 1] = a[unsafe_offset=i] + 10" in shown
    assert "output[unsafe_offset=i] = " not in shown


def test_only_the_changes_in_the_kernel_of_the_run_are_shown(real: Project) -> None:
    """The mutant `rows_and_columns_exchanged` changes all kernels of the program."""
    shown = renderer(real).render(PAGE, "{{#verdict p16_tile_tensor --naive rows_and_columns_exchanged}}")
    assert shown.count("output[col, row] = total") == 1


def test_code_that_the_page_shows_is_not_repeated_above_its_verdict(real: Project) -> None:
    page = "{{#wrong p01 read_backwards add_10_solution}}\n\n{{#verdict p01 read_backwards}}"
    assert renderer(real).render(PAGE, page).count("```mojo") == 1
    assert "```" not in renderer(real).render(PAGE, "{{#verdict p01 unsolved}}")


def test_lines_that_a_wrong_answer_leaves_out_are_one_where_there_are_many(real: Project) -> None:
    at_work = renderer(real)
    shown = at_work.render(PAGE, "{{#verdict p33 --tensor-core products_without_tensor_cores}}")
    (listing,) = at_work.listings.values()
    *_, last = lines = _marked(shown.partition("\n```")[0].splitlines()[1:], listing)
    assert any(line.endswith("mma(sum, a_part, b_part, sum) (removed)") for line in lines)
    assert last.endswith("store_fragment(…) (removed)")


@pytest.mark.parametrize(
    ("name", "file", "is_named"),
    [
        ("p33 --tensor-core products_without_tensor_cores", "p33.mojo", True),
        ("p33_tile_tensor --tensor-core fragments_loaded_too_early", "p33_tile_tensor.mojo", False),
    ],
)
def test_code_of_another_api_than_that_of_the_first_tab_is_named(
    real: Project, name: str, file: str, *, is_named: bool
) -> None:
    tabs = "{{#tabs api}}\n{{#tab TileTensor}}\none\n{{#tab LayoutTensor}}\ntwo\n{{#end tabs}}\n"
    at_work = renderer(real)
    shown = at_work.render(PAGE, f"{tabs}\n{{{{#verdict {name}}}}}\n").partition("```mojo,")[2]
    (listing,) = at_work.listings.values()
    assert (listing.file, listing.api) == (file, "LayoutTensor" if is_named else "")
    head = coloured(_as_html(f"```mojo,{shown}"), at_work.listings).partition("</figcaption>")[0]
    assert ('</span> <span class="api">LayoutTensor</span> <span>lines ' in head) is is_named


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("en", 'passed  <span class="aside">(the book’s data, other data; simulated GPU)</span>'),
        ("ko", '통과  <span class="aside">(책의 데이터, 다른 데이터; 시뮬레이션 GPU)</span>'),
    ],
)
def test_the_verdict_on_the_solution_is_shown(real: Project, language: str, title: str) -> None:
    shown = renderer(real, language).render("puzzle_01/raw.md", "{{#verdict p01 solved}}")
    assert f'<p class="judged-title">✅ <code>p01</code> {title}</p>' in shown
    assert "judged-body" not in shown


def test_the_verdict_on_the_solution_is_that_of_each_version(real: Project) -> None:
    page = (real.root / "book/src/puzzle_34/cluster_coordination_basics.md").read_text(encoding="utf-8")
    shown = renderer(real).render("puzzle_34/cluster_coordination_basics.md", page)
    for label, command in (("TileTensor", "p34_tile_tensor"), ("LayoutTensor", "p34")):
        assert re.search(
            rf'<div data-tab="{label}">\n<p class="variant-name">{label}</p>\n\n<div class="judged passed">\n'
            rf'<p class="judged-title">✅ <code>{command} --coordination</code> passed',
            shown,
        )


def test_the_corrected_line_is_that_of_the_solution(real: Project) -> None:
    at_work = renderer(real)
    first, *code = at_work.render(PAGE, "{{#corrected p01 read_backwards}}").split("\n")
    ((name, listing),) = at_work.listings.items()
    assert first == f"```mojo,{name}"
    (number,) = listing.lines
    assert number is not None
    assert listing == Listing("solutions/p01/p01.mojo", (number,), ((0, 1),))
    line = (real.solutions / "p01" / "p01.mojo").read_text(encoding="utf-8").splitlines()[number - 1]
    assert code == [line, "```", ""]


def _marked(lines: list[str], listing: Listing) -> list[str]:
    """The lines of a block with what its listing says of them."""
    marks = {**dict.fromkeys(listing.removed, " (removed)"), **dict.fromkeys(listing.named, " (named)")}
    return [f"{line}{marks.get(row, '')}" for row, line in enumerate(lines)]


def _as_html(block: str) -> str:
    info, _, code = block.removeprefix("```").partition("\n")
    return f'<pre><code class="language-{info.replace(",", " ")}">{code.partition("```")[0]}</code></pre>'


def test_the_anchor_of_a_wrong_answer_must_exist(real: Project) -> None:
    rendering = renderer(real)
    rendering.render(PAGE, "{{#wrong p01 read_backwards add_11}}")
    assert [each.what for each in rendering.problems] == [
        "the answer `read_backwards` has no anchor `add_11`"
    ]


def test_every_puzzle_has_a_mark_of_its_own() -> None:
    assert len({mark_of("", number) for number in range(1, 100)}) == 99
    assert mark_of("trust.html", None) != mark_of("next.html", None)
    assert mark_of("cover.html", None) == ""


def test_the_only_sign_of_a_page_is_in_the_middle_of_its_mark() -> None:
    strong = re.findall(r"M(\d+) (\d+)h", mark_of("basics/gpu.html", None).split('class="pale"')[0])
    cells = {(int(x) // 4, int(y) // 4) for x, y in strong}
    assert cells == {(8 - x, y) for x, y in cells} == {(x, 6 - y) for x, y in cells}
    assert {(x, y) for x in (3, 4, 5) for y in (2, 3, 4)} < cells  # the core of a chip


def test_every_part_has_a_mark_of_its_own() -> None:
    marks = {glyph(part_number(title.of().render("en")) or 0) for title in PART_TITLES.values()}
    assert len(marks) == len(PART_TITLES)
    assert [part_number(title) for title in ("Part IX: Memory", "9부: 메모리", "After the puzzles")] == [
        9,
        9,
        None,
    ]


def test_included_code_has_a_caption_with_file_and_lines(checkout: Project) -> None:
    page = "```mojo\n{{#include ../../../problems/p15/p15.mojo:axis_sum}}\n```\n"
    at_work = renderer(checkout)
    first, *_ = at_work.render(PAGE, page).splitlines()
    ((name, listing),) = at_work.listings.items()
    assert first == f"```mojo,{name}"
    lines = (checkout.problems / "p15" / "p15.mojo").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines, 1) if "ANCHOR: axis_sum" in line)
    end = next(number for number, line in enumerate(lines, 1) if "ANCHOR_END: axis_sum" in line)
    assert listing == Listing("problems/p15/p15.mojo", tuple(range(start + 1, end)))


def test_prose_among_columns_goes_on_below_itself_and_rows_do_not() -> None:
    row = f"name  0  {'x' * 80}"
    prose = "The exception was at PC 0x7ffd8f7a1ae0  p09_add_10_…  (p09.mojo:20)"  # spaces as between columns
    shown = coloured(f'<pre><code class="language-text">{prose}\n{row}\n{row}\n</code></pre>')
    assert shown == (
        '<pre><code class="language-text columns">'
        f'<span class="wrapped">{prose}</span>\n{row}\n{row}\n</code></pre>'
    )


def test_the_commands_of_a_recorded_session_differ_from_its_output() -> None:
    session = "$ cuda-gdb ./p\n(cuda-gdb) run\nprice: $ 3\n"
    assert coloured(f'<pre><code class="language-text">{session}</code></pre>') == (
        '<pre><code class="language-text"><span class="p">$ </span><b>cuda-gdb ./p</b>\n'
        '<span class="pause"></span><span class="p">(cuda-gdb) </span><b>run</b>\nprice: $ 3\n</code></pre>'
    )


def test_columns_that_a_program_printed_are_two_spaces_apart() -> None:
    printed = "device: H200\nname          n   time\na &lt; b         8    1.5\n"
    shown = coloured(f'<pre><code class="language-text">{printed}</code></pre>')
    tight = '<span class="wrapped">device: H200</span>\nname   n  time\na &lt; b  8   1.5\n'
    assert shown == f'<pre><code class="language-text columns" style="--columns:14">{tight}</code></pre>'


def test_a_command_is_an_element_of_its_own_and_an_address_breaks_after_a_slash() -> None:
    code = '<pre><code class="language-bash">git clone https://a.b/c-d/e-f\ncd e-f\n</code></pre>'
    shown = coloured(code)
    assert shown.count('<span class="command">') == 2
    assert (
        'https://a.b/<wbr><span class="short">c-d</span>/<wbr><span class="short">e-f</span>\n</span>'
        in shown
    )
    assert unescape(re.sub(r"<[^>]+>", "", shown)) == "git clone https://a.b/c-d/e-f\ncd e-f\n"


def test_lines_left_out_between_excerpts_are_marked(checkout: Project) -> None:
    page = (
        "```mojo\n{{#include ../../../problems/p15/p15.mojo:axis_sum}}\n"
        "{{#include ../../../problems/p15/p15.mojo:1:2}}\n```\n"
    )
    at_work = renderer(checkout)
    *_, blank, _, _, _ = at_work.render(PAGE, page).splitlines()
    (listing,) = at_work.listings.values()
    assert listing.lines[-3:] == (0, 1, 2)
    assert blank == ""


def test_a_caption_replaces_the_link_to_the_same_file() -> None:
    link = f'<a class="filename" href="{REPOSITORY}/blob/main/{{}}">View full file</a>'
    code, table = listed(Listing("a/b.mojo", (3, 4, 0, 9, 10, 11)), "one\n2\n\n3\n\n")
    shown = coloured(f"{code}\n{link.format('a/b.mojo')}", table)
    assert shown == (
        f'<figure class="code"><figcaption><a class="filename" href="{REPOSITORY}/blob/main/a/b.mojo#L3-L9">'
        "a/<wbr>b.mojo</a> <span>lines 3–9</span></figcaption>"
        '<pre><code class="language-mojo"><span class="line" data-line="3">one\n</span>'
        '<span class="line" data-line="4"><span class="n">2</span>\n</span>'
        '<span class="line" data-line="⋮"><span class="left-out"></span>\n</span>'
        '<span class="line" data-line="9"><span class="n">3</span>\n</span></code></pre></figure>\n'
    )
    assert coloured(f"{code}\n{link.format('c.mojo')}", table).endswith(link.format("c.mojo"))


@pytest.mark.parametrize(
    ("changed", "code", "beside"),
    [
        (False, "a\nb\nc\n", ["3", "5", "6"]),
        (True, "a\nb\nc\n", ["3", "⋮", "5", "6"]),
        (True, "a\n\nc\n", ["3", "⋮", "6"]),
        (True, "\nb\nc\n", ["⋮", "5", "6"]),
    ],
)
def test_a_mark_that_is_not_shown_has_a_sign_in_an_excerpt(
    *, changed: bool, code: str, beside: list[str]
) -> None:
    shown = coloured(*listed(Listing("a.mojo", (3, 5, 6), changed=changed), code))
    assert re.findall(r'<span class="line" data-line="([^"]*)"', shown) == beside


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "a\n    # FILL: about 1 line\n    b\n    # END_FILL\n",
            _LINE.format("a")
            + '<span class="written"><span class="line" style="--indent:4">    b\n</span></span>',
        ),
        ("# FIX\nb\n# END_FIX\nc\n", f'<span class="written">{_LINE.format("b")}</span>{_LINE.format("c")}'),
        ("b\n# END_FILL\nc\n", _LINE.format("b") + _LINE.format("c")),  # an excerpt that begins inside
    ],
)
def test_the_lines_that_the_learner_writes_are_marked(written: str, shown: str) -> None:
    lines = written.splitlines(keepends=True)
    kept, rows = teaching_marks(lines)
    page, table = listed(Listing(written=rows), "".join(lines[row] for row in kept), "mojo")
    assert coloured(page, table) == f'<pre><code class="language-mojo">{shown}</code></pre>'


def test_a_message_may_leave_out_what_differs(real: Project) -> None:
    at_work = renderer(real)
    text = at_work.render(PAGE, "{{#says catalog/catalogue.py there is no puzzle `…`}} {{#version mojo}}")
    assert at_work.problems == []
    assert text.startswith('<code class="message">there is no puzzle `…`</code> 1.')


@pytest.mark.parametrize(
    ("language", "beginning"), [("en", "1 to 8, 24, 11 to 16"), ("ko", "1에서 8, 24, 11에서 16")]
)
def test_a_page_says_how_many_puzzles_there_are_and_in_which_order(
    real: Project, language: str, beginning: str
) -> None:
    at_work = renderer(real, language)
    puzzles = load_catalogue(real)
    parts = {puzzle.part for puzzle in puzzles}
    counts = at_work.render(PAGE, "{{#count puzzles}} in {{#count parts}}")
    assert counts == f"{len(puzzles)} in {len(parts)}"
    order = at_work.render(PAGE, "{{#path gpu}}")
    assert order.startswith(beginning)
    assert ", 28, 29, 33, 34" in order
    assert at_work.problems == []


@pytest.mark.parametrize(("language", "shown"), [("en", "its time limit"), ("ko", "시간 제한을 넘었습니다")])
def test_a_message_is_shown_in_the_language_of_the_page(real: Project, language: str, shown: str) -> None:
    at_work = renderer(real, language)
    text = at_work.render(PAGE, "{{#says reports/parts.py its time limit | 시간 제한을 넘었습니다}}")
    assert at_work.problems == []
    assert f">{shown}</code>" in text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("8", "8"),
        ("16_384", "16,384"),
        ("TPB + SIZE * BATCH - 1", "31"),
        ("(SIZE + TPB - 1) // TPB * 10", "10"),
        ("(TPB, SIZE // 2 + 1)", "(8, 4)"),
        ("(1, BATCH)  # one block for each row", "(1, 4)"),
    ],
)
def test_a_constant_is_worked_out_as_the_compiler_does(checkout: Project, written: str, shown: str) -> None:
    program = checkout.problems / "p15" / "p15.mojo"
    program.write_text(f"{program.read_text(encoding='utf-8')}\ncomptime NEW = {written}\n", encoding="utf-8")
    assert renderer(checkout).render(PAGE, "{{#constant p15 NEW}}") == shown
    if "(" in shown:
        assert renderer(checkout).render(PAGE, "{{#constant p15 NEW[1]}}") == "4"


@pytest.mark.parametrize(
    "written", ["size_of[dtype]()", "TPB // 0", "(TPB", "TPB TPB", "True", "(TPB, dtype)"]
)
def test_only_integers_are_constants(checkout: Project, written: str) -> None:
    program = checkout.problems / "p15" / "p15.mojo"
    program.write_text(f"{program.read_text(encoding='utf-8')}\ncomptime NEW = {written}\n", encoding="utf-8")
    at_work = renderer(checkout)
    at_work.render(PAGE, "{{#constant p15 NEW}}")
    assert "has no constant `NEW`" in at_work.problems[0].what


def test_labels_are_translated_and_keys_are_not(real: Project) -> None:
    text = renderer(real, "ko").render(PAGE, "{{#run p15}}")
    assert 'data-tab="no GPU">GPU 없음<' in text


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("a\n\n{{#runn p15}}", "`{{#runn p15}}` is not a directive of this book"),
        ("a\n\n{{#compatibility}}", "is not a directive of this book"),
        ("a\n\n{{#run p15", "is not a directive of this book"),
        ("a\n\n{{#run p15 --fast}}", "takes no flag"),
        ("a\n\n{{#constant p15}}", "too few or too many words"),
        ("a\n\n{{#constant p15 WIDTH}}", "has no constant `WIDTH`"),
        ("a\n\n{{#figure p99}}", "there is no figure `p99`"),
        ("a\n\nIn {{#figure_ref p99}}, x", "there is no figure `p99`"),
        ("a\n\nIn {{#figure_ref cover}}, x", "the figure `cover` has no number"),
        ("a\n\n{{#output p15}}", "does not say which run"),
        ("a\n\n{{#says targets/probing.py there is no GPU on the moon}}", "there is no message “"),
        (
            "a\n\n{{#says reports/parts.py its time limit | 달에는 시간이 없습니다}}",
            "there is no message “",
        ),
        ("a\n\n{{#says targets/nothing.py x}}", "does not say which message"),
        ("a\n\n{{#version python}}", "there is no pinned version"),
        ("a\n\n{{#count pages}}", "the book does not count `pages`"),
        ("a\n\n{{#path slow}}", "there is no path `slow`"),
        ("a\n\n{{#verdict p01 nonsense}}", "has no answer `nonsense`"),
        ("a\n\n{{#demo nothing.mojo}}", "there is no program `nothing.mojo` beside the page"),
        ("a\n\n{{#tab x}}", "is outside a group"),
        ("a\n\n{{#tabs colours}}", "unknown group of tabs"),
        ("a\n\n{{#end tabs}}", "nothing is open"),
        ("a\n\n{{#include ../nothing.mojo}}", "there is no file"),
        ("a\n\n{{#include ../../../problems/p15/p15.mojo:nothing}}", "has no anchor `nothing`"),
    ],
)
def test_a_mistake_is_reported_with_its_line(real: Project, written: str, complaint: str) -> None:
    at_work = renderer(real)
    at_work.render(PAGE, written)
    assert complaint in at_work.problems[0].what
    where = at_work.problems[0].where
    assert where is not None
    assert (where.path.name, where.line) == ("puzzle_15.md", 3)


def test_every_mistake_of_a_page_is_reported(real: Project) -> None:
    at_work = renderer(real)
    at_work.render(PAGE, "{{#run nothing}}\n\n{{#figure nothing}}\n\n{{#include nothing}}\n")
    assert len(at_work.problems) == 3


def test_an_escaped_directive_is_shown(real: Project) -> None:
    at_work = renderer(real)
    assert at_work.render(PAGE, "\\{{#run p15}}\n") == "{{#run p15}}\n"
    assert at_work.problems == []


def test_marks_for_generating_skeletons_are_not_shown(real: Project) -> None:
    text = renderer(real).render(PAGE, "{{#include ../../../solutions/p15/p15.mojo:axis_sum_solution}}")
    assert "def axis_sum" in text
    assert "FILL" not in text


def test_a_region_with_an_empty_stub_line_shows_none_of_its_marks(real: Project) -> None:
    solution = (real.solutions / "p31" / "p31.mojo").read_text(encoding="utf-8")
    assert "\n# STUB:\n" in solution  # an empty line of the skeleton
    text = renderer(real).render(PAGE, "{{#include ../../../solutions/p31/p31.mojo}}")
    assert "SOPHISTICATED_SLOTS = 12" in text
    assert "STUB" not in text


def test_an_empty_summary_of_a_solution_gets_its_name(real: Project) -> None:
    assert "<summary>풀이 보기</summary>" in renderer(real, "ko").render(
        PAGE, "<details><summary></summary></details>"
    )


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (PageState("stale", ("Overview", "Solution")), "2개 절이 바뀌었습니다"),
        (PageState("unknown"), "번역 상태를 확인하지 못했습니다"),
        (PageState("untracked"), "원문의 어느 버전"),
        (PageState("bad-pin"), "원문의 어느 버전"),
    ],
)
def test_a_page_that_may_be_out_of_date_has_a_banner(real: Project, state: PageState, sentence: str) -> None:
    text = renderer(real, "ko", States({PAGE: state})).render(PAGE, "# 제목\n\n본문\n")
    assert sentence in text
    assert 'href="../../puzzle_15/puzzle_15.html"' in text
    assert text.startswith("# 제목\n")


@pytest.mark.parametrize("state", [PageState("current"), PageState("stale", ("x",), settled=True)])
def test_a_page_that_needs_no_translation_has_no_banner(real: Project, state: PageState) -> None:
    assert "banner" not in renderer(real, "ko", States({PAGE: state})).render(PAGE, "# 제목\n\n본문\n")


def test_without_a_report_the_state_of_every_page_is_unknown(real: Project) -> None:
    assert "banner-unknown" in renderer(real, "ko", States(None)).render(PAGE, "# 제목\n\n본문\n")


def test_a_broken_report_is_an_error(checkout: Project) -> None:
    korean = editions(checkout)[1]
    path = status_path(checkout, korean)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"pages": [1]}), encoding="utf-8")
    with pytest.raises(BookError, match="not a report of check-translations"):
        load(checkout, korean)
    path.unlink()


def test_formulas_become_mathml_outside_of_code() -> None:
    text = render_formulas("a \\\\( x_1 \\\\) and `\\\\( y \\\\)`\n\n```text\n\\\\[ z \\\\]\n```\n", {})
    assert text.count("<math") == 1
    assert 'alttext="x_1"' in text
    assert "`\\\\( y \\\\)`" in text


def test_a_displayed_formula_may_span_lines() -> None:
    assert 'display="block"' in render_formulas("\\\\[\n a +\n b \\\\]", {})


@pytest.mark.parametrize("formula", ["\\\\( \\nonsense{x} \\\\)", "\\\\( \\frac{1 \\\\)"])
def test_a_formula_that_cannot_be_read_is_an_error(formula: str) -> None:
    with pytest.raises(BookError):
        render_formulas(formula, {})


def test_a_recorded_formula_is_not_drawn_again(checkout: Project) -> None:
    save(checkout, {"inline x_1": "<math>recorded</math>"})
    assert render_formulas("\\\\( x_1 \\\\)", load_formulas(checkout)) == "<math>recorded</math>"


@pytest.mark.slow
def test_the_formulas_of_all_pages_are_recorded_anew(
    checkout: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_ROOT", str(checkout.root))
    recorded = load_formulas(checkout)
    save(checkout, {"inline x": "<math>of no page</math>"})
    assert main(["book", "formulas"]) == ExitCode.PASSED
    assert load_formulas(checkout) == recorded


def test_formulas_of_another_renderer_are_drawn_anew(checkout: Project) -> None:
    record = record_path(checkout)
    record.write_text(record.read_text(encoding="utf-8").replace(RENDERER, "another 1.0"), encoding="utf-8")
    assert load_formulas(checkout) == {}


def test_the_recorded_formulas_belong_to_the_installed_renderer() -> None:
    from importlib.metadata import version

    assert f"latex2mathml {version('latex2mathml')}" == RENDERER


@pytest.mark.parametrize(
    ("code", "marked"),
    [
        ("var x = 1", '<span class="k">var</span> x = <span class="n">1</span>'),
        ("# FILL ME IN (about 3 lines)", '<span class="hole"># FILL ME IN (about 3 lines)</span>'),
        ('print("<a>")', '<span class="f">print</span>(<span class="s">"&lt;a&gt;"</span>)'),
        ("@always_inline", '<span class="k">@always_inline</span>'),
        ("DType.float32", '<span class="t">DType</span>.float32'),
        ("definition", "definition"),
        ("show(out)", '<span class="f">show</span>(out)'),
        ("def f(out self)", '<span class="k">out</span>'),
    ],
)
def test_mojo_colours(code: str, marked: str) -> None:
    assert marked in highlight(code, "mojo")


def test_code_from_the_inside_of_a_function_begins_at_the_margin() -> None:
    page = '<pre><code class="language-mojo">        one\n\n            two\n</code></pre>'
    shown = coloured(page)
    assert re.sub("<[^>]+>", "", shown) == "one\n\n    two\n"
    assert '<span class="line" style="--indent:4">    two\n</span>' in shown


def test_no_empty_line_is_shown_beside_lines_that_are_left_out() -> None:
    listing, code = Listing("a/b.mojo", (3, 4, 5, 6, 0, 17, 18, 19)), "a\n\n\nb\n\n\nc\nd\n"
    shown = coloured(*listed(listing, code))
    assert re.findall(r'data-line="(.+?)">(.*)', shown) == [
        ("3", "a"),
        ("4", ""),
        ("5", ""),
        ("6", "b"),
        ("⋮", '<span class="left-out"></span>'),
        ("18", "c"),
        ("19", "d"),
    ]
    blank = code.replace("b", "").replace("c", "    c")
    shown = coloured(*listed(listing, blank))
    assert re.findall(r'data-line="(.+?)"[^>]*>(.*)', shown)[:3] == [
        ("3", "a"),
        ("⋮", '<span class="left-out"></span>'),
        ("18", "    c"),
    ]


def test_a_caption_of_one_line_says_so() -> None:
    block = listed(Listing("a/b.mojo", (3,)), "one\n")
    assert "<span>line 3</span>" in coloured(*block)
    assert "<span>3번 줄</span>" in coloured(*block, language="ko")


@pytest.mark.parametrize(
    ("language", "label"), [("en", "printed on the simulated GPU"), ("ko", "시뮬레이션 GPU의 출력")]
)
def test_an_output_of_less_data_names_the_simulated_gpu(real: Project, language: str, label: str) -> None:
    at_work = renderer(real)
    shown = at_work.render("puzzle_30/profile_kernels.md", "{{#output p30 --kernel2 unsolved}}")
    ((name, listing),) = at_work.listings.items()
    assert shown.startswith(f"```text,{name}\nThe simulated GPU works on 262144")
    assert listing == Listing(simulated=True)
    assert renderer(real).render(PAGE, "{{#output p01 unsolved}}").startswith("```text\n")
    html = coloured(_as_html(shown), at_work.listings, language)
    start = f'<pre><span class="printed-on">{label}</span><code class="language-text">'
    assert html.startswith(start)


def test_a_string_of_several_lines_is_coloured_in_each() -> None:
    shown = highlight('a = """b\nc"""\n', "mojo")
    assert shown == 'a = <span class="s">"""b</span>\n<span class="s">c"""</span>\n'


def test_an_unknown_language_is_only_escaped() -> None:
    page = '<pre><code class="language-text">a &lt; b\n\n\n</code></pre>'
    assert coloured(page) == '<pre><code class="language-text">a &lt; b\n</code></pre>'
