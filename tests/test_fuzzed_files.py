"""Damaged files of a checkout: each is read, or refused by an error that names it; nothing else is raised.

Some hundred inputs of each sort in the second tier; a hundred thousand of each, in about an hour on one core:
`PUZZLE_FUZZED=100000 pytest -m slow tests/test_fuzzed_files.py`.
"""

from __future__ import annotations

import os
import random
import re
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import polib
import pytest

from tests.simulator.test_fuzzing import in_time
from tooling.book.checks import commands, contents, identifiers, outputs, sources, words
from tooling.book.checks.context import Chapter, CheckContext
from tooling.book.directives.replays import load as load_replay
from tooling.book.figures.traces import load as load_trace
from tooling.book.recordings import RUNS, load_all
from tooling.book.verdict_recordings import load_verdict
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.mutants import load_mutants
from tooling.mdbook import expansion
from tooling.mdbook.files import Files
from tooling.mdbook.pages import Page
from tooling.platform.errors import ToolingError
from tooling.project import Project
from tooling.text import Text, catalogues
from tooling.translations.marker import without_key
from tooling.translations.parity import glossary
from tooling.translations.parity.comparison import compare

ROOT = Path(__file__).parents[1]
COUNT = int(os.environ.get("PUZZLE_FUZZED", "300"))
MEMORY = 6 << 30  # bytes of address space
NUMBERS = ("0", "-1", "1e999", "NaN", "9" * 40, "1000000000000", "0.5", "null", '""', "[]", "{}", "true")
MARKS = (
    "`", "```", "$$", "$", "<!--", "-->", "{{#include ", "{{#figure ", "}}", "[", "](", ")", "<div>", "</p>",
    "|", "\n", "\r", "\0", "\u2028", "&#x110000;", "\ufeff", "# ", "> ", "- ", "    ", "\t", "!", "\\", "^[",
    "[^1]", "~~~", "\u202e", ": ", "*", "&a ", "*a", "<<: ", "!!python/object:os.system ", "---\n", "|\n",
    "? ", "'", '"', "%", "@", "{", "}",
)  # fmt: skip

PAGES = ("puzzle_01/puzzle_01.md", "puzzle_12/puzzle_12.md", "howto.md", "glossary.md")

_FACTS = re.compile(r"{(\w*)")

pytestmark = pytest.mark.slow


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with one to eight changes: bytes, marks, numbers, pieces that are copied, moved or lost."""
    changed = content
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at = chance.randrange(len(changed) + 1)
        to = min(len(changed), at + chance.choice((0, 1, 2, 8, 40, 400)))
        kind = chance.randrange(6)
        if kind == 0:
            piece = bytes(chance.getrandbits(8) for _ in range(chance.choice((1, 2, 4))))
        elif kind == 1:
            piece = chance.choice(MARKS).encode() * chance.choice((1, 1, 2, 60))
        elif kind == 2:
            piece = chance.choice(NUMBERS).encode()
        elif kind == 3:
            origin = chance.randrange(len(changed) + 1)
            piece = changed[origin : origin + chance.choice((4, 40, 400))]
        elif kind == 4:
            piece = b""
        else:  # a number elsewhere
            digits = re.search(rb"[0-9]+", changed[at:])
            at, to = (at + digits.start(), at + digits.end()) if digits else (at, at)
            piece = chance.choice(NUMBERS).encode()
        changed = changed[:at] + piece + changed[to:]
    return changed


@pytest.fixture(autouse=True)
def _memory() -> Iterator[None]:
    """An input that would fill the memory fails."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def try_damaged(
    originals: list[Path],
    place: Path,
    read: Callable[[Path], object],
    refusals: tuple[type[Exception], ...] = (ToolingError, UnicodeDecodeError),
) -> None:
    """Reads the originals, and then damaged ones in their place."""
    contents = [path.read_bytes() for path in originals]
    for content in contents:
        place.write_bytes(content)
        read(place)
    read_well = 0
    for seed in range(COUNT):
        chance = random.Random(seed)
        place.write_bytes(damaged(chance.choice(contents), chance))
        try:
            with in_time():
                read(place)
            read_well += 1
        except refusals as error:
            assert str(error), seed
        except Exception as error:
            raise AssertionError(f"input {seed}: {type(error).__name__}: {error}") from error
    assert read_well < COUNT


def smallest(pattern: str, count: int = 4) -> list[Path]:
    return sorted((ROOT / "tests" / "data").glob(pattern), key=lambda path: path.stat().st_size)[:count]


def test_traces(tmp_path: Path) -> None:
    try_damaged(smallest("traces/*.json"), tmp_path / "p01.json", load_trace)


def test_replays(tmp_path: Path) -> None:
    try_damaged(smallest("outputs/*/*.replay.json"), tmp_path / "p01.solved.replay.json", load_replay)


def test_verdicts(tmp_path: Path) -> None:
    try_damaged(smallest("outputs/*/*.verdict.json"), tmp_path / "p01.unsolved.verdict.json", load_verdict)


def test_recorded_runs(tmp_path: Path) -> None:
    try_damaged(smallest("outputs/*/runs.json"), tmp_path / RUNS, lambda path: load_all(path.parent))


def test_catalogues(tmp_path: Path) -> None:
    entries = (ROOT / "tooling/text/ko.po").read_text("utf-8").split("\n\n")
    kinds = ("msgid", "msgid_plural", "msgctxt")
    chosen = dict.fromkeys(each for word in kinds for each in [e for e in entries if word in e][:4])
    short = tmp_path / "short.po"
    short.write_text("\n\n".join(chosen) + "\n", "utf-8")

    def read(path: Path) -> None:
        catalogues._entries.cache_clear()
        catalogues._catalogue.cache_clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(catalogues, "catalogue_files", lambda: {"ko": path})
            for entry in known:
                Text(*entry).of(count=7, name="p01").render("ko")

    known = [
        (each.msgid, each.msgid_plural, each.msgctxt or "")
        for each in polib.pofile(str(short))
        if not set(_FACTS.findall(each.msgid + each.msgid_plural)) - {"count", "name"}
    ]
    assert any(plural for _, plural, _ in known)
    try_damaged([short], tmp_path / "ko.po", read, refusals=(catalogues.CatalogueError,))


def test_manifests(tmp_path: Path) -> None:
    folder = tmp_path / "problems" / "p01"
    folder.mkdir(parents=True)
    project = Project(tmp_path)
    try_damaged(
        [ROOT / "problems/p01/puzzle.yaml"], folder / "puzzle.yaml", lambda path: load_puzzle(path, project)
    )


def test_known_mistakes(tmp_path: Path) -> None:
    puzzle = load_puzzle(ROOT / "problems/p01/puzzle.yaml", Project(ROOT))
    project = Project(tmp_path)
    project.mutants.mkdir(parents=True)
    try_damaged(
        [ROOT / "tests/mutants/p01.yaml"],
        project.mutants / "p01.yaml",
        lambda _: load_mutants(project, puzzle),
    )


def test_glossaries(tmp_path: Path) -> None:
    place = tmp_path / "glossary.yaml"
    original = ROOT / "i18n/ko/glossary.yaml"
    lines = original.read_text("utf-8").splitlines(keepends=True)
    short = tmp_path / "short.yaml"
    short.write_text("".join(lines[:60]), "utf-8")
    try_damaged([short], place, glossary.load)


def test_pages(tmp_path: Path) -> None:
    """A damaged translation is compared with its source, and the structure and includes of both are read."""
    source_root, target_root = ROOT / "book/src", ROOT / "i18n/ko/book/src"
    english = {name: Page.read(source_root / name, source_root) for name in PAGES}
    originals = [target_root / name for name in PAGES]
    by_title = {path.read_bytes()[:40]: name for path, name in zip(originals, PAGES, strict=True)}

    def read(path: Path) -> None:
        data = path.read_bytes()
        name = by_title.get(data[:40], PAGES[0])
        text = without_key(data.decode("utf-8"))
        target = Page.of(target_root / name, target_root, text)
        compare(english[name], target)
        expansion.check(text, target.path, Files())

    try_damaged(originals, tmp_path / "page.md", read)


CHECKS = (
    sources.check_links, sources.check_full_files, sources.check_images, contents.check_headings,
    contents.check_fences, contents.check_markers, outputs.check_pasted, identifiers.check_identifiers,
    words.check_spelling, words.check_register, commands.check_commands,
)  # fmt: skip
"""Those of `tooling book check` that read one chapter at a time."""


def test_chapters(tmp_path: Path) -> None:
    context = CheckContext(Project(ROOT))
    edition = context.editions[0]

    def read(path: Path) -> None:
        page = Page.of(edition.source / PAGES[0], edition.source, path.read_bytes().decode("utf-8"))
        vars(context)["chapters"] = (Chapter(edition, PAGES[0], page),)
        for check in CHECKS:
            list(check(context))

    try_damaged([edition.source / name for name in PAGES], tmp_path / "page.md", read)
