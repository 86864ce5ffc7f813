"""The shared packages of the simulator know no vendor: neither by import nor by a name in their code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "tooling" / "simulator"
SHARED = ("checks", "counters", "engine", "gpu", "numerics", "program", "server")
VENDOR = re.compile(r"(?:^|[_.])(nvidia|cuda|ptx|nvml|amd|hip|hsa|gfx\d*|rocm)(?:[_.]|\d|$)", re.IGNORECASE)


def vendor_names(source: str) -> list[str]:
    """The identifiers and imported modules of a module that name a vendor or an instruction set."""
    return [name for name in _names(ast.parse(source)) if VENDOR.search(_words(name))]


def _words(name: str) -> str:
    """`PtxError` as `Ptx_Error`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("package", SHARED)
def test_a_shared_package_names_no_vendor(package: str) -> None:
    modules = sorted((ROOT / package).rglob("*.py"))
    assert modules
    found = {str(path.relative_to(ROOT)): vendor_names(path.read_text()) for path in modules}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("from tooling.simulator.nvidia import device", ["tooling.simulator.nvidia"]),
        ("class PtxError: ...", ["PtxError"]),
        ("x = kernel.cuda_result", ["cuda_result"]),
        ("ship = hipster = lambda ptxas: ptxas", []),
    ],
)
def test_such_a_name_is_found(source: str, names: list[str]) -> None:
    assert vendor_names(source) == names
