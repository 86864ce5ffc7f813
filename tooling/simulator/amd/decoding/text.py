"""The text of an instruction, as LLVM's assembler for AMDGPU writes it."""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.amd.decoding.instruction import CrossLane, MachineInstruction, Modified
from tooling.simulator.amd.decoding.memory_forms import ds_form

_MESSAGES = {1: "MSG_INTERRUPT", 3: "MSG_GS_DONE", 9: "MSG_GS_ALLOC_REQ", 0: "0"}
_HARDWARE = {1: "HW_REG_MODE", 2: "HW_REG_STATUS", 3: "HW_REG_TRAPSTS",
             4: "HW_REG_HW_ID", 5: "HW_REG_GPR_ALLOC", 6: "HW_REG_LDS_ALLOC", 7: "HW_REG_IB_STS"}  # fmt: skip


def write_text(instruction: MachineInstruction) -> MachineInstruction:
    """The instruction with its text."""
    operands = _operands(instruction)
    text = instruction.opcode
    if operands:
        text += " " + ", ".join(operands)
    modifiers = _modifiers(instruction)
    if modifiers:
        text += " " + " ".join(modifiers)
    return replace(instruction, text=text)


def _source(source: Modified) -> str:
    text = source.operand.text
    if source.absolute:
        text = f"|{text}|"
    if source.extend:
        text = f"sext({text})"
    if source.negate and source.operand.kind != "mask":
        is_number = source.operand.kind == "const" and not source.absolute
        text = f"neg({text})" if is_number else f"-{text}"
    return text


def _operands(instruction: MachineInstruction) -> list[str]:
    name, encoding = instruction.name, instruction.encoding
    results = [result.text for result in instruction.results]
    if encoding == "VOP3P" and "_mix" not in name:
        return results + [source.operand.text for source in instruction.sources]
    sources = [_source(source) for source in instruction.sources]
    if name == "s_set_gpr_idx_on":
        return [sources[0], _index_mode(instruction.sources[1].operand.value)]
    if encoding == "SOPP":
        return _immediate(instruction)
    if encoding == "SOPK":
        if name == "s_call_b64":
            return [*results, f"{instruction.target:#x}"]
        register = f"hwreg({_hardware(instruction.immediate)})"
        if name == "s_getreg_b32":
            return [*results, register]
        if name.startswith("s_setreg"):
            value = sources[0]
            if name == "s_setreg_imm32_b32":
                number = instruction.sources[0].operand.value
                value = str(number) if number <= 64 else f"{number:#x}"
            return [register, value]
    if encoding == "SMEM" and instruction.sources:
        offset = [f"{instruction.immediate:#x}"] if "imm" in instruction.flags else []
        if instruction.immediate < 0:
            offset = [f"-{-instruction.immediate:#x}"]
        if len(sources) == 2 and offset:
            return [*results, sources[0], f"{sources[1]} offset:{instruction.immediate:#x}"]
        return [*results, *sources, *offset]
    if encoding == "MUBUF" and sources:
        return _buffer_operands(instruction, results, sources)
    if encoding == "FLAT":
        return _flat_operands(instruction, results, sources)
    if name == "v_swap_b32":
        return results + sources
    return results + sources


def _flat_operands(instruction: MachineInstruction, results: list[str], sources: list[str]) -> list[str]:
    table = instruction.name.partition("_")[0]
    flags = instruction.flags
    base = [sources.pop()] if "saddr" in flags else ["off"] if table != "flat" else []
    if table == "scratch" and "vaddr" not in flags:
        sources.insert(0, "off")
    return results + sources + base


def _buffer_operands(instruction: MachineInstruction, results: list[str], sources: list[str]) -> list[str]:
    """The data, the address (`off` without one), the resource, and the offset with the addressing modes."""
    flags = instruction.flags
    data = [] if len(sources) == 2 + bool(flags & {"idxen", "offen"}) else [sources.pop(0)]
    if not flags & {"idxen", "offen"}:
        sources.insert(0, "off")
    modes: list[str] = [flag for flag in ("idxen", "offen") if flag in flags]
    if instruction.immediate:
        modes.append(f"offset:{instruction.immediate}")
    return [*(data or results), *sources[:-1], " ".join([sources[-1], *modes])]


def _immediate(instruction: MachineInstruction) -> list[str]:
    name, value = instruction.name, instruction.immediate
    if instruction.target >= 0:
        return [f"{instruction.target:#x}"]
    if name == "s_waitcnt":
        return _counts(value)
    if name == "s_sendmsg":
        return [f"sendmsg({_MESSAGES.get(value & 15, value & 15)})"]
    if name in ("s_endpgm", "s_barrier", "s_icache_inv", "s_wakeup", "s_set_gpr_idx_off", "s_endpgm_saved"):
        return [] if not value else [str(value)]
    return [str(value)]


def _index_mode(mode: int) -> str:
    named = [f"SRC{number}" if number < 3 else "DST" for number in range(4) if mode >> number & 1]
    return f"gpr_idx({','.join(named)})"


def _counts(value: int) -> list[str]:
    """The counters of S_WAITCNT that are not at their maximum."""
    vector = value & 15 | (value >> 14 & 3) << 4
    export, local = value >> 4 & 7, value >> 8 & 15
    named = (("vmcnt", vector, 63), ("expcnt", export, 7), ("lgkmcnt", local, 15))
    shown = [f"{name}({count})" for name, count, most in named if count != most]
    return [" ".join(shown or [f"{name}({count})" for name, count, _ in named])]


def _hardware(immediate: int) -> str:
    register, offset, size = immediate & 63, immediate >> 6 & 31, (immediate >> 11 & 31) + 1
    name = _HARDWARE.get(register, str(register))
    return name if (offset, size) == (0, 32) else f"{name}, {offset}, {size}"


def _modifiers(instruction: MachineInstruction) -> list[str]:
    found: list[str] = []
    encoding, sources = instruction.encoding, instruction.sources
    if instruction.cross_lane is not None:
        found += _cross_lane(instruction.cross_lane)
    if encoding == "DS":
        found += _ds_offset(instruction)
    elif encoding == "FLAT" and instruction.immediate:
        found.append(f"offset:{instruction.immediate}")
    if encoding == "VOP3P":
        found += _packed(instruction)
    elif encoding == "VOP3" and (
        any(s.low_half for s in sources) or instruction.high_result or "byte:1" in instruction.flags
    ):
        halves = [str(source.low_half) for source in sources] + [str(int(instruction.high_result))]
        if instruction.name.startswith("v_cvt_sr"):
            number = next(int(flag[-1]) for flag in instruction.flags if flag.startswith("byte:"))
            halves[2:] = [str(number & 1), str(number >> 1)]
        found.append(f"op_sel:[{','.join(halves)}]")
    found += [flag for flag in ("glc", "sc0", "nt", "sc1", "gds", "lds") if flag in instruction.flags]
    if "clamp" in instruction.flags:
        found.append("clamp")
    if instruction.output_scale:
        found.append(("", "mul:2", "mul:4", "div:2")[instruction.output_scale])
    if instruction.opcode.endswith("_sdwa"):
        if instruction.select:
            found += [f"dst_sel:{instruction.select}", f"dst_unused:{instruction.unused}"]
        found += [
            f"src{number}_sel:{source.select}" for number, source in enumerate(sources) if source.select
        ]
    return found


def _ds_offset(instruction: MachineInstruction) -> list[str]:
    low, high = instruction.immediate & 255, instruction.immediate >> 8
    if ds_form(instruction.name).pair:
        return [f"offset{number}:{value}" for number, value in enumerate((low, high)) if value]
    if instruction.name == "ds_swizzle_b32":
        return [f"offset:{_swizzle(instruction.immediate)}"]
    return [f"offset:{instruction.immediate}"] if instruction.immediate else []


def _swizzle(immediate: int) -> str:
    if immediate >> 15:
        return f"swizzle(QUAD_PERM,{','.join(str(immediate >> 2 * k & 3) for k in range(4))})"
    and_mask, or_mask, xor_mask = immediate & 31, immediate >> 5 & 31, immediate >> 10 & 31
    if and_mask == 31 and not or_mask and xor_mask and xor_mask & xor_mask - 1 == 0:
        return f"swizzle(SWAP,{xor_mask})"
    if and_mask == 31 and not or_mask and xor_mask in (3, 7, 15, 31):
        return f"swizzle(REVERSE,{xor_mask + 1})"
    control = "".join(_swizzle_bit(and_mask, or_mask, xor_mask, 4 - k) for k in range(5))
    return f'swizzle(BITMASK_PERM,"{control}")'


def _swizzle_bit(and_mask: int, or_mask: int, xor_mask: int, bit: int) -> str:
    kept, set_, flipped = (mask >> bit & 1 for mask in (and_mask, or_mask, xor_mask))
    if set_:
        return "0" if flipped else "1"
    return ("i" if flipped else "p") if kept else ("1" if flipped else "0")


def _packed(instruction: MachineInstruction) -> list[str]:
    sources = instruction.sources
    if instruction.name.startswith("v_mfma"):
        order = ("cbsz", "abid", "blgp")
        modes = sorted(instruction.flags, key=lambda flag: order.index(flag.partition(":")[0]))
        if instruction.name.startswith("v_mfma_f64") and modes and modes[-1].startswith("blgp"):
            signs = int(modes[-1][-1])
            modes[-1] = f"neg:[{','.join(str(signs >> number & 1) for number in range(3))}]"
        return modes
    if instruction.name.startswith("v_accvgpr"):
        return []
    found = []
    is_mix = "_mix" in instruction.name
    for label, values, default in (
        ("op_sel", [source.low_half for source in sources], 0),
        ("op_sel_hi", [source.high_half for source in sources], 0 if is_mix else 1),
        ("neg_lo", [int(source.negate and not is_mix) for source in sources], 0),
        ("neg_hi", [int(source.negate_high) for source in sources], 0),
    ):
        if any(value != default for value in values):
            found.append(f"{label}:[{','.join(map(str, values))}]")
    return found


def _cross_lane(cross_lane: CrossLane) -> list[str]:
    control = cross_lane.control
    if cross_lane.is_dpp8:
        return [f"dpp8:[{','.join(str(control >> 3 * k & 7) for k in range(8))}]"]
    text = _CONTROLS.get(control, "")
    if control < 0x100:
        text = f"quad_perm:[{','.join(str(control >> 2 * k & 3) for k in range(4))}]"
    for first, name in (
        (0x100, "row_shl"), (0x110, "row_shr"), (0x120, "row_ror"),
        (0x150, "row_share" if cross_lane.fetch_inactive else "row_newbcast"), (0x160, "row_xmask"),
    ):  # fmt: skip
        if first <= control < first + 16 and not text:
            text = f"{name}:{control - first}"
    found = [text, f"row_mask:{cross_lane.row_mask:#x}", f"bank_mask:{cross_lane.bank_mask:#x}"]
    if cross_lane.bound_control:
        found.append("bound_ctrl:1")
    return found


_CONTROLS = {
    0x130: "wave_shl:1", 0x134: "wave_rol:1", 0x138: "wave_shr:1", 0x13C: "wave_ror:1", 0x140: "row_mirror",
    0x141: "row_half_mirror", 0x142: "row_bcast:15", 0x143: "row_bcast:31",
}  # fmt: skip
