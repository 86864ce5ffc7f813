"""Damaged code objects: each is refused with what and where, or runs to an end.

A hundred thousand of them, in about 10 minutes on one core, and 40,000 kernels of random instructions:
`pytest -m slow -k gfx942 tests/simulator/amd/test_fuzzing.py`; the same for gfx1100.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from msgspec.structs import replace

from tests.simulator.amd.code_objects import code_objects
from tests.simulator.helpers import findings_of
from tests.simulator.test_fuzzing import ENOUGH, in_time
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.model import CodeObject, KernelFunction
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.amd.decoding.rdna3 import make_decoder
from tooling.simulator.backends import backend_for
from tooling.simulator.checks.findings import render
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine import engine
from tooling.simulator.gpu.device_memory import DeviceMemory, OutOfDeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.program.backend import CodeError

pytestmark = pytest.mark.mojo

END = {"gfx942": bytes.fromhex("000081bf"), "gfx1100": bytes.fromhex("0000b0bf")}
"""`s_endpgm`."""


@functools.cache
def originals(accelerator: str) -> list[tuple[bytes, CodeObject]]:
    """Code objects of two programs."""
    programs = ("defects", "operations") if accelerator == "gfx942" else ("defects",)
    images = [image for name in programs for image in code_objects(name, accelerator)]
    return [
        (image[: image.rfind(b".debug_line") + 4096], read_code_object(image, ARCHITECTURES[accelerator]))
        for image in images
    ]


def damaged(chance: random.Random, accelerator: str, *, evenly: bool = True) -> CodeObject:
    """A code object with changes anywhere, or in its code: other bits, or an instruction at another offset.

    Args:
        evenly: each code object is as likely as the others; False: long ones, which take most of the time,
            are rarer.

    Raises:
        CodeError: it is refused.
    """
    known = originals(accelerator)
    weights = None if evenly else [1 / len(module.code) for _, module in known]
    image, module = chance.choices(known, weights)[0] if weights else chance.choice(known)
    kind = chance.randrange(4)
    if kind == 0:
        if chance.random() < 0.1:
            return read_code_object(image[: chance.randrange(len(image))], ARCHITECTURES[accelerator])
        changed = bytearray(image)
        for _ in range(chance.choice((1, 2, 8, 64))):
            changed[chance.randrange(len(changed))] = chance.getrandbits(8)
        return read_code_object(bytes(changed), ARCHITECTURES[accelerator])
    code = bytearray(module.code)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(0, len(code), 4)
        if kind == 1:
            code[at + chance.randrange(4)] ^= 1 << chance.randrange(8)
        else:
            origin = chance.randrange(0, len(code), 4)
            code[at : at + 4] = code[origin : origin + 4]
    return replace(module, code=bytes(code), digest=f"damaged {chance.random()}")


def of_random_instructions(chance: random.Random, accelerator: str) -> CodeObject:
    """A code object whose first kernel is four instructions of any format that do not jump, and its end."""
    decoder = make_decoder(ARCHITECTURES[accelerator])
    module = chance.choice(originals(accelerator))[1]
    body: list[bytes] = []
    while len(body) < 4:
        mask, value, _ = chance.choice(decoder.encodings)
        first = chance.getrandbits(32) & ~mask | value
        rest = bytes(chance.choice((0, chance.getrandbits(8))) for _ in range(12))
        words = first.to_bytes(4, "little") + rest
        with suppress(CodeError):
            instruction = decoder.decode(words, 0)
            if instruction.target < 0:
                body.append(words[: instruction.size])
    body.append(END[accelerator])
    code = bytearray(module.code)
    kernel = next(iter(module.kernels.values()))
    assert isinstance(kernel, KernelFunction)
    replacement = b"".join(body)
    entry = kernel.descriptor.entry
    code[entry : entry + len(replacement)] = replacement
    return replace(module, code=bytes(code), digest=f"random {chance.random()}")


def run_damaged(
    seeds: range, accelerator: str, make: Callable[[random.Random, str], CodeObject] = damaged
) -> tuple[int, int]:
    """Make a code object of each seed and run one kernel of it; how many were refused, and how many ran."""
    refused = ran = 0
    for seed in seeds:
        chance = random.Random(seed)
        try:
            with in_time():
                module = make(chance, accelerator)
                for kernel in list(module.kernels)[:1]:
                    launch_once(module, kernel, chance)
                    ran += 1
        except (CodeError, OutOfDeviceMemory) as error:
            refused += 1
            assert str(error), seed
        except Exception as error:
            raise AssertionError(f"code object {seed}: {type(error).__name__}: {error}") from error
    return refused, ran


def launch_once(module: CodeObject, name: str, chance: random.Random) -> None:
    """Launch a kernel with a buffer for each parameter."""
    kernel = module.kernels[name]
    backend_for(module.instruction_set).decode(module, kernel)
    memory = DeviceMemory(np.zeros(1 << 20, np.uint8), 0x10000)
    checks = make_checks() if chance.random() < 0.7 else ()
    parameters = bytearray(min(kernel.parameter_bytes, 4096))
    for parameter in kernel.parameters:
        address = memory.allocate(1024)
        buffer = memory.containing(address)
        assert buffer is not None
        for check in checks:
            check.allocate(buffer)
        field = address.to_bytes(8, "little")[: parameter.size]
        parameters[parameter.offset : parameter.offset + len(field)] = field
    block = Dim3(chance.choice((1, 32, 64, 96)))
    launch = Launch(kernel, Dim3(chance.choice((1, 2))), block, Dim3(1), 0, bytes(parameters))
    schedule = chance.choice(("lockstep", "random:1", "adversarial"))
    engine.run(launch, module, memory, checks, schedule, limits=ENOUGH)
    for finding in findings_of(checks):
        assert render(finding)


@pytest.mark.slow
def test_an_argument_of_a_damaged_size_is_refused() -> None:
    """One of the hundred thousand: the size of a hidden argument was negative."""
    assert run_damaged(range(1892, 1893), "gfx942") == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize("accelerator", ["gfx942", "gfx1100"])
def test_damaged_code_objects_are_refused_or_run_to_an_end(accelerator: str) -> None:
    refused, ran = run_damaged(range(60), accelerator)
    assert refused > 10
    assert ran > 20


@pytest.mark.slow
@pytest.mark.parametrize("accelerator", ["gfx942", "gfx1100"])
def test_random_instructions_are_refused_or_run_to_an_end(accelerator: str) -> None:
    refused, ran = run_damaged(range(60), accelerator, of_random_instructions)
    assert refused > 10
    assert ran > 20


@pytest.mark.slow
@pytest.mark.parametrize("accelerator", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("part", range(4))
def test_forty_thousand_kernels_of_random_instructions(part: int, accelerator: str) -> None:
    run_damaged(range(10_000 * part, 10_000 * (part + 1)), accelerator, of_random_instructions)


@pytest.mark.slow
@pytest.mark.parametrize("accelerator", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("part", range(20))
def test_a_hundred_thousand_damaged_code_objects(part: int, accelerator: str) -> None:
    run_damaged(range(5_000 * part, 5_000 * (part + 1)), accelerator, partial(damaged, evenly=False))
