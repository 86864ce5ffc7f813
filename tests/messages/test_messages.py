"""The messages for typical mistakes: each names the cause, and none misleads."""

from __future__ import annotations

import pytest

from tests.machine import needs_simulated_gpu
from tests.messages.mistakes import GOLDEN, LANGUAGES, Mistake, messages, mistakes

SAMPLE = ("barrier_in_a_branch", "int32_in_an_index")
"""These are in the first tier."""


def _cases() -> list[object]:
    return [
        pytest.param(mistake, id=mistake.name, marks=() if mistake.name in SAMPLE else pytest.mark.slow)
        for mistake in mistakes()
    ]


@pytest.mark.mojo
@needs_simulated_gpu
@pytest.mark.parametrize("mistake", _cases())
def test_a_typical_mistake_is_explained(mistake: Mistake) -> None:
    wanted = {
        language: (GOLDEN / f"{mistake.name}.{language}.txt").read_text("utf-8") for language in LANGUAGES
    }
    assert messages(mistake) == wanted


def test_every_golden_message_belongs_to_a_mistake() -> None:
    names = {f"{mistake.name}.{language}.txt" for mistake in mistakes() for language in LANGUAGES}
    assert {path.name for path in GOLDEN.iterdir()} == names
