"""Finds markers whose lines contradict each other: the commit has another text than the blob line names."""

from __future__ import annotations

from pathlib import Path

from tooling.translations.findings import TranslationFinding
from tooling.translations.freshness.survey import Survey
from tooling.translations.git.pins import PinReader, Question
from tooling.translations.model import FreshnessSeverity


def find_contradictions(reader: PinReader, top: Path, survey: Survey) -> list[TranslationFinding]:
    """The markers that name a commit of this clone and another text of the page than that commit has.

    A commit that is not in this clone, or at which the page has another path, is no contradiction.

    Raises:
        GitError: git ended without answering.
    """
    folder = survey.roots.source.resolve().relative_to(top.resolve())
    pinned = [
        (status, status.pin.commit, status.pin.blob)
        for status in survey.pages
        if status.source and status.target and status.pin and status.pin.commit and status.pin.blob
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
            f"the lines of the marker contradict each other: the page is {answer.blob[:12]} at commit "
            f"{commit[:12]}, and the blob line names {blob[:12]}",
            "the blob line is used; `tooling check-translations repair "
            f"{survey.roots.target_argument(status.key)}` writes the commit that it belongs to",
            f"parity:marker/{status.key}",
        )
        for (status, commit, blob), answer in zip(pinned, answers, strict=True)
        if answer.blob is not None and answer.blob != blob
    ]
