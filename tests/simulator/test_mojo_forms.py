"""Every instruction form that Mojo 1.2 was seen to emit for sm_90a is known.

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
def test_a_form_that_mojo_emits_is_known(form: str) -> None:
    opcode, *modifiers = form.split(".")
    if "cc" in modifiers or opcode in BINDERS:
        return  # what binds it looks at its operands too: the instruction cases hold those
    operation = lookup(opcode, tuple(modifiers))
    assert operation is not None
    assert operation.section.startswith("9.7.")
