"""The tables of puzzles 47 and 48 have the times that were recorded on two H200 (`data/h200/two_gpus`)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDED = ROOT / "tests" / "data" / "h200" / "two_gpus"
SOURCES = ("book/src", "i18n/ko/book/src")


def numbers(page: str, row: str) -> list[str]:
    """The numbers in the row of a table that begins with one of these words."""
    (line,) = re.findall(rf"^\| (?:{row}) \|(.*)\|$", page, re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


def times(file: str) -> dict[str, list[str]]:
    """By what was measured: the best time, and the bus bandwidth if there is one."""
    text = (RECORDED / file).read_text("utf-8")
    found = re.findall(
        r"^(.+?);? us.*best and worst of 3: (\S+) \S+(?: bus GB/s: (\S+))?$", text, re.MULTILINE
    )
    return {name.removesuffix(" bytes"): [each for each in values if each] for name, *values in found}


@pytest.mark.parametrize("folder", SOURCES)
def test_the_times_of_a_step_are_those_recorded(folder: str) -> None:
    page = (ROOT / folder / "puzzle_47" / "puzzle_47.md").read_text("utf-8")
    recorded = times("p47-1.txt")
    alone = float(recorded["interior alone"][0])
    rows = {
        "interior alone": "interior alone, no border rows|경계 행 없이 내부만",
        "copies": "copies|복사",
        "peer reads": "peer reads|피어 읽기",
        "overlapped": "overlapped|겹쳐 실행",
    }
    for name, row in rows.items():
        time = float(recorded[name][0])
        assert numbers(page, row) == [f"{time:.1f}", f"{time / alone:.2f}"]
    # The sentence below the table: by how much each form is longer.
    more = [float(recorded[name][0]) - alone for name in ("copies", "copies", "peer reads", "overlapped")]
    sentence = re.search(r"^.*32 KiB.*?(?=\n\n)", page, re.MULTILINE | re.DOTALL)
    assert sentence
    assert re.findall(r"(\d+) ?µs", sentence[0]) == [f"{each:.0f}" for each in more]


@pytest.mark.parametrize("folder", SOURCES)
def test_the_bandwidths_are_those_recorded(folder: str) -> None:
    page = (ROOT / folder / "puzzle_48" / "puzzle_48.md").read_text("utf-8")
    recorded = times("p48-1.txt")
    rows = {
        "peer copy of 64 MiB|64 MiB 피어 복사": recorded["peer copy"],
        "one-shot": recorded["one-shot"],
        "ring|링": recorded["ring"],
        "NCCL 2.21.5": times("nccl.txt")[str(64 << 20)],
        "NCCL 2.28.3": times("nccl-installed.txt")[str(64 << 20)],
    }
    for row, values in rows.items():
        assert numbers(page, row) == [f"{float(each):.1f}" for each in values]


def test_the_overlapped_step_and_the_all_reduce_reach_their_goals() -> None:
    """Puzzle 47 hides the exchange behind the interior; puzzle 48 keeps up with NCCL in the same session."""
    steps = times("p47-1.txt")
    assert float(steps["overlapped"][0]) <= 1.1 * float(steps["interior alone"][0])
    library = max(float(times(file)[str(64 << 20)][1]) for file in ("nccl.txt", "nccl-installed.txt"))
    for mode in ("one-shot", "ring"):
        assert float(times("p48-1.txt")[mode][1]) >= 0.7 * library


def test_the_links_carried_what_the_benchmarks_ask_for() -> None:
    """By the driver's counters of both GPUs, in KiB: rows of puzzle 47, inputs of puzzle 48 and its flags."""
    links = json.loads((RECORDED / "links.json").read_text("utf-8"))
    for gpu in range(2):  # as `ncu` counts them, and as the page of puzzle 47 says
        launches = [each for each in links["p47 --peer-reads"] if each["device"] == gpu]
        assert sum(each["received"] for each in launches) == 1536
    recorded = links["nvml_kib"]
    steps, row = 4 * 100, 8192 * 4 // 1024  # four attempts; three forms exchange two rows of each GPU
    assert recorded["p47 --benchmark"] == {"received": 3 * steps * 2 * row, "sent": 3 * steps * 2 * row}
    calls, whole = 4 * 50, 64 << 10
    blocks = 2 * 132  # of an H200; each signal counts 16 bytes: two in one shot, three for two neighbours
    flags = calls * blocks * (2 + 3 * 2) * 16 // 1024
    assert recorded["p48 --benchmark"] == {
        "received": 3 * calls * whole + flags,
        "sent": 2 * calls * whole + flags,
    }
