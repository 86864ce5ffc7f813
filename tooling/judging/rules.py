"""The rules by which a run is judged, in their order: each finds problems in the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from tooling.judging import endings
from tooling.judging.buffers import unstaged_input, wrong_input, wrong_outputs
from tooling.judging.evidence import Evidence
from tooling.judging.origins import judge_copies, judge_launches, judge_origin, judge_sources
from tooling.judging.verdict import Problem, explained


class Rule(Struct, frozen=True):
    """A rule of the judge.

    Attributes:
        find: the problems that the evidence shows.
        explains_rest: a problem of this rule is the cause of whatever later rules would find, so that they
            are skipped.
        only_if_right: the rule applies only if no rule before it found a problem.
    """

    find: Callable[[Evidence], Sequence[Problem]]
    explains_rest: bool = False
    only_if_right: bool = False


def _stopped_program(evidence: Evidence) -> list[Problem]:
    """A limit, a signal or a failure of the GPU ended the program."""
    return endings.stopped_program(evidence.transcript, evidence.launches, evidence.stopped)


def _error_without_results(evidence: Evidence) -> list[Problem]:
    """The program ended with an error of its own, and handed in nothing."""
    nothing = len(evidence.missing) == len(evidence.mode.outputs)
    failed = nothing and endings.own_error(evidence.transcript)
    return [endings.error_before_results(evidence.transcript)] if failed else []


def _error_before_last_result(evidence: Evidence) -> list[Problem]:
    """The program ended with an error of its own, and handed in some of its results."""
    failed = evidence.missing and endings.own_error(evidence.transcript)
    return [endings.error_before_results(evidence.transcript)] if failed else []


def _error_after_results(evidence: Evidence) -> list[Problem]:
    """The results are right, but the program ended with an error of its own."""
    failed = endings.own_error(evidence.transcript)
    return [endings.error_after_results(evidence.transcript)] if failed else []


def _not_launched(evidence: Evidence) -> list[Problem]:
    """No kernel was launched, so the results were not computed on the GPU."""
    return [explained("not-launched")] if evidence.launches == 0 else []


def _other_origins(evidence: Evidence) -> list[Problem]:
    """Results that kernels did not compute, or did not compute from their inputs.

    The program's own data may be equal everywhere, so that another buffer holds the result by chance; where a
    kernel copied it from is therefore judged with other data.
    """
    provenance, submitted, case = evidence.provenance, evidence.submitted, evidence.case
    if provenance is None:
        return []
    outputs = evidence.mode.outputs
    origins = [
        judge_origin(output, submitted[output.name], case.initial(output), provenance) for output in outputs
    ]
    if case.dataset != "book":
        names = {output.name for output in outputs}
        inputs = [buffer.content for name, buffer in evidence.used.items() if name not in names]
        origins += [judge_sources(output, submitted[output.name], inputs, provenance) for output in outputs]
    return [problem for problem in origins if problem is not None]


def _other_launches(evidence: Evidence) -> Sequence[Problem]:
    """The launches differ from those that the mode requires."""
    if evidence.provenance is None:
        return ()
    return judge_launches(evidence.mode, evidence.provenance.launches)


def _copies_in_turn(evidence: Evidence) -> Sequence[Problem]:
    """The copies overlap less than the mode requires."""
    wanted, copies = evidence.mode.overlap, evidence.copies
    return () if wanted is None or copies is None else judge_copies(wanted, copies)


def _counters(evidence: Evidence) -> Sequence[Problem]:
    """The mode's criteria of counters that are not met."""
    criteria = evidence.judged_counters
    if not criteria or evidence.kernels is None:
        return ()
    from tooling.judging.counters import judge_counters  # noqa: PLC0415 - imports the simulator

    return judge_counters(criteria, evidence.kernels)


RULES: tuple[Rule, ...] = (
    Rule(_stopped_program),
    Rule(_error_without_results, explains_rest=True),
    Rule(wrong_input, explains_rest=True),
    Rule(unstaged_input),
    Rule(wrong_outputs),
    Rule(_error_before_last_result),
    Rule(_error_after_results, only_if_right=True),
    Rule(_not_launched, only_if_right=True),
    Rule(_other_origins, only_if_right=True),
    Rule(_other_launches, only_if_right=True),
    Rule(_copies_in_turn, only_if_right=True),
    Rule(_counters, only_if_right=True),
)
"""Applied from the first to the last. Where a result came from, the launches and the counters are judged only
if the values are right."""


def find_problems(evidence: Evidence) -> tuple[Problem, ...]:
    """The problems of a run, in the order of the rules."""
    found: list[Problem] = []
    for rule in RULES:
        if found and rule.only_if_right:
            continue
        own = rule.find(evidence)
        found += own
        if own and rule.explains_rest:
            break
    return tuple(found)
