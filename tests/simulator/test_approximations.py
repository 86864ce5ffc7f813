"""Approximate instructions have the bits of an H100, over whole binades: digests of recorded results."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.amd.assembly import assemble, code_object
from tests.simulator.instructions.record_approximations import Bits, Sweep, sweeps
from tooling.simulator.backends import backend_for
from tooling.simulator.nvidia.semantics.approximate import approximate_form, approximate_quotient
from tooling.target_run import estimates

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


TANGENT = """\
.version 8.7
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 address)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [address];
    ld.global.b32 %r1, [%rd1];
    INSTRUCTION %r2, %r1;
    st.global.b32 [%rd1], %r2;
    ret;
}
"""


@pytest.mark.parametrize(
    ("instruction", "named"), [("tanh.approx.f32", ("tanh.approx.f32",)), ("sin.approx.f32", ())]
)
def test_only_the_instruction_without_the_bits_of_the_hardware_is_named(
    instruction: str, named: tuple[str, ...]
) -> None:
    backend = backend_for("ptx")
    module = backend.parse(TANGENT.replace("INSTRUCTION", instruction).encode())
    assert estimates(backend, module, module.kernels["kernel"]) == named


@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_amds_approximate_instructions_are_named(architecture: str) -> None:
    code = assemble(architecture, ("v_exp_f32_e32 v1, v0", "v_add_f32_e32 v1, v1, v0", "s_endpgm"))
    module = code_object(architecture, code)
    assert estimates(backend_for(architecture), module, module.kernels["kernel"]) == ("v_exp_f32",)


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
