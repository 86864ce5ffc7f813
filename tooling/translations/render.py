"""The formats of a report, by the name that `--format` takes."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module

from tooling.translations import render_text
from tooling.translations.display import Style
from tooling.translations.report import Report


class Format(StrEnum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "md"
    GITHUB = "github"
    SARIF = "sarif"
    HTML = "html"


def render(report: Report, form: Format, style: Style, *, every_page: bool = False) -> str:
    """The report in a format; style and `every_page` concern text alone."""
    if form is Format.TEXT:
        return render_text.render(report, style, every_page=every_page)
    # One format is wanted at a time, so one module is loaded.
    renderer: Callable[[Report], str] = import_module(f"{__package__}.{_MODULES[form]}").render
    return renderer(report)


_MODULES = {
    Format.JSON: "render_json",
    Format.MARKDOWN: "render_markdown",
    Format.GITHUB: "render_github",
    Format.SARIF: "render_sarif",
    Format.HTML: "render_html",
}
