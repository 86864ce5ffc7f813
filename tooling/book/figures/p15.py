"""Puzzle 15: one block for each row, and the tree that sums a row."""

from __future__ import annotations

from collections.abc import Callable

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.book.figures.reduction import ROW, draw_reduction
from tooling.catalog.model import Text

CELL = 36
Sheet = Callable[[int, int], Canvas]


def draw_rows(facts: Facts, sheet: Sheet) -> Canvas:
    """Matrix, blocks with their shared memory, output: one line for each row."""
    batch, size, threads = (facts.constant(name) for name in ("BATCH", "SIZE", "TPB"))
    a = facts.inputs("default")["a"].reshape(batch, size)
    sums = facts.expected("default")["out"].reshape(batch)
    matrix, shared = 120, 120 + size * CELL + 56
    output = shared + threads * CELL + 52
    canvas = sheet(output + 66, 64 + batch * 62 - 14)
    canvas.label(matrix + size * CELL / 2, 18, Text("matrix a", "행렬 a"), "middle", bold=True)
    canvas.label(
        shared + threads * CELL / 2,
        18,
        Text("shared memory of the block", "블록의 공유 메모리"),
        "middle",
        bold=True,
    )
    canvas.label(output + 28, 18, "output", "middle", bold=True)
    for thread in range(threads):
        canvas.label(shared + thread * CELL + CELL / 2, 44, f"T{thread}", "middle", size=12, quiet=True)
    for column in range(size):
        canvas.label(matrix + column * CELL + CELL / 2, 44, str(column), "middle", size=12, quiet=True)
    for row in range(batch):
        top = 64 + row * 62
        middle = top + CELL / 2
        canvas.label(matrix - 14, middle - 9, Text(f"block (0, {row})", f"블록 (0, {row})"), "end")
        canvas.label(matrix - 14, middle + 10, f"batch = {row}", "end", size=12, quiet=True, mono=True)
        canvas.frame(shared - 8, top - 8, threads * CELL + 16, CELL + 16)
        for column in range(size):
            canvas.cell(matrix + column * CELL, top, CELL, CELL, number(a[row, column]))
        for thread in range(threads):
            loaded = thread < size
            value = number(a[row, thread]) if loaded else "0"
            ink = Ink.LIVE if loaded else Ink.SPARE
            canvas.cell(shared + thread * CELL, top, CELL, CELL, value, ink=ink)
        canvas.arrow(matrix + size * CELL + 8, middle, shared - 12, middle)
        canvas.arrow(shared + threads * CELL + 12, middle, output - 4, middle)
        canvas.cell(output, top, 56, CELL, number(sums[row]), ink=Ink.RESULT)
    return canvas


def draw_steps(facts: Facts, sheet: Sheet) -> Canvas:
    """Row 0 through the tree."""
    threads = facts.constant("TPB")
    canvas = sheet(150 + threads * 44 + 24, 34 + 4 * ROW - 28)
    for thread in range(threads):
        canvas.label(150 + thread * 44 + 22, 16, f"T{thread}", "middle", size=12, quiet=True)
    draw_reduction(canvas, 150, 34, facts.trace("p15"), first=Text("loaded", "읽어 온 뒤"))
    return canvas


FIGURES = (
    Figure(
        "p15",
        Text(
            "Every row has a block of its own. Threads 6 and 7 have no column and bring zeros.",
            "행마다 블록이 하나씩 있습니다. 스레드 6과 7은 맡을 열이 없어 0을 넣습니다.",
        ),
        Text(
            "A matrix of 4 rows and 6 columns. Each row goes into the 8 shared memory cells of one "
            "block, the last two "
            "of which hold zero, and from there into one element of the output: 15, 51, 87 and 123.",
            "4행 6열 행렬. 각 행은 한 블록의 공유 메모리 8칸으로 들어가고 마지막 두 칸은 0입니다. "
            "거기서 출력의 원소 "
            "하나가 됩니다. 출력은 15, 51, 87, 123입니다.",
        ),
        draw_rows,
    ),
    Figure(
        "p15-steps",
        Text(
            "Three steps fold eight cells into one. Pale cells are no longer looked at.",
            "세 단계 만에 여덟 칸이 한 칸으로 접힙니다. 흐린 칸은 더는 쓰지 않습니다.",
        ),
        Text(
            "Shared memory of block 0. After loading: 0 1 2 3 4 5 0 0. After stride 4 the first four "
            "cells hold 4 6 2 3, "
            "after stride 2 the first two hold 6 9, after stride 1 the first holds 15.",
            "블록 0의 공유 메모리. 읽어 온 뒤에는 0 1 2 3 4 5 0 0, 스트라이드 4 다음에는 앞의 네 칸이 4 6 2 "
            "3, 스트라이드 2 다음에는 "
            "앞의 두 칸이 6 9, 스트라이드 1 다음에는 첫 칸이 15입니다.",
        ),
        draw_steps,
        traces=("p15",),
    ),
)
