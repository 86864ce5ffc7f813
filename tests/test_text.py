"""Sentences in several languages, and what it takes to add a language."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import polib
import pytest

from tooling.catalog.manifest import load_puzzle
from tooling.cli import main
from tooling.judging.texts import EXPLANATIONS
from tooling.platform.exit_codes import ExitCode
from tooling.project import Project, find_project
from tooling.simulator.checks.findings import (
    Action,
    Check,
    Finding,
    Kind,
    Party,
    Severity,
    SourcePosition,
    render,
)
from tooling.text import LocalText, Text, languages
from tooling.text.catalogues import FOLDER, FOLDER_VARIABLE, CatalogueError, catalogue_files
from tooling.text.extraction import check_catalogue, sentences, update_catalogue
from tooling.text.particles import with_particles

TOOLING = Path(__file__).parents[1] / "tooling"
BYTES = Text("{count} byte", plural="{count} bytes")


@pytest.mark.parametrize(
    ("count", "english", "korean"), [(1, "1 byte", "1바이트"), (2, "2 bytes", "2바이트")]
)
def test_a_count_chooses_between_singular_and_plural(count: int, english: str, korean: str) -> None:
    sentence = BYTES.of(count=count)
    assert (sentence.render("en"), sentence.render("ko")) == (english, korean)


@pytest.mark.parametrize(
    ("fact", "subject", "object_", "means"),
    [
        ("p35", "p35가", "p35를", "p35로"),
        ("p10", "p10이", "p10을", "p10으로"),
        ("(0, 0, 0)", "(0, 0, 0)이", "(0, 0, 0)을", "(0, 0, 0)으로"),
        ("(3, 1, 2)", "(3, 1, 2)가", "(3, 1, 2)를", "(3, 1, 2)로"),
        ("`vim`", "`vim`이", "`vim`을", "`vim`으로"),
        ("`nano`", "`nano`가", "`nano`를", "`nano`로"),
        ("NVIDIA GPU", "NVIDIA GPU가", "NVIDIA GPU를", "NVIDIA GPU로"),
        ("ELF", "ELF가", "ELF를", "ELF로"),
        ("URL", "URL이", "URL을", "URL로"),
        ("커널", "커널이", "커널을", "커널로"),
        ("블록 1", "블록 1이", "블록 1을", "블록 1로"),
        ("", "가", "를", "로"),
    ],
)
def test_a_particle_fits_what_is_before_it(fact: str, subject: str, object_: str, means: str) -> None:
    pairs = [f"{fact}{pair}" for pair in ("이(가)", "을(를)", "(으)로")]
    assert [with_particles(text, "ko") for text in pairs] == [subject, object_, means]
    assert [with_particles(pair, "ko", fact) for pair in ("이(가)", "을(를)")] == [
        subject.removeprefix(fact),
        object_.removeprefix(fact),
    ]
    assert with_particles(pairs[0], "en") == pairs[0]


def test_a_sentence_inside_another_is_rendered_in_the_same_language() -> None:
    outer = EXPLANATIONS["kernel-stopped"].what.of(
        kernel="add", thread="", block="", detail=BYTES.of(count=3)
    )
    assert outer.render("en") == "the simulated GPU stopped `add`: 3 bytes"


def test_a_text_of_an_author_falls_back_to_english() -> None:
    title = LocalText.of(en="Map", ko="맵")
    assert [title.render(language) for language in ("en", "ko", "ja")] == ["Map", "맵", "Map"]


def test_another_language_than_those_with_a_catalogue_is_refused() -> None:
    with pytest.raises(KeyError, match="'xx'"):
        BYTES.of(count=1).render("xx")


@pytest.mark.parametrize("file", catalogue_files().values(), ids=lambda file: str(file.name))
def test_a_catalogue_has_every_sentence_of_the_tool_and_no_other(file: Path) -> None:
    assert check_catalogue(file, sentences(TOOLING)) == []


def test_a_third_language_needs_only_a_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = tmp_path / "ja.po"
    known = sentences(TOOLING)
    update_catalogue(catalogue, known)
    problems = check_catalogue(catalogue, known)
    assert len(problems) == len(known)
    assert {problem.message.rpartition(": ")[2] for problem in problems} == {"not translated"}

    texts = polib.pofile(str(catalogue))
    for entry in texts:
        if entry.msgid == "why":
            entry.msgstr = "理由"
        if entry.msgid == "reads":
            entry.msgstr = "読み取り"
    texts.save(str(catalogue))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert languages() == ("en", "ja", "ko")
    position = SourcePosition("p01.mojo", 3, 1, 1)
    party = Party(Action.READ, (0, 0, 0), (0, 0, 0), 0, 0, position)
    finding = Finding(Check.MEMORY, Kind.NULL_POINTER, Severity.ERROR, "add", parties=(party,))
    lines = render(finding, "ja").splitlines()
    assert (
        lines[1] == "  where: p01.mojo:3:1: thread (0, 0, 0) of block (0, 0, 0) 読み取り"
    )  # the rest in English
    assert lines[2].startswith("  理由: ")


def test_a_puzzle_may_have_a_title_in_a_third_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ja.po").write_bytes((FOLDER / "ko.po").read_bytes())
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    for folder in ("problems", "solutions"):
        shutil.copytree(find_project().root / folder / "p01", tmp_path / folder / "p01")
    manifest = tmp_path / "problems" / "p01" / "puzzle.yaml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("ko: 맵", "ko: 맵, ja: 写像", 1), encoding="utf-8")
    assert load_puzzle(manifest, Project(tmp_path)).title.render("ja") == "写像"


def test_missing_and_unused_entries_of_a_catalogue_are_reported_with_their_lines(tmp_path: Path) -> None:
    known = {BYTES: ["a.py"], Text("`{name}` is missing"): ["a.py"], Text("done"): ["b.py"]}
    catalogue = tmp_path / "ko.po"
    catalogue.write_text(
        'msgid ""\nmsgstr ""\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\n'
        'msgid "{count} byte"\nmsgid_plural "{count} bytes"\nmsgstr[0] "{count}바이트"\n\n'
        'msgid "`{name}` is missing"\nmsgstr "`{nome}`이 없습니다"\n\n'
        'msgid "gone"\nmsgstr "없음"\n',
        encoding="utf-8",
    )
    found = [(problem.line, problem.message) for problem in check_catalogue(catalogue, known)]
    assert found == [
        (9, "“`{name}` is missing”: the translation names a fact that the sentence does not have"),
        (12, "“gone”: the tool no longer has this sentence"),
        (0, "“done” (b.py): not in the catalogue"),
    ]
    update_catalogue(catalogue, known)
    assert [problem.message for problem in check_catalogue(catalogue, known)] == [
        "“`{name}` is missing”: the translation names a fact that the sentence does not have",
        "“done”: not translated",
    ]


def test_a_sentence_that_is_not_a_literal_is_refused(tmp_path: Path) -> None:
    program = "from tooling.text import Text\n\nX = Text(name + '!')\n"
    (tmp_path / "a.py").write_text(program, encoding="utf-8")
    with pytest.raises(ValueError, match=r"^a\.py:3: a sentence must be a literal$"):
        sentences(tmp_path)


def test_korean_sentences_are_in_one_register() -> None:
    informal = re.compile(r"(?:세요|까요|어요|아요|에요|예요|네요|죠|가요)(?=[\s.?!]|$)")
    entries = polib.pofile(FOLDER / "ko.po")
    texts = [text for entry in entries for text in (entry.msgstr, *entry.msgstr_plural.values())]
    assert [text for text in texts if informal.search(text)] == []


DAMAGED = {
    "no entry": ("one\n", "Syntax error in po file"),
    "no UTF-8": ("\udcff", "can't decode byte 0xff"),
    "another encoding": (
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=none\\n"\n',
        "unknown encoding: none",
    ),
    "a rule for plurals": (
        'msgid ""\nmsgstr "Plural-Forms: nplurals=1; plural=n**9;\\n"\n',
        "unexpected token in plural form: *",
    ),
}


@pytest.mark.parametrize(("text", "why"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_catalogue_of_a_translator_is_refused_in_english(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    why: str,
) -> None:
    catalogue = tmp_path / "fr.po"
    catalogue.write_bytes(text.encode("utf-8", "surrogateescape"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("PUZZLE_LANG", "fr")
    assert main(["list"]) == ExitCode.USAGE
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(f"error: {catalogue}: the catalogue cannot be used why: ")
    assert why in said
    assert said.endswith("try: correct the file, or unset PUZZLE_CATALOGUES")


def test_a_catalogue_that_is_a_pipe_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fr.po")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    with pytest.raises(CatalogueError, match="it is not a regular file of at most 16777216 bytes"):
        Text("wrong").render("fr")


@pytest.mark.parametrize("translation", ["{number} octets", "{count.bits}", "{count", "{count:d!}", "{0}"])
def test_a_translation_with_other_facts_is_shown_in_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, translation: str
) -> None:
    (tmp_path / "fr.po").write_text(f'msgid "{{count}} byte"\nmsgstr "{translation}"\n')
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert Text("{count} byte").of(count=3).render("fr") == "3 byte"


def test_a_rule_for_plurals_that_fails_leaves_the_sentence_in_english(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "fr.po").write_text(
        'msgid ""\nmsgstr "Plural-Forms: nplurals=2; plural=5 / n;\\n"\n\n'
        'msgid "{count} byte"\nmsgid_plural "{count} bytes"\n'
        'msgstr[0] "{count} octet"\nmsgstr[1] "{count} octets"\n'
    )
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert BYTES.of(count=0).render("fr") == "0 bytes"
    assert BYTES.of(count=5).render("fr") == "5 octets"
