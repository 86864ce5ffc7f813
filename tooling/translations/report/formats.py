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
    """The report in a format.

    Args:
        style: colour is for text alone, the language for every format that people read.
        every_page: for text: list pages that are current and faithful too.
    """
    if form is Format.TEXT:
        return terminal.render(report, style, every_page=every_page)
    # Only the module of the requested format is loaded.
    module = import_module(f"{__package__}.{_MODULES[form]}")
    if form in (Format.JSON, Format.SARIF):
        for_programs: Callable[[Report], str] = module.render
        return for_programs(report)
    for_readers: Callable[[Report, str], str] = module.render
    return for_readers(report, style.language)


_MODULES = {
    Format.JSON: "json_document",
    Format.MARKDOWN: "markdown",
    Format.GITHUB: "github",
    Format.SARIF: "sarif",
    Format.HTML: "html_page",
    Format.TODO: "todo",
}
