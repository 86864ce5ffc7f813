"""Reading and writing the marker."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.translations.book_fixture import english
from tooling.translations.marker import read_marker, without_key, without_marker, write_marker
from tooling.translations.model import Pin

COMMIT, BLOB = "1" * 40, "2" * 40
ID = st.text("0123456789abcdef", min_size=40, max_size=40)
PAGE = st.text().map(str.encode)


def test_the_first_line_is_byte_for_byte_the_older_form() -> None:
    written = write_marker("# 제목\n".encode(), Pin(COMMIT, BLOB))
    first, second, rest = written.split(b"\n", 2)
    assert first == f"<!-- i18n-source-commit: {COMMIT} -->".encode()
    assert second == f"<!-- i18n-source-blob: {BLOB} -->".encode()
    assert rest == "# 제목\n".encode()
    assert re.match(rb"<!-- i18n-source-commit: ([0-9a-f]{40}) -->\n", written)


@pytest.mark.parametrize(
    ("page", "pin"),
    [
        (f"<!-- i18n-source-commit: {COMMIT} -->\n# x", Pin(COMMIT, None)),
        (
            f"<!-- i18n-source-commit: {COMMIT} -->\r\n<!-- i18n-source-blob: {BLOB} -->\r\n",
            Pin(COMMIT, BLOB),
        ),
        (f"<!-- i18n-source-blob: {BLOB} -->\n", Pin(None, BLOB)),
        (f"\ufeff<!-- i18n-source-commit: {COMMIT} -->\n", Pin(COMMIT, None)),
        (f"<!--i18n-source-commit:{COMMIT}-->\n", Pin(COMMIT, None)),
        (f"<!-- i18n-source-commit: {'a' * 64} -->\n", Pin("a" * 64, None)),
        (f"# Title\n\n<!-- i18n-source-commit: {COMMIT} -->\n", Pin(COMMIT, None)),
        (f"---\ntitle: x\ndefault_lang_commit: {COMMIT} # checked\n---\n# x\n", Pin(COMMIT, None)),
        (f"\ufeff---\r\ndefault_lang_commit: '{COMMIT}'\r\n---\r\n", Pin(COMMIT, None)),
        (f"---\n\ndefault_lang_commit: {COMMIT}\n", None),
        (f"# x\n---\ndefault_lang_commit: {COMMIT}\n---\n", None),
        ("# no marker\n", None),
        ("", None),
        (f"```\n<!-- i18n-source-commit: {COMMIT} -->\n```\n", None),
        ("x\n" * 40 + f"<!-- i18n-source-commit: {COMMIT} -->\n", None),
    ],
)
def test_a_marker_is_found_at_the_top_of_a_page(page: str, pin: Pin | None) -> None:
    marker = read_marker(page.encode())
    assert marker.pin == pin
    assert marker.defect is None


@given(PAGE, ID, st.none() | ID)
def test_what_is_written_is_read_and_nothing_else_changes(page: bytes, commit: str, blob: str | None) -> None:
    pin = Pin(commit, blob)
    written = write_marker(page, pin)
    assert read_marker(written).pin == pin
    assert without_marker(written) == without_marker(page)
    assert write_marker(written, pin) == written


FRONT = "---\ntitle: x\ndefault_lang_commit: {} # checked\n---\n# 제목\n"


def test_the_commit_in_the_front_matter_is_stamped_in_its_place() -> None:
    page = FRONT.format(COMMIT).encode()
    written = write_marker(page, Pin("3" * 40, BLOB))
    assert written.decode() == FRONT.format("3" * 40)
    assert read_marker(written).pin == Pin("3" * 40, None)
    assert without_marker(written) == without_marker(page)
    assert without_marker(page + b"more\n") != without_marker(page)


def test_without_a_commit_the_marker_follows_the_front_matter() -> None:
    page = FRONT.format(COMMIT).encode()
    written = write_marker(page, Pin(None, BLOB))
    assert written.decode() == page.decode().replace(
        "---\n# 제목", f"---\n<!-- i18n-source-blob: {BLOB} -->\n# 제목"
    )
    assert read_marker(written).pin == Pin(None, BLOB)
    both = write_marker(written, Pin("3" * 40, "4" * 40))
    assert read_marker(both).pin == Pin("3" * 40, "4" * 40)
    assert FRONT.format("3" * 40).splitlines()[2] in both.decode()


def test_the_key_is_no_text_of_the_translation() -> None:
    assert without_key(FRONT.format(COMMIT)) == "---\ntitle: x\ndefault_lang_commit:\n---\n# 제목\n"
    assert without_key("# 제목\n") == "# 제목\n"


def test_a_shortened_commit_is_a_pin() -> None:
    marker = read_marker(FRONT.format("abc1234").encode())
    assert (marker.pin, marker.line, marker.defect) == (Pin("abc1234", None), 3, None)


def test_what_is_not_a_commit_in_the_front_matter_is_a_defect() -> None:
    marker = read_marker(FRONT.format("main").encode())
    assert (marker.pin, marker.line) == (None, 3)
    assert english(marker.defect) == "default_lang_commit is not the id of a commit: 'main'"


@given(ID, ID, ID)
def test_rewriting_changes_the_marker_alone(commit: str, other: str, blob: str) -> None:
    page = f"\ufeff<!-- i18n-source-commit: {other} -->\r\n# 제목\r\n글\r\n".encode()
    written = write_marker(page, Pin(commit, blob))
    marker = f"<!-- i18n-source-commit: {commit} -->\r\n<!-- i18n-source-blob: {blob} -->\r\n"
    assert written.decode() == f"\ufeff{marker}# 제목\r\n글\r\n"
