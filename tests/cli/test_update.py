"""`tooling update`: a clone is pulled, and no answer is lost."""

from __future__ import annotations

import errno
import os
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


def identify(course: Workbench) -> None:
    """The reader commits, so git knows a name."""
    git(course.root, "config", "user.name", "Reader")
    git(course.root, "config", "user.email", "reader@example.org")


@pytest.mark.parametrize("uncommitted", ["", "# and more\n"])
def test_committed_answers_are_carried_over_too(course: Workbench, upstream: Path, uncommitted: str) -> None:
    identify(course)
    answer(course)
    git(course.root, "commit", "-qam", "My answer")
    course.problem.write_text(mine := course.problem.read_text().replace(RIGHT, RIGHT + uncommitted))
    publish(upstream, FILL, FILL + "# A new line below the region.\n")
    result = course.run("update")
    assert result.status == ExitCode.PASSED, result.stderr
    assert "problems/p01/p01.mojo: your answer was carried over" in result.stdout
    text = course.problem.read_text()
    assert RIGHT + uncommitted + "# A new line below the region.\n" in text
    (copy,) = course.problem.parent.glob("p01.mojo.20*")
    assert copy.read_text() == mine
    for _ in range(2):
        again = course.run("update")
        assert again.stdout == "the puzzles are up to date, and no file that you have edited had to change\n"
        assert course.problem.read_text() == text


def test_a_commit_of_the_reader_that_is_no_answer_stays(course: Workbench, upstream: Path) -> None:
    identify(course)
    (course.root / "notes.txt").write_text("mine\n")
    git(course.root, "add", "notes.txt")
    git(course.root, "commit", "-qm", "My notes")
    publish(upstream, FILL, FILL + "\n")
    assert course.run("update").status == ExitCode.PASSED
    assert course.problem.read_text() == (upstream / "problems" / "p01" / "p01.mojo").read_text()
    assert (course.root / "notes.txt").read_text() == "mine\n"


def test_commits_that_do_not_fit_change_nothing(course: Workbench, upstream: Path) -> None:
    identify(course)
    mine = answer(course)
    git(course.root, "rm", "-q", "problems/p34/puzzle.yaml")
    git(course.root, "commit", "-qam", "My answer, without puzzle 34")
    manifest = upstream / "problems" / "p34" / "puzzle.yaml"
    manifest.write_text(manifest.read_text() + "# a newer version\n")
    git(upstream, "commit", "-qam", "Change puzzle 34")
    git(upstream, "push", "-q")
    course.problem.write_text(mine + "# and more\n")
    result = course.run("update")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "`git merge` failed, and your files are as they were" in result.stderr
    assert "your commits and the new version do not fit together" in result.stderr
    assert course.problem.read_text() == mine + "# and more\n"
    git(course.root, "diff", "--exit-code", "--diff-filter=U")


def test_a_problem_file_that_was_missing_is_named(course: Workbench, upstream: Path) -> None:
    skeleton = course.problem.read_text()
    course.problem.unlink()
    for changed in (False, True):
        if changed:
            course.problem.unlink()
            publish(upstream, "import os, struct, sys\n", "import os, struct, sys\n# A new line.\n")
        result = course.run("update")
        assert result.status == ExitCode.PASSED, result.stderr
        assert "problems/p01/p01.mojo was missing, and is the skeleton again\n" in result.stdout
    assert course.problem.read_text() == skeleton.replace("sys\n", "sys\n# A new line.\n", 1)


def test_without_git_it_says_so(course: Workbench, upstream: Path, tmp_path: Path) -> None:
    for language, what in (
        ("en", "error: git is not installed\n"),
        ("ko", "오류: git이 설치되어 있지 않습니다\n"),
    ):
        result = course.run("update", "--lang", language, PATH=str(tmp_path / "empty"))
        assert result.status == ExitCode.NOT_POSSIBLE
        assert result.stderr.startswith(what)
        assert "install git" in result.stderr or "git을 설치" in result.stderr


@pytest.mark.parametrize(
    ("command", "reason", "advice", "korean"),
    [
        (
            "checkout -q --detach",
            "no branch is checked out (git: fatal: HEAD does not point to a branch)",
            "`git switch main`",
            "체크아웃된 브랜치가 없습니다",
        ),
        (
            "branch -q --unset-upstream",
            "the branch does not follow a branch of a remote (git: fatal: no upstream configured",
            "`git branch --set-upstream-to=origin/main`",
            "브랜치가 원격 저장소의 브랜치를 따르지 않습니다",
        ),
        (
            "remote set-url origin /nonexistent.git",
            "the remote is not there, or cannot be read (git: fatal: '/nonexistent.git' does not appear",
            "`git remote -v`",
            "원격 저장소가 없거나 읽을 수 없습니다",
        ),
        (
            "remote set-url origin https://unknown.invalid/x.git",
            "the remote cannot be reached (git: fatal: unable to access",
            "check the network connection",
            "원격 저장소에 연결할 수 없습니다",
        ),
    ],
)
@pytest.mark.usefixtures("upstream")
def test_gits_reason_is_said_with_its_remedy(
    course: Workbench, command: str, reason: str, advice: str, korean: str
) -> None:
    mine = answer(course)
    git(course.root, *command.split())
    result = course.run("update")
    assert result.status == ExitCode.NOT_POSSIBLE
    said = " ".join(result.stderr.split())
    assert reason in said
    assert advice in said
    assert course.problem.read_text() == mine
    assert korean in course.run("update", "--lang", "ko").stderr


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to another user")
def test_a_checkout_of_another_user_has_gits_advice(course: Workbench, upstream: Path) -> None:
    os.chown(course.root / ".git", 65534, 65534)
    os.chown(course.root, 65534, 65534)
    result = course.run("update", PUZZLE_ROOT=str(course.root))
    assert result.status == ExitCode.NOT_POSSIBLE
    said = " ".join(result.stderr.split())
    assert "the checkout belongs to another user, so git does not use it" in said
    assert f"`git config --global --add safe.directory {course.root}`" in said


def test_the_reader_s_name_is_asked_for_where_a_merge_needs_it(course: Workbench, upstream: Path) -> None:
    answer(course)
    git(course.root, "commit", "-qam", "My answer")
    publish(upstream, FILL, FILL + "\n")
    git(course.root, "config", "user.useConfigOnly", "true")
    result = course.run("update")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "git does not know your name" in result.stderr
    assert RIGHT in course.problem.read_text()


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
    command.write_text(f"#!/bin/sh\necho newer > {course.problem}\nexit 1\n")
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
