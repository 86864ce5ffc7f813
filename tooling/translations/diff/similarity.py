"""How similar a translation is to a version of its source, by what no translator changes:
code, targets and numbers."""

from __future__ import annotations

import re
from collections import Counter

_TOKEN = re.compile(
    r"("
    r"`[^`\n]+`"  # code span
    r"|\]\([^)\s]+"  # target of a link or an image
    r"|\{\{#[^}]*\}\}"  # directive
    r"|https?://[^\s)>\"]+"
    r"|\d+(?:[.,]\d+)*"
    r"|^[ \t]*```.*$"
    r"|[A-Za-z_][A-Za-z0-9]*+(?:_++[A-Za-z0-9]++)++"  # identifiers in fenced code
    r")|[A-Za-z_]++",  # other words are skipped whole: matching inside them would take most of the time
    re.MULTILINE,
)
_PATH = re.compile(r"(?:\.\./)+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def fingerprint(text: str) -> Counter[str]:
    """The tokens of a page that its translation shares, as a multiset."""
    # The translation is at another folder depth, so `../` differs by design.
    if "../" in text:
        text = _PATH.sub("", text)
    if "<!--" in text:
        text = _COMMENT.sub("", text)
    found = Counter(_TOKEN.findall(text))
    del found[""]  # the skipped words
    return found


def similarity(left: Counter[str], right: Counter[str]) -> float:
    """Dice's coefficient of two multisets, 0 to 1; 1 for two empty ones."""
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 1.0


def is_nearer(target: str, old: str, new: str) -> bool:
    """Whether the translation is strictly more similar to the new version of its source than to the old."""
    before, after = fingerprint(old), fingerprint(new)
    if before == after:
        return False
    ours = fingerprint(target)
    return similarity(ours, after) > similarity(ours, before)
