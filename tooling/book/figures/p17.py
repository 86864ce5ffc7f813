"""Puzzle 17: from the buffers through the graph's only operation to the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts, number
from tooling.book.figures.figure import Figure
from tooling.catalog.model import Text

_HALVES = (
    (Text("for the CPU", "CPU용"), 'target == "cpu"', Text("two loops", "반복문 2개")),
    (Text("for the GPU", "GPU용"), 'target == "gpu"', Text("conv1d_kernel", "conv1d_kernel")),
)


def draw_graph(facts: Facts, sheet: Callable[[int, int], Canvas], *, narrow: bool = False) -> Canvas:
    """Both inputs with their values, the operation with its two halves, the output with its values."""
    data = facts.inputs("default")
    result = facts.expected("default")["out"].tolist()
    side, high, size = (22, 24, 11) if narrow else (38, 30, 14)
    left = 8 if narrow else 84
    right = left + len(result) * side
    canvas = sheet(right + (8 if narrow else 14), 374 if narrow else 362)

    def row(name: str, y: float, values: Sequence[float], ink: Ink = Ink.PLAIN) -> None:
        if narrow:
            canvas.label(left, y - 11, name, mono=True, size=12)
        else:
            canvas.label(left - 12, y + high / 2, name, "end", mono=True)
        for index, value in enumerate(values):
            canvas.cell(left + index * side, y, side, high, number(value), ink=ink, size=size)

    first, second = (24, 78) if narrow else (10, 58)
    row("input", first, data["input"].tolist())
    row("kernel", second, data["kernel"].tolist())
    top, bottom = second + high + 26, (374 if narrow else 362) - high - 56
    canvas.frame(left, top, right - left, bottom - top, dashed=True)
    canvas.label(left + 12, top + 16, Text("graph", "그래프"), size=12, quiet=True)
    inset = 10 if narrow else 60
    canvas.frame(left + inset, top + 30, right - left - 2 * inset, bottom - top - 42)
    canvas.label((left + right) / 2, top + 47, "conv1d", "middle", mono=True, bold=True)
    half = (right - left - 2 * inset - 30) / 2
    for index, (device, condition, code) in enumerate(_HALVES):
        x, y = left + inset + 10 + index * (half + 10), top + 62
        canvas.frame(x, y, half, bottom - y - 22)
        middle, step = x + half / 2, (bottom - y - 22) / 4
        canvas.label(middle, y + step, device, "middle", size=12, quiet=True)
        canvas.label(middle, y + 2 * step, condition, "middle", mono=True, size=11 if narrow else 13)
        canvas.label(middle, y + 3 * step, code, "middle", mono=code.en == code.ko, size=12)
    for x, y in ((right - 2.5 * side, first + high), (left + 3 * side, second + high)):
        canvas.arrow(x, y + 3, x, top + 27)
    middle = (left + right) / 2
    canvas.arrow(middle, bottom - 9, middle, bottom + 29)
    row("output", bottom + 32 + (8 if narrow else 0), result, Ink.RESULT)
    return canvas


FIGURES = (
    Figure(
        "p17",
        Text(
            "The graph has two inputs, one operation and one output. The operation holds code for both "
            "devices; the compiler takes the half that belongs to the device of the graph.",
            "그래프에는 입력 2개, 연산 1개, 출력 1개가 있습니다. 연산에는 두 디바이스의 코드가 모두 있고, "
            "컴파일러는 그래프의 디바이스에 맞는 쪽을 사용합니다.",
        ),
        Text(
            "Above, the buffers input, with the values 0 to 14, and kernel, with the values 0 to 3. An arrow "
            "leads from each into the graph, to the operation conv1d. The operation has two halves: for the "
            "CPU, where the target is cpu, two loops; for the GPU, where the target is gpu, the kernel "
            "conv1d_kernel. From the operation an arrow leads to the buffer output: 14, 20, 26, 32, 38, 44, "
            "50, 56, 62, 68, 74, 80, 41, 14 and 0.",
            "위에는 값이 0부터 14까지인 버퍼 input과 0부터 3까지인 버퍼 kernel이 있습니다. 두 버퍼에서 "
            "화살표가 그래프 안의 연산 conv1d로 이어집니다. 연산은 두 부분입니다. target이 cpu일 때는 CPU용 "
            "반복문 2개, target이 gpu일 때는 GPU용 커널 conv1d_kernel입니다. 연산에서 화살표가 버퍼 "
            "output으로 이어집니다. 값은 14, 20, 26, 32, 38, 44, 50, 56, 62, 68, 74, 80, 41, 14, 0입니다.",
        ),
        draw_graph,
        narrow=partial(draw_graph, narrow=True),
    ),
)
