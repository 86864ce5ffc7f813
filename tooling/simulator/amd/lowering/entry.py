"""The registers that a launch sets (LLVM AMDGPU User Guide, "Initial Kernel Execution State")."""

from __future__ import annotations

from tooling.simulator.amd.code_object.errors import CodeObjectError
from tooling.simulator.amd.lowering.binder import Lowering
from tooling.simulator.amd.lowering.registers import PARAMETERS
from tooling.simulator.amd.texts import DAMAGED_CODE_OBJECT, UNSUPPORTED_MODE
from tooling.simulator.numerics.rounding import U32
from tooling.simulator.program.program import Origin

_USER_SGPRS = (
    (0, "private_segment_buffer", 4), (1, "dispatch_ptr", 2), (2, "queue_ptr", 2),
    (3, "kernarg_segment_ptr", 2), (4, "dispatch_id", 2), (5, "flat_scratch_init", 2),
    (6, "private_segment_size", 1),
)  # fmt: skip
"""(bit of KERNEL_CODE_PROPERTIES, what it enables, registers), in the order of the registers."""

_DENORMALS = 0xF0
_ROUNDING = 0x0F


def parameter_register(properties: int) -> int | None:
    """The first of the two scalar registers that hold the address of the arguments; None: there are none.

    Args:
        properties: KERNEL_CODE_PROPERTIES of the kernel's descriptor.
    """
    number = 0
    for bit, name, count in _USER_SGPRS:
        if properties >> bit & 1:
            if name == "kernarg_segment_ptr":
                return number
            number += count
    return None


def initialise_registers(lowering: Lowering) -> None:
    """Assign the launch's values to the registers at the kernel's entry.

    Raises:
        CodeObjectError: a rounding or denormal mode that the tables do not implement, or an argument that the
            simulator does not provide.
    """
    descriptor = lowering.kernel.descriptor
    mode = descriptor.float_mode
    if mode & _ROUNDING or mode & _DENORMALS != _DENORMALS:
        raise CodeObjectError(UNSUPPORTED_MODE.of(mode=f"{mode:#04x}"))
    number = 0

    def scalar(origin: Origin | None) -> None:
        nonlocal number
        if origin is not None:
            lowering.initialise("s", number, origin)
        number += 1

    for bit, name, count in _USER_SGPRS:
        if not descriptor.properties >> bit & 1:
            continue
        for word in range(count):
            if name == "kernarg_segment_ptr":
                scalar(Origin("special", U32, PARAMETERS, word))
            elif name in ("queue_ptr", "dispatch_id", "private_segment_size"):
                scalar(None)
            else:
                raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=f"a kernel with {name}"))
    user = descriptor.resource2 >> 1 & 31
    if number > user:
        raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=f"{user} user registers"))
    number = max(number, user)
    for axis in range(3):
        if descriptor.resource2 >> 7 + axis & 1:
            scalar(Origin("special", U32, "workgroup", axis))
    lowering.initialise("v", 0, Origin("special", U32, "workitem"))
