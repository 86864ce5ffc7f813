"""Every instruction form that Mojo 1.2 emits for sm_90a, as far as recorded, is supported.

`data/mojo_forms.txt` lists the forms of some 900 small kernels (arithmetic, mathematics and conversions in
every type, vectors, atomics, warp and block operations, calls, printing, tensor copies) and of all solutions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.simulator.nvidia.lowering.binders import BINDERS
from tooling.simulator.nvidia.semantics.tables import lookup

FORMS = (Path(__file__).parent / "data" / "mojo_forms.txt").read_text(encoding="utf-8").split()


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_mojo_emits_is_supported(form: str) -> None:
    opcode, *modifiers = form.split(".")
    if "cc" in modifiers or opcode in BINDERS:
        return  # its binder needs operands, which the instruction cases have
    operation = lookup(opcode, tuple(modifiers))
    assert operation is not None
    assert operation.section.startswith("9.7.")
