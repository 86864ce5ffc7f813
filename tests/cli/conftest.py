"""A small project of its own, with programs that are Python scripts and a compiler that copies them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent

PROLOGUE = """\
import os, struct, sys
from pathlib import Path

folder = os.environ.get("PUZZLE_LAB_DIR")

def stage(name, values):
    if not folder:
        return values
    staged = Path(folder, "in", name + ".bin")
    if staged.exists():
        values = list(struct.unpack(f"<{len(values)}f", staged.read_bytes()))
    write("used", name, values)
    return values

def submit(name, values):
    if folder:
        write("out", name, values)

def write(kind, name, values):
    Path(folder, kind).mkdir(parents=True, exist_ok=True)
    Path(folder, kind, name + ".float32.bin").write_bytes(struct.pack(f"<{len(values)}f", *values))

def show(label, values):
    print(f"{label}: HostBuffer([{', '.join(map(str, values))}])")
"""

SOLUTION = (
    PROLOGUE
    + """
a = stage("a", [float(i) for i in range(8)])
out = stage("out", [0.0] * 8)
# ANCHOR: add_10_solution
# FILL: about 2 lines
for i in range(8):
    out[i] = a[i] + 10
# END_FILL
# ANCHOR_END: add_10_solution
submit("out", out)
show("out", out)
expected = [x + 10 for x in a]
show("expected", expected)
assert out == expected
print("Puzzle 01 complete ✅")
"""
)

REFERENCE = """\
import numpy as np

def inputs(mode, dataset):
    a = np.arange(8, dtype=np.float32)
    if dataset == "book":
        return {"a": a, "out": np.zeros(8, np.float32)}
    return {"a": a * a + 3, "out": np.full(8, -777.25, np.float32)}

def expected(mode, inputs):
    return {"out": inputs["a"] + 10}
"""

MANIFEST = """\
id: p01
number: 1
title: {en: Map, ko: 맵}
part: I
chapters: [puzzle_01/puzzle_01.md]
time_limit: 10
programs:
  - {name: p01, api: raw}
modes:
  - name: default
    anchors: [add_10]
    outputs:
      - {name: out, dtype: float32, shape: [8]}
    hints:
      - {en: Which element is yours?, ko: 어느 원소가 당신 것인가요?}
      - {en: Use thread_idx.x., ko: thread_idx.x를 씁니다.}
      - {en: "`out[i] = a[i] + 10`", ko: "`out[i] = a[i] + 10`"}
"""

MANY_MODES = """\
id: p34
number: 34
title: {en: Clusters, ko: 클러스터}
part: XI
chapters: [puzzle_34/a.md]
programs:
  - {name: p34, api: layout_tensor}
targets:
  nvidia: {compute: "9.0", because: {en: thread-block clusters, ko: 스레드 블록 클러스터}}
  amd: {unsupported: {en: clusters exist on NVIDIA SM 9.0 and later only, ko: SM 9.0부터}}
  apple: {unsupported: {en: clusters exist on NVIDIA SM 9.0 and later only, ko: SM 9.0부터}}
modes:
  - name: coordination
    flags: [--coordination]
    outputs: [{name: out, dtype: float32, shape: [8]}]
    hints: [{en: a, ko: a}, {en: b, ko: b}, {en: c, ko: c}]
  - name: demo
    kind: demo
    flags: [--demo]
    hints: []
"""


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    status: int
    stdout: str
    stderr: str


@dataclass
class Workbench:
    """A project with one puzzle (p01) and a way to run `tooling` in it."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> Path:
        return self.root / "problems" / "p01" / "p01.mojo"

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / "p01" / "p01.mojo"

    @property
    def manifest(self) -> Path:
        return self.root / "problems" / "p01" / "puzzle.yaml"

    @property
    def builds(self) -> list[str]:
        """The command lines of all builds so far."""
        log = Path(self.environment["FAKE_MOJO_LOG"])
        return log.read_text().splitlines() if log.exists() else []

    def write_problem(self, body: str) -> None:
        self.problem.write_text(PROLOGUE + body)

    def answer(self, kernel: str, puzzle: str = "p01") -> None:
        """The solution with another kernel."""
        right = "for i in range(8):\n    out[i] = a[i] + 10\n"
        assert right in SOLUTION
        problem = self.root / "problems" / puzzle / f"{puzzle}.mojo"
        problem.write_text(SOLUTION.replace(right, kernel))

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(HERE / "launcher.py"), *arguments],
            cwd=self.root,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )

    def run(self, *arguments: str, **environment: str) -> Result:
        process = self.start(*arguments, **environment)
        try:
            stdout, stderr = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return Result(process.returncode, stdout, stderr)

    def add_p34(self) -> None:
        self._add("p34", MANY_MODES)

    def add_puzzle(self, name: str, number: int, title: str) -> None:
        """Another solved puzzle like p01."""
        manifest = (
            MANIFEST.replace("p01", name)
            .replace("puzzle_01/", f"puzzle_{number:02}/")
            .replace("number: 1\n", f"number: {number}\n")
        )
        self._add(name, manifest.replace("{en: Map, ko: 맵}", f"{{en: {title}, ko: {title}}}"))

    def _add(self, name: str, manifest: str) -> None:
        for kind in ("problems", "solutions"):
            folder = self.root / kind / name
            folder.mkdir(parents=True)
            (folder / f"{name}.mojo").write_text(SOLUTION)
        (self.root / "solutions" / name / "reference.py").write_text(REFERENCE)
        (self.root / "problems" / name / "puzzle.yaml").write_text(manifest)


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    root = tmp_path / "project"
    for kind in ("problems", "solutions"):
        (root / kind / "p01").mkdir(parents=True)
    marks = "# generated by `tooling generate`: begin\n# generated by `tooling generate`: end\n"
    (root / "pyproject.toml").write_text("[tool.poe.tasks]\n" + marks)
    (root / "pixi.toml").write_text("[tasks]\n" + marks)
    mojo = tmp_path / "bin" / "mojo"
    mojo.parent.mkdir()
    mojo.write_text(f"#!{sys.executable}\n" + (HERE / "fake_mojo.py").read_text())
    mojo.chmod(0o755)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONIOENCODING": "utf-8",
        "OPENBLAS_NUM_THREADS": os.environ["OPENBLAS_NUM_THREADS"],
        "PUZZLE_MOJO": str(mojo),
        "PUZZLE_CACHE_DIR": str(tmp_path / "cache"),
        "FAKE_MOJO_LOG": str(tmp_path / "builds.log"),
        "TEST_GPU": "sm_90a",
        "TMPDIR": str(tmp_path),
    }
    bench = Workbench(root, environment)
    bench.manifest.write_text(MANIFEST)
    bench.solution.write_text(SOLUTION)
    (bench.solution.parent / "reference.py").write_text(REFERENCE)
    bench.problem.write_text(SOLUTION)
    return bench
