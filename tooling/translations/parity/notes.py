"""Notes of the translator, which have no counterpart in the source and are not compared.

A note is a paragraph, quote or footnote that begins with 역주 (or the word of another language), a bracket
that does, or what is between two comments:

    <!-- translator's note -->
    …
    <!-- /translator's note -->
"""

from __future__ import annotations

import re

from tooling.mdbook.pages import Page

_WORDS = (
    "역주|역자 ?주|옮긴이 ?주|번역자 ?주|訳注|訳者注|译注|譯註|[Tt]ranslator['’]s note|Note du traducteur"
    r"|N\. ?d\. ?T\.|Nota del traductor|Nota do tradutor|Anm\. d\. Übers\.|Прим\. пер\."
)
_MARKED = re.compile(r"<!--\s*translator's note\s*-->.*?<!--\s*/translator's note\s*-->", re.DOTALL)
_PARAGRAPH = re.compile(
    rf"^(?:[ \t]*>)*[ \t]*(?:\[\^(?P<label>[^\]\s]+)\]:[ \t]*)?[*_(\[]*(?:{_WORDS})"
    r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+?"
    r"(?=(?:[ \t]*>)*[ \t]*(?:\n|\Z)|\[\^)",
    re.MULTILINE,
)
_INLINE = re.compile(rf"[ \t]*[(\[（](?:{_WORDS})[^()\[\]（）]*[)\]）]")
_ANY = re.compile(rf"{_WORDS}|translator's note")


def without_notes(page: Page) -> Page:
    """A translated page without its notes; every line keeps its number."""
    if _ANY.search(page.text) is None:
        return page
    labels: list[str] = []

    def blank(match: re.Match[str]) -> str:
        label = match.groupdict().get("label")
        if label is not None:
            labels.append(label)
        return "\n" * match.group().count("\n")

    text = page.text
    for pattern in (_MARKED, _PARAGRAPH, _INLINE):
        text = pattern.sub(blank, text)
    for label in labels:
        text = text.replace(f"[^{label}]", "")
    return Page.of(page.path, page.root, text)
