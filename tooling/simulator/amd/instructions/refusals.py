"""Instructions that the simulator does not support: the kernel is stopped when it reaches one."""

from __future__ import annotations

from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.instructions.binders import step_of
from tooling.simulator.amd.lowering.waves import WaveGroup
from tooling.simulator.gpu.lanes import Group
from tooling.simulator.program.program import Batch, End, Step

_SCALAR = ("SOP", "SMEM")


def undecoded(error: UnknownInstruction) -> MachineInstruction:
    """An instruction in place of one that cannot be decoded, of which at most the mnemonic is known."""
    return MachineInstruction(
        error.form, (), None, (), error.offset // 4 + 1, error.source,
        name="", encoding="", offset=error.offset, size=4, text=error.form,
    )  # fmt: skip


def refuse(instruction: MachineInstruction, error: UnknownInstruction) -> Step:
    """The step of an instruction that cannot be executed. A vector instruction without active lanes has no
    effect: compilers place such ones in front of a branch that skips nothing else."""
    is_scalar = instruction.encoding.startswith(_SCALAR)

    def step(group: WaveGroup, _batch: Batch) -> None:
        if is_scalar or group.executing() != 0:
            raise error

    return step_of(step)


def end_refused(error: UnknownInstruction) -> End:
    """The end of a block at which nothing can be executed."""

    def end(_group: Group, _batch: Batch) -> bool:
        raise error

    return end
