"""The messages for typical mistakes: each names the cause, and none misleads."""

from __future__ import annotations

import pytest

from tests.machine import needs_simulated_gpu
from tests.messages.mistakes import GOLDEN, Mistake, messages, mistakes


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.name)
def test_a_typical_mistake_is_explained(mistake: Mistake) -> None:
    assert messages(mistake) == mistake.golden.read_text("utf-8")


def test_every_golden_message_belongs_to_a_mistake() -> None:
    assert {*GOLDEN.iterdir()} == {mistake.golden for mistake in mistakes()}
