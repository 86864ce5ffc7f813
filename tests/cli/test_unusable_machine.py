"""A full or read-only disk and limits of the shell are never blamed on a right answer."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import HERE, Result
from tests.cli.test_learner_commands import RIGHT, course
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench

__all__ = ["course"]
READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'


def can_mount() -> bool:
    tried = (
        subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False) if _unshare() else None
    )
    return tried is not None and tried.returncode == 0


def _unshare() -> str | None:
    return shutil.which("unshare") if os.getuid() == 0 else None


needs_mounts = pytest.mark.skipif(not can_mount(), reason="mounting needs root")


def run(
    workbench: Workbench,
    *arguments: str,
    before: tuple[str, ...] = (),
    limit: Callable[[], None] | None = None,
    **environment: str,
) -> Result:
    done = subprocess.run(
        [*before, sys.executable, str(HERE / "launcher.py"), *arguments],
        cwd=workbench.root,
        env={**workbench.environment, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        preexec_fn=limit,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def is_plain(result: Result) -> None:
    """The status of a machine that cannot do it, a sentence, and neither a verdict nor a traceback."""
    said = result.stdout + result.stderr
    assert result.status == ExitCode.NOT_POSSIBLE, said
    assert "❌" not in said
    assert "Traceback" not in said
    assert "error: " in said or "오류: " in said


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system with a few bytes left."""
    folder = tmp_path / "full"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, left: int) -> None:
    """Leaves this many pages of a tmpfs."""
    status = os.statvfs(folder)
    (folder / "fill").write_bytes(bytes((status.f_bavail - left) * status.f_bsize))


@needs_mounts
@pytest.mark.parametrize(
    "pages", [0, 3, 7, *(pytest.param(pages, marks=pytest.mark.slow) for pages in (1, 2, 4, 5, 6))]
)
def test_a_full_temporary_folder_is_not_blamed_on_a_right_answer(
    course: Workbench, full: Path, pages: int
) -> None:
    course.answer(RIGHT)
    assert course.run("run", "p01").status == ExitCode.PASSED
    fill(full, pages)
    result = run(course, "run", "p01", TMPDIR=str(full))
    if pages == 0:  # Python looks for another folder
        assert result.status == ExitCode.PASSED, result.stderr
    elif pages < 6:
        is_plain(result)
        assert f"the temporary folder {full} cannot be written" in result.stderr.replace("\n    ", " ")
        assert "No space left on device" in result.stderr
        assert "TMPDIR=FOLDER" in result.stderr
    else:
        assert result.status in (ExitCode.PASSED, ExitCode.NOT_POSSIBLE)
        assert "❌" not in result.stdout


@needs_mounts
def test_a_wrong_answer_is_wrong_where_there_is_room(course: Workbench, full: Path) -> None:
    course.answer("pass\n")
    result = run(course, "run", "p01", TMPDIR=str(full))
    assert result.status == ExitCode.WRONG
    assert "❌ p01 is not right yet" in result.stdout


@needs_mounts
def test_the_doctor_sees_a_full_temporary_folder(course: Workbench, full: Path) -> None:
    fill(full, 1)
    result = run(course, "doctor", TMPDIR=str(full))
    assert result.status == ExitCode.WRONG
    said = " ".join(result.stdout.split())
    assert f"✗ the temporary folder {full} cannot be written: No space left on device try: free space" in said
    assert said.endswith("1 thing keeps the puzzles from running")
    korean = run(course, "doctor", "--lang", "ko", TMPDIR=str(full)).stdout
    assert f"✗ 임시 폴더 {full}에 쓸 수 없습니다" in korean
    elsewhere = run(course, "doctor", TMPDIR="/nonexistent")
    assert elsewhere.status == ExitCode.PASSED
    assert "! temporary folder /nonexistent: cannot be written; /tmp is used instead\n" in elsewhere.stdout


@pytest.mark.parametrize("bytes_", [0, 16])
def test_a_limit_on_the_size_of_files_is_not_blamed_on_a_right_answer(course: Workbench, bytes_: int) -> None:
    course.answer(RIGHT)
    assert course.run("run", "p01").status == ExitCode.PASSED

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))

    result = run(course, "run", "p01", limit=limit)
    is_plain(result)
    assert "the temporary folder" in result.stderr


@needs_mounts
def test_a_checkout_that_cannot_be_written_judges_and_says_what_it_cannot_keep(course: Workbench) -> None:
    course.answer(RIGHT)
    shutil.rmtree(course.root / ".git", ignore_errors=True)
    read_only = ("unshare", "-m", "sh", "-c", READ_ONLY, "sh", str(course.root))
    result = run(course, "run", "p01", before=read_only)
    assert result.status == ExitCode.PASSED, result.stderr
    assert "your progress could not be kept in" in result.stdout
    assert "Read-only file system" in result.stdout
    for arguments in (["reset", "p01"], ["generate", "--force"], ["editor", "helix"]):
        failed = run(course, *arguments, before=read_only)
        assert "Traceback" not in failed.stderr, arguments
        assert failed.status in (ExitCode.NOT_POSSIBLE, ExitCode.USAGE), arguments
    is_plain(run(course, "reset", "p01", before=read_only))
    doctor = run(course, "doctor", before=read_only)
    assert doctor.status == ExitCode.PASSED, doctor.stdout
    assert "! progress cannot be kept in" in doctor.stdout
    assert "! the problem files cannot be written by this user" in doctor.stdout


@needs_mounts
def test_the_doctor_agrees_with_run_about_a_cache_that_cannot_be_written(
    course: Workbench, tmp_path: Path
) -> None:
    course.answer(RIGHT)
    cache = tmp_path / "read-only"
    cache.mkdir()
    read_only = ("unshare", "-m", "sh", "-c", READ_ONLY, "sh", str(cache))
    result = run(course, "run", "p01", before=read_only, PUZZLE_CACHE_DIR=str(cache))
    assert result.status == ExitCode.PASSED, result.stderr
    doctor = run(course, "doctor", before=read_only, PUZZLE_CACHE_DIR=str(cache))
    assert doctor.status == ExitCode.PASSED, doctor.stdout
    assert f"! build cache {cache}: cannot be written; " in doctor.stdout
    assert "is used instead" in doctor.stdout


def test_the_doctor_says_that_update_needs_git(course: Workbench, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(course.root)], check=True)
    links = tmp_path / "links"
    links.mkdir()
    for name in ("cc", "sh"):
        (links / name).symlink_to(shutil.which(name) or "/bin/false")
    result = course.run("doctor", PATH=str(links))
    assert result.status == ExitCode.PASSED, result.stdout
    assert "! git is not installed: a clone is brought up to date with git\n" in result.stdout


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to another user")
def test_the_doctor_names_a_checkout_of_another_user(course: Workbench) -> None:
    subprocess.run(["git", "init", "-q", str(course.root)], check=True)
    os.chown(course.root / ".git", 65534, 65534)
    os.chown(course.root, 65534, 65534)
    result = course.run("doctor", PUZZLE_ROOT=str(course.root))
    said = " ".join(result.stdout.split())
    assert "the checkout belongs to another user, so git does not use it" in said
    assert f"`git config --global --add safe.directory {course.root}`" in said
    assert result.status == ExitCode.PASSED
