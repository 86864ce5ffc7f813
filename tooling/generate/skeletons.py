"""Derives the problem file for the learner from an annotated solution.

The annotations are comment lines of their own:

    # ANCHOR: name_solution ... # ANCHOR_END: name_solution    the skeleton's anchor is `name`
    # FILL: about 15 lines ... # END_FILL                      the learner's region: becomes one comment
    # STUB: code                                               in a region: what the skeleton needs to compile
    # FIX ... # END_FIX                                        becomes its stubs, unmarked: a mistake to find
    # NOTE: text                                               stays in the solution only
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tooling.platform.errors import Location, ToolingError

_ANCHOR = re.compile(r"(\s*# ANCHOR(?:_END)?: )(\w+)\s*$")
_ANNOTATION = re.compile(r"(\s*)# (FILL|END_FILL|FIX|END_FIX|STUB|NOTE)(?::\s?(.*?))?\s*$")
_SUFFIX = "_solution"
FILL_MARK = "# FILL ME IN"
_Failure = Callable[[str, str], ToolingError]


class AnnotationError(ToolingError):
    """The annotations of a solution are inconsistent."""


class Skeleton(Struct, frozen=True):
    """A problem file."""

    text: str
    anchors: tuple[str, ...]
    regions: int  # regions to fill in or to correct


def make_skeleton(solution: str, path: Path) -> Skeleton:
    """The skeleton of a solution; `path` is for messages.

    Raises:
        AnnotationError: a region or an anchor is not closed, not opened, or nested in another of its kind.
    """
    lines: list[str] = []
    anchors: list[str] = []
    open_anchors: dict[str, int] = {}
    opened_at: int | None = None
    closing = ""
    regions = 0
    for number, line in enumerate(solution.splitlines(), start=1):

        def fail(what: str, hint: str, at: int = number) -> AnnotationError:
            return AnnotationError(what, where=Location(path, at), hint=hint)

        annotation = _ANNOTATION.match(line)
        kind = annotation.group(2) if annotation else None
        if annotation and kind in ("FILL", "FIX"):
            if opened_at is not None:
                raise fail(f"this region is inside the one of line {opened_at}", "close that one first")
            if kind == "FILL":
                if not annotation.group(3):
                    raise fail(
                        "the region does not specify how many lines to fill in", "`# FILL: about 5 lines`"
                    )
                lines.append(f"{annotation.group(1)}{FILL_MARK} ({annotation.group(3)})")
            opened_at = number
            closing = f"END_{kind}"
            regions += 1
        elif kind in ("END_FILL", "END_FIX"):
            if opened_at is None:
                opening = "# FIX" if kind == "END_FIX" else "# FILL: about N lines"
                raise fail("this region was never opened", f"put `{opening}` above it")
            if kind != closing:
                raise fail(f"the region of line {opened_at} ends with another mark", f"`# {closing}`")
            opened_at = None
        elif annotation and kind == "STUB":
            if opened_at is None:
                raise fail("a stub is outside a region", "move it between `# FILL` and `# END_FILL`")
            lines.append(annotation.group(1) + (annotation.group(3) or ""))
        elif kind == "NOTE" or opened_at is not None:
            continue
        else:
            lines.append(_rename_anchor(line, number, open_anchors, anchors, fail))
    if opened_at is not None:
        raise AnnotationError(
            "this region is never closed", where=Location(path, opened_at), hint=f"add `# {closing}` after it"
        )
    for name, at in open_anchors.items():
        raise AnnotationError(
            f"the anchor `{name}` is never closed",
            where=Location(path, at),
            hint=f"add `# ANCHOR_END: {name}` after it",
        )
    return Skeleton("\n".join(lines) + "\n", tuple(anchors), regions)


def _rename_anchor(
    line: str, number: int, open_anchors: dict[str, int], anchors: list[str], fail: _Failure
) -> str:
    match = _ANCHOR.match(line)
    if not match:
        return line
    name = match.group(2)
    if "ANCHOR_END" in match.group(1):
        if name not in open_anchors:
            raise fail(f"the anchor `{name}` was never opened", f"put `# ANCHOR: {name}` above it")
        del open_anchors[name]
    else:
        if name in open_anchors or name.removesuffix(_SUFFIX) in anchors:
            raise fail(f"the anchor `{name}` occurs twice in this file", "give one of them another name")
        open_anchors[name] = number
        anchors.append(name.removesuffix(_SUFFIX))
    return match.group(1) + name.removesuffix(_SUFFIX)
