"""What a terminal of some width and encoding is given."""

from __future__ import annotations

import io

from tooling.reports.terminal import Terminal, broken
from tooling.text.width import columns


def test_a_line_is_broken_at_spaces_and_goes_on_further_in() -> None:
    assert list(broken("  why: " + "word " * 20, 78)) == [
        "  why: " + " ".join(["word"] * 14),
        "    " + " ".join(["word"] * 6) + " ",
    ]
    assert list(broken("가" * 60, 78)) == ["가" * 60]


def test_hangul_counts_twice() -> None:
    assert columns("레인 0") == 6
    lines = list(broken("  이유: " + "스레드가 서로 기다립니다 " * 8, 60))
    assert len(lines) > 3
    assert all(columns(line.rstrip()) <= 60 for line in lines)
    assert all(line.startswith("    ") for line in lines[1:])


def test_only_the_label_is_painted() -> None:
    stream = io.StringIO()
    Terminal(stream, colour=True, width=40).labelled("why", "why: " + "word " * 10, "dim")
    first, second, *_ = stream.getvalue().splitlines()
    assert first.startswith("  \x1b[2mwhy:\x1b[0m why: word")
    assert second.startswith("    word")


def test_signs_that_an_encoding_does_not_have_become_characters_of_code() -> None:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")
    Terminal(stream, colour=False, width=None).line("3 × 3, element −1, log₂(n) steps")
    stream.flush()
    assert written.getvalue().decode() == "3 x 3, element -1, log2(n) steps\n"
