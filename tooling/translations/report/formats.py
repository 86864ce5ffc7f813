"""The formats of a report, by the name that `--format` takes."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module

from tooling.translations.report import terminal
from tooling.translations.report.display import Style
from tooling.translations.report.report import Report


class Format(StrEnum):
    """A format of a report."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "md"
    GITHUB = "github"
    SARIF = "sarif"
    HTML = "html"
    TODO = "todo"


def render(report: Report, form: Format, style: Style, *, every_page: bool = False) -> str:
    """The report in a format; style and `every_page` apply to text alone."""
    if form is Format.TEXT:
        return terminal.render(report, style, every_page=every_page)
    # Only the module of the requested format is loaded.
    renderer: Callable[[Report], str] = import_module(f"{__package__}.{_MODULES[form]}").render
    return renderer(report)


_MODULES = {
    Format.JSON: "json_document",
    Format.MARKDOWN: "markdown",
    Format.GITHUB: "github",
    Format.SARIF: "sarif",
    Format.HTML: "html_page",
    Format.TODO: "todo",
}
