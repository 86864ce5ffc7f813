"""A further language of the book: its folder in i18n and a catalogue are all that it needs."""

from __future__ import annotations

import re
from pathlib import Path

import polib
import pytest

from tooling.book.checks import check
from tooling.book.editions import editions
from tooling.book.site.build import build
from tooling.book.site.serve import addresses
from tooling.project import Project
from tooling.text.catalogues import FOLDER, FOLDER_VARIABLE
from tooling.translations.commands.new_language import add_language

ADDRESS = "http://127.0.0.1:3000/{}?key=k"


def test_the_address_of_the_own_edition_comes_first(real: Project) -> None:
    every = editions(real)
    english, korean = "http://127.0.0.1:3000/?key=k", "http://127.0.0.1:3000/ko/?key=k"
    assert addresses(every, ADDRESS, "en") == [english, f"한국어: {korean}"]
    assert addresses(every, ADDRESS, "ko") == [korean, f"English: {english}"]
    assert addresses(every, ADDRESS, "fr") == [english, f"한국어: {korean}"]


@pytest.mark.slow
def test_the_book_is_built_in_a_further_language(
    checkout: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = polib.pofile(str(FOLDER / "ko.po"))
    for entry in catalogue:
        entry.msgstr = f"«{entry.msgid}»" if not entry.msgid_plural else ""
    catalogue.metadata["Language"] = "fr"
    catalogue.save(str(tmp_path / "fr.po"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    add_language(checkout.root, checkout.root / "book" / "src", "fr", "français")
    empty = build(checkout, tmp_path / "empty", "http://127.0.0.1/").folder
    for name in ("index.html", "puzzle_01/puzzle_01.html"):  # those of the source, with a note
        html = (empty / "fr" / name).read_text("utf-8")
        assert '<html lang="en"' in html and '<aside class="banner" lang="fr">' in html

    page = checkout.root / "i18n" / "fr" / "book" / "src" / "puzzle_01" / "puzzle_01.md"
    page.parent.mkdir(parents=True)
    english = checkout.root / "book" / "src" / "puzzle_01" / "puzzle_01.md"
    text = english.read_text("utf-8").replace("../../../problems", "../../../../../problems")
    page.write_text(text, "utf-8")  # with its figures and verdicts

    site = build(checkout, tmp_path / "site", "http://127.0.0.1/").folder
    html = (site / "fr" / "puzzle_01" / "puzzle_01.html").read_text("utf-8")
    assert '<html lang="fr"' in html
    assert 'data-copy="«Copy»"' in html
    assert (site / "fr" / "index.html").read_text("utf-8") == (empty / "fr" / "index.html").read_text("utf-8")
    assert "fonts-ko.css" not in html
    assert "fonts-ko.css" in (site / "ko" / "puzzle_01" / "puzzle_01.html").read_text("utf-8")
    assert re.search(r'hreflang="fr"[^>]*>', (site / "puzzle_01" / "puzzle_01.html").read_text("utf-8"))

    found = check(checkout, build_pages=False, rules={"manifest-language"}).findings
    assert {finding.path for finding in found} == {"problems/p01/puzzle.yaml"}
    assert {finding.message for finding in found} == {
        "this text has no version in français, and the puzzle's page has one"
    }
