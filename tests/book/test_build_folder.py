"""`tooling book build` deletes only sites that it built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.platform.test_output_folder import tree
from tooling.book.site.build import build
from tooling.cli import main
from tooling.platform.exit_codes import ExitCode
from tooling.platform.output_folder import OutputFolderRefused
from tooling.project import Project

SOURCES = (
    "",
    "..",
    "book",
    "book/src",
    "book/src/new",
    "i18n/ko",
    "problems/p15/out",
    "solutions",
    "tests/out",
)


@pytest.fixture
def checkout(short_book: Project) -> Project:
    return short_book


@pytest.mark.parametrize("folder", [*SOURCES, "build/book", "build/book/en", "build"])
def test_the_book_is_never_built_over_its_sources(
    checkout: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: str
) -> None:
    (checkout.root / "build" / "book").mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("PUZZLE_ROOT", str(checkout.root))
    before = tree(checkout.root)
    status = main(["book", "build", "--output", str(checkout.root / folder)])
    said = capsys.readouterr().err
    assert status == ExitCode.USAGE
    assert "which the command reads" in " ".join(said.split())
    assert tree(checkout.root) == before


@pytest.mark.parametrize("inside", ["", ".git"])
def test_a_folder_of_the_reader_is_never_replaced_by_the_site(
    checkout: Project, tmp_path: Path, inside: str
) -> None:
    mine = tmp_path / "thesis"
    (mine / inside).mkdir(parents=True, exist_ok=True)
    (mine / inside / "HEAD").write_text("kept")
    before = tree(tmp_path)
    with pytest.raises(OutputFolderRefused, match="was not written by `tooling book build`"):
        build(checkout, mine)
    assert tree(tmp_path) == before


def test_a_site_is_built_again_but_not_over_what_was_added(checkout: Project, tmp_path: Path) -> None:
    neighbours = [tmp_path / "site.new" / "mine", tmp_path / "site.old" / "mine"]
    for each in neighbours:
        each.parent.mkdir()
        each.write_text("kept")
    site = tmp_path / "site"
    for _ in range(2):
        assert build(checkout, site).folder == site
    assert [each.read_text() for each in neighbours] == ["kept", "kept"]
    (site / "CNAME").write_text("example.org")
    with pytest.raises(OutputFolderRefused, match="CNAME: this file was not written"):
        build(checkout, site)
    assert (site / "CNAME").read_text() == "example.org"
