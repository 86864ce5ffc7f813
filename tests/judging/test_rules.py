"""The order of the judge's rules: which problem is reported where several would apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest
from msgspec.structs import replace

from tooling.catalog.model import Bound, CounterMetric, Criterion, Mode, ModeKind, Output
from tooling.execution.channel import BufferContent
from tooling.execution.program import Ending, Transcript
from tooling.judging.confirmation import RULES as CONFIRMATIONS
from tooling.judging.evidence import Evidence
from tooling.judging.reference import ReferenceCase
from tooling.judging.rules import RULES, find_problems
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.server.provenance import LaunchFacts, Provenance
from tooling.text import LocalText

A = np.arange(4, dtype=np.float32)
CASE = ReferenceCase(
    "book",
    {"a": A, "first": np.zeros(4, np.float32), "second": np.zeros(4, np.float32)},
    {"first": A + 1, "second": A + 2},
)
OUTPUTS = tuple(Output(name, "float32", (4,)) for name in CASE.expected)
MODE = Mode("default", ModeKind.PUZZLE, (), ("p01",), {}, OUTPUTS, ("book",), (), (), 5.0)
COUNTED = replace(
    MODE,
    counters=(
        Criterion("copy", CounterMetric.BANK_CONFLICTS, Bound.AT_MOST, 0, LocalText.of(en="it conflicts")),
    ),
)
USED = {name: BufferContent("float32", array.tobytes()) for name, array in CASE.inputs.items()}
OTHER = {**USED, "a": BufferContent("float32", (A + 7).tobytes())}
UNSTAGED = {name: buffer for name, buffer in USED.items() if name != "a"}
RIGHT = {name: BufferContent("float32", array.tobytes()) for name, array in CASE.expected.items()}
WRONG = {**RIGHT, "second": BufferContent("float32", (A * A + 40).tobytes())}
ONE = {"first": RIGHT["first"]}
ENDED = Transcript("", "", Ending.EXITED, 0, 0.1)
FAILED = Transcript("", "Unhandled exception caught during execution: no", Ending.EXITED, 1, 0.1)
TRAPPED = Transcript("", "CUDA_ERROR_LAUNCH_FAILED", Ending.EXITED, 1, 0.1)
HUNG = Transcript("", "", Ending.TIME_LIMIT, 9, 20.0)
NOT_COMPUTED = Provenance({}, (), (LaunchFacts("copy", Dim3(1), Dim3(4), 4),))


@pytest.mark.parametrize(
    ("evidence", "reported"),
    [
        # The way a program ended explains missing results, but not wrong ones.
        (Evidence(MODE, CASE, HUNG, USED, {}), ["time-limit"]),
        (Evidence(MODE, CASE, HUNG, USED, ONE), ["time-limit"]),
        (Evidence(MODE, CASE, HUNG, USED, WRONG), ["time-limit", "mismatch"]),
        (Evidence(MODE, CASE, TRAPPED, USED, {}), ["crash"]),
        (Evidence(MODE, CASE, TRAPPED, OTHER, WRONG), ["crash", "input-changed"]),
        # An error before the first result explains everything.
        (Evidence(MODE, CASE, FAILED, OTHER, {}, launches=0), ["program-error"]),
        # Other input explains other results, the program's own error and all that follows.
        (Evidence(MODE, CASE, ENDED, OTHER, WRONG, launches=0), ["input-changed"]),
        (Evidence(MODE, CASE, FAILED, OTHER, ONE), ["input-changed"]),
        (Evidence(MODE, CASE, FAILED, OTHER, RIGHT), ["input-changed"]),
        # An input that was never used explains nothing else.
        (Evidence(MODE, CASE, ENDED, UNSTAGED, RIGHT), ["input-changed"]),
        (Evidence(MODE, CASE, ENDED, UNSTAGED, WRONG), ["input-changed", "mismatch"]),
        (Evidence(MODE, CASE, FAILED, UNSTAGED, RIGHT), ["program-error"]),
        (Evidence(MODE, CASE, ENDED, {"a": OTHER["a"]}, WRONG), ["input-changed"]),
        # Results: wrong ones are reported with an error before the last result, and instead of one after it.
        (Evidence(MODE, CASE, ENDED, USED, ONE), ["not-submitted"]),
        (Evidence(MODE, CASE, FAILED, USED, ONE), ["program-error"]),
        (Evidence(MODE, CASE, FAILED, USED, {"second": WRONG["second"]}), ["mismatch", "program-error"]),
        (Evidence(MODE, CASE, FAILED, USED, WRONG), ["mismatch"]),
        (Evidence(MODE, CASE, FAILED, USED, RIGHT, launches=0), ["program-error"]),
        # How right results were computed: launches before origins before counters.
        (Evidence(MODE, CASE, ENDED, USED, WRONG, launches=0), ["mismatch"]),
        (Evidence(COUNTED, CASE, ENDED, USED, RIGHT, launches=0, provenance=NOT_COMPUTED), ["not-launched"]),
        (
            Evidence(COUNTED, CASE, ENDED, USED, RIGHT, launches=1, provenance=NOT_COMPUTED, kernels=()),
            ["not-from-device", "not-from-device"],
        ),
        (Evidence(COUNTED, CASE, ENDED, USED, RIGHT, launches=1, kernels=()), ["counters"]),
        (Evidence(COUNTED, CASE, ENDED, USED, WRONG, launches=1, kernels=()), ["mismatch"]),
        (Evidence(MODE, CASE, ENDED, USED, RIGHT, launches=1), []),
    ],
)
def test_the_first_rule_that_explains_the_rest_wins(evidence: Evidence, reported: list[str]) -> None:
    assert [problem.name for problem in find_problems(evidence)] == reported


def names(functions: Iterable[Callable[..., object]]) -> list[str]:
    return [function.__name__.removeprefix("_") for function in functions]


def test_the_order_of_the_rules() -> None:
    assert names(rule.find for rule in RULES) == [
        "stopped_program",
        "error_without_results",
        "wrong_input",
        "unstaged_input",
        "wrong_outputs",
        "error_before_last_result",
        "error_after_results",
        "not_launched",
        "other_origins",
        "other_launches",
        "copies_in_turn",
        "counters",
    ]
    assert names(rule.find for rule in RULES if rule.explains_rest) == [
        "error_without_results",
        "wrong_input",
    ]
    assert names(rule.find for rule in RULES if rule.only_if_right) == [
        "error_after_results",
        "not_launched",
        "other_origins",
        "other_launches",
        "copies_in_turn",
        "counters",
    ]


def test_the_order_of_the_confirmations() -> None:
    assert names(CONFIRMATIONS) == [
        "without_values",
        "after_findings",
        "known_mistake",
        "pattern",
        "same_result",
        "formula",
        "mismatch",
    ]
