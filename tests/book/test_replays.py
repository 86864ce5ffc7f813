"""Replays in the book: recorded like outputs, written as pages, opened by a button."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.replay.recorded import cells_after, embedded
from tooling.book.checks import check
from tooling.book.directives.replays import MOST_BYTES, load, replay, replay_path, save, shown_replays
from tooling.book.directives.runs import shown_outputs
from tooling.book.editions import editions
from tooling.book.errors import BookError, BuildFailed
from tooling.book.page import PageContext
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.site.build import build
from tooling.project import Project
from tooling.replay.trace import VERSION

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
            '<a class="replay" href="../replays/p15_tile_tensor.solved.html" data-close="Close">'
            "Step through the solution</a>",
        ),
        (
            1,
            WORDS,
            '<a class="replay" href="../replays/p15_tile_tensor.missing_barrier.html" data-close="닫기">'
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


def test_every_puzzle_about_threads_that_work_together_has_a_solution_and_a_wrong_answer(
    real: Project,
) -> None:
    shown = [(selection.puzzle.id, state) for selection, state in shown_replays(real)]
    wanted = ("p08", "p10", "p12", "p14", "p15", "p16", "p24", "p25", "p26", "p27", "p29", "p32", "p34")
    assert [puzzle for puzzle in wanted if (puzzle, "solved") not in shown] == []
    wrong = {puzzle for puzzle, state in shown if state != "solved"}
    assert [puzzle for puzzle in wanted if puzzle not in wrong] == []


def test_every_recorded_replay_is_of_this_version_and_small_enough(real: Project) -> None:
    for selection, state in shown_replays(real):
        path = replay_path(real, selection, state)
        recorded = load(path)
        assert recorded.trace.version == VERSION, path.name
        assert path.stat().st_size <= MOST_BYTES, path.name
        assert list(recorded.translations) == ["ko"]
        for trace in (recorded.trace, recorded.in_language("ko")):
            # Nothing of the machine that recorded it.
            assert not re.search(r"/(?:root|home|tmp|work)\b", str((trace.marks, trace.fault))), path.name
        korean = [mark.what for mark in recorded.in_language("ko").marks]
        assert all(re.search("[가-힣]", what) for what in korean)


def test_the_pages_are_in_both_languages_and_share_style_and_script(
    checkout: Project, tmp_path: Path
) -> None:
    site = build(checkout, tmp_path / "site").folder
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
    checkout: Project, tmp_path: Path
) -> None:
    (checkout.recordings / "outputs/p15/p15_tile_tensor.solved.replay.json").unlink()
    with pytest.raises(BuildFailed) as failed:
        build(checkout, tmp_path / "site")
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


def test_a_replay_is_kept_a_step_a_line_and_refused_if_too_large(real: Project, tmp_path: Path) -> None:
    (shown,) = (each for each in shown_outputs(real) if each.name == "p15_tile_tensor (solved, replay)")
    recorded = load(shown.path)
    copy = tmp_path / "copy.json"
    save(copy, recorded)
    assert copy.read_bytes() == shown.path.read_bytes()
    assert len(copy.read_text("utf-8").splitlines()) == len(recorded.trace.steps)
    large = replace(recorded, trace=replace(recorded.trace, fault="x" * MOST_BYTES))
    with pytest.raises(BookError, match=r"^the replay of p15_tile_tensor has \d+ bytes") as refused:
        save(tmp_path / "large.json", large)
    assert refused.value.why == "a page of the book may load 60000"
    assert not (tmp_path / "large.json").exists()
