"""The glossary: its file, its search in both languages, its three rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.translations.book_fixture import english
from tooling.mdbook.pages import Page
from tooling.translations.parity import glossary
from tooling.translations.parity.findings import ParityFinding, ParitySeverity
from tooling.translations.parity.glossary import Glossary, GlossaryError, Term

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "i18n/ko/glossary.yaml"

TERMS = (
    Term("thread", ("스레드",), ("쓰레드",)),
    Term("thread block", ("스레드 블록",), ("쓰레드 블럭",)),
    Term("block", ("블록",), ("블럭",), first_use=False),
    Term("shared memory", ("공유 메모리",), ("공유메모리",)),
    Term("memory", ("메모리",), first_use=False),
    Term("matrix", ("행렬",), ("매트릭스",), ("matrices",), first_use=False),
    Term("coalesced", ("병합", "합쳐"), first_use=False),
    Term("alignment", ("정렬",), first_use=False),
    Term("sort", ("정렬하기",), ("정렬",), first_use=False),
    Term("latency", ("지연 시간",), first_use=False),
)
SMALL = glossary.prepare(TERMS, Path("small.yaml"))


def check(source: str, target: str, terms: Glossary = SMALL) -> list[ParityFinding]:
    root = Path("/src")
    return glossary.check(Page.of(root / "x.md", root, source), Page.of(root / "x.md", root, target), terms)


CASES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "particle joined": ("A thread waits.", "스레드(thread)는 기다립니다.", ()),
    "compound joined": ("Threads wait.", "스레드(thread)들이 기다립니다.", ()),
    "left boundary": ("A thread waits.", "하이퍼스레드가 기다립니다.", ("glossary-missing",)),
    "missing": ("The shared memory.", "그 기억 장치입니다.", ("glossary-missing",)),
    "rival": ("A block.", "블럭입니다. 블록입니다.", ("glossary-rival",)),
    "rival of a word inside a longer term": (
        "A thread block.",
        "스레드 블록(thread block)의 쓰레드.",
        ("glossary-rival",),
    ),
    "rival inside an accepted form": ("Sort them.", "정렬하기", ()),
    "rival where the source lacks the term": ("A value.", "블럭입니다.", ()),
    "longer term counts": ("A thread block.", "스레드 블록(thread block)입니다.", ()),
    "both": ("A thread of a thread block.", "스레드 블록(thread block)의 스레드(thread)입니다.", ()),
    "irregular plural": ("Two matrices.", "두 행입니다.", ("glossary-missing",)),
    "plural in -ies": ("Latencies add up.", "시간이 쌓입니다.", ("glossary-missing",)),
    "over a line break": ("The shared\nmemory.", "그 공유\n메모리(shared\nmemory)입니다.", ()),
    "hyphen": ("The shared-memory tile.", "그 공유 메모리(shared memory) 타일입니다.", ()),
    "comma between the words": ("It is shared, memory is not.", "공유되지만 메모리는 아닙니다.", ()),
    "code does not count": ("Call `thread`.", "`thread`를 부릅니다.", ()),
    "code does not help": ("A thread.", "`스레드`입니다.", ("glossary-missing",)),
    "fences do not count": ("```\nthread\n```\n", "```\nthread\n```\n", ()),
    "English kept": ("The Block API.", "Block API입니다.", ()),
    "any accepted form": ("Loads are coalesced.", "읽기가 합쳐집니다.", ()),
    "first use lacks the English": ("Shared memory.", "공유 메모리입니다.", ("glossary-first-use",)),
    "English comes too late": (
        "Shared memory. Shared memory.",
        "공유 메모리입니다. 공유 메모리(shared memory)입니다.",
        ("glossary-first-use",),
    ),
    "English in a heading": (
        "# Shared memory\n\nShared memory.",
        "# 공유 메모리(shared memory)\n\n공유 메모리입니다.",
        (),
    ),
    "bare heading, English in the text": ("# Threads\n\nA thread.", "# 스레드\n\n스레드(thread)입니다.", ()),
    "English after an ending": ("Shared memory.", "공유 메모리에서(shared memory) 씁니다.", ()),
    "emphasis": ("**Shared memory**.", "**공유 메모리**(shared memory)입니다.", ()),
    "English of a longer term": ("A thread. A worker thread.", "작업 스레드(worker thread)입니다.", ()),
    "other English": ("A thread.", "스레드(warp)입니다.", ("glossary-first-use",)),
}


@pytest.mark.parametrize("name", CASES)
def test_rules(name: str) -> None:
    source, target, kinds = CASES[name]
    assert tuple(finding.kind for finding in check(source, target)) == kinds


def test_findings_have_lines() -> None:
    (finding,) = check("# A\n\nOne\nblock.", "# 가\n\n나 블록\n블럭.")
    assert (finding.kind, finding.line_source, finding.line_target) == ("glossary-rival", 4, 4)
    assert finding.severity is ParitySeverity.ERROR
    assert "`블록`" in english(finding.hint)
    (missing,) = check("# A\n\nOne\nblock.", "# 가\n")
    assert (missing.kind, missing.line_source, missing.line_target) == ("glossary-missing", 4, None)
    assert missing.severity is ParitySeverity.WARNING


def test_the_books_glossary_is_sound() -> None:
    loaded = glossary.load(FILE)
    assert len(loaded.terms) >= 120
    for term in loaded.terms:
        forms = [*term.accepted, *term.rivals]
        assert len(set(forms)) == len(forms), term.english
        assert term.english == term.english.strip().lower()
        assert all(form == form.strip() and "  " not in form for form in forms), term.english


def test_no_rival_is_an_accepted_form_of_another_term() -> None:
    """Such a rival could never be reported, or would be reported wrongly."""
    terms = glossary.load(FILE).terms
    accepted = {form: term.english for term in terms for form in term.accepted}
    clashes = [
        (term.english, rival, accepted[rival]) for term in terms for rival in term.rivals if rival in accepted
    ]
    assert clashes == []


WRONG = {
    "no terms": ("terms:\n", "no terms"),
    "not a mapping": ("- a\n", "no terms"),
    "not YAML": ("terms: [\n", "not YAML"),
    "unknown key": ("terms:\n  - {en: a, ko: [가], rival: [나]}\n", "unknown key `rival`"),
    "no Korean": ("terms:\n  - {en: a}\n", "`ko` needs"),
    "word instead of a list": ("terms:\n  - {en: a, ko: 가}\n", "`ko` must be a list"),
    "twice": ("terms:\n  - {en: a, ko: [가]}\n  - {en: A, ko: [나]}\n", "occurs twice"),
    "accepted and avoided": ("terms:\n  - {en: a, ko: [가나], avoid: [가]}\n", "both accepted"),
    "unknown part": ("terms:\n  - {en: a, ko: [가], part: nown}\n", "`part` is noun"),
    "no English": ("terms:\n  - {ko: [가]}\n", "`en` must be"),
    "row is a word": ("terms:\n  - a\n", "not a mapping"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_glossary_is_an_error(name: str, tmp_path: Path) -> None:
    content, message = WRONG[name]
    path = tmp_path / "glossary.yaml"
    path.write_text(content)
    with pytest.raises(GlossaryError, match=message) as caught:
        glossary.load(path)
    assert str(path) in str(caught.value)


def test_a_missing_glossary_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GlossaryError, match="no glossary"):
        glossary.load(tmp_path / "none.yaml")
