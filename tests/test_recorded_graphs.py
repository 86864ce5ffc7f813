"""What wrong answers to puzzle 21 computed on an H200, where results were too large to be brought back.

Recorded is their hash. A fault that leaves elements unwritten says which ones; memory was zero there. The
result made by that rule has the recorded hash, so it is what the H200 computed, and the judge can be asked
about it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.results_files import recorded_results
from tooling.bundle.judging import judge_results
from tooling.catalog.catalogue import load_catalogue
from tooling.judging.reference import load_reference
from tooling.judging.verdict import Outcome
from tooling.project import find_project
from tooling.toolchain import BuildCache
from tooling.verify.plan import Filter, Subject, make_plan

pytestmark = pytest.mark.slow  # twenty million bytes of inputs for each data set

PROJECT = find_project(Path(__file__).parent)
ROW, COLUMN = np.ogrid[:4096, :512]
WRITTEN = {
    "divided_by_the_wrong_extent": ("out", COLUMN.size > ROW),  # as many rows as a row has numbers
    "both_from_y": ("out_2d", ROW % 16 == COLUMN % 16),  # the diagonal of each block
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_result_that_was_left_there_is_judged(name: str, tmp_path: Path) -> None:
    wanted = Filter(puzzles=("p21",), subjects=(Subject.MUTANT,), ids=frozenset({f"p21 mutant {name}"}))
    tasks = make_plan(PROJECT, load_catalogue(PROJECT), wanted, BuildCache(tmp_path / "cache"))
    ((trial,),) = (task.trials for task in tasks)
    report = recorded_results()
    report["results"] = [each for each in report["results"] if each["id"] == trial.id]
    reference = load_reference(trial.selection.puzzle)
    output, written = WRITTEN[name]
    assert {each["dataset"] for each in report["results"]} == set(trial.selection.mode.datasets)
    for result in report["results"]:
        case = reference.case(trial.selection.mode, result["dataset"])
        content = np.where(written, case.expected[output], np.float32(0)).tobytes()
        record = result["out"][output]
        assert hashlib.sha256(content).hexdigest() == record["sha256"]
        record["zlib"] = base64.b64encode(zlib.compress(content, 1)).decode()
    path = tmp_path / "results.json"
    path.write_text(json.dumps(report), "utf-8")
    _, (judged,) = judge_results(path, tasks)
    assert (judged.complaint, judged.undecided) == ("", "")
    assert judged.verdict is not None
    assert judged.verdict.outcome is Outcome.WRONG
    assert judged.verdict.names & set(trial.expect)
