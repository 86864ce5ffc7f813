"""The pages of `tooling book serve`: with the reader's progress, which is not part of the site."""

from __future__ import annotations

import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.book.web_server import serving
from tooling.book.site.serve import Changes, Handler, rebuild, solved_puzzles, stamps
from tooling.progress import progress_path, record_solved
from tooling.project import Project


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "page.html").write_text("<body>page</body>", encoding="utf-8")
    (tmp_path / "404.html").write_text("<body>nothing</body>", encoding="utf-8")
    handler = partial(Handler, site=tmp_path, changes=Changes(), solved=lambda: ("p01", "p15"))
    with serving(handler) as running:
        yield running


def test_a_page_shows_what_its_reader_has_solved(address: str, tmp_path: Path) -> None:
    with urllib.request.urlopen(f"{address}page.html") as answer:
        text = answer.read().decode()
    assert '["01", "15"]' in text
    assert "dataset.solved" in text
    assert 'fetch("/~changes")' in text
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "<body>page</body>"


def test_a_wrong_address_gets_the_page_for_it(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as failure:
        urllib.request.urlopen(f"{address}puzzle_99.html")
    with failure.value as answer:
        assert answer.status == 404
        assert "nothing" in answer.read().decode()


def test_solved_puzzles_come_from_the_reader_s_own_file(
    real: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    said: list[str] = []
    record_solved(real.root, "p01", "default")
    record_solved(real.root, "p23", "tiled")  # one of its modes
    assert solved_puzzles(real, said.append) == ("p01",)
    progress_path().write_text("{", encoding="utf-8")
    assert solved_puzzles(real, said.append) == ()
    assert "the record of your progress is damaged" in said[0]


def test_a_manifest_that_is_wrong_for_a_while_keeps_no_page_back(
    checkout: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLE_STATE_DIR", str(tmp_path))
    (checkout.problems / "p01" / "puzzle.yaml").write_text("title: [", encoding="utf-8")
    said: list[str] = []
    assert solved_puzzles(checkout, said.append) == ()
    assert "p01/puzzle.yaml" in said[0]


def test_any_number_of_pages_can_wait_for_changes(tmp_path: Path) -> None:
    changes = Changes()
    handler = partial(Handler, site=tmp_path, changes=changes, solved=tuple)
    with serving(handler) as running:
        address = f"{running}~changes"
        assert [urllib.request.urlopen(address).read() for _ in range(10)] == [b"0"] * 10
        changes.announce()
        assert urllib.request.urlopen(address).read() == b"1"


@pytest.mark.parametrize(("host", "status"), [("localhost:80", 200), ("evil.example", 421), ("", 421)])
def test_only_requests_to_this_machine_are_answered(address: str, host: str, status: int) -> None:
    request = urllib.request.Request(f"{address}page.html", headers={"Host": host})
    try:
        with urllib.request.urlopen(request) as answer:
            assert answer.status == status
    except urllib.error.HTTPError as failure:
        with failure:
            assert failure.code == status


def _not_utf8(project: Project) -> None:
    (project.root / "book" / "src" / "puzzle_01" / "puzzle_01.md").write_bytes(b"# \xff\xfe\n")


def _no_summary(project: Project) -> None:
    (project.root / "book" / "src" / "SUMMARY.md").unlink()


def _loop(project: Project) -> None:
    (project.root / "book" / "src" / "loop.md").symlink_to("loop.md")


def _no_theme(project: Project) -> None:
    shutil.rmtree(project.root / "book" / "theme")


def _no_book(project: Project) -> None:
    shutil.rmtree(project.root / "book")


@pytest.mark.parametrize("damage", [_not_utf8, _no_summary, _loop, _no_theme, _no_book])
def test_a_damaged_book_is_reported_and_the_server_goes_on(
    checkout: Project, damage: Callable[[Project], None]
) -> None:
    damage(checkout)
    changes = Changes()
    assert stamps(checkout)
    said = rebuild(checkout, checkout.root / "build" / "serve", "http://127.0.0.1:1/", changes)
    assert said.startswith("built again") or said.endswith("the pages are unchanged")
    assert changes.number == said.startswith("built again")
