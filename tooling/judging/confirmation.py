"""Compares the verdicts on several data sets: which patterns of values hold, and which were accidental."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tooling.catalog.mutants import KnownMistake
from tooling.execution.channel import element_bytes
from tooling.judging.comparison import compare
from tooling.judging.diagnosis import GUARD
from tooling.judging.formula_model import OutputPair
from tooling.judging.formulas import find_formula
from tooling.judging.verdict import CaseVerdict, Problem, explained

_ACCIDENTAL = frozenset(
    {
        "missing-last",
        "transposed",
        "accumulated",
        "constant-difference",
        "reversed-order",
        "shifted",
        "scaled",
        "permuted",
        "partial-sum",
    }
)
_UNWRITTEN = frozenset({"never-written", "first-block-only", "partly-written"})
_SHOWN_BY_ALL_DATA = frozenset({"scaled", "constant-difference", "partial-sum"})
"""No data can hide these: an output that is right with one data set shows something else."""
_WITH_EQUAL_FACTS = frozenset({"constant-difference", "scaled", "shifted", "partial-sum", "tile-repeated"})


class _Claim(Struct, frozen=True, eq=False):
    """A problem of one data set, with what may confirm or contradict it."""

    problem: Problem
    case: CaseVerdict
    cases: Sequence[CaseVerdict]
    mistakes: Callable[[], Sequence[KnownMistake]]

    @property
    def others(self) -> tuple[Problem, ...]:
        """The mismatches of the same output with all data sets, this one included."""
        return tuple(
            problem
            for case in self.cases
            for problem in case.problems
            if problem.output == self.problem.output and problem.comparison
        )


def confirmed(
    cases: Sequence[CaseVerdict], mistakes: Callable[[], Sequence[KnownMistake]] = tuple
) -> tuple[CaseVerdict, ...]:
    """The verdicts with patterns of values that hold for both data sets, and the known mistakes.

    A pattern that few elements, or many equal ones, can show by accident must appear with the other data set
    too, with the same facts. So must elements that were never written: a kernel may have written the value
    that was there before, but hardly with both data sets. Where the simulated GPU has found an error, the
    values are no evidence of a further mistake. A name that is not confirmed becomes one of `also`.

    Args:
        mistakes: loads the known mistakes of the mode; called if values are wrong.
    """
    known = functools.cache(mistakes)
    return tuple(
        replace(
            case, problems=tuple(_confirmed(_Claim(problem, case, cases, known)) for problem in case.problems)
        )
        for case in cases
    )


def _confirmed(claim: _Claim) -> Problem:
    """The problem as the first rule that applies to it reports it."""
    answers = (rule(claim) for rule in RULES)
    return next(answer for answer in answers if answer is not None)


def _without_values(claim: _Claim) -> Problem | None:
    """A problem that is not a pattern of values needs no confirmation."""
    problem = claim.problem
    return problem if problem.comparison is None or problem.output == GUARD else None


def _after_findings(claim: _Claim) -> Problem | None:
    """Where the simulated GPU has found an error, the values are no evidence of a further mistake."""
    return _instead(claim.problem, "mismatch", "after-findings") if claim.case.errors else None


def _known_mistake(claim: _Claim) -> Problem | None:
    """The result of a known mistake, with every data set."""
    for mistake in claim.mistakes():
        if all(_shows(case, mistake, claim.problem) for case in claim.cases):
            return _instead(claim.problem, "known-mistake", because=mistake.because)
    return None


def _pattern(claim: _Claim) -> Problem | None:
    """A pattern that is certain with one data set, or appears with every data set."""
    problem = claim.problem
    if problem.name == "mismatch" or _by_accident(claim):
        return None
    return problem


def _by_accident(claim: _Claim) -> bool:
    """Whether another data set contradicts a pattern that one data set can show by accident."""
    name, others = claim.problem.name, claim.others
    if name in _SHOWN_BY_ALL_DATA and len(others) < len(claim.cases):
        return True
    if name not in _ACCIDENTAL | _UNWRITTEN:
        return False
    like = _UNWRITTEN if name in _UNWRITTEN else {name}
    return any(not any(_same_facts(claim.problem, other, each) for each in like) for other in others)


def _same_result(claim: _Claim) -> Problem | None:
    """The same elements were handed in with different data."""
    problem, cases = claim.problem, claim.cases
    if problem.comparison is None or len(cases) < 2 or problem.name in _UNWRITTEN:
        return None
    contents = {case.submitted.get(problem.output, case.dataset) for case in cases}
    values = {mismatch.got for mismatch in problem.comparison.first}
    varied = len(values) > 1 or problem.comparison.total == 1  # zeros may be elements that were never written
    return _instead(problem, "same-result") if len(contents) == 1 and varied else None


def _formula(claim: _Claim) -> Problem | None:
    """Another formula, or other elements, that give the output with every data set."""
    problem, results = claim.problem, []
    for case in claim.cases:
        buffer = case.submitted.get(problem.output)
        if buffer is None or case.reference is None or problem.comparison is None:
            return None
        expected = case.reference.expected[problem.output]
        if buffer.fault or len(buffer.content) != element_bytes(buffer.dtype) * expected.size:
            return None
        got, comparison = buffer.array(), problem.comparison
        results.append(OutputPair(case.reference, problem.output, got, comparison.rtol, comparison.atol))
    formula = find_formula(results)
    if formula is None:
        return None
    facts = dict(formula.facts)
    found = _instead(problem, formula.name, formula.text, **facts)
    return replace(found, diagnoses={**found.diagnoses, formula.name: {"text": formula.text, **facts}})


def _mismatch(claim: _Claim) -> Problem | None:
    """No pattern was confirmed."""
    return _instead(claim.problem, "mismatch")


RULES: tuple[Callable[[_Claim], Problem | None], ...] = (
    _without_values,
    _after_findings,
    _known_mistake,
    _pattern,
    _same_result,
    _formula,
    _mismatch,
)
"""The first one that returns a problem decides how a problem is reported."""


def in_another_order(case: CaseVerdict) -> CaseVerdict:
    """The verdict on a run whose threads had another order than in the runs that were right.

    Wrong values show that the result depends on the order, whatever pattern they have.
    """
    claims = (_Claim(problem, case, (case,), tuple) for problem in case.problems)
    problems = (
        _without_values(claim) or _after_findings(claim) or _instead(claim.problem, "order-dependent")
        for claim in claims
    )
    return replace(case, problems=tuple(problems))


def _shows(case: CaseVerdict, mistake: KnownMistake, problem: Problem) -> bool:
    """Whether an output contains what the mistake computes, within the tolerance of the right values."""
    buffer = case.submitted.get(problem.output)
    if (
        buffer is None
        or case.reference is None
        or case.reference.evaluate is None
        or problem.comparison is None
    ):
        return False
    wrong = case.reference.evaluate(mistake.result, mistake.where).ravel()
    if buffer.fault or len(buffer.content) != element_bytes(buffer.dtype) * wrong.size:
        return False
    got = buffer.array()
    return compare(got, wrong.astype(got.dtype), problem.comparison.rtol, problem.comparison.atol).equal


def _same_facts(problem: Problem, other: Problem, name: str) -> bool:
    """Whether the other problem shows the diagnosis too; where its facts must agree, with the same facts."""
    if name not in (other.name, *other.also):
        return False
    return name not in _WITH_EQUAL_FACTS or problem.diagnoses.get(name) == other.diagnoses.get(name)


def _instead(problem: Problem, name: str, text: str = "", **facts: Any) -> Problem:
    """The same mismatch with other sentences; what it was is kept among `also`."""
    other = explained(name, text=text, output=problem.output, **facts)
    also = tuple(each for each in dict.fromkeys((problem.name, *problem.also)) if each != name)
    return replace(other, comparison=problem.comparison, also=also, diagnoses=problem.diagnoses)
