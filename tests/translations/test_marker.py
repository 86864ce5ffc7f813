"""Reading and writing the marker."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooling.translations.marker import read_marker, without_marker, write_marker
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


@given(ID, ID, ID)
def test_rewriting_changes_the_marker_alone(commit: str, other: str, blob: str) -> None:
    page = f"\ufeff<!-- i18n-source-commit: {other} -->\r\n# 제목\r\n글\r\n".encode()
    written = write_marker(page, Pin(commit, blob))
    marker = f"<!-- i18n-source-commit: {commit} -->\r\n<!-- i18n-source-blob: {blob} -->\r\n"
    assert written.decode() == f"\ufeff{marker}# 제목\r\n글\r\n"
