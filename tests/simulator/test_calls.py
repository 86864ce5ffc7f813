"""Calls: recursion, indirect calls, tables of functions, and invalid calls."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simulator.simulate import HEAD, simulate
from tooling.simulator.gpu.launch import FaultKind
from tooling.simulator.nvidia.ptx.reader import PtxError, parse_module, print_module

SCHEDULES = ("lockstep", "random:5", "adversarial")

FUNCTIONS = """
.func (.param .b32 r) fibonacci(.param .b32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<8>;
    ld.param.b32 %r1, [n];
    setp.gt.s32 %p1, %r1, 1;
    @%p1 bra MORE;
    st.param.b32 [r], %r1;
    ret;
MORE:
    add.s32 %r2, %r1, -1;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;
      call.uni (b), fibonacci, (a); ld.param.b32 %r3, [b]; }
    add.s32 %r2, %r1, -2;
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2;
      call.uni (b), fibonacci, (a); ld.param.b32 %r4, [b]; }
    add.s32 %r5, %r3, %r4;
    st.param.b32 [r], %r5;
    ret;
}
.func (.param .b32 r) chain(.param .b32 n, .param .b64 above)
{
    .local .align 4 .b8 own[4];
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.b32 %r1, [n];
    ld.param.b64 %rd1, [above];
    mov.b64 %rd2, own;
    cvta.local.u64 %rd2, %rd2;
    st.b32 [%rd2], %r1;
    ld.b32 %r2, [%rd1];
    add.s32 %r2, %r2, 100;
    st.b32 [%rd1], %r2;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra OUT;
    add.s32 %r3, %r1, -1;
    { .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], %r3; st.param.b64 [b], %rd2;
      call.uni (c), chain, (a, b); ld.param.b32 %r4, [c]; }
    ld.local.b32 %r5, [own];
    mad.lo.s32 %r1, %r4, 3, %r5;
OUT:
    st.param.b32 [r], %r1;
    ret;
}
.func (.param .b32 r) double(.param .b32 n)
{
    .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.s32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;
}
.func (.param .b32 r) square(.param .b32 n)
{
    .reg .b32 %r<3>; ld.param.b32 %r1, [n]; mul.lo.s32 %r2, %r1, %r1; st.param.b32 [r], %r2; ret;
}
.func (.param .b32 r) twice(.param .b64 f, .param .b32 n)
{
    .reg .b32 %r<4>; .reg .b64 %rd<2>;
form:
    .callprototype (.param .b32 _) _ (.param .b32 _);
    ld.param.b64 %rd1, [f];
    ld.param.b32 %r1, [n];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), %rd1, (a), form; ld.param.b32 %r2, [b]; }
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), %rd1, (a), form; ld.param.b32 %r3, [b]; }
    st.param.b32 [r], %r3;
    ret;
}
.global .align 8 .u64 table[2] = {double, square};
"""


def program(body: str) -> str:
    """A kernel `k` over pointers `into` (%rd1) and `values`; %r1 holds the thread's value, %r9 its result."""
    return f"""{HEAD}{FUNCTIONS}
.visible .entry k(.param .u64 into, .param .u64 values)
{{
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<12>;
    .local .align 4 .b8 mine[4];
    ld.param.b64 %rd1, [into]; ld.param.b64 %rd2, [values];
    mov.u32 %r8, %tid.x; mul.wide.u32 %rd3, %r8, 4;
    add.s64 %rd2, %rd2, %rd3; add.s64 %rd1, %rd1, %rd3;
    ld.global.b32 %r1, [%rd2];
    {body}
    st.global.b32 [%rd1], %r9;
    ret;
}}
"""


CALL = "{{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), {}; ld.param.b32 %r9, [b]; }}"


def results(body: str, values: list[int], schedule: str = "lockstep") -> list[int]:
    given = np.array(values, np.int32)
    result, (into, _) = simulate(
        program(body), [np.zeros_like(given), given], block=len(values), schedule=schedule
    )
    assert result.error is None, result.error
    return [int(value) for value in into]


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def chain(n: int, above: list[int]) -> int:
    """The result of `chain`; a list of one number stands for the memory that the pointer refers to."""
    own = [n]
    above[0] += 100
    return n if n == 0 else chain(n - 1, own) * 3 + own[0]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_lane_has_its_own_depth(schedule: str) -> None:
    values = [3, 9, 0, 1, 7, 2, 11, 5] * 5
    assert results(CALL.format("fibonacci, (a)"), values, schedule) == [fibonacci(n) for n in values]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_call_has_local_variables_of_its_own(schedule: str) -> None:
    values = [4, 0, 6, 1, 13]
    body = """
    mov.b64 %rd4, mine; cvta.local.u64 %rd4, %rd4; st.local.b32 [mine], 5;
    { .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], %r1; st.param.b64 [b], %rd4;
      call.uni (c), chain, (a, b); ld.param.b32 %r2, [c]; }
    ld.local.b32 %r3, [mine]; mad.lo.s32 %r9, %r3, 1000000, %r2;"""
    want = []
    for n in values:
        mine = [5]
        total = chain(n, mine)
        want.append(mine[0] * 1000000 + total)
    assert results(body, values, schedule) == want


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_each_lane_calls_the_function_in_its_register(schedule: str) -> None:
    body = """
    and.b32 %r2, %r1, 1; mov.b64 %rd4, table; mul.wide.u32 %rd5, %r2, 8; add.s64 %rd4, %rd4, %rd5;
    ld.global.b64 %rd6, [%rd4];
    { .param .b64 f; .param .b32 a; .param .b32 b; st.param.b64 [f], %rd6; st.param.b32 [a], %r1;
      call.uni (b), twice, (f, a); ld.param.b32 %r9, [b]; }"""
    values = [2, 3, 4, 5, 10, 11]
    assert results(body, values, schedule) == [n**4 if n % 2 else 4 * n for n in values]


def test_a_predicated_call_is_made_by_some_lanes() -> None:
    body = "mov.b32 %r9, -1; setp.gt.s32 %p1, %r1, 3; { .param .b32 a; .param .b32 b; st.param.b32 [b], 8;"
    body += "st.param.b32 [a], %r1; @%p1 call (b), double, (a); ld.param.b32 %r9, [b]; }"
    assert results(body, [1, 5, 3, 9]) == [8, 10, 8, 18]


def test_endless_recursion_overflows_the_stack() -> None:
    given = np.full(4, 100000, np.int32)
    body = CALL.format("fibonacci, (a)")
    result, _ = simulate(program(body), [np.zeros_like(given), given], block=4)
    assert result.error is not None
    assert result.error.kind is FaultKind.ILLEGAL_ADDRESS
    assert "the calls of fibonacci are too deep" in result.error.what


def test_an_indirect_call_to_an_invalid_address_stops_the_kernel() -> None:
    body = "mov.b64 %rd4, 4096; form: .callprototype (.param .b32 _) _ (.param .b32 _);"
    given = np.zeros(4, np.int32)
    result, _ = simulate(program(body + CALL.format("%rd4, (a), form")), [given, given], block=4)
    assert result.error is not None
    assert result.error.kind is FaultKind.ILLEGAL_INSTRUCTION
    assert "0x1000, where there is no function with this prototype" in result.error.what


@pytest.mark.parametrize("call", ["nowhere, (a)", "double, (a, a)"])
def test_a_call_that_matches_no_function_is_rejected_when_the_module_is_loaded(call: str) -> None:
    given = np.zeros(4, np.int32)
    with pytest.raises(PtxError, match="cannot execute `call`"):
        simulate(program(CALL.format(call)), [given, given], block=4)


def test_lists_after_labels_are_read_and_printed() -> None:
    module = parse_module(program(CALL.format("double, (a)")))
    again = parse_module(print_module(module))
    prototypes = [s.prototype for s in again.functions["twice"].body if not hasattr(s, "opcode")]
    assert "(.param .b32 _) _ (.param .b32 _)" in prototypes


@pytest.mark.parametrize("split", ["JT: .branchtargets A, B;", "JT:\n\t.branchtargets\n\t\tA,\n\t\tB;"])
def test_a_jump_table_may_be_on_lines_of_its_own(split: str) -> None:
    body = f"""{split}
    and.b32 %r2, %r1, 1; brx.idx %r2, JT;
A: mov.b32 %r9, 10; bra.uni END;
B: mov.b32 %r9, 20;
END:"""
    assert results(body, [0, 1, 2, 3]) == [10, 20, 10, 20]


def test_a_parameter_that_is_declared_too_small_is_passed_whole() -> None:
    # LLVM's code for a SIMD[DType.bool, 4]: four bits are declared, four bytes are stored and loaded.
    text = (
        HEAD
        + """
        .func last(.param .align 16 .b8 few[1], .param .align 2 .b8 next[2], .param .b64 to)
        {
            .reg .b16 %rs<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>;
            ld.param::func.b32 %r1, [few];
            ld.param::func.b16 %rs1, [next];
            ld.param::func.b64 %rd1, [to];
            st.b32 [%rd1], %r1;
            cvt.u32.u16 %r2, %rs1;
            st.b32 [%rd1+4], %r2;
            ret;
        }
        .visible .entry k(.param .u64 .ptr .align 1 p0)
        {
            .reg .b64 %rd<2>; .reg .b16 %rs<2>;
            ld.param.b64 %rd1, [p0];
            mov.b16 %rs1, 77;
            { .param .align 16 .b8 param0[1]; .param .align 2 .b8 param1[2]; .param .b64 param2;
              st.param::func.b64 [param2], %rd1; st.param::func.b16 [param1], %rs1;
              st.param::func.b32 [param0], 16842753;
              call.uni last, (param0, param1, param2); }
            ret;
        }
        """
    )
    result, (after,) = simulate(text, [np.zeros(2, np.uint32)], block=1)
    assert result.error is None
    assert after.tolist() == [0x01010001, 77]
