"""The sentences of the page: descriptions of steps, written here, and labels that its script fills in."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.replay.trace import Buffer, Move, Step, Trace, numbers
from tooling.text import Text

_LABELS: dict[str, Text] = {
    "title": Text("Replay of {what}"),
    "facts": Text("kernel {kernel} · launch {launch} of {launches} · grid {grid} · block {block}"),
    "recorded": Text("recorded: block {position}, one of {blocks}"),
    "theme": Text("Light or dark"),
    "previous": Text("Previous step"),
    "next": Text("Next step"),
    "first": Text("First step"),
    "last": Text("Last step"),
    "play": Text("Play"),
    "pause": Text("Pause"),
    "step": Text("step {n} of {all}"),
    "timeline": Text("Time line"),
    "phase": Text("phase {n}"),
    "keys": Text("← → one step · Page Up, Page Down to the next barrier · Space plays · Home, End"),
    "source": Text("Source"),
    "no_source": Text("The source file cannot be read, or the program has no line tables."),
    "threads": Text("Threads"),
    "warp": Text("warp {n}"),
    "memory": Text("Memory"),
    "no_memory": Text("The block accesses no memory that can be shown."),
    "global": Text("global"),
    "shared": Text("shared"),
    "unwritten": Text("never written"),
    "select": Text("Select a cell to read who wrote and read it last: w3 is thread 3, r0 thread 0."),
    "by": Text("written by thread {thread} in step {step}"),
    "by_other": Text("written by another block"),
    "read_by": Text("last read by threads {threads} in step {step}"),
    "outside": Text("out of bounds"),
    "more_cells": Text("{n} more cells are not shown: the block never accesses them, or there are too many"),
    "active": Text("active"),
    "waiting": Text("waiting at a barrier"),
    "idle": Text("not in this step"),
    "ended": Text("ended"),
    "reads": Text("read in this step"),
    "writes": Text("written in this step"),
    "accused": Text("named by the finding"),
    "line_of": Text("thread {thread}: {state}, line {line}"),
    "finding": Text("Finding"),
    "warning": Text("Warning"),
    "show_step": Text("step {n}: thread {thread}, line {line}"),
    "no_step": Text("thread {thread}: not recorded"),
    "order": Text(
        "The simulated GPU executes the warps of a block in step. A real GPU may run them in any order "
        "between two barriers."
    ),
    "left_out": Text(
        "Not recorded: {n} steps after the limit. The last step shows memory at the end of the launch."
    ),
    "elsewhere": Text("{n} findings concern other blocks: `--block` records one of them."),
    "stopped": Text("The kernel was stopped: {why}"),
}  # fmt: skip

_STEPS: dict[str, Text] = {
    "line": Text("Line {line}: threads {threads}."),
    "load": Text("Line {line}: threads {threads} read {cells}."),
    "store": Text("Line {line}: threads {threads} write {cells}."),
    "atomic": Text("Line {line}: threads {threads} update {cells} atomically."),
    "arrive": Text("Line {line}: threads {threads} wait at the barrier."),
    "barrier": Text("Line {line}: threads {threads} passed the barrier."),
    "sync": Text("Line {line}: threads {threads} exchange values or wait for each other within their warps."),
    "exit": Text("Threads {threads} end."),
    "stuck": Text("Line {line}: threads {threads} wait for ever."),
    "end": Text("The launch has ended: memory as the host finds it."),
    "changed": Text("The launch has ended: other blocks have changed {buffers}."),
}

_SECTORS = Text("{count} sectors of 32 bytes move; {least} would be enough.")
_FITTING = Text("{count} sector of 32 bytes moves.", plural="{count} sectors of 32 bytes move.")
_CONFLICT = Text("Bank conflict: {count} wavefronts; {least} would be enough.")
_REFUSED = Text("Threads {threads} are out of bounds: their access was left out.")


def labels(language: str) -> dict[str, str]:
    """The labels, with their facts in braces."""
    return {key: text.render(language) for key, text in _LABELS.items()}


def say(key: str, language: str, **facts: object) -> str:
    """A label with its facts."""
    return _LABELS[key].of(**facts).render(language)


def describe(step: Step, trace: Trace, language: str) -> str:
    """What happens in a step, for everybody who reads or hears it."""
    threads = spaced(step.threads)
    if step.kind == "end":
        names = ", ".join(trace.buffers[move.buffer].name for move in step.moves)
        return _STEPS["changed" if names else "end"].of(buffers=names).render(language)
    line = step.line or "?"
    parts = [_of_move(line, move, trace.buffers[move.buffer], language) for move in step.moves]
    return " ".join(parts) or _STEPS[step.kind].of(line=line, threads=threads).render(language)


def _of_move(line: int | str, move: Move, buffer: Buffer, language: str) -> str:
    cells = f"{buffer.name}[{_cells(move)}]"
    parts = [_STEPS[move.action].of(line=line, threads=spaced(move.threads), cells=cells)]
    many, least = move.cost
    if many > least:
        parts.append((_CONFLICT if buffer.space == "shared" else _SECTORS).of(count=many, least=least))
    elif many and buffer.space == "global":
        parts.append(_FITTING.of(count=many))
    if move.refused:
        parts.append(_REFUSED.of(threads=spaced(move.refused)))
    return " ".join(part.render(language) for part in parts)


def _cells(move: Move) -> str:
    """The cells in ascending order, as ranges; shortened if there are many."""
    every: Sequence[int] = sorted({cell + k for cell in move.cells for k in range(move.width)})
    runs: list[list[int]] = []
    for cell in every:
        if runs and cell == runs[-1][1] + 1:
            runs[-1][1] = cell
        else:
            runs.append([cell, cell])
    shown = [str(a) if a == b else f"{a}–{b}" for a, b in runs[:6]]
    return ", ".join(shown) + (", …" if len(runs) > 6 else "")


def spaced(threads: str) -> str:
    """`0–3, 8` for `0-3,8`; shortened if there are many runs."""
    runs = threads.replace("-", "–").split(",")
    return ", ".join(runs[:8]) + (f", … ({len(numbers(threads))})" if len(runs) > 8 else "")
