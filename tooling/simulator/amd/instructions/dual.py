"""VOPD: dual instructions, both of whose components read before either writes (RDNA 3 ISA 7.6)."""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.amd.decoding.instruction import MachineInstruction
from tooling.simulator.amd.decoding.opcodes_gfx1100 import VOPD
from tooling.simulator.amd.instructions.binders import bind_vector, binds, step_of
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.waves import WaveGroup
from tooling.simulator.amd.semantics.tables import lookup
from tooling.simulator.program.program import Batch


def _bind_component(lowering: Lowering, instruction: MachineInstruction) -> None:
    operation = lookup(instruction.name)
    if operation is None:
        raise lowering.unsupported(instruction)
    bind_vector(lowering, instruction, operation)


@binds(*VOPD.values())
def _dual(lowering: Lowering, instruction: MachineInstruction, _following: int) -> None:
    second = instruction.second
    assert second is not None
    steps = lowering.block.steps
    _bind_component(lowering, replace(instruction, second=None))
    _bind_component(lowering, second)
    (written,) = lowering.of(instruction.results[0])
    if instruction.results[0] not in {source.operand for source in second.sources}:
        return
    last, first = steps.pop(), steps.pop()

    def both(group: WaveGroup, batch: Batch) -> None:
        before = group.get(written)
        first(group, batch)
        result = group.registers[written]
        group.registers[written] = before
        last(group, batch)
        group.registers[written] = result

    steps.append(step_of(both))
