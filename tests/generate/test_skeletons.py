"""Solutions become skeletons."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.generate.skeletons import AnnotationError, make_skeleton
from tooling.generate.tasks import MARKS, MarkError, replace_generated

BEGIN, END = f"# {MARKS}: begin", f"# {MARKS}: end"

SOLUTION = """\
comptime SIZE = 4
# ANCHOR: add_solution
def add(a: Int):
    var i = thread_idx.x
    # NOTE: only the solution explains this
    # FILL: about 2 lines
    # STUB: _ = i
    if i < SIZE:
        work()
    # END_FILL
# ANCHOR_END: add_solution
    # FILL: 1 line
    rest()
    # END_FILL
def main():
    add(1)
"""

SKELETON = """\
comptime SIZE = 4
# ANCHOR: add
def add(a: Int):
    var i = thread_idx.x
    # FILL ME IN (about 2 lines)
    _ = i
# ANCHOR_END: add
    # FILL ME IN (1 line)
def main():
    add(1)
"""


def test_a_solution_becomes_a_skeleton() -> None:
    skeleton = make_skeleton(SOLUTION, Path("p01.mojo"))
    assert skeleton.text == SKELETON
    assert (skeleton.anchors, skeleton.regions) == (("add",), 2)


def test_a_mistake_to_be_found_is_not_marked() -> None:
    solution = "x\n    # FIX\n    right()\n    # STUB: wrong()\n    # STUB: worse()\n    # END_FIX\ny\n"
    skeleton = make_skeleton(solution, Path("p01.mojo"))
    assert (skeleton.text, skeleton.regions) == ("x\n    wrong()\n    worse()\ny\n", 1)


def test_a_skeleton_is_its_own_skeleton() -> None:
    assert make_skeleton(SKELETON, Path("p01.mojo")).text == SKELETON


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("# FILL: 1 line\nx\n", 1, "this region is never closed"),
        ("x\n# END_FILL\n", 2, "this region was never opened"),
        ("# FILL: a\n# FILL: b\n# END_FILL\n", 2, "inside the one of line 1"),
        ("# FIX\nx\n", 1, "this region is never closed"),
        ("# END_FIX\n", 1, "this region was never opened"),
        ("# FIX\n# END_FILL\n", 2, "ends with another mark"),
        ("# FILL\n# END_FILL\n", 1, "does not specify how many"),
        ("# STUB: x\n", 1, "a stub is outside a region"),
        ("# ANCHOR: a\n", 1, "the anchor `a` is never closed"),
        ("# ANCHOR_END: a\n", 1, "the anchor `a` was never opened"),
        ("# ANCHOR: a_solution\n# ANCHOR_END: a_solution\n# ANCHOR: a\n", 3, "occurs twice"),
    ],
)
def test_annotations_that_do_not_fit_are_named(text: str, line: int, says: str) -> None:
    with pytest.raises(AnnotationError, match=says) as caught:
        make_skeleton(text, Path("p01.mojo"))
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_only_the_lines_between_the_marks_are_replaced() -> None:
    text = f"before\n{BEGIN}\nold\n{END}\nafter\n"
    assert replace_generated(text, ["new"], Path("x")) == f"before\n{BEGIN}\nnew\n{END}\nafter\n"


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}\n{END}\n{BEGIN}\n{END}"])
def test_missing_marks_are_an_error(text: str) -> None:
    with pytest.raises(MarkError):
        replace_generated(text, [], Path("x"))
