"""Commands and outputs for each tensor API: a page shows those of the API whose tab is open.

A page with the tabs `api` shows the versions of a program that its tabs name. A page without any code of the
puzzle shows all versions. Without scripts every version is visible, with its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tooling.book.errors import BookError
from tooling.book.page import PageContext
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import TensorApi

API_LABELS = {
    TensorApi.TILE_TENSOR: "TileTensor",
    TensorApi.LAYOUT_TENSOR: "LayoutTensor",
    TensorApi.RAW: "raw",
}
"""The tabs of the group `api`, in the order in which pages show them."""
_GROUP = re.compile(r"^\{\{#tabs api\}\}(.*?)^\{\{#end tabs\}\}", re.MULTILINE | re.DOTALL)
_TAB = re.compile(r"^\{\{#tab ([^}]+)\}\}", re.MULTILINE)


def api_tabs(text: str) -> tuple[str, ...]:
    """The labels of a page's API tabs, each once; empty for a page without them."""
    return tuple(dict.fromkeys(label for group in _GROUP.findall(text) for label in _TAB.findall(group)))


def versions(page: PageContext, selection: Selection) -> dict[str, Selection]:
    """The versions of a run that the page shows, by the label of the API; the selection alone if it has one.

    Raises:
        BookError: a tab of the page has no program with this mode.
    """
    found = {
        label: Selection(selection.puzzle, program, selection.mode)
        for api, label in API_LABELS.items()
        for program in selection.puzzle.programs
        if program.api is api and program.name in selection.mode.programs
    }
    labels = api_tabs(page.text)
    if labels:
        for label in labels:
            if label not in found:
                raise BookError(
                    f"the tab `{label}` has no program that `{selection.command}` could run",
                    hint=f"the programs of this mode have: {', '.join(found)}",
                )
        return {label: found[label] for label in labels}
    shows_code = re.search(rf"\{{\{{#include \S*/problems/{selection.puzzle.id}/", page.text)
    if shows_code or selection.program.api is TensorApi.RAW or len(found) < 2:
        return {API_LABELS[selection.program.api]: selection}
    return found


def unusual_api(page: PageContext, selection: Selection) -> str:
    """The API of a run by the label of its tab, if the page first shows another one; otherwise nothing."""
    label = API_LABELS[selection.program.api] if selection.program.api else ""
    labels = api_tabs(page.text)
    return label if labels and label != labels[0] else ""


def render_versions(bodies: Mapping[str, str]) -> str:
    """The Markdown of each version in a block of its own; only one if all are the same."""
    if len(set(bodies.values())) == 1:
        return next(iter(bodies.values()))
    blocks = (
        f'<div data-tab="{label}">\n<p class="variant-name">{label}</p>\n\n{body}\n\n</div>\n'
        for label, body in bodies.items()
    )
    return f'<div class="variants" data-tab-group="api">\n{"".join(blocks)}</div>\n'


def each_version(page: PageContext, selection: Selection, render: Callable[[Selection], str]) -> str:
    """The Markdown of a run in every version that the page shows."""
    found = versions(page, selection)
    return render_versions({label: render(version) for label, version in found.items()})
