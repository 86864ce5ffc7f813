"""Findings as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tooling.simulator.checks import texts
from tooling.simulator.checks.findings import (
    Action,
    Buffer,
    Check,
    Finding,
    Kind,
    Memory,
    Party,
    Severity,
    SourcePosition,
    explain,
    merged,
    render,
)
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.text import languages


def race(kind: Kind = Kind.READ_AFTER_WRITE, block: int = 0) -> Finding:
    reader = Party(Action.READ, (2, 0, 0), (0, 1, 0), 0, 2, SourcePosition("p15.mojo", 31, 20, 88))
    writer = Party(Action.WRITE, (3, 0, 0), (block, 1, 0), 0, 3, SourcePosition("p15.mojo", 30, 9, 85))
    buffer = Buffer(Memory.SHARED, 32, element=4)
    return Finding(
        Check.RACES, kind, Severity.ERROR, "axis_sum", (reader, writer), buffer, offset=12, size=4, count=4
    )


def test_a_race_reads_like_this() -> None:
    assert render(race()) == (
        "error: [races] race on shared memory: a thread reads what another thread has just written, "
        "unordered\n"
        "  where: p15.mojo:31:20: thread (2, 0, 0) of block (0, 1, 0) reads\n"
        "         p15.mojo:30:9: thread (3, 0, 0) of block (0, 1, 0) writes\n"
        "         found 4 times in axis_sum\n"
        "  why: Nothing makes the write at p15.mojo:30:9 happen before the read at p15.mojo:31:20: on "
        "hardware the read may see the old value.\n"
        "  try: Put `barrier()` (or `syncwarp()`, as both threads are in one warp) between the two lines, "
        "where every thread passes it."
    )


def test_the_same_in_korean() -> None:
    assert render(race(), "ko") == (
        "오류: [races] 공유 메모리의 경쟁 상태: "
        "다른 스레드가 방금 쓴 값을 순서 보장 없이 읽습니다\n"
        "  위치: p15.mojo:31:20: 블록 (0, 1, 0)의 스레드 (2, 0, 0): 읽기\n"
        "        p15.mojo:30:9: 블록 (0, 1, 0)의 스레드 (3, 0, 0): 쓰기\n"
        "        axis_sum에서 모두 4회 발견\n"
        "  이유: p15.mojo:30:9의 쓰기가 p15.mojo:31:20의 읽기보다 먼저 일어난다는 보장이 없습니다. 실제 "
        "하드웨어에서는 이전 값을 읽을 수 있습니다.\n"
        "  해 볼 것: 두 줄 사이에서 모든 스레드가 지나는 곳에 `barrier()`를 둡니다(두 스레드가 한 워프에 "
        "있으므로 `syncwarp()`도 됩니다)."
    )


@pytest.mark.parametrize(
    ("count", "english", "korean"),
    [
        (1, "reads", "블록 (0, 1, 0)의 스레드 (2, 0, 0): 읽기"),
        (2, "reads, and 1 more", "블록 (0, 1, 0)의 스레드 (2, 0, 0) 외 1개: 읽기"),
        (32, "reads, and 31 more", "블록 (0, 1, 0)의 스레드 (2, 0, 0) 외 31개: 읽기"),
    ],
)
def test_the_thread_that_is_named_is_not_counted_among_the_others(
    count: int, english: str, korean: str
) -> None:
    reader, writer = race().parties
    finding = replace(race(), parties=(replace(reader, count=count), writer), count=1)
    assert explain(finding).where == (
        f"p15.mojo:31:20: thread (2, 0, 0) of block (0, 1, 0) {english}",
        "p15.mojo:30:9: thread (3, 0, 0) of block (0, 1, 0) writes",
    )
    assert explain(finding, "ko").where == (
        f"p15.mojo:31:20: {korean}",
        "p15.mojo:30:9: 블록 (0, 1, 0)의 스레드 (3, 0, 0): 쓰기",
    )


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (Kind.WRITE_AFTER_READ, "split the line"),
        (Kind.READ_AFTER_WRITE, "`barrier()` at the end of each iteration"),
    ],
)
def test_a_race_within_one_line_has_the_hint_to_split_it_or_its_steps(kind: Kind, advice: str) -> None:
    finding = replace(race(), kind=kind)
    both = tuple(
        replace(party, position=SourcePosition("/far/away/p15.mojo", 49, 18, 90)) for party in finding.parties
    )
    message = explain(replace(finding, parties=both))
    assert message.hint.startswith("Both happen in one line")
    assert advice in message.hint
    assert "at p15.mojo:49:18" in message.why
    assert message.where[0].startswith("/far/away/p15.mojo:49:18")


def test_a_race_between_blocks_has_no_hint_to_use_a_barrier() -> None:
    finding = replace(race(block=1), buffer=Buffer(Memory.GLOBAL, 32, element=4))
    assert "No barrier orders two blocks" in explain(finding).hint


@pytest.mark.parametrize(
    ("blocks", "advice"),
    [
        ((0, 0), "Let one thread write (`if thread_idx.x == 0:`)"),
        ((0, 1), "The threads belong to different blocks: let each block write an element of its own"),
    ],
)
def test_blocks_that_write_one_element_are_not_told_to_let_one_thread_write(
    blocks: tuple[int, int], advice: str
) -> None:
    one, two = (
        Party(Action.WRITE, (0, 0, 0), (block, 0, 0), 0, 0, SourcePosition("p15.mojo", 31, 20, 88))
        for block in blocks
    )
    buffer = Buffer(Memory.GLOBAL, 32, element=4)
    found = replace(race(Kind.SAME_INSTRUCTION), parties=(one, two), buffer=buffer)
    assert explain(found).hint.startswith(advice)


@pytest.mark.parametrize(
    ("block", "thread", "element", "all_blocks"),
    [
        ((1, 0, 0), 0, 4, True),  # the index in the grid, of blocks of 4 threads
        ((2, 0, 0), 3, 11, True),
        ((1, 0, 0), 3, 4, False),  # `local_i + 1`
        ((1, 0, 0), 0, 8, False),  # blocks of 8 threads: larger than the array
        ((0, 0, 0), 4, 4, False),  # more threads than elements
        ((0, 1, 0), 0, 4, False),
    ],
)
def test_the_index_of_all_blocks_in_a_shared_array_has_the_hint_to_use_that_of_the_block(
    block: tuple[int, int, int], thread: int, element: int, all_blocks: bool
) -> None:
    party = Party(Action.WRITE, (thread, 0, 0), block, 0, thread, SourcePosition("p08.mojo", 9, 5, 88))
    buffer = Buffer(Memory.SHARED, 16, element=4)
    found = replace(race(Kind.OUTSIDE_SHARED), parties=(party,), buffer=buffer, offset=4 * element)
    hint = explain(found).hint
    assert ("in the puzzles `local_i`" in hint) is all_blocks
    assert ("Allocate as many elements" in hint) is not all_blocks


def test_blocks_that_race_on_shared_memory_are_of_one_cluster() -> None:
    assert explain(race(block=1)).hint.startswith("Put `cluster_sync()` between the two lines")


@pytest.mark.parametrize(
    ("language", "advice", "wrong"),
    [("en", "Put `cluster_sync()`", "No barrier"), ("ko", "`cluster_sync()`를 둡니다", "배리어는 없습니다")],
)
def test_a_race_of_blocks_of_one_cluster_on_global_memory_has_the_hint_of_its_barrier(
    language: str, advice: str, wrong: str
) -> None:
    finding = replace(race(block=1), buffer=Buffer(Memory.GLOBAL, 32, element=4))
    assert wrong in explain(finding, language).hint
    hint = explain(replace(finding, one_cluster=True), language).hint
    assert advice in hint
    assert wrong not in hint


@pytest.mark.parametrize(
    ("language", "advice"),
    [
        ("en", "call `async_copy_wait_all()` and then `barrier()` between the copy and the access"),
        ("ko", "`async_copy_wait_all()`을 호출한 다음 `barrier()`를 호출합니다"),
    ],
)
def test_a_race_with_a_finished_asynchronous_copy_has_the_hint_to_wait_before_the_barrier(
    language: str, advice: str
) -> None:
    reader, writer = race().parties
    copy = replace(writer, action=Action.ASYNC_COPY)
    assert advice in explain(replace(race(), parties=(reader, copy)), language).hint
    # A copy that comes later is ordered by a barrier before it: there is nothing to wait for yet.
    later = replace(race(Kind.WRITE_AFTER_READ), parties=(copy, reader))
    assert "async_copy_wait_all" not in explain(later, language).hint


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_has_four_answers_in_every_language(kind: Kind, language: str) -> None:
    message = explain(race(kind), language)
    assert message.what and message.where and message.why and message.hint
    assert "{" not in message.what + message.why + message.hint
    assert set(Action) == set(texts.ACTIONS) == set(texts.ACCESSES)


def test_a_finding_is_plain_json() -> None:
    plain = json.loads(json.dumps(race().to_json()))
    assert plain["kind"] == "read-after-write"
    assert plain["parties"][1]["place"] == {"file": "p15.mojo", "line": 30, "column": 9, "code_line": 85}


def test_masks_are_rendered_as_lanes() -> None:
    missing = Finding(
        Check.SYNCHRONISATION,
        Kind.MISSING_LANE,
        Severity.ERROR,
        "k",
        race().parties[:1],
        expected=0xFFFFFFFF,
        arrived=0x0000FFF7,
    )
    assert "expects lanes 0xffffffff, but lanes 3, 16-31 do not take part" in explain(missing).what


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("p15_axis_sum_LayoutTensor_True6A6AoA6A6AcBsA_568de488e22ada17", "axis_sum"),
        ("elementwise_r1_w4_b256_gs_False_0123456789abcdef", "elementwise_r1_w4_b256_gs"),
        ("p15_scalar_kernel6A6AoA6A6A_50d412f3cb7f14b4", "scalar_kernel"),
        ("plain_kernel", "plain_kernel"),
        ("mojo_pkg_c80e6d1ee00c8beccc08175_7aa02e41a02c12e4", "mojo_pkg:7aa02e41"),
    ],
)
def test_kernels_are_called_what_their_author_called_them(name: str, shown: str) -> None:
    assert readable_kernel(name, ["/home/me/p15.mojo"]) == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("def single_block_matmul(\n):\n    pass\n", "single_block_matmul"),
        ("def single_block_matmul():\n    pass\ndef single_block_map():\n    pass\n", "single_block_ma"),
        ("def single_block_ma():\n    pass\n", "single_block_ma"),
        ("def matmul():\n    pass\n", "single_block_ma"),
    ],
)
def test_a_truncated_name_is_completed_from_the_source(tmp_path: Path, source: str, shown: str) -> None:
    file = tmp_path / "p16.mojo"
    file.write_text(source, encoding="utf-8")
    name = "p16_single_block_ma6A6AoA6A6A_50d412f3cb7f14b4"
    assert readable_kernel(name, [str(tmp_path / "missing.mojo"), str(file)]) == shown


@pytest.mark.parametrize(
    ("file", "symbol", "source", "shown"),
    [
        (
            "f2_one_thread_adds_in_a_loop",
            "f2_one_thread_adds_in_a_loop_on6A6A",
            "one_thread_sum",
            "one_thread_sum",
        ),
        ("d01_warp_tree", "d01_warp_tree_rows6A6AoA", "rows", "rows"),
        ("a_file_whose_name_is_longer_than_it", "a_file_whose_name_is_longer_tha6A6A", "scale", "scale"),
        ("gone", "other_file_on6A6A", "", "other_file_on"),
    ],
)
def test_a_long_file_name_leaves_little_of_the_kernel_s(
    tmp_path: Path, file: str, symbol: str, source: str, shown: str
) -> None:
    path = tmp_path / f"{file}.mojo"
    if source:
        path.write_text(f"def {source}():\n    pass\n\n\ndef main():\n    pass\n", encoding="utf-8")
    assert readable_kernel(f"{symbol}_a9aa2c733df5ae79", [str(path)]) == shown


def test_findings_that_differ_only_in_the_instruction_are_one() -> None:
    """An unrolled loop repeats its lines; another line, thread's action or call is another finding."""
    one = race()
    reader, writer = one.parties
    copies = [
        replace(one, parties=(replace(reader, position=replace(reader.position, code_line=n)), writer))
        for n in range(100)
    ]
    elsewhere = replace(one, parties=(replace(reader, position=replace(reader.position, line=40)), writer))
    call = SourcePosition("p15.mojo", 60, 1, 9)
    called = replace(one, parties=(replace(reader, callers=(call,)), writer))
    unknown = [
        replace(one, parties=(replace(reader, position=SourcePosition("", 0, 0, n)), writer)) for n in (1, 2)
    ]
    assert merged([*copies, elsewhere, called, *unknown]) == [
        replace(copies[0], count=400),
        elsewhere,
        called,
        *unknown,
    ]


def test_the_calls_of_an_inlined_function_follow_its_line() -> None:
    call = SourcePosition("p15.mojo", 60, 1, 9)
    reader, writer = race().parties
    finding = replace(race(), parties=(replace(reader, callers=(call,)), writer), count=1)
    assert explain(finding).where == (
        "p15.mojo:31:20: thread (2, 0, 0) of block (0, 1, 0) reads",
        "p15.mojo:60:1: calls that function",
        "p15.mojo:30:9: thread (3, 0, 0) of block (0, 1, 0) writes",
    )
    assert [party.get("callers") for party in finding.to_json()["parties"]] == [
        ({"file": "p15.mojo", "line": 60, "column": 1, "code_line": 9},),
        None,
    ]
