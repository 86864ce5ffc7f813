"""The messages for typical mistakes: each names the cause, and none misleads."""

from __future__ import annotations

import pytest

from tests.machine import needs_simulated_gpu
from tests.messages.mistakes import GOLDEN, LANGUAGES, Mistake, messages, mistakes


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.name)
def test_a_typical_mistake_is_explained(mistake: Mistake) -> None:
    wanted = {
        language: (GOLDEN / f"{mistake.name}.{language}.txt").read_text("utf-8") for language in LANGUAGES
    }
    assert messages(mistake) == wanted


def test_every_golden_message_belongs_to_a_mistake() -> None:
    names = {f"{mistake.name}.{language}.txt" for mistake in mistakes() for language in LANGUAGES}
    assert {path.name for path in GOLDEN.iterdir()} == names
