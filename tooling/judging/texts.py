"""The sentences of a verdict by the name of the diagnosis; names in braces are facts of the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.text import Text


class Explanation(Struct, frozen=True):
    """What the pattern is, its usual cause, and what to try."""

    what: Text
    cause: Text
    advice: Text

    def of(self, facts: Mapping[str, object]) -> tuple[Text, Text, Text]:
        """The three sentences with these facts."""
        return self.what.of(**facts), self.cause.of(**facts), self.advice.of(**facts)


_FAILED = Text("the program failed: {detail}")
_ENDED_EARLY = Text("it ended with an error before it had handed in all results")
_ENDED_AFTER = Text("the buffers it handed in are right, but the program itself ended with an error")
_SEARCH_ERROR = Text(
    "its message has no line number: search the program for `raise`, and for the call that fails with these "
    "words; a `print` before each step shows how far it comes"
)
EXPLANATIONS: Mapping[str, Explanation] = {
    "never-written": Explanation(
        Text("the kernel wrote nothing into `{output}`"),
        Text("every element still holds what it held before the launch"),
        Text("fill in the marked region; check that some thread passes your `if` and assigns to the output"),
    ),
    "written-beyond-the-end": Explanation(
        Text("the kernel wrote past the end of its output, to {count} of the elements after it"),
        Text(
            "the first of them is element {ordinal} after the end; usually the launch has more threads than "
            "the output has elements, and a missing or wrong guard lets the extra threads write"
        ),
        Text("write only where the index is less than the size, in every dimension"),
    ),
    "partly-written": Explanation(
        Text(
            "one element of `{output}` was never written", "{count} elements of `{output}` were never written"
        ),
        Text(
            "it still holds what it held before the launch",
            "they still hold what they held before the launch",
        ),
        Text("compare guard and index with the grid: which threads should have written these elements?"),
    ),
    "first-block-only": Explanation(
        Text("only the first {count} elements of `{output}` are right; the others were never written"),
        Text(
            "the kernel uses the thread's index in its block where it needs the global index, so that every "
            "block writes the same elements"
        ),
        Text(
            "index global memory with `block_dim.x * block_idx.x + thread_idx.x`, and compare this index "
            "with the number of elements in the guard"
        ),
    ),
    "constant-difference": Explanation(
        Text(
            "all elements of `{output}` differ from the expected values by the same amount, {difference:+g}"
        ),
        Text("a constant in the expression is wrong, or a term is missing or added twice"),
        Text("compare the expression in the kernel with the formula of the puzzle, term by term"),
    ),
    "reversed-order": Explanation(
        Text("the elements of `{output}` are in reverse order"),
        Text("an index of the input or of the output counts from the end"),
        Text("follow the first thread by hand: which element does it read, and which one does it write?"),
    ),
    "shifted": Explanation(
        Text("the elements of `{output}` are shifted by {distance:+d} from their correct index"),
        Text("an index is off by a constant, often by one"),
        Text("follow one thread by hand: which element does it read, and which one does it write?"),
    ),
    "permuted": Explanation(
        Text("`{output}` holds the right values in another order"),
        Text("two indices are swapped, or a stride differs from the length of a row"),
        Text("write down the index of the first three wrong elements and what your formula gives for them"),
    ),
    "transposed": Explanation(
        Text("`{output}` is transposed"),
        Text("row and column are swapped: `x` is the position within a row (the column), `y` is the row"),
        Text(
            "take `row` from `y` and `col` from `x`; the element is at `[row, col]`, in raw memory at the "
            "offset `row * width + col`"
        ),
    ),
    "tile-repeated": Explanation(
        Text("the same {count} elements repeat through all of `{output}`"),
        Text("an index that the kernel reads with takes the same values again and again"),
        Text("compute it from the whole index of the output element, not from a part of that index"),
    ),
    "block-repeated": Explanation(
        Text("the same {count} elements repeat through all of `{output}`"),
        Text("every block works on the same part of the input"),
        Text("compute the index that you read with from the index of the block, too"),
    ),
    "missing-last": Explanation(
        Text(
            "only the last element of `{output}` is wrong",
            "only the last {count} elements of `{output}` are wrong",
        ),
        Text(
            "a bound is too small, or the last step has fewer elements than the others and is handled as if "
            "it had as many"
        ),
        Text("check `<` against `<=` and `size` against `size - 1` in the guard and in the loops"),
    ),
    "partial-sum": Explanation(
        Text("`{output}` contains the terms {first} to {last} only, of {total} terms from 0"),
        Text("the threads, blocks or steps that have to add the other terms do not contribute"),
        Text(
            "compare these numbers with your guard, the loop's bounds and strides, and the sizes of a block"
        ),
    ),
    "sum-without-terms": Explanation(
        Text("in `{output}` the terms {first} to {last} are missing, of {total} terms from 0"),
        Text("the thread, block or step that has to add them does not contribute"),
        Text(
            "compare these numbers with your guard, the loop's bounds and strides, and the sizes of a block"
        ),
    ),
    "sum-of-every": Explanation(
        Text("`{output}` contains only one in {step} of the {total} terms: 0, {step}, …"),
        Text("a reduction by halves ends too early, or a loop advances by too much"),
        Text("write down which terms the sums contain after each step; the last adds element 1 to element 0"),
    ),
    "scan-without-carry": Explanation(
        Text("the first {first} elements of `{output}` are right; every later block lacks a constant"),
        Text("each block scans its own elements, and the sums of the blocks before it are not added"),
        Text("add to every element of a block the sum of all elements in the blocks before it"),
    ),
    "scan-without-some-carries": Explanation(
        Text("the first {first} elements of `{output}` are right; every later block lacks a constant"),
        Text("a block adds the sums of some of the blocks before it, such as the last one, but not of all"),
        Text("add to every element of a block the sum of all elements in the blocks before it"),
    ),
    "accumulated": Explanation(
        Text("`{output}` holds the expected values added to what it held before the launch"),
        Text("the kernel adds to the buffer, whose content before the launch is not specified"),
        Text(
            "assign (`output[i] = …`) instead of adding (`output[i] += …`), or add up in a variable that "
            "starts at 0 and store it once"
        ),
    ),
    "same-result": Explanation(
        Text("`{output}` is the same with different data"),
        Text("the result does not depend on the input: it is computed from indices or constants alone"),
        Text("read the elements of the input buffers in the kernel; they differ from run to run"),
    ),
    "order-dependent": Explanation(
        Text("`{output}` depends on the order in which the threads run"),
        Text(
            "it is right if the first threads run first, and wrong in this order: a GPU promises no order, "
            "neither of the threads between two barriers nor of the blocks"
        ),
        Text(
            "look for what the order decides, such as the value that an atomic operation returns or what "
            "another block has written by then, and compute it from the index of the thread or block"
        ),
    ),
    "known-mistake": Explanation(
        Text("`{output}` is wrong in the way of a known mistake"),
        Text("{because}"),
        Text("find the line that does this, and follow one thread through it"),
    ),
    "scaled": Explanation(
        Text("every element of `{output}` is {factor} times what it should be"),
        Text("a factor is missing or applied twice, or every element is added several times"),
        Text("look for a constant, a size or a number of threads with exactly this value"),
    ),
    "other-operation": Explanation(
        Text("each element of `{output}` is `{formula}`"),
        Text("that is not the puzzle's formula, and it holds with every data set"),
        Text("compare the expression in the kernel with the formula of the puzzle, term by term"),
    ),
    "window-length": Explanation(
        Text("each element of `{output}` is a sum of {length} elements of `{input}`, not of {wanted}"),
        Text("the loop over the elements takes a step too many or too few"),
        Text("write down which elements one thread adds, and compare the bounds of the loop with them"),
    ),
    "other-stride": Explanation(
        Text("`{output}` holds sums of rows that begin {stride} elements apart, not {wanted}"),
        Text("the offset of a row is computed with another size than the length of a row"),
        Text("in raw memory row `r` begins at `r` times the number of columns, {wanted}"),
    ),
    "columns-for-rows": Explanation(
        Text("`{output}` holds sums of columns instead of rows"),
        Text("the elements that are added lie {step} apart in memory; those of a row are neighbours"),
        Text("the element of a row is at `row * width + col`: let the loop or the threads count `col`"),
    ),
    "rows-for-columns": Explanation(
        Text("`{output}` holds sums of rows instead of columns"),
        Text("the elements that are added are neighbours in memory; those of a column are a row apart"),
        Text("the element of a column is at `row * width + col`: let the loop or the threads count `row`"),
    ),
    "other-tile": Explanation(
        Text("`{output}` is the product with other tiles of `{input}`"),
        Text("the tile of `{input}` at `{used}` is loaded where the one at `{wanted}` is needed"),
        Text(
            "in each step the tile of the left matrix is in the row of the block, and the tile of the right "
            "matrix in its column"
        ),
    ),
    "sum-of-other-terms": Explanation(
        Text("`{output}` is the sum of `{formula}`"),
        Text("that is not the puzzle's formula, and it holds with every data set"),
        Text("compare the expression in the kernel with the formula of the puzzle, term by term"),
    ),
    "scan-distances": Explanation(
        Text("`{output}` is what a prefix sum gives whose steps add the elements {used} apart"),
        Text("the steps are to add the elements {wanted} apart, so that every element is added once"),
        Text("write down which elements one thread has added after each step"),
    ),
    "scan-backwards": Explanation(
        Text("`{output}` holds the sums of the elements of `{input}` from each one to the last"),
        Text("the elements after an element are added, where those before it are wanted"),
        Text("follow one thread by hand: which elements does it add?"),
    ),
    "filter-direction": Explanation(
        Text("`{output}` is what the formula gives with `{used}` in place of `{wanted}`"),
        Text("an index of `{input}` has the wrong sign, or begins too early"),
        Text("write down the first term of one element: which element of `{input}` does it use?"),
    ),
    "other-reduction": Explanation(
        Text("each element of `{output}` is `{function}` of the elements whose sum is wanted"),
        Text("another operation combines them"),
        Text("add the elements, and begin with 0"),
    ),
    "other-row-stride": Explanation(
        Text("`{output}` is what the formula gives if the rows of `{input}` begin at multiples of {stride}"),
        Text("the offset of a row is computed with another size than the length of a row, {wanted}"),
        Text("the element of `{input}` is at `[row, col]`, in raw memory at the offset `row * width + col`"),
    ),
    "other-number": Explanation(
        Text("`{output}` is what the formula gives with {used} in place of `{number}`, {wanted}"),
        Text("an index, a factor or the bound of a loop is another number than it has to be"),
        Text("compare each place where the formula has `{number}` with your kernel"),
    ),
    "exchanged": Explanation(
        Text("`{output}` is what the formula gives with `{first}` and `{second}` exchanged"),
        Text("each of them is used where the other one belongs"),
        Text("compare the order of the operands with the formula of the puzzle"),
    ),
    "reversed-operand": Explanation(
        Text("`{output}` is what the formula gives with the elements of `{input}` in reverse order"),
        Text("an index of `{input}` counts down where the formula counts up, or the other way round"),
        Text("write down the first term of one element: which element of `{input}` does it use?"),
    ),
    "transposed-operand": Explanation(
        Text("`{output}` is what the formula gives with rows and columns of `{input}` swapped"),
        Text("row and column of its index are swapped, or its offset has the wrong size as a factor"),
        Text("the element of `{input}` is at `[row, col]`, in raw memory at the offset `row * width + col`"),
    ),
    "first-element": Explanation(
        Text("`{output}` is what the formula gives with the first element of `{input}` everywhere"),
        Text("the index of `{input}` is the same for all threads"),
        Text("index `{input}` with the row, the column or the index of the thread, as the formula says"),
    ),
    "without-element": Explanation(
        Text("`{output}` is what the formula gives without element {index} of `{input}`"),
        Text("the loop over the elements of `{input}` takes a step too few, or a condition leaves one out"),
        Text("compare the bounds of the loop, and the conditions in it, with the number of elements"),
    ),
    "neighbour-operand": Explanation(
        Text("`{output}` is what the formula gives with `{input}[i{distance}]` in place of `{input}[i]`"),
        Text("an index of `{input}` is off by one"),
        Text("follow one thread by hand: which element of `{input}` does it read?"),
    ),
    "operand-left-out": Explanation(
        Text("`{output}` is what the formula gives if every element of `{input}` is 0"),
        Text("`{input}` is not read, or its terms do not reach the result"),
        Text("find the line that reads `{input}`, and follow its value to the output"),
    ),
    "fractions-cut": Explanation(
        Text("`{output}` is what the formula gives without the fractions"),
        Text("values are converted to integers on their way, which cuts them off"),
        Text("keep `dtype` for every variable and cast between the loads and the store"),
    ),
    "wrapped": Explanation(
        Text("`{output}` holds what {bits} bits can hold of the right values"),
        Text("values pass through the type `{type}`: fractions are cut off, and large values wrap around"),
        Text("keep `dtype` for every variable and cast between the loads and the store"),
    ),
    "narrow-type": Explanation(
        Text("`{output}` has the precision of {type} only"),
        Text("a variable, an array or a cast has this type, so every value is rounded to it"),
        Text("keep `dtype` for every variable and cast between the loads and the store"),
    ),
    "shared-rounding": Explanation(
        Text("all elements of `{output}` are wrong by the same factor, which is nearly 1"),
        Text(
            "a value that all of them share, such as a sum, was rounded: a variable, an array or a cast has "
            "a narrower type than `dtype`"
        ),
        Text("keep `dtype` for every variable and cast between the loads and the store"),
    ),
    "some-lanes": Explanation(
        Text(
            "only the first of every {period} elements of `{output}` is right",
            "only the first {count} of every {period} elements of `{output}` are right",
        ),
        Text("the threads of the others lack a value that these threads have, or a condition excludes them"),
        Text(
            "check which threads receive the value: what some of them compute has to reach all of them, and "
            "a bound has to be the number of threads"
        ),
    ),
    "first-elements": Explanation(
        Text("only the first {count} elements of `{output}` are right"),
        Text("the threads of the others lack a value that these threads have, or a condition excludes them"),
        Text(
            "check which threads receive the value: what some of them compute has to reach all of them, and "
            "a bound has to be the number of threads"
        ),
    ),
    "not-a-number": Explanation(
        Text("{count} elements of `{output}` are NaN or infinite"),
        Text("the kernel computed with uninitialised memory, or divided by zero"),
        Text(
            "check that every value is written before it is read, that of a thread past the end of the data "
            "too, and that no divisor is 0"
        ),
    ),
    "overflowed": Explanation(
        Text(
            "one element of `{output}` is infinite, and the other wrong ones look as if rounded to float16",
            "{count} elements of `{output}` are infinite, and the other wrong ones look as if rounded to "
            "float16",
        ),
        Text("a variable, an array or a cast has the type float16, whose largest number is 65504"),
        Text("keep `dtype` for every variable and cast between the loads and the store"),
    ),
    "not-submitted": Explanation(
        Text("the program did not hand in `{output}`"),
        Text("results are judged from the buffer itself, not from what is printed"),
        Text('keep the line `submit("{output}", …)` of the problem file as it was'),
    ),
    "other-type": Explanation(
        Text("`{output}` has elements of type {got}, not {wanted}"),
        Text(
            "the judge's data and its expected values have the type that the puzzle specifies, and are "
            "compared in it"
        ),
        Text("restore `dtype`, or the type where the buffer is created (`git diff` shows what you changed)"),
    ),
    "other-size": Explanation(
        Text("`{output}` has {got} elements, not {wanted}"),
        Text("results are compared element by element, so the sizes must be equal"),
        Text(
            "restore the sizes at the top and where the buffer is created (`git diff` shows what you changed)"
        ),
    ),
    "irregular-file": Explanation(
        Text("what the program handed in as `{output}` is not a regular file"),
        Text(
            "results are read from regular files, as `submit` writes them, not from a pipe, device or "
            "symbolic link"
        ),
        Text("hand the buffer in with `submit`, and write nothing to the folder PUZZLE_LAB_DIR yourself"),
    ),
    "too-large": Explanation(
        Text("what the program handed in as `{output}` is too large, and was not read"),
        Text("the puzzle's buffer has {wanted} bytes"),
        Text(
            "restore the sizes at the top and where the buffer is created (`git diff` shows what you changed)"
        ),
    ),
    "broken-element": Explanation(
        Text("what the program handed in as `{output}` has {got} bytes, not {wanted}"),
        Text(
            "an element has {width} bytes, so the last one is incomplete; `submit` writes whole buffers only"
        ),
        Text("hand the buffer in with `submit`, and write nothing to the folder PUZZLE_LAB_DIR yourself"),
    ),
    "text-disagrees": Explanation(
        Text("the values printed as `{output}` (line {line}) differ from those of the buffer"),
        Text("the buffer was printed before the kernel had finished, or something else was printed"),
        Text("print the buffer after `ctx.synchronize()`"),
    ),
    "input-changed": Explanation(
        Text("the program did not work on the puzzle's data: `{output}` {detail}"),
        Text("the expected values are those for the puzzle's own data"),
        Text(
            "restore the lines of `main` that fill and stage the buffers (`git diff` shows what you changed)"
        ),
    ),
    "mismatch": Explanation(
        Text("`{output}` is wrong"),
        Text("the differences match none of the usual patterns"),
        Text("work out the first wrong element by hand and compare each step with your kernel"),
    ),
    "after-findings": Explanation(
        Text("`{output}` is wrong, too"),
        Text("what the simulated GPU found above can have this effect, so the values show nothing else"),
        Text("fix the first finding above, and run it again"),
    ),
    "crash": Explanation(
        Text("the program crashed ({detail})"),
        Text("most often a kernel accessed memory outside its buffers"),
        Text("run it with `--target sim`: the simulated GPU reports the line of an out-of-bounds access"),
    ),
    "kernel-stopped": Explanation(
        Text("the simulated GPU stopped `{kernel}`: {detail}"),
        Text("a kernel cannot continue after this error, so the rest of its output was not written"),
        Text("start with the findings above, if there are any; a failed assertion stops a kernel as well"),
    ),
    "killed": Explanation(
        Text("the program was killed from outside ({detail})"),
        Text("neither the program nor the tool did that; most often the system has run out of memory"),
        Text(
            "end other programs and run it again; if it happens every time, look for an allocation that is "
            "too large"
        ),
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
            "check each loop's condition, and that no barrier is inside an `if` that only some threads enter"
        ),
    ),
    "memory-limit": Explanation(
        Text(
            "the program was ended because it filled the memory of this machine: it had {taken} GiB, and "
            "{left} GiB were left"
        ),
        Text("a loop allocates memory and never frees it, or the program needs more than this machine has"),
        Text(
            "look for what a loop appends to, and for buffers that it creates; if the program needs that "
            "much, end other programs, or take a smaller size"
        ),
    ),
    "thread-limit": Explanation(
        Text("the program was ended because it had {taken} threads and processes; {left} are allowed"),
        Text("a loop starts threads or processes and does not wait for them"),
        Text("start one thread for each core at most, as `parallelize` does, and wait for it"),
    ),
    "memory-allowance": Explanation(
        Text("the program was ended because it had {taken} GiB of memory; {left} GiB are allowed"),
        Text("a loop allocates memory and never frees it, or the program needs more than is allowed"),
        Text("look for what a loop appends to, and for buffers that it creates"),
    ),
    "files-limit": Explanation(
        Text("the program was ended because it had written {taken} GiB of files; {left} GiB are allowed"),
        Text("a loop writes files, or appends to one"),
        Text("write no files: the buffers are handed in by `lab`"),
    ),
    "launch-too-large": Explanation(
        Text("the program did not end: {detail}"),
        Text(
            "`{kernel}` was launched with {blocks:,} blocks of {threads:,} threads; {finished:,} of the "
            "blocks had ended"
        ),
        Text(
            "launch one thread for each element: SIZE elements take `ceildiv(SIZE, THREADS)` blocks of "
            "THREADS threads"
        ),
    ),
    "kernel-endless": Explanation(
        Text("the program did not end: {detail}"),
        Text(
            "a loop in `{kernel}` does not end, or takes far too long: thread {thread} of block {block} was "
            "still in it, at {location}"
        ),
        Text(
            "look at the loop around that line: what makes its condition false, and does every iteration "
            "bring it closer to that?"
        ),
    ),
    "not-launched": Explanation(
        Text("no kernel was launched"),
        Text("the result is right, but it was not computed on the GPU"),
        Text("restore the launch in `main` (`git diff` shows what you changed)"),
    ),
    "stored-by-host": Explanation(
        Text(
            "{count} element of `{output}` is right, but no kernel stored it",
            "{count} elements of `{output}` are right, but no kernel stored them",
        ),
        Text("the host wrote them last: by a fill, a copy, or at the end of a `map_to_host` block"),
        Text(
            "compute the whole output in the kernel, and restore the lines of `main` (`git diff` shows what "
            "you changed)"
        ),
    ),
    "copied-from-host": Explanation(
        Text("the kernel copied `{output}` from a buffer into which the host had written the result"),
        Text("that buffer is none of the puzzle's inputs, so the GPU did not compute these values"),
        Text(
            "pass the staged inputs to the kernel as in the original `main`, and compute the result from them"
        ),
    ),
    "not-from-device": Explanation(
        Text("what the program handed in as `{output}` was never copied from the GPU's memory"),
        Text("a result is the content of a buffer that a kernel stored to; these bytes come from the host"),
        Text(
            'keep the line `submit("{output}", …)` of the problem file as it was, and write nothing to the '
            "folder PUZZLE_LAB_DIR yourself"
        ),
    ),
    "guard-refilled": Explanation(
        Text("a kernel wrote past the end of its output, and the host then restored `{output}`"),
        Text("these elements show whether a thread wrote past the end; refilling them only hides it"),
        Text(
            "put the store under a condition that the extra threads do not meet, and restore the lines of "
            "`main` (`git diff` shows what you changed)"
        ),
    ),
    "launch-shape": Explanation(
        Text(
            "`{output}` was launched with a grid of {grid} and blocks of {block}, not with a grid of "
            "{wanted_grid} and blocks of {wanted_block}"
        ),
        Text("{because}"),
        Text("restore the launch in `main` (`git diff` shows what you changed)"),
    ),
    "few-threads": Explanation(
        Text(
            "only {count} thread of `{output}` accessed global memory; at least {least} have to share the "
            "work",
            "only {count} threads of `{output}` accessed global memory; at least {least} have to share the "
            "work",
        ),
        Text("{because}"),
        Text("let each thread work on elements of its own, found from its index"),
    ),
    "no-shared-memory": Explanation(
        Text("`{output}` never reads shared memory"),
        Text("{because}"),
        Text(
            "store the elements in shared memory, wait for the other threads with `barrier()`, and compute "
            "from what is there"
        ),
    ),
    "copies-in-turn": Explanation(
        Text(
            "all copies together take {times:.3g} times as long as those of the longer direction; at most "
            "{most:.3g} times are allowed"
        ),
        Text("{because}"),
        Text(
            "let a copy wait only for what it needs: a stream for each stage, an event for each dependency, "
            "and one wait of the host at the end; `tooling profile` shows the copies"
        ),
    ),
    "call-refused": Explanation(
        Text("the program failed: {detail}"),
        Text(
            "the driver refused the call at {position}, so the program ended before it had handed in a result"
        ),
        Text("correct this line; in a launch, check `grid_dim`, `block_dim` and the size of shared memory"),
    ),
    "program-ended-early": Explanation(
        _FAILED,
        _ENDED_EARLY,
        Text("its message says where"),
    ),
    "program-ended-early-somewhere": Explanation(_FAILED, _ENDED_EARLY, _SEARCH_ERROR),
    "program-error": Explanation(
        _FAILED,
        _ENDED_AFTER,
        Text("its message above says where"),
    ),
    "program-error-somewhere": Explanation(_FAILED, _ENDED_AFTER, _SEARCH_ERROR),
}
