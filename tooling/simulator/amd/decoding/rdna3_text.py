"""The text of RDNA 3's instructions where LLVM's assembler writes them in another way than CDNA's."""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.amd.decoding import text
from tooling.simulator.amd.decoding.instruction import MachineInstruction

_MESSAGES = {1: "MSG_INTERRUPT", 2: "MSG_HS_TESSFACTOR", 3: "MSG_DEALLOC_VGPRS", 9: "MSG_GS_ALLOC_REQ"}
_ANSWERS = {128: "MSG_RTN_GET_DOORBELL", 129: "MSG_RTN_GET_DDID", 130: "MSG_RTN_GET_TMA",
            131: "MSG_RTN_GET_REALTIME", 132: "MSG_RTN_SAVE_WAVE", 133: "MSG_RTN_GET_TBA"}  # fmt: skip
_DEPENDENCIES = ("", "VALU_DEP_1", "VALU_DEP_2", "VALU_DEP_3", "VALU_DEP_4", "TRANS32_DEP_1", "TRANS32_DEP_2",
                 "TRANS32_DEP_3", "FMA_ACCUM_CYCLE_1", "SALU_CYCLE_1", "SALU_CYCLE_2",
                 "SALU_CYCLE_3")  # fmt: skip
_SKIPS = ("", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4")
_COUNTERS = (
    ("depctr_hold_cnt", 7, 1), ("depctr_sa_sdst", 0, 1), ("depctr_va_vdst", 12, 4),
    ("depctr_va_sdst", 9, 3), ("depctr_va_ssrc", 8, 1), ("depctr_va_vcc", 1, 1), ("depctr_vm_vsrc", 2, 3),
)  # fmt: skip
"""Fields of S_WAITCNT_DEPCTR: name, lowest bit, bits. All ones do not wait."""

_HEXADECIMAL = frozenset({"s_clause", "s_set_inst_prefetch_distance", "s_round_mode", "s_denorm_mode"})


def write_text(instruction: MachineInstruction) -> MachineInstruction:
    """The instruction with its text."""
    name, encoding = instruction.name, instruction.encoding
    if encoding == "SOPP" and instruction.target < 0:
        operand = _immediate(name, instruction.immediate)
        if operand is not None:
            return replace(instruction, text=f"{name} {operand}")
    elif name.startswith("s_waitcnt_"):
        register = instruction.sources[0].operand.text
        return replace(instruction, text=f"{name} {register}, {instruction.immediate:#x}")
    elif name.startswith("s_sendmsg_rtn"):
        number = instruction.sources[0].operand.value
        message = _ANSWERS.get(number, str(number))
        return replace(instruction, text=f"{name} {instruction.results[0].text}, sendmsg({message})")
    elif encoding == "VOPD":
        return _dual(instruction)
    shown = instruction
    if name.startswith("v_cmpx"):
        shown = replace(shown, results=())
    if encoding == "VOP3":
        sources = tuple(replace(s, low_half=0) if s.operand.text[-2:-1] == "." else s for s in shown.sources)
        halved = any(result.text[-2:-1] == "." for result in shown.results)
        shown = replace(shown, sources=sources, high_result=shown.high_result and not halved)
    written = text.write_text(shown).text
    flags: list[str] = [flag for flag in ("slc", "dlc") if flag in instruction.flags]
    if instruction.cross_lane is not None:
        written = written.replace("row_newbcast:", "row_share:")
        if instruction.cross_lane.fetch_inactive:
            flags.append("fi:1")
    return replace(instruction, text=" ".join([written, *flags]))


def _dual(instruction: MachineInstruction) -> MachineInstruction:
    """One component, or both."""
    operands = [*instruction.results, *(source.operand for source in instruction.sources)]
    shown = ", ".join(operand.text for operand in operands if operand.kind != "vcc")
    written = f"{instruction.opcode} {shown}"
    if instruction.second is not None:
        written += f" :: {instruction.second.text}"
    return replace(instruction, text=written)


def _immediate(name: str, value: int) -> str | None:
    """The operand of an instruction of SOPP; None if it is written as CDNA's."""
    if name == "s_waitcnt":
        named = (
            ("vmcnt", value >> 10, 63), ("expcnt", value & 7, 7), ("lgkmcnt", value >> 4 & 63, 63),
        )  # fmt: skip
        shown = [f"{counter}({count})" for counter, count, most in named if count != most]
        return " ".join(shown or [f"{counter}({count})" for counter, count, _ in named])
    if name == "s_delay_alu":
        dependencies = (
            ("instid0", _DEPENDENCIES[value & 15]), ("instskip", _SKIPS[value >> 4 & 7]),
            ("instid1", _DEPENDENCIES[value >> 7 & 15]),
        )  # fmt: skip
        return " | ".join(f"{field}({what})" for field, what in dependencies if what) or "0"
    if name == "s_waitcnt_depctr":
        fields = [(counter, value >> low & (1 << width) - 1, width) for counter, low, width in _COUNTERS]
        return " ".join(
            f"{counter}({count})" for counter, count, width in fields if count != (1 << width) - 1
        )
    if name == "s_sendmsg":
        return f"sendmsg({_MESSAGES.get(value, value)})"
    return f"{value:#x}" if name in _HEXADECIMAL else None
