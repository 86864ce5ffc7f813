"""One choice of API: commands and outputs of a page follow its open tab."""

from __future__ import annotations

import re

import pytest

from tooling.book.directives.chapter_renderer import ChapterRenderer
from tooling.book.editions import editions
from tooling.book.puzzle_index import PuzzleIndex
from tooling.mdbook.files import Files
from tooling.project import Project

TABS = """{{#tabs api}}
{{#tab TileTensor}}

```mojo
{{#include ../../../problems/p15/p15_tile_tensor.mojo:axis_sum_tile_tensor}}
```

{{#tab raw}}

```mojo
{{#include ../../../problems/p15/p15_raw.mojo:axis_sum}}
```

{{#end tabs}}

"""


def render(project: Project, text: str, path: str = "puzzle_15/x.md") -> tuple[str, list[str]]:
    renderer = ChapterRenderer(editions(project)[0], PuzzleIndex(project), None, Files(project.root))
    return renderer.render(path, text), [problem.what for problem in renderer.problems]


def versions(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<div data-tab="(\w+)">\n<p class="variant-name">\1</p>\n\n```\w+\n(.*)\n', html)


def test_a_command_has_a_version_for_each_tab(real: Project) -> None:
    page, problems = render(real, TABS + "{{#run p15}}\n")
    assert problems == []
    assert ("TileTensor", "uv run tooling run p15_tile_tensor") in versions(page)
    assert ("raw", "uv run tooling run p15_raw --target sim") in versions(page)
    assert not re.search(r"(?:poe|tooling run) p15$", page, re.MULTILINE)


def test_an_output_has_a_version_for_each_tab(real: Project) -> None:
    text = editions(real)[0].page("puzzle_23/tile.md").read_text(encoding="utf-8")
    page, problems = render(real, text, "puzzle_23/tile.md")
    assert problems == []
    printed = page.partition("## Run it")[2].partition("## Solution")[0].partition("{{#output")[0]
    assert "tile_id: 0" in printed or "tile_id" in printed


def test_a_page_with_one_version_has_no_labels(real: Project) -> None:
    page, problems = render(real, "{{#include ../../../problems/p15/p15.mojo:axis_sum}}\n\n{{#run p15}}\n")
    assert problems == []
    assert "variants" not in page
    assert "uv run tooling run p15\n" in page


def test_a_page_without_code_has_every_version(real: Project) -> None:
    page, _ = render(real, "{{#run p23 --tiled}}\n", "howto.md")
    assert ("TileTensor", "uv run tooling run p23_tile_tensor --tiled") in versions(page)
    assert ("LayoutTensor", "uv run tooling run p23 --tiled") in versions(page)


def test_a_tab_without_a_program_is_an_error(real: Project) -> None:
    text = (
        TABS.replace("p15/p15_raw.mojo:axis_sum", "p12/p12.mojo:dot_product") + "{{#run p12_tile_tensor}}\n"
    )
    _, problems = render(real, text.replace("{{#tab raw}}", "{{#tab other}}"))
    assert problems == ["the tab `other` has no program that `p12_tile_tensor` could run"]


@pytest.mark.parametrize(
    "page", ["puzzle_12/layout_tensor.md", "puzzle_15/puzzle_15.md", "puzzle_23/tile.md"]
)
def test_the_open_tab_of_a_page_is_the_program_that_it_runs(real: Project, page: str) -> None:
    text = editions(real)[0].page(page).read_text(encoding="utf-8")
    rendered, problems = render(real, text, page)
    assert problems == []
    label, command = versions(rendered)[0]
    assert label == "TileTensor"
    assert re.search(r"p\d\d_tile_tensor", command)
