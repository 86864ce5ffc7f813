"""`tooling new-puzzle`: what it writes passes every check, and it overwrites nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tooling.catalog.catalogue import load_catalogue
from tooling.generate.new_puzzle import NewPuzzle, named, write_puzzle
from tooling.platform.errors import ToolingError
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]
LAST = load_catalogue(Project(ROOT))[-1]
FREE = f"p{LAST.number + 1:02}"
SCALE = NewPuzzle(FREE, "Vector scale", "벡터 스케일", LAST.part)


@pytest.fixture
def contents(tmp_path: Path) -> Project:
    """A project with nothing but the contents of the book and the texts of its figures."""
    for folder in ("book/src", "i18n/ko/book/src"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("SUMMARY.md", "figures.md"):
            shutil.copy(ROOT / folder / name, tmp_path / folder)
    return Project(tmp_path)


def test_a_new_puzzle_belongs_to_the_part_of_the_one_before() -> None:
    assert named(load_catalogue(Project(ROOT)), FREE, "Vector scale", "벡터 스케일") == SCALE
    assert SCALE.kernel == "vector_scale"
    assert NewPuzzle("p36", "2D", "2차원", "I").kernel == "kernel"


@pytest.mark.parametrize(
    ("name", "title", "what"),
    [
        ("p35", "Map", "there is a puzzle p35 already"),
        ("36", "Map", "a puzzle cannot be called `36`"),
        ("p36/..", "Map", "a puzzle cannot be called `p36/..`"),
        ("p36", "Map](x)", "a puzzle cannot have the title `Map](x)`"),
        ("p36", "Map\n", "a puzzle cannot have the title `Map\n`"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name: str, title: str, what: str) -> None:
    with pytest.raises(ToolingError) as caught:
        named(load_catalogue(Project(ROOT)), name, title, "맵")
    assert caught.value.what == what


@pytest.mark.parametrize("number", [3, LAST.number + 1])
def test_its_pages_follow_those_of_the_puzzle_before(contents: Project, number: int) -> None:
    puzzle = NewPuzzle(f"p{number:02}", "Vector scale", "벡터 스케일", "I")
    for folder in ("book/src", "i18n/ko/book/src"):  # the number is free
        summary = contents.root / folder / "SUMMARY.md"
        text = "".join(
            line for line in summary.read_text("utf-8").splitlines(True) if "puzzle_03/" not in line
        )
        summary.write_text(text, "utf-8")
    written = write_puzzle(contents, puzzle)
    assert len(written) == 11
    for folder, line in (
        ("book/src", f"- [Puzzle {number}: Vector scale]"),
        ("i18n/ko/book/src", f"- [퍼즐 {number}: 벡터 스케일]"),
    ):
        lines = (contents.root / folder / "SUMMARY.md").read_text("utf-8").splitlines()
        index = lines.index(f"{line}(puzzle_{number:02}/puzzle_{number:02}.md)")
        before = "puzzle_02/puzzle_02.md)" if number == 3 else f"{LAST.chapters[-1]})"
        assert lines[index - 1].endswith(before)


def test_nothing_is_overwritten(contents: Project) -> None:
    reference = contents.root / "solutions" / FREE / "reference.py"
    reference.parent.mkdir(parents=True)
    reference.write_text("mine", "utf-8")
    before = (contents.root / "book" / "src" / "SUMMARY.md").read_bytes()
    with pytest.raises(ToolingError, match="the file of a new puzzle exists already"):
        write_puzzle(contents, SCALE)
    assert reference.read_text("utf-8") == "mine"
    assert not (contents.root / "problems").exists()
    assert (contents.root / "book" / "src" / "SUMMARY.md").read_bytes() == before


def test_a_folder_without_the_book_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolingError, match="a new puzzle needs a clone with the book"):
        write_puzzle(Project(tmp_path), SCALE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.mojo
def test_a_new_puzzle_passes_every_check(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    # With its history: translations name the commits that they were made from.
    subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", ROOT, clone], check=True)
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\0"
    ):
        if (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name, follow_symlinks=False)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for arguments in (["add", "-A"], ["commit", "-q", "--allow-empty", "-m", "Copy"]):
        subprocess.run(["git", *identity, *arguments], cwd=clone, check=True)

    def tooling(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "tooling", *arguments],
            cwd=clone,
            env={**os.environ, "PYTHONPATH": str(clone)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = tooling("new-puzzle", FREE, "Vector scale", "--ko", "벡터 스케일")
    assert f"recorded: {FREE} (unsolved), 2 lines" in said
    assert f"{FREE} is complete" in said
    verified = tooling("verify", FREE, "--target", "sim").splitlines()[-1]
    assert verified.split()[:5] == ["all", "1/1", "1/1", "4/4", "-"]
    assert tooling("check").count("✅") == 3
