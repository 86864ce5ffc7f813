"""The result of comparing translations with their pinned sources, without importing the comparison."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.translations.findings import TranslationFinding
from tooling.translations.model import Fidelity, Problem


class FidelityResult(Struct, frozen=True):
    """Fidelity by page key, the differences, and what could not be compared."""

    pages: Mapping[str, Fidelity]
    findings: tuple[TranslationFinding, ...]
    problems: tuple[Problem, ...]
