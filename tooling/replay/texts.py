"""The sentences of the page: descriptions of steps, written here, and labels that its script fills in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tooling.replay.trace import Exchange, Move, Step, Trace, TracedBuffer, numbers, ranges, unpacked
from tooling.text import Text

_LABELS: dict[str, Text] = {
    "title": Text("Replay of {what}"),
    "facts": Text("kernel {kernel} · launch {launch} of {launches} · grid {grid} · block {block}"),
    "recorded": Text("recorded: block {position}, one of {blocks}"),
    "recorded_more": Text("recorded: blocks {positions}, of {blocks}"),
    "recorded_gpus": Text("recorded on each GPU: block {position}, one of {blocks}"),
    "recorded_gpus_more": Text("recorded on each GPU: blocks {positions}, of {blocks}"),
    "facts_gpus": Text(
        "kernel {kernel} on {gpus} GPUs · launches {numbers} of {launches} · grid {grid} · block {block}"
    ),
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
    "block": Text("block {position}"),
    "threads_of": Text("{threads} of block {position}"),
    "of_each": Text("{threads} of each block"),
    "gpu": Text("GPU {gpu}"),
    "threads_on": Text("{threads} on GPU {gpu}"),
    "threads_of_on": Text("{threads} of block {position} on GPU {gpu}"),
    "on_each": Text("{threads} on each GPU"),
    "memory": Text("Memory"),
    "no_memory": Text("The block accesses no memory that can be shown."),
    "global": Text("global"),
    "shared": Text("shared"),
    "local": Text("local, a row for each thread"),
    "unwritten": Text("never written"),
    "select": Text("Select a cell to read who wrote and read it last: w3 is thread 3, r0 thread 0."),
    "select_gpus": Text(
        "Select a cell to read who wrote and read it last: w3/1 is thread 3 on GPU 1, r0/0 thread 0 on GPU 0."
    ),
    "by": Text("written by thread {thread} in step {step}"),
    "by_other": Text("written by another block"),
    "read_by": Text("last read by threads {threads} in step {step}"),
    "outside": Text("out of bounds"),
    "received": Text("receives {value} from thread {thread}"),
    "more_cells": Text("{n} more cells are not shown: the block never accesses them, or there are too many"),
    "active": Text("active"),
    "waiting": Text("waiting at a barrier"),
    "waiting_gpus": Text("waiting at a barrier, or for a flag"),
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
    "scripts": Text("This page needs JavaScript."),
    "order": Text(
        "The simulated GPU executes the warps of a block in step. A real GPU may run them in any order "
        "between two barriers."
    ),
    "left_out": Text(
        "Not recorded: {n} steps after the limit. The last step shows memory at the end of the launch."
    ),
    "elsewhere": Text("{n} findings concern other blocks: `--block` records one of them."),
    "turns": Text(
        "The simulated GPUs take turns. Real GPUs run at the same time, and either may be ahead of the other "
        "until it waits."
    ),
    "stopped": Text("The kernel was stopped: {why}"),
}  # fmt: skip

_STEPS: dict[str, Text] = {
    "line": Text("Line {line}: threads {threads}."),
    "load": Text("Line {line}: threads {threads} read {cells}."),
    "store": Text("Line {line}: threads {threads} write {cells}."),
    "atomic": Text("Line {line}: threads {threads} update {cells} atomically."),
    "poll": Text("Line {line}: threads {threads} poll {cells}, and wait for another value."),
    "set": Text("Thread {thread} stores it in step {step}."),
    "arrive": Text("Line {line}: threads {threads} wait at the barrier."),
    "barrier": Text("Line {line}: threads {threads} passed the barrier."),
    "sync": Text("Line {line}: threads {threads} exchange values or wait for each other within their warps."),
    "signal": Text("Line {line}: threads {threads} arrive at the barrier of the cluster and do not wait."),
    "arrived": Text("Line {line}: threads {threads} arrive at an mbarrier in shared memory."),
    "passed": Text("Line {line}: threads {threads} find the phase of an mbarrier complete."),
    "exit": Text("Threads {threads} end."),
    "stuck": Text("Line {line}: threads {threads} wait for ever."),
    "end": Text("The launch has ended: memory as the host finds it."),
    "changed": Text("The launch has ended: other blocks have changed {buffers}."),
    "end_gpus": Text("The launches have ended: memory as it is now."),
    "changed_gpus": Text("The launches have ended: other blocks, or later launches, have changed {buffers}."),
}

_EXCHANGE = Text(
    "Line {line}: threads {threads} exchange values: thread {thread} receives {value} from thread {source}."
)
_SECTORS = Text("{count} sectors of 32 bytes move; {least} would be enough.")
_FITTING = Text("{count} sector of 32 bytes moves.", plural="{count} sectors of 32 bytes move.")
_CONFLICT = Text("Bank conflict: {count} wavefronts; {least} would be enough.")
_REFUSED = Text("Threads {threads} are out of bounds: their access was left out.")


def labels(trace: Trace, language: str) -> dict[str, str]:
    """The labels of a page, with their facts in braces."""
    found = {key: text.render(language) for key, text in _LABELS.items()}
    return {**found, "waiting": found["waiting_gpus"]} if several_gpus(trace) else found


def say(key: str, language: str, **facts: object) -> str:
    """A label with its facts."""
    return _LABELS[key].of(**facts).render(language)


def sentences(trace: Trace, language: str) -> list[str]:
    """What happens in each step, for everybody who reads or hears it."""
    return [_describe(number, step, trace, language) for number, step in enumerate(trace.steps)]


def _describe(number: int, step: Step, trace: Trace, language: str) -> str:
    if step.kind == "end":
        names = ", ".join(_named_buffer(trace.buffers[move.buffer], language) for move in step.moves)
        key = ("changed" if names else "end") + ("_gpus" if several_gpus(trace) else "")
        return _STEPS[key].of(buffers=names).render(language)
    line = step.line or "?"
    if step.kind == "poll":
        return " ".join(_of_poll(number, step, trace, language))
    said = [_of_move(line, move, trace, language) for move in step.moves]
    if len(said) > 1 and len(said) == len(trace.positions) and _is_same_in_each(step.moves, trace):
        said = [_of_move(line, step.moves[0], trace, language, every=True)]
    if step.exchange:
        said.append(_of_exchange(line, step.exchange, trace, language))
    threads = named(step.threads, trace, language)
    return " ".join(said) or _STEPS[step.kind].of(line=line, threads=threads).render(language)


def _of_poll(number: int, step: Step, trace: Trace, language: str) -> Iterator[str]:
    """What is polled, and who stores there next."""
    (move,) = step.moves
    threads = named(step.threads, trace, language)
    cells = _place(move, trace, language)
    yield _STEPS["poll"].of(line=step.line or "?", threads=threads, cells=cells).render(language)
    polled = set(unpacked(move.cells))
    for later, other in enumerate(trace.steps[number + 1 : -1], number + 1):
        for store in other.moves:
            written = zip(numbers(store.threads), unpacked(store.cells), strict=True)
            thread = next((one for one, cell in written if cell in polled), None)
            if store.buffer == move.buffer and store.action != "load" and thread is not None:
                by = named(str(thread), trace, language)
                yield _STEPS["set"].of(step=later + 1, thread=by).render(language)
                return


def _is_same_in_each(moves: Sequence[Move], trace: Trace) -> bool:
    """Whether each of the blocks does the same to its own shared memory."""
    size = _block_size(trace)
    buffers = [trace.buffers[move.buffer] for move in moves]
    done = {
        (
            move.action,
            buffer.name,
            _cells(move),
            move.cost,
            move.refused == "",
            ranges(thread - buffer.block * size for thread in numbers(move.threads)),
        )
        for move, buffer in zip(moves, buffers, strict=True)
    }
    return len(done) == 1 and sorted(buffer.block for buffer in buffers) == list(range(len(moves)))


def _of_move(line: int | str, move: Move, trace: Trace, language: str, *, every: bool = False) -> str:
    """`every`: each of the recorded blocks does the same."""
    buffer = trace.buffers[move.buffer]
    cells = _place(move, trace, language, every=every)
    threads = named(move.threads, trace, language)
    if every:
        own = ranges(thread - buffer.block * _block_size(trace) for thread in numbers(move.threads))
        threads = say("of_each", language, threads=_spaced(own))
    said = [_STEPS[move.action].of(line=line, threads=threads, cells=cells)]
    many, least = move.cost
    if many > least:
        said.append((_CONFLICT if buffer.space == "shared" else _SECTORS).of(count=many, least=least))
    elif many and buffer.space == "global":
        said.append(_FITTING.of(count=many))
    if move.refused:
        said.append(_REFUSED.of(threads=named(move.refused, trace, language)))
    return " ".join(sentence.render(language) for sentence in said)


def _place(move: Move, trace: Trace, language: str, *, every: bool = False) -> str:
    """The cells of an access, with the GPU or the block that has them if there are several."""
    buffer = trace.buffers[move.buffer]
    cells = _named_buffer(buffer, language, f"[{_cells(move)}]")
    if buffer.block >= 0 and not every:
        return f"{cells} ({_block(buffer.block, trace, language)})"
    return cells


def _named_buffer(buffer: TracedBuffer, language: str, cells: str = "") -> str:
    """Its name, with the GPU that has it if there are several."""
    named = f"{buffer.name}{cells}"
    return f"{named} ({say('gpu', language, gpu=buffer.gpu)})" if buffer.gpu >= 0 else named


def several_gpus(trace: Trace) -> bool:
    """Whether the blocks are of launches on several GPUs."""
    return len({position[3:] for position in trace.positions}) > 1


def _block(rank: int, trace: Trace, language: str) -> str:
    """`block (1, 0, 0)` of a recorded block, with its GPU if there are several."""
    position = trace.positions[rank]
    block = say("block", language, position=extent(position[:3]))
    return f"{say('gpu', language, gpu=position[3])}, {block}" if several_gpus(trace) else block


def _of_exchange(line: int | str, exchange: Exchange, trace: Trace, language: str) -> str:
    """With one thread that receives from another as an example, if there is one."""
    threads = named(exchange.threads, trace, language)
    given = zip(numbers(exchange.threads), unpacked(exchange.sources), exchange.values, strict=True)
    for thread, source, value in given:
        if source not in (thread, -1):
            one, other = (named(str(each), trace, language) for each in (thread, source))
            facts = {"line": line, "threads": threads, "thread": one, "source": other, "value": value}
            return _EXCHANGE.of(**facts).render(language)
    return _STEPS["sync"].of(line=line, threads=threads).render(language)


def _cells(move: Move) -> str:
    """The cells in ascending order, as ranges; shortened if there are many."""
    every: Sequence[int] = sorted({cell + k for cell in unpacked(move.cells) for k in range(move.width)})
    runs: list[list[int]] = []
    for cell in every:
        if runs and cell == runs[-1][1] + 1:
            runs[-1][1] = cell
        else:
            runs.append([cell, cell])
    shown = [str(a) if a == b else f"{a}–{b}" for a, b in runs[:6]]
    return ", ".join(shown) + (", …" if len(runs) > 6 else "")


def named(threads: str, trace: Trace, language: str) -> str:
    """`0–3, 8` for `0-3,8`, with the block if several are recorded; shortened if there are many runs."""
    if len(trace.positions) == 1:
        return _spaced(threads)
    count = _block_size(trace)
    of_block: dict[int, list[int]] = {}
    for number in numbers(threads):
        of_block.setdefault(number // count, []).append(number % count)
    runs = {rank: _spaced(ranges(own)) for rank, own in of_block.items()}
    gpus = several_gpus(trace)
    whole = len(trace.positions) == len({position[3:] for position in trace.positions})  # a block of each GPU
    if len(runs) == len(trace.positions) and len(set(runs.values())) == 1:
        return say("on_each" if gpus and whole else "of_each", language, threads=runs[0])
    key = "threads_of" if not gpus else "threads_on" if whole else "threads_of_on"
    return "; ".join(
        say(key, language, threads=own, position=extent(position[:3]), gpu=position[3] if gpus else "")
        for rank, own in runs.items()
        for position in (trace.positions[rank],)
    )


def _block_size(trace: Trace) -> int:
    return trace.block[0] * trace.block[1] * trace.block[2]


def extent(numbers: Sequence[int]) -> str:
    """`(4, 1, 1)`: the extent of a grid, or a position in it."""
    return f"({', '.join(map(str, numbers))})"


def _spaced(threads: str) -> str:
    runs = threads.replace("-", "–").split(",")
    return ", ".join(runs[:8]) + (f", … ({len(numbers(threads))})" if len(runs) > 8 else "")
