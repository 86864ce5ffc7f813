"""The parts of a Markdown page that a translation must share with its source."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Structure:
    """What one page is made of."""


def scan(text: str) -> Structure:
    """The structure of one chapter, unexpanded, in one pass over its lines."""
    raise NotImplementedError
