"""Finds markers whose commit is lost, or has another text than the blob line names."""

from __future__ import annotations

from pathlib import Path

from tooling.text import Text
from tooling.translations.findings import TranslationFinding
from tooling.translations.freshness.survey import Survey
from tooling.translations.git.pins import Answer, PinReader, Question, Resolution
from tooling.translations.model import Freshness, FreshnessSeverity
from tooling.translations.roots import Roots


def find_wrong_commits(reader: PinReader, top: Path, survey: Survey) -> list[TranslationFinding]:
    """The markers with a blob line whose commit does not exist, or has another text of the page.

    A commit that a shallow clone lacks may exist. A commit at which the page has another path is right.

    Raises:
        GitError: git ended without answering.
    """
    folder = survey.roots.source.resolve().relative_to(top.resolve())
    shallow = survey.repository is not None and survey.repository.is_shallow
    pinned = [
        (status, status.pin.commit, status.pin.blob)
        for status in survey.pages
        if status.source and status.target and status.pin and status.pin.commit and status.pin.blob
        if status.freshness is not Freshness.BAD_PIN
    ]
    answers = reader.resolve([Question(commit, (folder / one.key).as_posix()) for one, commit, _ in pinned])
    return [
        TranslationFinding(
            "parity:marker",
            FreshnessSeverity.WARNING,
            status.key,
            status.target or status.key,
            1,
            None,
            problem,
            Text("the blob line is used; `{command}` writes the commit that it belongs to").of(
                command=_repair(survey.roots, status.key)
            ),
            f"parity:marker/{status.key}",
        )
        for (status, commit, blob), answer in zip(pinned, answers, strict=True)
        if (problem := _problem(commit, blob, answer, shallow=shallow))
    ]


def _repair(roots: Roots, key: str) -> str:
    return roots.command("repair", roots.target_argument(key))


def _problem(commit: str, blob: str, answer: Resolution, *, shallow: bool) -> Text | None:
    """What is wrong with the commit of a marker; None if nothing is, or if this clone does not have it."""
    if answer.answer is Answer.NO_COMMIT and not shallow:
        return Text(
            "commit {commit} of the marker does not exist here: squashed, rebased or never pushed; "
            "included code was not compared with that at the pin"
        ).of(commit=commit[:12])
    if answer.blob is not None and answer.blob != blob:
        return Text(
            "the lines of the marker contradict each other: the page is {blob} at commit {commit}, "
            "and the blob line names {blob2}"
        ).of(blob=answer.blob[:12], commit=commit[:12], blob2=blob[:12])
    return None
