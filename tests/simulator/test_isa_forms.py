"""Which forms of the PTX ISA the simulator executes: the list of the others may only get shorter.

`data/isa_forms.txt` has the instructions that ptxas of CUDA 13.0 accepts for sm_90a among those of
`instructions/isa_forms.py`, with `+` if the simulator executes them and `-` if it refuses them by name.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from tests.simulator.instructions.isa_forms import module
from tooling.simulator.nvidia.backend.lower import decode
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module

FORMS = (Path(__file__).parent / "data" / "isa_forms.txt").read_text(encoding="utf-8").splitlines()
MOST_REFUSED = 202
"""Lower it with each form that is added."""


def opcode_of(line: str) -> str:
    return re.split(r"[. ;]", line[2:], maxsplit=1)[0]


def executed(text: str) -> bool:
    """Whether the decoder knows an instruction; it names those that it refuses."""
    try:
        parsed = parse_module(module([text]))
        decode(parsed, parsed.kernels["k"])
    except PtxError as error:
        assert text.split(maxsplit=1)[0].rstrip(";") in str(error) or "register" in str(error)
        return False
    return True


BY_OPCODE = {
    opcode: list(lines) for opcode, lines in itertools.groupby(sorted(FORMS, key=opcode_of), opcode_of)
}


def test_the_list_of_refused_forms_gets_no_longer() -> None:
    assert len(FORMS) == len(set(FORMS))
    assert sum(line.startswith("- ") for line in FORMS) == MOST_REFUSED


@pytest.mark.parametrize("opcode", BY_OPCODE)
def test_every_form_is_executed_or_refused_as_listed(opcode: str) -> None:
    assert [line for line in BY_OPCODE[opcode] if executed(line[2:]) is not line.startswith("+ ")] == []
