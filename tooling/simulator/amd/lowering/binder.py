"""The state of lowering one kernel, and how operands are read and results written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.code_object.errors import CodeObjectError, UnknownInstruction
from tooling.simulator.amd.code_object.model import CodeObject, KernelFunction
from tooling.simulator.amd.decoding.instruction import MachineInstruction, Modified, Operand
from tooling.simulator.amd.lowering.registers import Slots, combined, halves, write_exec
from tooling.simulator.amd.lowering.waves import (
    ACTIVE,
    EXEC,
    SCC,
    WaveGroup,
    expanded,
    flags_of,
    packed_mask,
)
from tooling.simulator.amd.semantics.bits import select
from tooling.simulator.amd.semantics.registry import DTYPES
from tooling.simulator.amd.texts import NO_SERVICE
from tooling.simulator.gpu.stop_texts import UNKNOWN_FORM
from tooling.simulator.numerics.rounding import U16, U32, U64
from tooling.simulator.program.program import BasicBlock
from tooling.text import Text

Array = NDArray[Any]
Reader: TypeAlias = Callable[[WaveGroup], Array]
Writer: TypeAlias = Callable[[WaveGroup, Array], None]

_SIGNS = {"f16": 0x8000, "f32": 0x80000000, "b32": 0x80000000, "f64": 1 << 63, "bf16": 0x8000}
_LOW = U64.type(0xFFFFFFFF)
_SELECT = {"BYTE_0": (0, 8), "BYTE_1": (8, 8), "BYTE_2": (16, 8), "BYTE_3": (24, 8),
           "WORD_0": (0, 16), "WORD_1": (16, 16)}  # fmt: skip


class Lowering(Slots):
    """The state of lowering one kernel.

    Attributes:
        module, kernel, architecture: what is lowered.
        block: the current basic block; block_at: the number of the block that starts at a code offset.
        reads_code: it computes addresses in the code object.
        unread: offsets of the instructions whose second result is overwritten before anything reads it.
        refusals: why the instructions at these offsets cannot be decoded.
    """

    def __init__(self, module: CodeObject, kernel: KernelFunction, architecture: Architecture) -> None:
        super().__init__(architecture.lanes)
        self.module = module
        self.kernel = kernel
        self.architecture = architecture
        self.blocks: list[BasicBlock] = []
        self.block = BasicBlock(0, kernel.name)
        self.block_at: dict[int, int] = {}
        self.unread: set[int] = set()
        self.refusals: dict[int, UnknownInstruction] = {}

    def unsupported(self, instruction: MachineInstruction, why: Text = UNKNOWN_FORM) -> UnknownInstruction:
        """The error for an instruction that cannot be executed."""
        return UnknownInstruction(
            instruction.text, offset=instruction.offset, source=instruction.source, why=why
        )

    def no_service(self, service: int) -> CodeObjectError:
        """The error for a kernel that asks the host for something else than printing."""
        return CodeObjectError(NO_SERVICE.of(architecture=self.architecture.name, service=service))

    # -- bookkeeping -------------------------------------------------------------------------------------

    def _read_slots(self, slots: list[int]) -> None:
        for slot in slots:
            self.block.reads(slot)

    def _written_slots(self, slots: list[int], *, always: bool) -> None:
        """Note written slots; a vector register keeps its old value in inactive lanes: it is read as well."""
        for slot in slots:
            if always:
                self.block.defines.add(slot)
            else:
                self.block.reads(slot)

    # -- scalar operands -----------------------------------------------------------------------------------

    def raw(self, operand: Operand, kind: str) -> Reader:
        """A reader of an operand's bits as an array of the type's width, without modifiers.

        Raises:
            LookupError: an operand that cannot be read so.
        """
        dtype = DTYPES.get(kind, U64 if operand.count == 2 else U32)
        if operand.kind == "const":
            slot = self.constant(operand.value, dtype)
            self.block.reads(slot)
            return lambda group: group.get(slot)
        unsigned = np.dtype(f"u{dtype.itemsize}")
        if operand.kind == "exec":
            return self._exec(operand, unsigned)
        if operand.kind in {"scc", "src_scc"}:
            self.block.reads(SCC)
            return lambda group: group.get(SCC).astype(unsigned)
        if operand.kind in ("src_shared_base", "src_private_base"):
            return self._aperture(operand, dtype)
        if operand.kind == "null":
            slot = self.constant(0, dtype)
            return lambda group: group.get(slot)
        slots = self.of(operand)
        self._read_slots(slots)
        if dtype.itemsize == 8:
            low, high = slots
            return lambda group: combined(group.get(low), group.get(high))
        (only,) = slots
        if dtype.itemsize == 2:
            return lambda group: group.get(only).view(U32).astype(U16)
        return lambda group: group.get(only)

    def _exec(self, operand: Operand, unsigned: np.dtype[Any]) -> Reader:
        self.block.reads(EXEC)
        if operand.count == 2:
            return lambda group: group.get(EXEC)
        if operand.index:
            return lambda group: (group.get(EXEC) >> U64.type(32)).astype(unsigned)
        return lambda group: (group.get(EXEC) & _LOW).astype(unsigned)

    def _aperture(self, operand: Operand, dtype: np.dtype[Any]) -> Reader:
        from tooling.simulator.gpu.generic_addresses import LOCAL_WINDOW, SHARED_WINDOW  # noqa: PLC0415

        base = SHARED_WINDOW if operand.kind == "src_shared_base" else LOCAL_WINDOW
        slot = self.constant(base if dtype.itemsize == 8 else base >> 32, dtype)
        self.block.reads(slot)
        return lambda group: group.get(slot)

    def scalar(self, operand: Operand, kind: str) -> Reader:
        """A reader for the scalar unit: one value per wavefront.

        Raises:
            LookupError: a vector register.
        """
        if operand.kind in ("v", "a"):
            raise LookupError(operand.text)
        reader, dtype = self.raw(operand, kind), DTYPES[kind]
        return lambda group: reader(group).view(dtype)

    def mask(self, operand: Operand) -> Reader:
        """A reader of lane masks: uint64 per wavefront.

        Raises:
            LookupError: a vector register.
        """
        if operand.kind in ("v", "a"):
            raise LookupError(operand.text)
        if operand.kind == "exec":
            self.block.reads(EXEC)
            return lambda group: group.get(EXEC)
        wide = operand.kind == "const" or operand.count == 2
        reader = self.raw(operand, "b64" if wide else "b32")
        if operand.kind == "const":
            full = U64.type((1 << self.wave_size) - 1)
            return lambda group: reader(group) & full
        return reader if wide else lambda group: reader(group).view(U32).astype(U64)

    def flags(self, operand: Operand) -> Reader:
        """A reader of lane masks as one flag per lane, or a single one."""
        reader = self.mask(operand)
        return lambda group: flags_of(reader(group), group)

    def scalar_writer(self, operand: Operand, kind: str) -> Writer:
        """A writer for the scalar unit.

        Raises:
            LookupError: not a scalar register.
        """
        if operand.kind == "exec" and 32 * operand.index < self.wave_size:
            half = None if operand.count == 2 or self.wave_size == 32 else operand.index
            self._written_slots([EXEC, ACTIVE], always=half is None)
            return lambda group, value: write_exec(group, half, value)
        if operand.kind == "null":
            return lambda group, value: None
        slots = self.of(operand)
        self._written_slots(slots, always=True)
        if len(slots) == 2:
            low, high = slots

            def write_pair(group: WaveGroup, value: Array) -> None:
                registers = group.registers
                registers[low], registers[high] = halves(value)

            return write_pair
        (only,) = slots

        def write(group: WaveGroup, value: Array) -> None:
            group.registers[only] = value.view(U32)

        return write

    def mask_writer(self, operand: Operand) -> Writer:
        """A writer of flags per lane as a mask of the active lanes."""
        if operand.kind == "null":
            return lambda group, flags: None
        if operand.kind == "exec":
            writer = self.scalar_writer(operand, "b64")
            return lambda group, flags: writer(group, packed_mask(flags, group))
        writer = self.scalar_writer(operand, "b64" if operand.count == 2 else "b32")
        self.block.reads(ACTIVE)
        self.block.reads(EXEC)
        if operand.count == 2:
            return lambda group, flags: writer(group, packed_mask(flags, group))
        return lambda group, flags: writer(group, packed_mask(flags, group).astype(U32))

    # -- vector operands -----------------------------------------------------------------------------------

    def vector(self, source: Modified, kind: str) -> Reader:
        """A reader for the vector unit: one value per lane or a single one, with the modifiers applied."""
        operand = source.operand
        if kind == "mask":
            return self.flags(operand)
        dtype = DTYPES[kind]
        is_vector = operand.kind in ("v", "a")
        if source.select and source.select != "DWORD":
            return self._selected(source, kind)
        if kind in ("pk16", "pkb16", "pk32"):
            return self._packed(source, kind)
        upper = dtype.itemsize == 2 and source.low_half
        if upper and operand.kind == "const":
            operand = replace(operand, value=operand.value >> 16)
        reader = self.raw(operand, kind)
        if upper and operand.kind != "const":
            (slot,) = self.of(operand)
            reader = _upper_half(slot)
        if not is_vector and operand.kind != "const":
            inner = reader
            reader = lambda group: expanded(inner(group), group)  # noqa: E731
        if source.absolute or source.negate:
            return _with_sign(reader, dtype, _SIGNS[kind], source)
        return lambda group: reader(group).view(dtype)

    def _selected(self, source: Modified, kind: str) -> Reader:
        """SDWA: a byte or word of a register, zero- or sign-extended."""
        low, count = _SELECT[source.select]
        reader = self.raw(source.operand, "b32")
        dtype, unsigned = DTYPES[kind], np.dtype(f"u{DTYPES[kind].itemsize}")
        up = U32.type(32 - count)
        is_vector = source.operand.kind in ("v", "a")

        def read(group: WaveGroup) -> Array:
            value = reader(group).view(U32)
            if not is_vector:
                value = expanded(value, group)
            field = (value >> U32.type(low)) << up
            if source.extend:
                return (field.view(np.int32) >> np.int32(32 - count)).view(U32).astype(unsigned).view(dtype)
            return (field >> up).astype(unsigned).view(dtype)

        if source.absolute or source.negate:
            return _with_sign(lambda group: read(group).view(unsigned), dtype, _SIGNS[kind], source)
        return read

    def _packed(self, source: Modified, kind: str) -> Reader:
        """Two halves, each taken from either half of the operand, and perhaps negated."""
        size = DTYPES[kind].itemsize * 4
        whole, half = DTYPES[kind], np.dtype(f"u{size // 8}")
        operand = source.operand
        single = kind == "pk32" and operand.kind == "const"
        reader = self.raw(operand, "b64" if kind == "pk32" else "b32")
        plain = (source.low_half, source.high_half) == (0, 1)
        is_vector = operand.kind in ("v", "a")
        flip = (source.negate << size - 1) | (source.negate_high << 2 * size - 1)
        low_by, high_by = whole.type(size * source.low_half), whole.type(size * source.high_half)
        mask = whole.type((1 << size) - 1)

        def read(group: WaveGroup) -> Array:
            value = reader(group).view(whole)
            if not is_vector:
                value = expanded(value, group)
            if single:
                value = value | value << whole.type(size) if kind == "pk32" else value
            if not plain:
                value = (value >> low_by & mask) | (value >> high_by & mask) << whole.type(size)
            return value ^ whole.type(flip) if flip else value

        assert half.itemsize * 2 == whole.itemsize
        return read

    def vector_slots(self, operand: Operand) -> list[int]:
        """The slots of a vector destination, noted as written where lanes are active."""
        slots = self.of(operand)
        self._written_slots(slots, always=False)
        self.block.reads(ACTIVE)
        return slots

    def vector_writer(self, operand: Operand, kind: str, *, high: bool = False) -> Writer:
        """A writer for the vector unit: only active lanes change.

        Args:
            high: a 16-bit result goes to the upper half.
        """
        slots = self.vector_slots(operand)
        if len(slots) == 2:
            low, upper = slots

            def write_pair(group: WaveGroup, value: Array) -> None:
                first, second = halves(value)
                put(group, low, first)
                put(group, upper, second)

            return write_pair
        (only,) = slots
        if DTYPES[kind].itemsize == 2:
            return _half_writer(only, high=high, zeroes=self.architecture.zeroes_high)
        return lambda group, value: put(group, only, value)


def put(group: WaveGroup, slot: int, value: Array) -> None:
    """Set a vector register where lanes are active; the value has 32 bits."""
    registers = group.registers
    active = registers[ACTIVE]
    if active is None:
        active = group.load(ACTIVE)
    if len(active) != 1:
        old = registers[slot]
        if old is None:
            old = group.load(slot)
        value = select(active, value.view(U32), old.view(U32))
    registers[slot] = value


def _upper_half(slot: int) -> Reader:
    return lambda group: (group.get(slot).view(U32) >> U32.type(16)).astype(U16)


def _with_sign(reader: Reader, dtype: np.dtype[Any], sign: int, source: Modified) -> Reader:
    unsigned = np.dtype(f"u{dtype.itemsize}")
    keep, flip = unsigned.type(sign - 1), unsigned.type(sign if source.negate else 0)

    def read(group: WaveGroup) -> Array:
        value = reader(group).view(unsigned)
        if source.absolute:
            value = value & keep
        return np.asarray((value ^ flip).view(dtype))

    return read


def _half_writer(slot: int, *, high: bool, zeroes: bool) -> Writer:
    def write(group: WaveGroup, value: Array) -> None:
        wide = value.view(U16).astype(U32)
        if high:
            wide = (group.get(slot).view(U32) & U32.type(0xFFFF)) | wide << U32.type(16)
        elif not zeroes:
            wide = (group.get(slot).view(U32) & U32.type(0xFFFF0000)) | wide
        put(group, slot, wide)

    return write
