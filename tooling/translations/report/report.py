"""The result of a run, which every format renders."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path

from msgspec import Struct

from tooling.translations.findings import (
    FidelityResult,
    TranslationFinding,
    freshness_findings,
    is_expected,
)
from tooling.translations.freshness.survey import Survey
from tooling.translations.model import Fidelity, Freshness, FreshnessSeverity, PageStatus, Problem
from tooling.translations.report.policy import ChangedPages, Policy, ReportOutcome, judge
from tooling.translations.roots import Roots


class Report(Struct, frozen=True):
    """The pages, the findings and the verdict.

    Attributes:
        pages: the pages in scope.
        fidelity: by page key.
        findings: those that are not ignored, most severe first.
        ignored: those that are, with the reason given.
        problems: why the result is incomplete.
        git_processes: how many git processes the run took.
        edited: by page key, the changed sections that have been edited in the translation since it was
            stamped; read for the to-do list alone.
    """

    roots: Roots
    pages: tuple[PageStatus, ...]
    fidelity: Mapping[str, Fidelity]
    findings: tuple[TranslationFinding, ...]
    ignored: tuple[tuple[TranslationFinding, str], ...]
    problems: tuple[Problem, ...]
    verdict: ReportOutcome
    scope: ChangedPages | None
    head: str | None
    time: int
    git_processes: int
    cache_hits: int
    edited: Mapping[str, frozenset[int]] = {}

    @property
    def counts(self) -> Counter[Freshness]:
        return Counter(page.freshness for page in self.pages)

    @property
    def day(self) -> datetime.date:
        return datetime.datetime.fromtimestamp(self.time, datetime.UTC).date()

    def number_of(self, severity: FreshnessSeverity) -> int:
        """How many findings have this severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def by_page(self) -> dict[str, list[TranslationFinding]]:
        """The findings of each page, most severe first; those about no page are under the empty key."""
        grouped: dict[str, list[TranslationFinding]] = {}
        for finding in self.findings:
            grouped.setdefault(finding.page, []).append(finding)
        return grouped

    def fidelity_of(self, page: PageStatus) -> Fidelity:
        return self.fidelity.get(page.key, Fidelity.NOT_CHECKED)

    def age_in_days(self, page: PageStatus) -> int | None:
        """How long the translation has been stale, None where history does not show it."""
        if page.outdated_since is None:
            return None
        return max(0, (self.time - page.outdated_since) // 86_400)


def make_report(
    survey: Survey,
    fidelity: FidelityResult | None,
    policy: Policy,
    ignore_file: Path,
    *,
    scope: ChangedPages | None = None,
    only: Collection[str] | None = None,
) -> Report:
    """Combines freshness and fidelity, applies scope and ignores, and judges.

    Raises:
        IgnoreFileError: the ignore file is malformed.
    """
    pages = survey.pages if scope is None else tuple(one for one in survey.pages if scope.covers(one.key))
    found = [finding for page in pages for finding in freshness_findings(page)]
    if fidelity is not None:
        keys = {page.key for page in pages}
        found += [one for one in fidelity.findings if one.page in keys or (not one.page and scope is None)]
    if survey.roots.growing:
        found = [one for one in found if not is_expected(one.kind, one.page)]
    softened = tuple(found) if scope is None else scope.soften(found)
    ignored: tuple[tuple[TranslationFinding, str], ...] = ()
    if ignore_file.is_file():
        # Imported here: most books have no such file.
        from tooling.translations.report.ignores import apply_ignores, read_ignores  # noqa: PLC0415

        sorted_out = apply_ignores(
            softened,
            read_ignores(ignore_file),
            file=survey.roots.name(ignore_file),
            today=datetime.datetime.fromtimestamp(survey.time, datetime.UTC).date(),
            # Without the comparison, entries about fidelity cannot match.
            whole=scope is None and only is None and fidelity is not None,
        )
        softened, ignored = sorted_out.kept, sorted_out.ignored
    findings = tuple(sorted(softened, key=lambda one: (-one.severity, one.file, one.line or 0, one.kind)))
    problems = (*survey.problems, *(fidelity.problems if fidelity else ()))
    return Report(
        survey.roots,
        pages,
        fidelity.pages if fidelity else {},
        findings,
        ignored,
        problems,
        judge(policy, findings, pages, problems, now=survey.time, scope=scope),
        scope,
        survey.head,
        survey.time,
        survey.repository.processes if survey.repository else 0,
        survey.cache_hits,
    )


def worst(findings: Collection[TranslationFinding]) -> FreshnessSeverity | None:
    """The highest severity among them."""
    return max((finding.severity for finding in findings), default=None)
