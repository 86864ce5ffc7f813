"""Figures in a page: drawings in both palettes, with the text that describes them.

They are drawn beforehand, light and dark; a page contains the drawing once, with its colours as variables.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import partial
from pathlib import Path
from zlib import crc32

from msgspec import Struct

from tooling.book.directives import replays
from tooling.book.errors import BookError
from tooling.book.figures.canvas import DARK, LIGHT, Ink
from tooling.book.figures.figure import picture_file
from tooling.book.page import PageContext, Words
from tooling.book.phrases import say
from tooling.text.width import columns

_HEAD = re.compile(
    r'\A<svg [^>]*?width="(?P<width>\d+)" height="(?P<height>\d+)"[^>]*>\s*<title>(?P<title>.*?)</title>\s*'
    r"<desc>(?P<desc>.*?)</desc>\s*(?P<body>.*)</svg>\s*\Z",
    re.DOTALL,
)
_CODE = re.compile(r"`([^`]+)`")
_PRODUCT = re.compile(r" × ")
_PLACE = re.compile(r"(\([\w*]+), ([\w*]+\))")
_VARIABLE = re.compile(r"(`[^`]*`)|\*([A-Za-z]+)\*")
_COLOUR = re.compile(r"(?<=[\": ])#[0-9a-fA-F]{3,8}(?=[\";} ])")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_CENTRED = ' dominant-baseline="central"'
_FONT = re.compile(r'font-family="[^"]*"')  # the style sheet has the font of code
_ID = re.compile(r'(\bid="|url\(#|href="#)')


_BOX = re.compile(r'<rect (?P<corner>x="[^"]*" y="[^"]*") (?P<rest>[^>]*? fill="[^>]*)/>')
_MANY = 8  # boxes of a kind, from which on a definition is shorter
_LABEL = re.compile(r"<text\b[^>]*>")
_OF_LABELS = tuple(re.compile(rf' {name}="[^"]*"') for name in ("font-size", "text-anchor"))
"""Attributes that only labels have, and that they inherit."""
_FILL = re.compile(r' fill="[^"]*"')
_SHAPE = re.compile(r"<(?:rect|path|circle|ellipse|polygon|polyline)\b[^>]*>")


_OF_PAGE = {
    pair: f"var(--{name})"
    for ink, names in (
        (Ink.RESULT, ("accent", "accent")),  # its text is white or black on every page
        (Ink.LIVE, ("figure-fill", "figure-line", "figure-ink")),
        (Ink.SUM, ("figure-sum", "figure-line", "figure-sum-ink")),
    )
    for pair, name in zip(zip(LIGHT.marks[ink], DARK.marks[ink], strict=True), names, strict=False)
}
"""Colours of output and of what threads hold, light and dark: a page of a part shows them in its hue."""


_PAGE, _BETWEEN, _LEAST_BESIDE = 730, 36, 230
"""Pixels of a line of text, of the space between a drawing and its caption, and of the narrowest caption."""
_LETTER, _LINE = 7.4, 23
"""Pixels of a letter and of a line of a caption, roughly."""
_FILLS = 300
"""Pixels from which on a drawing for a narrow screen is as wide as its text."""


class Picture(Struct, frozen=True):
    """A drawing: its size, texts as HTML, and its contents in both shades."""

    width: str
    height: str
    title: str
    description: str
    light: str
    dark: str


def figure(page: PageContext, words: Words) -> str:
    """`{{#figure pNN[-NAME]}}`: the figure that `tooling figure pNN` draws into the puzzle's media folder."""
    (name,) = words
    folder = page.edition.page(page.path).parent
    wide = _read(folder, name, narrow=False)
    drawings = [_inline(wide, f"{name}-wide")]
    if (folder / picture_file(name, "w", narrow=True)).is_file():
        drawings.append(_inline(_read(folder, name, narrow=True), f"{name}-narrow"))
    numbered = page.numbers.get(name)
    label = say("figure", page.language, number=numbered.number) if numbered else ""
    kind = " has-narrow" * (len(drawings) > 1) + " beside" * _has_room_beside(wide, label)
    anchor = f' id="{numbered.anchor}"' if numbered else ""
    named = f'<span class="figure-number">{label}</span> ' if numbered else ""
    return (
        f'<figure class="drawn{kind}"{anchor}>\n<div class="figure-scroll">\n{"".join(drawings)}</div>\n'
        f"<figcaption>{named}{_caption(wide)}</figcaption>\n</figure>\n{replays.beside_figure(page, name)}"
    )


def figure_ref(page: PageContext, words: Words) -> str:
    """`{{#figure_ref pNN[-NAME]}}`: the number of a figure, which leads to it, on this page or another."""
    (name,) = words
    numbered = page.numbers.get(name)
    if numbered is None:
        from tooling.book.figures import find_figure  # noqa: PLC0415 - as below

        find_figure(name)
        raise BookError(
            f"the figure `{name}` has no number",
            why="no page of the contents shows it, or the cover does",
            hint="see `{{#figure}}` in book/WRITING.md",
        )
    file = "" if numbered.page == page.path else f"{page.up}{numbered.page.removesuffix('.md')}.html"
    label = say("figure", page.language, number=numbered.number).replace(" ", "\N{NO-BREAK SPACE}")
    return f'<a href="{file}#{numbered.anchor}">{label}</a>'


def _has_room_beside(picture: Picture, label: str) -> bool:
    """Whether the caption, set at the right of the drawing, is hardly longer than the drawing is high."""
    width, height = int(picture.width), int(picture.height)
    left = _PAGE - _BETWEEN - width
    letters = columns(f"{label} {picture.title}")
    lines = letters * _LETTER / left if left >= _LEAST_BESIDE else math.inf
    return lines * _LINE <= 1.15 * height


def _caption(picture: Picture) -> str:
    """The caption with its code and its variables marked up, and without breaks in products and places."""
    unbroken = _PRODUCT.sub("\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}", picture.title)
    unbroken = _PLACE.sub("\\1,\N{NO-BREAK SPACE}\\2", unbroken)
    emphasised = _VARIABLE.sub(lambda found: found[1] or f"<em>{found[2]}</em>", unbroken)
    return _CODE.sub(r"<code>\1</code>", emphasised)


def _inline(picture: Picture, name: str) -> str:
    """The drawing as part of the page: it gets the page's fonts, and both palettes as variables."""
    pairs: dict[str, tuple[str, str]] = {}
    dark = iter(_COLOUR.findall(picture.dark))

    def variable(found: re.Match[str]) -> str:
        pair = (found[0], next(dark))
        if pair in _OF_PAGE:
            return _OF_PAGE[pair]
        key = f"--c{crc32(repr(pair).encode()):08x}"[:8]  # a short name, the same in all figures
        pairs[key] = pair
        return f"var({key})"

    body = _COLOUR.sub(variable, picture.light)
    body = _FONT.sub('font-family="mono"', body)
    baseline = ""
    if body.count(_CENTRED) == body.count("<text"):  # all labels: once is enough
        body, baseline = body.replace(_CENTRED, ""), _CENTRED
    body = _ID.sub(rf"\g<1>{name}-", body)
    body, inherited = _inherited(_reused(body, name))
    # Rules of a drawing must not style the others of the page.
    body = _STYLE.sub(rf"<style>#{name} {{\g<1>}}</style>", body)
    light = "".join(f"{key}:{pair[0]};" for key, pair in pairs.items())
    shades = "".join(f"{key}:{pair[1]};" for key, pair in pairs.items())
    form = name.rpartition("-")[2]
    fills = " fills" * (form == "narrow" and int(picture.width) >= _FILLS)
    return (
        f'<svg id="{name}" class="{form}{fills}" '
        f'width="{picture.width}" height="{picture.height}" '
        f'style="--width: {picture.width}px" '
        f'viewBox="0 0 {picture.width} {picture.height}" role="img" stroke-width="1"'
        f'{baseline}{inherited} aria-label="{picture.description}">\n'
        f"<style>:root{{{light}}}@media screen{{:root[data-theme=dark]{{{shades}}}}}</style>\n"
        f"{body}</svg>\n"
    )


def _reused(body: str, name: str) -> str:
    """The drawing with boxes of one kind defined once: hundreds of equal cells would be most of a page.

    Boxes without a colour of their own get it from a style sheet, which does not find them in a definition.
    """
    counts = Counter(found["rest"] for found in _BOX.finditer(body))
    names = {
        rest: f"{name}-{number}" for number, (rest, count) in enumerate(counts.items()) if count >= _MANY
    }

    def use(found: re.Match[str]) -> str:
        if found["rest"] not in names:
            return found[0]
        return f'<use href="#{names[found["rest"]]}" {found["corner"]}/>'

    shapes = "".join(f'<rect id="{key}" {rest}/>' for rest, key in names.items())
    return (f"<defs>{shapes}</defs>\n" if shapes else "") + _BOX.sub(use, body)


def _inherited(body: str) -> tuple[str, str]:
    """The drawing without the commonest attributes of its labels, and these for the whole drawing."""
    labels = _LABEL.findall(body)
    coloured = all(' fill="' in shape for shape in _SHAPE.findall(body))  # so no shape would get a label's
    attributes = ""
    for pattern in (*_OF_LABELS, *([_FILL] if coloured else [])):
        found = Counter(value for label in labels for value in pattern.findall(label))
        if found.total() != len(labels) or not labels:
            continue  # a label without it would get it, too
        attributes += (common := found.most_common(1)[0][0])
        body = _LABEL.sub(partial(_without, common), body)
    return body, attributes


def _without(attribute: str, label: re.Match[str]) -> str:
    return label[0].replace(attribute, "", 1)


def _read(folder: Path, name: str, *, narrow: bool) -> Picture:
    """A drawing in both shades, which differ in their colours alone."""
    texts = []
    for shade in ("w", "b"):
        file = folder / picture_file(name, shade, narrow=narrow)
        try:
            head = _HEAD.match(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            head = None
        if head is None:
            # Imported here: most builds only show figures.
            from tooling.book.figures import find_figure  # noqa: PLC0415

            raise BookError(
                f"the picture {file.name} is not beside the page, or not as it was drawn",
                hint=f"draw it with `tooling figure {find_figure(name).puzzle}`",
            )
        texts.append(head)
    light, dark = texts
    if len(_COLOUR.findall(light["body"])) != len(_COLOUR.findall(dark["body"])):
        raise BookError(
            f"the light and the dark picture of `{name}` are different drawings",
            hint=f"draw them again with `tooling figure {name.split('-', 1)[0]}`",
        )
    title, description = (light[part].replace("&#x27;", "’") for part in ("title", "desc"))
    return Picture(light["width"], light["height"], title, description, light["body"], dark["body"])
