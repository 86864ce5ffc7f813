"""Gives a bundle the data sets of the simulated GPU, where its programs work on fewer elements.

    cp -r DIR SMALL; python tests/data/h200/small_inputs.py SMALL     (here, in the project)
    python3 run_bundle.py --prefix "env GPU_SIM_SOCKET=small" -o small-results.json     (there, in SMALL)

The variable makes the programs choose the smaller size; a real driver does not know it. So hardware and the
simulated GPU do the same work, and what they print and compute can be compared byte for byte.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tooling.catalog.catalogue import load_catalogue
from tooling.judging.reference import load_reference
from tooling.project import find_project


def main(folder: Path) -> None:
    puzzles = {puzzle.id: puzzle for puzzle in load_catalogue(find_project())}
    for entry in json.loads((folder / "bundle.json").read_text("utf-8"))["entries"]:
        puzzle = puzzles[entry["id"][:3]]
        mode = next(mode for mode in puzzle.modes if mode.name == entry["mode"])
        for dataset, subfolder in entry["datasets"].items():
            if subfolder and mode.scaled:
                case = load_reference(puzzle).case(mode.sized(simulated=True), dataset, simulated=True)
                for name, array in case.inputs.items():
                    content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
                    (folder / subfolder / f"{name}.bin").write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
