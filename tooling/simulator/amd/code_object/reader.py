"""Reads a code object: an ELF file for the operating system `AMDGPU_HSA` (LLVM AMDGPU User Guide)."""

from __future__ import annotations

import hashlib
import struct
from io import BytesIO
from typing import Any

import msgspec
from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from tooling.simulator.amd.architectures import ARCHITECTURES, Architecture
from tooling.simulator.amd.code_object.errors import CodeObjectError
from tooling.simulator.amd.code_object.model import (
    CodeObject,
    Descriptor,
    HiddenArgument,
    KernelFunction,
    Segment,
)
from tooling.simulator.amd.texts import (
    DAMAGED_CODE_OBJECT,
    NO_CODE_OBJECT,
    OTHER_ARCHITECTURE,
    OTHER_WAVEFRONT,
)
from tooling.simulator.gpu.code_model import Function, Parameter, Variable
from tooling.simulator.gpu.line_tables import line_table

_MACHINE = 224  # EM_AMDGPU
_DESCRIPTOR = struct.Struct("<III4xq20xIIIH6x")
_METADATA = 32  # NT_AMDGPU_METADATA
_RELATIVE = 13  # R_AMDGPU_RELATIVE64
_ABSOLUTE = 3  # R_AMDGPU_ABS64
_WAVEFRONTS_OF_32 = 1 << 10  # ENABLE_WAVEFRONT_SIZE32 of KERNEL_CODE_PROPERTIES
_MOST_BYTES = 1 << 20
"""Larger arguments, or more local memory of a thread, are taken for damage."""


def read_code_object(image: bytes, architecture: Architecture) -> CodeObject:
    """The code object of an ELF image.

    Raises:
        CodeObjectError: not a code object, one for another architecture, or a damaged one.
    """
    try:
        elf = ELFFile(BytesIO(image))
        if elf.header["e_machine"] not in ("EM_AMDGPU", _MACHINE) or elf.elfclass != 64:
            raise CodeObjectError(NO_CODE_OBJECT)
        machine = elf.header["e_flags"] & 0xFF
        if machine != architecture.machine:
            names = [one.name for one in ARCHITECTURES.values() if one.machine == machine]
            found = names[0] if names else f"{machine:#x}"
            raise CodeObjectError(OTHER_ARCHITECTURE.of(found=found, wanted=architecture.name))
        return _read(elf, image, architecture)
    except CodeObjectError:
        raise
    except (ELFError, DWARFError, ConstructError, msgspec.MsgspecError, struct.error) as error:
        raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=str(error))) from error
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        AssertionError,
        RecursionError,
    ) as error:  # what pyelftools raises for files that contradict themselves
        reason = f"{type(error).__name__}: {error}"
        raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=reason)) from error  # fmt: skip


def _read(elf: Any, image: bytes, architecture: Architecture) -> CodeObject:
    text = elf.get_section_by_name(".text")
    if text is None:
        raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason="no .text"))
    segments = tuple(
        Segment(segment["p_vaddr"], segment.data(), segment["p_memsz"])
        for segment in elf.iter_segments()
        if segment["p_type"] == "PT_LOAD"
    )
    image_bytes = max(segment.address + segment.size for segment in segments)
    if image_bytes > 1 << 30 or any(len(segment.content) > segment.size for segment in segments):
        raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=f"segments of {image_bytes} bytes"))
    symbols = {symbol.name: symbol for symbol in elf.get_section_by_name(".dynsym").iter_symbols()}
    code_address = text["sh_addr"]
    kernels: dict[str, Function] = {}
    for described in _metadata(elf)["amdhsa.kernels"]:
        name = described[".name"]
        raw = _bytes_at(segments, symbols[described[".symbol"]]["st_value"], _DESCRIPTOR.size)
        at = symbols[described[".symbol"]]["st_value"]
        kernels[name] = _kernel(described, raw, at - code_address, architecture)
    variables = {
        name: Variable(name, "global", symbol["st_size"], 1)
        for name, symbol in symbols.items()
        if symbol["st_info"]["type"] == "STT_OBJECT" and not name.endswith(".kd")
    }
    offsets, positions, files = line_table(elf, code_address)
    return CodeObject(
        (0, 0),
        (architecture.name,),
        64,
        kernels,
        {},
        (),
        variables,
        files,
        hashlib.sha256(image).hexdigest(),
        "",
        architecture.name,
        code=text.data(),
        code_address=code_address,
        segments=segments,
        image_bytes=image_bytes,
        relocations=_relocations(elf, symbols),
        variable_addresses={name: symbols[name]["st_value"] for name in variables},
        function_offsets=_functions(elf, code_address, len(text.data())),
        line_offsets=offsets,
        line_positions=positions,
    )


def _functions(elf: Any, code_address: int, size: int) -> tuple[int, ...]:
    """Offsets of the functions in the code: those of the full symbol table, or else of the dynamic one."""
    found = set()
    for name in (".symtab", ".dynsym"):
        table = elf.get_section_by_name(name)
        for symbol in table.iter_symbols() if table is not None else ():
            offset = symbol["st_value"] - code_address
            if symbol["st_info"]["type"] == "STT_FUNC" and 0 <= offset < size:
                found.add(offset)
    return tuple(sorted(found))


def _metadata(elf: Any) -> dict[str, Any]:
    for section in elf.iter_sections("SHT_NOTE"):
        for note in section.iter_notes():
            if note["n_type"] in (_METADATA, "NT_AMDGPU_METADATA"):
                found = note["n_desc"]
                data = found if isinstance(found, bytes) else found.encode("latin-1")
                return msgspec.msgpack.decode(data, type=dict[str, Any])
    raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason="no metadata"))


def _kernel(described: dict[str, Any], raw: bytes, at: int, architecture: Architecture) -> KernelFunction:
    shared, local, kernarg, entry, _resource3, resource1, resource2, properties = _DESCRIPTOR.unpack(raw)
    if max(kernarg, local) > _MOST_BYTES:
        reason = f"a kernel with {kernarg} bytes of arguments and {local} bytes of local memory"
        raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=reason))
    lanes = 32 if properties & _WAVEFRONTS_OF_32 else 64
    if lanes != architecture.lanes:
        raise CodeObjectError(
            OTHER_WAVEFRONT.of(
                kernel=described[".name"],
                found=lanes,
                architecture=architecture.name,
                lanes=architecture.lanes,
            )
        )
    descriptor = Descriptor(shared, local, kernarg, at + entry, resource1, resource2, properties)
    parameters, hidden = [], []
    for number, argument in enumerate(described.get(".args", ())):
        kind = argument[".value_kind"]
        offset, size = int(argument[".offset"]), int(argument[".size"])
        if kind.startswith("hidden_"):
            hidden.append(HiddenArgument(kind, offset, size))
        else:
            parameters.append(Parameter(argument.get(".name", str(number)), offset, size, 1))
    required = described.get(".reqd_workgroup_size")
    return KernelFunction(
        described[".name"], True, tuple(parameters), (), {}, (), (), (),
        descriptor=descriptor,
        hidden=tuple(hidden),
        max_block=described.get(".max_flat_workgroup_size", 1024),
        required_block=None if required is None else (required[0], required[1], required[2]),
        uses_dynamic_stack=bool(described.get(".uses_dynamic_stack", False)),
    )  # fmt: skip


def _bytes_at(segments: tuple[Segment, ...], address: int, size: int) -> bytes:
    for segment in segments:
        start = address - segment.address
        if start >= 0 and start + size <= len(segment.content):
            return segment.content[start : start + size]
    raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=f"nothing at {address:#x}"))


def _relocations(elf: Any, symbols: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    found = []
    table = elf.get_section_by_name(".dynsym")
    for section in elf.iter_sections("SHT_RELA"):
        for entry in section.iter_relocations():
            kind = entry["r_info_type"]
            if kind == _RELATIVE:
                found.append((entry["r_offset"], entry["r_addend"]))
            elif kind == _ABSOLUTE:
                symbol = table.get_symbol(entry["r_info_sym"])
                found.append((entry["r_offset"], symbol["st_value"] + entry["r_addend"]))
            else:
                raise CodeObjectError(DAMAGED_CODE_OBJECT.of(reason=f"relocation of type {kind}"))
    return tuple(found)
