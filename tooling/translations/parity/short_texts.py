"""Short texts that are left in English: cells, headings, summaries, descriptions and texts of links.

Names stay in English everywhere on a page, and words of the language do not. A short text that is the same on
both pages is left in English where its words are elsewhere translated: the source has each of them more often
than the translation. This needs a language in a script of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from tooling.mdbook.markup import OBJECT, Structure
from tooling.translations.parity.findings import quoted
from tooling.translations.parity.pair import ComparedPages, Item

_WORD = re.compile(r"[A-Za-z]+")
_TITLE = re.compile(r"[A-Z][a-z]+|[a-z]+")
_CELL = " | "
_LONGEST = 3  # words; longer texts are judged by their words alone


def compare_short_texts(pair: ComparedPages) -> None:
    """Reports the short texts that are left in English."""
    if not pair.writing.own_script:
        return
    source, target = pair.source.structure, pair.target.structure
    known = {item.name for item in _texts(source)}
    words, copied = _words(source), _words(target)
    for item in _texts(target):
        spelled = item.name.split()
        if item.name not in known or not 0 < len(spelled) <= _LONGEST:
            continue
        if not all(_TITLE.fullmatch(word) and len(word) > 3 for word in spelled):
            continue
        if all(words[word.lower()] > copied[word.lower()] for word in spelled):
            pair.findings.error(
                "untranslated",
                pair.alignment.at_target(item.line),
                f"{quoted(item.name)} is not translated",
                hint="translate it; names of products and code may stay",
                subject=item.name,
            )


def _texts(structure: Structure) -> Iterator[Item]:
    for block in structure.prose:
        if block.kind == "row":
            yield from (
                Item(cell.strip(), block.line) for cell in block.text.split(_CELL) if OBJECT not in cell
            )
        elif block.kind in ("heading", "html", "attribute"):
            yield Item(block.text.strip(), block.line)
    for detail in structure.details:
        if detail.kind in ("link", "picture"):
            yield Item(detail.name, detail.line)


def _words(structure: Structure) -> Counter[str]:
    """How often each word occurs, in any case and number."""
    counts: Counter[str] = Counter()
    for block in structure.prose:
        for word in _WORD.findall(block.text.lower()):
            counts[word] += 1
            counts[word.removesuffix("s") if word.endswith("s") else f"{word}s"] += 1
    return counts
