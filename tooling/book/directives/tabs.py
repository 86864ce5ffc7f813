"""Groups of tabs: plain sections that scripts turn into accessible tabs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType

from msgspec import Struct

from tooling.book.errors import BookError
from tooling.book.page import PageContext, Words
from tooling.book.phrases import say

GROUPS = {"package-manager": "ways-to-run", "api": "tensor-api"}


class Tab(Struct, frozen=True):
    """One tab.

    Attributes:
        key: stored as the reader's choice; the same in every language.
        label: what the reader sees.
        body: Markdown.
    """

    key: str
    label: str
    body: str


def render_tabs(page: PageContext, group: str, tabs: Sequence[Tab], judged: Mapping[str, str]) -> str:
    """The tabs as HTML around Markdown bodies.

    Args:
        judged: the commands that `tooling book serve` offers to run here, by tensor API.
    """
    opening = open_group(page, group, [(tab.key, tab.label) for tab in tabs], judged)
    number = page.groups
    panels = [open_panel(number, index, tab.key, tab.label) + tab.body for index, tab in enumerate(tabs)]
    return opening + "\n\n</div>\n".join(panels) + "\n\n</div>\n</div>\n"


def open_group(
    page: PageContext,
    group: str,
    labels: Sequence[tuple[str, str]],
    judged: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Opens a group: the container and its list of tabs."""
    number = page.next_group()
    name = say(GROUPS.get(group, "ways-to-run"), page.language)
    buttons = "".join(
        f'<button type="button" role="tab" id="tab-{number}-{index}" aria-controls="panel-{number}-{index}" '
        f'aria-selected="{str(index == 0).lower()}" data-tab="{escape(key)}">{escape(label)}</button>'
        for index, (key, label) in enumerate(labels)
    )
    runs = f' data-runs="{escape(json.dumps(judged))}"' if judged else ""
    return (
        f'<div class="code-tabs" data-tab-group="{escape(group)}"{runs}>\n'
        f'<div class="tab-labels" role="tablist" aria-label="{escape(name)}">{buttons}</div>\n'
    )


def open_panel(group: int, index: int, key: str, label: str) -> str:
    """Opens the panel of one tab; Markdown follows."""
    return (
        f'<div class="tab-panel" role="tabpanel" id="panel-{group}-{index}" '
        f'aria-labelledby="tab-{group}-{index}" '
        f'data-tab="{escape(key)}" tabindex="0">\n<p class="tab-title" '
        f'aria-hidden="true">{escape(label)}</p>\n\n'
    )


class OpenTabs(Struct):
    """`{{#tabs GROUP}}` … `{{#tab LABEL}}` … `{{#end tabs}}`: collects the labels of a group.

    The labels must be known before the first panel, so the directives of one page are read twice: `labels`
    comes from the first reading.
    """

    labels: list[list[str]]
    _groups: int = 0
    _number: int = 0
    _panel: int = -1  # -1: no group is open

    def tabs(self, page: PageContext, words: Words) -> str:
        if self._panel >= 0:
            raise BookError("a group of tabs is opened inside another one", hint="end it with {{#end tabs}}")
        if len(words) != 1 or words[0] not in GROUPS:
            raise BookError(f"unknown group of tabs: {' '.join(words)}", hint=f"one of: {', '.join(GROUPS)}")
        labels = self.labels[self._groups]
        if not labels:
            raise BookError("this group has no tab", hint="write {{#tab LABEL}} inside it")
        self._groups += 1
        text = open_group(page, words[0], [(label, label) for label in labels])
        self._number = page.groups
        self._panel = 0
        return text

    def tab(self, page: PageContext, words: Words) -> str:
        if self._panel < 0:
            raise BookError("a tab is outside a group", hint="open one with {{#tabs GROUP}}")
        label = " ".join(words)
        closing = "\n</div>\n" if self._panel else ""
        text = closing + open_panel(self._number, self._panel, label, label)
        self._panel += 1
        return text

    def end(self, page: PageContext, words: Words) -> str:
        if words != ["tabs"] or self._panel < 0:
            raise BookError(f"nothing is open that {{{{#end {' '.join(words)}}}}} could end")
        self._panel = -1
        return "\n</div>\n</div>\n"

    def finish(self) -> str:
        """Checks the end of the page: BookError where a group is still open."""
        if self._panel >= 0:
            raise BookError("a group of tabs is never closed", hint="write {{#end tabs}} after its last tab")
        return ""
