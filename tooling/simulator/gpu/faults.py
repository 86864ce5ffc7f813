"""Faults that stop a kernel, with thread and address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tooling.simulator.gpu import stop_texts
from tooling.simulator.gpu.code_model import Instruction
from tooling.simulator.gpu.launch import FaultKind, KernelFault, Launch
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.simulator.gpu.requests import MemoryRequest


def illegal_address(
    launch: Launch, request: MemoryRequest, thread: int, address: int, space: str
) -> KernelFault:
    """An access outside the memory of its space."""
    return KernelFault(
        FaultKind.ILLEGAL_ADDRESS,
        stop_texts.ILLEGAL_ADDRESS.of(
            thread=_thread_text(launch, thread),
            bytes=request.width.bytes,
            space=stop_texts.SPACES[space],
            address=address,
        ),
        thread=thread,
        address=address,
        instruction=request.instruction,
    )


def read_only(launch: Launch, request: MemoryRequest, thread: int, address: int) -> KernelFault:
    """A write to memory that is mapped read-only at this address."""
    return KernelFault(
        FaultKind.ILLEGAL_ADDRESS,
        stop_texts.READ_ONLY.of(
            thread=_thread_text(launch, thread), bytes=request.width.bytes, address=address
        ),
        thread=thread,
        address=address,
        instruction=request.instruction,
    )


def misaligned(launch: Launch, request: MemoryRequest, thread: int, address: int, space: str) -> KernelFault:
    """An address that is not a multiple of the access size."""
    return KernelFault(
        FaultKind.MISALIGNED_ADDRESS,
        stop_texts.MISALIGNED.of(
            thread=_thread_text(launch, thread),
            space=stop_texts.SPACES[space],
            address=address,
            bytes=request.width.bytes,
        ),
        thread=thread,
        address=address,
        instruction=request.instruction,
    )


def trapped(
    launch: Launch, instruction: Instruction, thread: int, callers: tuple[Instruction, ...]
) -> KernelFault:
    """A `trap` instruction: an assertion or abort in the kernel."""
    return KernelFault(
        FaultKind.TRAP,
        stop_texts.TRAPPED.of(thread=_thread_text(launch, thread)),
        thread=thread,
        instruction=instruction,
        callers=callers,
    )


def broken_warp(launch: Launch, instruction: Instruction, thread: int) -> KernelFault:
    """A warp-wide instruction in a warp with exited or missing lanes."""
    return KernelFault(
        FaultKind.ILLEGAL_INSTRUCTION,
        stop_texts.BROKEN_WARP.of(thread=_thread_text(launch, thread), opcode=instruction.opcode),
        thread=thread,
        instruction=instruction,
    )


def wrong_barrier(launch: Launch, instruction: Instruction, thread: int, why: Text) -> KernelFault:
    """A barrier whose operands have values at run time that it cannot have."""
    return KernelFault(
        FaultKind.ILLEGAL_INSTRUCTION,
        stop_texts.WRONG_BARRIER.of(thread=_thread_text(launch, thread), opcode=instruction.opcode, why=why),
        thread=thread,
        instruction=instruction,
    )


def _thread_text(launch: Launch, thread: int) -> Text:
    block, inside = launch.position(thread)
    return stop_texts.THREAD.of(thread=inside, block=block)
