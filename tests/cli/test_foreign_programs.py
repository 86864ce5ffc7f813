"""`tooling simulate` and `tooling profile` on programs that belong to no puzzle."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.cli.conftest import REPOSITORY
from tests.machine import needs_simulated_gpu
from tooling.cli.simulate_command import show_run
from tooling.execution.program import Ending, Transcript
from tooling.platform.exit_codes import ExitCode
from tooling.reports.terminal import Terminal
from tooling.simulator.checks.findings import (
    Action,
    Check,
    Finding,
    Kind,
    Party,
    Severity,
    SourcePosition,
)
from tooling.simulator.checks.suppressions import SuppressionsUnusable, read_suppressions, suppress
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.target_run import TargetRun
from tooling.targets.executables import OtherAccelerator, accelerators_of, require_code_for
from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache

PROGRAM = Path(__file__).parent / "two_kernels.mojo"


def tooling(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    hidden = ("PUZZLE_TARGET", "UV", "POE_ACTIVE", "PIXI_ENVIRONMENT_NAME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [sys.executable, "-m", "tooling", *map(str, arguments)],
        cwd=REPOSITORY,
        env={**environment, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module that the program imports; its path is stable, so that the build is found."""
    folder = open_cache().root / "tests" / "sizes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sizes.mojo").write_text("comptime SIZE = 4\n")
    return folder


@pytest.mark.mojo
@needs_simulated_gpu
@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ((), ExitCode.WRONG, "found 4 times in second"),
        (("--kernel-name", "first"), ExitCode.PASSED, "3 launches, 0 findings"),
        (("--kernel-name", "second", "--launch-skip", "1"), ExitCode.WRONG, "found 2 times in second"),
        (("--launch-count", "1"), ExitCode.PASSED, "3 launches, 0 findings"),
        (("--kernel-name", "third"), ExitCode.USAGE, "there were: first, second"),
    ],
)
def test_defines_includes_and_a_choice_of_launches(
    sizes: Path, options: tuple[str, ...], status: ExitCode, said: str
) -> None:
    below = os.path.relpath(sizes, REPOSITORY)
    result = tooling("simulate", *options, "-D", "BEYOND=2", "-I", below, "--", PROGRAM)
    assert result.returncode == status, result.stdout + result.stderr
    assert said in result.stdout + result.stderr


@pytest.mark.mojo
@needs_simulated_gpu
def test_a_profile_of_a_failing_program_says_so_and_can_be_compared(sizes: Path, tmp_path: Path) -> None:
    common = ("-D", "BEYOND=2", "-I", os.path.relpath(sizes, REPOSITORY))
    earlier, table, page = tmp_path / "earlier.json", tmp_path / "metrics.csv", tmp_path / "page.html"
    first = tooling("profile", PROGRAM, *common, "--json", earlier, "--csv", table, "--html", page, "--ptx")
    assert f"2 memory errors, at which the accesses were left out: `tooling simulate -- {PROGRAM}`" in (
        first.stdout.replace("4 memory", "2 memory").replace("1 memory", "2 memory")
    )
    assert "memory errors" in page.read_text("utf-8")
    assert "PTX:" in first.stdout
    assert "st.global" in first.stdout
    assert "global loads" in first.stdout.replace("\n", " ") or "loads" in first.stdout
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    stores = [row for row in rows if row["Metric Name"] == "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"]
    assert [(row["Kernel Name"], row["Block Size"], row["Metric Value"]) for row in stores] == [
        ("first", "(4, 1, 1)", "1"),
        ("second", "(4, 1, 1)", "2"),
    ]
    second = tooling(
        "profile", PROGRAM, *common, "--baseline", earlier, "--kernel-name", "second", "--launch-count", "1"
    )
    assert (
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum  2       1  -50.0%"
        in " ".join(second.stdout.split(" "))
        or "-50.0%" in second.stdout
    )
    assert f"only in {earlier}: first" in second.stdout


@pytest.mark.slow
@pytest.mark.mojo
@needs_simulated_gpu
def test_an_executable_without_line_tables_is_explained(sizes: Path) -> None:
    request = BuildRequest(
        PROGRAM, accelerator="sm_90a", includes=(sizes,), defines=("BEYOND=2",), line_tables=False
    )
    executable = build(request, find_toolchain(), open_cache()).path
    result = tooling("simulate", "--", executable)
    assert result.returncode == ExitCode.WRONG, result.stdout + result.stderr
    assert "PTX:" in result.stdout
    assert "`mojo build --debug-level line-tables`" in result.stdout
    profiled = tooling("profile", executable)
    assert "second" in profiled.stdout
    refused = tooling("simulate", "-D", "X=1", "--", executable)
    assert refused.returncode == ExitCode.USAGE
    assert "-D and -I have no effect" in refused.stderr


@pytest.mark.parametrize(
    ("content", "accelerators", "runs"),
    [
        (b"\x7fELF..target sm_90a,", ("sm_90a",), True),
        (b"\x7fELF..target sm_80\n", ("sm_80",), True),
        (b"\x7fELF..target sm_100a\n", ("sm_100a",), False),
        (b"\x7fELF gfx942 amdgcn", ("gfx942",), False),
        (b"\x7fELF gfx942 .target sm_90a\n", ("gfx942", "sm_90a"), True),
        (b"\x7fELF", (), True),
        (b"", (), True),
        (b"#!/bin/sh\n# .target sm_100a\n", (), True),
    ],
)
def test_an_executable_for_another_gpu_is_refused(
    tmp_path: Path, content: bytes, accelerators: tuple[str, ...], runs: bool
) -> None:
    program = tmp_path / "program"
    program.write_bytes(content)
    assert accelerators_of(program) == accelerators
    if runs:
        require_code_for(program, "sm_90a")
        return
    with pytest.raises(OtherAccelerator) as caught:
        require_code_for(program, "sm_90a")
    assert (
        caught.value.what
        == f"`program` was built for {accelerators[0]}, and the simulated GPU is of the kind sm_90a"
    )
    assert caught.value.exit_code is ExitCode.NOT_POSSIBLE


@pytest.mark.parametrize("gpu", ["gfx942", "gfx1100"])
def test_an_executable_for_amd_runs_on_the_simulated_amd_gpu(tmp_path: Path, gpu: str) -> None:
    program = tmp_path / "program"
    program.write_bytes(f"\x7fELF {gpu} amdgcn".encode())
    require_code_for(program, gpu)
    with pytest.raises(OtherAccelerator) as caught:
        require_code_for(program, "sm_90a")
    hint = f"simulate the GPU that it was built for: `tooling simulate --gpu {gpu} -- …`"
    assert caught.value.hint == hint
    program.write_bytes(b"\x7fELF .target sm_90a")
    with pytest.raises(OtherAccelerator):
        require_code_for(program, gpu)


def test_launches_are_selected_by_name_and_number() -> None:
    names = ["a", "b", "ab", "a"]
    for selection, numbers in (
        (LaunchSelection(), [0, 1, 2, 3]),
        (LaunchSelection("a"), [0, 2, 3]),
        (LaunchSelection("a", 1), [2, 3]),
        (LaunchSelection("a", 1, 1), [2]),
        (LaunchSelection("c"), []),
    ):
        assert selection.numbers(names) == numbers
        earlier = 0
        wanted = []
        for index, name in enumerate(names):
            if selection.wants(name, earlier):
                wanted.append(index)
            earlier += selection.kernel in name
        assert wanted == numbers


RACE = Finding(
    Check.RACES,
    Kind.WRITE_AFTER_READ,
    Severity.ERROR,
    "histogram",
    (Party(Action.WRITE, (0, 0, 0), (0, 0, 0), 0, 0, SourcePosition("/w/histogram.mojo", 41, 3, 7)),),
)


@pytest.mark.parametrize(
    ("entry", "matches"),
    [
        ('check = "races"', True),
        ('check = "memory"', False),
        ('kind = "write-after-read"\nkernel = "histo"', True),
        ('kernel = "other"', False),
        ('file = "histogram.mojo"', True),
        ('file = "histogram.mojo:41"', True),
        ('file = "histogram.mojo:4"', False),
    ],
)
def test_a_suppression_accepts_what_it_names(tmp_path: Path, entry: str, matches: bool) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text(f'[[suppress]]\n{entry}\nreason = "known"\n')
    kept, notes = suppress([RACE], read_suppressions(path), path)
    assert kept == ([] if matches else [RACE])
    shown = [note.render("en") for note in notes]
    assert shown == ([] if matches else [f"entry 1 of {path} matches no finding (known): remove it"])


@pytest.mark.parametrize(
    "text",
    [
        "[[suppress",
        "[[suppress]]\n",
        '[[suppress]]\nreason = "all"\n',
        '[[suppress]]\nreason = "r"\nchek = "races"\n',
    ],
)
def test_suppressions_that_are_not_valid_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "accepted.toml"
    path.write_text(text)
    with pytest.raises(SuppressionsUnusable):
        read_suppressions(path)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "note: the order of the host and the GPU was not checked"),
        ("ko", "호스트와 GPU의 순서(스트림, 이벤트, 복사가 아직 쓰는 메모리)는 검사하지 않았습니다"),
    ],
)
def test_a_program_whose_host_cannot_be_checked_is_told_so(language: str, said: str) -> None:
    for unchecked in (True, False):
        run = TargetRun(Transcript("", "", Ending.EXITED, 0, 0.1), launches=1, order_unchecked=unchecked)
        shown = io.StringIO()
        show_run(run, (), (), Terminal(shown, colour=False, width=None), language)
        assert (said in shown.getvalue()) is unchecked


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "note: 108 launches repeat an earlier one on unchanged data, and were not simulated again"),
        ("ko", "참고: 커널 실행 108회는 바뀌지 않은 데이터로 앞선 실행을 되풀이하므로"),
    ],
)
def test_a_benchmark_is_told_that_times_are_not_those_of_a_gpu(language: str, said: str) -> None:
    asked = "simulated GPU: the program asks for times: a simulation has none, and answers with an hour\n"
    run = TargetRun(Transcript("", asked, Ending.EXITED, 0, 0.1), launches=110, repeated=108)
    shown = io.StringIO()
    show_run(run, (), (), Terminal(shown, colour=False, width=None), language)
    assert said in shown.getvalue()
    assert "-t" in shown.getvalue()  # the argument with which Mojo's Bench runs each kernel once


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "note: the last bits of these results may differ on a real GPU: `tanh.approx.f32`\n"),
        (
            "ko",
            "참고: 실제 GPU에서는 다음 명령의 결과가 마지막 비트에서 다를 수 있습니다: `tanh.approx.f32`\n",
        ),
    ],
)
def test_instructions_whose_last_bits_may_differ_are_named_on_request(language: str, said: str) -> None:
    used = TargetRun(Transcript("", "", Ending.EXITED, 0, 0.1), launches=1, estimates=("tanh.approx.f32",))
    for run, verbose in ((used, True), (used, False), (replace(used, estimates=()), True)):
        shown = io.StringIO()
        show_run(run, (), (), Terminal(shown, colour=False, width=None), language, verbose=verbose)
        assert shown.getvalue() == (said if run.estimates and verbose else "")


MORE = "  and 7 more findings of this kind (--all-findings shows them)"


@pytest.mark.parametrize(
    ("most", "printed", "more"), [(None, 10, []), (3, 3, [MORE]), (10, 10, [])], ids=["all", "few", "enough"]
)
def test_a_few_findings_of_each_kind_are_printed(most: int | None, printed: int, more: list[str]) -> None:
    (writer,) = RACE.parties
    findings = [
        replace(RACE, parties=(replace(writer, position=replace(writer.position, line=100 + n)),))
        for n in range(10)
    ]
    run = TargetRun(Transcript("", "", Ending.EXITED, 0, 0.1), launches=1)
    shown = io.StringIO()
    show_run(run, findings, findings, Terminal(shown, colour=False, width=None), "en", most)
    text = shown.getvalue().splitlines()
    assert sum(line.startswith("error:") for line in text) == printed
    assert [line for line in text if "more finding" in line] == more
