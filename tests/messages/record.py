"""Writes the golden messages: `python -m tests.messages.record [NAME]...`. Read them before committing."""

from __future__ import annotations

import sys

from tests.messages.mistakes import GOLDEN, messages, mistakes


def main(names: list[str]) -> None:
    GOLDEN.mkdir(exist_ok=True)
    for mistake in mistakes():
        if names and mistake.name not in names:
            continue
        mistake.golden.write_text(messages(mistake), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
