"""Draws cells, labels and arrows as SVG, in the colours of the light or of the dark page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import Enum
from html import escape
from itertools import pairwise

from msgspec import Struct, field

from tooling.book.phrases import pick
from tooling.text import Sentence, Text

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', "
    "'Apple SD Gothic Neo', 'Noto Sans KR', sans-serif"
)
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"

GAP = 3  # between neighbouring cells
_LEAST_SIZE = 11  # of a letter, in pixels
_ADVANCE = 0.6  # of a letter of MONO, relative to its size


class Ink(Enum):
    """The meaning of a mark, which a palette maps to colours."""

    PLAIN = "plain"  # the input, in global memory
    LIVE = "live"  # what threads hold: registers and shared memory
    RESULT = "result"  # the output
    SPARE = "spare"  # idle: elements and threads without work
    FRAME = "frame"  # blocks and clusters, which contain others
    MARK = "mark"  # what the text points out, whatever it is: an example, an error


class Shade(Struct, frozen=True):
    """One palette. `marks` gives fill, line and text colour for each ink; `paper` is the page's colour."""

    name: str
    paper: str
    text: str
    quiet: str
    arrow: str
    marks: dict[Ink, tuple[str, str, str]]


LIGHT = Shade(
    "w",
    "#fcfcfa",
    "#1c232b",
    "#515b66",
    "#515b66",
    {
        Ink.PLAIN: ("#ffffff", "#9aa4ad", "#1c232b"),
        Ink.LIVE: ("#dcefeb", "#0b6b62", "#0b4a44"),
        Ink.RESULT: ("#0b6b62", "#0b6b62", "#ffffff"),
        Ink.SPARE: ("#f3f4f1", "#c3c9c4", "#626c75"),
        Ink.FRAME: ("none", "#9aa4ad", "#515b66"),
        Ink.MARK: ("#fdeeca", "#b07a1e", "#6b4300"),
    },
)
DARK = Shade(
    "b",
    "#12171d",
    "#dde4ea",
    "#a2aeba",
    "#a2aeba",
    {
        Ink.PLAIN: ("#1a2129", "#5b6876", "#dde4ea"),
        Ink.LIVE: ("#17393a", "#63cdbb", "#c8f0e8"),
        Ink.RESULT: ("#63cdbb", "#63cdbb", "#0c201d"),
        Ink.SPARE: ("#161c23", "#3b4754", "#93a0ad"),
        Ink.FRAME: ("none", "#5b6876", "#a2aeba"),
        Ink.MARK: ("#453713", "#edc275", "#f8e3b4"),
    },
)
SHADES = (LIGHT, DARK)


class Box(Struct, frozen=True):
    """A cell without its text: its left upper corner, its size, and its place among the parts of a canvas."""

    corner: tuple[float, float]
    size: tuple[float, float]
    ink: Ink
    part: int


class Canvas(Struct):
    """A picture that is being drawn.

    Attributes:
        width, height: in SVG units, which are CSS pixels when the picture is shown unscaled.
        shade: the palette.
        language: of the labels.
    """

    width: int
    height: int
    shade: Shade
    language: str
    _parts: list[str] = field(default_factory=list)
    _boxes: list[Box] = field(default_factory=list)

    def say(self, text: Sentence | str) -> str:
        """The label in the canvas's language; a plain string is not translated."""
        if isinstance(text, str):
            return text
        return pick(text, self.language)

    def cell(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: Text | str = "",
        *,
        ink: Ink = Ink.PLAIN,
        size: float = 14,
    ) -> None:
        """Draws a box with a value in its middle; code that is too wide for the box is made smaller.

        Cells that touch are drawn with `GAP` between them.
        """
        _, _, colour = self.shade.marks[ink]
        self._boxes.append(Box((x, y), (width, height), ink, len(self._parts)))
        self._parts.append("")
        if text:
            if isinstance(text, str):
                size = min(size, max(_LEAST_SIZE, round((width - GAP - 2) / _ADVANCE / len(text), 1)))
            self.label(x + width / 2, y + height / 2, text, "middle", colour=colour, mono=True, size=size)

    def band(self, x: float, y: float, width: float, height: float) -> None:
        """Draws a pale ground behind elements that belong together."""
        fill, _, _ = self.shade.marks[Ink.SPARE]
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="9" fill="{fill}"/>'
        )

    def frame(self, x: float, y: float, width: float, height: float, *, dashed: bool = False) -> None:
        """Draws an outline around elements that belong together."""
        _, line, _ = self.shade.marks[Ink.FRAME]
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="9" fill="none" '
            f'stroke="{line}"{dash}/>'
        )

    def label(
        self,
        x: float,
        y: float,
        text: Sentence | str,
        anchor: str = "start",
        *,
        size: float = 14,
        colour: str | None = None,
        mono: bool = False,
        quiet: bool = False,
        bold: bool = False,
    ) -> None:
        """A line of text, centred on `y`."""
        colour = colour or (self.shade.quiet if quiet else self.shade.text)
        family = f' font-family="{MONO}"' if mono else ""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" '
            f'dominant-baseline="central" '
            f'fill="{colour}"{family}{weight}>{escape(self.say(text))}</text>'
        )

    def plate(self, x: float, y: float, width: float, text: str) -> None:
        """Draws a name of code on a background that covers lines below it; centred on (x, y)."""
        self._parts.append(
            f'<rect x="{x - width / 2:g}" y="{y - 10:g}" width="{width:g}" height="20" '
            f'fill="{self.shade.paper}"/>'
        )
        self.label(x, y, text, "middle", size=12, mono=True)

    def arrow(
        self, x1: float, y1: float, x2: float, y2: float, *, head: bool = True, dashed: bool = False
    ) -> None:
        """A straight arrow."""
        mark = ' marker-end="url(#head)"' if head else ""
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self._parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{self.shade.arrow}" '
            f'stroke-width="1.4"'
            f"{mark}{dash}/>"
        )

    def curve(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """An arrow that begins and ends vertically."""
        middle = (y1 + y2) / 2
        self._parts.append(
            f'<path d="M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}" fill="none" '
            f'stroke="{self.shade.arrow}" stroke-width="1.4" marker-end="url(#head)"/>'
        )

    def embed(self, drawn: str) -> None:
        """Embeds SVG that was drawn elsewhere, in this canvas's units."""
        self._parts.append(drawn)

    def svg(self, title: str, description: str) -> str:
        """The finished picture.

        Args:
            title: one line on it.
            description: the alternative text.
        """
        for box, (inset_x, inset_y) in zip(self._boxes, insets(self._boxes), strict=True):
            (x, y), (width, height) = box.corner, box.size
            fill, line, _ = self.shade.marks[box.ink]
            radius = min(4, width / 4)
            self._parts[box.part] = (
                f'<rect x="{x + inset_x:g}" y="{y + inset_y:g}" width="{width - 2 * inset_x:g}" '
                f'height="{height - 2 * inset_y:g}" rx="{radius:g}" fill="{fill}" '
                f'stroke="{line}"/>'
            )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img" font-family="{FONT}" stroke-width="1.2">\n'
            f"<title>{escape(title)}</title>\n"
            f"<desc>{escape(description)}</desc>\n"
            f'<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0.8 7 4 0 7.2z" fill="{self.shade.arrow}"/></marker></defs>\n'
        )
        # Labels inherit a stroke width but no stroke, so letters stay thin.
        return head + "\n".join(self._parts) + "\n</svg>\n"


Sheet = Callable[[int, int], Canvas]
"""Creates the canvas of a width and height."""


def insets(boxes: Sequence[Box]) -> list[tuple[float, float]]:
    """How much smaller each box is drawn at its left and right, and above and below.

    Neighbours in a row or column that are closer than `GAP` make room for it; tiny ones for a fifth of them.
    """
    found = [[0.0, 0.0] for _ in boxes]
    for axis in (0, 1):
        lines: dict[tuple[float, float], list[int]] = defaultdict(list)
        for index, box in enumerate(boxes):
            lines[box.corner[1 - axis], box.size[1 - axis]].append(index)
        for line in lines.values():
            for one, other in pairwise(sorted(line, key=lambda index: boxes[index].corner[axis])):
                gap = boxes[other].corner[axis] - boxes[one].corner[axis] - boxes[one].size[axis]
                wanted = min(GAP, boxes[one].size[axis] / 5, boxes[other].size[axis] / 5)
                if -0.01 <= gap < wanted:
                    for index in (one, other):
                        found[index][axis] = max(found[index][axis], (wanted - gap) / 2)
    return [(x, y) for x, y in found]
