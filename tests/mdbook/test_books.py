"""Links, fragments and pictures without a target; anchors that no page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.mdbook import expansion
from tooling.mdbook.books import Library
from tooling.mdbook.files import Files
from tooling.mdbook.pages import Page

FILES = {
    "src/a.md": '# One\n\n## Two words\n\n<a id="own"></a>\n\nTerm\n: definition\n',
    "src/folder/README.md": "# Folder\n",
    "src/folder/part.md": "## Shown part\n",
    "src/folder/whole.md": "# Whole\n\n{{#include part.md}}\n",
    "src/한글 이름.md": "# 공유 메모리(shared memory)\n",
    "src/picture.svg": "",
    "assets/made.svg": "",
}

LINKS: dict[str, str | None] = {
    "a.md": None,
    "./a.md": None,
    "folder/../a.md": None,
    "/a.md": None,
    "a.html": None,
    "a.md#one": None,
    "a.html#two-words": None,
    "a.md#own": None,
    "a.md#term": None,
    "a.md#Two-words": "missing-fragment",
    "a.md#three": "missing-fragment",
    "b.md": "missing-page",
    "b.md#one": "missing-page",
    "folder/": None,
    "folder/whole.md#shown-part": None,
    "folder/part.md#whole": "missing-fragment",
    "%ED%95%9C%EA%B8%80%20%EC%9D%B4%EB%A6%84.md": None,
    "한글 이름.md#공유-메모리shared-memory": None,
    "a.md#%74wo-words": None,
    "#here": None,
    "#there": "missing-fragment",
    "a.md?x=1#one": None,
    "https://example.org/b.md": None,
    "../../std/index.html": None,
    "../../std/page.md#x": None,
    "mailto:a@example.org": None,
    "{{#include url.md}}/b.md": None,
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("books")
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


@pytest.mark.parametrize("target", LINKS)
def test_links(target: str, root: Path) -> None:
    page = Page.of(root / "src/page.md", root / "src", f"# Here\n\n[x](<{target}>)\n")
    problems = Library().check(page)
    assert [problem.fault.value for problem in problems] == ([LINKS[target]] if LINKS[target] else [])
    assert all(problem.line == 3 for problem in problems)


PICTURES = {"picture.svg": True, "/picture.svg": True, "/made.svg": True, "made.svg": False, "data:x": True}


@pytest.mark.parametrize("target", PICTURES)
def test_pictures(target: str, root: Path) -> None:
    page = Page.of(root / "src/page.md", root / "src", f'![x]({target})\n\n<img src="{target}">\n')
    problems = Library([root / "assets"]).check(page)
    assert [problem.line for problem in problems] == ([] if PICTURES[target] else [1, 3])


def test_unused_anchors(tmp_path: Path) -> None:
    code = tmp_path / "code.mojo"
    code.write_text("ANCHOR: a\n1\nANCHOR_END: a\n\nANCHOR: b\n2\nANCHOR_END: b\n")
    files = Files()
    text = "{{#include code.mojo:a}} \\{{#include code.mojo:b}}"
    problems, uses = expansion.check(text, tmp_path / "page.md", files)
    assert problems == ()
    unused = expansion.unused_anchors(uses, [code], files)
    assert [(path, region.name, region.opening) for path, region in unused] == [(code, "b", 5)]


def test_check_finds_what_expansion_finds(tmp_path: Path) -> None:
    (tmp_path / "part.md").write_text("{{#include gone.md}}\nANCHOR: a\n")
    text = "{{#include part.md}} {{#include part.md:a}} {{#include part.md:99}} {{#inculde x}}"
    page = tmp_path / "page.md"
    expanded = expansion.expand(text, page, Files())
    assert expansion.check(text, page, Files()) == (expanded.problems, expanded.uses)
    assert len(expanded.problems) == 4
