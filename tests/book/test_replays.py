"""Replays in the book: recorded like outputs, written as pages, opened by a button."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.replay.recorded import cells_after, embedded
from tooling.book.checks import check
from tooling.book.checks.context import CheckContext
from tooling.book.checks.replays import check_replays
from tooling.book.directives.replays import (
    MOST_BYTES,
    figure_links,
    load,
    replay,
    replay_path,
    save,
    shown_replays,
)
from tooling.book.directives.runs import shown_outputs
from tooling.book.editions import editions
from tooling.book.errors import BookError, BuildFailed
from tooling.book.page import PageContext
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.site.build import build
from tooling.book.verdict_recordings import digest_of
from tooling.project import Project
from tooling.replay.cells import size_of
from tooling.replay.page import to_html
from tooling.replay.trace import VERSION
from tooling.simulator.checks.findings import explain

PAGE = "puzzle_15/puzzle_15.md"
WORDS = ["p15_tile_tensor", "missing_barrier"]
ANSWERS = ("missing_barrier", "solved")


def page_of(project: Project, language: int) -> PageContext:
    return PageContext(editions(project)[language], PAGE, "", PuzzleIndex(project))


@pytest.mark.parametrize(
    ("language", "words", "link"),
    [
        (
            0,
            ["p15_tile_tensor"],
            '<a class="replay" href="../replays/p15_tile_tensor.solved.html" '
            'data-close="Close" data-enlarge="Enlarge">'
            "Step through the solution</a>",
        ),
        (
            1,
            WORDS,
            '<a class="replay" href="../replays/p15_tile_tensor.missing_barrier.html" '
            'data-close="닫기" data-enlarge="크게 보기">'
            "틀린 답을 한 단계씩 보기</a>",
        ),
    ],
)
def test_a_directive_becomes_a_link(real: Project, language: int, words: list[str], link: str) -> None:
    assert replay(page_of(real, language), words) == link


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["p15_tile_tensor", "unsolved"],
            "this replay was never recorded: p15_tile_tensor.unsolved.replay.json",
        ),
        (["p15_tile_tensor", "misspelled"], "p15 has no answer `misspelled`"),
        ([*WORDS, "solved"], "{{#replay p15_tile_tensor missing_barrier solved}} names 2 answers"),
    ],
)
def test_a_directive_that_names_nothing_recorded_is_refused(
    real: Project, words: list[str], says: str
) -> None:
    with pytest.raises(BookError, match=f"^{re.escape(says)}"):
        replay(page_of(real, 0), words)


TOGETHER = """
    p08 | p08_tile_tensor | p09 --third-case | p10 --race-condition | p11 | p11_tile_tensor | p12
    p12_layout_tensor | p13_tile_tensor --simple | p13_tile_tensor --block-boundary
    p14_tile_tensor --simple | p14_tile_tensor --complete | p15 | p16_tile_tensor --single-block
    p16_tile_tensor --tiled | p16_tile_tensor --idiomatic-tiled | p18_test | p24_tile_tensor --kernel
    p24_tile_tensor --functional | p25_tile_tensor --neighbor | p25_tile_tensor --average
    p25_tile_tensor --broadcast-basic | p25_tile_tensor --broadcast-conditional
    p25_tile_tensor --broadcast-shuffle-coordination | p26_tile_tensor --pair-swap
    p26_tile_tensor --parallel-max | p26_tile_tensor --conditional-max | p26_tile_tensor --prefix-sum
    p26_tile_tensor --partition | p27_tile_tensor --block-sum-dot-product | p27_tile_tensor --histogram
    p27_tile_tensor --normalize | p28_tile_tensor | p29_tile_tensor --multi-stage
    p29_tile_tensor --double-buffer | p32 --two-way | p33_tile_tensor --tensor-core | p34 --coordination
    p34_tile_tensor --reduction | p34_tile_tensor --advanced | p36 --atomic-sum | p36 --two-launches
    p37 --shared | p37 --merged | p38 --scan | p38 --packed | p39 --pass | p39 --sort
    p40 --warp-per-row | p40 --equal-work | p41 --product | p43 --one-tile | p43 --ring
    p43 --multicast | p44 --one-tile | p45 --specialised | p45 --persistent | p46 --online
    p48 --one-shot
"""


def test_every_page_about_threads_that_work_together_needs_replays(checkout: Project) -> None:
    """Barriers, reductions, shuffles, bank conflicts, clusters; the real pages are checked elsewhere."""
    for edition in editions(checkout):
        for chapter in edition.source.rglob("*.md"):
            text = chapter.read_text("utf-8")
            chapter.write_text(re.sub(r"\{\{#replay[^}]*\}\}", "", text), "utf-8")
    found = [finding.message for finding in check_replays(CheckContext(checkout))]
    wanted = [run.strip() for row in TOGETHER.strip().splitlines() for run in row.split("|")]
    says = "the threads of {} work together, and no replay shows the solution and a wrong answer"
    assert sorted(found) == sorted(2 * [says.format(run) for run in wanted])


FIGURES = [
    # The replays that the page shows, in the order of its directives.
    ("puzzle_14/simple.md", "p14-race", "p14_tile_tensor.simple", ["solved", "one_phase"]),
    # A page without any: those of one program.
    ("puzzle_12/puzzle_12.md", "p12", "p12_tile_tensor", ["solved", "missing_barrier"]),
]


@pytest.mark.parametrize(("path", "figure", "program", "states"), FIGURES)
def test_a_figure_from_a_run_offers_its_replays_and_says_what_they_reveal(
    real: Project, path: str, figure: str, program: str, states: list[str]
) -> None:
    edition = editions(real)[0]
    text = edition.page(path).read_text("utf-8")
    html = figure_links(PageContext(edition, path, text, PuzzleIndex(real)), figure)
    assert re.findall(r'href="([^"]+)"', html) == [f"../replays/{program}.{state}.html" for state in states]
    labels = {
        "solved": "Step through this run <small>(shows the solution)</small>",
        "wrong": "Step through a wrong answer <small>(shows most of the solution)</small>",
    }
    assert re.findall(r">([^>]+<small>[^<]+</small>)</a>", html) == [
        labels.get(state, labels["wrong"]) for state in states
    ]


@pytest.mark.parametrize(
    ("path", "figure"),
    [
        ("puzzle_15/puzzle_15.md", "p15-steps"),  # folded: it has directives of its own
        ("puzzle_15/puzzle_15.md", "p15"),  # from no run
        ("puzzle_01/puzzle_01.md", "p01"),  # from a run that has no replay
        ("puzzle_12/puzzle_12.md", "p12-banks"),  # from two runs
    ],
)
def test_other_figures_offer_none(real: Project, path: str, figure: str) -> None:
    edition = editions(real)[0]
    page = PageContext(edition, path, edition.page(path).read_text("utf-8"), PuzzleIndex(real))
    assert figure_links(page, figure) == ""


def test_replays_of_several_modes_are_told_apart(real: Project) -> None:
    edition = editions(real)[0]
    path = "puzzle_25/warp_shuffle_down.md"
    page = PageContext(edition, path, edition.page(path).read_text("utf-8"), PuzzleIndex(real))
    link = replay(page, ["p25_tile_tensor", "--average"])
    assert link.endswith(">Step through the solution <code>--average</code></a>")


def test_every_recorded_replay_is_of_this_version_and_small_enough(real: Project) -> None:
    for selection, state in shown_replays(real):
        path = replay_path(real, selection, state)
        recorded = load(path)
        assert path.stat().st_size <= MOST_BYTES, path.name
        # Nothing of the machine that recorded it.
        trace = recorded.trace
        assert not re.search(r"/(?:root|home|tmp|work)\b", str((trace.marks, trace.fault))), path.name
        assert all(re.search("[가-힣]", explain(mark.finding, "ko").what) for mark in trace.marks)


def test_a_mark_is_at_the_access_that_its_finding_names(real: Project) -> None:
    """Also where a check reports it some steps later. With several shared arrays, offsets are of all."""
    marks = 0
    for selection, state in shown_replays(real):
        trace = load(replay_path(real, selection, state)).trace
        shared = [buffer for buffer in trace.buffers if buffer.space == "shared"]
        for mark in trace.marks:
            if mark.cell < 0 or (trace.buffers[mark.buffer] in shared and len(shared) > 1):
                continue
            size = size_of(trace.buffers[mark.buffer].format)
            assert mark.cell * size == mark.finding.offset, (selection.command, state)
            assert mark.step == mark.parties[0].step
            marks += 1
    assert marks == 32


def test_a_kernel_that_was_stopped_says_why_in_every_language(real: Project) -> None:
    (trace,) = (
        trace
        for selection, state in shown_replays(real)
        if selection.puzzle.id == "p34" and (trace := load(replay_path(real, selection, state)).trace).fault
    )
    for language, says in (
        ("en", "The kernel was stopped: 1024 threads wait for each other and none can continue"),
        ("ko", "커널이 중단되었습니다: 스레드 1024개가 서로를 기다려 어느 스레드도 진행할 수 없습니다"),
    ):
        assert f"<p>{says}" in to_html(trace, "p34", language)


def test_replays_of_a_program_with_given_kernels_show_the_one_to_write(real: Project) -> None:
    shown = {
        (selection.command, state): load(replay_path(real, selection, state)).trace
        for selection, state in shown_replays(real)
        if selection.puzzle.id == "p33"
    }
    states = ("solved", "fragments_loaded_too_early")
    assert list(shown) == [("p33_tile_tensor --tensor-core", state) for state in states]
    for trace in shown.values():
        assert (trace.kernel, trace.launch, trace.launches) == ("tensor_core_matrix_multiplication", 2, 2)
        assert [buffer.name for buffer in trace.buffers] == ["a_shared", "b_shared", "a", "b"]
    *_, wrong = shown.values()
    assert {explain(mark.finding).what for mark in wrong.marks} == {
        "race on shared memory: a thread reads what another thread has just written, unordered"
    }


def test_small_results_are_shown_as_numbers(real: Project) -> None:
    """The softmax of 0 to 127: most elements are below 2**-40."""
    (trace,) = (
        load(replay_path(real, selection, state)).trace
        for selection, state in shown_replays(real)
        if (selection.puzzle.id, state) == ("p18", "solved")
    )
    page = msgspec.json.decode(msgspec.json.encode(trace))
    assert [(each.name, each.format) for each in trace.buffers] == [
        ("shared", "f32"), ("input", "f32"), ("output", "f32"),
    ]  # fmt: skip
    output = cells_after(page, len(trace.steps) - 1)[2]
    assert output[127] == pytest.approx(0.632120558, rel=1e-6)


def test_the_pages_are_in_both_languages_and_share_style_and_script(site: Path) -> None:
    for folder, assets, language in (("", "../assets", "en"), ("ko/", "../../assets", "ko")):
        page = site / folder / "replays" / "p15_tile_tensor.missing_barrier.html"
        text = page.read_text("utf-8")
        assert f'<html lang="{language}"' in text
        for name in ("replay.css", "replay.js"):
            assert f'"{assets}/{name}"' in text
            assert (page.parent / assets / name).is_file()
        trace = embedded(page)["trace"]
        assert trace["marks"][0]["step"] == trace["marks"][0]["parties"][0]["step"]
        assert cells_after(trace, len(trace["steps"]) - 2)[0][0] == 15
        article = (site / folder / "puzzle_15/puzzle_15.html").read_text("utf-8")
        for address in re.findall(r'<a class="replay" href="([^"]+)"', article):
            assert (site / folder / "puzzle_15" / address).is_file()
    assert 'href="replays/p15_tile_tensor.solved.html"' in (site / "print.html").read_text("utf-8")
    names = sorted(path.name for path in (site / "replays").iterdir())
    assert names == sorted(path.name for path in (site / "ko/replays").iterdir())


def test_a_page_without_its_recording_fails_the_build_with_its_line(
    short_book: Project, tmp_path: Path
) -> None:
    (short_book.recordings / "outputs/p15/p15_tile_tensor.solved.replay.json").unlink()
    with pytest.raises(BuildFailed) as failed:
        build(short_book, tmp_path / "site")
    assert re.search(r"puzzle_15\.md:\d+: this replay was never recorded", str(failed.value))
    assert "record it with `tooling book outputs --update p15_tile_tensor`" in str(failed.value)


def test_a_replay_of_another_program_is_reported(checkout: Project) -> None:
    solution = checkout.solutions / "p15/p15_tile_tensor.mojo"
    solution.write_text(
        solution.read_text("utf-8").replace("stride //= 2", "stride = stride // 2", 1), "utf-8"
    )
    found = {
        finding.path: finding.message
        for finding in check(checkout, build_pages=False, rules={"output"}).findings
    }
    for state in ANSWERS:
        path = f"tests/data/outputs/p15/p15_tile_tensor.{state}.replay.json"
        assert found[path] == "the program has changed since this was recorded"


def test_a_replay_that_no_page_shows_is_reported(checkout: Project) -> None:
    for edition in editions(checkout):
        page = edition.page(PAGE)
        page.write_text(re.sub(r"\{\{#replay[^}]*\}\}", "", page.read_text("utf-8")), "utf-8")
    unused = check(checkout, build_pages=False, rules={"unused-file"}).findings
    found = [finding.path for finding in unused if finding.rule == "unused-file"]
    expected = [f"tests/data/outputs/p15/p15_tile_tensor.{state}.replay.json" for state in ANSWERS]
    assert [path for path in found if "p15" in path] == expected


def test_a_replay_in_another_version_of_the_format_is_refused(real: Project, tmp_path: Path) -> None:
    recorded = load(replay_path(real, *next(shown_replays(real))))
    old = tmp_path / "p15.solved.replay.json"
    save(old, replace(recorded, trace=replace(recorded.trace, version=VERSION - 1)))
    with pytest.raises(
        BookError, match=r"^p15\.solved\.replay\.json is a replay in version 2 of its"
    ) as refused:
        load(old)
    assert refused.value.why == "pages show version 3"
    assert refused.value.hint == "record it again with `tooling book outputs --update p15`"


def test_an_edited_replay_is_refused(real: Project, tmp_path: Path) -> None:
    recorded = load(replay_path(real, *next(shown_replays(real))))
    copy = tmp_path / "p15.solved.replay.json"
    save(copy, recorded)
    assert load(copy) == recorded
    save(copy, replace(recorded, trace=replace(recorded.trace, launches=7)))
    with pytest.raises(BookError, match=r"this replay was edited after it had been recorded") as refused:
        load(copy)
    assert refused.value.hint == "record it again with `tooling book outputs --update p15`"


def test_a_replay_whose_message_is_gone_is_reported(checkout: Project) -> None:
    path = checkout.recordings / "outputs/p34/p34_tile_tensor.coordination.arrive_in_a_branch.replay.json"
    recorded = load(path)
    fault = {**(recorded.trace.fault or {}), "text": "the sentence of an earlier version"}
    trace = replace(recorded.trace, fault=fault)
    save(path, replace(recorded, trace=trace, digest=digest_of(trace)))
    found = check(checkout, build_pages=False, rules={"output"}).findings
    assert [(finding.path, finding.message) for finding in found] == [
        (
            str(path.relative_to(checkout.root)),
            "a message of this replay, or a fact that it needs, no longer exists: "
            "the sentence of an earlier version",
        )
    ]


def test_a_replay_is_kept_a_step_a_line_and_refused_if_too_large(real: Project, tmp_path: Path) -> None:
    (shown,) = (each for each in shown_outputs(real) if each.name == "p15_tile_tensor (solved, replay)")
    recorded = load(shown.path)
    copy = tmp_path / "copy.json"
    save(copy, recorded)
    assert copy.read_bytes() == shown.path.read_bytes()
    assert len(copy.read_text("utf-8").splitlines()) == len(recorded.trace.steps)
    large = replace(recorded, trace=replace(recorded.trace, kernel="x" * MOST_BYTES))
    with pytest.raises(BookError, match=r"^the replay of p15_tile_tensor has \d+ bytes") as refused:
        save(tmp_path / "large.json", large)
    assert refused.value.why == "a page of the book may load 350000"
    assert not (tmp_path / "large.json").exists()
