"""The modules of `tooling` have no import cycles, imports in functions and under TYPE_CHECKING included."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = "tooling"

Graph = dict[str, dict[str, int]]
"""For each module, the modules that it imports, with the line of the first import."""


class UnknownImport(Exception):
    """The name of an imported module cannot be determined from the source."""


def modules_of(root: Path) -> dict[str, Path]:
    """The modules of the package under `root`, by dotted name."""
    modules = {}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


@cache
def import_graph(root: Path) -> Graph:
    """All imports between the modules: at the top, in functions, under TYPE_CHECKING, and by computed names.

    A package that is imported only because a module in it is does not count.

    Raises:
        UnknownImport: `import_module` or `__import__` is called with a name that cannot be followed.
    """
    modules = modules_of(root)
    graph: Graph = {}
    for name, path in modules.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        edges = graph.setdefault(name, {})
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            for target in imported(node, package, modules, f"{path.relative_to(root)}"):
                if target != name:
                    edges.setdefault(target, getattr(node, "lineno", 0))
    return graph


def imported(node: ast.AST, package: str, modules: Mapping[str, Path], file: str) -> Iterator[str]:
    """The modules that a node of a module in `package` imports."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names if alias.name in modules)
        case ast.ImportFrom(module, names, level):
            base = package.split(".")[: len(package.split(".")) + 1 - level] if level else []
            source = ".".join([*base, *([module] if module else [])])
            for alias in names:
                inner = f"{source}.{alias.name}"
                yield from (name for name in (inner if inner in modules else source,) if name in modules)
        case ast.Call(
            ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"), [name, *_]
        ):
            yield from imported_by_name(name, package, modules, f"{file}:{node.lineno}")
        case ast.Call(ast.Name("resolve_name") | ast.Attribute(attr="resolve_name")):
            # The name is in a table: that of a function in this package or in one inside it.
            yield from (
                name for name in modules if name.startswith(f"{package}.") and not name.endswith(".__main__")
            )


def imported_by_name(name: ast.expr, package: str, modules: Mapping[str, Path], where: str) -> Iterator[str]:
    """The modules that a call with this name may import: all in the package for `f"{__name__}.{…}"`."""
    match name:
        case ast.Constant(str(constant)):
            yield from (found for found in (constant,) if found in modules)
        case ast.JoinedStr([ast.FormattedValue(ast.Name("__name__" | "__package__")), ast.Constant("."), *_]):
            for module in modules:
                if module.rpartition(".")[0] == package and not module.endswith(".__main__"):
                    yield module
        case _:
            raise UnknownImport(f'{where}: write the name as a constant or as f"{{__package__}}.{{module}}"')


def cycles(graph: Graph) -> list[list[str]]:
    """One shortest cycle of each strongly connected component with more than one module, as a closed path."""
    found = []
    for component in strong_components(graph):
        inside = {name: [next_ for next_ in graph[name] if next_ in component] for name in component}
        found.append(min((shortest_way_back(inside, name) for name in sorted(component)), key=len))
    return found


def strong_components(graph: Graph) -> list[set[str]]:
    """The strongly connected components with more than one module."""
    ahead = {name: reached(graph, name) for name in graph}
    components: list[set[str]] = []
    for name in graph:
        if not any(name in component for component in components):
            component = {other for other in ahead[name] if name in ahead[other]}
            if component:
                components.append(component)
    return components


def reached(graph: Graph, start: str) -> set[str]:
    """The modules that an import of `start` may import, itself included where there is a cycle."""
    seen: set[str] = set()
    ahead = list(graph[start])
    while ahead:
        name = ahead.pop()
        if name not in seen:
            seen.add(name)
            ahead += graph[name]
    return seen


def shortest_way_back(graph: Mapping[str, list[str]], start: str) -> list[str]:
    """The shortest cycle through a module, which is first and last."""
    paths = [[start]]
    seen: set[str] = set()
    for path in paths:  # grows while it is read
        for name in graph[path[-1]]:
            if name == start:
                return [*path, start]
            if name not in seen:
                seen.add(name)
                paths.append([*path, name])
    raise AssertionError(f"{start} is in no cycle")


def described(graph: Graph, cycle: list[str]) -> str:
    """A cycle as text: each import with its line."""
    steps = (f"{name}:{graph[name][next_]} -> " for name, next_ in pairwise(cycle))
    return "".join(steps) + cycle[-1]


def test_there_are_no_import_cycles() -> None:
    graph = import_graph(ROOT)
    found = [described(graph, cycle) for cycle in cycles(graph)]
    assert not found, "import cycles (module:line -> module):\n" + "\n".join(found)


@pytest.mark.parametrize(
    "imports",
    [
        pytest.param("from tooling.b import thing", id="at-the-top"),
        pytest.param("import tooling.b", id="whole"),
        pytest.param("from tooling import b", id="from-the-package"),
        pytest.param("from . import b", id="relative"),
        pytest.param("from .b import thing", id="relative-name"),
        pytest.param("def use():\n    from tooling.b import thing", id="in-a-function"),
        pytest.param("if TYPE_CHECKING:\n    from tooling.b import thing", id="for-types"),
        pytest.param("import_module('tooling.b')", id="by-name"),
        pytest.param("importlib.import_module(f'{__package__}.{name}')", id="by-a-computed-name"),
        pytest.param("pkgutil.resolve_name(name)", id="by-a-name-of-a-table"),
    ],
)
def test_a_cycle_is_found_and_named(tmp_path: Path, imports: str) -> None:
    package = tmp_path / PACKAGE
    package.mkdir()
    for name, text in {
        "__init__": "", "__main__": "import tooling.a", "a": f"\n{imports}", "b": "import tooling.c",
        "c": "import tooling.a", "d": "import tooling.a",
    }.items():  # fmt: skip
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    graph = import_graph(tmp_path)
    line = 1 + len(imports.splitlines())
    # A computed name may mean any module next to it, so that there is a shorter cycle.
    way = "" if "name" in imports else "tooling.b:1 -> "
    assert [described(graph, cycle) for cycle in cycles(graph)] == [
        f"tooling.a:{line} -> {way}tooling.c:1 -> tooling.a"
    ]


def test_an_import_that_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    (tmp_path / PACKAGE).mkdir()
    (tmp_path / PACKAGE / "a.py").write_text("\nimport_module(name)\n", encoding="utf-8")
    with pytest.raises(UnknownImport, match=r"^tooling/a\.py:2: write the name as a constant"):
        import_graph(tmp_path)
