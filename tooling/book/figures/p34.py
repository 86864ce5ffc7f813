"""Puzzle 34: four blocks in one cluster."""

from __future__ import annotations

from collections.abc import Callable

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.catalog.model import Text


def draw_cluster(facts: Facts, sheet: Callable[[int, int], Canvas]) -> Canvas:
    """Input ranges, blocks with their scale, the cluster's barrier, and the outputs."""
    threads, blocks = facts.constant("TPB"), facts.constant("CLUSTER_SIZE")
    sums = next(iter(facts.expected("coordination").values())).reshape(-1)
    width, left = 152, 24
    canvas = sheet(left * 2 + blocks * width + 128, 424)
    right = left + blocks * width
    canvas.label(left, 20, Text("input", "입력"), bold=True)
    canvas.frame(left - 14, 92, blocks * width + 28, 244, dashed=True)
    canvas.label(right + 28, 112, Text("one cluster", "클러스터 하나"), bold=True)
    for block in range(blocks):
        x = left + block * width + 8
        middle = x + (width - 16) / 2
        canvas.cell(x, 38, width - 16, 36, f"{block * threads}–{(block + 1) * threads - 1}")
        canvas.arrow(middle, 76, middle, 128)
        canvas.frame(x, 132, width - 16, 188)
        canvas.label(middle, 150, Text(f"block {block}", f"블록 {block}"), "middle", bold=True)
        canvas.cell(x + 12, 166, width - 40, 34, f"× {block + 1}", ink=Ink.LIVE)
        canvas.label(middle, 216, "barrier()", "middle", size=12, quiet=True, mono=True)
        canvas.arrow(middle, 246, middle, 264)
        canvas.cell(x + 12, 268, width - 40, 34, Text(f"sum of {threads}", f"{threads}개의 합"), ink=Ink.LIVE)
        canvas.arrow(middle, 322, middle, 366)
        canvas.cell(x + 12, 370, width - 40, 38, number(sums[block]), ink=Ink.RESULT)
    for y, call in ((236, "cluster_arrive()"), (310, "cluster_wait()")):
        canvas.arrow(left - 6, y, right + 22, y, head=False, dashed=True)
        canvas.label(right + 28, y, call, size=12, mono=True, quiet=True)
    return canvas


FIGURES = (
    Figure(
        "p34",
        Text(
            "Each block scales and sums its own range; the cluster's barrier has one end before the sum "
            "and one after it.",
            "블록마다 자기 구간에 배율을 곱해 더합니다. 클러스터 배리어는 합을 구하기 전에 시작해 구한 "
            "다음에 끝납니다.",
        ),
        Text(
            "Four blocks in one cluster. Block 0 takes elements 0 to 255 times 1, block 1 takes 256 to "
            "511 times 2, block 2 takes "
            "512 to 767 times 3, block 3 takes 768 to 1023 times 4. After cluster_arrive each block "
            "sums its range; after "
            "cluster_wait the outputs stand: 127.5, 255, 382.5 and 510.",
            "클러스터 하나에 블록 네 개. 블록 0은 원소 0에서 255까지에 1을, 블록 1은 256에서 511까지에 "
            "2를, 블록 2는 512에서 767까지에 3을, "
            "블록 3은 768에서 1023까지에 4를 곱합니다. cluster_arrive 다음에 블록마다 구간을 더하고, "
            "cluster_wait 다음에 출력 "
            "127.5, 255, 382.5, 510이 정해집니다.",
        ),
        draw_cluster,
    ),
)
