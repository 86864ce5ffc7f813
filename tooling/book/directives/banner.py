"""The banner of a translated page that may be older than its source.

The state comes from the report of `tooling check-translations status --format json`. Where there is no
report, or none on a page, the banner says that the state is unknown: no banner would mean "current".
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tooling.book.editions import Edition
from tooling.book.errors import malformed
from tooling.book.phrases import say
from tooling.platform.state_file import read_json
from tooling.project import Project

if TYPE_CHECKING:
    from tooling.book.page import (
        PageContext,  # imports the catalogue, which a build from cached pages does not need
    )


class PageState(Struct, frozen=True):
    """The state of one page in the report.

    Attributes:
        freshness: current, stale, untracked, bad-pin, unknown, …
        sections: the English headings under which the source changed.
        settled: stale, but without a change to translate, such as a moved line break.
    """

    freshness: str
    sections: tuple[str, ...] = ()
    settled: bool = False


class States(Struct, frozen=True):
    """The report; None where there is none."""

    pages: dict[str, PageState] | None

    def of(self, path: str) -> PageState:
        """The state of a page; `unknown` where the report does not contain it."""
        return (self.pages or {}).get(path, PageState("unknown"))


class _Section(Struct):
    title: str


class _Page(Struct):
    freshness: str
    sections: tuple[_Section, ...]
    needs_translation: bool

    def state(self) -> PageState:
        titles = tuple(section.title for section in self.sections)
        return PageState(self.freshness, titles, not self.needs_translation)


class _Report(Struct):
    """What is read of the report."""

    pages: dict[str, _Page]


def status_path(project: Project, edition: Edition) -> Path:
    """Where the build keeps the report on an edition."""
    return project.root / "build" / "book" / f"status-{edition.language}.json"


def load(project: Project, edition: Edition) -> States:
    """The report on an edition.

    Raises:
        BookError: the file is there but cannot be read as a report.
    """
    path = status_path(project, edition)
    try:
        report = read_json(path, _Report)
        return States({key: page.state() for key, page in report.pages.items()})
    except FileNotFoundError:
        return States(None)
    except ValueError as error:
        hint = "delete it; `tooling book build` writes it again"
        raise malformed("report of check-translations", path, error, hint) from error


def render(page: PageContext, states: States) -> str:
    """The banner as HTML; empty for a page that is current."""
    state = states.of(page.path)
    if state.freshness == "current" or (state.freshness == "stale" and state.settled):
        return ""
    address = f"{page.up}../{page.path.removesuffix('.md')}.html"
    language = page.language
    link = f'<a href="{escape(address)}" hreflang="en">{say("banner-link", language)}</a>'
    items = ""
    if state.freshness == "stale":
        count = len(state.sections)
        sentence = say("banner-sections" if count else "banner-stale", language, count=count, link=link)
        preface = say("banner-preface", language)
        listed = "".join(f"<li>{escape(title) or preface}</li>" for title in state.sections)
        items = f"\n<ul>{listed}</ul>" if listed else ""
    elif state.freshness in ("untracked", "bad-pin"):
        sentence = say("banner-untracked", language, link=link)
    else:
        sentence = say("banner-unknown", language, link=link)
    kind = state.freshness if state.freshness in ("stale", "untracked", "bad-pin") else "unknown"
    name = escape(say("banner", language))
    return f'<aside class="banner banner-{kind}" aria-label="{name}">\n<p>{sentence}</p>{items}\n</aside>\n'


def insert(body: str, box: str, marker: re.Pattern[str]) -> str:
    """The chapter with the banner below its first heading."""
    if not box:
        return body
    heading = re.search(r"^# .*\n", body, re.MULTILINE)
    match = heading or marker.match(body)
    at = match.end() if match else 0
    return f"{body[:at]}\n{box}\n{body[at:]}"
