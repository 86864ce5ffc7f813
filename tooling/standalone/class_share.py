"""Starts the tool of a checkout on another machine, to judge a share of a class.

    python3 class_share.py FOLDER SHARES SHARE

The work and the results are in the lab folder of the run. `classroom/hosts.py` sends it there. It needs only
Python 3.9.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NO_CHECKOUT = 64  # the exit status where the folder has no environment of Python
_OF_PROGRAMS = ("PYTHONPATH", "LD_LIBRARY_PATH", "PUZZLE_LAB_DIR")
_ENVIRONMENTS = (".venv/bin/python", ".pixi/envs/default/bin/python")


def main() -> int:
    folder, lab = Path(sys.argv[1]).expanduser(), Path(os.environ["PUZZLE_LAB_DIR"])
    found = [str(folder / name) for name in _ENVIRONMENTS if (folder / name).is_file()]
    if not found or not (folder / "pyproject.toml").is_file():
        return NO_CHECKOUT
    variables = {name: value for name, value in os.environ.items() if name not in _OF_PROGRAMS}
    command = [found[0], "-m", "tooling.classroom.shares", str(lab / "in" / "work.bin")]
    command += ["--shares", sys.argv[2], "--share", sys.argv[3], "--root", str(folder), "--jobs", "0"]
    command += ["--output", str(lab / "judged.json")]
    status = subprocess.call(command, cwd=str(folder), env=variables)
    if status == 0:  # what the agent returns of a run
        (lab / "judged.json").replace(lab / "out" / "judged.uint8.bin")
    return status


if __name__ == "__main__":
    sys.exit(main())
