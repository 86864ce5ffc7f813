"""Records the approximate instructions of this machine's GPU, densely enough to find how they are computed.

usage: python3 record_approximations.py FOLDER

Needs NumPy and libcuda.so.1. Every sweep passes consecutive bit patterns to one instruction.
`approximations.json` has the digest of each sweep's results, the device and the driver. `<instruction>.npz`
has the results themselves, as second differences of their bits, compressed with xz: `load` reads them.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import lzma
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.simulator.instructions.record import Driver

Bits = npt.NDArray[np.uint32]

_SECOND = 0x51ED270B
"""What the number of a case is increased by for its second operand."""


class Sweep(NamedTuple):
    """Operands `first`, `first + step`, …, `cases` of them, as bits; modulo 2**32.

    `kind` is the operand's type: `f32`, `f16` (16-bit types), `x2` (both halves of a word), `high` (the
    upper word of an f64, whose lower word is zero), or `pair` (two f32, hashes of the number of the case).
    """

    text: str
    first: int
    step: int
    cases: int
    kind: str = "f32"

    @property
    def name(self) -> str:
        """The key in the file."""
        return f"{self.text} {self.first:#010x} {self.step} {self.cases}"

    def operands(self) -> Bits:
        """The operand bits of every case; for `pair` those of the first operand."""
        return mixed(self.numbers()) if self.kind == "pair" else self.numbers()

    def second_operands(self) -> Bits:
        """The bits of the second operand of every case of a `pair`."""
        return mixed(self.numbers() + np.uint32(_SECOND))

    def numbers(self) -> Bits:
        """`first`, `first + step`, …"""
        wide = np.arange(self.cases, dtype=np.uint64) * np.uint64(self.step) + np.uint64(self.first)
        return wide.astype(np.uint32)


def mixed(bits: Bits) -> Bits:
    """A hash of each number, the same as in the kernel."""
    bits = bits * np.uint32(2654435761)
    bits = bits ^ (bits >> np.uint32(15))
    bits = bits * np.uint32(2246822519)
    return bits ^ (bits >> np.uint32(13))


_ONE, _BINADE = 0x3F800000, 1 << 23


def binade(exponent: int, sign: int = 0) -> int:
    """The bits of 2**exponent."""
    return _ONE + exponent * _BINADE + (sign << 31)


def _whole(text: str, *exponents: int, sign: int = 0) -> Iterator[Sweep]:
    for exponent in exponents:
        yield Sweep(text, binade(exponent, sign), 1, _BINADE)


def _between(text: str, low: int, high: int, step: int, sign: int = 0) -> Sweep:
    return Sweep(text, binade(low, sign), step, (high - low) * _BINADE // step)


def sweeps() -> list[Sweep]:
    """Every sweep, in a fixed order."""
    found: list[Sweep] = []
    forms = [
        f"{op}.approx{ftz}.f32"
        for op in ("rcp", "rsqrt", "sqrt", "lg2", "ex2", "sin", "cos")
        for ftz in (".ftz", "")
    ]
    found += [Sweep(text, 0, 32749, (1 << 32) // 32749) for text in forms]
    found.append(Sweep("tanh.approx.f32", 0, 32749, (1 << 32) // 32749))
    found += _whole("rcp.approx.ftz.f32", 0)
    found += _whole("rsqrt.approx.ftz.f32", 0, 1)
    found += _whole("sqrt.approx.ftz.f32", 0, 1)
    found += _whole("lg2.approx.ftz.f32", -1, 0, 1)
    found.append(_between("lg2.approx.ftz.f32", -12, -1, 37))
    found.append(_between("lg2.approx.ftz.f32", 2, 12, 37))
    found += _whole("ex2.approx.ftz.f32", -1, 0)
    found += _whole("ex2.approx.ftz.f32", -1, 0, sign=1)
    found.append(_between("ex2.approx.ftz.f32", -27, -1, 211))
    found.append(_between("ex2.approx.ftz.f32", -27, -1, 211, sign=1))
    found.append(_between("ex2.approx.ftz.f32", 1, 7, 101))
    found.append(_between("ex2.approx.ftz.f32", 1, 7, 101, sign=1))
    for op in ("sin", "cos"):
        found += _whole(f"{op}.approx.ftz.f32", 2)
        found.append(_between(f"{op}.approx.ftz.f32", -30, 2, 509))
        found.append(_between(f"{op}.approx.ftz.f32", -30, 2, 509, sign=1))
        found.append(_between(f"{op}.approx.ftz.f32", 3, 24, 509))
    found += _whole("tanh.approx.f32", -1, 0)
    found.append(_between("tanh.approx.f32", -14, -1, 29))
    found.append(_between("tanh.approx.f32", 1, 5, 11))
    found.append(_between("tanh.approx.f32", -14, 5, 509, sign=1))
    for text in ("ex2.approx.f16", "tanh.approx.f16", "ex2.approx.ftz.bf16", "tanh.approx.bf16"):
        found.append(Sweep(text, 0, 1, 1 << 16, "f16"))
        found.append(Sweep(f"{text}x2", 0xFFFF, 0x1FFFF, 1 << 16, "x2"))
    for op in ("rcp", "rsqrt"):
        found.append(Sweep(f"{op}.approx.ftz.f64", 0x3FF00000, 1, 2 << 20, "high"))
        found.append(Sweep(f"{op}.approx.ftz.f64", 0, 32749, (1 << 32) // 32749, "high"))
    quotients = ("div.approx.f32", "div.approx.ftz.f32", "div.full.f32", "div.full.ftz.f32")
    found += [Sweep(text, 1, 1, 1 << 17, "pair") for text in quotients]
    return found


def kernel(sweep: Sweep) -> str:
    """The PTX text of a sweep: `probe(out, first, step, count)`, one thread per case."""
    one = {
        "f32": f"mov.b32 %f1, %x; {sweep.text} %f2, %f1; mov.b32 %y, %f2;",
        "f16": f"cvt.u16.u32 %h1, %x; {sweep.text} %h2, %h1; cvt.u32.u16 %y, %h2;",
        "x2": f"{sweep.text} %y, %x;",
        "high": f"mov.b64 %d1, {{0, %x}}; {sweep.text} %d2, %d1; mov.b64 {{%z, %y}}, %d2;",
        "pair": (
            f"add.u32 %z, %x, {_SECOND};"
            + "".join(
                f"mul.lo.u32 {r}, {r}, 2654435761; shr.u32 %t, {r}, 15; xor.b32 {r}, {r}, %t;"
                f"mul.lo.u32 {r}, {r}, 2246822519; shr.u32 %t, {r}, 13; xor.b32 {r}, {r}, %t;"
                for r in ("%x", "%z")
            )
            + f"mov.b32 %f1, %x; mov.b32 %f3, %z; {sweep.text} %f2, %f1, %f3; mov.b32 %y, %f2;"
        ),
    }[sweep.kind]
    return f"""
.version 8.5
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 out, .param .u32 first, .param .u32 step, .param .u32 count)
{{
  .reg .pred %p; .reg .b16 %h<3>; .reg .b32 %i, %n, %x, %y, %z, %t, %s; .reg .f32 %f<4>;
  .reg .f64 %d<3>; .reg .b64 %to, %o;
  mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %i, %n, %t;
  ld.param.u32 %n, [count]; setp.ge.u32 %p, %i, %n; @%p bra DONE;
  ld.param.u32 %x, [first]; ld.param.u32 %s, [step]; mad.lo.u32 %x, %i, %s, %x;
  {one}
  ld.param.u64 %to, [out]; mul.wide.u32 %o, %i, 4; add.s64 %to, %to, %o; st.global.u32 [%to], %y;
DONE:
  ret;
}}
"""


def run(driver: Driver, out: ctypes.c_uint64, sweep: Sweep) -> Bits:
    """The result bits of a sweep's cases."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuModuleLoadData", ctypes.byref(module), kernel(sweep).encode() + b"\0")
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"probe")
    held = [out, *(ctypes.c_uint32(number) for number in (sweep.first, sweep.step, sweep.cases))]
    pointers = (ctypes.c_void_p * len(held))(*(ctypes.cast(ctypes.byref(h), ctypes.c_void_p) for h in held))
    grid = -(-sweep.cases // 256)
    driver.call("cuLaunchKernel", function, grid, 1, 1, 256, 1, 1, 0, None, pointers, None)
    driver.call("cuCtxSynchronize")
    bits = np.zeros(sweep.cases, np.uint32)
    driver.call("cuMemcpyDtoH_v2", bits.ctypes.data_as(ctypes.c_void_p), out, ctypes.c_size_t(bits.nbytes))
    driver.call("cuModuleUnload", module)
    return bits


def pack(bits: Bits) -> npt.NDArray[np.uint8]:
    """Compressed second differences; the digest of the bits stands before them."""
    twice = np.diff(np.diff(bits, prepend=np.uint32(0)), prepend=np.uint32(0)).view(np.int32)
    small = np.clip(twice, -128, 127).astype(np.int8)
    small[(twice < -127) | (twice > 127)] = -128
    rest = twice[small == -128]
    data = lzma.compress(small.tobytes() + rest.tobytes(), preset=1)
    return np.frombuffer(hashlib.sha256(bits.tobytes()).digest() + data, np.uint8)


def unpack(packed: npt.NDArray[np.uint8], count: int) -> Bits:
    """The result bits of `count` cases.

    Raises:
        ValueError: The file is damaged.
    """
    data = lzma.decompress(packed[32:].tobytes())
    twice = np.frombuffer(data, np.int8, count).astype(np.int32)
    twice[twice == -128] = np.frombuffer(data, np.int32, offset=count)
    once = np.cumsum(twice.view(np.uint32), dtype=np.uint32)
    bits = np.cumsum(once, dtype=np.uint32)
    if hashlib.sha256(bits.tobytes()).digest() != packed[:32].tobytes():
        raise ValueError("the recorded results are damaged")
    return bits


def load(folder: Path, sweep: Sweep) -> Bits:
    """The recorded results of a sweep."""
    with np.load(folder / f"{file_of(sweep)}.npz") as archive:
        return unpack(archive[sweep.name], sweep.cases)


def file_of(sweep: Sweep) -> str:
    """The name of the file of a sweep: there are seven."""
    op = sweep.text.split(".")[0]
    if sweep.kind != "f32":
        return "other"
    return {"rcp": "rcp_rsqrt", "rsqrt": "rcp_rsqrt", "cos": "sin"}.get(op, op)


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    every = sweeps()
    with ProcessPoolExecutor() as pool:
        list(pool.map(abs, range(64)))  # start the processes before this one uses the device
        driver = Driver()
        out = driver.allocate(4 * max(sweep.cases for sweep in every))
        packed = {sweep: pool.submit(pack, run(driver, out, sweep)) for sweep in every}
        files: dict[str, dict[str, npt.NDArray[np.uint8]]] = {}
        for sweep, future in packed.items():
            files.setdefault(file_of(sweep), {})[sweep.name] = future.result()
    for name, arrays in files.items():
        np.savez(folder / f"{name}.npz", allow_pickle=False, **arrays)
    digests = {key: array[:32].tobytes().hex() for arrays in files.values() for key, array in arrays.items()}
    recording = {"device": driver.name, "driver": driver.version, "digests": digests}
    (folder / "approximations.json").write_text(json.dumps(recording, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
