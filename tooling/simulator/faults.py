"""What makes the engine stop a kernel: the faults of memory accesses, told with lane and address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tooling.simulator.launch import FaultKind, KernelFault, Launch
from tooling.simulator.ptx_model import Instruction

if TYPE_CHECKING:
    from tooling.simulator.memory_requests import Request


def illegal_address(launch: Launch, request: Request, thread: int, address: int, space: str) -> KernelFault:
    """An access outside the memory of its space."""
    return KernelFault(
        FaultKind.ILLEGAL_ADDRESS,
        f"{_who(launch, thread)} accessed {request.width.bytes} bytes at {space} address {address:#x}, "
        f"where there is no {space} memory",
        thread=thread,
        address=address,
        instruction=request.instruction,
    )


def misaligned(launch: Launch, request: Request, thread: int, address: int, space: str) -> KernelFault:
    """An address that is no multiple of the access's size."""
    return KernelFault(
        FaultKind.MISALIGNED_ADDRESS,
        f"{_who(launch, thread)} accessed {space} address {address:#x}, no multiple of {request.width.bytes}",
        thread=thread,
        address=address,
        instruction=request.instruction,
    )


def trapped(launch: Launch, instruction: Instruction, thread: int) -> KernelFault:
    """A `trap` instruction: an assertion or abort of the kernel itself."""
    return KernelFault(
        FaultKind.TRAP,
        f"{_who(launch, thread)} stopped the kernel itself (trap)",
        thread=thread,
        instruction=instruction,
    )


def broken_warp(launch: Launch, instruction: Instruction, thread: int) -> KernelFault:
    """An instruction of a whole warp, some of whose 32 lanes have exited or do not exist."""
    return KernelFault(
        FaultKind.ILLEGAL_INSTRUCTION,
        f"{_who(launch, thread)} came to {instruction.opcode} without all 32 lanes of its warp",
        thread=thread,
        instruction=instruction,
    )


def _who(launch: Launch, thread: int) -> str:
    block, inside = launch.position(thread)
    return f"thread {inside} of block {block}"
