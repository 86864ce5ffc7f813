"""Files that state how much they contain: a huge number is refused before memory is taken for it."""

from __future__ import annotations

import json
import resource
import struct
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.machine import needs_simulated_gpu
from tests.simulator.simulate import HEAD
from tooling.book.directives.replays import Replay
from tooling.book.directives.replays import load as load_replay
from tooling.book.errors import BookError
from tooling.book.figures.traces import load as load_trace
from tooling.book.verdict_recordings import digest_of
from tooling.replay.trace import MOST_NUMBERS, Exchange, Move, numbers, ranges, unpacked
from tooling.simulator.amd.architectures import ARCHITECTURES
from tooling.simulator.amd.code_object.reader import read_code_object
from tooling.simulator.backends import backend_for
from tooling.simulator.checks.findings import Check
from tooling.simulator.checks.suite import make_checks
from tooling.simulator.engine.executor import Engine
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.program.backend import CodeError
from tooling.simulator.server.context import Context, Gpu
from tooling.simulator.server.protocol import ARENA_BASE, MAGIC, MAX_PAYLOAD, VERSION, DriverRequest, Opcode

DATA = Path(__file__).parent / "data"
CODE_OBJECTS = Path(__file__).parent / "simulator" / "amd" / "data" / "code_objects"
MANY = 10**12
MEMORY = 4 << 30  # bytes of address space, in addition to what is used


@pytest.fixture
def little_memory() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    used = pages * resource.getpagesize()  # by the tests before, too
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("column", [4, 5], ids=["threads", "elements"])
def test_a_trace_with_a_million_million_numbers_is_refused(tmp_path: Path, column: int) -> None:
    trace = json.loads((DATA / "traces" / "p01.json").read_text())
    path = tmp_path / "p01.json"
    path.write_text(json.dumps(trace))
    assert load_trace(path).events
    trace["events"][0][column] = [[0, 1, MANY]]
    path.write_text(json.dumps(trace))
    with pytest.raises(BookError, match="an event with more than 1048576 threads or elements"):
        load_trace(path)


def _edited(replay: Replay, **changes: Any) -> Replay:
    """The replay with one step, whose only memory access or exchange has these fields."""
    if "sources" in changes or "values" in changes:
        exchange = replace(Exchange("0-3", (0, 1, 2, 3), (1, 2, 3, 4)), **changes)
        step = replace(replay.trace.steps[0], moves=(), exchange=exchange)
    elif "step" in changes:
        step = replace(replay.trace.steps[0], threads=changes["step"], moves=())
    else:
        move = replace(Move(0, "load", "0-3", ((0, 1, 4),), 1, (1, 2, 3, 4)), **changes)
        step = replace(replay.trace.steps[0], moves=(move,))
    trace = replace(replay.trace, steps=(step,))
    return replace(replay, trace=trace, digest=digest_of(trace))


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"values": (1, 2, 3, 4)}, ""),
        ({"step": f"0-{MANY - 1}"}, f"{MANY} threads or cells in one entry"),
        ({"threads": f"0-{MANY - 1}"}, f"{MANY} threads or cells in one entry"),
        ({"refused": f"0-{MANY - 1}"}, f"{MANY} threads or cells in one entry"),
        ({"cells": ((0, 1, MANY),)}, f"{MANY} threads or cells in one entry"),
        ({"width": MANY}, f"{4 * MANY} threads or cells in one entry"),
        ({"sources": ((0, 1, MANY),)}, f"{MANY} threads or cells in one entry"),
        ({"cells": ((0, 1, 3),)}, "4 threads with 3 cells"),
        ({"sources": (0, 1)}, "4 threads that received values from 2"),
        ({"step": "a-b"}, "invalid literal"),
    ],
)
def test_a_replay_with_a_million_million_threads_or_cells_is_refused(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    recorded = min((DATA / "outputs").glob("*/*.replay.json"), key=lambda path: path.stat().st_size)
    path = tmp_path / recorded.name
    edited = _edited(load_replay(recorded), **changes)
    path.write_bytes(msgspec.json.encode(edited))
    if not why:
        assert load_replay(path) == edited
        return
    with pytest.raises(BookError) as refused:
        load_replay(path)
    assert why in str(refused.value)


def test_numbers_of_a_replay_are_read_up_to_the_limit() -> None:
    assert list(numbers(ranges(range(MOST_NUMBERS)))) == list(range(MOST_NUMBERS))
    assert len(unpacked([(5, 2, MOST_NUMBERS)])) == MOST_NUMBERS


PTX = HEAD + "{before}.visible .entry k({parameters})\n{{\n{inside}ret;\n}}\n"
ARRAY = f".b8 x[{MANY}]"


@pytest.fixture
def ask() -> Iterator[Callable[..., tuple[int, bytes]]]:
    """Asks a simulated GPU as a program does; a defect of the simulator would be raised."""
    context = Context(Gpu(Engine("lockstep", None), partial(make_checks, tuple(Check))), lambda: False)

    def request(opcode: Opcode, *fields: int, tail: bytes = b"") -> tuple[int, bytes]:
        status, answer, _ = context.answer(DriverRequest(opcode, fields, tail))
        return status, answer

    request(Opcode.HELLO, MAGIC, VERSION, 1, ARENA_BASE)
    yield request
    context.close()


@needs_simulated_gpu
@pytest.mark.parametrize(
    ("parts", "at", "says"),
    [
        ({"before": f".shared {ARRAY};\n"}, Opcode.LAUNCH, f"reserves {MANY} bytes of shared memory"),
        ({"inside": f".shared {ARRAY};\n"}, Opcode.LAUNCH, f"reserves {MANY} bytes of shared memory"),
        ({"inside": f".local {ARRAY};\n"}, Opcode.LOAD_MODULE, f"uses {MANY} bytes of local memory"),
        ({"parameters": f".param {ARRAY}"}, Opcode.LOAD_MODULE, f"the parameters of k take {MANY} bytes"),
        ({"before": f".global {ARRAY};\n"}, Opcode.LOAD_MODULE, ""),
        ({"before": f".const {ARRAY};\n"}, Opcode.LOAD_MODULE, ""),
        ({"before": f".global {ARRAY} = {{1, 2}};\n"}, Opcode.LOAD_MODULE, ""),
        ({"before": ".shared .b8 x[1024];\n"}, None, ""),
    ],
)
def test_a_module_with_a_huge_array_is_refused(
    ask: Callable[..., tuple[int, bytes]], parts: dict[str, str], at: Opcode | None, says: str
) -> None:
    text = PTX.format(**{"before": "", "parameters": "", "inside": ""} | parts)
    refused = None
    status, answer = ask(Opcode.LOAD_MODULE, tail=text.encode())
    if status:
        refused = Opcode.LOAD_MODULE
    else:
        status, answer = ask(Opcode.FUNCTION, int.from_bytes(answer[:8], "little"), tail=b"k")
        assert status == DriverResult.SUCCESS
        function = int.from_bytes(answer[:8], "little")
        status, answer = ask(Opcode.LAUNCH, function, 1, 1, 1, 32, 1, 1, 1, 1, 1, 0, 0, 0)
        refused = Opcode.LAUNCH if status else None
    assert refused is at
    assert says in answer.decode("utf-8", "replace")
    if at is Opcode.LOAD_MODULE and not says:
        assert status == DriverResult.OUT_OF_MEMORY


def _sizes(image: bytes) -> dict[str, int]:
    """The offsets of the sizes (64 bits) in an ELF file: of its segments and sections (elf(5))."""
    programs, sections = struct.unpack_from("<QQ", image, 32)
    program_bytes, program_count, section_bytes, section_count = struct.unpack_from("<4H", image, 54)
    return {
        **{f"p_filesz {n}": programs + program_bytes * n + 32 for n in range(program_count)},
        **{f"p_memsz {n}": programs + program_bytes * n + 40 for n in range(program_count)},
        **{f"sh_size {n}": sections + section_bytes * n + 32 for n in range(section_count)},
        **{f"sh_entsize {n}": sections + section_bytes * n + 56 for n in range(section_count)},
    }


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("architecture", ["gfx942", "gfx1100"])
def test_a_code_object_whose_parts_have_a_million_million_bytes_is_refused(architecture: str) -> None:
    image = (CODE_OBJECTS / f"ordered_flag_{architecture}.elf").read_bytes()
    assert read_code_object(image, ARCHITECTURES[architecture]).kernels
    refused = set()
    for name, offset in _sizes(image).items():
        changed = bytearray(image)
        changed[offset : offset + 8] = MANY.to_bytes(8, "little")
        try:
            read_code_object(bytes(changed), ARCHITECTURES[architecture])
        except CodeError as error:
            assert str(error), name
            refused.add(name.split()[0])
    assert refused >= {"p_filesz", "p_memsz", "sh_size"}


@pytest.mark.parametrize(("size", "fits"), [(MANY, False), (64, True)])
def test_a_code_object_with_huge_parameters_is_refused(
    monkeypatch: pytest.MonkeyPatch, size: int, fits: bool
) -> None:
    image = (CODE_OBJECTS / "ordered_flag_gfx942.elf").read_bytes()
    module = read_code_object(image, ARCHITECTURES["gfx942"])
    name, kernel = next(iter(module.kernels.items()))
    last = replace(kernel.parameters[-1], size=size)
    large = replace(module, kernels={name: replace(kernel, parameters=(*kernel.parameters[:-1], last))})
    backend = backend_for("gfx942")
    monkeypatch.setattr(backend, "parse", lambda _: large)
    gpu = Gpu(Engine("lockstep", None), partial(make_checks, tuple(Check)), backend=backend)
    if fits:
        assert gpu.parse(image) is large
        return
    with pytest.raises(CodeError, match=rf"the parameters of .* take \d{{13}} bytes; at most {MAX_PAYLOAD}"):
        gpu.parse(image)
