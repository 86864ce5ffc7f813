"""Every instruction of LLVM's tables has a name here, the assembler's text, and most of them are executed.

`data/*_unsupported.txt` lists the mnemonics that no kernel can execute; the lists may only shrink.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from tests.simulator.amd.assembly import code_object
from tests.simulator.amd.llvm_sample import ARCHITECTURES, DATA, mnemonic
from tooling.simulator.amd.architectures import ARCHITECTURES as KNOWN
from tooling.simulator.amd.backend.lower import INSTRUCTIONS
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.code_object.model import KernelFunction
from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.decoding.rdna3 import make_decoder
from tooling.simulator.amd.instructions.binders import bind
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.program.program import BasicBlock

each_architecture = pytest.mark.parametrize("architecture", ARCHITECTURES)

assert INSTRUCTIONS, "importing them enters the binders"


@functools.cache
def recorded(architecture: str) -> dict[bytes, str]:
    """The sample's machine code and text."""
    rows = (line.split(" ", 1) for line in (DATA / f"{architecture}_llvm.txt").read_text().splitlines())
    return {bytes.fromhex(words): text for words, text in rows}


def is_bound(instruction: MachineInstruction, architecture: str) -> bool:
    """Whether a kernel can execute an instruction."""
    module = code_object(architecture, bytes(16))
    kernel = module.kernels["kernel"]
    assert isinstance(kernel, KernelFunction)
    lowering = Lowering(module, kernel, KNOWN[architecture])
    lowering.block = BasicBlock(0, "kernel")
    if instruction.target >= 0:
        lowering.block_at[instruction.target] = 0
    try:
        bind(lowering, instruction, 1)
    except UnknownInstruction:
        return False
    return True


def results_of(
    rows: dict[bytes, str], architecture: str
) -> tuple[dict[str, list[str]], list[str], list[str]]:
    """What cannot be executed by mnemonic, instructions without a name, and those with another text."""
    decoder = make_decoder(KNOWN[architecture])
    refused: dict[str, list[str]] = {}
    nameless, different = [], []
    for words, text in rows.items():
        name = mnemonic(text)
        try:
            instruction = decoder.decode(words, 0)
        except UnknownInstruction as error:
            refused.setdefault(name, []).append(text)
            if not error.form.startswith(name):
                nameless.append(f"{text}: {error.form}")
            continue
        if not is_bound(instruction, architecture):
            refused.setdefault(name, []).append(text)
        if (instruction.text, instruction.size) != (text, len(words)):
            different.append(f"{text}: {instruction.text}")
    return refused, nameless, different


OTHER_TEXT = {
    # Branches: LLVM's disassembler writes the distance, its assembler a label; here it is the target.
    "s_branch", "s_call_b64", "s_cbranch", "s_subvector_loop",
    # Values of these, which later versions of LLVM name in another way.
    "s_nop", "s_sendmsg", "s_sendmsghalt", "s_setprio", "s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32",
    "s_sendmsg_rtn", "s_delay_alu", "s_waitcnt_depctr", "s_set_gpr_idx", "ds_swizzle_b32",
    "s_denorm_mode", "s_round_mode", "s_wait_idle", "s_clause", "s_set_inst_prefetch", "s_code_end",
    "s_version", "s_ttracedata", "s_incperflevel", "s_decperflevel", "s_wait_event",
    # LLVM's disassembler writes an offset of 0 as `null`, its assembler as `0x0`.
    "s_load_b256",
    # Graphics.
    "s_endpgm_ordered_ps_done", "s_setkill",
    "ds_bvh_stack_rtn_b32", "global_load_addtid_b32", "global_store_addtid_b32",
}  # fmt: skip
"""Beginnings of the mnemonics whose text is not compared."""

HALVES = re.compile(r"\b(v\d+)\.[lh]|_dpp8?\b|_e32\b| op_sel:\[[01,]+\]| fi:1")
"""LLVM 19 writes no halves of registers and fewer suffixes; Mojo's compiler does."""


def unsupported(architecture: str) -> list[str]:
    """The mnemonics that no kernel can execute."""
    return (DATA / f"{architecture}_unsupported.txt").read_text().split()


@each_architecture
def test_each_legal_instruction_has_a_name(architecture: str) -> None:
    _, nameless, _ = results_of(recorded(architecture), architecture)
    assert nameless == []


@each_architecture
def test_the_list_of_unsupported_instructions_is_complete_and_no_longer_than_needed(
    architecture: str,
) -> None:
    refused, _, _ = results_of(recorded(architecture), architecture)
    assert sorted(refused) == unsupported(architecture)


@pytest.mark.parametrize("page", ["book/src/trust.md", "i18n/ko/book/src/trust.md"])
def test_the_page_on_trust_states_how_many_are_executed(page: str) -> None:
    text = (Path(__file__).parents[3] / page).read_text("utf-8")
    for architecture in ARCHITECTURES:
        known = len({mnemonic(each) for each in recorded(architecture).values()})
        left_out = len(unsupported(architecture))
        assert re.search(rf"{known:,}.{{1,30}}\b{left_out}", text)


@each_architecture
def test_the_text_is_the_disassemblers(architecture: str) -> None:
    _, _, different = results_of(recorded(architecture), architecture)
    wrong = []
    for row in different:
        text, _, found = row.partition(": ")
        if text.startswith(tuple(OTHER_TEXT)):
            continue
        if HALVES.sub(r"\1", text) != HALVES.sub(r"\1", found):
            wrong.append(row)
    assert wrong == []
