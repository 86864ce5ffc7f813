"""Names of buffers, from the source of the kernel: parameters, and arrays in shared memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

_IDENTIFIER = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*(?:\[|\.(?:load|store|ptr)\b)")


@cache
def lines_of(file: str) -> tuple[str, ...]:
    """The lines of a file; none if it cannot be read (a program built on another machine)."""
    try:
        return tuple(Path(file).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()


def parameter_names(file: str, kernel: str, count: int) -> Sequence[str]:
    """The names of a kernel's parameters; empty if it is not found, or has another number of them."""
    text = "\n".join(line.partition("#")[0] for line in lines_of(file))
    for rest in ("", r"\w*"):  # a long name of a kernel is cut off in its symbol
        for found in re.finditer(rf"\b(?:def|fn)\s+{re.escape(kernel)}{rest}\s*(?=[\[(])", text):
            names = _names(text[found.end() :])
            if len(names) == count:
                return names
    return ()


def _names(text: str) -> list[str]:
    """The names before the colons of the first parenthesised list; one in brackets before it is skipped."""
    depth, inside, parts = 0, False, [""]
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "(" and depth == 1:
            inside = True
        elif inside and depth == 0:
            break
        elif inside and letter == "," and depth == 1:
            parts.append("")
        elif inside:
            parts[-1] += letter
    words = [part.partition(":")[0].split() for part in parts]
    return [each[-1] for each in words if each and each[-1] not in ("/", "*")]


def array_name(lines: Iterable[str], others: Iterable[str]) -> str:
    """The variable that most of the lines that access an array index; empty if there are several.

    Args:
        others: names of other buffers.
    """
    found = Counter(
        name for line in lines for name in set(_IDENTIFIER.findall(line.partition("#")[0])).difference(others)
    )
    most = found.most_common(2)
    unique = most and (len(most) == 1 or most[0][1] > most[1][1])
    return most[0][0] if unique else ""
