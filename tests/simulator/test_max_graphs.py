"""MAX graphs on the simulated GPU, end to end.

They need the extra `max`: uv run --extra max --group dev poe test-max
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.machine import needs_simulated_gpu
from tooling.toolchain import BuildCache, BuildRequest, build, find_toolchain, open_cache
from tooling.toolchain.packages import DRIVER_VARIABLE, make_driver

pytestmark = [pytest.mark.max, pytest.mark.slow, pytest.mark.mojo, needs_simulated_gpu]
ROOT = Path(__file__).parents[2]


def tooling(*arguments: str, report: Path) -> tuple[int, str, Any]:
    result = subprocess.run(
        [sys.executable, "-m", "tooling", *arguments, "--target", "sim", "--json", str(report)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    document = json.loads(report.read_text("utf-8")) if report.is_file() else None
    return result.returncode, result.stdout + result.stderr, document


def test_a_graph_of_a_custom_operation_runs_and_is_judged(tmp_path: Path) -> None:
    status, shown, _ = tooling("run", "p17", "--solution", report=tmp_path / "run.json")
    assert status == 0, shown
    assert "Puzzle 17 complete ✅" in shown


def test_a_graph_takes_the_package_that_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from max.graph import KernelLibrary  # type: ignore[import-untyped,import-not-found,unused-ignore]

    folder = ROOT / "solutions" / "p17" / "op"
    toolchain = find_toolchain()
    built = build(BuildRequest(folder / "__init__.mojo", emit="package"), toolchain, open_cache())
    no_compiler = replace(toolchain, mojo=tmp_path / "none")
    monkeypatch.setenv(DRIVER_VARIABLE, str(make_driver([built.path], no_compiler, BuildCache(tmp_path))))
    library = KernelLibrary()
    library.load_paths([folder])
    (path,) = library.library_paths()
    assert path.read_bytes() == built.path.read_bytes()


def test_the_checks_watch_the_kernels_of_a_graph(tmp_path: Path) -> None:
    """The mutant without its barrier is rejected for its race, which only the checks can see."""
    status, shown, document = tooling("verify", "p17", "--only", "mutant", report=tmp_path / "verify.json")
    assert status == 0, shown
    assert any("missing_barrier" in json.dumps(record) for record in document["results"]), document
