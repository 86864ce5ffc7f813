"""`tooling update`: a clone is pulled, and no answer is lost."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_learner_commands import RIGHT, course
from tooling.learning import updating
from tooling.learning.updating import carried_over, pull
from tooling.platform.exit_codes import ExitCode
from tooling.project import Project

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

__all__ = ["course"]
FILL = "# FILL ME IN (about 2 lines)\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Reader", "-c", "user.email=reader@example.org")
    subprocess.run(["git", *identity, "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def upstream(course: Workbench, tmp_path: Path) -> Path:
    """Another clone of the repository that the workbench is a clone of; it is at the same commit."""
    shared, author = tmp_path / "shared.git", tmp_path / "author"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(shared))
    git(course.root, "init", "-q", "-b", "main")
    git(course.root, "add", "-A")
    git(course.root, "commit", "-qm", "Begin")
    git(course.root, "remote", "add", "origin", str(shared))
    git(course.root, "push", "-qu", "origin", "main")
    git(tmp_path, "clone", "-q", str(shared), str(author))
    return author


def publish(author: Path, before: str, after: str) -> None:
    """The author changes the problem file of puzzle 1."""
    file = author / "problems" / "p01" / "p01.mojo"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    git(author, "commit", "-qam", "Change puzzle 1")
    git(author, "push", "-q")


def answer(course: Workbench) -> str:
    course.problem.write_text(course.problem.read_text().replace(FILL, RIGHT))
    assert RIGHT in course.problem.read_text()
    return course.problem.read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os, struct, sys\n", "import os, struct, sys\n# A new line, far away.\n"),
        ("out = stage(", "# A new line beside the region.\nout = stage("),
        (FILL, FILL + "# A new line below the region.\n"),
        ("# ANCHOR_END: add_10\n", "# ANCHOR_END: add_10\nsys.stdout.flush()\n"),
    ],
)
def test_an_answer_is_carried_into_a_changed_skeleton(
    course: Workbench, upstream: Path, before: str, after: str
) -> None:
    mine = answer(course)
    publish(upstream, before, after)
    result = course.run("update")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "problems/p01/p01.mojo: your answer was carried over" in result.stdout
    text = course.problem.read_text()
    assert RIGHT in text
    assert after.replace(FILL, "") in text
    (copy,) = course.problem.parent.glob("p01.mojo.20*")
    assert copy.read_text() == mine
    assert f"your file as it was: {copy.relative_to(course.root)}" in result.stdout
    assert course.run("run", "p01").status == ExitCode.PASSED


def test_files_that_the_new_version_leaves_alone_are_neither_listed_nor_copied(
    course: Workbench, upstream: Path
) -> None:
    mine = answer(course)
    manifest = upstream / "problems" / "p34" / "puzzle.yaml"
    manifest.write_text(manifest.read_text() + "# a newer version\n")
    git(upstream, "commit", "-qam", "Change puzzle 34")
    git(upstream, "push", "-q")
    for _ in range(2):
        result = course.run("update")
        assert result.status == ExitCode.PASSED, result.stderr
        assert result.stdout == "the puzzles are up to date, and no file that you have edited had to change\n"
        assert course.problem.read_text() == mine
        assert not list(course.problem.parent.glob("p01.mojo.20*"))
    assert (course.root / "problems" / "p34" / "puzzle.yaml").read_text() == manifest.read_text()


def test_an_answer_that_cannot_be_carried_over_is_kept(course: Workbench, upstream: Path) -> None:
    mine = answer(course)
    publish(upstream, FILL, "# FILL ME IN (about 5 lines)\n")
    result = course.run("update")
    assert result.status == ExitCode.WRONG
    assert "was not carried over, because the new version changes the same lines as you" in result.stdout
    assert "about 5 lines" in course.problem.read_text()
    (copy,) = course.problem.parent.glob("p01.mojo.20*")
    assert copy.read_text() == mine
    korean = course.run("update", "--lang", "ko")
    assert korean.stdout.endswith("퍼즐은 최신 상태이며, 작성한 파일 가운데 바뀐 것은 없습니다\n")


def test_a_file_that_the_book_removes_is_kept(course: Workbench, upstream: Path) -> None:
    mine = answer(course)
    git(upstream, "rm", "-q", "problems/p01/p01.mojo")
    git(upstream, "commit", "-qm", "Remove puzzle 1")
    git(upstream, "push", "-q")
    result = course.run("update")
    assert result.status == ExitCode.WRONG
    assert "the file no longer exists in the new version" in " ".join(result.stdout.split())
    (copy,) = course.problem.parent.glob("p01.mojo.20*")
    assert copy.read_text() == mine


def test_a_pull_that_fails_changes_nothing(course: Workbench, upstream: Path) -> None:
    mine = answer(course)
    publish(upstream, FILL, FILL + "\n")
    git(course.root, "commit", "-q", "--allow-empty", "-m", "A commit of the reader")
    result = course.run("update")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "`git pull --ff-only` failed, and your files are as they were" in result.stderr
    assert course.problem.read_text() == mine


def test_what_the_reader_saves_during_an_update_is_kept(course: Workbench, upstream: Path) -> None:
    mine = answer(course)
    publish(upstream, "import os, struct, sys\n", "import os, struct, sys\n# A new line, far away.\n")
    newer = mine.replace(RIGHT, RIGHT + "# saved meanwhile\n")
    (course.root / "newer.mojo").write_text(newer)
    hook = course.root / ".git" / "hooks" / "post-merge"
    hook.write_text("#!/bin/sh\nmv newer.mojo problems/p01/p01.mojo\n")
    hook.chmod(0o755)
    result = course.run("update")
    assert result.status == ExitCode.PASSED, result.stderr
    text = course.problem.read_text()
    assert RIGHT + "# saved meanwhile\n" in text
    assert "# A new line, far away.\n" in text
    copies = sorted(copy.read_text() for copy in course.problem.parent.glob("p01.mojo.20*"))
    assert copies == sorted([mine, newer])


def test_what_the_reader_saves_while_a_pull_fails_is_kept(course: Workbench, upstream: Path) -> None:
    answer(course)
    git(course.root, "commit", "-q", "--allow-empty", "-m", "A commit of the reader")
    publish(upstream, FILL, FILL + "\n")
    command = course.root.parent / "saving"
    command.write_text(f'#!/bin/sh\necho newer > {course.problem}\nexec git-upload-pack "$@"\n')
    command.chmod(0o755)
    git(course.root, "config", "remote.origin.uploadpack", str(command))
    assert course.run("update").status == ExitCode.NOT_POSSIBLE
    assert course.problem.read_text() == "newer\n"


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_an_update_that_is_interrupted_leaves_every_answer(
    course: Workbench, upstream: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    mine = answer(course)
    other = course.root / "problems" / "p34" / "p34.mojo"
    other.write_text(other.read_text() + "# mine\n")
    publish(upstream, "import os, struct, sys\n", "import os, struct, sys\n# A new line, far away.\n")

    def interrupted(*_: bytes) -> None:
        raise failure

    monkeypatch.setattr(updating, "carried_over", interrupted)
    with pytest.raises(type(failure)):
        pull(Project(course.root))
    assert course.problem.read_text() == mine
    assert other.read_text().endswith("# mine\n")
    assert len(list(course.root.glob("problems/p*/p*.mojo.20*"))) == 2


def test_outside_a_clone_it_says_so(course: Workbench) -> None:
    result = course.run("update")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "is not a clone" in result.stderr


@pytest.mark.parametrize(
    ("mine", "new", "carried"),
    [
        ("a\nX\nc\n", "a\n# FILL ME IN\nc\n", "a\nX\nc\n"),  # nothing new
        ("a\nX\nY\nc\n", "b\n# FILL ME IN\nd\n", "b\nX\nY\nd\n"),  # both neighbours changed
        ("a\n# FILL ME IN\nX\nc\n", "b\n# FILL ME IN\nc\n", "b\n# FILL ME IN\nX\nc\n"),  # the mark is left
        ("A\nX\nc\n", "b\n# FILL ME IN\nc\n", None),  # a line that the reader need not change
        ("a\nX\nc\n", "a\nno region\nc\n", None),
        ("a\nX\nc\n", "# FILL ME IN\n# FILL ME IN\n", None),
    ],
)
def test_only_what_is_certain_is_carried_over(mine: str, new: str, carried: str | None) -> None:
    found = carried_over(b"a\n# FILL ME IN\nc\n", mine.encode(), new.encode())
    assert found == (None if carried is None else carried.encode())
