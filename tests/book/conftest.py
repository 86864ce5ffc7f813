"""A copy of the book that tests may change; the built site, and a page in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.book.web_server import serving
from tooling.book.site.build import build
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]
_PARTS = (
    "book", "i18n", "problems", "solutions",
    "tests/data/h200/shown", "tests/data/outputs", "tests/data/traces", "tests/mutants",
)  # fmt: skip
_FILES = (
    "pyproject.toml", "pixi.toml", "tests/data/h100/benchmarks.json", "tests/data/h200/benchmarks.json",
    "tests/data/h200/defects.json",
)  # fmt: skip
_LINKED = ("benchmarks", "tests/*", "tests/data/h200/*")
"""Files that pages only name: links to those of the checkout, where nothing was copied."""


@pytest.fixture(scope="session")
def real() -> Project:
    """The checkout itself, which tests must not change."""
    return Project(ROOT)


@pytest.fixture(scope="session")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the book's inputs, without git."""
    root = tmp_path_factory.mktemp("checkout")
    for part in _PARTS:
        shutil.copytree(ROOT / part, root / part, symlinks=True)
    for file in _FILES:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, root / file)
    for named in (path for pattern in _LINKED for path in ROOT.glob(pattern)):
        if not (link := root / named.relative_to(ROOT)).exists():
            link.symlink_to(named)
    return Project(root)


@pytest.fixture
def checkout(copied: Project) -> Iterator[Project]:
    """The copy; changes by a test are undone."""
    before = _contents(copied.root)
    yield copied
    for path, content in _contents(copied.root).items():
        if path not in before:
            path.unlink()
        elif before[path] != content:
            path.write_bytes(before[path])
    for path in before.keys() - _contents(copied.root).keys():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before[path])


def _contents(root: Path) -> dict[Path, bytes]:
    found = (
        path
        for part in (*_PARTS, *_FILES)
        for path in ((root / part).rglob("*") if (root / part).is_dir() else [root / part])
    )
    return {path: path.read_bytes() for path in found if path.is_file()}


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
