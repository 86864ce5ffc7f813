"""`tooling book check` finds each of these seeded defects, and nothing in the book itself."""

# ruff: noqa: E501 - one defect a line

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tooling.book.checks import CHECKS, RULES, check
from tooling.project import Project

P01 = "book/src/puzzle_01/raw.md"
P15 = "book/src/puzzle_15/puzzle_15.md"
K15 = "i18n/ko/book/src/puzzle_15/puzzle_15.md"
P12 = "book/src/puzzle_12/puzzle_12.md"
CASE = "book/src/puzzle_09/first_case.md"
TILE = "book/src/puzzle_23/tile.md"
HINTS = "problems/p16/puzzle.yaml"
HOWTO = "book/src/howto.md"
KSUMMARY = "i18n/ko/book/src/SUMMARY.md"
RECORDED = "tests/data/outputs/p15/p15.unsolved.json"
VERDICT = "tests/data/outputs/p01/p01.unsolved.verdict.json"
FORMULAS = "book/formulas.json"
DELETE = object()


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect.

    Attributes:
        name: of the test.
        rule: the rule that must find it.
        file: the file that is changed.
        old, new: the text that is replaced (once); old None appends, new DELETE deletes the file.
        pages: whether only the built pages show it.
    """

    name: str
    rule: str
    file: str
    old: str | None
    new: str | object
    pages: bool = False


DEFECTS = [
    # includes
    Defect("include-missing-file", "include", P15, "problems/p15/p15.mojo:axis_sum", "problems/p15/p51.mojo:axis_sum"),
    Defect("include-missing-anchor", "include", P15, "p15_raw.mojo:axis_sum}}", "p15_raw.mojo:axis_som}}"),
    Defect("include-wrong-depth", "include", K15, "../../../../../problems/p15/p15.mojo:", "../../../problems/p15/p15.mojo:"),
    Defect("include-misspelt", "directive", P15, "{{#include ../../../problems/p15/p15_raw", "{{#inculde ../../../problems/p15/p15_raw"),
    Defect("include-empty-range", "include", P15, "p15/p15_raw.mojo:axis_sum}}", "p15/p15_raw.mojo:900:950}}"),
    Defect("anchor-never-closed", "include", "problems/p15/p15.mojo", "# ANCHOR_END: axis_sum", "# end"),
    Defect("anchor-twice", "include", "problems/p15/p15_raw.mojo", "def main()", "# ANCHOR: axis_sum\n# ANCHOR_END: axis_sum\n\n\ndef main()"),
    # directives
    Defect("directive-unknown", "directive", P15, "{{#run p15}}", "{{#runs p15}}"),
    Defect("directive-unknown-program", "directive", P15, "{{#run p15}}", "{{#run p16_nothing}}"),
    Defect("directive-unknown-flag", "directive", TILE, "{{#run p23 --tiled}}", "{{#run p23 --tilde}}"),
    Defect("directive-missing-flag", "directive", TILE, "{{#run p23 --tiled}}", "{{#run p23}}"),
    Defect("directive-unknown-constant", "directive", P15, "{{#constant p15 BATCH}} rows", "{{#constant p15 BATCHES}} rows"),
    Defect("directive-unknown-figure", "directive", P15, "{{#figure p15-steps}}", "{{#figure p15-stairs}}"),
    Defect("directive-output-without-state", "directive", P15, "{{#output p15 unsolved}}", "{{#output p15}}"),
    Defect("output-never-recorded", "directive", P15, "{{#output p15 unsolved}}", "{{#output p15_raw solved}}"),
    Defect("tabs-never-closed", "directive", P15, "{{#end tabs}}\n\n<div", "\n\n<div"),
    Defect("tab-outside-of-tabs", "directive", P15, "## Overview", "## Overview\n\n{{#tab lost}}"),
    Defect("formula-unreadable", "directive", P15, "\\sum_{c=0}", "\\summe_{c=0}"),
    Defect("trace-deleted", "directive", "tests/data/traces/p15.json", None, DELETE),
    # links and pictures
    Defect("link-missing-page", "link", P15, "(../puzzle_12/puzzle_12.md)", "(../puzzle_12/puzle_12.md)"),
    Defect("link-not-encrypted", "link", HOWTO, "https://pixi.sh/", "http://pixi.sh/"),
    Defect("link-to-another-puzzle", "link", P15, "[puzzle 12](../puzzle_12/puzzle_12.md)", "[puzzle 13](../puzzle_12/puzzle_12.md)"),
    Defect("link-to-another-puzzle-korean", "link", K15, "[퍼즐 12](../puzzle_12/puzzle_12.md)", "[퍼즐 13](../puzzle_12/puzzle_12.md)"),
    Defect("command-unknown-option-of-profile", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling profile p15 --htlm x.html"),
    Defect("command-unknown-option-of-targets", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling targets --list"),
    Defect("fragment-missing", "fragment", P15, "(../puzzle_12/puzzle_12.md)", "(../puzzle_12/puzzle_12.md#key-concept)"),
    Defect("fragment-missing-korean", "fragment", K15, "(../puzzle_12/puzzle_12.md)", "(../puzzle_12/puzzle_12.md#핵심개념)"),
    Defect("image-missing", "image", P12, "## Key concepts", "![a tree](media/tree.svg)\n\n## Key concepts"),
    Defect("image-without-text", "alt", P12, "## Key concepts", "![](media/tree.svg)\n\n## Key concepts"),
    # formulas
    Defect("formula-unrecorded", "formula", P15, "\\sum_{c=0}", "\\prod_{c=0}"),
    Defect("formula-drawn-otherwise", "formula", FORMULAS, "<mtext>output</mtext><mrow><mi>r", "<mtext>output</mtext><mrow><mi>s"),
    Defect("formula-of-no-page", "formula", FORMULAS, '"formulas": {', '"formulas": {"inline x": "<math></math>",'),
    Defect("formulas-not-json", "formula", FORMULAS, '"formulas": {', '"formulas": '),
    # view full file, repository
    Defect("full-file-missing", "full-file", P15, "/blob/main/problems/p15/p15_raw.mojo", "/blob/main/problems/p15/p15_row.mojo"),
    Defect("full-file-label", "full-file", P15, "file: problems/p15/p15_raw.mojo<", "file: problems/p15/p15.mojo<"),
    Defect("full-file-of-another-program", "full-file", P15,
           'main/problems/p15/p15_raw.mojo">View full file: problems/p15/p15_raw.mojo',
           'main/problems/p15/p15.mojo">View full file: problems/p15/p15.mojo'),
    Defect("repository-written-out", "repository", P15, 'href="{{#include ../_includes/repo_url.md}}/blob/main/problems/p15/p15.mojo', 'href="https://github.com/somebody/fork/blob/main/problems/p15/p15.mojo'),
    Defect("repository-differs", "repository", "i18n/ko/book/src/_includes/repo_url.md", None, "-fork"),
    # versions
    Defect("version-of-another-api", "version", P15, "problems/p15/p15_tile_tensor.mojo:axis_sum_tile_tensor}}", "problems/p15/p15.mojo:axis_sum}}"),
    Defect("version-named-in-the-text", "version", P15, "{{#run p15}}", "For LayoutTensor, put `p15` in place of the name.\n\n{{#run p15}}"),
    Defect("version-of-the-command", "version", "book/src/puzzle_12/raw.md", "{{#run p12}}", "{{#run p12_tile_tensor}}"),
    # commands
    Defect("command-unknown-task", "command", HOWTO, "cd gpu-puzzle-lab", "uv run poe p99"),
    Defect("command-unknown-flag", "command", HOWTO, "cd gpu-puzzle-lab", "pixi run p23 --tild"),
    Defect("command-unknown-environment", "command", HOWTO, "cd gpu-puzzle-lab", "pixi run -e intel p15"),
    Defect("command-unknown-program", "command", HOWTO, "cd gpu-puzzle-lab", "make p15"),
    Defect("command-unknown-test", "command", HOWTO, "cd gpu-puzzle-lab", "uv run --group dev pytest tests/test_nothing.py"),
    Defect("command-unknown-group", "command", HOWTO, "cd gpu-puzzle-lab", "uv run --group books tooling list"),
    Defect("command-unknown-extra", "command", HOWTO, "cd gpu-puzzle-lab", "uv run --extra maxx tooling list"),
    Defect("command-without-its-extra", "command", HOWTO, "cd gpu-puzzle-lab", "uv run poe p17"),
    Defect("tooling-without-its-extra", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling run p17"),
    Defect("tooling-on-wrong-gpu", "vendor", HOWTO, "cd gpu-puzzle-lab", "pixi run -e amd tooling run p34 --reduction"),
    Defect("command-in-an-environment-without-its-extra", "command", HOWTO, "cd gpu-puzzle-lab", "pixi run -e amd p17"),
    Defect("command-unknown-target", "command", HOWTO, "cd gpu-puzzle-lab", "uv run poe p15 --target simulator"),
    Defect("command-unknown-subcommand", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling tidy"),
    Defect("command-unknown-action", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling book tidy"),
    Defect("command-unknown-option", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling targets --all"),
    Defect("command-wrong-option", "command", HOWTO, "cd gpu-puzzle-lab", "uv run tooling profile p12 --timeout x"),
    Defect("command-in-text", "command", HOWTO, "A puzzle runs by its name.", "A puzzle runs by its name, as in `uv run poe p51`."),
    Defect("command-on-wrong-gpu", "vendor", HOWTO, "cd gpu-puzzle-lab", "pixi run -e amd p34 --coordination"),
    # outputs
    Defect("output-of-older-program", "output", "problems/p15/p15.mojo", "inp_host[i] = Scalar[dtype](i)", "inp_host[i] = Scalar[dtype](i + 1)"),
    Defect("output-claims-success", "output", RECORDED, '"exit_status": 1', '"exit_status": 0'),
    Defect("output-of-another-run", "output", RECORDED, '"command": "p15"', '"command": "p15_raw"'),
    Defect("output-not-json", "output", RECORDED, '"lines": [', '"lines": '),
    Defect("output-typed-by-hand", "pasted-output", P15, "{{#output p15 unsolved}}", "```text\nout: DeviceBuffer([0.0, 0.0, 0.0, 0.0])\n```"),
    Defect("verdict-of-no-answer", "directive", P01, "{{#verdict p01 counted_from_one}}", "{{#verdict p01 counted_from_two}}"),
    Defect("verdict-of-another-answer", "output", "tests/mutants/p01.yaml", "output[unsafe_offset=i + 1] =", "output[unsafe_offset=i + 2] ="),
    Defect("verdict-of-a-right-answer", "output", VERDICT, '"outcome":"wrong"', '"outcome":"passed"'),
    Defect("verdict-with-another-value", "output", VERDICT, '"expected":"10.0"', '"expected":"11.0"'),
    Defect("verdict-with-an-older-message", "output", VERDICT, '"message":"never-written"', '"message":"not-written"'),
    Defect("verdict-not-json", "output", VERDICT, '"verdict":{', '"verdict":'),
    Defect("replay-in-older-words", "output", "tests/data/outputs/p08/p08.neighbours_cell.replay.json", "The array ends before that: on hardware", "The array ended before that: on hardware"),
    Defect("message-that-is-never-given", "directive", HOWTO, "the NVIDIA driver does not start}}", "the NVIDIA driver is asleep}}"),
    Defect("trace-of-an-older-solution", "figure", "tests/data/traces/p01.json", '"program": "', '"program": "0'),
    Defect("demo-of-an-older-program", "output", "book/src/puzzle_01/preview.mojo", "a[i] + 10", "a[i] + 11"),
    # names and words
    Defect("identifier-misspelt", "identifier", P15, "`block_idx.y` is the row", "`block_index.y` is the row"),
    Defect("identifier-of-another-api", "identifier", P15, "`thread_idx.x` the column", "`threadIdx.x` the column"),
    Defect("identifier-of-no-recording", "identifier", CASE, "`$errorpc`", "`$error_pc`"),
    Defect("identifier-missing-file", "identifier", HOWTO, "`problems/p01/p01.mojo`", "`problems/p01/p01.mo.py`"),
    Defect("identifier-unknown-flag", "identifier", TILE, "`--manual-vectorized` and", "`--manually-vectorized` and"),
    Defect("spelling-of-a-vendor", "spelling", P15, "## Overview\n\nAdd", "## Overview\n\nOn Nvidia GPUs: add"),
    Defect("spelling-of-a-type", "spelling", HOWTO, "TileTensor is the", "Tiletensor is the"),
    Defect("register-of-a-request", "register", K15, "실행해 봅니다.", "실행해 보세요."),
    Defect("register-of-a-question", "register", K15, "있는지 찾아봅니다.", "있나요?"),
    Defect("register-of-an-examination", "register", K15, "있는지 찾아봅니다.", "있습니까?"),
    Defect("word-of-the-old-style", "register", K15, "두 개인 이유.**", "두 개인 까닭.**"),
    Defect("word-to-the-reader", "register", K15, "직접 계산합니다.", "여러분이 계산합니다."),
    Defect("word-misspelt", "register", K15, "맞는 것입니다.", "기대값이 나옵니다."),
    Defect("term-of-the-launch", "register", K15, "| 그리드 |", "| 실행 모양 |"),
    Defect("humble-possessive", "register", K15, "스레드가 맡은 열입니다.", "제 번호입니다."),
    Defect("code-in-a-hint", "manifest-text", HINTS, "then call `barrier()`, which", "then call barrier(), which"),
    Defect("code-in-a-korean-hint", "manifest-text", HINTS, "`a`의 원소는 한 행의", "a의 원소는 한 행의"),
    Defect("letter-for-a-sign-in-a-hint", "manifest-text", HINTS, "The block is 3 × 3", "The block is 3 x 3"),
    Defect("glossary-rival", "glossary", K15, "배리어가 두 개인 이유", "장벽이 두 개인 이유"),
    Defect("glossary-misspelt", "glossary", K15, "남는 스레드.**", "남는 쓰레드.**"),
    # contents
    Defect("summary-missing-chapter", "summary", KSUMMARY, "  - [타일](puzzle_23/tile.md)\n", ""),
    Defect("summary-other-order", "summary", KSUMMARY, "[소개](introduction.md)\n[이 책을 보는 법](howto.md)", "[이 책을 보는 법](howto.md)\n[소개](introduction.md)"),
    Defect("summary-other-depth", "summary", KSUMMARY, "  - [타일]", "- [타일]"),
    Defect("summary-no-such-file", "summary", "book/src/SUMMARY.md", "(puzzle_23/tile.md)", "(puzzle_23/tiles.md)"),
    Defect("title-of-a-puzzle", "title", P15, "# Puzzle 15: Axis sum", "# Puzzle 15: Axis sums"),
    Defect("title-number", "title", "book/src/SUMMARY.md", "[Puzzle 15: Axis sum]", "[Puzzle 16: Axis sum]"),
    Defect("orphan-chapter", "orphan", "book/src/puzzle_12/notes.md", None, "# Notes\n"),
    Defect("unused-picture", "unused-file", "book/src/puzzle_12/media/old.svg", None, "<svg/>"),
    Defect("unused-figure", "unused-file", "book/src/trust.md", "{{#figure book-checks}}\n", ""),
    Defect("unused-recording", "unused-file", "tests/data/outputs/p15/p15.solved.json", None, "{}"),
    Defect("unused-anchor", "unused-anchor", "solutions/p15/p15.mojo", "def main()", "# ANCHOR: leftover\n# ANCHOR_END: leftover\n\n\ndef main()"),
    Defect("headings-second-title", "headings", P15, "## Key concepts", "# Key concepts"),
    Defect("headings-skipped-level", "headings", P15, "## Key concepts", "#### Key concepts"),
    Defect("fence-without-language", "fence", HOWTO, "```bash", "```"),
    Defect("fence-never-closed", "fence", HOWTO, "cd gpu-puzzle-lab\n```", "cd gpu-puzzle-lab"),
    Defect("marker-missing", "marker", K15, "<!-- i18n-source-blob", "<!-- i18n-blob"),
    Defect("replay-of-no-wrong-answer", "replay", P15, " {{#replay p15_tile_tensor missing_barrier}}", ""),
    Defect("replay-of-no-solution", "replay", K15, "{{#replay p15_tile_tensor}} ", ""),
    Defect("page-without-a-figure", "page-figure", "book/src/trust.md", "{{#figure book-checks}}\n", ""),
    Defect("figure-on-two-pages", "page-figure", "book/src/puzzle_12/raw.md", "## Configuration", "{{#figure p12}}\n\n## Configuration"),
    Defect("parity-missing-section", "parity", K15, "## 구성\n", ""),
    Defect("parity-other-number", "parity", K15, "{{#run p15}}", "{{#run p15_raw}}"),
    Defect("parts-no-output", "parts", P15, "{{#output p15 unsolved}}\n", ""),
    Defect("parts-solution-in-the-open", "parts", P15, "## Key concepts", "```mojo\n{{#include ../../../solutions/p15/p15.mojo:axis_sum_solution}}\n```\n\n## Key concepts"),
    # built pages
    Defect("html-block-in-paragraph", "html", P15, "## Overview", "text <div>block</div> text\n\n## Overview", True),
    Defect("html-id-twice", "html", P15, "## Overview", '<p id="overview">x</p>\n\n## Overview', True),
    Defect("html-never-closed", "html", P15, "</details>\n\n## Wrong", "## Wrong", True),
    Defect("emphasis-before-a-particle", "emphasis", K15, "**남는 스레드.** 블록에는", "**남는 스레드(thread)**의 블록에는", True),
    Defect("site-missing-download", "site", P15, "## Overview", '<p><a href="data.bin">data</a></p>\n\n## Overview', True),
]  # fmt: skip


def plant(checkout: Project, defect: Defect) -> None:
    """Makes the edit; an edit that no longer applies to the book is an error of the test."""
    path = checkout.root / defect.file
    if defect.new is DELETE:
        path.unlink()
        return
    assert isinstance(defect.new, str)
    if defect.old is None:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + defect.new, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    assert defect.old in text, f"{defect.name}: {defect.file} no longer holds {defect.old!r}"
    path.write_text(text.replace(defect.old, defect.new, 1), encoding="utf-8")


@pytest.mark.parametrize("defect", DEFECTS, ids=[defect.name for defect in DEFECTS])
def test_a_defect_is_found_where_it_was_planted(checkout: Project, defect: Defect) -> None:
    plant(checkout, defect)
    found = check(checkout, build_pages=defect.pages, rules={defect.rule}).findings
    assert defect.rule in {finding.rule for finding in found}, [str(finding) for finding in found]


def test_a_link_to_a_page_that_is_not_translated_yet_is_not_an_error(checkout: Project) -> None:
    (checkout.root / "i18n/ko/book/src/puzzle_12/puzzle_12.md").unlink()
    assert check(checkout, build_pages=False, rules={"link", "fragment"}).findings == ()


def test_the_defects_cover_every_rule() -> None:
    assert {defect.rule for defect in DEFECTS} == set(RULES)


def test_every_rule_belongs_to_a_check() -> None:
    of_pages = {"html", "emphasis", "site"}
    assert {rule for reported in CHECKS.values() for rule in reported} == set(RULES) - of_pages


def test_names_of_defects_are_unique() -> None:
    names = [defect.name for defect in DEFECTS]
    assert len(names) == len(set(names)) >= 40


def test_nothing_is_found_in_the_book(real: Project) -> None:
    report = check(real)
    assert [str(finding) for finding in report.findings] == []
    assert report.chapters > 0
    assert report.pages > 0
