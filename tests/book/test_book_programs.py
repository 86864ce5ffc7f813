"""A book.toml names programs and files; building and checking the book runs and publishes none of them."""

from __future__ import annotations

import shlex
import tomllib
from datetime import date
from pathlib import Path

import pytest

from tooling.book.errors import BookError
from tooling.book.site.build import build
from tooling.book.site.configuration import staged_configuration
from tooling.project import Project

ROOT = Path(__file__).resolve().parents[2]
BUILD = {"create-missing": False, "use-default-preprocessors": False}


def staged(path: Path, text: str) -> dict[str, object]:
    file = path / "book.toml"
    file.write_text(text, encoding="utf-8")
    return tomllib.loads(staged_configuration(file))


@pytest.mark.parametrize(
    "naming",
    [
        '[output.evil]\ncommand = "touch PWN"',
        '["output".evil]\ncommand = "touch PWN"',
        '  [ output . "e]vil" ]\ncommand = "touch PWN"',
        'output.evil.command = "touch PWN"',
        'output = { evil = { command = "touch PWN" } }',
        '[preprocessor.evil]\ncommand = "touch PWN"',
        '["preprocessor".evil]\ncommand = "touch PWN"',
        'preprocessor.evil.command = "touch PWN"',
        '[build]\nuse-default-preprocessors = true\nbuild-dir = "/tmp"',
        '[output.html]\nadditional-css = ["/etc/passwd"]\nadditional-js = ["/etc/passwd"]',
        '[output.html]\ninput-404 = "/etc/passwd"\ntheme = "/etc"',
        'book.src = "/etc"',
    ],
)
def test_no_program_and_no_file_of_a_book_toml_is_left(tmp_path: Path, naming: str) -> None:
    assert staged(tmp_path, naming) == {"book": {"src": "src"}, "build": BUILD, "output": {"html": {}}}


def test_the_settings_of_the_book_and_its_html_are_kept(tmp_path: Path) -> None:
    text = (
        '[book]\ntitle = "GPU \\"퍼즐\\" \\\\ \\u007f\\n"\nauthors = ["a", "b"]\nsince = 2026-11-27\n'
        "[output.html.fold]\nenable = true\nlevel = 2\nshare = 0.5\n"
    )
    assert staged(tmp_path, text) == {
        "book": {
            "title": 'GPU "퍼즐" \\ \x7f\n',
            "authors": ["a", "b"],
            "since": date(2026, 11, 27),
            "src": "src",
        },
        "build": BUILD,
        "output": {"html": {"fold": {"enable": True, "level": 2, "share": 0.5}}},
    }


@pytest.mark.parametrize("folder", ["book", "i18n/ko/book"])
def test_the_editions_lose_their_preprocessor_and_theme_alone(folder: str) -> None:
    path = ROOT / folder / "book.toml"
    original = tomllib.loads(path.read_text(encoding="utf-8"))
    del original["preprocessor"], original["output"]["html"]["theme"]
    assert tomllib.loads(staged_configuration(path)) == original


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[book", "TOMLDecodeError: Expected ']' at the end of a table declaration (at end of document)"),
        ("output = 3", "ValueError: `output` is not a table"),
    ],
)
def test_a_book_toml_that_is_none_is_reported_with_its_place(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BookError, match="this is not a configuration of mdBook") as refused:
        staged(tmp_path, text)
    assert str(refused.value.where) == str(tmp_path / "book.toml")
    assert refused.value.why == why


def test_a_build_runs_no_program_of_a_book_toml(short_book: Project, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    config = short_book.root / "book" / "book.toml"
    command = f"touch {shlex.quote(str(mark))}"
    config.write_text(
        f'{config.read_text(encoding="utf-8")}\n[output.evil]\ncommand = "{command}"\n'
        f'[preprocessor.evil]\ncommand = "{command}"\n',
        encoding="utf-8",
    )
    build(short_book, tmp_path / "site")
    assert (tmp_path / "site" / "index.html").is_file()
    assert not mark.exists()
