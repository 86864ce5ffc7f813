"""Marks the headings of a page by what their sections contain, and folds sections with wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.book.phrases import say
from tooling.book.site.tree import Node, fragment, next_element

_HOLE, _WRONG, _COMMANDS = ".hole", "figure.code.changed", '[data-tab-group="package-manager"]'


def mark_sections(article: Node, language: str) -> None:
    """Gives the headings of an article's sections a class:

    - `opening`: the overview at the top, whose heading the title makes superfluous to the eye;
    - `task`: code to complete;
    - `wrong`: a wrong answer, with the verdict on it, on a page with code to complete;
    - `answer`: a folded solution, which has a title of its own;
    - `run`: commands to run, on such a page.

    What follows the heading of a section with wrong answers is folded, since it shows most lines of the
    solution. So is a section of their name on a page whose program is complete.
    """
    sections: list[tuple[Node, list[Node]]] = []
    for node in article.css(f"h2[id], {_HOLE}, {_WRONG}, {_COMMANDS}"):  # in the order of the page
        if node.tag == "h2":
            sections.append((node, []))
        elif sections:
            sections[-1][1].append(node)
    kinds = {"answer", "task", "run", "wrong"} if article.css_first(_HOLE) else {"answer"}
    for index, (heading, body) in enumerate(sections):
        opening = index == 0 and heading.text().strip() == say("overview", language)
        kind = "opening" if opening else _kind(heading, body)
        named = heading.text().strip() == say("wrong-on-purpose", language)
        if named or (kind == "wrong" and kind in kinds):
            _fold(heading, language)
        if kind != "opening" and kind not in kinds:
            continue
        heading.attrs["class"] = kind
        link = heading.css_first("a.header")
        if kind in {"opening", "answer"} and link:  # no heading that is not shown takes the focus
            link.attrs["tabindex"] = "-1"


def _fold(heading: Node, language: str) -> None:
    """Moves what follows a heading, to the next one of its level or the end, into a fold."""
    (fold,) = fragment(f"<details><summary>{say('wrong-answers', language)}</summary></details>")
    heading.insert_after(fold)
    inside = heading.next
    assert inside is not None
    while (following := inside.next) is not None and following.tag != "h2":
        inside.insert_child(following, move=True)


def _kind(heading: Node, body: Sequence[Node]) -> str | None:
    following = next_element(heading)
    if following is not None and following.css_matches("details.solution-details"):
        return "answer"
    for kind, selector in (("task", _HOLE), ("wrong", _WRONG), ("run", _COMMANDS)):
        if any(node.css_matches(selector) for node in body):
            return kind
    return None
