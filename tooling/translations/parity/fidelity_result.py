"""What comparing translations with their pinned sources gives, apart from the comparison, which is heavy."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.translations.findings import TranslationFinding
from tooling.translations.model import Fidelity, Problem


class FidelityResult(Struct, frozen=True):
    """Fidelity by page key, what disagrees, and what could not be compared."""

    pages: Mapping[str, Fidelity]
    findings: tuple[TranslationFinding, ...]
    problems: tuple[Problem, ...]
