"""A program may put anything where its results belong: reading it ends, and the verdict says what it is."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.cli.conftest import SOLUTION, Workbench
from tooling.platform.exit_codes import ExitCode
from tooling.standalone.run_bundle import buffers

SUBMIT = 'submit("out", out)\n'
PATH = 'path = Path(folder, "out", "out.float32.bin")\npath.parent.mkdir(exist_ok=True)\n'
IRREGULAR = "what the program handed in as `out` is not a regular file"
HANDED_IN = {
    "pipe": ("os.mkfifo(path)\n", IRREGULAR),
    "device": ('path.symlink_to("/dev/zero")\n', IRREGULAR),
    "link": (
        'write("elsewhere", "out", out)\npath.symlink_to(Path(folder, "elsewhere", "out.float32.bin"))\n',
        IRREGULAR,
    ),
    "folder": ("path.mkdir()\n", IRREGULAR),
    "three-bytes": (
        'path.write_bytes(b"abc")\n',
        "what the program handed in as `out` has 3 bytes, not 32",
    ),
    "short": ("path.write_bytes(bytes(28))\n", "`out` has 7 elements, not 8"),
    "sparse": (
        "path.touch()\nos.truncate(path, 1 << 40)\n",
        "what the program handed in as `out` is too large, and was not read",
    ),
    "unknown-type": (
        'path.with_name("out.float33.bin").write_bytes(bytes(32))\n',
        "`out` has elements of type float33, not float32",
    ),
    "linked-folder": (
        'write("elsewhere", "out", out)\npath.parent.rmdir()\n'
        'path.parent.symlink_to(Path(folder, "elsewhere"))\n',
        "the program did not hand in `out`",
    ),
}


@pytest.mark.parametrize("kind", HANDED_IN)
def test_what_is_handed_in_is_read_to_an_end_and_named(workbench: Workbench, kind: str) -> None:
    act, said = HANDED_IN[kind]
    workbench.problem.write_text(SOLUTION.replace(SUBMIT, PATH + act))
    result = workbench.run("run", "p01", "--timeout", "5")
    assert result.status == ExitCode.WRONG, result.stderr
    assert said in " ".join(result.stdout.split())
    assert "Traceback" not in result.stderr


def test_what_is_staged_is_read_to_an_end_too(workbench: Workbench) -> None:
    stage = 'out = stage("out", [0.0] * 8)\n'
    pipe = 'used = Path(folder, "used", "a.float32.bin")\nused.unlink()\nos.mkfifo(used)\n'
    workbench.problem.write_text(SOLUTION.replace(stage, stage + pipe))
    result = workbench.run("run", "p01", "--lang", "ko")
    assert result.status == ExitCode.WRONG, result.stderr
    assert "`a` 버퍼가 일반 파일에 들어 있지 않습니다" in " ".join(result.stdout.split())


def test_a_bundle_brings_regular_files_back_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.float32.bin")
    (tmp_path / "b.float32.bin").symlink_to("/dev/zero")
    (tmp_path / "c.float32.bin").write_bytes(bytes(8))
    found = buffers(tmp_path, 4)
    digest = hashlib.sha256(bytes(8)).hexdigest()
    assert found == {"c": {"dtype": "float32", "bytes": 8, "sha256": digest, "zlib": None}}
    assert buffers(tmp_path, 8)["c"]["sha256"] == digest
