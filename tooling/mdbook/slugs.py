"""The id that mdBook gives a heading.

`id_from_content` and `unique_id` of mdBook 0.5.4: the rendered text, trimmed, in lower case; letters, digits,
`_` and `-` stay, white space becomes `-`, everything else goes; a taken id gets `-1`, `-2`, … The text is
rendered with smart punctuation: `--` is a dash by then, and a dash goes.
"""

from __future__ import annotations

import re

from tooling.mdbook import rust


def slug(text: str) -> str:
    """The id of a rendered text, before it is made unique."""
    return _RARE.sub(_kept, text.strip(rust.SPACES).lower()).replace(" ", "-")


_RARE = re.compile(r"[^\w -]")  # neither letter, digit, `_`, `-` nor plain space


def _kept(match: re.Match[str]) -> str:
    character = match.group()
    if rust.is_alphanumeric(character):
        return character
    return "-" if character in rust.SPACES else ""


def unique(identifier: str, taken: set[str]) -> str:
    """The id, with a number where it is taken; the result counts as taken from then on."""
    candidate, number = identifier, 0
    while candidate in taken:
        number += 1
        candidate = f"{identifier}-{number}"
    taken.add(candidate)
    return candidate
