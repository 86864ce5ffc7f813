"""Counts the seeded defects of a translation that are not found, and the legitimate variations that are.

    python -m benchmarks.translations_defects [--list]

A chapter of a book of puzzles (130 defects and 55 variations are edits of its Korean page) is compared under the
policy of this repository, in which warnings fail. Defects that are planted alike in both languages, or in a file
that pages show, are edits of a source page alone; `book check` finds others of these, which
`tests/book/seeded_defects.py` lists.
"""

# ruff: noqa: E501 - one edit a line

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tooling.mdbook.books import Library
from tooling.mdbook.pages import Page
from tooling.text import in_language
from tooling.translations.parity import comparison, glossary
from tooling.translations.parity.findings import ParityFinding, ParitySeverity

ENGLISH = """\
# Puzzle 7: Barriers

The threads of a block wait for each other at a *barrier*. A block has 256 threads in 4 rows.
The first call of `barrier()` comes after the loads, and the second one after the sums.

See [puzzle 15](other.md) and [the table of sizes](other.md#sizes), the [manual](https://docs.example.org/en/gpu/) and
[Warp](https://en.wikipedia.org/wiki/Warp). A load[^1] of 16 bytes takes 400 cycles[^2].

[^1]: A read of global memory.
[^2]: On a GPU of 2022.

![A grid of 4 rows and 8 columns](img/grid.png)

<img src="img/lanes.png" alt="The lanes of a warp">

## Shared memory {#shared}

Write to `tile` first, then call `barrier()`, then read `tile`. Shared memory has 48 KiB.
It is about 20 times as fast as global memory, whose width is half of that.

1. Load `row` from global memory.
2. Wait for the 32 lanes of the warp.
3. Add `sum` to the total of the block.
4. Store `out` in global memory.

- The first item names `alpha` and 10 threads.
- The second item names `beta` and 20 threads.
  - A nested item names `gamma`.
- The last item has no name in it at all.

| size | width | result |
|------|------:|--------|
| small | 32 | lanes |
| large | 16 | blocks |
| `huge` | 64 | grids |

```mojo
# Wait for the loads.
tile[i] = a[i] + 1
barrier()
print("done", i)
```

```text
result: 42
```

```bash
uv run tooling run p15  # the puzzle
```

## Rules

> [!NOTE]
> Call `barrier()` in every thread of the block, or the block hangs.

\\\\[ s = \\sum_{i=0}^{n-1} a_i \\\\]

The step \\\\(i + 1\\\\) starts on January 5, 2024 at 3:30 PM. Half of the threads wait, and 30,000 of 1,200,000 requests
are misses. It is 1.5 times as slow as before.

Press <kbd>Ctrl</kbd>+<kbd>C</kbd> to stop. The answer is **never** to wait twice.

- [x] The loads are done.
- [ ] The stores are done.

<details><summary>Answer</summary>

Not every thread reaches the barrier, so that the block waits for ever. The value of `sum` is 120.

</details>

<div class="code-tabs" data-tab-group="package-manager">
<div class="tab">

A tab with `pixi run p07`.

</div>
</div>

{{#include _includes/note.md}}

## See also

The next page explains the order of the loads and stores. It comes back to `tile` and `tile` again.
More is in [the table of sizes](other.md#sizes).
"""

KOREAN = """\
# 퍼즐 7: 배리어

블록의 스레드는 *배리어*에서 서로 기다립니다. 블록에는 스레드가 4행에 걸쳐 256개 있습니다.
첫 번째 `barrier()` 호출은 로드 다음에, 두 번째 호출은 합 다음에 옵니다.

[퍼즐 15](other.md)와 [크기 표](other.md#크기), [설명서](https://docs.example.org/en/gpu/),
[워프](https://en.wikipedia.org/wiki/Warp)를 참고하십시오. 16바이트의 로드[^1]에는 400사이클[^2]이 걸립니다.

[^1]: 글로벌 메모리의 읽기입니다.
[^2]: 2022년의 GPU에서 그렇습니다.

![4행 8열의 그리드](img/grid.png)

<img src="img/lanes.png" alt="워프의 레인">

## 공유 메모리(shared memory) {#shared}

먼저 `tile`에 쓰고, `barrier()`를 호출한 다음 `tile`을 읽습니다. 공유 메모리는 48 KiB입니다.
글로벌 메모리보다 약 20배 빠르고, 글로벌 메모리의 폭은 그 절반입니다.

1. 글로벌 메모리에서 `row`를 읽습니다.
2. 워프의 레인 32개를 기다립니다.
3. 블록의 합계에 `sum`을 더합니다.
4. 글로벌 메모리에 `out`을 저장합니다.

- 첫 항목에는 `alpha`와 스레드 10개가 있습니다.
- 두 번째 항목에는 `beta`와 스레드 20개가 있습니다.
  - 하위 항목에는 `gamma`가 있습니다.
- 마지막 항목에는 이름이 하나도 없습니다.

| 크기 | 폭 | 결과 |
|------|------:|--------|
| 작음 | 32 | 레인 |
| 큼 | 16 | 블록 |
| `huge` | 64 | 그리드 |

```mojo
# 로드를 기다립니다.
tile[i] = a[i] + 1
barrier()
print("done", i)
```

```text
result: 42
```

```bash
uv run tooling run p15  # 퍼즐
```

## 규칙

> [!NOTE]
> 블록의 모든 스레드에서 `barrier()`를 호출합니다. 그렇지 않으면 블록이 멈춥니다.

\\\\[ s = \\sum_{i=0}^{n-1} a_i \\\\]

단계 \\\\(i + 1\\\\)은 2024년 1월 5일 오후 3:30에 시작합니다. 스레드의 절반이 기다리고, 요청 1,200,000개 가운데
30,000개가 실패합니다. 이전보다 1.5배 느립니다.

멈추려면 <kbd>Ctrl</kbd>+<kbd>C</kbd>를 누릅니다. 답은 **결코** 두 번 기다리지 않는 것입니다.

- [x] 로드가 끝났습니다.
- [ ] 저장이 끝났습니다.

<details><summary>답</summary>

모든 스레드가 배리어에 도달하지는 않으므로 블록은 끝없이 기다립니다. `sum`의 값은 120입니다.

</details>

<div class="code-tabs" data-tab-group="package-manager">
<div class="tab">

`pixi run p07`이 있는 탭입니다.

</div>
</div>

{{#include _includes/note.md}}

## 참고

다음 페이지는 로드와 저장의 순서를 설명합니다. 그리고 `tile`과 `tile`을 다시 다룹니다.
자세한 내용은 [크기 표](other.md#크기)에 있습니다.
"""

OTHER = ("# Sizes\n\nThe sizes of a block.\n", "# 크기\n\n블록의 크기입니다.\n")
GLOSSARY = """\
terms:
- {en: barrier, ko: [배리어], avoid: [장벽], first_use: false}
- {en: shared memory, ko: [공유 메모리]}
- {en: thread, ko: [스레드], avoid: [쓰레드], first_use: false}
- {en: warp, ko: [워프], first_use: false}
"""


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a page: the text that is replaced, once, by another one; `old` empty appends to the page."""

    name: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        if not self.old:
            return text + self.new
        assert self.old in text, f"{self.name}: {self.old!r} is not in the page"
        return text.replace(self.old, self.new, 1)


DEFECTS = (
    # numbers
    Edit("a number of threads", "256개", "265개"),
    Edit("a small number", "4행에", "3행에"),
    Edit("two numbers exchanged in a sentence", "요청 1,200,000개 가운데\n30,000개", "요청 30,000개 가운데\n1,200,000개"),
    Edit("a number in a table", "| 작음 | 32 |", "| 작음 | 33 |"),
    Edit("two numbers exchanged between rows", "| 작음 | 32 | 레인 |\n| 큼 | 16 |", "| 작음 | 16 | 레인 |\n| 큼 | 32 |"),
    Edit("a number in a list", "레인 32개", "레인 31개"),
    Edit("a counter word", "두 번째 호출", "세 번째 호출"),
    Edit("an ordinal", "첫 번째 `barrier()`", "두 번째 `barrier()`"),
    Edit("a number in a footnote", "2022년", "2023년"),
    Edit("a factor", "20배", "30배"),
    Edit("a decimal", "1.5배", "2.5배"),
    Edit("a month", "1월 5일", "2월 5일"),
    Edit("a day", "1월 5일", "1월 6일"),
    Edit("morning for afternoon", "오후 3:30", "오전 3:30"),
    Edit("a number of a title", "퍼즐 7", "퍼즐 8"),
    Edit("the number of a linked puzzle", "퍼즐 15", "퍼즐 16"),
    Edit("double for half", "폭은 그 절반", "폭은 그 두 배"),
    Edit("twice in words", "두 번 기다리지", "세 번 기다리지"),
    Edit("a number in an answer", "값은 120", "값은 121"),
    Edit("a number dropped", "30,000개가 실패", "일부가 실패"),
    Edit("a number added", "이전보다 1.5배", "이전보다 약 3번에 한 번은 1.5배"),
    # units
    Edit("bits for bytes", "16바이트", "16비트"),
    Edit("MiB for KiB", "48 KiB", "48 MiB"),
    Edit("seconds for cycles", "400사이클", "400초"),
    Edit("columns for rows", "4행에", "4열에"),
    # code
    Edit("a line of code replaced by words", "tile[i] = a[i] + 1", "tile은 a 더하기 1"),
    Edit("a line of code added", 'print("done", i)', 'print("done", i)\nprint("안녕")'),
    Edit("a string with another variable", 'print("done", i)', 'print("끝", j)'),
    Edit("code changed", "a[i] + 1", "a[i] + 2"),
    Edit("code dropped", "barrier()\nprint", "print"),
    Edit("output translated", "result: 42", "결과: 42"),
    Edit("output changed", "result: 42", "result: 43"),
    Edit("a command changed", "tooling run p15", "tooling run p16"),
    Edit("a command translated", "uv run tooling run p15", "uv run tooling 실행 p15"),
    Edit("a code block dropped", '```text\nresult: 42\n```\n\n', ""),
    Edit("the language of a code block", "```mojo", "```python"),
    Edit("a code span changed", "`sum`을 더합니다", "`sun`을 더합니다"),
    Edit("a code span dropped", "`alpha`와 스레드", "스레드"),
    Edit("a code span translated", "`out`을 저장", "결과를 저장"),
    Edit("a code span of another step", "`row`를 읽습니다", "`out`을 읽습니다"),
    Edit("a code span with a Cyrillic letter", "`gamma`", "`g\u0430mma`"),
    Edit("a zero-width space in a code span", "`gamma`", "`gam\u200bma`"),
    # links and pictures
    Edit("a link dropped", "[퍼즐 15](other.md)", "퍼즐 15"),
    Edit("a link to another page", "[퍼즐 15](other.md)", "[퍼즐 15](page.md)"),
    Edit("a link to a page that does not exist", "[퍼즐 15](other.md)", "[퍼즐 15](otter.md)"),
    Edit("a link to a section that does not exist", "other.md#크기)에", "other.md#크가)에"),
    Edit("a link with an English fragment", "other.md#크기)에", "other.md#sizes)에"),
    Edit("a link without a text", "[퍼즐 15](other.md)", "[](other.md)"),
    Edit("a link with a root", "[퍼즐 15](other.md)", "[퍼즐 15](/nowhere/other.md)"),
    Edit("an address changed", "docs.example.org/en/gpu/", "docs.example.org/en/cpu/"),
    Edit("an address of another host", "https://docs.example.org", "https://docs.example.com"),
    Edit("an unknown scheme", "https://docs.example.org", "htps://docs.example.org"),
    Edit("an address dropped", "[설명서](https://docs.example.org/en/gpu/)", "설명서"),
    Edit("a script address", "https://docs.example.org/en/gpu/", "javascript:alert(1)"),
    Edit("an English text of a link", "[설명서](", "[manual]("),
    Edit("another picture", "img/grid.png", "img/lanes.png"),
    Edit("a picture that does not exist", "img/grid.png", "img/gird.png"),
    Edit("a picture dropped", "![4행 8열의 그리드](img/grid.png)\n\n", ""),
    Edit("a picture without a description", "![4행 8열의 그리드]", "![]"),
    Edit("an <img> without a description", 'alt="워프의 레인"', 'alt=""'),
    Edit("an English description", "![4행 8열의 그리드]", "![A grid of 4 rows and 8 columns]"),
    Edit("an English description of an <img>", 'alt="워프의 레인"', 'alt="The lanes of a warp"'),
    Edit("an English description of two words", 'alt="워프의 레인"', 'alt="warp lanes"'),
    # structure
    Edit("a heading dropped", "## 규칙\n\n", ""),
    Edit("a heading of another level", "## 규칙", "### 규칙"),
    Edit("an id dropped", " {#shared}", ""),
    Edit("an id changed", "{#shared}", "{#sharing}"),
    Edit("a paragraph dropped", "멈추려면 <kbd>Ctrl</kbd>+<kbd>C</kbd>를 누릅니다. 답은 **결코** 두 번 기다리지 않는 것입니다.\n\n", ""),
    Edit("a paragraph without names dropped", "블록의 스레드는 *배리어*에서 서로 기다립니다. 블록에는 스레드가 4행에 걸쳐 256개 있습니다.\n첫 번째 `barrier()` 호출은 로드 다음에, 두 번째 호출은 합 다음에 옵니다.\n\n", ""),
    Edit("an item dropped", "- 마지막 항목에는 이름이 하나도 없습니다.\n", ""),
    Edit("an item added", "- 마지막 항목에는 이름이 하나도 없습니다.\n", "- 마지막 항목에는 이름이 하나도 없습니다.\n- 새 항목에는 새로운 내용이 있습니다.\n"),
    Edit("a row dropped", "| 큼 | 16 | 블록 |\n", ""),
    Edit("a column dropped", "| 크기 | 폭 | 결과 |\n|------|------:|--------|\n| 작음 | 32 | 레인 |", "| 크기 | 폭 |\n|------|------:|\n| 작음 | 32 |"),
    Edit("rows exchanged", "| 작음 | 32 | 레인 |\n| 큼 | 16 | 블록 |", "| 큼 | 16 | 블록 |\n| 작음 | 32 | 레인 |"),
    Edit("a list to a numbered list", "- 첫 항목에는 `alpha`와 스레드 10개가 있습니다.\n- 두", "1. 첫 항목에는 `alpha`와 스레드 10개가 있습니다.\n2. 두"),
    Edit("a nested item raised", "  - 하위 항목", "- 하위 항목"),
    Edit("an item nested", "- 마지막 항목", "  - 마지막 항목"),
    Edit("steps exchanged", "1. 글로벌 메모리에서 `row`를 읽습니다.\n2. 워프의 레인 32개를 기다립니다.", "1. 워프의 레인 32개를 기다립니다.\n2. 글로벌 메모리에서 `row`를 읽습니다."),
    Edit("items exchanged", "- 첫 항목에는 `alpha`와 스레드 10개가 있습니다.\n- 두 번째 항목에는 `beta`와 스레드 20개가 있습니다.", "- 두 번째 항목에는 `beta`와 스레드 20개가 있습니다.\n- 첫 항목에는 `alpha`와 스레드 10개가 있습니다."),
    Edit("paragraphs exchanged", "이전보다 1.5배 느립니다.\n\n멈추려면 <kbd>Ctrl</kbd>+<kbd>C</kbd>를 누릅니다. 답은 **결코** 두 번 기다리지 않는 것입니다.\n", "이전보다 1.5배 느립니다.\n", ),
    Edit("a box of another type", "> [!NOTE]", "> [!WARNING]"),
    Edit("a box translated", "> [!NOTE]", "> [!참고]"),
    Edit("a box dropped", "> [!NOTE]\n> 블록의", "블록의"),
    Edit("a tab dropped", '<div class="tab">\n\n`pixi run p07`이 있는 탭입니다.\n\n</div>\n', ""),
    Edit("a class changed", 'class="code-tabs"', 'class="code-tab"'),
    Edit("a tag that is never closed", "</details>\n", ""),
    Edit("a <kbd> that is never closed", "<kbd>C</kbd>", "<kbd>C"),
    Edit("another key", "<kbd>Ctrl</kbd>", "<kbd>Alt</kbd>"),
    Edit("a task undone", "- [x] 로드", "- [ ] 로드"),
    Edit("an empty summary", "<summary>답</summary>", "<summary></summary>"),
    Edit("a footnote reference dropped", "로드[^1]에는", "로드에는"),
    Edit("a footnote that is not defined", "로드[^1]에는", "로드[^3]에는"),
    Edit("a footnote reference twice", "로드[^1]에는", "로드[^2]에는"),
    Edit("a definition of a footnote dropped", "[^2]: 2022년의 GPU에서 그렇습니다.\n", ""),
    Edit("an include of another file", "_includes/note.md", "_includes/other.md"),
    Edit("an include dropped", "{{#include _includes/note.md}}\n\n", ""),
    Edit("an include misspelled", "{{#include _includes", "{{#inculde _includes"),
    # formulas
    Edit("a formula changed", "i=0}", "i=1}"),
    Edit("a delimiter of a formula lost", "a_i \\\\]", "a_i"),
    Edit("a formula in text changed", "(i + 1\\\\)", "(i + 2\\\\)"),
    Edit("a formula dropped", "단계 \\\\(i + 1\\\\)은", "단계는"),
    # language
    Edit("an English paragraph", "다음 페이지는 로드와 저장의 순서를 설명합니다. 그리고 `tile`과 `tile`을 다시 다룹니다.", "The next page explains the order of the loads and stores. It comes back to `tile` and `tile` again."),
    Edit("an English sentence", "다음 페이지는 로드와 저장의 순서를 설명합니다.", "The next page explains the order of the loads and stores."),
    Edit("an English heading", "## 참고", "## See also"),
    Edit("an English heading of one word", "## 규칙", "## Rules"),
    Edit("an English title", "# 퍼즐 7: 배리어", "# Puzzle 7: Barriers"),
    Edit("an English cell", "| 작음 | 32 | 레인 |", "| 작음 | 32 | lanes |"),
    Edit("an English head of a table", "| 크기 | 폭 |", "| 크기 | width |"),
    Edit("an English item", "3. 블록의 합계에 `sum`을 더합니다.", "3. Add `sum` to the total of the block."),
    Edit("an English summary", "<summary>답</summary>", "<summary>Answer</summary>"),
    Edit("an English step of a few words", "1. 글로벌 메모리에서 `row`를 읽습니다.", "1. Load `row` from global memory."),
    Edit("a term in English", "공유 메모리는 48 KiB", "shared memory는 48 KiB"),
    Edit("a term that is to be avoided", "블록의 스레드는", "블록의 쓰레드는"),
    Edit("a Japanese word", "서로 기다립니다", "서로 待ち기다립니다"),
    Edit("a Chinese sign", "기다립니다. 블록에는", "기다립니다\u3002 블록에는"),
    Edit("lone jamo", "배리어에 도달", "배리ㅓ에 도달"),
    Edit("decomposed syllables", "배리어에 도달", "\u1107\u1162리어에 도달"),
    Edit("a lost letter", "배리어에 도달", "배\ufffd어에 도달"),
    Edit("a zero-width space", "스레드는 *배리어*", "스\u200b레드는 *배리어*"),
    Edit("a right-to-left override", "서로 기다립니다", "서로 \u202e기다립니다"),
    Edit("a TODO", "## 참고\n", "## 참고\n\nTODO\n"),
    Edit("a TODO in a sentence", "다음 페이지는", "TODO: 다음 페이지는"),
    Edit("conflict markers", "## 참고\n", "<<<<<<< HEAD\n## 참고\n=======\n## 참고하기\n>>>>>>> topic\n"),
    # meaning
    Edit("a sentence dropped", " 공유 메모리는 48 KiB입니다.", ""),
    Edit("a sentence without numbers dropped", " 그렇지 않으면 블록이 멈춥니다.", ""),
    Edit("a meaning negated", "블록은 끝없이 기다립니다", "블록은 기다리지 않습니다"),
    Edit("an emphasis dropped", "**결코**", "결코"),
    Edit("a script added", "## 참고\n", "## 참고\n\n<script>alert(1)</script>\n"),
    Edit("an event handler", '<div class="tab">', '<div class="tab" onclick="run()">'),
)  # fmt: skip
"""Defects of the Korean page."""

ALIKE = (
    Edit("Hangul in an English page", "Half of the threads wait", "Half of the 스레드 wait"),
    Edit("an unknown scheme", "https://docs.example.org", "htps://docs.example.org"),
    Edit("the same heading twice", "## See also", "## Rules"),
    Edit("a page that does not exist", "[puzzle 15](other.md)", "[puzzle 15](otter.md)"),
    Edit("a section that does not exist", "(other.md#sizes)", "(other.md#seizes)"),
    Edit("a picture that does not exist", "img/grid.png", "img/gird.png"),
    Edit("an include that does not exist", "_includes/note.md", "_includes/nowhere.md"),
    Edit("an include misspelled", "{{#include _includes", "{{#inculde _includes"),
    Edit("a zero-width space", "The threads of", "The thr\u200beads of"),
    Edit("a right-to-left override", "The threads of", "The \u202ethreads of"),
    Edit("conflict markers", "## See also\n", "<<<<<<< HEAD\n## See also\n=======\n## More\n>>>>>>> topic\n"),
    Edit("a footnote that is not defined", "load[^1]", "load[^3]"),
)
"""Defects of the English page, which its translation may have too."""

NOTE = "<!-- translator's note -->\n한국어판에서 덧붙인 설명입니다. GPU 7개의 예를 듭니다.\n<!-- /translator's note -->\n"
VARIATIONS = (
    Edit("a note of the translator as a paragraph", "\n## 규칙", "\n역주: 한국에서는 GPU를 다르게 부르기도 합니다.\n\n## 규칙"),
    Edit("a note of the translator as a quote", "\n## 규칙", "\n> 역주: 한국에서는 GPU를 다르게 부르기도 합니다.\n\n## 규칙"),
    Edit("a note of the translator in bold", "\n## 규칙", "\n> **역주** 한국에서는 2가지로 부릅니다.\n\n## 규칙"),
    Edit("a note of the translator as a footnote", "배리어에 도달하지는", "배리어[^역주]에 도달하지는"),
    Edit("a note of the translator between marks", "\n## 규칙", f"\n{NOTE}\n## 규칙"),
    Edit("a note of the translator in parentheses", "블록이 멈춥니다.", "블록이 멈춥니다(역주: 2022년 이후의 GPU도 그렇습니다)."),
    Edit("옮긴이 주", "\n## 규칙", "\n옮긴이 주: 한국에서는 GPU를 다르게 부르기도 합니다.\n\n## 규칙"),
    Edit("a second mention of a link", "답은 **결코**", "답은 [퍼즐 15](other.md)에서처럼 **결코**"),
    Edit("a picture by suffix", "img/grid.png", "img/grid.ko.png"),
    Edit("a picture by suffix with a dash", "img/grid.png", "img/grid-ko.png"),
    Edit("a picture by suffix with an underscore", "img/grid.png", "img/grid_ko.png"),
    Edit("a picture by folder", "img/grid.png", "img/ko/grid.png"),
    Edit("an <img> by folder", "img/lanes.png", "img/ko/lanes.png"),
    Edit("an address by folder", "docs.example.org/en/gpu/", "docs.example.org/ko/gpu/"),
    Edit("an address by folder that English lacks", "docs.example.org/en/gpu/", "docs.example.org/ko/gpu/"),
    Edit("an address by region", "docs.example.org/en/gpu/", "docs.example.org/ko-kr/gpu/"),
    Edit("an address by query", "docs.example.org/en/gpu/", "docs.example.org/gpu/?hl=ko"),
    Edit("an address by host", "https://docs.example.org/en/gpu/", "https://ko.docs.example.org/gpu/"),
    Edit("another Wikipedia", "https://en.wikipedia.org/wiki/Warp", "https://ko.wikipedia.org/wiki/Warp"),
    Edit("an article of another Wikipedia", "https://en.wikipedia.org/wiki/Warp", "https://ko.wikipedia.org/wiki/워프"),
    Edit("a paragraph split", "256개 있습니다.\n첫 번째", "256개 있습니다.\n\n첫 번째"),
    Edit("paragraphs merged", "이전보다 1.5배 느립니다.\n\n멈추려면", "이전보다 1.5배 느립니다. 멈추려면"),
    Edit("items merged", "3. 블록의 합계에 `sum`을 더합니다.\n4. 글로벌 메모리에 `out`을 저장합니다.", "3. 블록의 합계에 `sum`을 더합니다. 글로벌 메모리에 `out`을 저장합니다."),
    Edit("an item split", "- 마지막 항목에는 이름이 하나도 없습니다.", "- 마지막 항목이 있습니다.\n- 거기에는 이름이 없습니다."),
    Edit("만", "30,000개가", "3만 개가"),
    Edit("만 of a large number", "요청 1,200,000개", "요청 120만 개"),
    Edit("a date of ISO 8601", "2024년 1월 5일", "2024-01-05"),
    Edit("a clock of 24 hours", "오후 3:30", "15시 30분"),
    Edit("a clock in words", "오후 3:30", "오후 3시 30분"),
    Edit("percent for half", "스레드의 절반이", "스레드의 50%가"),
    Edit("한 배 반", "1.5배", "한 배 반"),
    Edit("a number in words", "4행에 걸쳐", "네 행에 걸쳐"),
    Edit("a word in digits", "두 번째 호출", "2번째 호출"),
    Edit("first in digits", "첫 번째 `barrier()`", "1번째 `barrier()`"),
    Edit("twice in digits", "두 번 기다리지", "2번 기다리지"),
    Edit("a number without commas", "1,200,000개", "1200000개"),
    Edit("a code name repeated", "`sum`의 값은 120입니다", "`sum`의 값은 120입니다. `sum`은 합입니다"),
    Edit("이것 for the second mention", "`tile`을 읽습니다. 공유", "이것을 읽습니다. 공유"),
    Edit("이 for the second mention of two", "`tile`과 `tile`을", "`tile`을"),
    Edit("sentences in another order", "멈추려면 <kbd>Ctrl</kbd>+<kbd>C</kbd>를 누릅니다. 답은 **결코** 두 번 기다리지 않는 것입니다.", "답은 **결코** 두 번 기다리지 않는 것입니다. 멈추려면 <kbd>Ctrl</kbd>+<kbd>C</kbd>를 누릅니다."),
    Edit("clauses in another order", "먼저 `tile`에 쓰고, `barrier()`를 호출한 다음 `tile`을", "`barrier()`를 호출하기 전에 `tile`에 쓰고, 그다음 `tile`을"),
    Edit("lines wrapped otherwise", "블록에는 스레드가 4행에", "블록에는\n스레드가 4행에"),
    Edit("a translated comment", "# 로드를 기다립니다.", "# 모든 로드가 끝날 때까지 기다립니다. 3번째 줄입니다."),
    Edit("a translated comment of a command", "# 퍼즐", "# 퍼즐을 실행합니다"),
    Edit("a translated string", 'print("done", i)', 'print("끝", i)'),
    Edit("the English after a term", "블록의 스레드는 *배리어*", "블록의 스레드(thread)는 *배리어(barrier)*"),
    Edit("bold for emphasis", "*배리어*에서", "**배리어**에서"),
    Edit("emphasis added", "글로벌 메모리보다", "*글로벌 메모리*보다"),
    Edit("asterisks for dashes", "- 마지막 항목", "* 마지막 항목"),
    Edit("a table without padding", "|------|------:|--------|", "|--|--:|--|"),
    Edit("a comment", "\n## 규칙", "\n<!-- 다음 절은 다시 검토합니다. -->\n\n## 규칙"),
    Edit("a name of a product", "2022년의 GPU에서 그렇습니다", "2022년의 NVIDIA Hopper GPU에서 그렇습니다"),
    Edit("a quote with Korean marks", "답은 **결코**", "답은 ‘기다림’이 아니라 **결코**"),
    Edit("a unit with a space", "16바이트", "16 바이트"),
    Edit("CRLF at the end", "", "\r\n"),
)  # fmt: skip
"""Edits of the Korean page that a translator may make."""
_ADDED = {
    "a note of the translator as a footnote": "\n[^역주]: 역주: 한국에서는 GPU를 다르게 부르기도 합니다.\n",
    "paragraphs exchanged": "",
}


class Book:
    """The two pages, in a folder with the files that they name."""

    def __init__(self, root: Path) -> None:
        self.source, self.target = root / "book/src", root / "i18n/ko/book/src"
        for folder, other in zip((self.source, self.target), OTHER, strict=True):
            for name, text in (
                ("other.md", other),
                ("_includes/note.md", "x\n"),
                ("_includes/other.md", "y\n"),
            ):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, "utf-8")
            for name in ("grid", "lanes", "grid.ko", "grid-ko", "grid_ko", "ko/grid", "ko/lanes"):
                (folder / f"img/{name}.png").parent.mkdir(parents=True, exist_ok=True)
                (folder / f"img/{name}.png").write_bytes(b"")
        (root / "glossary.yaml").write_text(GLOSSARY, "utf-8")
        self.glossary = glossary.load(root / "glossary.yaml", "ko")

    def findings(self, english: str, korean: str) -> list[ParityFinding]:
        """The findings that count: errors and warnings."""
        for folder, text in ((self.source, english), (self.target, korean)):
            (folder / "page.md").write_text(text, "utf-8")
        library = Library(assets=(self.source,))
        source = Page.of(self.source / "page.md", self.source, english)
        target = Page.of(self.target / "page.md", self.target, korean)
        found = comparison.inspect_source(source, library)
        found += comparison.compare(source, target, library)
        found += glossary.check(source, target, self.glossary)
        return [one for one in found if one.severity is not ParitySeverity.INFO]


def edited(edits: Iterable[Edit], text: str) -> Iterator[tuple[Edit, str]]:
    for edit in edits:
        yield edit, edit.apply(text) + _ADDED.get(edit.name, "")


@dataclass(frozen=True, slots=True)
class Counts:
    """What was found.

    Attributes:
        silent: defects without a finding.
        false: variations with one, and the finding.
        defects, variations: how many there are.
    """

    silent: tuple[str, ...]
    false: tuple[tuple[str, str], ...]
    defects: int
    variations: int


def measure() -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        book = Book(Path(folder))
        alarms = book.findings(ENGLISH, KOREAN)
        assert not alarms, alarms
        silent = [edit.name for edit, text in edited(DEFECTS, KOREAN) if not book.findings(ENGLISH, text)]
        silent += [
            f"{edit.name} (English)" for edit, text in edited(ALIKE, ENGLISH) if not _inspected(book, text)
        ]
        false = [
            (edit.name, "; ".join(f"{one.kind}: {in_language(one.message, 'en')}" for one in found))
            for edit, text in edited(VARIATIONS, KOREAN)
            if (found := book.findings(ENGLISH, text))
        ]
    return Counts(tuple(silent), tuple(false), len(DEFECTS) + len(ALIKE), len(VARIATIONS))


def _inspected(book: Book, english: str) -> list[ParityFinding]:
    (book.source / "page.md").write_text(english, "utf-8")
    page = Page.of(book.source / "page.md", book.source, english)
    return comparison.inspect_source(page, Library(assets=(book.source,)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="name them")
    options = parser.parse_args()
    counts = measure()
    print(f"{len(counts.silent)} of {counts.defects} defects are silent")
    if options.list:
        print("\n".join(f"  {name}" for name in counts.silent))
    passing = counts.variations - len(counts.false)
    print(f"{passing} of {counts.variations} legitimate variations pass")
    if options.list:
        print("\n".join(f"  {name}: {finding}" for name, finding in counts.false))


if __name__ == "__main__":
    main()
