"""Marks the headings of a page by what their sections contain, for the style sheet."""

from __future__ import annotations

import re

from tooling.book.phrases import say

_SECTION = re.compile(r'<h2 id="(?P<id>[^"]+)">(?P<title>.*?)</h2>(?P<body>.*?)(?=<h2 id="|\Z)', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_HOLE = 'class="hole"'


def mark_sections(article: str, language: str) -> str:
    """The article with a class at the headings of its sections:

    - `opening`: the overview at the top, whose heading the title makes superfluous to the eye;
    - `task`: code to complete;
    - `wrong`: a wrong answer, with the verdict on it, on a page with code to complete;
    - `answer`: a folded solution, which has a title of its own;
    - `run`: commands to run, on such a page.
    """
    overview = say("overview", language)
    first = _SECTION.search(article)
    kinds = {"answer", "task", "run", "wrong"} if _HOLE in article else {"answer"}

    def mark(section: re.Match[str]) -> str:
        opening = first is not None and section.start() == first.start()
        kind = "opening" if opening and _title(section) == overview else _kind(section["body"])
        if kind != "opening" and kind not in kinds:
            return section[0]
        marked = section[0].replace('">', f'" class="{kind}">', 1)
        if kind in {"opening", "answer"}:  # no heading that is not shown takes the focus
            marked = marked.replace('<a class="header"', '<a class="header" tabindex="-1"', 1)
        return marked

    return _SECTION.sub(mark, article)


def _title(section: re.Match[str]) -> str:
    return _TAG.sub("", section["title"]).strip()


def _kind(body: str) -> str | None:
    if body.lstrip().startswith('<details class="solution-details">'):
        return "answer"
    if _HOLE in body:
        return "task"
    if 'class="code changed"' in body:
        return "wrong"
    if 'data-tab-group="package-manager"' in body:
        return "run"
    return None
