"""The sentences of a verdict, by name; braces name facts of the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.text import Text


class Explanation(Struct, frozen=True):
    """What a pattern is, what usually causes it, and what to try."""

    what: Text
    cause: Text
    advice: Text

    def of(self, facts: Mapping[str, object]) -> tuple[Text, Text, Text]:
        """The three sentences with what they name."""
        return self.what.of(**facts), self.cause.of(**facts), self.advice.of(**facts)


EXPLANATIONS: Mapping[str, Explanation] = {
    "never-written": Explanation(
        Text("the kernel wrote nothing into `{output}`"),
        Text("every element still holds what it held before the launch"),
        Text("fill in the marked region; check that some thread passes your `if` and assigns to the output"),
    ),
    "written-beyond-the-end": Explanation(
        Text("the kernel wrote beyond the end of its result, into {count} of the cells behind it"),
        Text(
            "the first of them is cell {place} behind the end: more threads run than there are elements, and "
            "one of these wrote too"
        ),
        Text("let only threads write whose index is below the size, in every dimension"),
    ),
    "partly-written": Explanation(
        Text("{count} elements of `{output}` were never written"),
        Text("they still hold what they held before the launch"),
        Text("compare guard and index with the grid: which threads should have written these elements?"),
    ),
    "first-block-only": Explanation(
        Text("only the first {count} elements of `{output}` are right, the others were never written"),
        Text(
            "with several blocks, that is what a local index does where a global one belongs: every block "
            "writes the same elements; with one block, the guard lets too few threads pass"
        ),
        Text(
            "index global memory with `block_dim.x * block_idx.x + thread_idx.x`, and compare the guard with "
            "the number of elements"
        ),
    ),
    "shifted": Explanation(
        Text("the elements of `{output}` stand {distance:+d} places from where they belong"),
        Text("an index is off by a constant, often by one"),
        Text("follow one thread by hand: which element does it read, and which one does it write?"),
    ),
    "permuted": Explanation(
        Text("`{output}` holds the right values in another order"),
        Text("two indices have changed places, or a stride is not the length of a row"),
        Text("write down the index of the first three wrong elements and what your formula gives for them"),
    ),
    "transposed": Explanation(
        Text("`{output}` is transposed"),
        Text("row and column have changed places: `x` runs along a row, `y` goes from row to row"),
        Text(
            "take `row` from `y` and `col` from `x`; the element stands at `[row, col]`, in raw memory at "
            "`row * width + col`"
        ),
    ),
    "tile-repeated": Explanation(
        Text("the same {count} elements repeat through all of `{output}`"),
        Text("every block or tile works on the same part of the input"),
        Text("let the block's or tile's number enter the index that you read with"),
    ),
    "missing-last": Explanation(
        Text("only the last {count} element(s) of `{output}` are wrong"),
        Text("a limit is one too small, or the last block or tile is not full"),
        Text("check `<` against `<=` and `size` against `size - 1` in the guard and in the loops"),
    ),
    "partial-sum": Explanation(
        Text("`{output}` looks like a sum over the wrong set of elements"),
        Text(
            "a step of the reduction or scan leaves terms out or adds some twice, or a barrier is missing "
            "between its steps"
        ),
        Text(
            "follow the strides on paper for eight elements; every step reads only what the one before wrote"
        ),
    ),
    "scaled": Explanation(
        Text("every element of `{output}` is {factor} times what it should be"),
        Text("a factor is missing or applied twice, or every element is added several times"),
        Text("look for what has exactly this value"),
    ),
    "not-a-number": Explanation(
        Text("{count} elements of `{output}` are NaN or infinite"),
        Text("the kernel computed with memory that nobody wrote, or divided by zero"),
        Text("check that all of shared memory is written before it is read, also by threads past the end"),
    ),
    "not-submitted": Explanation(
        Text("the program did not hand in `{output}`"),
        Text("results are judged from the buffer itself, not from what is printed"),
        Text('keep the line `submit("{output}", …)` of the problem file as it was'),
    ),
    "other-type": Explanation(
        Text("`{output}` has elements of {got}, and the puzzle's are {wanted}"),
        Text("the judge's data and its answer are of the puzzle's own type, and values are compared in it"),
        Text("restore `dtype`, or the type where the buffer is made (`git diff` shows what you changed)"),
    ),
    "other-size": Explanation(
        Text("`{output}` has {got} elements, and the puzzle's has {wanted}"),
        Text("results are compared element by element, so none may be left out or added"),
        Text("restore the sizes at the top and where the buffer is made (`git diff` shows what you changed)"),
    ),
    "irregular-file": Explanation(
        Text("what the program handed in as `{output}` is not a regular file"),
        Text(
            "results are read from regular files, as `submit` writes them: no pipe, device or symbolic link"
        ),
        Text("hand the buffer in with `submit`, and write nothing to the folder PUZZLE_LAB_DIR yourself"),
    ),
    "too-large": Explanation(
        Text("what the program handed in as `{output}` is too large, and was not read"),
        Text("the puzzle's buffer has {wanted} bytes"),
        Text("restore the sizes at the top and where the buffer is made (`git diff` shows what you changed)"),
    ),
    "broken-element": Explanation(
        Text(
            "what the program handed in as `{output}` has {got} bytes, and the puzzle's buffer has {wanted}"
        ),
        Text(
            "an element has {width} bytes, so the last one is incomplete; `submit` writes whole buffers only"
        ),
        Text("hand the buffer in with `submit`, and write nothing to the folder PUZZLE_LAB_DIR yourself"),
    ),
    "text-disagrees": Explanation(
        Text("what is printed as `{output}` (line {line}) is not what the buffer holds"),
        Text("the buffer was printed before the kernel had finished, or something else was printed"),
        Text("print the buffer after `ctx.synchronize()`"),
    ),
    "input-changed": Explanation(
        Text("the program did not work on the puzzle's data: `{output}` {detail}"),
        Text("the answer is judged for the puzzle's own data"),
        Text(
            "restore the lines of `main` that fill and stage the buffers (`git diff` shows what you changed)"
        ),
    ),
    "mismatch": Explanation(
        Text("`{output}` is wrong"),
        Text("the differences follow none of the usual patterns"),
        Text("work out the first wrong element by hand and compare each step with your kernel"),
    ),
    "spoilt": Explanation(
        Text("`{output}` is wrong"),
        Text("a thread that reads or writes where it must not, as told above, spoils values"),
        Text("mend the line above first, and run it again"),
    ),
    "crash": Explanation(
        Text("the program crashed ({detail})"),
        Text("most often a kernel reached outside its buffers"),
        Text("run it with `--target sim`: the simulated GPU names the line that reaches too far"),
    ),
    "kernel-stopped": Explanation(
        Text("the simulated GPU stopped `{kernel}` at {place}: {detail}"),
        Text("no GPU goes on from there, so what the kernel had still to write is missing"),
        Text("begin with what was found above, if anything; an assertion that fails stops a kernel as well"),
    ),
    "crash-on-host": Explanation(
        Text("the program crashed ({detail})"),
        Text("no kernel was running: it happened in `main`, on the CPU"),
        Text("restore the lines of `main` (`git diff` shows what you changed)"),
    ),
    "time-limit": Explanation(
        Text("the program did not end: {detail}"),
        Text("a loop does not end, or threads wait for each other at a barrier that not all of them reach"),
        Text(
            "check each loop's condition, and that no barrier stands in an `if` that only some threads enter"
        ),
    ),
    "kernel-endless": Explanation(
        Text("the program did not end: {detail}"),
        Text(
            "a loop in `{kernel}` does not end, or takes far too long: thread {thread} of block {block} was "
            "still in it, at {place}"
        ),
        Text(
            "look at the loop around that line: what makes its condition false, and does every step come "
            "nearer to that?"
        ),
    ),
    "not-launched": Explanation(
        Text("no kernel was launched"),
        Text("the result is right, but it was not computed on the GPU"),
        Text("restore the launch in `main` (`git diff` shows what you changed)"),
    ),
    "program-ended-early": Explanation(
        Text("the program failed: {detail}"),
        Text("it ended with an error before it had handed in a result"),
        Text("its message says where"),
    ),
    "program-error": Explanation(
        Text("the program failed: {detail}"),
        Text("the buffers it handed in are right, but the program itself ended with an error"),
        Text("its message above says where"),
    ),
}
