"""The sentences of a verdict in both languages, by name; `{…}` are figures of the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.catalog.model import Text


class Explanation(Struct, frozen=True):
    """What a pattern is, what usually causes it, and what to try."""

    what: Text
    cause: Text
    advice: Text

    def render(self, language: str, detail: Mapping[str, object]) -> tuple[str, str, str]:
        """The three sentences in one language (`en` or `ko`)."""
        texts = (self.what, self.cause, self.advice)
        what, cause, advice = (text.in_language(language).format_map(detail) for text in texts)
        return what, cause, advice


EXPLANATIONS: Mapping[str, Explanation] = {
    "never-written": Explanation(
        Text(
            "the kernel wrote nothing into `{output}`",
            "커널이 `{output}`에 아무것도 쓰지 않았습니다",
        ),
        Text(
            "every element still holds what it held before the launch",
            "모든 원소가 실행 전 값 그대로입니다",
        ),
        Text(
            "fill in the marked region; check that some thread passes your `if` and assigns to the output",
            "표시된 부분을 채웁니다. `if`를 통과해 출력에 값을 대입하는 스레드가 있는지도 확인합니다",
        ),
    ),
    "written-beyond-the-end": Explanation(
        Text(
            "the kernel wrote beyond the end of its result, into {count} of the cells behind it",
            "커널이 결과의 끝을 넘어서 썼습니다. 그 뒤의 칸 {count}개가 바뀌었습니다",
        ),
        Text(
            "the first of them is cell {place} behind the end: more threads run than there are elements, and "
            "one of these wrote too",
            "그중 첫 칸은 끝에서 {place}번째 칸입니다. 스레드가 원소보다 많고, "
            "남는 스레드 중 하나가 값을 썼습니다",
        ),
        Text(
            "let only threads write whose index is below the size, in every dimension",
            "모든 차원에서 인덱스가 크기보다 작은 스레드만 쓰게 합니다",
        ),
    ),
    "partly-written": Explanation(
        Text(
            "{count} elements of `{output}` were never written",
            "`{output}`의 원소 {count}개가 한 번도 쓰이지 않았습니다",
        ),
        Text(
            "they still hold what they held before the launch",
            "실행 전 값이 그대로 남아 있습니다",
        ),
        Text(
            "compare guard and index with the grid: which threads should have written these elements?",
            "가드와 인덱스를 그리드와 비교합니다. 이 원소들은 어느 스레드가 써야 했습니까?",
        ),
    ),
    "first-block-only": Explanation(
        Text(
            "only the first {count} elements of `{output}` are right, the others were never written",
            "`{output}`의 처음 {count}개만 맞고 나머지는 쓰이지 않았습니다",
        ),
        Text(
            "with several blocks, that is what a local index does where a global one belongs: every block "
            "writes the same elements; with one block, the guard lets too few threads pass",
            "블록이 여럿이면 전역 인덱스가 필요한 곳에 지역 인덱스를 써서 모든 블록이 같은 "
            "원소에 쓴 경우이고, 블록이 하나면 가드가 스레드를 너무 적게 통과시킨 경우입니다",
        ),
        Text(
            "index global memory with `block_dim.x * block_idx.x + thread_idx.x`, and compare the guard with "
            "the number of elements",
            "전역 메모리는 `block_dim.x * block_idx.x + thread_idx.x`로 접근하고, "
            "가드를 원소 수와 비교합니다",
        ),
    ),
    "shifted": Explanation(
        Text(
            "the elements of `{output}` stand {distance:+d} places from where they belong",
            "`{output}`의 원소들이 제자리에서 {distance:+d}칸 밀려 있습니다",
        ),
        Text(
            "an index is off by a constant, often by one",
            "인덱스가 일정한 값만큼, 흔히 1만큼 어긋나 있습니다",
        ),
        Text(
            "follow one thread by hand: which element does it read, and which one does it write?",
            "스레드 하나를 손으로 따라가 봅니다. 어느 원소를 읽고 어느 원소에 씁니까?",
        ),
    ),
    "permuted": Explanation(
        Text(
            "`{output}` holds the right values in another order",
            "`{output}`의 값은 맞지만 순서가 다릅니다",
        ),
        Text(
            "two indices have changed places, or a stride is not the length of a row",
            "두 인덱스가 뒤바뀌었거나 보폭이 행의 길이와 다릅니다",
        ),
        Text(
            "write down the index of the first three wrong elements and what your formula gives for them",
            "틀린 원소 세 개의 인덱스와 여러분의 식이 내는 값을 적어 봅니다",
        ),
    ),
    "transposed": Explanation(
        Text("`{output}` is transposed", "`{output}`의 행과 열이 뒤바뀌었습니다"),
        Text(
            "row and column have changed places: `x` runs along a row, `y` goes from row to row",
            "행과 열이 바뀌었습니다. `x`는 행을 따라가고 `y`는 행을 건너갑니다",
        ),
        Text(
            "take `row` from `y` and `col` from `x`; the element stands at `[row, col]`, in raw memory at "
            "`row * width + col`",
            "`row`는 `y`에서, `col`은 `x`에서 구합니다. 원소의 자리는 `[row, col]`이고, 메모리에서는 "
            "`row * width + col`입니다",
        ),
    ),
    "tile-repeated": Explanation(
        Text(
            "the same {count} elements repeat through all of `{output}`",
            "같은 {count}개 원소가 `{output}` 전체에 반복됩니다",
        ),
        Text(
            "every block or tile works on the same part of the input",
            "모든 블록이나 타일이 입력의 같은 부분을 처리합니다",
        ),
        Text(
            "let the block's or tile's number enter the index that you read with",
            "읽는 인덱스에 블록 번호나 타일 번호를 넣습니다",
        ),
    ),
    "missing-last": Explanation(
        Text(
            "only the last {count} element(s) of `{output}` are wrong",
            "`{output}`의 마지막 {count}개 원소만 틀렸습니다",
        ),
        Text(
            "a limit is one too small, or the last block or tile is not full",
            "경계가 하나 작거나 마지막 블록(타일)이 가득 차지 않았습니다",
        ),
        Text(
            "check `<` against `<=` and `size` against `size - 1` in the guard and in the loops",
            "가드와 반복문에서 `<`와 `<=`, `size`와 `size - 1`을 확인합니다",
        ),
    ),
    "partial-sum": Explanation(
        Text(
            "`{output}` looks like a sum over the wrong set of elements",
            "`{output}`은 엉뚱한 원소들을 더한 값으로 보입니다",
        ),
        Text(
            "a step of the reduction or scan leaves terms out or adds some twice, or a barrier is missing "
            "between its steps",
            "리덕션이나 스캔의 한 단계가 항을 빠뜨리거나 두 번 더했거나, 단계 사이에 배리어가 없습니다",
        ),
        Text(
            "follow the strides on paper for eight elements; every step reads only what the one before wrote",
            "원소 8개로 보폭을 종이에 따라가 봅니다. 각 단계는 앞 단계가 쓴 값만 읽어야 합니다",
        ),
    ),
    "scaled": Explanation(
        Text(
            "every element of `{output}` is {factor} times what it should be",
            "`{output}`의 모든 원소가 정답의 {factor}배입니다",
        ),
        Text(
            "a factor is missing or applied twice, or every element is added several times",
            "곱할 수가 빠졌거나 두 번 곱해졌거나, 원소가 여러 번 더해졌습니다",
        ),
        Text("look for what has exactly this value", "정확히 이 값을 갖는 것이 무엇인지 찾아봅니다"),
    ),
    "not-a-number": Explanation(
        Text(
            "{count} elements of `{output}` are NaN or infinite",
            "`{output}`의 원소 {count}개가 NaN 또는 무한대입니다",
        ),
        Text(
            "the kernel computed with memory that nobody wrote, or divided by zero",
            "아무도 쓰지 않은 메모리로 계산했거나 0으로 나누었습니다",
        ),
        Text(
            "check that all of shared memory is written before it is read, also by threads past the end",
            "공유 메모리를 읽기 전에, 끝을 넘는 스레드 몫까지 모두 쓰였는지 확인합니다",
        ),
    ),
    "not-submitted": Explanation(
        Text(
            "the program did not hand in `{output}`",
            "프로그램이 `{output}`을 제출하지 않았습니다",
        ),
        Text(
            "results are judged from the buffer itself, not from what is printed",
            "결과는 출력된 글이 아니라 버퍼 자체로 판정합니다",
        ),
        Text(
            'keep the line `submit("{output}", …)` of the problem file as it was',
            '문제 파일의 `submit("{output}", …)` 줄을 그대로 둡니다',
        ),
    ),
    "other-type": Explanation(
        Text(
            "`{output}` has elements of {got}, and the puzzle's are {wanted}",
            "`{output}`의 원소 형식이 {got}입니다. 이 퍼즐의 형식은 {wanted}입니다",
        ),
        Text(
            "the judge's data and its answer are of the puzzle's own type, and values are compared in it",
            "판정용 데이터와 정답은 퍼즐이 정한 형식이며, 값도 그 형식으로 비교합니다",
        ),
        Text(
            "restore `dtype`, or the type where the buffer is made (`git diff` shows what you changed)",
            "`dtype`이나 버퍼를 만드는 줄의 형식을 되돌립니다 (`git diff`로 바뀐 곳을 볼 수 있습니다)",
        ),
    ),
    "other-size": Explanation(
        Text(
            "`{output}` has {got} elements, and the puzzle's has {wanted}",
            "`{output}`의 원소가 {got}개입니다. 이 퍼즐에서는 {wanted}개입니다",
        ),
        Text(
            "results are compared element by element, so none may be left out or added",
            "결과는 원소별로 비교하므로 빠지거나 더해진 것이 없어야 합니다",
        ),
        Text(
            "restore the sizes at the top and where the buffer is made (`git diff` shows what you changed)",
            "파일 첫머리와 버퍼를 만드는 줄의 크기를 되돌립니다 (`git diff`로 바뀐 곳을 볼 수 있습니다)",
        ),
    ),
    "irregular-file": Explanation(
        Text(
            "what the program handed in as `{output}` is not a regular file",
            "프로그램이 `{output}`으로 제출한 것이 일반 파일이 아닙니다",
        ),
        Text(
            "results are read from regular files, as `submit` writes them: no pipe, device or symbolic link",
            "결과는 `submit`이 쓴 파일에서 읽습니다. 파이프, 장치, 심볼릭 링크는 읽지 않습니다",
        ),
        Text(
            "hand the buffer in with `submit`, and write nothing to the folder PUZZLE_LAB_DIR yourself",
            "버퍼를 `submit`으로 제출하고, PUZZLE_LAB_DIR 폴더에는 직접 쓰지 않습니다",
        ),
    ),
    "too-large": Explanation(
        Text(
            "what the program handed in as `{output}` is too large, and was not read",
            "프로그램이 `{output}`으로 제출한 것이 너무 커서 읽지 않았습니다",
        ),
        Text(
            "the puzzle's buffer has {wanted} bytes",
            "이 퍼즐의 버퍼는 {wanted}바이트입니다",
        ),
        Text(
            "restore the sizes at the top and where the buffer is made (`git diff` shows what you changed)",
            "파일 첫머리와 버퍼를 만드는 줄의 크기를 되돌립니다 (`git diff`로 바뀐 곳을 볼 수 있습니다)",
        ),
    ),
    "broken-element": Explanation(
        Text(
            "what the program handed in as `{output}` has {got} bytes, and the puzzle's buffer has {wanted}",
            "프로그램이 `{output}`으로 제출한 것은 {got}바이트이고, 이 퍼즐의 버퍼는 {wanted}바이트입니다",
        ),
        Text(
            "an element has {width} bytes, so the last one is incomplete; `submit` writes whole buffers only",
            "원소 하나가 {width}바이트이므로 마지막 원소가 온전하지 않습니다. `submit`은 버퍼 전체만 씁니다",
        ),
        Text(
            "hand the buffer in with `submit`, and write nothing to the folder PUZZLE_LAB_DIR yourself",
            "버퍼를 `submit`으로 제출하고, PUZZLE_LAB_DIR 폴더에는 직접 쓰지 않습니다",
        ),
    ),
    "text-disagrees": Explanation(
        Text(
            "what is printed as `{output}` (line {line}) is not what the buffer holds",
            "`{output}`으로 출력된 내용({line}번째 줄)이 버퍼의 내용과 다릅니다",
        ),
        Text(
            "the buffer was printed before the kernel had finished, or something else was printed",
            "커널이 끝나기 전에 출력했거나 다른 것을 출력했습니다",
        ),
        Text("print the buffer after `ctx.synchronize()`", "`ctx.synchronize()` 다음에 버퍼를 출력합니다"),
    ),
    "input-changed": Explanation(
        Text(
            "the program did not work on the puzzle's data: `{output}` {detail}",
            "프로그램이 퍼즐의 데이터로 계산하지 않았습니다: `{output}` {detail}",
        ),
        Text(
            "the answer is judged for the puzzle's own data",
            "정답은 퍼즐이 정한 데이터로 판정합니다",
        ),
        Text(
            "restore the lines of `main` that fill and stage the buffers (`git diff` shows what you changed)",
            "`main`에서 버퍼를 채우고 stage 하는 줄을 되돌립니다 (`git diff`로 바뀐 곳을 볼 수 있습니다)",
        ),
    ),
    "mismatch": Explanation(
        Text("`{output}` is wrong", "`{output}`이 틀렸습니다"),
        Text(
            "the differences follow none of the usual patterns",
            "흔히 보이는 유형의 차이가 아닙니다",
        ),
        Text(
            "work out the first wrong element by hand and compare each step with your kernel",
            "틀린 첫 원소를 손으로 계산해 커널의 각 단계와 비교해 봅니다",
        ),
    ),
    "spoilt": Explanation(
        Text("`{output}` is wrong", "`{output}`이 틀렸습니다"),
        Text(
            "a thread that reads or writes where it must not, as told above, spoils values",
            "위에 적힌 대로 스레드가 엉뚱한 곳을 읽거나 쓰면 값이 틀어집니다",
        ),
        Text("mend the line above first, and run it again", "위의 줄부터 고치고 다시 실행합니다"),
    ),
    "crash": Explanation(
        Text("the program crashed ({detail})", "프로그램이 비정상 종료했습니다 ({detail})"),
        Text(
            "most often a kernel reached outside its buffers",
            "대개 커널이 버퍼 밖을 건드린 경우입니다",
        ),
        Text(
            "run it with `--target sim`: the simulated GPU names the line that reaches too far",
            "`--target sim`으로 실행하면 시뮬레이션 GPU가 잘못된 줄을 알려 줍니다",
        ),
    ),
    "kernel-stopped": Explanation(
        Text(
            "the simulated GPU stopped `{kernel}` at {place}: {detail}",
            "시뮬레이션 GPU가 {place}에서 `{kernel}`을 중단했습니다: {detail}",
        ),
        Text(
            "no GPU goes on from there, so what the kernel had still to write is missing",
            "어떤 GPU도 여기서 더 나아갈 수 없어, 커널이 쓸 나머지 결과가 없습니다",
        ),
        Text(
            "begin with what was found above, if anything; an assertion that fails stops a kernel as well",
            "위에 찾은 것이 있으면 그것부터 고칩니다. 실패한 assert도 커널을 중단시킵니다",
        ),
    ),
    "crash-on-host": Explanation(
        Text("the program crashed ({detail})", "프로그램이 비정상 종료했습니다 ({detail})"),
        Text(
            "no kernel was running: it happened in `main`, on the CPU",
            "실행 중인 커널이 없었으므로 CPU에서 도는 `main`에서 일어난 일입니다",
        ),
        Text(
            "restore the lines of `main` (`git diff` shows what you changed)",
            "`main`의 줄을 되돌립니다 (`git diff`로 바뀐 곳을 볼 수 있습니다)",
        ),
    ),
    "time-limit": Explanation(
        Text("the program did not end: {detail}", "프로그램이 끝나지 않았습니다: {detail}"),
        Text(
            "a loop does not end, or threads wait for each other at a barrier that not all of them reach",
            "반복문이 끝나지 않거나, 일부 스레드가 도달하지 못하는 배리어에서 서로 기다리고 있습니다",
        ),
        Text(
            "check each loop's condition, and that no barrier stands in an `if` that only some threads enter",
            "반복문의 조건을 확인하고, 일부 스레드만 들어가는 `if` 안에 배리어가 없는지 봅니다",
        ),
    ),
    "kernel-endless": Explanation(
        Text("the program did not end: {detail}", "프로그램이 끝나지 않았습니다: {detail}"),
        Text(
            "a loop in `{kernel}` does not end, or takes far too long: thread {thread} of block {block} was "
            "still in it, at {place}",
            "`{kernel}`의 반복문이 끝나지 않거나 너무 오래 걸립니다. 블록 {block}의 스레드 {thread}가 아직 "
            "{place}에 있었습니다",
        ),
        Text(
            "look at the loop around that line: what makes its condition false, and does every step come "
            "nearer to that?",
            "그 줄을 둘러싼 반복문을 봅니다. 무엇이 조건을 거짓으로 만들며, 한 바퀴마다 거기에 가까워집니까?",
        ),
    ),
    "not-launched": Explanation(
        Text("no kernel was launched", "커널이 한 번도 실행되지 않았습니다"),
        Text(
            "the result is right, but it was not computed on the GPU",
            "결과는 맞지만 GPU에서 계산하지 않았습니다",
        ),
        Text(
            "restore the launch in `main` (`git diff` shows what you changed)",
            "`main`의 커널 실행 부분을 되돌립니다 (`git diff`로 바뀐 곳을 볼 수 있습니다)",
        ),
    ),
    "program-ended-early": Explanation(
        Text("the program failed: {detail}", "프로그램이 실패했습니다: {detail}"),
        Text(
            "it ended with an error before it had handed in a result",
            "결과를 제출하기 전에 오류로 끝났습니다",
        ),
        Text("its message says where", "메시지에 위치가 나와 있습니다"),
    ),
    "program-error": Explanation(
        Text("the program failed: {detail}", "프로그램이 실패했습니다: {detail}"),
        Text(
            "the buffers it handed in are right, but the program itself ended with an error",
            "제출된 버퍼는 맞지만 프로그램 자체가 오류로 끝났습니다",
        ),
        Text("its message above says where", "위의 메시지에 위치가 나와 있습니다"),
    ),
}
