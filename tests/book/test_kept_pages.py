"""A build renders a page again exactly when one of its inputs has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tooling.book.directives.chapter_renderer import ChapterRenderer
from tooling.book.editions import editions
from tooling.book.errors import BuildFailed
from tooling.book.site.build import build
from tooling.project import Project

ADDRESS = "https://example.org/lab/"
PAGE = "puzzle_15/puzzle_15.md"


@pytest.fixture
def checkout(short_book: Project) -> Project:
    return short_book


@pytest.fixture
def rendered_pages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that are rendered from now on, each with its language."""
    names: list[str] = []
    original = ChapterRenderer.render

    def record(self: ChapterRenderer, path: str, text: str, *, generated: bool = False) -> str:
        names.append(f"{self.edition.language} {path}")
        return original(self, path, text, generated=generated)

    monkeypatch.setattr(ChapterRenderer, "render", record)
    return names


def _append(file: Path, text: str = "\n") -> None:
    file.write_text(file.read_text(encoding="utf-8") + text, encoding="utf-8")


def _tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_second_build_renders_no_page_and_makes_the_same_site(
    checkout: Project, tmp_path: Path, rendered_pages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _tree(build(checkout, tmp_path / "first", ADDRESS).folder)
    rendered_pages.clear()
    # Started, it would not be found.
    monkeypatch.setattr("tooling.book.site.build.find_mdbook", lambda: tmp_path / "no-mdbook")
    assert _tree(build(checkout, tmp_path / "second", ADDRESS).folder) == first
    assert rendered_pages == []


def test_only_a_changed_page_is_rendered_again(
    checkout: Project, tmp_path: Path, rendered_pages: list[str]
) -> None:
    build(checkout, tmp_path / "site", ADDRESS)
    rendered_pages.clear()
    _append(editions(checkout)[1].page(PAGE), "\n새 문장입니다.\n")
    site = build(checkout, tmp_path / "site", ADDRESS).folder
    assert rendered_pages == [f"ko {PAGE}"]
    assert "새 문장입니다." in (site / "ko" / "puzzle_15" / "puzzle_15.html").read_text(encoding="utf-8")


CHANGES: dict[str, Callable[[Project], None]] = {
    "the translation's source": lambda project: _append(editions(project)[0].page(PAGE)),
    "an included program": lambda project: _append(project.solutions / "p15" / "p15.mojo", "# end\n"),
    "a manifest": lambda project: _append(project.problems / "p15" / "puzzle.yaml", "# end\n"),
    "a recorded output": lambda project: _append(project.recordings / "outputs" / "p15" / "runs.json", " \n"),
    "a wrong answer": lambda project: _append(project.mutants / "p15.yaml", "# end\n"),
    "a trace": lambda project: _append(project.recordings / "traces" / "p15.json"),
    "a measurement": lambda project: _append(project.recordings / "h200" / "benchmarks.json"),
    "the repository's address": lambda project: _append(editions(project)[1].page("_includes/repo_url.md")),
    "the languages": lambda project: _append(project.root / "i18n" / "languages.toml", "# end\n"),
}


FIRST_TIER = ("the translation's source", "an included program", "a measurement")


@pytest.mark.parametrize(
    "names",
    [
        FIRST_TIER,
        pytest.param([name for name in CHANGES if name not in FIRST_TIER], marks=pytest.mark.slow),
    ],
    ids=["first tier", "all others"],
)
def test_a_page_is_rendered_again_after_a_change_of_any_of_its_inputs(
    checkout: Project, tmp_path: Path, rendered_pages: list[str], names: Sequence[str]
) -> None:
    build(checkout, tmp_path / "site", ADDRESS)
    for name in names:
        rendered_pages.clear()
        CHANGES[name](checkout)
        build(checkout, tmp_path / "site", ADDRESS)
        assert f"ko {PAGE}" in rendered_pages, name


def test_a_new_figure_gives_those_after_it_new_numbers_in_both_languages(
    checkout: Project, tmp_path: Path, rendered_pages: list[str]
) -> None:
    referring = "puzzle_14/puzzle_14"
    for edition in editions(checkout):
        _append(edition.page(f"{referring}.md"), "\n{{#figure_ref p16-tiled}}\n")
    build(checkout, tmp_path / "site", ADDRESS)
    rendered_pages.clear()
    overview = editions(checkout)[0].page("puzzle_16/puzzle_16.md")
    _append(overview, "\n{{#figure p16-copies}}\n")
    editions(checkout)[0].page("puzzle_16/idiomatic.md").write_text("# No figure\n", encoding="utf-8")
    site = build(checkout, tmp_path / "site", ADDRESS).folder
    tiled = "puzzle_16/tiled"
    changed = {f"{language} {path}.md" for language in ("en", "ko") for path in (tiled, referring)}
    assert changed <= set(rendered_pages)
    assert "en puzzle_15/puzzle_15.md" not in rendered_pages
    for folder, label in ((site, "Figure"), (site / "ko", "그림")):
        page = (folder / f"{tiled}.html").read_text(encoding="utf-8")
        assert 'id="figure-16-7"' in page
        assert f'<figcaption><span class="figure-number">{label} 16.7</span> ' in page
        other = (folder / f"{referring}.html").read_text(encoding="utf-8")
        assert f'<a href="../{tiled}.html#figure-16-7">{label}\N{NO-BREAK SPACE}16.7</a>' in other


def test_a_new_translation_of_a_page_is_linked(checkout: Project, tmp_path: Path) -> None:
    korean = editions(checkout)[1]
    contents = korean.page("SUMMARY.md")
    whole = contents.read_text(encoding="utf-8")
    contents.write_text(
        "".join(line for line in whole.splitlines(True) if PAGE not in line), encoding="utf-8"
    )
    for text, languages in ((contents.read_text(encoding="utf-8"), 1), (whole, 2)):
        contents.write_text(text, encoding="utf-8")
        site = build(checkout, tmp_path / "site", ADDRESS).folder
        page = (site / "puzzle_15" / "puzzle_15.html").read_text(encoding="utf-8")
        assert page.count('rel="alternate"') == languages + 1


def test_a_page_that_includes_another_one_is_always_rendered(
    checkout: Project, tmp_path: Path, rendered_pages: list[str]
) -> None:
    english = editions(checkout)[0]
    _append(english.page("puzzle_12/raw.md"), "\n{{#include ../puzzle_15/puzzle_15.md:4:5}}\n")
    build(checkout, tmp_path / "site", ADDRESS)
    rendered_pages.clear()
    build(checkout, tmp_path / "site", ADDRESS)
    assert rendered_pages == ["en puzzle_12/raw.md"]


def test_a_page_that_was_changed_in_the_build_folder_is_rendered_again(
    checkout: Project, tmp_path: Path, rendered_pages: list[str]
) -> None:
    before = _tree(build(checkout, tmp_path / "site", ADDRESS).folder)
    rendered_pages.clear()
    _append(checkout.root / "build" / "book" / "ko-pages" / "src" / PAGE, "\nnot from here\n")
    assert _tree(build(checkout, tmp_path / "site", ADDRESS).folder) == before
    assert rendered_pages == [f"ko {PAGE}"]


def test_two_builds_at_the_same_time_make_the_same_site(checkout: Project, tmp_path: Path) -> None:
    _append(editions(checkout)[0].page(PAGE), "\nA new sentence.\n")
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda name: build(checkout, tmp_path / name, ADDRESS).folder, ("one", "other"))
    assert _tree(one) == _tree(other)
    assert "A new sentence." in (one / "puzzle_15" / "puzzle_15.html").read_text(encoding="utf-8")


def test_every_build_reports_the_errors_of_a_page(checkout: Project, tmp_path: Path) -> None:
    build(checkout, tmp_path / "site", ADDRESS)
    _append(editions(checkout)[0].page(PAGE), "\n{{#figure p15-none}}\n")
    for _ in range(2):
        with pytest.raises(BuildFailed, match="there is no figure `p15-none`"):
            build(checkout, tmp_path / "site", ADDRESS)
