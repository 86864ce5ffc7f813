"""The command lines of the run tabs: one per way to run a mode."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from tooling.book.directives.tabs import Tab, render_tabs
from tooling.book.page import PageContext, Words
from tooling.book.phrases import say
from tooling.book.variants import render_versions, versions
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import ModeKind, ProgramLanguage, Vendor
from tooling.mdbook.includes import Directive, find_directives

SIMULATED = "--target sim"
_JUDGED = (ModeKind.PUZZLE, ModeKind.GIVEN)


class Way(Struct, frozen=True):
    """One way to run a mode.

    Attributes:
        key: the tab's name, the same in every language.
        command: what the reader types.
    """

    key: str
    command: str


_BY_VENDOR = (
    (Vendor.NVIDIA, "pixi NVIDIA (default)", "pixi run {tool}", "pixi run -e {extra} {tool}"),
    (Vendor.AMD, "pixi AMD", "pixi run -e amd {tool}", "pixi run -e {extra} {tool} --target amd"),
    (
        Vendor.APPLE,
        "pixi Apple",
        "pixi run -e apple {tool}",
        "pixi run -e {extra} {tool} --target apple",
    ),
)


def ways_to_run(selection: Selection, solution: bool = False) -> tuple[Way, ...]:
    """The ways to run a mode; none for a vendor that cannot run it.

    A program in Python runs in the environment of its extra, which takes the GPU that it finds.

    Args:
        selection: program and mode.
        solution: run the solution file instead of the problem file.
    """
    tool = f"tooling run {selection.command}" + (" --solution" if solution else "")
    program = selection.program
    extra = program.extra.value if program.language is ProgramLanguage.PYTHON else ""
    uv = f"uv run --extra {extra}" if extra else "uv run"
    pixi = [
        Way(key, (with_extra if extra else pattern).format(tool=tool, extra=extra))
        for vendor, key, pattern, with_extra in _BY_VENDOR
        if not selection.mode.requirement(vendor).unsupported
    ]
    return (Way("uv", f"{uv} {tool}"), Way("no GPU", f"{uv} {tool} {SIMULATED}"), *pixi)


def runs_of(page: PageContext) -> Iterator[tuple[Directive, Selection]]:
    """The runs of problem files that a page shows, with their directives.

    Raises:
        ToolingError: a directive names no run.
    """
    for directive in find_directives(page.text):
        words = directive.argument.split()
        if directive.name == "run" and words and "solution" not in words:
            yield directive, page.puzzle_index.selection(words[0], words[1:])


def run(page: PageContext, words: Words) -> str:
    """`{{#run PROGRAM [FLAGS] [solution]}}`: tabs with one command each, for every version of the page."""
    solution = words[-1] == "solution"
    name, *flags = words[:-1] if solution else words
    found = versions(page, page.puzzle_index.selection(name, flags))
    ways = {label: ways_to_run(version, solution) for label, version in found.items()}
    tabs = [
        Tab(
            way.key,
            _label(way.key, page.language),
            render_versions({label: f"```bash\n{each[index].command}\n```" for label, each in ways.items()}),
        )
        for index, way in enumerate(next(iter(ways.values())))
    ]
    judged = {label: version.command for label, version in found.items() if version.mode.kind in _JUDGED}
    return render_tabs(page, "package-manager", tabs, {} if solution else judged)


def _label(key: str, language: str) -> str:
    """What the tab says; short, since five of them share the width of a telephone."""
    return say("no-gpu", language) if key == "no GPU" else key.removesuffix(" NVIDIA (default)")
