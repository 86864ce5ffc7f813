"""Decodes machine code: each format has a method, which the opcode tables complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.code_object.errors import UnknownInstruction
from tooling.simulator.amd.decoding import layouts, opcodes_gfx942
from tooling.simulator.amd.decoding.instruction import CrossLane, MachineInstruction, Modified, Operand
from tooling.simulator.amd.decoding.layouts import bits, signed
from tooling.simulator.amd.decoding.memory_forms import data_registers, ds_form
from tooling.simulator.amd.decoding.operands import LITERAL, OperandCodes, literal_operand, vector
from tooling.simulator.amd.decoding.text import write_text
from tooling.simulator.amd.semantics.matrix_core import WMMA_FORMS, matrix_form, wmma_registers
from tooling.simulator.amd.semantics.registry import dwords
from tooling.simulator.amd.semantics.tables import lookup
from tooling.simulator.amd.texts import UNKNOWN_ENCODING
from tooling.simulator.gpu.code_model import SourceLocation
from tooling.simulator.gpu.stop_texts import UNKNOWN_FORM

_SDWA_CODE, _DPP_CODE = 249, 250
_SELECTIONS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
_UNUSED = ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE")


class Decoder:
    """Decodes the code of CDNA 3; `rdna3.Rdna3Decoder` that of RDNA 3.

    Args:
        architecture: what the code is for.

    Attributes:
        fields, encodings, codes: formats and operand codes; short_opcodes: see below.
        mask_registers: registers of a lane mask.
    """

    tables: ModuleType = opcodes_gfx942
    fields: Mapping[str, layouts.Fields] = layouts.GFX9
    encodings: tuple[tuple[int, int, str], ...] = layouts.GFX9_ENCODINGS
    codes = OperandCodes(9)
    short_opcodes: tuple[tuple[int, int, str], ...] = (
        (0, 256, "VOPC"),
        (256, 320, "VOP2"),
        (320, 448, "VOP1"),
    )
    """In VOP3: (first opcode, one past the last, table) of the short formats' operations."""

    def __init__(self, architecture: Architecture) -> None:
        self.mask_registers = architecture.lanes // 32

    def decode(self, code: bytes, offset: int, source: SourceLocation | None = None) -> MachineInstruction:
        """The instruction at a byte offset.

        Raises:
            UnknownInstruction: an unknown encoding or opcode, or the end of the code.
        """
        raw = code[offset : offset + 16].ljust(16, b"\0")
        word = int.from_bytes(raw[:4], "little")
        name = next((name for mask, value, name in self.encodings if word & mask == value), None)
        known = len(code) - offset
        reader: Reader | None = None
        try:
            if name is None or known < 4 or offset < 0 or offset % 4:
                raise LookupError(name)
            reader = self.reader(name, raw, offset, source)
            return reader.read()
        except (LookupError, StopIteration) as error:
            shown = " ".join(f"{int.from_bytes(raw[at : at + 4], 'little'):08x}" for at in (0, 4))
            known_as = reader.mnemonic if reader is not None else ""
            raise UnknownInstruction(
                known_as or f"{name or 'encoding'} {shown}",
                offset=offset,
                source=source,
                why=UNKNOWN_FORM if known_as else UNKNOWN_ENCODING,
            ) from error

    def reader(self, encoding: str, raw: bytes, offset: int, source: SourceLocation | None) -> Reader:
        """The reader of an instruction in this format."""
        return Reader(self, encoding, raw, offset, source)

    def opcode(self, table: str, number: int) -> str:
        """The mnemonic of an opcode. Raises LookupError."""
        return getattr(self.tables, table, {})[number]  # type: ignore[no-any-return]

    def write_text(self, instruction: MachineInstruction) -> MachineInstruction:
        """The instruction with its text."""
        return write_text(instruction)


class Reader:
    """Reads one instruction.

    Attributes:
        mnemonic: what it is, once its opcode is known.
    """

    def __init__(
        self, decoder: Decoder, encoding: str, raw: bytes, offset: int, source: SourceLocation | None
    ) -> None:
        self.decoder = decoder
        self.encoding = encoding
        self.offset = offset
        self.source = source
        self.size = 8 if encoding in layouts.WIDE else 4
        self.mnemonic = ""
        self.word = int.from_bytes(raw[:12], "little")
        self._dwords = [int.from_bytes(raw[at : at + 4], "little") for at in range(0, 16, 4)]
        self.fields = decoder.fields[encoding]
        self.literal: int | None = None
        self.modifiers: tuple[str, ...] = ()

    def read(self) -> MachineInstruction:
        """The instruction. Raises LookupError for an unknown opcode or operand."""
        methods: dict[str, Callable[[], MachineInstruction]] = {
            "SOP1": self._sop, "SOP2": self._sop, "SOPC": self._sop, "SOPK": self._sopk, "SOPP": self._sopp,
            "SMEM": self._smem, "VOP1": self._vop, "VOP2": self._vop, "VOPC": self._vop, "VOP3": self._vop3,
            "VOP3P": self._vop3p, "DS": self._ds, "FLAT": self._flat, "MUBUF": self._mubuf,
            **dict.fromkeys(layouts.GRAPHICS, self._graphics),
        }  # fmt: skip
        return methods[self.encoding]()

    def _field(self, name: str) -> int:
        return bits(self.word, self.fields[name])

    def _take_literal(self) -> int:
        if self.literal is None:
            self.literal = self._dwords[self.size // 4]
            self.size += 4
        return self.literal

    def _source(self, code: int, kind: str) -> Operand:
        count = self.decoder.mask_registers if kind == "mask" else dwords(kind)
        literal = self._take_literal() if code == LITERAL else None
        return self.decoder.codes.source(code, kind, literal, count)

    def _scalar(self, code: int, count: int = 1) -> Operand:
        return self.decoder.codes.scalar(code, count)

    def _made(self, name: str, opcode: str = "", **rest: object) -> MachineInstruction:
        instruction = MachineInstruction(
            opcode or name,
            self.modifiers,
            None,
            (),
            self.offset // 4 + 1,
            self.source,
            name=name,
            encoding=self.encoding,
            offset=self.offset,
            size=self.size,
            **rest,  # type: ignore[arg-type]
        )
        return self.decoder.write_text(instruction)

    def _opcode(self, table: str) -> str:
        """The mnemonic of the instruction. Raises LookupError."""
        self.mnemonic = self.decoder.opcode(table, self._field("op"))
        return self.mnemonic

    def _kinds(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Types of its results and of its sources. Raises LookupError."""
        operation = lookup(name)
        return (operation.results, operation.operand_types) if operation else UNTABLED[name]

    def _graphics(self) -> MachineInstruction:
        """An instruction of graphics, which has no more than a name here. Raises LookupError."""
        raise LookupError(self._opcode(self.encoding))

    # -- scalar ------------------------------------------------------------------------------------------

    def _sop(self) -> MachineInstruction:
        name = self._opcode(self.encoding)
        if name == "s_set_gpr_idx_on":
            mode = self._field("src1") & 15
            index = Modified(self._source(self._field("src0"), "b32"))
            return self._made(name, sources=(index, Modified(Operand("const", value=mode))))
        result_kinds, kinds = self._kinds(name)
        results: tuple[Operand, ...] = ()
        if result_kinds and result_kinds[0] != "scc":
            results = (self._scalar(self._field("sdst"), dwords(result_kinds[0])),)
        sources = tuple(
            Modified(self._source(self._field(f"src{number}"), kind)) for number, kind in enumerate(kinds)
        )
        return self._made(name, results=results, sources=sources)

    def _sopk(self) -> MachineInstruction:
        name = self._opcode("SOPK")
        immediate = self._field("immediate")
        if name == "s_call_b64":
            target = self.offset + 4 + 4 * signed(immediate, 16)
            return self._made(
                name, results=(self._scalar(self._field("sdst"), 2),), immediate=immediate, target=target
            )
        if name == "s_setreg_imm32_b32":
            value = Modified(literal_operand(self._take_literal(), "b32"))
            return self._made(name, sources=(value,), immediate=immediate)
        register = self._scalar(self._field("sdst"))
        if name == "s_setreg_b32":
            return self._made(name, sources=(Modified(register),), immediate=immediate)
        if name == "s_getreg_b32":
            return self._made(name, results=(register,), immediate=immediate)
        is_unsigned = name.startswith("s_cmpk") and name.endswith("u32")
        number = immediate if is_unsigned else signed(immediate, 16)
        constant = Modified(Operand("const", value=number % (1 << 32), text=f"{immediate:#x}"))
        if name.startswith("s_cmpk"):
            return self._made(name, sources=(Modified(register), constant), immediate=immediate)
        return self._made(name, results=(register,), sources=(constant,), immediate=immediate)

    def _sopp(self) -> MachineInstruction:
        name = self._opcode("SOPP")
        immediate = self._field("immediate")
        target = -1
        if name == "s_branch" or name.startswith("s_cbranch"):
            target = self.offset + 4 + 4 * signed(immediate, 16)
        return self._made(name, immediate=immediate, target=target)

    def _smem(self) -> MachineInstruction:
        name = self._opcode("SMEM")
        flags = frozenset({"glc"} if self._field("glc") else ())
        if name.startswith("s_dcache_") and "discard" not in name:
            return self._made(name)
        if name in ("s_memtime", "s_memrealtime"):
            return self._made(name, results=(self._scalar(self._field("sdata"), 2),))
        count = scalar_load_registers(name)
        base = Modified(self._scalar(2 * self._field("sbase"), 4 if name.startswith("s_buffer") else 2))
        sources = [base]
        immediate = 0
        if self._field("imm"):
            immediate = signed(self._field("offset"), 21)
            flags |= {"imm"}
            if self._field("soffset_en"):
                sources.append(Modified(self._scalar(self._field("soffset"))))
        elif self._field("soffset_en"):
            sources.append(Modified(self._scalar(self._field("soffset"))))
        else:
            sources.append(Modified(self._scalar(self._field("offset") & 0x7F)))
        result = self._scalar(self._field("sdata"), count)
        return self._made(name, results=(result,), sources=tuple(sources), immediate=immediate, flags=flags)

    # -- vector ------------------------------------------------------------------------------------------

    def _vop(self) -> MachineInstruction:
        """VOP1, VOP2 and VOPC, also with SDWA or DPP."""
        name = self._opcode(self.encoding)
        code = self._field("src0")
        if name in ("v_nop", "v_clrexcp"):
            return self._made(name)
        result_kinds, kinds = self._kinds(name)
        if code == _SDWA_CODE and self.encoding in ("VOP1", "VOP2", "VOPC"):
            return self._sdwa(name, kinds, result_kinds)
        if code == _DPP_CODE:
            return self._dpp(name, kinds, result_kinds)
        if name == "v_accvgpr_mov_b32":
            return self._accumulator_move(name, code)
        sources = [Modified(self._source(code, kinds[0]))]
        if name in ("v_fmaak_f32", "v_fmamk_f32"):
            constant = Modified(literal_operand(self._take_literal(), "f32"))
            plain = Modified(vector(self._field("src1")))
            sources += [plain, constant] if name == "v_fmaak_f32" else [constant, plain]
            return self._made(name, results=(vector(self._field("vdst")),), sources=tuple(sources))
        if len(kinds) > 1 and self.encoding != "VOP1":
            sources.append(Modified(vector(self._field("src1"), dwords(kinds[1]))))
        vcc = self._scalar(106, self.decoder.mask_registers)
        if "mask" in kinds:
            sources.append(Modified(vcc))
        results = self._results(name, result_kinds, vcc)
        opcode = name if name in ONE_ENCODING else f"{name}_e32"
        return self._made(name, opcode, results=results, sources=tuple(sources))

    def _accumulator_move(self, name: str, code: int) -> MachineInstruction:
        """V_ACCVGPR_MOV_B32: both of its operands are accumulation registers."""
        if code < 256:
            raise LookupError(name)
        result, source = (vector(index, accumulation=True) for index in (self._field("vdst"), code - 256))
        return self._made(name, results=(result,), sources=(Modified(source),))

    def _results(self, name: str, kinds: tuple[str, ...], mask: Operand) -> tuple[Operand, ...]:
        """Vector and mask destinations; a readlane's is scalar."""
        results = []
        for kind in kinds:
            if kind == "mask":
                results.append(mask)
            elif name in ("v_readfirstlane_b32", "v_readlane_b32"):
                results.append(self._scalar(self._field("vdst")))
            else:
                accumulation = name == "v_accvgpr_write_b32"
                results.append(vector(self._field("vdst"), dwords(kind), accumulation=accumulation))
        return tuple(results)

    def _second_dword(self, layout: str) -> dict[str, int]:
        self.size = 8
        return {name: bits(self.word, field) for name, field in self.decoder.fields[layout].items()}

    def _sdwa(self, name: str, kinds: tuple[str, ...], result_kinds: tuple[str, ...]) -> MachineInstruction:
        extra = self._second_dword("SDWA")
        codes = (extra["src0"], self._field("src1") if self.encoding != "VOP1" else 0)
        sources = []
        for number, kind in enumerate(kinds[:2]):
            if kind == "mask":
                break
            is_scalar = extra[f"s{number}"]
            operand = self._source(codes[number], kind) if is_scalar else vector(codes[number])
            sources.append(
                Modified(
                    operand,
                    negate=bool(extra[f"src{number}_neg"]),
                    absolute=bool(extra[f"src{number}_abs"]),
                    select=_SELECTIONS[extra[f"src{number}_sel"]],
                    extend=bool(extra[f"src{number}_sext"]),
                )
            )
        vcc = self._scalar(106, self.decoder.mask_registers)
        if "mask" in kinds:
            sources.append(Modified(vcc))
        rest: dict[str, object] = {}
        mask = vcc
        if self.encoding == "VOPC":
            mask = self._scalar(extra["sdst"], self.decoder.mask_registers) if extra["sd"] else vcc
        else:
            rest = {
                "select": _SELECTIONS[extra["dst_sel"]],
                "unused": _UNUSED[extra["dst_unused"]],
                "output_scale": extra["omod"],
                "flags": frozenset({"clamp"} if extra["clamp"] else ()),
            }
        results = self._results(name, result_kinds, mask)
        return self._made(name, f"{name}_sdwa", results=results, sources=tuple(sources), **rest)

    def _dpp(self, name: str, kinds: tuple[str, ...], result_kinds: tuple[str, ...]) -> MachineInstruction:
        extra = self._second_dword("DPP16")
        sources = [
            Modified(
                vector(extra["src0"], dwords(kinds[0])),
                negate=bool(extra["src0_neg"]),
                absolute=bool(extra["src0_abs"]),
            )
        ]
        if len(kinds) > 1 and self.encoding != "VOP1" and kinds[1] != "mask":
            second = vector(self._field("src1"), dwords(kinds[1]))
            sources.append(Modified(second, negate=bool(extra["src1_neg"]), absolute=bool(extra["src1_abs"])))
        vcc = self._scalar(106, self.decoder.mask_registers)
        if "mask" in kinds:
            sources.append(Modified(vcc))
        cross_lane = CrossLane(extra["control"], extra["row_mask"], extra["bank_mask"], bool(extra["bound"]))
        results = self._results(name, result_kinds, vcc)
        return self._made(name, f"{name}_dpp", results=results, sources=tuple(sources), cross_lane=cross_lane)

    def _vop3_name(self) -> tuple[str, str]:
        """The mnemonic, and its suffix: the opcodes of the short formats come first."""
        number = self._field("op")
        for first, last, table in self.decoder.short_opcodes:
            if first <= number < last:
                self.mnemonic = self.decoder.opcode(table, number - first)
                return self.mnemonic, "_e64"
        try:
            return self._opcode("VOP3SD"), ""
        except LookupError:
            return self._opcode("VOP3"), ""

    def _vop3(self) -> MachineInstruction:
        name, suffix = self._vop3_name()
        result_kinds, kinds = self._kinds(name)
        writes_mask = "mask" in result_kinds and len(result_kinds) > 1
        negate, absolute = self._field("neg"), 0 if writes_mask else self._field("abs")
        half = 0 if writes_mask else self._field("op_sel")
        sources = tuple(
            Modified(
                self._source(self._field(f"src{number}"), kind),
                negate=bool(negate >> number & 1),
                absolute=bool(absolute >> number & 1),
                low_half=half >> number & 1,
            )
            for number, kind in enumerate(kinds)
        )
        mask = (
            self._scalar(self._field("sdst" if writes_mask else "vdst"), self.decoder.mask_registers)
            if "mask" in result_kinds
            else Operand("none")
        )
        flags = frozenset({"clamp"} if self._field("clamp") else ())
        if name.startswith("v_cvt_sr"):
            flags |= {f"byte:{half >> 2}"}
        return self._made(
            name,
            name + suffix,
            results=self._results(name, result_kinds, mask),
            sources=sources,
            flags=flags,
            output_scale=self._field("omod"),
            high_result=bool(half & 8),
        )

    def _vop3p(self) -> MachineInstruction:
        name = self._opcode("VOP3P")
        operation = lookup(name)
        if name.startswith("v_mfma"):
            return self._mfma(name)
        if name in WMMA_FORMS:
            return self._wmma(name)
        kinds = operation.operand_types if operation else UNTABLED[name][1]
        if name.startswith("v_accvgpr"):
            code = self._field("src0")
            operand = (
                vector(code - 256, accumulation=True)
                if name == "v_accvgpr_read_b32"
                else self._source(code, kinds[0])
            )
            return self._made(
                name, results=self._results(name, ("b32",), operand), sources=(Modified(operand),)
            )
        is_mix = name.startswith("v_fma_mix")
        low, high = self._field("op_sel"), self._field("op_sel_hi") | self._field("op_sel_hi2") << 2
        negate, negate_high = self._field("neg"), self._field("neg_hi")
        if is_mix:  # op_sel_hi makes an operand a float16, and an inline constant with it
            kinds = tuple("f16" if high >> number & 1 else "f32" for number in range(3))
        sources = tuple(
            Modified(
                self._source(self._field(f"src{number}"), kind),
                negate=bool(negate >> number & 1),
                negate_high=bool(negate_high >> number & 1) and not is_mix,
                absolute=bool(negate_high >> number & 1) and is_mix,
                low_half=low >> number & 1,
                high_half=high >> number & 1,
            )
            for number, kind in enumerate(kinds)
        )
        flags = frozenset({"clamp"} if self._field("clamp") else ())
        results = self._results(name, operation.results if operation else ("b32",), Operand("none"))
        return self._made(name, results=results, sources=sources, flags=flags)

    def _mfma(self, name: str) -> MachineInstruction:
        """VOP3P-MAI: any operand may be in accumulation registers; C may be a constant."""
        form = matrix_form(name)
        in_accumulators = (self._field("acc") & 1, self._field("acc") >> 1, self._field("acc_cd"))
        counts = (*form.input_registers, form.result_registers)
        sources = []
        for number, (count, accumulation) in enumerate(zip(counts, in_accumulators, strict=True)):
            operand = self._source(self._field(f"src{number}"), form.result)
            if operand.kind == "v":
                operand = vector(operand.index, count, accumulation=bool(accumulation))
            elif number < 2 or operand.kind != "const":
                raise LookupError(name)
            sources.append(Modified(operand))
        flags = frozenset(
            f"{field}:{value}" for field in ("cbsz", "abid", "blgp") if (value := self._field(field))
        )
        result = vector(self._field("vdst"), form.result_registers, accumulation=bool(in_accumulators[2]))
        return self._made(name, results=(result,), sources=tuple(sources), flags=flags)

    def _wmma(self, name: str) -> MachineInstruction:
        """V_WMMA: C may be a constant."""
        low, high = self._field("op_sel"), self._field("op_sel_hi") | self._field("op_sel_hi2") << 2
        negate, negate_high = self._field("neg"), self._field("neg_hi")
        sources = []
        for number, count in enumerate(wmma_registers(name)):
            operand = self._source(self._field(f"src{number}"), "f32")
            if operand.kind == "v":
                operand = vector(operand.index, count)
            elif number < 2 or operand.kind != "const":
                raise LookupError(name)
            sources.append(
                Modified(
                    operand,
                    negate=bool(negate >> number & 1),
                    negate_high=bool(negate_high >> number & 1),
                    low_half=low >> number & 1,
                    high_half=high >> number & 1,
                )
            )
        flags = frozenset({"clamp"} if self._field("clamp") else ())
        result = vector(self._field("vdst"), wmma_registers(name)[2])
        return self._made(name, results=(result,), sources=tuple(sources), flags=flags)

    # -- memory ------------------------------------------------------------------------------------------

    def _ds(self) -> MachineInstruction:
        name = self._opcode("DS")
        form = ds_form(name)
        accumulation = "acc" in self.fields and bool(self._field("acc"))
        results: tuple[Operand, ...] = ()
        if form.results:
            results = (vector(self._field("vdst"), form.results, accumulation=accumulation),)
        sources = []
        if form.takes_address:
            sources.append(Modified(vector(self._field("addr"))))
        sources += [
            Modified(vector(self._field(f"data{number}"), count, accumulation=accumulation))
            for number, count in enumerate(form.data)
        ]
        immediate = self._field("offset0") | self._field("offset1") << 8
        flags = frozenset({"gds"} if self._field("gds") else ())
        return self._made(name, results=results, sources=tuple(sources), immediate=immediate, flags=flags)

    def _flat(self) -> MachineInstruction:
        table = ("FLAT", "SCRATCH", "GLOBAL")[self._field("seg")]  # 3 is reserved
        name = self._opcode(table)
        flags = {flag for flag in ("sc0", "nt", "sc1") if self._field(flag)}
        loaded, stored = data_registers(name, returns="sc0" in flags)
        accumulation = bool(self._field("acc"))
        has_base = self._field("saddr") != 0x7F and table != "FLAT"
        address: list[Modified] = []
        if table == "SCRATCH":
            if self._field("sve"):
                address.append(Modified(vector(self._field("addr"))))
        else:
            address.append(Modified(vector(self._field("addr"), 1 if has_base else 2)))
        data = [Modified(vector(self._field("data"), stored, accumulation=accumulation))] if stored else []
        base = []
        if has_base:
            flags.add("saddr")
            base = [Modified(self._scalar(self._field("saddr"), 1 if table == "SCRATCH" else 2))]
        if table == "SCRATCH" and self._field("sve"):
            flags.add("vaddr")
        if flags & {"sc0", "sc1"} and "atomic" not in name:
            self.modifiers = ("volatile",)
        results: tuple[Operand, ...] = ()
        if loaded and "_lds_" not in name:
            results = (vector(self._field("vdst"), loaded, accumulation=accumulation),)
        width = 13 if table != "FLAT" else 12
        immediate = self._field("offset") & (1 << width) - 1
        if table != "FLAT":
            immediate = signed(immediate, 13)
        return self._made(
            name,
            results=results,
            sources=(*address, *data, *base),
            immediate=immediate,
            flags=frozenset(flags),
        )

    def _mubuf(self) -> MachineInstruction:
        """An access through a buffer resource, or cache control."""
        name = self._opcode("MUBUF")
        flags = {flag for flag in ("glc", "slc", "dlc", "sc0", "sc1", "nt", "lds") if self._has(flag)}
        if name in CACHE_CONTROL:
            return self._made(name, flags=frozenset(flags))
        loaded, stored = data_registers(name, returns=bool(flags & {"sc0", "glc"}))
        if "lds" in flags and not (loaded == 1 and name.startswith("buffer_load")):
            raise LookupError(name)
        accumulation = self._has("acc")
        data = vector(self._field("vdata"), max(loaded, stored), accumulation=accumulation)
        sources = [Modified(data)] if stored else []
        flags |= {flag for flag in ("idxen", "offen") if self._field(flag)}
        registers = len(flags & {"idxen", "offen"})
        if registers:
            sources.append(Modified(vector(self._field("vaddr"), registers)))
        sources.append(Modified(self._scalar(4 * self._field("srsrc"), 4)))
        sources.append(Modified(self._source(self._field("soffset"), "u32")))
        to_shared = "lds" in flags or "_lds_" in name
        results: tuple[Operand, ...] = ()
        if loaded and not to_shared:
            results = (vector(self._field("vdata"), loaded, accumulation=accumulation),)
        if flags & {"sc0", "sc1", "glc"} and "atomic" not in name:
            self.modifiers = ("volatile",)
        return self._made(
            name,
            results=results,
            sources=tuple(sources),
            immediate=self._field("offset"),
            flags=frozenset(flags),
        )

    def _has(self, flag: str) -> bool:
        """Whether the format has a flag and it is set."""
        return flag in self.fields and bool(self._field(flag))


CACHE_CONTROL = ("buffer_wbl2", "buffer_inv", "buffer_gl0_inv", "buffer_gl1_inv", "buffer_wbinvl1",
                 "buffer_wbinvl1_vol")  # fmt: skip
"""Instructions of this format that access no memory."""

ONE_ENCODING = frozenset({"v_readfirstlane_b32", "v_swap_b32"})
"""The assembler writes these without a suffix."""

UNTABLED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **{
        f"s_{kind}_saveexec_b64": (("b64",), ("b64",))
        for kind in ("and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor", "andn1", "orn1")
    },
    "s_andn1_wrexec_b64": (("b64",), ("b64",)), "s_andn2_wrexec_b64": (("b64",), ("b64",)),
    "s_getpc_b64": (("b64",), ()), "s_setpc_b64": ((), ("b64",)), "s_swappc_b64": (("b64",), ("b64",)),
    **{f"s_movrel{way}_b{bits}": ((f"b{bits}",), (f"b{bits}",)) for way in "sd" for bits in (32, 64)},
    **{f"v_movrel{way}_b32": (("b32",), ("b32",)) for way in ("s", "d", "sd")},
    "s_set_gpr_idx_idx": ((), ("b32",)),
    "v_readfirstlane_b32": (("b32",), ("b32",)), "v_readlane_b32": (("b32",), ("b32", "b32")),
    "v_fma_mix_f32": (("b32",), ("b32", "b32", "b32")),
    "v_fma_mixlo_f16": (("b32",), ("b32", "b32", "b32")),
    "v_fma_mixhi_f16": (("b32",), ("b32", "b32", "b32")),
    "v_permlane16_b32": (("b32",), ("b32", "b32", "b32")),
    "v_permlanex16_b32": (("b32",), ("b32", "b32", "b32")), "v_permlane64_b32": (("b32",), ("b32",)),
    "v_dot4_i32_iu8": (("b32",), ("b32", "b32", "b32")), "v_dot8_i32_iu4": (("b32",), ("b32", "b32", "b32")),
    "v_writelane_b32": (("b32",), ("b32", "b32")), "v_swap_b32": (("b32",), ("b32",)),
}  # fmt: skip
"""Types of results and sources of instructions that are not in the tables of semantics."""


def scalar_load_registers(name: str) -> int:
    """Registers that a scalar load fills, from its name. Raises LookupError for another instruction."""
    load, size = name.removeprefix("s_").removeprefix("buffer_").partition("load_")[1:]
    if not load:
        raise LookupError(name)
    if size.startswith("dword"):
        return int(size.removeprefix("dwordx")) if "x" in size else 1
    return int(size.removeprefix("b")) // 32
