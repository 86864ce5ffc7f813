"""Judges one run: its inputs, the buffers that it handed in, its output and how it ended."""

from __future__ import annotations

import functools
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from tooling.catalog.model import Mode, ModeKind, Output
from tooling.catalog.mutants import KnownMistake
from tooling.execution.channel import Buffer, Fault, element_bytes
from tooling.execution.listing import Elision, Listing, parse_listings
from tooling.execution.program import Ending, Transcript
from tooling.judging.comparison import compare
from tooling.judging.diagnosis import GUARD, Evidence, diagnose
from tooling.judging.origins import judge_launches, judge_origin, judge_sources
from tooling.judging.reference import Array, ReferenceCase
from tooling.judging.texts import EXPLANATIONS
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, explained, line_of_code
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.simulator.checks.findings import Finding
    from tooling.simulator.counters.profile import KernelProfile
    from tooling.simulator.server.provenance import Provenance
    from tooling.simulator.server.stopped import StoppedKernel

_GPU_FAILURE = re.compile(
    r"CUDA_ERROR_(?:ILLEGAL|LAUNCH|MISALIGNED|INVALID_PC|ASSERT|HARDWARE)\w*|hipErrorIllegal\w*"
)
_SHOWN_INPUTS = 8
_PRECISION = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
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
_REFUSED = re.compile(r"^simulated GPU: (?!the program asks for times)(.+)$", re.MULTILINE)
_REFUSED_CALL = re.compile(r"Unhandled exception caught during execution: (?:.*/)?(\S+\.mojo:\d+:\d+)")
_UNCAUGHT = re.compile(r"Unhandled exception caught during execution: (.*)")
_LINE_NUMBER = re.compile(r"\S\.mojo:\d+|^\s*File .*, line \d+", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*")


_STOPPED_AFTER = Text("stopped after {seconds:.0f} s")
_ENDLESS_OUTPUT = Text("its output did not end")
_NEVER_STAGED = Text("was never staged")
_NOT_REGULAR = Text("is not in a regular file")
_OTHER_VALUES = Text("holds other values")


def judge_case(
    mode: Mode,
    case: ReferenceCase,
    transcript: Transcript,
    used: Mapping[str, Buffer],
    submitted: Mapping[str, Buffer],
    *,
    findings: Sequence[Finding] = (),
    launches: int | None = None,
    kernels: Sequence[KernelProfile] | None = None,
    stopped: StoppedKernel | None = None,
    provenance: Provenance | None = None,
) -> CaseVerdict:
    """The verdict on one data set of a judged mode.

    Where the result came from, the launches and the counters are judged only if the values are right.

    Args:
        case: the reference's inputs and outputs.
        used, submitted: the buffers of the lab folder.
        findings: what the simulated GPU's checks reported.
        launches: how many kernels were launched, where that is known.
        kernels: their profiles; None where nothing was counted.
        stopped: the kernel that the simulated GPU stopped.
        provenance: where the results came from, and the launches; None where that is not known.
    """
    problems = [*_ending_problems(transcript, launches, stopped)]
    stopped_early = bool(problems)
    endings = len(problems)
    if not stopped_early or used:
        failed_early = transcript.ending is Ending.EXITED and transcript.status != 0
        problems += _input_problems(case, used, complete=not stopped_early and not failed_early)
    wrong_before = len(problems)
    other_input = any(problem.output in used for problem in problems[endings:])
    listings = parse_listings(transcript.stdout)
    blocks = None
    if provenance is not None:
        several = (launch for launch in provenance.launches if launch.grid.count > 1)
        blocks = frozenset(launch.block.count for launch in several)
    failed = transcript.ending is Ending.EXITED and transcript.status != 0
    missing = [output for output in mode.outputs if output.name not in submitted]
    for output in mode.outputs:
        if other_input or ((stopped_early or failed) and output in missing):
            continue  # what was reported explains this, too
        problems += _output_problems(output, case, submitted, listings, blocks)
    if failed and not stopped_early:
        if len(missing) == len(mode.outputs):
            problems = [_early(transcript)]
        elif missing and not other_input:
            problems.append(_early(transcript))
        elif len(problems) == wrong_before and not other_input:  # other input explains an error, too
            text = "" if _LINE_NUMBER.search(transcript.stderr) else "program-error-somewhere"
            problems.append(explained("program-error", text=text, detail=_failure(transcript)))
    if launches == 0 and not problems:
        problems.append(explained("not-launched"))
    if provenance is not None and not problems:
        problems += _origin_problems(mode, case, used, submitted, provenance)
    uncounted = mode.needs_counters and kernels is None
    if mode.counters and kernels is not None and not problems:
        from tooling.judging.counters import judge_counters  # noqa: PLC0415 - imports the simulator

        problems += judge_counters(mode.counters, kernels)
    return CaseVerdict(
        case.dataset,
        transcript,
        tuple(problems),
        tuple(findings),
        uncounted,
        submitted,
        case,
        {name: _beginning(array) for name, array in case.inputs.items() if name not in case.expected},
        launches,
        _unchecked(mode, kernels, provenance),
    )


def _unchecked(
    mode: Mode, kernels: Sequence[KernelProfile] | None, provenance: Provenance | None
) -> tuple[str, ...]:
    """The keys of the mode's requirements that nothing was recorded for, as on a real GPU."""
    found = [] if kernels is not None or not mode.counters else ["counters"]
    if provenance is None:
        facts = {"launch": mode.launch, "threads": mode.threads, "shared_memory": mode.shared_memory}
        found += [name for name, required in facts.items() if required is not None]
    return tuple(found)


def _beginning(array: Array) -> str:
    """The first elements of an input, as a list."""
    flat = array.ravel()
    shown = [str(element) for element in flat[:_SHOWN_INPUTS]]
    return f"[{', '.join(shown)}{', …' if flat.size > _SHOWN_INPUTS else ''}]"


def _origin_problems(
    mode: Mode,
    case: ReferenceCase,
    used: Mapping[str, Buffer],
    submitted: Mapping[str, Buffer],
    provenance: Provenance,
) -> list[Problem]:
    """What is wrong with the origins of the outputs, or with the launches.

    The program's own data may be equal everywhere, so that another buffer holds the result by chance; where a
    kernel copied it from is therefore judged with other data.
    """
    origins = [
        judge_origin(output, submitted[output.name], case.inputs.get(output.name), provenance)
        for output in mode.outputs
    ]
    if case.dataset != "book":
        outputs = {output.name for output in mode.outputs}
        inputs = [buffer.content for name, buffer in used.items() if name not in outputs]
        origins += [
            judge_sources(output, submitted[output.name], inputs, provenance) for output in mode.outputs
        ]
    found = [problem for problem in origins if problem is not None]
    return found or judge_launches(mode, provenance.launches)


def judge_unjudged(
    dataset: str,
    transcript: Transcript,
    findings: Sequence[Finding] = (),
    *,
    launches: int | None = None,
    stopped: StoppedKernel | None = None,
) -> CaseVerdict:
    """The verdict on a demo or a benchmark: only how it ended matters. Arguments as for `judge_case`."""
    problems = list(_ending_problems(transcript, launches, stopped))
    if transcript.ending is Ending.EXITED and transcript.status != 0 and not problems:
        problems.append(_early(transcript))
    return CaseVerdict(dataset, transcript, tuple(problems), tuple(findings))


def outcome_of(mode: Mode, cases: Sequence[CaseVerdict]) -> Outcome:
    """The outcome of a run with these verdicts."""
    if any(problem.name == "time-limit" for case in cases for problem in case.problems):
        return Outcome.TIME_LIMIT
    if not cases or not all(case.right for case in cases):
        return Outcome.WRONG
    if any(case.uncounted for case in cases):
        return Outcome.UNDECIDED
    judged = mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
    return Outcome.PASSED if judged else Outcome.UNJUDGED


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
        replace(case, problems=tuple(_confirmed(problem, case, cases, known) for problem in case.problems))
        for case in cases
    )


def _confirmed(
    problem: Problem,
    case: CaseVerdict,
    cases: Sequence[CaseVerdict],
    mistakes: Callable[[], Sequence[KnownMistake]],
) -> Problem:
    if problem.comparison is None or problem.output == GUARD:
        return problem
    if case.errors:
        return _instead(problem, "mismatch", "after-findings")
    for mistake in mistakes():
        if all(_shows(each, mistake, problem) for each in cases):
            return _instead(problem, "known-mistake", because=mistake.because)
    others = [
        other
        for each in cases
        for other in each.problems
        if other.output == problem.output and other.comparison
    ]
    like = _UNWRITTEN if problem.name in _UNWRITTEN else {problem.name}
    by_accident = problem.name in _ACCIDENTAL | _UNWRITTEN and any(
        not any(_same_facts(problem, other, name) for name in like) for other in others
    )
    if problem.name in _SHOWN_BY_ALL_DATA and len(others) < len(cases):
        by_accident = True
    if not by_accident and problem.name != "mismatch":
        return problem
    contents = {each.submitted.get(problem.output, each.dataset) for each in cases}
    values = {mismatch.got for mismatch in problem.comparison.first}
    varied = len(values) > 1 or problem.comparison.total == 1  # zeros may be elements that were never written
    if len(cases) > 1 and len(contents) == 1 and varied and problem.name not in _UNWRITTEN:
        return _instead(problem, "same-result")
    return _instead(problem, "mismatch")


def _shows(case: CaseVerdict, mistake: KnownMistake, problem: Problem) -> bool:
    """Whether an output contains what the mistake computes, within the tolerance of the right values."""
    buffer = case.submitted.get(problem.output)
    if buffer is None or case.reference is None or problem.comparison is None:
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
    return name not in _WITH_EQUAL_FACTS or problem.facts.get(name) == other.facts.get(name)


def _instead(problem: Problem, name: str, text: str = "", **facts: Any) -> Problem:
    """The same mismatch with other sentences; what it was is kept among `also`."""
    other = explained(name, text=text, output=problem.output, **facts)
    also = tuple(each for each in dict.fromkeys((problem.name, *problem.also)) if each != name)
    return replace(other, comparison=problem.comparison, also=also, facts=problem.facts)


def _early(transcript: Transcript) -> Problem:
    failure = _failure(transcript)
    call = _REFUSED_CALL.search(transcript.stderr)
    if call and _REFUSED.search(transcript.stderr):
        return explained("program-error", text="call-refused", detail=failure, position=call.group(1))
    text = (
        "program-ended-early" if _LINE_NUMBER.search(transcript.stderr) else "program-ended-early-somewhere"
    )
    return explained("program-error", text=text, detail=failure)


def _ending_problems(
    transcript: Transcript, launches: int | None, stopped: StoppedKernel | None
) -> list[Problem]:
    if transcript.ending is Ending.TIME_LIMIT:
        detail = _STOPPED_AFTER.of(seconds=transcript.seconds)
        if stopped and stopped.kind.name == "TIME_LIMIT":
            facts = _facts(stopped, detail)
            return [explained("time-limit", text="kernel-endless", **facts)]
        return [explained("time-limit", detail=detail)]
    if transcript.ending is Ending.OUTPUT_LIMIT:
        return [explained("time-limit", detail=_ENDLESS_OUTPUT)]
    gpu_failure = _GPU_FAILURE.search(transcript.stderr)
    if transcript.ending is Ending.SIGNALLED and transcript.status == signal.SIGKILL and not stopped:
        return [explained("crash", text="killed", detail=transcript.signal_name)]
    if transcript.ending is Ending.SIGNALLED:
        detail_of_crash = transcript.signal_name
    elif gpu_failure and transcript.status != 0:
        detail_of_crash = gpu_failure.group(0)
    else:
        return []
    if stopped:
        problem = explained("crash", text="kernel-stopped", **_facts(stopped, stopped.why))
        return [replace(problem, place=line_of_code(str(stopped.position), stopped.text))]
    on_host = launches is not None  # the simulated GPU reports the kernel that it stopped
    return [explained("crash", text="crash-on-host" if on_host else "", detail=detail_of_crash)]


def _facts(stopped: StoppedKernel, detail: Text) -> dict[str, Any]:
    """The facts of a sentence about a kernel that was stopped."""
    location = f"{stopped.position} (`{stopped.text}`)" if stopped.text else str(stopped.position)
    thread, block = str(stopped.thread), str(stopped.block)
    return {"kernel": stopped.name, "location": location, "thread": thread, "block": block, "detail": detail}


def _input_problems(case: ReferenceCase, used: Mapping[str, Buffer], *, complete: bool) -> list[Problem]:
    for name, wanted in case.inputs.items():
        buffer = used.get(name)
        if buffer is None:
            if complete:
                return [explained("input-changed", output=name, detail=_NEVER_STAGED)]
            continue
        if buffer.fault is Fault.IRREGULAR:
            return [explained("input-changed", output=name, detail=_NOT_REGULAR)]
        if buffer.dtype not in (wanted.dtype.name, "bfloat16"):
            types = {"got": buffer.dtype, "wanted": wanted.dtype.name}
            return [explained("input-changed", text="other-type", output=name, **types)]
        if buffer.fault is Fault.TOO_LARGE:
            return [explained("input-changed", text="too-large", output=name, wanted=wanted.nbytes)]
        got_elements = len(buffer.content) // element_bytes(buffer.dtype)
        if got_elements != wanted.size:
            sizes = {"got": got_elements, "wanted": wanted.size}
            return [explained("input-changed", text="other-size", output=name, **sizes)]
        if buffer.content != np.ascontiguousarray(wanted).tobytes():
            return [explained("input-changed", output=name, detail=_OTHER_VALUES)]
    return []


def _output_problems(
    output: Output,
    case: ReferenceCase,
    submitted: Mapping[str, Buffer],
    listings: Sequence[Listing],
    blocks: frozenset[int] | None,
) -> list[Problem]:
    expected = case.expected[output.name]
    buffer = submitted.get(output.name)
    if buffer is None:
        return [explained("not-submitted", output=output.name)]
    if buffer.fault is Fault.IRREGULAR:
        return [explained("not-submitted", text="irregular-file", output=output.name)]
    if buffer.dtype != output.dtype:
        types = {"got": buffer.dtype, "wanted": output.dtype}
        return [explained("not-submitted", text="other-type", output=output.name, **types)]
    width = element_bytes(output.dtype)
    got_elements, rest = divmod(len(buffer.content), width)
    if buffer.fault is Fault.TOO_LARGE:
        most = {"wanted": expected.size * width}
        return [explained("not-submitted", text="too-large", output=output.name, **most)]
    if rest:
        sizes = {"got": len(buffer.content), "wanted": expected.size * width, "width": width}
        return [explained("not-submitted", text="broken-element", output=output.name, **sizes)]
    if got_elements != expected.size:
        sizes = {"got": got_elements, "wanted": expected.size}
        return [explained("not-submitted", text="other-size", output=output.name, **sizes)]
    got = buffer.array().reshape(output.shape)
    comparison = compare(got, expected, output.rtol, output.atol)
    if not comparison.equal:
        evidence = Evidence(
            got=got,
            expected=expected,
            initial=case.inputs.get(output.name),
            comparison=comparison,
            inputs={name: array for name, array in case.inputs.items() if name not in case.expected},
            blocks=blocks,
            rtol=output.rtol,
            atol=output.atol,
            guard=output.name == GUARD,
        )
        found = diagnose(evidence)
        name = found[0].name if found else "mismatch"
        detail_of = found[0].detail if found else {}
        text = (found[0].text if found else "") or name
        what, cause, advice = EXPLANATIONS[text].of({"output": output.name, **detail_of})
        also = tuple(diagnosis.name for diagnosis in found[1:])
        facts = {diagnosis.name: {"text": diagnosis.text, **diagnosis.detail} for diagnosis in found}
        return [Problem(name, what, cause, advice, output.name, comparison, also, facts)]
    printed = [listing for listing in listings if listing.label == output.name]
    if printed and not _agrees(printed[-1].items, got):
        return [explained("text-disagrees", output=output.name, line=printed[-1].line)]
    return []


def _agrees(items: tuple[object, ...], array: Array) -> bool:
    """Whether a printed list, elided or not, matches this array; a flat list may match any shape."""
    nested = any(isinstance(item, tuple) for item in items)
    if not nested and array.ndim != 1:
        array = array.ravel()
    if Elision() in items:
        at = items.index(Elision())
        head, tail = items[:at], items[at + 1 :]
        if len(head) + len(tail) > len(array) or Elision() in tail:
            return False
        pairs = [*zip(head, array, strict=False)]
        pairs += zip(tail, array[len(array) - len(tail) :], strict=True) if tail else []
    else:
        if len(items) != len(array):
            return False
        pairs = [*zip(items, array, strict=True)]
    return all(_item_agrees(item, element) for item, element in pairs)


def _item_agrees(item: object, element: Array) -> bool:
    if isinstance(item, tuple):
        return np.ndim(element) > 0 and _agrees(item, element)
    if np.ndim(element) > 0 or not isinstance(item, float):
        return False
    value = float(element)
    if np.isnan(item) or np.isnan(value):
        return bool(np.isnan(item) and np.isnan(value))
    if item == value:
        return True
    # Printed numbers have fewer digits than some types, so a small difference is not a mismatch.
    allowed = _PRECISION.get(element.dtype.name, 0.0) * abs(value)
    if element.dtype.kind == "f":
        allowed = max(allowed, float(abs(np.spacing(element))))  # a subnormal number has few digits
    return bool(np.isfinite(item) and np.isfinite(value) and abs(item - value) <= 4 * allowed)


def _failure(transcript: Transcript) -> str:
    """One line about a program that exited with an error."""
    refused = _REFUSED.search(transcript.stderr)
    if refused:
        return refused.group(1)  # the exception that Mojo raises has only the driver's error code
    uncaught = _UNCAUGHT.search(transcript.stderr)
    if uncaught:
        return uncaught.group(1).strip()
    _, traceback, raised = transcript.stderr.rpartition(_TRACEBACK)
    lines = [line for line in transcript.stderr.splitlines() if line.strip()]
    if traceback:  # a message may have several lines; the first one names the exception
        lines = [line for line in raised.splitlines() if _RAISED.match(line)][:1] or lines
    return f"exit status {transcript.status}" + (f": {lines[-1].strip()}" if lines else "")
