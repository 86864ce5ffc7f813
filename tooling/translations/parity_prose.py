"""Is the text of the translation Korean? Blocks and sentences left in English, letters of other scripts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

from tooling.mdbook.markup import OBJECT, Prose
from tooling.translations.parity_code import HANGUL
from tooling.translations.parity_findings import quoted
from tooling.translations.parity_pair import Pair

_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]+")
_SENTENCE = re.compile(r"(?:[A-Za-z][A-Za-z'’-]*[,;:]?\s+){6,}[A-Za-z][A-Za-z'’-]*")
_FOREIGN = re.compile(
    "[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"  # Han
)
_FOREIGN_SIGNS = re.compile("[\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f]")
_BROKEN = re.compile("[\ufffd\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u3131-\u318e]+")

_FEWEST_WORDS = {"heading": 1, "paragraph": 4, "row": 4, "html": 4, "attribute": 3}
_FEWEST_PLAIN_WORDS = {"heading": 1, "paragraph": 3, "row": 3, "html": 3, "attribute": 2}


def compare_prose(pair: Pair) -> None:
    """Reports text that is not Korean, unless the source has the very same foreign word."""
    source, target = pair.source.structure, pair.target.structure
    originals = {_normal(block.text): block.line for block in source.prose}
    for block in target.prose:
        if HANGUL.search(block.text) is None:
            _check_untranslated(block, originals, pair)
        elif (match := _SENTENCE.search(block.text)) is not None:
            _check_sentence(block, match, pair)
    _compare_counts(pair)
    whole = "\n".join([block.text for block in target.prose])
    if not (_FOREIGN.search(whole) or _FOREIGN_SIGNS.search(whole) or _BROKEN.search(whole)):
        return
    original = "\n".join([block.text for block in source.prose])
    for block in target.prose:
        _check_script(block, original, pair)


def _normal(text: str) -> str:
    return " ".join(text.replace(OBJECT, " ").split())


def _compare_counts(pair: Pair) -> None:
    """Between two corresponding headings, code blocks, … stand as many paragraphs and list items as there."""
    ours = _counts(pair.source.structure.prose, pair.alignment.source)
    theirs = _counts(pair.target.structure.prose, pair.alignment.target)
    if ours == theirs:
        return
    for part, lines in enumerate(zip(pair.alignment.source, pair.alignment.target, strict=True), 1):
        if ours[part] != theirs[part]:
            pair.findings.warning(
                "block-count",
                lines,
                f"this part has {theirs[part]} paragraphs and list items; its source has {ours[part]}",
                hint="translate paragraph by paragraph, so that nothing is lost",
                subject=_opening(pair, lines[0]),
            )


def _counts(prose: Sequence[Prose], starts: Sequence[int]) -> Counter[int]:
    return Counter([bisect_right(starts, block.line) for block in prose if block.kind == "paragraph"])


def _opening(pair: Pair, line: int) -> str:
    """The heading that a line of the source belongs to: it names the part across edits."""
    above = [heading.id for heading in pair.source.structure.headings if heading.line <= line]
    return above[-1] if above else "start"


def _plain_words(words: Sequence[str]) -> int:
    """Words that are no names: they start with a small letter and have no capital inside."""
    return sum(word.islower() and len(word) > 1 for word in words)


def _common_words(words: Sequence[str], pair: Pair) -> int:
    """Of the words with a capital, those that the source also writes small: `Axis Sum` has `sum`, no name."""
    capital = {word.lower() for word in words if word.istitle()}
    text = " ".join([block.text for block in pair.source.structure.prose])
    return len(capital.intersection(_WORD.findall(text)))


def _check_untranslated(block: Prose, originals: dict[str, int], pair: Pair) -> None:
    text = _normal(block.text)
    words = _WORD.findall(text)
    if len(words) < _FEWEST_WORDS[block.kind]:
        return
    same = originals.get(text)
    plain = _plain_words(words)
    if same is not None and block.kind == "heading" and plain == 0:
        plain = _common_words(words, pair)
    if plain < _FEWEST_PLAIN_WORDS[block.kind] or (same is None and plain < 4):
        return
    lines = pair.alignment.at_target(block.line) if same is None else (same, block.line)
    pair.findings.error(
        "untranslated",
        lines,
        f"{quoted(text)} is not translated",
        hint="translate it; names of products and code may stay",
        subject=text,
    )


def _check_sentence(block: Prose, match: re.Match[str], pair: Pair) -> None:
    text = match.group()
    if _plain_words(_WORD.findall(text)) < 5:
        return
    line = block.line + block.text.count("\n", 0, match.start())
    pair.findings.warning(
        "untranslated-sentence",
        pair.alignment.at_target(line),
        f"{quoted(text)} is left in English in the middle of Korean text",
        hint="translate the sentence",
        subject=text,
    )


def _check_script(block: Prose, original: str, pair: Pair) -> None:
    for pattern, kind, what, hint in (
        (_FOREIGN, "foreign-script", "is Chinese or Japanese", "write it in Hangul"),
        (_FOREIGN_SIGNS, "foreign-sign", "is a Chinese or Japanese sign", "use `,` `.` `:` `?` `!`"),
        (_BROKEN, "broken-letters", "is not whole syllables", "type it again; save the file in form NFC"),
    ):
        for match in pattern.finditer(block.text):
            if match.group() in original:
                continue
            line = block.line + block.text.count("\n", 0, match.start())
            lines, shown = pair.alignment.at_target(line), quoted(match.group())
            pair.findings.error(kind, lines, f"{shown} {what}", hint=hint, subject=match.group())
