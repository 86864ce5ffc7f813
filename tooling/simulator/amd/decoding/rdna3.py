"""Decodes the code of RDNA 3: its formats, 16-bit halves of registers, DPP8, and dual instructions."""

from __future__ import annotations

from msgspec.structs import replace

from tooling.simulator.amd.architectures import Architecture
from tooling.simulator.amd.decoding import layouts, opcodes_gfx1100
from tooling.simulator.amd.decoding.decoder import ONE_ENCODING, Decoder, Reader, scalar_load_registers
from tooling.simulator.amd.decoding.instruction import CrossLane, MachineInstruction, Modified, Operand
from tooling.simulator.amd.decoding.layouts import bits, signed
from tooling.simulator.amd.decoding.memory_forms import data_registers
from tooling.simulator.amd.decoding.operands import OperandCodes, literal_operand, vector
from tooling.simulator.amd.decoding.rdna3_text import write_text
from tooling.simulator.amd.semantics.registry import dwords
from tooling.simulator.gpu.code_model import SourceLocation

_DPP16, _DPP8 = 250, {233: False, 234: True}
"""Codes of the first operand: DPP, and DPP8 without and with reading inactive lanes."""

_HALVES = frozenset({"b16", "u16", "i16", "f16", "bf16"})
_NO_ADDRESS = 124
_IMMEDIATE_WAITS = ("s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt")
_FMA_LITERALS = ("v_fmaak_f32", "v_fmamk_f32", "v_fmaak_f16", "v_fmamk_f16")


UNTABLED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **{
        f"s_{kind}_{what}_b{bits}": ((f"b{bits}",), (f"b{bits}",))
        for kind in ("and", "or", "xor", "nand", "nor", "xnor", "and_not0", "and_not1", "or_not0", "or_not1")
        for what in ("saveexec", "wrexec")
        for bits in (32, 64)
    },
}  # fmt: skip
"""Types of results and sources of RDNA 3's instructions that are not in the tables of semantics."""


class Rdna3Decoder(Decoder):
    """Decodes the code of gfx1100."""

    tables = opcodes_gfx1100
    fields = layouts.GFX11
    encodings = layouts.GFX11_ENCODINGS
    codes = OperandCodes(11)
    short_opcodes = ((0, 256, "VOPC"), (256, 320, "VOP2"), (384, 512, "VOP1"))

    def reader(self, encoding: str, raw: bytes, offset: int, source: SourceLocation | None) -> Reader:
        """See `Decoder.reader`."""
        return _Reader(self, encoding, raw, offset, source)

    def write_text(self, instruction: MachineInstruction) -> MachineInstruction:
        """See `Decoder.write_text`."""
        return write_text(instruction)


def make_decoder(architecture: Architecture) -> Decoder:
    """The decoder of an architecture."""
    return Decoder(architecture) if architecture.lanes == 64 else Rdna3Decoder(architecture)


def _half(index: int, high: int) -> Operand:
    """A half of a vector register."""
    return replace(vector(index), text=f"v{index}.{'lh'[high]}")


def _signed(source: Modified, number: int, fields: dict[str, int]) -> Modified:
    """A source with its signs in the dword of DPP."""
    negate, absolute = fields.get(f"src{number}_neg"), fields.get(f"src{number}_abs")
    return replace(source, negate=bool(negate), absolute=bool(absolute))


class _Reader(Reader):
    def read(self) -> MachineInstruction:
        """See `Reader.read`."""
        return self._dual() if self.encoding == "VOPD" else super().read()

    def _kinds(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """See `Reader._kinds`."""
        return UNTABLED[name] if name in UNTABLED else super()._kinds(name)

    # -- scalar ------------------------------------------------------------------------------------------

    def _sop(self) -> MachineInstruction:
        name = self._opcode(self.encoding)
        if not name.startswith("s_sendmsg_rtn"):
            return super()._sop()
        message = Modified(Operand("const", value=self._field("src0")))
        result = self._scalar(self._field("sdst"), 2 if name.endswith("b64") else 1)
        return self._made(name, results=(result,), sources=(message,))

    def _sopk(self) -> MachineInstruction:
        name = self._opcode("SOPK")
        if name in _IMMEDIATE_WAITS:
            register = Modified(self._scalar(self._field("sdst")))
            return self._made(name, sources=(register,), immediate=self._field("immediate"))
        return super()._sopk()

    def _smem(self) -> MachineInstruction:
        name = self._opcode("SMEM")
        if name in ("s_dcache_inv", "s_gl1_inv"):
            return self._made(name)
        flags = {flag for flag in ("glc", "dlc") if self._field(flag)}
        sources = [Modified(self._scalar(2 * self._field("sbase"), 4 if name.startswith("s_buffer") else 2))]
        immediate = signed(self._field("offset"), 21)
        has_register = self._field("soffset") != _NO_ADDRESS
        if has_register:
            sources.append(Modified(self._scalar(self._field("soffset"))))
        if immediate or not has_register:
            flags.add("imm")
        result = self._scalar(self._field("sdata"), scalar_load_registers(name))
        return self._made(
            name, results=(result,), sources=tuple(sources), immediate=immediate, flags=frozenset(flags)
        )

    # -- vector ------------------------------------------------------------------------------------------

    def _short(self, code: int, kind: str) -> Modified:
        """A source of a short format, where bit 7 of a vector register's number selects its upper half."""
        if kind in _HALVES and code >= 256:
            return Modified(_half(code & 127, code >> 7 & 1), low_half=code >> 7 & 1)
        return Modified(self._source(code, kind))

    def _vop(self) -> MachineInstruction:
        name = self._opcode(self.encoding)
        if name == "v_nop":
            return self._made(name)
        result_kinds, kinds = self._kinds(name)
        code = self._field("src0")
        second = self._field("src1") + 256 if len(kinds) > 1 and self.encoding != "VOP1" else 0
        cross_lane, signs = None, dict[str, int]()
        if code == _DPP16 or code in _DPP8:
            cross_lane, first, signs = self._cross_lane(code, kinds, "")
        else:
            first = self._short(code, kinds[0])
        if name == "v_pk_fmac_f16" and 240 <= code <= 248:  # a float constant is in both halves (gfx11 on)
            first = replace(first, operand=replace(first.operand, value=first.operand.value * 0x10001))
        sources = [first]
        vcc = self._scalar(106, self.decoder.mask_registers)
        if name in _FMA_LITERALS:
            constant = Modified(literal_operand(self._take_literal(), kinds[0]))
            plain = self._short(second, kinds[0])
            sources += [plain, constant] if "aak" in name else [constant, plain]
        elif second and kinds[1] != "mask":
            sources.append(self._short(second, kinds[1]))
        if cross_lane is not None:
            sources = [_signed(source, number, signs) for number, source in enumerate(sources)]
        if "mask" in kinds:
            sources.append(Modified(vcc))
        mask = self._scalar(126, self.decoder.mask_registers) if name.startswith("v_cmpx") else vcc
        results, high = self._halved(
            name, result_kinds, mask, self._field("vdst") if "vdst" in self.fields else 0
        )
        suffix = (
            "_dpp" if cross_lane is not None else "" if name in (*ONE_ENCODING, *_FMA_LITERALS) else "_e32"
        )
        return self._made(
            name, name + suffix, results=results, sources=tuple(sources), cross_lane=cross_lane,
            high_result=high,
        )  # fmt: skip

    def _halved(
        self, name: str, kinds: tuple[str, ...], mask: Operand, number: int
    ) -> tuple[tuple[Operand, ...], bool]:
        """The results of a short format, and whether the result is the upper half of its register."""
        if kinds and kinds[0] in _HALVES:
            return (_half(number & 127, number >> 7),), bool(number >> 7)
        return self._results(name, kinds, mask), False

    def _cross_lane(
        self, code: int, kinds: tuple[str, ...], layout: str
    ) -> tuple[CrossLane, Modified, dict[str, int]]:
        """DPP or DPP8, whose dword follows, the first operand, and the fields of that dword.

        Args:
            layout: the prefix of the dword's layout.
        """
        form = f"{layout}DPP16" if code == _DPP16 else f"{layout}DPP8"
        extra = {name: bits(self.word, field) for name, field in self.decoder.fields[form].items()}
        self.size += 4
        register = extra["src0"]
        halved = kinds[0] in _HALVES and not layout
        first = (
            self._short(register + 256, kinds[0]) if halved else Modified(vector(register, dwords(kinds[0])))
        )
        if code != _DPP16:
            inactive = _DPP8[code]
            eight = CrossLane(extra["control"], bound_control=True, is_dpp8=True, fetch_inactive=inactive)
            return eight, first, {}
        sixteen = CrossLane(
            extra["control"], extra["row_mask"], extra["bank_mask"], bool(extra["bound"]),
            fetch_inactive=bool(extra["fi"]),
        )  # fmt: skip
        return sixteen, first, extra

    def _vop3(self) -> MachineInstruction:
        name, suffix = self._vop3_name()
        result_kinds, kinds = self._kinds(name)
        writes_mask = "mask" in result_kinds and len(result_kinds) > 1
        negate, absolute = self._field("neg"), 0 if writes_mask else self._field("abs")
        half = 0 if writes_mask else self._field("op_sel")
        sources: list[Modified] = []
        cross_lane = None
        for number, kind in enumerate(kinds):
            code = self._field(f"src{number}")
            high = half >> number & 1
            if number == 0 and (code == _DPP16 or code in _DPP8):
                cross_lane, first, _ = self._cross_lane(code, kinds, "WIDE_")
                code = 256 + first.operand.index
                suffix = "_e64_dpp"
            is_half = kind in _HALVES and code >= 256
            operand = _half(code - 256, high) if is_half else self._source(code, kind)
            sources.append(
                Modified(
                    operand,
                    negate=bool(negate >> number & 1),
                    absolute=bool(absolute >> number & 1),
                    low_half=high,
                )
            )
        if name.startswith("v_cmpx"):
            mask = self._scalar(126, self.decoder.mask_registers)
        elif "mask" in result_kinds:
            mask = self._scalar(self._field("sdst" if writes_mask else "vdst"), self.decoder.mask_registers)
        else:
            mask = Operand("none")
        results = self._results(name, result_kinds, mask)
        if result_kinds and result_kinds[0] in _HALVES:
            results = (_half(self._field("vdst"), half >> 3), *results[1:])
        return self._made(
            name,
            name + suffix,
            results=results,
            sources=tuple(sources),
            flags=frozenset({"clamp"} if self._field("clamp") else ()),
            output_scale=self._field("omod"),
            high_result=bool(half & 8),
            cross_lane=cross_lane,
        )

    def _dual(self) -> MachineInstruction:
        """VOPD: two operations at once, which both read their sources before either writes its result."""
        first = self._component("x", self._field("vdstx"))
        second = self._component("y", self._field("vdsty") << 1 | ~self._field("vdstx") & 1)
        both = self._made(
            first.name, first.opcode, results=first.results, sources=first.sources, second=second
        )
        return replace(both, size=self.size)

    def _component(self, side: str, result: int) -> MachineInstruction:
        name = self.mnemonic = self.decoder.opcode("VOPD", self._field(f"op{side}"))
        _, kinds = self._kinds(name)
        sources = [Modified(self._source(self._field(f"src0{side}"), kinds[0]))]
        plain = Modified(vector(self._field(f"src1{side}")))
        if "aak" in name or "amk" in name:
            constant = Modified(literal_operand(self._take_literal(), kinds[0]))
            sources += [plain, constant] if "aak" in name else [constant, plain]
        elif len(kinds) > 1:
            sources.append(plain)
        if "mask" in kinds:
            sources.append(Modified(self._scalar(106)))
        return self._made(name, results=(vector(result),), sources=tuple(sources))

    # -- memory ------------------------------------------------------------------------------------------

    def _flat(self) -> MachineInstruction:
        table = ("FLAT", "SCRATCH", "GLOBAL")[self._field("seg")]  # 3 is reserved
        name = self._opcode(table)
        flags = {flag for flag in ("glc", "slc", "dlc") if self._field(flag)}
        loaded, stored = data_registers(name, returns="glc" in flags)
        has_base = self._field("saddr") != _NO_ADDRESS and table != "FLAT"
        address: list[Modified] = []
        if table != "SCRATCH":
            address.append(Modified(vector(self._field("addr"), 1 if has_base else 2)))
        elif self._field("sve"):
            address.append(Modified(vector(self._field("addr"))))
            flags.add("vaddr")
        data = [Modified(vector(self._field("data"), stored))] if stored else []
        base = []
        if has_base:
            flags.add("saddr")
            base = [Modified(self._scalar(self._field("saddr"), 1 if table == "SCRATCH" else 2))]
        if "glc" in flags and "atomic" not in name:
            self.modifiers = ("volatile",)
        return self._made(
            name,
            results=(vector(self._field("vdst"), loaded),) if loaded and "_lds_" not in name else (),
            sources=(*address, *data, *base),
            immediate=signed(self._field("offset"), 13),
            flags=frozenset(flags),
        )
