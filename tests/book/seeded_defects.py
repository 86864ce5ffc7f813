"""Defects that `tooling book check` has to find, and what it reports when many are planted at once.

`python -m tests.book.seeded_defects [RUN]...` writes the reports to reports/run-N.txt; read their changes before you
commit them.
"""

# ruff: noqa: E501 - one defect a line

from __future__ import annotations

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from tests.book.book_copy import ROOT, copy_book
from tooling.book.checks import check
from tooling.book.checks.finding import BookFinding
from tooling.project import Project

P01 = "book/src/puzzle_01/raw.md"
P15 = "book/src/puzzle_15/puzzle_15.md"
K15 = "i18n/ko/book/src/puzzle_15/puzzle_15.md"
P12 = "book/src/puzzle_12/puzzle_12.md"
CASE = "book/src/puzzle_09/first_case.md"
TILE = "book/src/puzzle_23/tile.md"
HINTS = "problems/p16/puzzle.yaml"
HOWTO = "book/src/howto.md"
VERDICT = "tests/data/outputs/p01/p01.unsolved.verdict.json"
KSUMMARY = "i18n/ko/book/src/SUMMARY.md"
RECORDED = "tests/data/outputs/p15/runs.json"
EMPTY = '{"command": "p15", "state": "solved", "target": "", "mojo": "", "program": "", "exit_status": 0, "lines": []}'
FORMULAS = "book/formulas.json"
DELETE = object()
COMMAND = "cd gpu-puzzle-lab"
DELETE = object()
REPORTS = Path(__file__).parent / "data" / "seeded_defects"
BUILT_RUNS = (6, 7)
"""These build the pages too: only they show the defects."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect.

    Attributes:
        name: a unique one.
        rule: the rule that must find it.
        file: the file that is changed.
        old, new: the text that is replaced (once); old None appends, new DELETE deletes the file.
        reported: the file for which it must be reported, if it is not at the changed lines.
        run: the run of the check in which it is planted, from 1. Defects that would hide each other are in
            different runs.
    """

    name: str
    rule: str
    file: str
    old: str | None
    new: str | object
    reported: str | None = None
    run: int = 1


DEFECTS = [
    # includes
    Defect("include-missing-file", "include", P15, "problems/p15/p15.mojo:axis_sum", "problems/p15/p51.mojo:axis_sum"),
    Defect("include-missing-anchor", "include", P15, "p15_raw.mojo:axis_sum}}", "p15_raw.mojo:axis_som}}"),
    Defect("include-wrong-depth", "include", K15, "../../../../../problems/p15/p15.mojo:", "../../../problems/p15/p15.mojo:"),
    Defect("include-misspelt", "directive", P15, "{{#include ../../../problems/p15/p15_raw", "{{#inculde ../../../problems/p15/p15_raw", run=2),
    Defect("include-empty-range", "include", P15, "p15/p15_raw.mojo:axis_sum}}", "p15/p15_raw.mojo:900:950}}", run=3),
    Defect("anchor-never-closed", "include", "problems/p15/p15.mojo", "# ANCHOR_END: axis_sum", "# end", reported=P15, run=4),
    Defect("anchor-twice", "include", "problems/p15/p15_raw.mojo", "def main()", "# ANCHOR: axis_sum\n# ANCHOR_END: axis_sum\n\n\ndef main()", reported=P15, run=4),
    # directives
    Defect("directive-unknown", "directive", P15, "{{#run p15}}", "{{#runs p15}}"),
    Defect("directive-unknown-program", "directive", P15, "{{#run p15}}", "{{#run p16_nothing}}", run=2),
    Defect("directive-unknown-flag", "directive", TILE, "{{#run p23 --tiled}}", "{{#run p23 --tilde}}"),
    Defect("directive-missing-flag", "directive", TILE, "{{#run p23 --tiled}}", "{{#run p23}}", run=2),
    Defect("directive-unknown-constant", "directive", P15, "{{#constant p15 BATCH}} rows", "{{#constant p15 BATCHES}} rows"),
    Defect("directive-unknown-figure", "directive", P15, "{{#figure p15-steps}}", "{{#figure p15-stairs}}"),
    Defect("directive-output-without-state", "directive", P15, "{{#output p15 unsolved}}", "{{#output p15}}", run=4),
    Defect("output-never-recorded", "directive", P15, "{{#output p15 unsolved}}", "{{#output p15_raw solved}}", run=2),
    Defect("tabs-never-closed", "directive", P15, "{{#end tabs}}\n\n<div", "\n\n<div", reported=P15, run=4),
    Defect("tab-outside-of-tabs", "directive", P15, "## Overview", "## Overview\n\n{{#tab lost}}"),
    Defect("formula-unreadable", "directive", P15, "\\sum_{c=0}", "\\summe_{c=0}", reported=""),
    Defect("trace-deleted", "directive", "tests/data/traces/p15.json", None, DELETE, reported=K15),
    # links and pictures
    Defect("link-missing-page", "link", P15, "(../puzzle_12/puzzle_12.md)", "(../puzzle_12/puzle_12.md)"),
    Defect("link-not-encrypted", "link", HOWTO, "https://pixi.sh/", "http://pixi.sh/"),
    Defect("link-to-another-puzzle", "link", P15, "[puzzle 12](../puzzle_12/puzzle_12.md)", "[puzzle 13](../puzzle_12/puzzle_12.md)", run=2),
    Defect("link-to-another-puzzle-korean", "link", K15, "[퍼즐 12](../puzzle_12/puzzle_12.md)", "[퍼즐 13](../puzzle_12/puzzle_12.md)"),
    Defect("command-unknown-option-of-profile", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling profile p15 --htlm x.html"),
    Defect("command-unknown-option-of-targets", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling targets --list"),
    Defect("fragment-missing", "fragment", P15, "(../puzzle_12/puzzle_12.md)", "(../puzzle_12/puzzle_12.md#key-concept)", run=3),
    Defect("fragment-missing-korean", "fragment", K15, "(../puzzle_12/puzzle_12.md)", "(../puzzle_12/puzzle_12.md#핵심개념)", run=2),
    Defect("image-missing", "image", P12, "## Key concepts", "![a tree](media/tree.svg)\n\n## Key concepts"),
    Defect("image-without-text", "alt", P12, "## Key concepts", "![](media/tree.svg)\n\n## Key concepts", run=2),
    # formulas
    Defect("formula-unrecorded", "formula", P15, "\\sum_{c=0}", "\\prod_{c=0}", reported=FORMULAS, run=2),
    Defect("formula-drawn-otherwise", "formula", FORMULAS, "<mtext>output</mtext><mrow><mi>r", "<mtext>output</mtext><mrow><mi>s"),
    Defect("formula-of-no-page", "formula", FORMULAS, '"formulas": {', '"formulas": {"inline x": "<math></math>",', run=6),
    Defect("formulas-not-json", "formula", FORMULAS, '"formulas": {', '"formulas": ', run=3),
    # view full file, repository
    Defect("full-file-missing", "full-file", P15, "/blob/main/problems/p15/p15_raw.mojo", "/blob/main/problems/p15/p15_row.mojo"),
    Defect("link-into-the-repository", "full-file", P12, "## ", "See [this]({{#include ../_includes/repo_url.md}}/blob/main/problems/p99/none.mojo).\n\n## ", run=2),
    Defect("card-of-another-puzzle", "directive", P15, "{{#puzzle p15}}", "{{#puzzle p12}}", run=2),
    Defect("full-file-label", "full-file", P15, "file: problems/p15/p15_raw.mojo<", "file: problems/p15/p15.mojo<", run=2),
    Defect("full-file-of-another-program", "full-file", P15,
           'main/problems/p15/p15_raw.mojo">View full file: problems/p15/p15_raw.mojo',
           'main/problems/p15/p15.mojo">View full file: problems/p15/p15.mojo', run=3),
    Defect("repository-written-out", "repository", P15, 'href="{{#include ../_includes/repo_url.md}}/blob/main/problems/p15/p15.mojo', 'href="https://github.com/somebody/fork/blob/main/problems/p15/p15.mojo'),
    Defect("repository-differs", "repository", "i18n/ko/book/src/_includes/repo_url.md", None, "-fork"),
    # versions
    Defect("version-of-another-api", "version", P15, "problems/p15/p15_tile_tensor.mojo:axis_sum_tile_tensor}}", "problems/p15/p15.mojo:axis_sum}}"),
    Defect("version-named-in-the-text", "version", P15, "{{#run p15}}", "For LayoutTensor, put `p15` in place of the name.\n\n{{#run p15}}", run=3),
    Defect("version-of-the-command", "version", "book/src/puzzle_12/raw.md", "{{#run p12}}", "{{#run p12_tile_tensor}}"),
    # commands
    Defect("command-unknown-task", "command", HOWTO, COMMAND, COMMAND + "\nuv run poe p99"),
    Defect("command-unknown-flag", "command", HOWTO, COMMAND, COMMAND + "\npixi run p23 --tild"),
    Defect("command-unknown-environment", "command", HOWTO, COMMAND, COMMAND + "\npixi run -e intel p15"),
    Defect("command-unknown-program", "command", HOWTO, COMMAND, COMMAND + "\nmake p15"),
    Defect("command-unknown-test", "command", HOWTO, COMMAND, COMMAND + "\nuv run --group dev pytest tests/test_nothing.py"),
    Defect("command-unknown-group", "command", HOWTO, COMMAND, COMMAND + "\nuv run --group books tooling list"),
    Defect("command-unknown-extra", "command", HOWTO, COMMAND, COMMAND + "\nuv run --extra maxx tooling list"),
    Defect("command-without-its-extra", "command", HOWTO, COMMAND, COMMAND + "\nuv run poe p17"),
    Defect("tooling-without-its-extra", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling run p17"),
    Defect("tooling-on-wrong-gpu", "vendor", HOWTO, COMMAND, COMMAND + "\npixi run -e amd tooling run p34 --reduction"),
    Defect("command-in-an-environment-without-its-extra", "command", HOWTO, COMMAND, COMMAND + "\npixi run -e amd p17"),
    Defect("command-unknown-target", "command", HOWTO, COMMAND, COMMAND + "\nuv run poe p15 --target simulator"),
    Defect("command-unknown-subcommand", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling tidy"),
    Defect("command-unknown-action", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling book tidy"),
    Defect("command-unknown-option", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling targets --all"),
    Defect("command-wrong-option", "command", HOWTO, COMMAND, COMMAND + "\nuv run tooling profile p12 --timeout x"),
    Defect("command-in-text", "command", HOWTO, "A puzzle runs by its name.", "A puzzle runs by its name, as in `uv run poe p51`."),
    Defect("command-on-wrong-gpu", "vendor", HOWTO, COMMAND, COMMAND + "\npixi run -e amd p34 --coordination"),
    # outputs
    Defect("output-of-older-program", "output", "problems/p15/p15.mojo", "inp_host[i] = Scalar[dtype](i)", "inp_host[i] = Scalar[dtype](i + 1)", reported=RECORDED, run=3),
    Defect("output-claims-success", "output", RECORDED, '"exit_status": 1', '"exit_status": 0'),
    Defect("output-of-another-run", "output", RECORDED, '"command": "p15"', '"command": "p15_raw"', run=2),
    Defect("output-not-json", "output", RECORDED, '"lines": [', '"lines": ', run=5),
    Defect("output-typed-by-hand", "pasted-output", P15, "{{#output p15 unsolved}}", "```text\nout: DeviceBuffer([0.0, 0.0, 0.0, 0.0])\n```", run=3),
    Defect("verdict-of-no-answer", "directive", P01, "{{#verdict p01 counted_from_one}}", "{{#verdict p01 counted_from_two}}", run=4),
    Defect("verdict-of-another-answer", "output", "tests/mutants/p01.yaml", "output[unsafe_offset=i + 1] =", "output[unsafe_offset=i + 2] =", reported="tests/data/outputs/p01/p01.counted_from_one.verdict.json"),
    Defect("verdict-of-a-right-answer", "output", VERDICT, '"outcome":"wrong"', '"outcome":"passed"'),
    Defect("verdict-with-another-value", "output", VERDICT, '"expected":"10.0"', '"expected":"11.0"', run=5),
    Defect("verdict-with-an-older-message", "output", VERDICT, '"message":"never-written"', '"message":"not-written"', run=2),
    Defect("verdict-not-json", "output", VERDICT, '"verdict":{', '"verdict":', run=3),
    Defect("replay-edited", "output", "tests/data/outputs/p08/p08.neighbours_cell.replay.json", '"distance":4', '"distance":8'),
    Defect("message-that-is-never-given", "directive", HOWTO, "the NVIDIA driver does not start}}", "the NVIDIA driver is asleep}}"),
    Defect("trace-of-an-older-solution", "figure", "tests/data/traces/p01.json", '"program": "', '"program": "0'),
    Defect("demo-of-an-older-program", "output", "book/src/puzzle_01/preview.mojo", "a[i] + 10", "a[i] + 11", reported="tests/data/outputs/p01/runs.json"),
    # names and words
    Defect(
        "cause-without-a-record", "cause", "book/src/puzzle_24/warp_extra.md",
        "and takes 14.07 µs, less than a third.", "and takes 14.07 µs, because its occupancy is higher.",
    ),
    Defect("identifier-misspelt", "identifier", P15, "`block_idx.y` is the row", "`block_index.y` is the row"),
    Defect("identifier-of-another-api", "identifier", P15, "`thread_idx.x` the column", "`threadIdx.x` the column"),
    Defect("identifier-of-no-recording", "identifier", CASE, "`$errorpc`", "`$error_pc`"),
    Defect("identifier-missing-file", "identifier", HOWTO, "`problems/p01/p01.mojo`", "`problems/p01/p01.mo.py`"),
    Defect("identifier-unknown-flag", "identifier", TILE, "`--manual-vectorized` and", "`--manually-vectorized` and"),
    Defect("spelling-of-a-vendor", "spelling", P15, "## Overview\n\nA language", "## Overview\n\nOn Nvidia GPUs a language", run=2),
    Defect("spelling-of-a-type", "spelling", HOWTO, "TileTensor is the", "Tiletensor is the"),
    Defect("register-of-a-request", "register", K15, "실행해 봅니다.", "실행해 보세요."),
    Defect("register-of-a-question", "register", K15, "이렇게 출력합니다.", "이렇게 출력하나요?"),
    Defect("register-of-an-examination", "register", K15, "이렇게 출력합니다.", "이렇게 출력합니까?", run=2),
    Defect("word-of-the-old-style", "register", K15, "왜 두 개일까요?**", "왜 두 개인지 그 까닭을 말해 봅니다.**"),
    Defect("word-to-the-reader", "register", K15, "직접 계산합니다.", "여러분이 계산합니다."),
    Defect("word-misspelt", "register", K15, "맞는 것입니다.", "기대값이 나옵니다.", run=3),
    Defect("term-of-the-launch", "register", K15, "| 그리드 |", "| 실행 모양 |"),
    Defect("lead-in-of-a-noun", "register", K15, "**단계 사이에 배리어(barrier)를 둡니다.**", "**단계 사이에 있는 배리어(barrier).**"),
    Defect("index-that-is-counted", "register", K15, "는 한 행의 원소입니다.", "는 0번 열부터 셉니다.", run=2),
    Defect("humble-possessive", "register", K15, "스레드가 맡은 열입니다.", "제 번호입니다."),
    Defect("code-in-a-hint", "manifest-text", HINTS, "then call `barrier()`, which", "then call barrier(), which"),
    Defect("code-in-a-korean-hint", "manifest-text", HINTS, "`a`의 원소는 한 행의", "a의 원소는 한 행의", run=2),
    Defect("letter-for-a-sign-in-a-hint", "manifest-text", HINTS, "The block is 3 × 3", "The block is 3 x 3", run=3),
    Defect("text-without-a-translation", "manifest-language", HINTS, "  ko: 행렬을 곱합니다. 단순한 커널, 공유 메모리, 타일의 순서로 작성합니다.\n", "", reported=HINTS),
    Defect("glossary-rival", "glossary", K15, "한 단계에 배리어가 왜", "한 단계에 장벽이 왜", run=2),
    Defect("glossary-misspelt", "glossary", K15, "- **스레드가 남습니다.**", "- **쓰레드가 남습니다.**"),
    # contents
    Defect("summary-missing-chapter", "summary", KSUMMARY, "  - [타일](puzzle_23/tile.md)\n", ""),
    Defect("summary-other-order", "summary", KSUMMARY, "[소개](introduction.md)\n[이 책을 보는 법](howto.md)", "[이 책을 보는 법](howto.md)\n[소개](introduction.md)", run=2),
    Defect("summary-other-depth", "summary", KSUMMARY, "  - [타일]", "- [타일]", run=3),
    Defect("summary-no-such-file", "summary", "book/src/SUMMARY.md", "(puzzle_23/tile.md)", "(puzzle_23/tiles.md)", run=5),
    Defect("title-of-a-puzzle", "title", P15, "# Puzzle 15: Axis sum", "# Puzzle 15: Axis sums"),
    Defect("title-number", "title", "book/src/SUMMARY.md", "[Puzzle 15: Axis sum]", "[Puzzle 16: Axis sum]"),
    Defect("orphan-chapter", "orphan", "book/src/puzzle_12/notes.md", None, "# Notes\n"),
    Defect("unused-picture", "unused-file", "book/src/puzzle_12/media/old.svg", None, "<svg/>"),
    Defect("unused-figure", "unused-file", "book/src/trust.md", "{{#figure book-checks}}\n", "", reported="tooling/book/figures/book.py", run=2),
    Defect("unused-recording", "unused-file", RECORDED, '"p15.unsolved": {', f'"p15.solved": {EMPTY},\n  "p15.unsolved": {{'),
    Defect("unused-anchor", "unused-anchor", "solutions/p15/p15.mojo", "def main()", "# ANCHOR: leftover\n# ANCHOR_END: leftover\n\n\ndef main()"),
    Defect("headings-second-title", "headings", P15, "## Key concepts", "# Key concepts"),
    Defect("headings-skipped-level", "headings", P15, "## Key concepts", "#### Key concepts", run=2),
    Defect("fence-without-language", "fence", HOWTO, "```bash", "```", run=2),
    Defect("fence-never-closed", "fence", HOWTO, "cd gpu-puzzle-lab\n```", "cd gpu-puzzle-lab", run=5),
    Defect("marker-missing", "marker", K15, "<!-- i18n-source-blob", "<!-- i18n-blob", reported=K15),
    Defect("replay-of-no-wrong-answer", "replay", P15, " {{#replay p15_tile_tensor missing_barrier}}", "", reported=P15, run=3),
    Defect("replay-of-no-solution", "replay", K15, "{{#replay p15_tile_tensor}} ", "", reported=K15, run=3),
    Defect("page-without-a-figure", "page-figure", "book/src/puzzle_02/puzzle_02.md", "{{#figure p02}}\n", ""),
    Defect("figure-on-two-pages", "page-figure", "book/src/puzzle_12/raw.md", "## Configuration", "{{#figure p12}}\n\n## Configuration"),
    Defect("parity-missing-section", "parity", K15, "## 구성\n", "", reported=K15, run=5),
    Defect("parity-other-number", "parity", K15, "{{#run p15}}", "{{#run p15_raw}}"),
    Defect("parts-no-output", "parts", P15, "{{#output p15 unsolved}}\n", "", run=5),
    Defect("parts-solution-in-the-open", "parts", P15, "## Key concepts", "```mojo\n{{#include ../../../solutions/p15/p15.mojo:axis_sum_solution}}\n```\n\n## Key concepts", run=3),
    # built pages
    Defect("html-block-in-paragraph", "html", P15, "## Overview", "text <div>block</div> text\n\n## Overview", reported="site/puzzle_15/puzzle_15.html", run=6),
    Defect("html-id-twice", "html", P15, "## Overview", '<p id="overview">x</p>\n\n## Overview', reported="site/puzzle_15/puzzle_15.html", run=6),
    Defect("html-never-closed", "html", P15, "</details>\n\n## Wrong", "## Wrong", reported="book", run=7),
    Defect("emphasis-before-a-particle", "emphasis", K15, "**스레드가 남습니다.** 한 블록은", "**남는 스레드(thread)**의 한 블록은", reported="site/ko/puzzle_15/puzzle_15.html", run=6),
    Defect("site-missing-download", "site", P15, "## Overview", '<p><a href="data.bin">data</a></p>\n\n## Overview', reported="site/puzzle_15/puzzle_15.html", run=6),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Edit:
    """The smallest replacement that plants a defect: `text` for the characters from `start` to `end`."""

    start: int
    end: int
    text: str
    defect: Defect


def common_characters(one: str, other: str) -> int:
    """How many characters both begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def edit_of(defect: Defect, content: str) -> Edit:
    """An edit that no longer applies to the book is an error of the test."""
    assert isinstance(defect.new, str)
    if defect.old is None:
        return Edit(len(content), len(content), defect.new, defect)
    start = content.find(defect.old)
    assert start >= 0, f"{defect.name}: {defect.file} no longer contains {defect.old!r}"
    before = common_characters(defect.old, defect.new)
    after = common_characters(defect.old[before:][::-1], defect.new[before:][::-1])
    end = start + len(defect.old) - after
    return Edit(start + before, end, defect.new[before : len(defect.new) - after], defect)


def plant(root: Path, defects: Iterable[Defect]) -> dict[Defect, range]:
    """Makes all edits. Returns the changed lines of each defect, counted from 1."""
    by_file = defaultdict(list)
    for defect in defects:
        by_file[root / defect.file].append(defect)
    planted = {}
    for path, at_once in by_file.items():
        if any(defect.new is DELETE for defect in at_once):
            (defect,) = at_once
            planted[defect] = range(1)
            path.unlink()
            continue
        content = path.read_text(encoding="utf-8") if path.exists() else ""
        pieces, position = [], 0
        for edit in sorted((edit_of(defect, content) for defect in at_once), key=lambda edit: edit.start):
            assert position <= edit.start, (
                f"{edit.defect.name} overlaps another defect: plant it in another run"
            )
            pieces.append(content[position : edit.start])
            line = "".join(pieces).count("\n") + 1
            pieces.append(edit.text)
            planted[edit.defect] = range(line, line + edit.text.count("\n") + 1)
            position = edit.end
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join([*pieces, content[position:]]), encoding="utf-8")
    return planted


def findings_of_run(project: Project, run: int) -> tuple[dict[Defect, range], tuple[BookFinding, ...]]:
    """Plants the defects of a run and checks the book. Returns the changed lines and the findings."""
    planted = plant(project.root, [defect for defect in DEFECTS if defect.run == run])
    return planted, check(project, build_pages=run in BUILT_RUNS).findings


def report(root: Path, findings: Iterable[BookFinding]) -> str:
    """The findings, sorted; each with the text of its line instead of the number, which other changes move."""
    rows = []
    for finding in findings:
        message = re.sub(r"(?<=also in line )\d+", "N", finding.message)  # of a built page
        message = re.sub(
            r"(?<=`include )/[^`]*", "…", message
        )  # cut to a width, with the path of the checkout
        row = f"{finding.path}: [{finding.rule}] {message}"
        if finding.column:
            row += f" (column {finding.column})"
        if finding.hint:
            row += f"\n  try: {finding.hint}"
        path = root / finding.path
        if finding.line and path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            row += f"\n  > {lines[finding.line - 1] if finding.line <= len(lines) else '(end of the file)'}"
        rows.append(row.replace(str(root), "CHECKOUT").replace(str(ROOT), "CHECKOUT") + "\n")
    return "".join(sorted(rows))


def reported_at(defect: Defect, lines: range, finding: BookFinding) -> bool:
    """Whether a finding reports a defect, by rule and place."""
    path = defect.file if defect.reported is None else defect.reported
    if (finding.rule, finding.path) != (defect.rule, path):
        return False
    return defect.reported is not None or finding.line in (0, *lines)


def record(runs: Iterable[int]) -> None:
    for run in runs:
        with tempfile.TemporaryDirectory(prefix="book-") as folder:
            root = Path(folder) / "checkout"
            copy_book(root)
            _, findings = findings_of_run(Project(root), run)
            (REPORTS / f"run-{run}.txt").write_text(report(root, findings), encoding="utf-8")


RUNS = sorted({defect.run for defect in DEFECTS})

if __name__ == "__main__":
    record(map(int, sys.argv[1:]) if sys.argv[1:] else RUNS)
