"""The formats of a report, by the name that `--format` takes."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from tooling.translations import (
    render_github,
    render_html,
    render_json,
    render_markdown,
    render_sarif,
    render_text,
)
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
    return _RENDERERS[form](report)


_RENDERERS: dict[Format, Callable[[Report], str]] = {
    Format.JSON: render_json.render,
    Format.MARKDOWN: render_markdown.render,
    Format.GITHUB: render_github.render,
    Format.SARIF: render_sarif.render,
    Format.HTML: render_html.render,
}
