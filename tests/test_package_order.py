"""Imports between the packages of `tooling` point one way: each imports only what is listed before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_imports import ROOT, Graph, cycles, described, import_graph, modules_of

ORDER: tuple[tuple[str, ...], ...] = (
    ("tooling.standalone",),
    ("tooling.text",),
    # Errors, files, processes: without a domain.
    ("tooling.platform",),
    ("tooling.project",),
    ("tooling.mdbook",),
    # The puzzles, and how their programs are built and run.
    ("tooling.catalog",),
    ("tooling.execution",),
    ("tooling.targets",),
    ("tooling.toolchain",),
    # The simulated GPU.
    ("tooling.simulator.numerics",),
    ("tooling.simulator.gpu",),
    ("tooling.simulator.program",),
    ("tooling.simulator.nvidia",),
    ("tooling.simulator.nvidia.ptx",),
    ("tooling.simulator.nvidia.semantics",),
    ("tooling.simulator.nvidia.analysis",),
    ("tooling.simulator.nvidia.lowering",),
    ("tooling.simulator.nvidia.instructions",),
    ("tooling.simulator.nvidia.machine_code",),
    ("tooling.simulator.nvidia.backend",),
    ("tooling.simulator.amd.architectures", "tooling.simulator.amd.texts"),
    ("tooling.simulator.amd.code_object",),
    ("tooling.simulator.amd.semantics",),
    ("tooling.simulator.amd.decoding",),
    ("tooling.simulator.amd.lowering",),
    ("tooling.simulator.amd.instructions",),
    ("tooling.simulator.amd.backend", "tooling.simulator.amd"),
    ("tooling.simulator.backends",),
    ("tooling.simulator.engine",),
    ("tooling.simulator.checks",),
    ("tooling.simulator.counters",),
    ("tooling.simulator.listings",),
    ("tooling.simulator.timing",),
    ("tooling.simulator.server",),
    ("tooling.target_run",),
    ("tooling.remote",),
    ("tooling.replay",),
    # Verdicts.
    ("tooling.judging",),
    ("tooling.trials", "tooling.progress"),
    ("tooling.reports",),
    ("tooling.verify",),
    ("tooling.matrix",),
    ("tooling.generate",),
    ("tooling.bundle",),
    ("tooling.classroom",),
    # Translations.
    (
        "tooling.translations.settings", "tooling.translations.model", "tooling.translations.roots",
        "tooling.translations.marker", "tooling.translations.words",
        "tooling.translations.findings", "tooling.translations.pages", "tooling.translations.cache",
        "tooling.translations.writing_systems",
    ),
    ("tooling.translations.git",),
    ("tooling.translations.diff",),
    ("tooling.translations.freshness",),
    ("tooling.translations.parity",),
    ("tooling.translations.report",),
    ("tooling.translations.commands",),
    # What can be typed; `book check` compares the commands that pages show with it.
    ("tooling.commandline",),
    # The book.
    ("tooling.book",),
    ("tooling.book.figures",),
    ("tooling.book.directives",),
    ("tooling.book.site",),
    ("tooling.book.checks",),
    # A reader's way through the puzzles; it names the pages of the book.
    ("tooling.learning",),
    # What runs.
    ("tooling.repository_checks",),
    ("tooling.cli", "tooling.__main__"),
)  # fmt: skip
"""Lowest first. An entry is a module or a package (without the packages in it that have an entry)."""

MOST_FILES = 20
FIGURES = Path("tooling/book/figures")


def entry_of(module: str) -> str:
    """The longest entry of ORDER that is the module or a package around it.

    Raises:
        LookupError: there is none; a new package needs an entry.
    """
    entries = [name for row in ORDER for name in row if module == name or module.startswith(f"{name}.")]
    if not entries:
        raise LookupError(f"{module}: give it, or its package, an entry in ORDER")
    return max(entries, key=len)


def wrong_imports(graph: Graph) -> list[str]:
    """The imports that point upwards, as `importer:line -> imported`."""
    rank = {name: index for index, row in enumerate(ORDER) for name in row}
    # The package `__init__` modules of tooling, simulator and translations hold a docstring only.
    modules = [name for name in graph if name not in ("tooling", "tooling.simulator", "tooling.translations")]
    return [
        f"{module}:{line} -> {target}"
        for module in modules
        for target, line in graph[module].items()
        if rank[entry_of(module)] < rank[entry_of(target)]
    ]


def test_imports_between_packages_point_one_way() -> None:
    found = wrong_imports(import_graph(ROOT))
    assert not found, "imports of a package that ORDER lists later:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("graph", "found"),
    [
        ({"tooling.project": {"tooling.platform.errors": 3}, "tooling.platform.errors": {}}, []),
        ({"tooling.catalog.model": {"tooling.platform.errors": 3}, "tooling.platform.errors": {}}, []),
        (
            {"tooling.simulator.gpu.lanes": {"tooling.simulator.engine.batch": 7}},
            ["tooling.simulator.gpu.lanes:7 -> tooling.simulator.engine.batch"],
        ),
    ],
)  # fmt: skip
def test_an_import_that_points_upwards_is_found(graph: Graph, found: list[str]) -> None:
    assert wrong_imports(graph) == found


def rooms_of(graph: Graph) -> Graph:
    """The imports between rooms (packages and modules directly in `tooling`), with the first line of each."""
    rooms: Graph = {}
    for module, imports in graph.items():
        room = ".".join(module.split(".")[:2])
        edges = rooms.setdefault(room, {})
        for target, line in imports.items():
            if (other := ".".join(target.split(".")[:2])) != room:
                edges.setdefault(other, line)
    return rooms


def test_there_are_no_cycles_of_rooms() -> None:
    rooms = rooms_of(import_graph(ROOT))
    found = [described(rooms, cycle) for cycle in cycles(rooms)]
    assert not found, "cycles of rooms (room:line -> room):\n" + "\n".join(found)


def test_a_cycle_of_rooms_without_a_cycle_of_modules_is_found() -> None:
    graph: Graph = {
        "tooling.book.checks": {"tooling.cli.commands": 4},
        "tooling.book.page": {},
        "tooling.cli.commands": {},
        "tooling.cli.book": {"tooling.book.page": 7},
    }
    assert cycles(graph) == []
    assert cycles(rooms_of(graph)) == [["tooling.book", "tooling.cli", "tooling.book"]]


def test_a_module_without_an_entry_is_refused() -> None:
    with pytest.raises(
        LookupError, match=r"^tooling\.new\.thing: give it, or its package, an entry in ORDER$"
    ):
        entry_of("tooling.new.thing")


def test_every_entry_of_the_order_exists() -> None:
    modules = modules_of(ROOT)
    assert [name for row in ORDER for name in row if name not in modules] == []


def test_no_folder_has_too_many_files() -> None:
    folders = {path.parent for path in (ROOT / "tooling").rglob("*.py")}
    sizes = {
        str(folder.relative_to(ROOT)): len(
            [
                path
                for path in folder.iterdir()
                if path.is_file() and not (folder == ROOT / FIGURES and path.name[:3].strip("p").isdigit())
            ]
        )
        for folder in folders
    }
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}
