"""What pages copy from elsewhere: runs, sessions and benchmarks of an H200, and the line of a breakpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.results_files import recorded_results

ROOT = Path(__file__).resolve().parents[1]
RECORDINGS = ROOT / "tests" / "data" / "h200"
RUNS = {"p09-first-case.txt": ("p09 --first-case skeleton", "book")}
BENCHMARKS = {
    "p21-benchmark.txt": "p21 --benchmark",
    "p22-benchmark.txt": "p22 --benchmark",
    "p23-benchmark.txt": "p23 --benchmark",
    "p23-benchmark-tile-tensor.txt": "p23_tile_tensor --benchmark",
    "p24-benchmark.txt": "p24_tile_tensor --benchmark",
    "p30-benchmark.txt": "p30 --benchmark",
    "p30-benchmark-unsolved.txt": "p30 --benchmark, unsolved",
    "p31-benchmark.txt": "p31 --benchmark",
    "p31-benchmark-unsolved.txt": "p31 --benchmark, unsolved",
    "p32-benchmark-unsolved.txt": "p32 --benchmark, unsolved",
    "p35-benchmark.txt": "p35_tile_tensor --benchmark",
}
EXCERPTS = {"gpu-coalescing.txt": "p30 --benchmark, unsolved"}
SESSIONS = {
    "p09-first-case-cuda-gdb.txt": "gdb-first-dbg",
    "p09-first-case-memcheck.txt": "p09-first-case-memcheck",
    "p09-launch-cuda-gdb.txt": "gdb-launch-dbg",
    "p09-second-case-cuda-gdb.txt": "gdb-second-dbg",
    "p09-third-case-synccheck.txt": "p09-third-case-synccheck",
    "p10-memory-bug-initcheck.txt": "p10-memory-bug-initcheck",
    "p10-memory-bug-memcheck.txt": "p10-memory-bug-memcheck",
    "p10-race-condition-racecheck.txt": "p10-race-condition-racecheck",
}
PROFILES = {"p30-ncu.txt": "p30-ncu"}
OMISSION = "…"
PROMPT = "(cuda-gdb) "
SUMMARIES = {
    "p09-first-case": ("11 errors", "0 hazards", "0 errors", "0 errors"),
    "p09-second-case": ("0 errors", "0 hazards", "0 errors", "0 errors"),
    "p09-third-case": ("0 errors", "0 hazards", "0 errors", "0 errors"),
    "p10-memory-bug": ("0 errors", "0 hazards", "4 errors", "0 errors"),
    "p10-race-condition": ("0 errors", "1 hazard", "0 errors", "0 errors"),
}
"""What memcheck, racecheck, initcheck and synccheck count, as the pages report it."""


def recorded() -> dict[str, Any]:
    sessions: dict[str, Any] = json.loads((RECORDINGS / "tools.json").read_text("utf-8"))["sessions"]
    return sessions


def shortened(line: str, recording: str) -> bool:
    """Whether `line` is a recorded line without trailing blanks, long names cut with an ellipsis."""
    return re.fullmatch(".+".join(map(re.escape, line.split(OMISSION))), recording.rstrip()) is not None


def check_shown(shown: str, session: dict[str, Any]) -> None:
    """Whole lines in their order; a line with an ellipsis alone for those left out.

    The commands of cuda-gdb were given with `-ex`; an excerpt shows each at a prompt, before its output.
    Settings (`set …`) print nothing and may be left out silently.
    """
    assert shown.endswith("\n")
    first, *lines = shown.splitlines()
    start, _, program = session["command"].partition(" --args ")
    name, *commands = start.split(" -ex ")
    assert first == "$ " + (f"{name} --args {program}" if program else name)
    output = session["output"]
    gap = False
    for line in lines:
        if line == OMISSION:
            assert not gap, "two omissions in a row"
            gap = True
            continue
        if line.startswith(PROMPT):
            at = commands.index(line.removeprefix(PROMPT))
            skipped = [each for each in commands[:at] if not each.startswith("set ")]
            assert gap or not skipped, f"`{line}`: {skipped} are left out without an omission"
            commands = commands[at + 1 :]
            continue
        at = next((i for i, each in enumerate(output) if shortened(line, each)), -1)
        assert at >= 0, f"not recorded here: {line}"
        assert gap == (at > 0), f"`{line}`: an omission is missing, or marked where nothing is left out"
        output = output[at + 1 :]
        gap = False
    assert gap == bool(output or commands)


def test_every_part_has_a_run() -> None:
    assert {path.name for path in (RECORDINGS / "shown").iterdir()} == {
        *RUNS,
        *BENCHMARKS,
        *EXCERPTS,
        *SESSIONS,
        *PROFILES,
    }


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_is_shown_in_whole_lines(name: str) -> None:
    check_shown((RECORDINGS / "shown" / name).read_text("utf-8"), recorded()[SESSIONS[name]])


@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        ("$ cuda-gdb --args ./p\n(cuda-gdb) run\none\nthree\n(cuda-gdb) bt\n", "an omission is missing"),
        ("$ cuda-gdb --args ./p\n(cuda-gdb) run\n…\none\ntwo\nthree\n(cuda-gdb) bt\n", "nothing is left out"),
        ("$ cuda-gdb --args ./p\n(cuda-gdb) run\none\n2\n…\n", "not recorded here: 2"),
        ("$ cuda-gdb --args ./p\n(cuda-gdb) bt\none\n…\n", "left out without an omission"),
        ("$ cuda-gdb --args ./p\n(cuda-gdb) run\none\n…\n…\n", "two omissions in a row"),
        ("$ cuda-gdb --args ./p\n(cuda-gdb) run\none\n", "assert False == True"),
        ("$ cuda-gdb --args ./q\n(cuda-gdb) run\none\n…\n", "--args ./q"),
    ],
)
def test_a_changed_session_is_noticed(shown: str, reason: str) -> None:
    session = {"command": "cuda-gdb -ex set x -ex run -ex bt --args ./p", "output": ["one", "two", "three"]}
    check_shown("$ cuda-gdb --args ./p\n(cuda-gdb) run\none\n…\nth…e\n(cuda-gdb) bt\n", session)
    with pytest.raises(AssertionError, match=re.escape(reason)):
        check_shown(shown, session)


def test_the_tools_count_what_the_pages_say() -> None:
    sessions = recorded()
    summaries = {
        program: tuple(
            re.findall(r"SUMMARY: (\d+ \w+)", "\n".join(sessions[f"{program}-{tool}"]["output"]))[0]
            for tool in ("memcheck", "racecheck", "initcheck", "synccheck")
        )
        for program in SUMMARIES
    }
    assert summaries == SUMMARIES


def test_the_sessions_are_of_the_programs_as_they_are() -> None:
    """cuda-gdb prints the line where it stops, compute-sanitizer the line's number."""
    programs = {
        name: (ROOT / "problems" / name / f"{name}.mojo").read_text("utf-8").splitlines()
        for name in ("p09", "p10")
    }
    stops = [
        found.groups()
        for name, session in recorded().items()
        if name.startswith("gdb-")
        for line in session["output"]
        if (found := re.fullmatch(r"(\d+)\t(.*)", line))
    ]
    assert {int(number) for number, _ in stops} == {20, 52, 54, 60, 65, 125, 126}
    assert [programs["p09"][int(number) - 1] for number, _ in stops] == [text for _, text in stops]
    assert programs["p10"][22].strip() == "output[row, col] = a[row, col] + 10"
    assert programs["p10"][42].strip() == "shared_sum[0] += a[row, col]"


def test_what_the_build_without_debug_information_shows() -> None:
    """As the pages say it: no stop in the kernel of the first case, and no variables in the second."""
    sessions = recorded()
    first = sessions["gdb-first-opt"]["output"]
    assert not [line for line in first if "CUDA Exception" in line or "received signal" in line]
    assert [line for line in first if "returned CUDA_ERROR_MISALIGNED_ADDRESS" in line]
    second = sessions["gdb-second-opt"]["output"]
    assert second[-2:] == ["60\t            total += input[position]", "No locals."]
    assert second[-3].endswith("<<<(1,1,1),(4,1,1)>>> () at problems/p09/p09.mojo:60")


def test_where_the_reads_past_the_buffer_go() -> None:
    """The addresses that initcheck reports are inside the allocation that memcheck reports in p09."""
    sessions = recorded()
    found = re.search(
        r"nearest allocation at (0x\w+) of size ([\d,]+) bytes",
        "\n".join(sessions["p09-first-case-memcheck"]["output"]),
    )
    assert found
    start, size = int(found[1], 16), int(found[2].replace(",", ""))
    assert size == 256 * 1024**2
    addresses = re.findall(r"Address (0x\w+)", "\n".join(sessions["p10-memory-bug-initcheck"]["output"]))
    assert [int(each, 16) - start for each in addresses] == [0x210, 0x210, 0x214, 0x218]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_is_shown_as_it_was_recorded(name: str) -> None:
    recorded = json.loads((RECORDINGS / "benchmarks.json").read_text("utf-8"))
    tables = recorded["programs"] | recorded["graphs"]
    assert (RECORDINGS / "shown" / name).read_text("utf-8").splitlines() == tables[BENCHMARKS[name]]


@pytest.mark.parametrize("name", EXCERPTS)
def test_a_table_is_shown_in_whole_lines_with_its_heading(name: str) -> None:
    recorded = json.loads((RECORDINGS / "benchmarks.json").read_text("utf-8"))["programs"][EXCERPTS[name]]
    shown = (RECORDINGS / "shown" / name).read_text("utf-8").splitlines()
    assert shown[0] == recorded[1]
    assert [line for line in recorded if line in shown] == shown


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_shown_in_lines_that_follow_each_other(name: str) -> None:
    shown = (RECORDINGS / "shown" / name).read_text("utf-8")
    assert f"\n{shown}" in "\n".join(["", *recorded()[PROFILES[name]]["output"], ""])


@pytest.mark.parametrize("name", RUNS)
def test_lines_are_those_that_the_run_began_with(name: str) -> None:
    """Whole lines: all of stdout, then the first lines of stderr."""
    results = recorded_results()["results"]
    (run,) = (each for each in results if (each["id"], each["dataset"]) == RUNS[name])
    shown = (RECORDINGS / "shown" / name).read_text("utf-8")
    assert shown.startswith(run["stdout"])
    assert shown != run["stdout"]
    assert (run["stdout"] + run["stderr"]).startswith(shown)
    assert shown.endswith("\n")


@pytest.mark.parametrize("folder", ["book/src", "i18n/ko/book/src"])
def test_the_breakpoint_is_at_the_line_that_adds(folder: str) -> None:
    """In the problem file: `break p09.mojo:60`, as the pages of puzzle 9 say."""
    page = (ROOT / folder / "puzzle_09" / "second_case.md").read_text("utf-8")
    (line,) = re.findall(r"`break p09\.mojo:(\d+)`", page)
    program = (ROOT / "problems" / "p09" / "p09.mojo").read_text("utf-8").splitlines()
    assert program[int(line) - 1].strip() == "total += input[position]"
