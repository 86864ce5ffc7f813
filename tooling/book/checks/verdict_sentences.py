"""Finds sentences in recorded replays that the judge no longer says.

A recording has no digest of the judge: any change of it would then make every recording old. The sentences of
the tool are known, however, so one that has been reworded since is found without a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tooling.text.catalogues import every_sentence
from tooling.text.sentences import COUNT, as_sentence

_FIELD = re.compile(r"(\{\w+\})")
_LABELS = r"\s*(?:[❌✅] )?(?:[^:`]{1,12}: )*(?:\[\w+\] )?"  # such as `error: [races]`
_SHORTEST = 3  # characters of a sentence beside its fields


def outdated_sentences(lines: Sequence[str], language: str, authored: Iterable[Path]) -> Iterator[str]:
    """The lines that are made of no sentence of the tool or of the puzzle's YAML files."""
    own = tuple(text for file in authored if file.exists() for text in _texts_of(file))
    for line in lines:
        if not _pattern(language).fullmatch(line) and not line.endswith(own):
            yield line.strip()


@cache
def _pattern(language: str) -> re.Pattern[str]:
    sentences = _shown(one for one in every_sentence(language) if len(_FIELD.sub("", one)) >= _SHORTEST)
    return re.compile(f"{_LABELS}(?:{'|'.join(map(_expression, sentences))})(?: {{1,2}}\\([^()]*\\))?:?")


def _expression(sentence: str) -> str:
    """A pattern for the sentence with any facts; its count is a number."""
    facts = {f"{{{COUNT}}}": r"\d+"}
    return "".join(
        facts.get(part, ".+?") if _FIELD.fullmatch(part) else re.escape(part)
        for part in _FIELD.split(sentence)
    )


@cache
def _texts_of(file: Path) -> tuple[str, ...]:
    every = _texts(yaml.safe_load(file.read_text(encoding="utf-8")))
    return tuple(_shown(text for text in every if len(text) >= _SHORTEST))


def _shown(texts: Iterable[str]) -> Iterator[str]:
    """Each text as it is, and as the judge shows a cause or an advice."""
    for text in texts:
        yield from (text, as_sentence(text))


def _texts(node: Any) -> Iterator[str]:
    match node:
        case str():
            yield " ".join(node.split())
        case dict():
            for each in node.values():
                yield from _texts(each)
        case list():
            for each in node:
                yield from _texts(each)
