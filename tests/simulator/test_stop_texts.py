"""Why a launch is refused, a kernel stopped or an instruction unknown, in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import Formatter

import pytest

from tests.simulator.asking import READER, ask, introduced, launch, read_by_a_kernel
from tooling.simulator.gpu import stop_texts
from tooling.simulator.gpu.driver_results import DriverResult
from tooling.simulator.gpu.launch import Dim3
from tooling.simulator.nvidia import device
from tooling.simulator.nvidia.launch_rules import MAX_DYNAMIC_SHARED
from tooling.simulator.server.context import Context
from tooling.simulator.server.protocol import DriverRequest, Opcode
from tooling.simulator.server.stopped import stopped_kernel
from tooling.text import Text

PHRASES = {name: phrase for name, phrase in vars(stop_texts).items() if isinstance(phrase, Text)}
PHRASES |= {f"SPACES {name}": phrase for name, phrase in stop_texts.SPACES.items()}
HANGUL = re.compile("[가-힣]")


def fields(text: str) -> set[str | None]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


@pytest.mark.parametrize("name", sorted(set(PHRASES) - {"FROM"}))
def test_both_languages_have_the_same_figures(name: str) -> None:
    phrase = PHRASES[name]
    assert fields(phrase.english) == fields(phrase.render("ko"))
    assert HANGUL.search(phrase.render("ko"))
    assert not HANGUL.search(phrase.english)


def test_a_phrase_inside_a_phrase_is_said_in_the_same_language() -> None:
    inner = stop_texts.THREAD.of(thread=Dim3(1, 2, 3), block=Dim3(0, 0, 0))
    outer = stop_texts.TRAPPED.of(thread=inner)
    assert outer.render("en") == "thread (1, 2, 3) of block (0, 0, 0) stopped the kernel itself (trap)"
    assert (
        outer.render("ko") == "블록 (0, 0, 0)의 스레드 (1, 2, 3)에서 커널이 스스로 실행을 중단했습니다 (trap)"
    )


@pytest.fixture
def context(language: str) -> Iterator[Context]:
    context = introduced(checked=False, language=language)
    yield context
    context.close()


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "reader cannot be launched: a block of 2048 threads; at most 1024 are possible"),
        (
            "ko",
            "reader 커널을 실행할 수 없습니다: 블록 하나의 스레드가 2048개입니다. 최대 1024개까지 가능합니다",
        ),
    ],
)
def test_a_refused_launch(context: Context, message: str) -> None:
    _, module = ask(context, Opcode.LOAD_MODULE, tail=READER)
    _, function = ask(context, Opcode.FUNCTION, module, tail=b"reader")
    shape = (1, 1, 1, 64, 32, 1, 1, 1, 1, 0, 0, 0)
    status, answer, _ = context.answer(DriverRequest(Opcode.LAUNCH, (function, *shape), bytes(8)))
    assert (status, answer.decode()) == (1, message)


MANGLED = "p15_reader_Pointer6A6AoA6A6AcB_568de488e22ada17"
FROM_MOJO = b"""
.version 8.5
.target sm_90a
.address_size 64
.file 1 "/home/me/p15.mojo"
.func (.param .b32 r) p15_endless_SIMD_DType_int36A6AoA_3a85c4dfeb7c9ae6(.param .b32 n)
{
    .reg .b32 %r<3>;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], 1;
      call.uni (b), p15_endless_SIMD_DType_int36A6AoA_3a85c4dfeb7c9ae6, (a); ld.param.b32 %r1, [b]; }
    st.param.b32 [r], %r1;
    ret;
}
.visible .entry p15_reader_Pointer6A6AoA6A6AcB_568de488e22ada17(.param .u64 pointer)
{
    .shared .align 4 .b8 own[4];
    .reg .b32 %r<3>;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], 1;
      call.uni (b), p15_endless_SIMD_DType_int36A6AoA_3a85c4dfeb7c9ae6, (a); ld.param.b32 %r1, [b]; }
    ret;
}
"""
"""Names as Mojo writes them in PTX."""


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "the simulated GPU cannot run this launch of reader"),
        ("ko", "시뮬레이션 GPU는 reader 커널을 이렇게 실행할 수 없습니다"),
    ],
)
def test_a_launch_that_is_not_simulated(context: Context, message: str) -> None:
    """All the shared memory there is, in an array of 4 bytes and dynamic memory aligned to 16."""
    _, module = ask(context, Opcode.LOAD_MODULE, tail=FROM_MOJO)
    _, function = ask(context, Opcode.FUNCTION, module, tail=MANGLED.encode())
    dynamic = device.MAX_SHARED_PER_BLOCK_OPT_IN - 4
    assert ask(context, Opcode.SET_ATTRIBUTE, function, MAX_DYNAMIC_SHARED, dynamic)[0] == 0
    shape = (1, 1, 1, 1, 1, 1, 1, 1, 1, 0, dynamic, 0)
    assert ask(context, Opcode.LAUNCH, function, *shape, tail=bytes(8))[0] == 1
    (error,) = context.gpu.errors
    assert error.what == message


@pytest.mark.parametrize(
    ("language", "message"),
    [
        (
            "en",
            "reader: MAX_DYNAMIC_SHARED_SIZE_BYTES cannot be {value}: a block has at most {most} bytes of "
            "dynamic shared memory besides 4 of the kernel's own",
        ),
        (
            "ko",
            "reader: MAX_DYNAMIC_SHARED_SIZE_BYTES는 {value}일 수 없습니다. "
            "커널 자체의 4바이트 외에 블록이 사용할 수 있는 동적 공유 메모리는 최대 {most}바이트입니다",
        ),
    ],
)
def test_a_shared_memory_attribute_that_is_too_large(context: Context, message: str) -> None:
    _, module = ask(context, Opcode.LOAD_MODULE, tail=FROM_MOJO)
    _, function = ask(context, Opcode.FUNCTION, module, tail=MANGLED.encode())
    most = device.MAX_SHARED_PER_BLOCK_OPT_IN - 4
    request = DriverRequest(Opcode.SET_ATTRIBUTE, (function, MAX_DYNAMIC_SHARED, most + 1), b"")
    status, answer, _ = context.answer(request)
    assert status == DriverResult.INVALID_VALUE
    assert answer.decode() == message.format(value=most + 1, most=most)
    assert ask(context, Opcode.SET_ATTRIBUTE, function, MAX_DYNAMIC_SHARED, most)[0] == 0


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "a grid of 2147483647 blocks; the checks support at most 16777216"),
        ("ko", "그리드의 블록이 2147483647개이지만, 검사는 16777216개까지만 할 수 있습니다"),
    ],
)
def test_a_grid_too_large_for_the_checks(language: str, message: str) -> None:
    context = introduced(checked=True, language=language)
    _, module = ask(context, Opcode.LOAD_MODULE, tail=READER)
    _, function = ask(context, Opcode.FUNCTION, module, tail=b"reader")
    shape = (2**31 - 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0)
    assert ask(context, Opcode.LAUNCH, function, *shape, tail=bytes(8))[0] == 1
    (error,) = context.gpu.errors
    assert error.why == message
    assert "--no-check" in str(error.hint)
    assert not context.gpu.records
    context.close()


ASSERTING = b"""
.version 8.5
.target sm_90a
.address_size 64
.file 1 "/home/me/p15.mojo"
.file 2 "Mojo/stdlib/std/builtin/debug_assert.mojo"
.func refuse()
{
    .loc 2 661 18
    trap;
}
.func check()
{
    .loc 2 107 22
    call.uni refuse, ();
    ret;
}
.visible .entry reader(.param .u64 pointer)
{
    .loc 1 12 5
    .loc 2 121 34, function_name $L__info_string1, inlined_at 1 12 5
    call.uni check, ();
    ret;
}
"""


@pytest.mark.parametrize("language", ["en"])
def test_an_assertion_that_fails_names_the_line_of_the_author(context: Context) -> None:
    launch(context, ASSERTING, "reader", 1, 1, 0)
    stopped = stopped_kernel(context.gpu.records)
    assert stopped is not None
    assert str(stopped.position) == "/home/me/p15.mojo:12:5"


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "the calls of endless are too deep: "),
        ("ko", "endless 함수의 호출이 너무 깊습니다. "),
    ],
)
def test_infinite_recursion(context: Context, language: str, message: str) -> None:
    launch(context, FROM_MOJO, MANGLED, 1, 1, 0)
    stopped = stopped_kernel(context.gpu.records)
    assert stopped is not None
    assert stopped.name == "reader"
    assert stopped.why.render(language).startswith(message)


@pytest.mark.parametrize(
    ("language", "message"),
    [
        (
            "en",
            "thread (0, 0, 0) of block (0, 0, 0) accessed 4 bytes at global address 0x40, where there is no "
            "global memory",
        ),
        (
            "ko",
            "블록 (0, 0, 0)의 스레드 (0, 0, 0)에서 전역 주소 0x40에 접근했지만(4바이트), "
            "거기에는 전역 메모리가 없습니다",
        ),
    ],
)
def test_a_stopped_kernel(context: Context, language: str, message: str) -> None:
    read_by_a_kernel(context, 64)
    stopped = stopped_kernel(context.gpu.records)
    assert stopped is not None
    assert stopped.why.render(language) == message


@pytest.mark.parametrize(
    ("language", "what", "why", "hint"),
    [
        (
            "en",
            "PTX line 12, column 5: cannot execute `ld.wrong.b32`",
            "the simulator does not know this form",
            "never guesses",
        ),
        (
            "ko",
            "PTX 12번 줄 5번 열: `ld.wrong.b32` 명령어를 실행할 수 없습니다",
            "시뮬레이터가 모르는 형태입니다",
            "추측해서 실행하지 않습니다",
        ),
    ],
)
def test_an_unknown_instruction(context: Context, what: str, why: str, hint: str) -> None:
    text = READER.replace(b"ld.global.b32 %r1", b"ld.wrong.b32 %r1")
    status, answer, _ = context.answer(DriverRequest(Opcode.LOAD_MODULE, (), text))
    assert status == 218
    (error,) = context.gpu.errors
    assert error.what == what
    assert error.why == why
    assert hint in (error.hint or "")
    assert answer.decode() == str(error)
