"""A copy of the book that tests may change; the built site, and a page in a browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.book.book_copy import FILES, PARTS, ROOT, copy_book, leave_out_chapters
from tests.book.web_server import serving
from tooling.book.site.build import build
from tooling.project import Project


@pytest.fixture(scope="session")
def real() -> Project:
    """The checkout itself, which tests must not change."""
    return Project(ROOT)


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the book's inputs, without git."""
    root = tmp_path_factory.mktemp("checkout")
    copy_book(root)
    return Project(root)


@pytest.fixture(scope="session")
def copied_state(copied: Project) -> dict[Path, FileState]:
    """What `checkout` compares the copy with."""
    return _states(copied.root)


@pytest.fixture
def checkout(copied: Project, copied_state: dict[Path, FileState]) -> Iterator[Project]:
    """The copy; changes by a test are undone."""
    yield copied
    _undo(copied, copied_state, ROOT)


@pytest.fixture(scope="session")
def shortened(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy with a few chapters only, which tests must not change."""
    root = tmp_path_factory.mktemp("shortened")
    copy_book(root)
    leave_out_chapters(Project(root))
    return Project(root)


@pytest.fixture(scope="session")
def shortened_copy(shortened: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The copy of `short_book`."""
    root = tmp_path_factory.mktemp("short") / "book"
    shutil.copytree(shortened.root, root, symlinks=True)
    return Project(root)


@pytest.fixture(scope="session")
def shortened_state(shortened_copy: Project) -> dict[Path, FileState]:
    """What `short_book` compares its copy with."""
    return _states(shortened_copy.root)


@pytest.fixture
def short_book(
    shortened: Project, shortened_copy: Project, shortened_state: dict[Path, FileState]
) -> Iterator[Project]:
    """A book that is built in a fraction of the time; changes by a test are undone."""
    yield shortened_copy
    _undo(shortened_copy, shortened_state, shortened.root)


def _undo(copied: Project, before: dict[Path, FileState], original: Path) -> None:
    """Gives a copy the files of its original again."""
    after = _states(copied.root)
    for path in after.keys() - before.keys():
        path.unlink()
    for path, state in before.items():
        if after.get(path) != state:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            shutil.copy2(original / path.relative_to(copied.root), path, follow_symlinks=False)
            before[path] = _state(path)


FileState = tuple[int, int, int, int]


def _state(path: Path) -> FileState:
    """What a write to a file changes: a copy has the time of its original, and a write a later one."""
    status = path.lstat()
    return status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns


def _states(root: Path) -> dict[Path, FileState]:
    """The state of every file of the copied parts."""
    folders = (entry for part in PARTS for entry in os.walk(root / part))
    parts = (Path(folder, name) for folder, _, names in folders for name in names)
    files = (root / file for file in FILES)
    return {path: _state(path) for path in (*parts, *files) if os.path.lexists(path)}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def site(real: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(real, tmp_path_factory.mktemp("site") / "site", "http://127.0.0.1/").folder


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    with serving(partial(Quiet, directory=str(site))) as running:
        yield running


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A new window; an error in its console fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme="light")
    opened = context.new_page()
    complaints: list[str] = []
    opened.on(
        "console",
        lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None,
    )
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on(
        "requestfailed",
        # Leaving a page while it loads aborts its pending requests.
        lambda request: complaints.append(request.url) if request.failure != "net::ERR_ABORTED" else None,
    )
    opened.on(
        "request",
        lambda request: (
            complaints.append(request.url)
            if "127.0.0.1" not in request.url and not request.url.startswith(("file:", "data:"))
            else None
        ),
    )
    yield opened
    context.close()
    assert complaints == []
