"""Problems with the buffers of a run: inputs that are not the reference's, outputs that are wrong."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tooling.catalog.model import Output
from tooling.execution.channel import BufferContent, Fault, element_bytes
from tooling.execution.listing import Elision, Listing, parse_listings
from tooling.judging.comparison import compare
from tooling.judging.diagnosis import GUARD, WrongOutput, diagnose
from tooling.judging.evidence import Evidence
from tooling.judging.reference import Array
from tooling.judging.verdict import Problem, explained
from tooling.text import Text

_PRECISION = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
_NEVER_STAGED = Text("was never staged")
_NOT_REGULAR = Text("is not in a regular file")
_OTHER_VALUES = Text("holds other values")


def wrong_input(evidence: Evidence) -> list[Problem]:
    """The first input that the program used with another type, size or content than the reference's."""
    for name, wanted in evidence.case.inputs.items():
        buffer = evidence.used.get(name)
        problem = buffer and _difference_of_input(name, buffer, wanted)
        if problem:
            return [problem]
    return []


def _difference_of_input(name: str, buffer: BufferContent, wanted: Array) -> Problem | None:
    if buffer.fault is Fault.IRREGULAR:
        return explained("input-changed", output=name, detail=_NOT_REGULAR)
    if buffer.dtype not in (wanted.dtype.name, "bfloat16"):
        types = {"got": buffer.dtype, "wanted": wanted.dtype.name}
        return explained("input-changed", text="other-type", output=name, **types)
    if buffer.fault is Fault.TOO_LARGE:
        return explained("input-changed", text="too-large", output=name, wanted=wanted.nbytes)
    got_elements = len(buffer.content) // element_bytes(buffer.dtype)
    if got_elements != wanted.size:
        sizes = {"got": got_elements, "wanted": wanted.size}
        return explained("input-changed", text="other-size", output=name, **sizes)
    if buffer.content != np.ascontiguousarray(wanted).tobytes():
        return explained("input-changed", output=name, detail=_OTHER_VALUES)
    return None


def unstaged_input(evidence: Evidence) -> list[Problem]:
    """The first input that a program never used, although it ran to its end."""
    unstaged = (name for name in evidence.case.inputs if name not in evidence.used)
    name = next(unstaged, None) if evidence.finished else None
    return [] if name is None else [explained("input-changed", output=name, detail=_NEVER_STAGED)]


def wrong_outputs(evidence: Evidence) -> list[Problem]:
    """What is wrong with each output; one that is missing only if the program's end does not explain it."""
    listings = parse_listings(evidence.transcript.stdout)
    found = []
    for output in evidence.mode.outputs:
        buffer = evidence.submitted.get(output.name)
        if buffer is None:
            if evidence.finished:
                found.append(explained("not-submitted", output=output.name))
            continue
        problem = _unreadable(output, buffer, evidence.case.expected[output.name].size)
        problem = problem or _wrong_values(output, buffer, evidence)
        problem = problem or _other_text(output, buffer, listings)
        if problem:
            found.append(problem)
    return found


def _unreadable(output: Output, buffer: BufferContent, size: int) -> Problem | None:
    """A buffer that does not hold `size` elements of the output's type."""
    if buffer.fault is Fault.IRREGULAR:
        return explained("not-submitted", text="irregular-file", output=output.name)
    if buffer.dtype != output.dtype:
        types = {"got": buffer.dtype, "wanted": output.dtype}
        return explained("not-submitted", text="other-type", output=output.name, **types)
    width = element_bytes(output.dtype)
    got_elements, rest = divmod(len(buffer.content), width)
    if buffer.fault is Fault.TOO_LARGE:
        return explained("not-submitted", text="too-large", output=output.name, wanted=size * width)
    if rest:
        sizes = {"got": len(buffer.content), "wanted": size * width, "width": width}
        return explained("not-submitted", text="broken-element", output=output.name, **sizes)
    if got_elements != size:
        sizes = {"got": got_elements, "wanted": size}
        return explained("not-submitted", text="other-size", output=output.name, **sizes)
    return None


def _wrong_values(output: Output, buffer: BufferContent, evidence: Evidence) -> Problem | None:
    """Elements beyond the tolerance, with the patterns that they show."""
    case = evidence.case
    expected = case.expected[output.name]
    got = buffer.array().reshape(output.shape)
    comparison = compare(got, expected, output.rtol, output.atol)
    if comparison.equal:
        return None
    found = diagnose(
        WrongOutput(
            got=got,
            expected=expected,
            initial=case.initial(output),
            comparison=comparison,
            inputs={name: array for name, array in case.inputs.items() if name not in case.expected},
            blocks=evidence.block_sizes,
            rtol=output.rtol,
            atol=output.atol,
            guard=output.name == GUARD,
        )
    )
    name = found[0].name if found else "mismatch"
    detail = found[0].detail if found else {}
    text = (found[0].text if found else "") or name
    also = tuple(diagnosis.name for diagnosis in found[1:])
    diagnoses = {diagnosis.name: {"text": diagnosis.text, **diagnosis.detail} for diagnosis in found}
    return Problem(name, text, detail, output.name, comparison, also, diagnoses)


def _other_text(output: Output, buffer: BufferContent, listings: Sequence[Listing]) -> Problem | None:
    """A list of the output that the program printed last, and that holds other elements."""
    printed = [listing for listing in listings if listing.label == output.name]
    if printed and not agrees(printed[-1].items, buffer.array().reshape(output.shape)):
        return explained("text-disagrees", output=output.name, line=printed[-1].line)
    return None


def agrees(items: tuple[object, ...], array: Array) -> bool:
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
        return np.ndim(element) > 0 and agrees(item, element)
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
