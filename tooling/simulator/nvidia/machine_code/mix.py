"""Instructions by the part of the multiprocessor that executes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum

from tooling.simulator.nvidia.machine_code.disassembly import SassInstruction


class Kind(Enum):
    """What executes an instruction, or what it is for."""

    GLOBAL = "global memory"
    SHARED = "shared memory"
    LOCAL = "local memory"
    GENERIC = "generic memory"
    CONSTANT = "constant memory"
    COPY = "asynchronous copies"
    TENSOR = "tensor cores"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    FLOAT16 = "float16"
    SPECIAL = "special functions and conversions"
    INTEGER = "integer"
    UNIFORM = "uniform"
    WARP = "exchange in the warp"
    SYNCHRONISATION = "barriers and fences"
    CONTROL = "control flow"
    OTHER = "other"


_NAMES: dict[Kind, str] = {
    Kind.GLOBAL: "LDG STG RED REDG ATOMG",
    Kind.SHARED: "LDS STS ATOMS LDSM STSM SYNCS",
    Kind.LOCAL: "LDL STL",
    Kind.GENERIC: "LD ST ATOM",
    Kind.CONSTANT: "LDC ULDC LDCU",
    Kind.COPY: "LDGSTS LDGDEPBAR UTMALDG UTMASTG UTMAPF UTMACMDFLUSH UTMAREDG UTMACCTL UBLKCP UBLKPF UBLKRED",
    Kind.TENSOR: "HMMA IMMA DMMA BMMA HGMMA IGMMA QGMMA BGMMA",
    Kind.FLOAT32: "FADD FMUL FFMA FSEL FSETP FMNMX FSET FSWZADD",
    Kind.FLOAT64: "DADD DMUL DFMA DSETP DMNMX",
    Kind.FLOAT16: "HADD2 HMUL2 HFMA2 HSETP2 HMNMX2 HSET2",
    Kind.SPECIAL: "MUFU FCHK F2F F2I I2F F2FP I2FP FRND F2IP I2I I2IP FLO POPC UFLO UPOPC BREV UBREV",
    Kind.WARP: "SHFL VOTE VOTEU MATCH REDUX ELECT",
    Kind.SYNCHRONISATION: "BAR MEMBAR FENCE ERRBAR DEPBAR WARPSYNC CCTL CCTLL WARPGROUP ARRIVES ACQBULK",
    Kind.CONTROL: "BRA BRX BRXU JMP JMX JMXU CALL RET EXIT BSSY BSYNC BREAK BMOV KILL BPT PREEXIT NOP",
    Kind.INTEGER: (
        "IADD3 IADD IMAD VIADD IMNMX VIMNMX IABS ISETP LEA LOP3 LOP SHF SHL SHR SEL MOV MOV32I PRMT PLOP3 "
        "PSETP SGXT IDP BMSK P2R R2P LEPC"
    ),
    Kind.OTHER: "S2R S2UR CS2R R2UR R2B B2R",
}  # fmt: skip
_KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}


def kind_of(instruction: SassInstruction) -> Kind:
    """The kind of an instruction. `HFMA2.MMA` with constants, a move in disguise, counts as float16."""
    kind = _KINDS.get(instruction.name)
    if kind is not None:
        return kind
    return Kind.UNIFORM if instruction.name.startswith("U") else Kind.OTHER


def mix_of(instructions: Iterable[SassInstruction]) -> dict[Kind, int]:
    """How many instructions of each kind there are; those that never occur are left out."""
    counts = Counter(kind_of(instruction) for instruction in instructions)
    return {kind: counts[kind] for kind in Kind if counts[kind]}
