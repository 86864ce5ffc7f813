"""Programs in Python in a bundle: their files, and a launcher in place of an executable.

MAX compiles their graphs on the machine where they run, so that machine's `python3` must find MAX.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tooling.catalog.model import Program
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.project import Project

_LAB = "problems/lab"
# run_bundle.py puts the bundle's libraries first; MAX has its own.
_LAUNCHER = """\
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd -P)
libraries="${{LD_LIBRARY_PATH#"$here/lib"}}"
export LD_LIBRARY_PATH="${{libraries#:}}"
export PYTHONPATH="$here/{subfolder}:$here/problems${{PYTHONPATH:+:$PYTHONPATH}}"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
exec python3 "$here/{subfolder}/{main}" "$@"
"""


def store_script(program: Program, source: Path, folder: Path, project: Project) -> str:
    """Copies a program in Python into a bundle, and the module `lab` with the first.

    Args:
        source: its main file: the problem file, the solution or a mutant.
        folder: the bundle's folder.

    Returns:
        The launcher, as bundle.json names it. Equal programs share one.

    Raises:
        OSError: a file cannot be copied.
    """
    root = program.folder_of(source.absolute())
    names = [source.absolute().relative_to(root).as_posix(), *(file.name for file in program.other_files)]
    texts = {name: read_regular(root / name, limit=TEXT_LIMIT) for name in names}
    described = b"\0".join(name.encode() + b"\0" + text for name, text in texts.items())
    digest = hashlib.sha256(described).hexdigest()[:20]
    subfolder = f"programs/{digest}"
    for name, text in texts.items():
        path = folder / subfolder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    if not (folder / _LAB).is_dir():
        ignored = shutil.ignore_patterns("__pycache__", "*.mojo")
        shutil.copytree(project.root / _LAB, folder / _LAB, ignore=ignored)
    launcher = folder / "bin" / digest
    launcher.write_text(_LAUNCHER.format(subfolder=subfolder, main=names[0]), "utf-8")
    launcher.chmod(0o755)
    return f"bin/{digest}"
