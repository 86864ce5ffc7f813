"""Random C functions compute the same on the simulated GPUs as on this machine.

Recorded ones need no compiler: `python -m tests.simulator.amd.test_random_c` records them again. Ten thousand
on each GPU, in about five hours on one core: `pytest -m slow tests/simulator/amd/test_random_c.py` (LLVM 19:
Debian's packages `clang-19` and `lld-19`).
"""

from __future__ import annotations

import lzma
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.simulator.amd.random_c import CLANG, compile_for, functions, on_gpu, on_host
from tooling.simulator.amd.architectures import ARCHITECTURES

DATA = Path(__file__).parent / "data"
RECORDED = range(4)
PART = 50
each_architecture = pytest.mark.parametrize("architecture", list(ARCHITECTURES))


@each_architecture
@pytest.mark.parametrize("seed", RECORDED)
def test_a_recorded_function_computes_the_same(seed: int, architecture: str) -> None:
    image = lzma.decompress((DATA / f"random_c_{architecture}.elf.xz").read_bytes())
    wanted = np.frombuffer(lzma.decompress((DATA / f"random_c_{seed}.xz").read_bytes()), np.uint64)
    np.testing.assert_array_equal(on_gpu(architecture, image, seed), wanted)


@pytest.mark.slow
@pytest.mark.skipif(CLANG is None, reason="clang-19 is not installed")
@each_architecture
@pytest.mark.parametrize("part", range(10_000 // PART))
def test_ten_thousand_functions_compute_the_same(part: int, architecture: str, tmp_path: Path) -> None:
    seeds = range(PART * part, PART * (part + 1))
    text = functions(seeds)
    library = compile_for("host", text, tmp_path)
    image = compile_for(architecture, text, tmp_path).read_bytes()
    different = [
        seed for seed in seeds if (on_gpu(architecture, image, seed) != on_host(library, seed)).any()
    ]
    assert different == []


def record() -> None:
    """Write the code objects and results of the recorded functions."""
    text = functions(RECORDED)
    with tempfile.TemporaryDirectory() as folder:
        library = compile_for("host", text, Path(folder))
        for seed in RECORDED:
            (DATA / f"random_c_{seed}.xz").write_bytes(lzma.compress(on_host(library, seed).tobytes()))
        for architecture in ARCHITECTURES:
            image = compile_for(architecture, text, Path(folder)).read_bytes()
            (DATA / f"random_c_{architecture}.elf.xz").write_bytes(lzma.compress(image))


if __name__ == "__main__":
    record()
