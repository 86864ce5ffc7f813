"""The tables of puzzles 47 and 48 have the times that were recorded on two H200 (`data/h200/two_gpus`)."""

from __future__ import annotations

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
    alone = int(recorded["interior alone"][0])
    rows = {
        "interior alone": "interior alone, no border rows|경계 행 없이 내부만",
        "copies": "copies|복사",
        "peer reads": "peer reads|피어 읽기",
        "overlapped": "overlapped|겹쳐 실행",
    }
    for name, row in rows.items():
        time = int(recorded[name][0])
        assert numbers(page, row) == [f"{time}", f"{time / alone:.2f}"]


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
        assert numbers(page, row) == [f"{float(each):.0f}" for each in values]
