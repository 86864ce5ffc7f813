"""The book is built from regular files of the checkout: nothing else is published or blocks a build."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tooling.book.checks import check
from tooling.book.editions import editions
from tooling.book.errors import BookError, BuildFailed
from tooling.book.site.build import build
from tooling.mdbook.expansion import expand
from tooling.mdbook.files import Files
from tooling.platform.regular_files import WrongSize
from tooling.project import Project

SECRET = "token: 12345"
Plant = Callable[[str, Path | str], Path]


@pytest.fixture
def checkout(short_book: Project) -> Project:
    return short_book


@pytest.fixture
def plant(checkout: Project) -> Iterator[Plant]:
    """Makes a symbolic link in the checkout; it is removed after the test."""
    planted: list[Path] = []

    def make(path: str, target: Path | str) -> Path:
        planted.append(checkout.root / path)
        planted[-1].symlink_to(target)
        return planted[-1]

    yield make
    for each in planted:
        each.unlink()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


def append(project: Project, line: str) -> None:
    """Adds a line to a page."""
    page = editions(project)[0].page("puzzle_15/puzzle_15.md")
    page.write_text(f"{page.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")


@pytest.mark.parametrize("path", ["{secret}", "{relative}", "/proc/self/environ", "/dev/zero"])
def test_an_include_does_not_leave_the_checkout(tmp_path: Path, secret: Path, path: str) -> None:
    root = tmp_path / "checkout"
    root.mkdir()
    path = path.format(secret=secret, relative=os.path.relpath(secret, root))
    expansion = expand(f"{{{{#include {path}}}}}", root / "x.md", Files(root))
    assert [str(problem) for problem in expansion.problems] == [
        f"{root}/x.md:1:1: {path} cannot be read: it is outside {root}\n"
        "  try: include a regular file of the checkout"
    ]
    assert SECRET not in expansion.text


def test_an_include_shows_nothing_of_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(SECRET)
    expansion = expand("{{#include .git/config}}", tmp_path / "x.md", Files(tmp_path))
    assert [problem.message.render("en") for problem in expansion.problems] == [
        ".git/config cannot be read: `.git` is hidden, and hidden files are not shown"
    ]
    assert SECRET not in expansion.text


def test_the_book_takes_includes_from_the_checkout_alone(
    checkout: Project, tmp_path: Path, secret: Path
) -> None:
    append(checkout, f"{{{{#include {secret}}}}}")
    with pytest.raises(BuildFailed, match=f"cannot be read: it is outside {checkout.root}\n"):
        build(checkout, tmp_path / "site")
    assert not (tmp_path / "site").exists()
    findings = check(checkout, build_pages=False, rules={"include"}).findings
    assert [each.message for each in findings] == [f"{secret} cannot be read: it is outside {checkout.root}"]


def test_a_linked_folder_does_not_lead_an_include_out(checkout: Project, plant: Plant, secret: Path) -> None:
    link = plant("book/src/elsewhere", secret.parent)
    expansion = expand("{{#include elsewhere/secret.txt}}", link.parent / "x.md", Files(checkout.root))
    assert [problem.fault.value for problem in expansion.problems] == ["missing-file"]
    assert SECRET not in expansion.text


def test_workflows_may_be_shown(checkout: Project, tmp_path: Path) -> None:
    folder = tmp_path / ".github"
    folder.mkdir()
    (folder / "ci.yml").write_text("jobs:")
    assert expand("{{#include .github/ci.yml}}", tmp_path / "x.md", Files(tmp_path)).text == "jobs:"


@pytest.mark.parametrize("suffix", [".txt", ".md", ".svg"])
def test_a_link_out_of_the_checkout_is_refused(
    checkout: Project, plant: Plant, tmp_path: Path, secret: Path, suffix: str
) -> None:
    link = plant(f"book/src/puzzle_15/planted{suffix}", secret)
    for use in (lambda: build(checkout, tmp_path / "site"), lambda: check(checkout, build_pages=False)):
        with pytest.raises(BookError, match="leads to a file that is not part of the book") as refusal:
            use()
        assert refusal.value.where is not None
        assert refusal.value.where.path == link
        assert refusal.value.why == f"it leads to {secret}: it is outside {checkout.root}"
    assert not (tmp_path / "site").exists()


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_what_might_never_end_is_not_read(checkout: Project, tmp_path: Path, kind: str) -> None:
    path = checkout.root / "book" / "src" / "puzzle_15" / "endless.txt"
    try:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/random")
        else:
            with socket.socket(socket.AF_UNIX) as endpoint:
                endpoint.bind(os.path.relpath(path))
        said = "not part of the book" if kind == "device" else "this is not a regular file"
        with pytest.raises(BookError, match=said):
            build(checkout, tmp_path / "site")
        with pytest.raises(BookError, match=said):
            check(checkout, build_pages=False)
    finally:
        path.unlink()


def test_links_within_the_book_are_followed(checkout: Project, plant: Plant, tmp_path: Path) -> None:
    plant("book/src/puzzle_15/linked.txt", "puzzle_15.md")
    plant("book/src/puzzle_15/gone.txt", "nothing-here")  # as editors lock a file
    site = build(checkout, tmp_path / "site").folder
    assert (site / "puzzle_15" / "linked.txt").read_bytes().startswith(b"# ")
    assert not (site / "puzzle_15" / "gone.txt").exists()


@pytest.mark.parametrize("path", ["../../README.md", "/etc/hostname", "puzzle_15/../../x.md"])
def test_a_chapter_elsewhere_is_neither_read_nor_written_over(
    checkout: Project, tmp_path: Path, path: str
) -> None:
    readme = checkout.root / "README.md"
    readme.write_text("kept")
    summary = editions(checkout)[0].source / "SUMMARY.md"
    text = summary.read_text(encoding="utf-8")
    summary.write_text(f"{text}\n[x]({path})\n", encoding="utf-8")
    line = text.count("\n") + 2
    with pytest.raises(BookError) as refusal:
        build(checkout, tmp_path / "site")
    assert str(refusal.value).startswith(
        f"{summary}:{line}: the chapter `{path}` is not below the book's source folder\n"
    )
    assert readme.read_text() == "kept"
    readme.unlink()


def test_a_pipe_that_a_page_includes_does_not_block_a_check_of_any_book(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    expansion = expand("{{#include pipe}}", tmp_path / "x.md", Files())
    assert [problem.message.render("en") for problem in expansion.problems] == [
        "pipe cannot be read: not a regular file"
    ]


def test_a_huge_file_is_refused_without_being_read(short_book: Project) -> None:
    path = short_book.root / "book" / "theme" / "assets" / "book.css"
    with path.open("r+b") as file:
        file.truncate(1 << 33)  # without taking space
    with pytest.raises(WrongSize) as refused:
        build(short_book, short_book.root / "out")
    assert refused.value.filename == str(path)
