"""Scalar instructions with side effects: EXEC, the program counter, hints (SOP1 and SOPP, CDNA 3 ISA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tooling.simulator.amd.code_object.model import CODE
from tooling.simulator.amd.decoding.instruction import MachineInstruction, Operand
from tooling.simulator.amd.instructions.binders import binds, step_of
from tooling.simulator.amd.instructions.host_calls import UnknownService, host_calls
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.registers import combined, halves
from tooling.simulator.amd.lowering.waves import ACTIVE, EXEC, SCC, WaveGroup, set_exec
from tooling.simulator.amd.texts import NO_CODE_THERE, UNSUPPORTED_MODE_SET
from tooling.simulator.gpu.faults import trapped
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.gpu.launch import FaultKind, KernelFault
from tooling.simulator.numerics.rounding import U32, U64
from tooling.simulator.program.program import Batch, End, go_to

Array = NDArray[Any]

_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e,
    "andn2": lambda s, e: s & ~e, "orn2": lambda s, e: s | ~e, "nand": lambda s, e: ~(s & e),
    "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e),
    "andn1": lambda s, e: ~s & e, "orn1": lambda s, e: ~s | e,
}  # fmt: skip
_COMBINE |= {  # RDNA 3's names of these
    "and_not0": _COMBINE["andn1"], "and_not1": _COMBINE["andn2"], "or_not0": _COMBINE["orn1"],
    "or_not1": _COMBINE["orn2"],
}  # fmt: skip
"""The new EXEC of S_*_SAVEEXEC, from the source and the old EXEC."""


def _save_exec(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """D = EXEC; EXEC = combination; SCC = EXEC is not 0 (CDNA 3 ISA, S_AND_SAVEEXEC_B64)."""
    if not instruction.name.endswith(f"_b{lowering.wave_size}"):
        raise lowering.unsupported(instruction)
    combine = _COMBINE[instruction.name.removeprefix("s_").rsplit("_", 2)[0]]
    source = lowering.mask(instruction.sources[0].operand)
    kind = "b64" if lowering.wave_size == 64 else "b32"
    write = lowering.scalar_writer(instruction.results[0], kind)
    lowering.block.reads(EXEC)
    lowering.block.defines |= {SCC, EXEC, ACTIVE}
    full = U64.type((1 << lowering.wave_size) - 1)
    saves = "saveexec" in instruction.name

    def step(group: WaveGroup, _batch: Batch) -> None:
        old = group.get(EXEC)
        new = combine(source(group), old) & full
        saved = old if saves else new
        write(group, saved if kind == "b64" else saved.astype(U32))
        set_exec(group, new)
        group.registers[SCC] = new != 0

    lowering.block.steps.append(step_of(step))


binds(*(f"s_{name}_saveexec_b{bits}" for name in _COMBINE for bits in (32, 64)))(_save_exec)
binds("s_andn1_wrexec_b64", "s_andn2_wrexec_b64")(_save_exec)
binds("s_and_not0_wrexec_b32", "s_and_not1_wrexec_b32")(_save_exec)


@binds(
    "s_nop", "s_waitcnt", "s_sethalt", "s_setprio", "s_icache_inv", "s_wakeup", "s_dcache_inv", "s_dcache_wb",
    "s_clause", "s_delay_alu", "s_waitcnt_depctr", "s_set_inst_prefetch_distance", "s_gl1_inv", "v_nop",
    "v_clrexcp", "ds_nop", "s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
    "s_wait_idle", "s_dcache_inv_vol", "s_dcache_wb_vol", "s_dcache_discard", "s_dcache_discard_x2",
    "s_atc_probe", "s_atc_probe_buffer", "s_incperflevel", "s_decperflevel", "s_ttracedata",
    "s_ttracedata_imm", "s_code_end", "v_pipeflush", "s_wait_event",
)  # fmt: skip
def _no_effect(_lowering: Lowering, _instruction: MachineInstruction, _following: int) -> None:
    """Waits and hints: results of memory instructions are there at once."""


@binds("s_sleep")
def _sleep(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A wavefront that sleeps probably polls."""

    def step(group: WaveGroup, _batch: Batch) -> None:
        group.polling = instruction

    lowering.block.steps.append(step_of(step))


_INTERRUPT, _DOORBELL, _REAL_TIME = 1, 128, 131  # of the messages


@binds("s_memtime", "s_memrealtime")
def _clock(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A clock counts issued instructions, not time. A loop that reads it probably polls."""
    write = lowering.scalar_writer(instruction.results[0], "b64")

    def step(group: WaveGroup, batch: Batch) -> None:
        group.polling = instruction
        batch.spaces.changes += 1
        write(group, np.array([batch.issued], U64))

    lowering.block.steps.append(step_of(step))


_HARDWARE_MODE, _SHADER_CYCLES, _XCC = 1, 29, 20
"""Numbers of hardware registers: MODE; SHADER_CYCLES of gfx1100; XCC_ID of gfx942 (LLVM, AMDGPU operands)."""
_NEAREST_WITH_SUBNORMALS = 0xF0


@binds("s_getreg_b32")
def _get_register(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Bits of a hardware register: the modes of arithmetic, a clock, or the number of a die, 0."""
    number, low, count = _field_of_register(instruction)
    mask = (1 << count) - 1
    write = lowering.scalar_writer(instruction.results[0], "b32")
    clocks = number == _SHADER_CYCLES and lowering.wave_size == 32
    if number == _HARDWARE_MODE:
        resource = lowering.kernel.descriptor.resource1
        value = _NEAREST_WITH_SUBNORMALS | (resource >> 21 & 1) << 8 | (resource >> 23 & 1) << 9
    elif clocks or (number == _XCC and lowering.wave_size == 64):
        value = 0
    else:
        raise lowering.unsupported(instruction)
    slot = lowering.constant(value >> low & mask, U32)
    lowering.block.reads(slot)

    def step(group: WaveGroup, batch: Batch) -> None:
        if clocks:
            group.polling = instruction
            batch.spaces.changes += 1
            write(group, np.array([batch.issued >> low & mask], U32))
            return
        write(group, group.get(slot))

    lowering.block.steps.append(step_of(step))


def _field_of_register(instruction: MachineInstruction) -> tuple[int, int, int]:
    """A hardware register, and the first bit and the number of bits of a field of it."""
    value = instruction.immediate
    return value & 63, value >> 6 & 31, (value >> 11 & 31) + 1


@binds("s_setreg_b32", "s_setreg_imm32_b32", "s_denorm_mode", "s_round_mode")
def _set_register(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """Modes of arithmetic: rounding to nearest with subnormal numbers, and others are refused.

    What else MODE has (traps, the handling of signalling NaN) has no effect here.
    """
    if instruction.encoding == "SOPP":
        low, count = (4, 4) if instruction.name == "s_denorm_mode" else (0, 4)
        read = lowering.raw(Operand("const", value=instruction.immediate), "u32")
    else:
        number, low, count = _field_of_register(instruction)
        if number != _HARDWARE_MODE:
            raise lowering.unsupported(instruction)
        read = lowering.scalar(instruction.sources[0].operand, "u32")
    mask = ((1 << count) - 1) << low & 0xFF
    refusal = lowering.unsupported(instruction, UNSUPPORTED_MODE_SET)

    def step(group: WaveGroup, _batch: Batch) -> None:
        for value in read(group).view(U32):
            if (int(value) << low) & mask != _NEAREST_WITH_SUBNORMALS & mask:
                raise refusal

    lowering.block.steps.append(step_of(step))


@binds("s_sendmsg_rtn_b32", "s_sendmsg_rtn_b64")
def _ask(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """The number of the queue's doorbell, which only code after a trap uses: 0. The time is a clock."""
    message = instruction.sources[0].operand.value
    if message == _REAL_TIME and instruction.name.endswith("b64"):
        _clock(lowering, instruction, following)
        return
    if message != _DOORBELL or instruction.name.endswith("b64"):
        raise lowering.unsupported(instruction)
    slot = lowering.constant(0, U32)
    lowering.block.reads(slot)
    write = lowering.scalar_writer(instruction.results[0], "b32")
    lowering.block.steps.append(step_of(lambda group, _batch: write(group, group.get(slot))))


@binds("s_sendmsg", "s_sendmsghalt")
def _send_message(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """An interrupt, which a call of the host sends, is answered at once; other messages have no effect."""
    if instruction.immediate != _INTERRUPT:
        return

    def step(_group: WaveGroup, batch: Batch) -> None:
        try:
            host_calls(batch.context.memory).serve(batch.stdout)
        except UnknownService as error:
            raise lowering.no_service(int(error.args[0])) from error

    lowering.block.steps.append(step_of(step))


# -- the program counter ---------------------------------------------------------------------------------


@binds("s_getpc_b64")
def _program_counter(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    slot = lowering.symbol(CODE, lowering.module.code_address + instruction.offset + instruction.size)
    write = lowering.scalar_writer(instruction.results[0], "b64")
    lowering.block.reads(slot)
    lowering.block.steps.append(step_of(lambda group, _batch: write(group, group.get(slot))))


@binds("s_branch", ends=True)
def _branch(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    target = lowering.block_at[instruction.target]
    lowering.block.successors.append(target)
    lowering.block.end = go_to(target, lowering.block.number)


def _vcc(lowering: Lowering) -> Callable[[WaveGroup], Array]:
    """VCC as one number per wavefront; with 32 lanes only its lower half counts."""
    low = lowering.register("vcc", 0)
    lowering.block.reads(low)
    if lowering.wave_size == 32:
        return lambda group: group.get(low)
    high = lowering.register("vcc", 1)
    lowering.block.reads(high)
    return lambda group: combined(group.get(low), group.get(high))


@binds(
    "s_cbranch_scc0", "s_cbranch_scc1", "s_cbranch_vccz", "s_cbranch_vccnz", "s_cbranch_execz",
    "s_cbranch_execnz", ends=True,
)  # fmt: skip
def _conditional_branch(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    target = lowering.block_at[instruction.target]
    lowering.block.successors += [target, following]
    backwards = target <= lowering.block.number
    condition = instruction.name.removeprefix("s_cbranch_")
    if condition.startswith("scc"):
        lowering.block.reads(SCC)
        read: Callable[[WaveGroup], Array] = lambda group: group.get(SCC)  # noqa: E731
    elif condition.startswith("vcc"):
        vcc = _vcc(lowering)
        read = lambda group: vcc(group) != 0  # noqa: E731
    else:
        lowering.block.reads(EXEC)
        read = lambda group: group.get(EXEC) != 0  # noqa: E731
    wanted = condition in ("scc1", "vccnz", "execnz")

    def end(group: Group, batch: Batch) -> bool:
        assert isinstance(group, WaveGroup)
        taken = read(group) == wanted
        if taken.all():
            group.pc = target
            if backwards:
                group.back_edges += 1
            return True
        if not taken.any():
            group.pc = following
            return True
        batch.split(group, taken, target, following, backwards)
        return False

    lowering.block.end = end


def _jump(lowering: Lowering, instruction: MachineInstruction, read: Callable[[WaveGroup], Array]) -> End:
    """A jump to an address in the code object, which each wavefront may have another of."""
    base = lowering.symbol(CODE, lowering.module.code_address)
    lowering.block.reads(base)
    blocks = lowering.block_at

    def end(group: Group, batch: Batch) -> bool:
        assert isinstance(group, WaveGroup)
        offsets = read(group).view(U64) - group.get(base)
        wanted = [blocks.get(int(offset)) for offset in offsets]
        for number, target in enumerate(wanted):
            if target is None:
                threads = group.pick(batch.spaces.threads)
                where = int(read(group)[number])
                raise KernelFault(
                    FaultKind.ILLEGAL_ADDRESS,
                    NO_CODE_THERE.of(address=where),
                    thread=int(threads[number * group.wave_size]),
                    address=where,
                    instruction=instruction,
                )
        targets = sorted({target for target in wanted if target is not None})
        if len(targets) == 1:
            group.pc = targets[0]
            if targets[0] <= group.pc:
                group.back_edges += 1
            return True
        chosen = np.repeat(np.searchsorted(targets, np.array(wanted)), group.wave_size)
        batch.scatter(group, chosen, targets)
        return False

    return end


@binds("s_setpc_b64", ends=True)
def _set_program_counter(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    read = lowering.scalar(instruction.sources[0].operand, "u64")
    lowering.block.end = _jump(lowering, instruction, read)


@binds("s_swappc_b64", ends=True)
def _call(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    read = lowering.scalar(instruction.sources[0].operand, "u64")
    back = lowering.symbol(CODE, lowering.module.code_address + instruction.offset + instruction.size)
    lowering.block.reads(back)
    low, high = lowering.of(instruction.results[0])
    lowering.block.defines |= {low, high}
    target = lowering.register("jump", 0)
    upper = lowering.register("jump", 1)

    def step(group: WaveGroup, _batch: Batch) -> None:
        registers = group.registers
        registers[target], registers[upper] = halves(read(group))
        registers[low], registers[high] = halves(group.get(back))

    lowering.block.steps.append(step_of(step))
    lowering.block.end = _jump(
        lowering, instruction, lambda group: combined(group.get(target), group.get(upper))
    )


@binds("s_call_b64", ends=True)
def _call_near(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    """A call at a distance: the address after it, and a jump."""
    back = lowering.symbol(CODE, lowering.module.code_address + instruction.offset + instruction.size)
    lowering.block.reads(back)
    write = lowering.scalar_writer(instruction.results[0], "b64")
    lowering.block.steps.append(step_of(lambda group, _batch: write(group, group.get(back))))
    target = lowering.block_at[instruction.target]
    lowering.block.successors.append(target)
    lowering.block.end = go_to(target, lowering.block.number)


# -- ends and waits ------------------------------------------------------------------------------------


@binds(
    "s_cbranch_cdbgsys", "s_cbranch_cdbguser", "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user",
    ends=True,
)  # fmt: skip
def _debugger_branch(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """A branch that only a debugger takes."""
    lowering.block.successors += [following]
    lowering.block.end = go_to(following, lowering.block.number)


@binds("s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done", ends=True)
def _end_program(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    def end(group: Group, batch: Batch) -> bool:
        batch.finish(group, instruction)
        return False

    lowering.block.end = end


@binds("s_trap", ends=True)
def _trap(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """`s_trap 2`, which LLVM generates for `llvm.trap`: an assertion or an abort."""
    lowering.block.reads(ACTIVE)
    if following >= 0:
        lowering.block.successors.append(following)

    def end(group: Group, batch: Batch) -> bool:
        active = np.broadcast_to(group.get(ACTIVE), group.count)
        threads = group.pick(batch.spaces.threads)
        position = int(np.argmax(active))
        raise trapped(batch.context.launch, instruction, int(threads[position]), ())

    lowering.block.end = end


@binds("s_barrier", alone=True)
def _barrier(lowering: Lowering, instruction: MachineInstruction, following: int) -> None:
    """All wavefronts of a block arrive, with inactive lanes or not."""
    lowering.block.successors.append(following)
    lowering.block.reads(ACTIVE)

    def end(group: Group, batch: Batch) -> bool:
        group.pc = following
        active = group.get(ACTIVE)
        if len(active) != 1 and batch.hooks.barrier_inactive:
            has_thread = batch.spaces.shape.has_thread
            inactive = ~active if has_thread is None else group.pick(has_thread) & ~active
            if inactive.any() and active.any():
                threads = group.pick(batch.spaces.threads)
                for hook in batch.hooks.barrier_inactive:
                    hook.barrier_inactive(threads[active], threads[inactive], instruction)
        return batch.barriers.arrive(group, 0, None, instruction, stay=True)

    lowering.block.end = end
