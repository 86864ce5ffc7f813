"""Finds untranslated text: blocks and sentences left in English, letters foreign to the language."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from tooling.mdbook.markup import OBJECT, Prose, Structure
from tooling.mdbook.pages import Page
from tooling.text import Text
from tooling.translations.parity.findings import Findings, quoted
from tooling.translations.parity.pair import ComparedPages, Item
from tooling.translations.writing_systems import writing_of

_WORD = re.compile(r"(?<![\w-])[A-Za-z][A-Za-z'’-]+(?![\w-])")  # not a part of `aarch64-apple-ios`
_SENTENCE = re.compile(r"(?:[A-Za-z][A-Za-z'’-]*[,;:]?\s+){6,}[A-Za-z][A-Za-z'’-]*")
_END = re.compile(r"[.!?](?=[\s\"'”’)*]|$)|[\u3002\uff01\uff1f]")
_FEWEST_WORDS = {"heading": 1, "paragraph": 4, "row": 4, "html": 4, "attribute": 3}
_FEWEST_PLAIN_WORDS = {"heading": 1, "paragraph": 3, "row": 3, "html": 3, "attribute": 2}
_LETTERS = re.compile(r"[A-Za-z]+")
_TITLE = re.compile(r"[A-Z][a-z]+|[a-z]+")
_CELL = " | "
_LONGEST = 3  # words; longer texts are judged by their words alone


def compare_prose(pair: ComparedPages) -> None:
    """Reports text that is not in the language of the translation, except words that the source has too."""
    source, target, writing = pair.source.structure, pair.target.structure, pair.writing
    letters = writing.letters
    originals: dict[str, int] | None = None
    for block in target.prose:
        if letters.search(block.text) is None:
            text = _normal(block.text)
            words = _WORD.findall(text)
            if len(words) < _FEWEST_WORDS[block.kind]:
                continue
            if originals is None:
                originals = {_normal(original.text): original.line for original in source.prose}
            _check_untranslated(block, text, words, originals.get(text), pair)
        elif writing.own_script and (match := _SENTENCE.search(block.text)) is not None:
            _check_sentence(block, match, pair)
    _compare_counts(pair)
    if writing.any_foreign.search(pair.target.prose) is None:
        return
    for block in target.prose:
        _check_script(block, pair.source.prose, pair)


def inspect_letters(source: Page, findings: Findings) -> None:
    """Reports letters of another script in an English page."""
    english = writing_of("en")
    if source.prose.isascii() or english.any_foreign.search(source.prose) is None:
        return
    for block in source.structure.prose:
        for foreign in english.foreign:
            for match in foreign.pattern.finditer(block.text):
                line = block.line + block.text.count("\n", 0, match.start())
                message = foreign.what.of(text=quoted(match.group()))
                findings.error(foreign.kind, (line, None), message, hint=foreign.hint, subject=match.group())


def _normal(text: str) -> str:
    return " ".join(text.replace(OBJECT, " ").split())


def _compare_counts(pair: ComparedPages) -> None:
    """Compares the numbers of paragraphs and list items between corresponding headings, code blocks, …"""
    ours = _counts(pair.source.structure.prose, pair.alignment.source)
    theirs = _counts(pair.target.structure.prose, pair.alignment.target)
    if ours == theirs:
        return
    sentences = _sentences(pair.source.structure, pair.alignment.source)
    copied = _sentences(pair.target.structure, pair.alignment.target)
    for index, lines in enumerate(zip(pair.alignment.source, pair.alignment.target, strict=True), 1):
        if ours[index] != theirs[index]:
            # Paragraphs that were split or merged still have their sentences.
            same = all(sentences[index, item] == copied[index, item] for item in (False, True))
            report = pair.findings.info if same else pair.findings.warning
            report(
                "block-count",
                lines,
                Text("this section has {theirs} paragraphs and list items; its source has {ours}").of(
                    theirs=theirs[index], ours=ours[index]
                ),
                hint=Text("translate paragraph by paragraph, so that nothing is lost"),
                subject=_opening(pair, lines[0]),
            )


def _counts(prose: Sequence[Prose], starts: Sequence[int]) -> Counter[int]:
    return Counter([bisect_right(starts, block.line) for block in prose if block.kind == "paragraph"])


def _sentences(structure: Structure, starts: Sequence[int]) -> Counter[tuple[int, bool]]:
    """The number of sentences in the paragraphs (False) and list items (True) of each section.

    One without a full stop is a sentence.
    """
    items = {detail.line for detail in structure.details if detail.kind == "item"}
    counts: Counter[tuple[int, bool]] = Counter()
    for block in structure.prose:
        if block.kind == "paragraph":
            section = bisect_right(starts, block.line)
            counts[section, block.line in items] += max(1, len(_END.findall(block.text)))
    return counts


def _opening(pair: ComparedPages, line: int) -> str:
    """The heading above a line of the source: it identifies the section across edits."""
    above = [heading.id for heading in pair.source.structure.headings if heading.line <= line]
    return above[-1] if above else "start"


def _plain_words(words: Sequence[str]) -> int:
    """Words that are not names: they start with a lower-case letter and contain no capital."""
    return sum(word.islower() and len(word) > 1 for word in words)


def _common_words(words: Sequence[str], pair: ComparedPages) -> int:
    """How many capitalised words the source also has in lower case: in `Axis Sum`, `sum` is not a name."""
    capital = {word.lower() for word in words if word.istitle()}
    return len(capital.intersection(_WORD.findall(pair.source.prose)))


def _check_untranslated(
    block: Prose, text: str, words: Sequence[str], same: int | None, pair: ComparedPages
) -> None:
    """Reports a block without a letter of the language; `same` is the line of the source that it repeats."""
    if same is None and not pair.writing.own_script:
        return  # its letters do not distinguish the language from English
    plain = _plain_words(words)
    if same is not None and block.kind == "heading" and plain == 0:
        plain = _common_words(words, pair)
    if plain < _FEWEST_PLAIN_WORDS[block.kind] or (same is None and plain < 4):
        return
    lines = pair.alignment.at_target(block.line) if same is None else (same, block.line)
    pair.findings.error(
        "untranslated",
        lines,
        Text("{text} is not translated").of(text=quoted(text)),
        hint=Text("translate it; names of products and code may stay"),
        subject=text,
    )


def _check_sentence(block: Prose, match: re.Match[str], pair: ComparedPages) -> None:
    text = match.group()
    if _plain_words(_WORD.findall(text)) < 5:
        return
    line = block.line + block.text.count("\n", 0, match.start())
    pair.findings.warning(
        "untranslated-sentence",
        pair.alignment.at_target(line),
        Text("{text} is left in English in the middle of {name} text").of(
            text=quoted(text), name=pair.writing.name
        ),
        hint=Text("translate the sentence"),
        subject=text,
    )


def _check_script(block: Prose, original: str, pair: ComparedPages) -> None:
    for foreign in pair.writing.foreign:
        for match in foreign.pattern.finditer(block.text):
            if match.group() in original:
                continue
            line = block.line + block.text.count("\n", 0, match.start())
            lines, shown = pair.alignment.at_target(line), quoted(match.group())
            message = foreign.what.of(text=shown)
            pair.findings.error(foreign.kind, lines, message, hint=foreign.hint, subject=match.group())


def compare_short_texts(pair: ComparedPages) -> None:
    """Reports short texts that are left in English: cells, headings, summaries, descriptions, texts of links.

    Names stay in English everywhere on a page, and words of the language do not. A short text that is the
    same on both pages is left in English where its words are elsewhere translated: the source has each of
    them more often than the translation. This needs a language in a script of its own.
    """
    if not pair.writing.own_script:
        return
    source, target = pair.source.structure, pair.target.structure
    same = [item for item in _short_texts(target) if _is_english(item.name)]
    if same:
        known = {item.name for item in _short_texts(source)}
        same = [item for item in same if item.name in known]
    if not same:
        return
    words, copied = _word_counts(source), _word_counts(target)
    for item in same:
        if all(words[word.lower()] > copied[word.lower()] for word in item.name.split()):
            pair.findings.error(
                "untranslated",
                pair.alignment.at_target(item.line),
                Text("{name} is not translated").of(name=quoted(item.name)),
                hint=Text("translate it; names of products and code may stay"),
                subject=item.name,
            )


def _is_english(text: str) -> bool:
    """Whether this is a short text of English words that may not be an abbreviation."""
    words = text.split() if text.isascii() else ()
    return 0 < len(words) <= _LONGEST and all(_TITLE.fullmatch(word) and len(word) > 3 for word in words)


def _short_texts(structure: Structure) -> Iterator[Item]:
    for block in structure.prose:
        if block.kind == "row":
            cells = [cell.strip() for cell in block.text.split(_CELL) if OBJECT not in cell]
            # More than one word may be the label of a program, which a table explains.
            yield from (Item(cell, block.line) for cell in cells if len(cell.split()) == 1)
        elif block.kind in ("heading", "html", "attribute"):
            yield Item(block.text.strip(), block.line)
    for detail in structure.details:
        if detail.kind in ("link", "picture"):
            yield Item(detail.name, detail.line)


def _word_counts(structure: Structure) -> Counter[str]:
    """How often each word occurs, in any case and number."""
    counts: Counter[str] = Counter()
    for block in structure.prose:
        for word in _LETTERS.findall(block.text.lower()):
            counts[word] += 1
            counts[word.removesuffix("s") if word.endswith("s") else f"{word}s"] += 1
    return counts
