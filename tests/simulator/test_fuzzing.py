"""Damaged PTX and damaged requests: the simulator refuses them by its own errors, in time, and goes on.

A hundred thousand inputs of each sort, and ten thousand damaged kernels that can still be run, in some
minutes: `pytest tests/simulator/test_fuzzing.py -m slow`.
"""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from tests.simulator.helpers import RecordOnly, findings_of
from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Check, render
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.counters.profiler import ProfilingHook
from tooling.simulator.engine import engine
from tooling.simulator.engine.executor import Engine
from tooling.simulator.engine.launch_state import Limits
from tooling.simulator.gpu.code_model import Function
from tooling.simulator.gpu.device_memory import DeviceMemory
from tooling.simulator.gpu.launch import Dim3, Launch
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    REQUESTS,
    VERSION,
    DriverRequest,
    Opcode,
    ProtocolError,
    decode_request,
)

HERE = Path(__file__).parent
TEXTS = [path.read_text() for path in sorted((HERE / "checks" / "defects").rglob("*.ptx"))]
WORDS = sorted({word for text in TEXTS for word in text.replace(",", " ").replace(";", " ; ").split()})
NUMBERS = (0, 1, 2, 3, 4, 8, 255, 256, 4096, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 63, (1 << 64) - 1)
PARTS = (
    (re.compile(r"(?<=[ +<\[-])\d+"), ("0", "-1", "1", "3", "1000000000000", "2147483648", "0x10", "{", "")),
    (re.compile(r"(?<=\.)[busf](?:8|16|32|64)\b"), ("b8", "b16", "u32", "b64", "b128", "f32", "f64", "pred")),
    (re.compile(r"%[a-z]+\d+"), ("%r1", "%rd1", "%p1", "%h1", "%tid.x", "!%r2", "_", "{%r1, %r2}", "7")),
)
"""What is replaced by what: numbers, types and registers."""
ENOUGH = Limits(lane_instructions=100_000)
PATIENCE = 20
"""Seconds of processor time for one input, so that a busy machine changes nothing."""


def _late(_signal: int, _frame: FrameType | None) -> None:
    raise AssertionError("this input takes too long")


@contextmanager
def in_time() -> Iterator[None]:
    """Fails when what is inside does not end."""
    previous = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def damaged(chance: random.Random) -> str:
    """A kernel of the defect suite with one to four changes, each to a character, a word, a line, a number, a
    type or a register."""
    text = chance.choice(TEXTS)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        what = chance.randrange(9)
        if what == 0:
            text = text[:at] + chr(chance.choice((*range(32, 127), 0, 10, 233, 0x1F600))) + text[at:]
        elif what == 1:
            text = text[:at] + text[at + chance.randint(1, 30) :]
        elif what == 2:
            text = text[:at] + chance.choice(WORDS) + text[at:]
        elif what == 3:
            text = text[:at]
        elif what >= 6:
            pattern, others = PARTS[what - 6]
            found = list(pattern.finditer(text))
            if found:
                chosen = chance.choice(found)
                text = text[: chosen.start()] + chance.choice(others) + text[chosen.end() :]
        else:
            lines = text.split("\n")
            one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
            if what == 4:
                words = lines[one].split(" ")
                words[chance.randrange(len(words))] = chance.choice(WORDS)
                lines[one] = " ".join(words)
            else:
                lines[one], lines[other] = lines[other], lines[one]
            text = "\n".join(lines)
    return text


def read_damaged(seeds: range) -> int:
    """Parse and decode damaged texts; how many were refused."""
    engine = Engine("lockstep", None)
    refused = 0
    for seed in seeds:
        text = damaged(random.Random(seed))
        try:
            with in_time():
                engine.prepare(parse_module(text))
        except PtxError as error:
            refused += 1
            assert str(error), seed
        except Exception as error:
            raise AssertionError(f"text {seed}: {type(error).__name__}: {error}") from error
    return refused


def parameters_of(kernel: Function, memory: DeviceMemory, checks: tuple[CheckHook, ...]) -> bytes:
    """A buffer of its own for each parameter that can hold an address, and a number for the others."""
    block = bytearray(kernel.parameter_bytes)
    for parameter in kernel.parameters:
        value = 64
        if parameter.size == 8:
            value = memory.allocate(1024)
            buffer = memory.containing(value)
            assert buffer is not None
            for check in checks:
                check.allocate(buffer)
        field = value.to_bytes(8, "little")[: parameter.size]
        block[parameter.offset : parameter.offset + len(field)] = field
    return bytes(block)


def run_damaged(seeds: range) -> int:
    """Run damaged kernels in launches of any shape; how many were read, and so run."""
    ran = 0
    for seed in seeds:
        chance = random.Random(seed)
        try:
            module = parse_module(damaged(chance))
        except PtxError:
            continue
        for kernel in module.kernels.values():
            memory = DeviceMemory(np.zeros(1 << 18, np.uint8), 0x10000)
            checks = make_checks() if chance.random() < 0.8 else ()
            hooks = [*checks, ProfilingHook()] if chance.random() < 0.3 else checks
            grid = chance.choice((1, 2, 4))
            shape = Dim3(grid), Dim3(chance.choice((1, 8, 32, 40, 64, 100)))
            cluster = Dim3(chance.choice((1, 1, 1, 2)) if grid > 1 else 1)
            shared = chance.choice((0, 0, 256))
            launch = Launch(kernel, *shape, cluster, shared, parameters_of(kernel, memory, checks))
            schedule = chance.choice(("lockstep", "random:1", "adversarial"))
            try:
                with in_time():
                    engine.run(launch, module, memory, hooks, schedule, limits=ENOUGH)
                ran += 1
                for finding in findings_of(checks):
                    assert render(finding), seed
                    assert render(finding, "ko"), seed
            except PtxError as error:
                assert str(error), seed
            except Exception as error:
                raise AssertionError(f"kernel {seed}: {type(error).__name__}: {error}") from error
    return ran


def requests(chance: random.Random, known: list[int]) -> Iterator[DriverRequest | bytes]:
    """Requests with plausible and with senseless numbers, and bytes that are no request."""
    for _ in range(20):
        opcode = chance.choice(tuple(Opcode))
        shape = REQUESTS[opcode]
        if chance.random() < 0.1:
            yield bytes(chance.randrange(256) for _ in range(chance.randrange(80)))
            continue
        fields = shape.request.unpack(chance.randbytes(shape.request.size))
        limits = [(1 << 8 * (8 if letter == "Q" else 4)) - 1 for letter in _letters(shape.request.format)]
        chosen = tuple(
            field if chance.random() < 0.2 else _number(chance, known) & limit
            for field, limit in zip(fields, limits, strict=True)
        )
        tail = b""
        if opcode is Opcode.LOAD_MODULE:
            tail = (damaged(chance) if chance.random() < 0.5 else chance.choice(TEXTS)).encode()
        elif opcode in (Opcode.FUNCTION, Opcode.GLOBAL):
            tail = chance.choice((b"right", b"wrong", b"\xff\0", b""))
        elif opcode is Opcode.LAUNCH:
            tail = chance.randbytes(chance.choice((0, 8, 16, 300)))
        yield DriverRequest(opcode, chosen, tail)


def _letters(form: str) -> str:
    return "".join(
        letter * int(count or 1)
        for count, letter in zip(*[iter(_split(form.removeprefix("<")))] * 2, strict=True)
    )


def _split(form: str) -> Iterator[str]:
    count = ""
    for letter in form:
        if letter.isdigit():
            count += letter
        else:
            yield count
            yield letter
            count = ""


def _number(chance: random.Random, known: list[int]) -> int:
    if known and chance.random() < 0.7:
        return chance.choice(known) + chance.choice((0, 0, 0, 4, -4, 256))
    return chance.choice(NUMBERS)


def send_damaged(seeds: range) -> None:
    """Twenty requests for each seed, to a fresh program each."""
    for seed in seeds:
        chance = random.Random(seed)
        gpu = Gpu(RecordOnly(), partial(make_checks, tuple(Check)))
        context = Context(gpu, lambda: False)
        known: list[int] = []
        try:
            with in_time():
                context.answer(DriverRequest(Opcode.HELLO, (MAGIC, VERSION, 1, ARENA_BASE), b""))
                for message in requests(chance, known):
                    try:
                        request = (
                            decode_request(chance.randrange(len(Opcode) + 4), message)
                            if isinstance(message, bytes)
                            else message
                        )
                        status, answer, _ = context.answer(request)
                    except ProtocolError:
                        continue
                    if not status and len(answer) >= 8:
                        known.append(int.from_bytes(answer[:8], "little"))
        except Exception as error:
            raise AssertionError(f"requests {seed}: {type(error).__name__}: {error}") from error
        finally:
            context.close()


def test_damaged_texts_are_refused_with_an_error_of_the_parser() -> None:
    assert read_damaged(range(600)) > 100


def test_damaged_requests_are_answered_or_refused() -> None:
    send_damaged(range(60))


def test_damaged_kernels_run_to_an_end() -> None:
    assert run_damaged(range(150)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_damaged_kernels(part: int) -> None:
    assert run_damaged(range(4_800 * part, 4_800 * (part + 1))) > 900


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_damaged_texts(part: int) -> None:
    read_damaged(range(10_000 * part, 10_000 * (part + 1)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_a_hundred_thousand_damaged_requests(part: int) -> None:
    send_damaged(range(1_000 * part, 1_000 * (part + 1)))
