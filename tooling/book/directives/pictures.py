"""Figures in a page: drawings for wide and for narrow screens, with the text that describes them."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import partial
from html import escape

from tooling.book.directives import replays
from tooling.book.drawings import Drawing
from tooling.book.errors import BookError
from tooling.book.figures import find_figure
from tooling.book.figures.drawing import draw
from tooling.book.figures.texts import text_of
from tooling.book.page import PageContext, Words
from tooling.book.phrases import say
from tooling.text.width import columns

_CODE = re.compile(r"`([^`]+)`")
_PRODUCT = re.compile(r" × ")
_INDEX = re.compile(r"(\([\w*]+), ([\w*]+\))")
_VARIABLE = re.compile(r"(`[^`]*`)|\*([A-Za-z]+)\*")
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_CENTRED = ' dominant-baseline="central"'
_ID = re.compile(r'(\bid="|url\(#|href="#)')


_BOX = re.compile(r'<rect (?P<corner>x="[^"]*" y="[^"]*") (?P<rest>[^>]*? fill="[^>]*)/>')
_MANY = 8  # boxes of a kind, from which on a definition is shorter
_LABEL = re.compile(r"<text\b[^>]*>")
_OF_LABELS = tuple(re.compile(rf' {name}="[^"]*"') for name in ("font-size", "text-anchor"))
"""Attributes that only labels have, and that they inherit."""
_FILL = re.compile(r' fill="[^"]*"')
_SHAPE = re.compile(r"<(?:rect|path|circle|ellipse|polygon|polyline)\b[^>]*>")

_PAGE, _BETWEEN, _LEAST_CAPTION = 730, 36, 230
"""Pixels of a line of text, of the space between a drawing and its caption, and of the narrowest caption."""
_LETTER, _LINE = 7.4, 23
"""Pixels of a letter and of a line of a caption, roughly."""
_FILLS = 300
"""Pixels from which on a drawing for a narrow screen is as wide as its text."""


def figure(page: PageContext, words: Words) -> str:
    """`{{#figure pNN[-NAME]}}`: a figure with its caption; `tooling figure pNN` draws it into a file."""
    (name,) = words
    shown = find_figure(name)
    drawn, key = page.puzzle_index.drawings, (name, page.language)
    if key not in drawn:
        forms_of = draw(page.puzzle_index, shown, page.language)
        drawn[key] = tuple(canvas.finished() for canvas in forms_of)
    drawings = drawn[key]
    text = text_of(page.puzzle_index.project, page.edition, name)
    caption, description = _escaped(text.caption), _escaped(text.description)
    forms = zip(drawings, ("wide", "narrow"), strict=False)
    inlined = "".join(_inline(drawing, name, form, description) for drawing, form in forms)
    numbered = page.numbers.get(name)
    label = say("figure", page.language, number=numbered.number) if numbered else ""
    at_right = _has_room_at_right(drawings[0], f"{label} {caption}")
    kind = " has-narrow" * (len(drawings) > 1) + " beside" * at_right
    anchor = f' id="{numbered.anchor}"' if numbered else ""
    named = f'<span class="figure-number">{label}</span> ' if numbered else ""
    return (
        f'<figure class="drawn{kind}"{anchor}>\n<div class="figure-scroll">\n{inlined}</div>\n'
        f"<figcaption>{named}{_marked_up(caption)}</figcaption>\n</figure>\n"
        f"{replays.figure_links(page, name)}"
    )


def figure_ref(page: PageContext, words: Words) -> str:
    """`{{#figure_ref pNN[-NAME]}}`: the number of a figure, which leads to it, on this page or another."""
    (name,) = words
    numbered = page.numbers.get(name)
    if numbered is None:
        find_figure(name)
        raise BookError(
            f"the figure `{name}` has no number",
            why="no page of the contents shows it, or the cover does",
            hint="see `{{#figure}}` in book/WRITING.md",
        )
    file = "" if numbered.page == page.path else f"{page.up}{numbered.page.removesuffix('.md')}.html"
    label = say("figure", page.language, number=numbered.number).replace(" ", "\N{NO-BREAK SPACE}")
    return f'<a href="{file}#{numbered.anchor}">{label}</a>'


def _escaped(text: str) -> str:
    return escape(text).replace("&#x27;", "’")


def _has_room_at_right(drawing: Drawing, caption: str) -> bool:
    """Whether the caption, set at the right of the drawing, is hardly longer than the drawing is high."""
    left = _PAGE - _BETWEEN - drawing.width
    lines = columns(caption) * _LETTER / left if left >= _LEAST_CAPTION else math.inf
    return lines * _LINE <= 1.15 * drawing.height


def _marked_up(caption: str) -> str:
    """The caption with its code and its variables marked up, and without breaks in products and indices."""
    unbroken = _PRODUCT.sub("\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}", caption)
    unbroken = _INDEX.sub("\\1,\N{NO-BREAK SPACE}\\2", unbroken)
    emphasised = _VARIABLE.sub(lambda found: found[1] or f"<em>{found[2]}</em>", unbroken)
    return _CODE.sub(r"<code>\1</code>", emphasised)


def _inline(drawing: Drawing, figure: str, form: str, description: str) -> str:
    """The drawing as part of the page, whose style sheet has its fonts and its palette."""
    name, body, baseline = f"{figure}-{form}", drawing.elements, ""
    if body.count(_CENTRED) == body.count("<text"):  # all labels: once is enough
        body, baseline = body.replace(_CENTRED, ""), _CENTRED
    body = _ID.sub(rf"\g<1>{name}-", body)
    body, inherited = _inherited(_reused(body, name))
    # Rules of a drawing must not style the others of the page.
    body = _STYLE.sub(rf"<style>#{name} {{\g<1>}}</style>", body)
    fills = " fills" * (form == "narrow" and drawing.width >= _FILLS)
    return (
        f'<svg id="{name}" class="{form}{fills}" '
        f'width="{drawing.width}" height="{drawing.height}" '
        f'style="--width: {drawing.width}px" '
        f'viewBox="0 0 {drawing.width} {drawing.height}" role="img" stroke-width="1"'
        f'{baseline}{inherited} aria-label="{description}">\n'
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
