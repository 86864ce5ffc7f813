"""Approximate instructions have the bits of an H100, over whole binades: digests of recorded results."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.instructions.record_approximations import Bits, Sweep, sweeps
from tooling.simulator.nvidia.semantics.approximate import approximate_form, approximate_quotient

RECORDING = Path(__file__).parents[1] / "data" / "h100" / "approximations.json"
MANY = 1 << 20


def simulated(sweep: Sweep) -> Bits:
    """The result bits of a sweep's cases on the simulated GPU."""
    opcode, *rest = sweep.text.split(".")
    modifiers = tuple(rest)
    form = approximate_quotient(modifiers) if opcode == "div" else approximate_form(opcode, modifiers)
    assert form is not None
    bits = sweep.operands()
    with np.errstate(all="ignore"):
        match sweep.kind:
            case "f32":
                return form.function(bits.view(np.float32)).view(np.uint32)
            case "pair":
                second = sweep.second_operands()
                return form.function(bits.view(np.float32), second.view(np.float32)).view(np.uint32)
            case "f16":
                halves = bits.astype(np.uint16)
                given = halves if sweep.text.endswith("bf16") else halves.view(np.float16)
                return np.asarray(form.function(given)).view(np.uint16).astype(np.uint32)
            case "high":
                wide = (bits.astype(np.uint64) << np.uint64(32)).view(np.float64)
                return (form.function(wide).view(np.uint64) >> np.uint64(32)).astype(np.uint32)
        return np.asarray(form.function(bits), np.uint32)


def estimated(sweep: Sweep) -> bool:
    """Whether the hardware's result is not known bit for bit."""
    return sweep.text == "tanh.approx.f32"


@pytest.mark.parametrize(
    "sweep",
    [
        pytest.param(sweep, marks=[pytest.mark.slow] if sweep.cases > MANY else [], id=sweep.name)
        for sweep in sweeps()
        if not estimated(sweep)
    ],
)
def test_the_bits_are_those_of_the_hardware(sweep: Sweep) -> None:
    digests = json.loads(RECORDING.read_text("utf-8"))["digests"]
    assert hashlib.sha256(np.ascontiguousarray(simulated(sweep)).tobytes()).hexdigest() == digests[sweep.name]
