"""The pages of `tooling book serve`: with the reader's progress, which is not part of the site."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.book.web_server import serving
from tooling.book.site.serve import Changes, Handler, solved_puzzles
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
    assert "EventSource" in text
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
