"""The constraints of pyproject.toml, with which `uv run` and `uv sync` install what constraints.txt lists.

`poe lock` writes constraints.txt with the newest versions that the pins of pyproject.toml allow, and
`tooling generate` copies the versions. uv applies them to every resolution, without the hashes, which
`.ci/install` checks.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path

from tooling.generate.tasks import replace_generated
from tooling.platform.processes import temporary_folder
from tooling.platform.regular_files import read_text
from tooling.project import find_project

BUILDING = ("editables", "hatchling", "packaging", "pathspec", "pluggy", "trove-classifiers")
"""hatchling and what it needs, which uv installs to build this project."""

_MARKS = "generated from constraints.txt"
_ENTRY = re.compile(r"^([a-z0-9-]+)(==[^ \\]+)(?: ; ([^\\\n]+?))? \\$", re.MULTILINE)


def with_constraints(pyproject: str, constraints: str, path: Path) -> str:
    """The text of pyproject.toml with the versions of constraints.txt.

    Raises:
        MarkError: it lacks the marks.
    """
    entries = _ENTRY.findall(constraints)
    several = {name for name, count in Counter(name for name, *_ in entries).items() if count > 1}
    lines = [
        f'    "{name}{version}{f" ; {marker}" if name in several else ""}",'
        for name, version, marker in entries
    ]
    text = replace_generated(pyproject, lines, path, _MARKS)
    building = [line for line, (name, *_) in zip(lines, entries, strict=True) if name in BUILDING]
    return replace_generated(text, building, path, f"{_MARKS}, for building")


def lock() -> None:
    """Writes constraints.txt: every package with its version and hashes, and no host.

    The task `lock` of poe, in an environment of uv.
    """
    root = find_project().root
    pyproject = root / "pyproject.toml"
    with temporary_folder("lock-") as folder:
        # Without the constraints, which would keep every version as it is.
        free = with_constraints(read_text(pyproject), "", pyproject)
        (folder / "pyproject.toml").write_text(free, "utf-8")
        options = ["--upgrade", "--all-extras", "--all-groups", "--no-emit-project", "--no-header"]
        options += ["--no-annotate", "--format", "requirements.txt", "-o", str(root / "constraints.txt")]
        subprocess.run(
            [os.environ["UV"], "export", "-q", "--project", str(folder), *options], check=True, cwd=root
        )
