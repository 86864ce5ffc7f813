"""Verdicts on a results.json, also where a buffer was too large to be returned."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from tests.cli.conftest import MANIFEST
from tooling.bundle.judging import Judged, ResultsUnreadable, judge_results
from tooling.catalog.catalogue import Selection, every_selection, load_catalogue
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import ModeKind, OtherSizes
from tooling.judging.reference import load_reference
from tooling.judging.verdict import Outcome
from tooling.project import Project
from tooling.targets.accelerators import target_for
from tooling.verify.plan import PlannedTrial, Subject, Task

ROOT = Path(__file__).parents[2]
WARPS = [
    each
    for each in every_selection(load_catalogue(Project(ROOT)))
    if each.puzzle.id in ("p24", "p25", "p26") and each.mode.kind is not ModeKind.BENCHMARK
]
TWO_OUTPUTS = MANIFEST.replace("    anchors: [add_10]\n", "    datasets: [book]\n").replace(
    "shape: [8]}",
    "shape: [8], rtol: 1e-3}\n      - {name: total, dtype: float32, shape: [1]}",
)
REFERENCE = """\
import numpy as np

def inputs(mode, dataset):
    a = np.arange(8, dtype=np.float32)
    return {"a": a, "out": np.zeros(8, np.float32), "total": np.zeros(1, np.float32)}

def expected(mode, inputs):
    return {"out": inputs["a"] + 10, "total": np.array([inputs["a"].sum()])}
"""
Values = np.ndarray[Any, np.dtype[np.float32]]
A = np.arange(8, dtype=np.float32)
OUT, TOTAL = A + 10, np.array([28], np.float32)
NEARLY, SHIFTED = OUT * np.float32(1.0001), np.roll(OUT, 1)


def record(array: np.ndarray[Any, Any], *, brought: bool = True) -> dict[str, object]:
    content = array.tobytes()
    return {
        "dtype": array.dtype.name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "zlib": base64.b64encode(zlib.compress(content)).decode() if brought else None,
    }


@pytest.fixture
def selection(tmp_path: Path) -> Selection:
    for kind in ("problems", "solutions"):
        (tmp_path / kind / "p01").mkdir(parents=True)
    (tmp_path / "solutions" / "p01" / "reference.py").write_text(REFERENCE)
    manifest = tmp_path / "problems" / "p01" / "puzzle.yaml"
    manifest.write_text(TWO_OUTPUTS, encoding="utf-8")
    puzzle = load_puzzle(manifest, Project(tmp_path))
    return Selection(puzzle, puzzle.programs[0], puzzle.modes[0])


def judged(
    selection: Selection,
    folder: Path,
    trial: PlannedTrial,
    accelerator: str = "sm_90a",
    others: Sequence[dict[str, Any]] = (),
    **run: Any,
) -> Judged:
    """The one trial, of a successful run unless `run` overrides fields; `others`: runs on other data sets."""
    zeros = np.zeros(8, np.float32), np.zeros(1, np.float32)
    result = {
        "id": trial.id,
        "dataset": "book",
        "ending": "exited",
        "status": 0,
        "seconds": 0.1,
        "stdout": "",
        "stderr": "",
        "used": {"a": record(A), "out": record(zeros[0]), "total": record(zeros[1])},
        "out": {"out": record(OUT), "total": record(TOTAL)},
        **run,
    }
    path = folder / "results.json"
    report = {
        "version": 1,
        "bundle": accelerator,
        "device": "a GPU",
        "seconds": 1,
        "results": [result, *others],
    }
    path.write_text(json.dumps(report))
    _, (only,) = judge_results(path, [Task(selection.program.solution, (trial,))])
    return only


LEFT = {"out": record(NEARLY, brought=False), "total": record(TOTAL)}
WRONG_TOTAL = {"out": record(NEARLY, brought=False), "total": record(TOTAL + 1)}
UNKNOWN = ("undecided", "`out` is not bit-identical to the expected values, and was too large to be returned")


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({}, ("", "")),
        ({"out": {"out": record(NEARLY), "total": record(TOTAL)}}, ("", "")),
        ({"out": {"out": record(OUT, brought=False), "total": record(TOTAL)}}, ("", "")),
        ({"out": LEFT}, UNKNOWN),
        ({"out": WRONG_TOTAL}, ("complaint", "must pass, but: ")),
        ({"out": LEFT, "status": 1}, ("complaint", "must pass, but: ")),
        ({"out": LEFT, "ending": "signalled", "status": 11}, ("complaint", "crash")),
        ({"out": LEFT, "ending": "time-limit", "status": 9}, ("complaint", "time-limit")),
        ({"out": LEFT, "used": {}}, ("complaint", "input-changed")),
        ({"out": {"total": record(TOTAL)}}, ("complaint", "not-submitted")),
        (
            {"out": {"out": record(NEARLY[:4], brought=False), "total": record(TOTAL)}},
            ("complaint", "not-sub"),
        ),
    ],
)
def test_a_solution_is_undecided_only_where_the_missing_buffer_decides(
    selection: Selection, tmp_path: Path, run: dict[str, Any], says: tuple[str, str]
) -> None:
    got = judged(selection, tmp_path, PlannedTrial(Subject.SOLUTION, selection), **run)
    kind, text = says
    assert (bool(got.complaint), bool(got.undecided)) == (kind == "complaint", kind == "undecided")
    assert text in got.complaint + got.undecided


@pytest.mark.parametrize(
    ("expect", "run", "says"),
    [
        ("shifted", {"out": {"out": record(SHIFTED), "total": record(TOTAL)}, "status": 1}, ("", "")),
        ("shifted", {}, ("complaint", "must be rejected, but passed")),
        ("shifted", {"out": LEFT, "status": 1}, UNKNOWN),
        ("shifted", {"out": LEFT}, UNKNOWN),
        (
            "shifted",
            {"out": {"out": record(SHIFTED), "total": record(TOTAL)}},
            ("complaint", "itself succeeded"),
        ),
        ("crash", {"out": WRONG_TOTAL, "status": 1}, ("complaint", "rejected, but as")),
        ("time-limit", {"out": LEFT, "ending": "time-limit", "status": 9}, ("", "")),
        ("stored-by-host", {}, ("undecided", "only the checks of the simulated GPU can decide")),
        ("counters", {}, ("undecided", "only the checks of the simulated GPU can decide")),
    ],
)
def test_a_mutant_is_undecided_only_where_the_missing_buffer_decides(
    selection: Selection, tmp_path: Path, expect: str, run: dict[str, Any], says: tuple[str, str]
) -> None:
    got = judged(selection, tmp_path, PlannedTrial(Subject.MUTANT, selection, "m", (expect,)), **run)
    kind, text = says
    assert (bool(got.complaint), bool(got.undecided)) == (kind == "complaint", kind == "undecided"), got
    assert text in got.complaint + got.undecided


def test_a_mutant_that_only_other_sizes_show_is_undecided(selection: Selection, tmp_path: Path) -> None:
    sizes = OtherSizes({"SIZE": "9"}, {"out": (9,), "total": (1,)})
    mutant = PlannedTrial(Subject.MUTANT, selection, "m", ("partial-sum",))
    assert "must be rejected, but passed" in judged(selection, tmp_path, mutant).complaint
    resized = replace(selection, mode=replace(selection.mode, other_sizes=sizes))
    got = judged(resized, tmp_path, replace(mutant, selection=resized))
    assert (got.complaint, got.undecided) == ("", "a bundle has no run with other sizes")


def test_a_skeleton_that_may_be_right_has_not_been_rejected(selection: Selection, tmp_path: Path) -> None:
    skeleton = PlannedTrial(Subject.SKELETON, selection)
    assert judged(selection, tmp_path, skeleton, out=LEFT).undecided
    refused = judged(selection, tmp_path, skeleton, out=LEFT, status=1)  # by the program itself
    assert (refused.complaint, refused.undecided) == ("", "")


def chosen(command: str) -> Selection:
    return next(each for each in WARPS if each.command == command)


def ran(selection: Selection, folder: Path, accelerator: str, a: Values, out: Values) -> Judged:
    """A solution's run on the book's data with these buffers; p24 has a second factor, which is the same."""
    used = {"a": record(a), "b": record(a), "out": record(np.zeros_like(out))}
    trial = PlannedTrial(Subject.SOLUTION, selection)
    target = target_for(accelerator)
    case = load_reference(selection.puzzle).case(target.sized(selection.mode), "probe", lanes=target.lanes)
    probe = {
        **{"id": trial.id, "dataset": "probe", "ending": "exited", "status": 0, "seconds": 0.1},
        **{"stdout": "", "stderr": ""},
        "used": {name: record(array) for name, array in case.inputs.items()},
        "out": {name: record(array) for name, array in case.expected.items()},
    }
    return judged(selection, folder, trial, accelerator, [probe], used=used, out={"out": record(out)})


def passed(judged: Judged) -> bool:
    return judged.verdict is not None and judged.verdict.outcome is Outcome.PASSED and not judged.complaint


@pytest.mark.parametrize(
    ("accelerator", "lanes", "total"),
    [("gfx942", 64, 85344), ("gfx1100", 32, 10416), ("apple-m4", 32, 10416), ("sm_90a", 32, 10416)],
)
def test_a_warp_has_as_many_lanes_as_the_gpu_that_ran_it(
    tmp_path: Path, accelerator: str, lanes: int, total: int
) -> None:
    dot, scan = chosen("p24 --kernel"), chosen("p26 --prefix-sum")
    ramp = np.arange(lanes, dtype=np.float32)
    right = np.array([total], np.float32)
    assert passed(ran(dot, tmp_path, accelerator, ramp, right))
    assert "must pass" in ran(dot, tmp_path, accelerator, ramp, right - 1).complaint
    assert passed(ran(scan, tmp_path, accelerator, ramp + 1, np.cumsum(ramp + 1)))
    assert "shifted" in ran(scan, tmp_path, accelerator, ramp + 1, np.cumsum(ramp)).complaint
    # The values of a GPU with another warp size are wrong here.
    other = np.arange(96 - lanes, dtype=np.float32)
    there = np.array([85344 + 10416 - total], np.float32)
    assert "input-changed" in ran(dot, tmp_path, accelerator, other, there).complaint
    assert ran(dot, tmp_path, accelerator, ramp, there).complaint
    assert ran(scan, tmp_path, accelerator, other + 1, np.cumsum(other + 1)).complaint


@pytest.mark.parametrize("accelerator", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("selection", WARPS, ids=lambda selection: selection.command)
def test_references_and_manifests_agree_for_both_lengths_of_a_warp(
    selection: Selection, accelerator: str
) -> None:
    target = target_for(accelerator)
    mode = target.sized(selection.mode)
    reference = load_reference(selection.puzzle)
    for dataset in mode.datasets:
        case = reference.case(mode, dataset, lanes=target.lanes)  # raises where they do not
        fixed = mode.name in ("average", "conditional-max")
        assert case.inputs["a"].size == (64 if fixed else target.lanes)
        assert not np.array_equal(case.inputs["out"], case.expected["out"])


def test_what_is_missing_from_the_results_has_not_passed(tmp_path: Path) -> None:
    selection = chosen("p24 --kernel")
    trial = PlannedTrial(Subject.SOLUTION, selection)
    ramp, total = np.arange(32, dtype=np.float32), np.array([10416], np.float32)
    buffers = {"a": record(ramp), "b": record(ramp), "out": record(np.zeros_like(total))}
    half = judged(selection, tmp_path, trial, used=buffers, out={"out": record(total)})
    assert (half.verdict, half.undecided) == (None, "its run is missing from the results: `probe`")
    wrong = judged(selection, tmp_path, trial, used=buffers, out={"out": record(total + 1)})
    assert "must pass" in wrong.complaint
    nothing = judged(selection, tmp_path, trial, id="another")
    assert (nothing.verdict, nothing.undecided) == (None, "it is not in the results")


def damaged(**fields: object) -> dict[str, object]:
    return {**record(OUT), **fields}


BOMB = base64.b64encode(zlib.compress(bytes(1 << 26))).decode()


@pytest.mark.parametrize(
    "run",
    [
        {"out": {"out": damaged(zlib="?")}},
        {"out": {"out": damaged(zlib="AAAA")}},
        {"out": {"out": damaged(zlib=record(OUT)["zlib"][:-8] + "AAAAAAA=")}},  # type: ignore[index]
        {"out": {"out": damaged(bytes=31)}},
        {"out": {"out": damaged(bytes="32")}},
        {"out": {"out": damaged(dtype=3)}},
        {"out": {"out": {}}},
        {"out": []},
        {"dataset": "other"},
        {"dataset": 1},
        {"ending": "exploded"},
        {"status": "0"},
        {"seconds": None},
        {"id": None},
    ],
)
def test_a_malformed_result_is_an_error_with_a_reason(
    selection: Selection, tmp_path: Path, run: dict[str, Any]
) -> None:
    trial = PlannedTrial(Subject.SOLUTION, selection)
    with pytest.raises(ResultsUnreadable) as caught:
        judged(selection, tmp_path, trial, **run)
    assert caught.value.why


def test_a_small_file_that_unpacks_to_a_large_one_is_not_unpacked(
    selection: Selection, tmp_path: Path
) -> None:
    out = {"out": damaged(zlib=BOMB, bytes=1 << 26), "total": record(TOTAL)}
    one = judged(selection, tmp_path, PlannedTrial(Subject.SOLUTION, selection), out=out)
    assert "is too large, and was not read" in one.complaint
