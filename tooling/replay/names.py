"""Names of buffers, from the source of the kernel: parameters, and arrays in shared memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

_IDENTIFIER = re.compile(r"(?<![\w.])(?!return\b)([A-Za-z_]\w*)\s*(?:\[|\.(?:load|store|ptr|vectorize)\b)")
_REGION = re.compile(r"# ANCHOR: (\w+?)(?:_solution)?$(.*?)# ANCHOR_END: \1(?:_solution)?$", re.DOTALL | re.M)
_DEFINITION = re.compile(r"^[ \t]*def (\w+)", re.M)


@cache
def lines_of(file: str) -> tuple[str, ...]:
    """The lines of a file; none if it cannot be read (a program built on another machine)."""
    try:
        return tuple(Path(file).read_text("utf-8", "replace").splitlines())
    except OSError:
        return ()


def call_line(file: str, line: int) -> str:
    """A line of a file, from 1; with the next one if it ends with the parenthesis that opens a call."""
    lines = lines_of(file)
    text = lines[line - 1].partition("#")[0].rstrip()
    return f"{text}{lines[line].strip()}" if text.endswith("(") and line < len(lines) else text


def functions_between(text: str, anchors: Iterable[str]) -> frozenset[str]:
    """The functions that a source defines between the marks of these anchors, or of their solutions."""
    wanted = set(anchors)
    regions = [body for name, body in _REGION.findall(text) if name in wanted]
    return frozenset(name for body in regions for name in _DEFINITION.findall(body))


def parameter_names(file: str, kernel: str, count: int) -> Sequence[str]:
    """The names of a kernel's parameters; empty if it is not found, or has another number of them."""
    text = "\n".join(line.partition("#")[0] for line in lines_of(file))
    of_package, _, inside = kernel.partition(f"{Path(file).stem}_")
    plain = inside if of_package.endswith("_") and inside else kernel  # `op_softmax_` of op/softmax.mojo
    for rest in ("", r"\w*"):  # a long name of a kernel is cut off in its symbol
        for found in re.finditer(rf"\b(?:def|fn)\s+{re.escape(plain)}{rest}\s*(?=[\[(])", text):
            names = _names(text[found.end() :])
            if len(names) == count:
                return names
    return ()


def _names(text: str) -> list[str]:
    """The names before the colons of the first parenthesised list; one in brackets before it is skipped."""
    depth, inside, parameters = 0, False, [""]
    for letter in text:
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "(" and depth == 1:
            inside = True
        elif inside and depth == 0:
            break
        elif inside and letter == "," and depth == 1:
            parameters.append("")
        elif inside:
            parameters[-1] += letter
    words = [parameter.partition(":")[0].split() for parameter in parameters]
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
