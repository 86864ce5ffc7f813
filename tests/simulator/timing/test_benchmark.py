"""The table of a benchmark on the simulated GPU: no time without the word `estimated`."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from tests.simulator.timing.launches import COPY, launched
from tooling.simulator.timing.benchmark import benchmark_of, document_of_benchmark, show_benchmark
from tooling.simulator.timing.profiler import TimedLaunch

WAITS = "WAIT: ld.acquire.gpu.global.b32 %r5, [%rd1];\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra WAIT;\nret;"
OUTPUT = (
    "Times need a real GPU\nran: copy elements: 2048\nran: tail, [2] elements: 32\nran: waits elements: 7\n"
)


@pytest.fixture(scope="module")
def launches() -> list[TimedLaunch]:
    return [launched(COPY, grid=8, block=256), launched(COPY), launched(WAITS)]


def shown(output: str, launches: list[TimedLaunch], language: str = "en") -> list[str]:
    stream = io.StringIO()
    show_benchmark(
        benchmark_of(output, launches, "h200"), Console(file=stream, width=100, color_system=None), language
    )
    return [line.strip() for line in stream.getvalue().splitlines() if line.strip()]


def test_each_row_has_the_range_of_its_launch(launches: list[TimedLaunch]) -> None:
    head, *rows = shown(OUTPUT, launches)
    assert re.split(" {2,}", head) == ["kernel", "elements", "time on an H200", "largest share"]
    for row, name in zip(rows, (r"copy +2,048", r"tail, \[2\] +32"), strict=False):
        assert re.fullmatch(rf"{name} +estimated \d\.\d to \d\.\d µs +the launch itself, \d\d%", row), row
    assert re.fullmatch(r"waits +7 +not estimated", rows[2])


def test_the_table_in_korean(launches: list[TimedLaunch]) -> None:
    head, first, _, last = shown(OUTPUT, launches, "ko")
    assert re.split(" {2,}", head)[2:] == ["H200에서의 시간", "가장 큰 비중"]
    assert re.fullmatch(r"copy +2,048 +추정 \d\.\d~\d\.\d µs +커널 실행 자체, \d\d%", first)
    assert last.endswith("추정하지 않음")


def test_the_error_of_a_sample_is_a_column() -> None:
    loop = (
        "shr.u32 %r7, %r2, 3;\nadd.s32 %r7, %r7, 500;\nmov.u32 %r8, 0;\nLOOP: add.s32 %r8, %r8, 1;\n"
        "setp.lt.s32 %p1, %r8, %r7;\n@%p1 bra LOOP;\nret;"
    )
    sampled = [launched(loop, grid=1000, block=256, sampled=True), launched(COPY, sampled=True)]
    head, *rows = shown("ran: loop elements: 256000\nran: copy elements: 32\n", sampled)
    assert re.split(" {2,}", head)[3:] == ["largest share", "error of the sample"]
    assert re.search(r"issue of instructions, \d+% +±\d\.\d%$", rows[0]), rows[0]
    assert rows[1].endswith("%") and "±" not in rows[1]


def test_the_document_has_null_for_what_is_not_estimated(launches: list[TimedLaunch]) -> None:
    document = document_of_benchmark(benchmark_of(OUTPUT, launches, "h200"), "h200")
    assert [row["kernel"] for row in document] == ["copy", "tail, [2]", "waits"]
    assert isinstance(document[0]["estimated_microseconds"], list)
    assert document[2]["estimated_microseconds"] is None


@pytest.mark.parametrize("output", ["", "ran: copy elements: 2048\n", OUTPUT + "ran: more elements: 1\n"])
def test_no_table_if_rows_and_launches_do_not_correspond(output: str, launches: list[TimedLaunch]) -> None:
    assert shown(output, launches) == []


def test_no_table_without_any_estimate(launches: list[TimedLaunch]) -> None:
    assert shown("ran: waits elements: 7\n", launches[2:]) == []
