"""Recorded verdicts: facts that are rendered in every language, and that are found when they are old."""

from __future__ import annotations

import io
import re
from pathlib import Path
from types import SimpleNamespace

import polib
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from tooling.book.checks.context import CheckContext
from tooling.book.checks.outputs import check_outputs
from tooling.book.directives.runs import Shown, shown_outputs
from tooling.book.directives.verdicts import record, shown_verdict
from tooling.book.errors import BookError
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.verdict_recordings import (
    RecordedVerdict,
    authored_texts,
    load_verdict,
    portable_finding,
    recorded_verdict,
    save_verdict,
    verdict_path,
    without_machine,
)
from tooling.execution.program import Ending, Transcript
from tooling.judging import texts
from tooling.judging.verdict import CaseVerdict, Outcome, SourceLine, Verdict
from tooling.platform.exit_codes import ExitCode
from tooling.project import Project
from tooling.reports.console import show_verdict, verdict_lines
from tooling.reports.html import verdict_html
from tooling.reports.terminal import Terminal
from tooling.reports.verdict_record import CaseRecord, ProblemRecord, VerdictRecord
from tooling.simulator.checks import texts as check_texts
from tooling.simulator.checks.findings import (
    Action,
    Check,
    Finding,
    Kind,
    Party,
    Severity,
    SourcePosition,
)
from tooling.targets.model import Choice
from tooling.targets.probing import SIMULATED
from tooling.text import LocalText, Text, languages
from tooling.text.catalogues import FOLDER_VARIABLE

RECORDED = re.compile(r"[❌✅⏱]|\b(?:why|try|where|error): |이유: ")


def verdicts(project: Project) -> list[Path]:
    return sorted((project.recordings / "outputs").rglob("*.verdict.json"))


def in_terminal(verdict: VerdictRecord, language: str) -> str:
    return "\n".join((*verdict_lines(verdict, language), ""))


def in_page(verdict: VerdictRecord, language: str) -> str:
    return verdict_html(verdict, language, lambda code: code)


def unsolved(project: Project) -> VerdictRecord:
    return shown_verdict(project, PuzzleIndex(project).selection("p01", []), "unsolved")


def letters(text: str) -> str:
    """The text without what a page changes: markup, spaces, quotes, separators and capital letters."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", re.sub(r"<[^>]+>", "", text))
    for sign, letter in {"’": "'", "…": "...", "&lt;": "<", "&gt;": ">", "&amp;": "&"}.items():
        text = text.replace(sign, letter)
    return re.sub(r"[\s`:]", "", text).lower()


def test_an_answer_has_one_recording_without_a_sentence(real: Project) -> None:
    shown = [each for each in shown_outputs(real) if each.judged]
    assert sorted(each.path for each in shown) == verdicts(real)
    assert len(shown) == 167
    assert [path.name for path in verdicts(real) if RECORDED.search(path.read_text("utf-8"))] == []


def test_no_recording_names_a_folder_of_the_machine(real: Project) -> None:
    recorded = [path for path in (real.root / "tests/data/outputs").rglob("*") if path.is_file()]
    assert len(recorded) > 250
    folder = re.compile(r"/(home|root|tmp|usr|var|work)/")
    assert [path.name for path in recorded if folder.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_page_shows_the_words_that_the_terminal_shows(real: Project, language: str) -> None:
    compared = 0
    for shown in (each for each in shown_outputs(real) if each.judged):
        verdict = shown_verdict(real, shown.selection, shown.state)
        html = in_page(verdict, language)
        said = in_terminal(verdict, language)
        if "joined" not in html and "<details>" not in html and " / " not in html and "× " not in html:
            compared += 1
            if "건: <span>" not in html:
                assert letters(html) == letters(said), shown.name
    assert compared > 50


def test_a_changed_wording_needs_no_recording(real: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    reworded = replace(texts.EXPLANATIONS["never-written"], what=Text("nothing arrived in `{output}`"))
    monkeypatch.setitem(texts.EXPLANATIONS, "never-written", reworded)
    monkeypatch.setattr("tooling.reports.parts.WHY", Text("because"))
    assert "  nothing arrived in `out` (with the book's data)\n" in in_terminal(unsolved(real), "en")
    html = in_page(unsolved(real), "en")
    assert '<p class="judged-cause">Nothing arrived in <code>out</code> <span' in html
    assert "<dt>because:</dt>" in html
    assert [found.message for found in check_outputs(CheckContext(real))] == []


def test_a_changed_message_of_a_check_needs_no_recording(
    real: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = check_texts.FINDINGS[Kind.PAST_THE_END]
    reworded = replace(message, what=Text("{buffer} ends before that"))
    monkeypatch.setitem(check_texts.FINDINGS, Kind.PAST_THE_END, reworded)
    verdict = shown_verdict(real, PuzzleIndex(real).selection("p01", []), "counted_from_one")
    assert "error: [memory] the 16-byte buffer #1 (argument 1 of add_10) ends before that\n" in (
        in_terminal(verdict, "en")
    )
    assert "The 16-byte buffer #1 (argument 1 of <code>add_10</code>) ends before that</p>" in (
        in_page(verdict, "en")
    )


def test_a_verdict_is_shown_in_a_further_language(
    real: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue = polib.POFile()
    catalogue.metadata = {
        "Content-Type": "text/plain; charset=utf-8",
        "Plural-Forms": "nplurals=2; plural=(n > 1);",
    }
    for english, french in {
        "{command} is not right yet": "{command} n'est pas encore juste",
        "the kernel wrote nothing into `{output}`": "le noyau n'a rien écrit dans `{output}`",
        "why": "pourquoi",
        "index": "indice",
    }.items():
        catalogue.append(polib.POEntry(msgid=english, msgstr=french))
    catalogue.save(str(tmp_path / "fr.po"))
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert "fr" in languages()
    html = in_page(unsolved(real), "fr")
    assert '<p class="judged-title">❌ <code>p01</code> n’est pas encore juste</p>' in html
    assert "Le noyau n’a rien écrit dans <code>out</code>" in html
    assert "<dt>pourquoi:</dt>" in html
    assert "<th>indice</th>" in html


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("At /home/me/book/problems/p01/p01.mojo:21:54: error", "At p01.mojo:21:54: error"),
        ("mojo_pkg:b0ee0a15", "mojo_pkg:…"),
        ("axis_sum", "axis_sum"),
    ],
)
def test_a_verdict_is_recorded_without_what_differs_between_machines(said: str, shown: str) -> None:
    assert without_machine(said) == shown


def made(problem: ProblemRecord, *findings: Finding) -> RecordedVerdict:
    case = CaseRecord("book", problems=(problem,), findings=findings, stderr=("At /tmp/x/p01.mojo:3: no",))
    verdict = VerdictRecord("p01", SIMULATED, Outcome.WRONG, (case,), seconds=1.5)
    return recorded_verdict("unsolved", "1.2.0", "0123", verdict)


def test_a_finding_is_recorded_with_names_of_files_alone() -> None:
    def at(line: int) -> SourcePosition:
        return SourcePosition("/tmp/x/p01.mojo", line, 5, 0)

    party = Party(Action.READ, (0, 0, 0), (0, 0, 0), 0, 0, at(3), callers=(at(9),))
    finding = Finding(Check.RACES, Kind.LEAK, Severity.ERROR, "k", (party, replace(party, callers=UNSET)))
    called, alone = portable_finding(finding).parties
    assert (called.position.file, alone.callers) == ("p01.mojo", UNSET)
    assert called.callers == (replace(at(9), file="p01.mojo"),)


def test_a_recorded_verdict_is_read_as_it_was_written(real: Project, tmp_path: Path) -> None:
    because = PuzzleIndex(real).selection("p32", ["--two-way"]).mode.counters[0].because
    facts = {"detail": Text("it waits for {count} threads").of(count=2), "because": because, "count": 2}
    line = SourceLine("/tmp/x/p01.mojo:3", "a")
    finding = Finding(Check.RACES, Kind.LEAK, Severity.ERROR, "mojo_pkg:b0ee0a15")
    recorded = made(ProblemRecord("crash", "crash", facts, "out", line=line), finding)
    path = tmp_path / "p01.unsolved.verdict.json"
    save_verdict(path, recorded)
    assert load_verdict(path) == recorded
    case = recorded.verdict.cases[0]
    assert recorded.verdict.seconds is None
    assert case.stderr == ("At p01.mojo:3: no",)
    assert case.problems[0].line == SourceLine("p01.mojo:3", "a")
    assert case.findings[0].kernel == "mojo_pkg:…"
    with pytest.raises(BookError, match="no longer has a message of this verdict: it waits for"):
        recorded.readable(authored_texts(real, PuzzleIndex(real).selection("p32", ["--two-way"]).puzzle))


def test_a_text_of_the_puzzle_is_shown_as_it_is_now(real: Project) -> None:
    selection = PuzzleIndex(real).selection("p32", ["--two-way"])
    puzzle, reason = selection.puzzle, selection.mode.counters[0].because
    facts = {"metric": "bank_conflicts", "because": reason}
    recorded = made(ProblemRecord("counters", "counters-missing", facts, "kernel"))
    read = recorded.readable(authored_texts(real, puzzle)).cases[0].problems[0]
    assert read.facts["because"] == reason
    assert read.sentences[1].render("ko") == reason.render("ko") != reason.render("en")
    with pytest.raises(BookError, match="no longer has a message of this verdict: older words"):
        old = replace(read, facts={**facts, "because": LocalText.of(en="older words")})
        made(old).readable(authored_texts(real, puzzle))


def test_a_verdict_that_lacks_a_fact_of_its_message_is_found(
    real: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reworded = replace(texts.EXPLANATIONS["never-written"], what=Text("{other} in `{output}`"))
    monkeypatch.setitem(texts.EXPLANATIONS, "never-written", reworded)
    found = {finding.message for finding in check_outputs(CheckContext(real))}
    assert found == {"a message of the judge needs the fact 'other', which was not recorded"}


def test_a_verdict_that_a_busy_machine_caused_is_not_recorded(
    real: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SimpleNamespace(outcome=Outcome.TIME_LIMIT)
    monkeypatch.setattr("tooling.trials.build_trial", lambda *_: None)
    monkeypatch.setattr("tooling.trials.run_trial", lambda *_, **__: slow)
    monkeypatch.setattr("tooling.toolchain.find_toolchain", lambda: None)
    selection = PuzzleIndex(real).selection("p33", ["--tensor-core"])
    with pytest.raises(
        BookError, match=r"p33 --tensor-core \(unsolved\) was ended by its time limit of 300 s"
    ):
        record(real, selection, "unsolved", "sim")


def test_no_page_shows_a_verdict_that_a_busy_machine_caused(real: Project) -> None:
    outcomes = {path.name: load_verdict(path).verdict.outcome for path in verdicts(real)}
    assert [name for name, outcome in outcomes.items() if outcome is Outcome.TIME_LIMIT] == []


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_verdict_on_a_solution_is_what_the_terminal_says(real: Project, language: str) -> None:
    solved = [each for each in shown_outputs(real) if each.state == "solved" and each.judged]
    assert {each.command for each in solved} >= {"p01", "p34 --coordination"}
    for shown in solved:
        right = Transcript("", "", Ending.EXITED, 0, 0.1)
        verdict = Verdict(
            shown.selection,
            Choice(SIMULATED, "the test's"),
            solution=True,
            cases=tuple(CaseVerdict(dataset, right, ()) for dataset in ("book", "probe")),
            outcome=Outcome.PASSED,
            seconds=12.3,
        )
        said = io.StringIO()
        show_verdict(verdict, Terminal(said, colour=False, width=None), language)
        recorded = shown_verdict(real, shown.selection, shown.state)
        assert recorded.outcome.exit_code == ExitCode.PASSED
        assert in_terminal(recorded, language) == said.getvalue().replace("; 12.3 s)", ")")


def test_a_verdict_of_another_answer_is_found(checkout: Project) -> None:
    selection = PuzzleIndex(checkout).selection("p01", [])
    path = verdict_path(checkout, selection, "unsolved")
    path.write_bytes(verdict_path(checkout, selection, "read_backwards").read_bytes())
    found = [finding.message for finding in check_outputs(CheckContext(checkout))]
    assert "this is a recording of `p01` (read_backwards)" in found
    assert Shown(selection, "unsolved", path, judged=True).name == "p01 (unsolved, verdict)"
