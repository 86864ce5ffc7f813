"""The sentences of the checks, one module per language.

Keys are the values of the enums of `tooling.simulator.checks.findings`; braces name facts that
`findings.explain` fills in.
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tooling.simulator.checks.texts.language import FindingLanguage

LANGUAGES = ("en", "ko")


def language_named(code: str) -> FindingLanguage:
    """The sentences of a language of `LANGUAGES`; KeyError for another one."""
    if code not in LANGUAGES:
        raise KeyError(code)
    return cast(FindingLanguage, import_module(f"{__name__}.{code}").LANGUAGE)
