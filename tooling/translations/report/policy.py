"""When a report fails: which findings count, and for which pages of a change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.text import Sentence, Text, joined
from tooling.translations.findings import TranslationFinding
from tooling.translations.model import Freshness, FreshnessSeverity, PageStatus, Problem

# Families and kinds that --fail-on accepts; a kind of parity, include or glossary may follow after a colon.
FAMILIES = (
    "stale",
    "missing",
    "orphaned",
    "untracked",
    "bad-pin",
    "unknown",
    "parity",
    "include",
    "glossary",
    "ignore",
)
_GRADED = ("parity", "include", "glossary")
_DAY = 86_400


class FailOnError(ToolingError):
    """--fail-on names an unknown kind of finding."""


class Policy(Struct, frozen=True):
    """The conditions under which a report fails.

    Attributes:
        check: findings determine the exit status; without it a report never fails because of them.
        fail_on: severities (`error`, `warning`), families and kinds that fail.
        max_stale: tolerated share of stale pages in percent, None for none tolerated.
        max_age: tolerated age of a stale page in days, None for none tolerated.
    """

    check: bool = False
    fail_on: tuple[str, ...] = ("error",)
    max_stale: float | None = None
    max_age: int | None = None

    @classmethod
    def of(cls, *, check: bool, fail_on: str | None, max_stale: float | None, max_age: int | None) -> Policy:
        """The policy of command-line options; each of them implies `--check`.

        Raises:
            FailOnError: an unknown word in `fail_on`.
        """
        words = tuple(word.strip() for word in (fail_on or "error").split(",") if word.strip())
        for word in words:
            if word not in ("error", "warning", "info") and word.partition(":")[0] not in FAMILIES:
                raise FailOnError(
                    Text("--fail-on {word}: unknown kind of finding").of(word=word),
                    why=Text("a misspelled kind would never fail"),
                    hint=Text("use error, warning, or any of {families}, as in stale:prose").of(
                        families=", ".join(FAMILIES)
                    ),
                )
        implied = fail_on is not None or max_stale is not None or max_age is not None
        return cls(check or implied, words, max_stale, max_age)

    def fails(self, finding: TranslationFinding) -> bool:
        """Whether this finding counts, leaving the tolerances for stale pages aside."""
        return any(_matches(word, finding) for word in self.fail_on)

    def failing(
        self, findings: Iterable[TranslationFinding], pages: Sequence[PageStatus], now: int
    ) -> tuple[TranslationFinding, ...]:
        """The findings that make the report fail."""
        counted = [finding for finding in findings if self.fails(finding)]
        stale = [finding for finding in counted if finding.family == "stale"]
        if self.max_age is not None:
            since = {page.key: page.outdated_since for page in pages}
            # A page of unknown age counts.
            stale = [
                finding
                for finding in stale
                if (start := since.get(finding.page)) is None or now - start > self.max_age * _DAY
            ]
        translated = sum(page.source is not None and page.target is not None for page in pages)
        if self.max_stale is not None and len(stale) * 100 <= self.max_stale * translated:
            stale = []
        failing = {id(finding) for finding in stale}
        return tuple(one for one in counted if one.family != "stale" or id(one) in failing)


def _matches(word: str, finding: TranslationFinding) -> bool:
    if word in ("error", "warning", "info"):
        return finding.severity >= FreshnessSeverity[word.upper()]
    if finding.kind == word:
        return True
    if finding.family != word:
        return False
    # The name of a family selects its errors; the name of one kind selects all its findings.
    return finding.severity is FreshnessSeverity.ERROR or word not in _GRADED


class ChangedPages(Struct, frozen=True):
    """The pages a change (a pull request) touches.

    Attributes:
        since: the reference it was measured from.
        targets: keys of translated pages it touches: these must be accurate.
        sources: keys of source pages it touches: their translations are only warned about.
    """

    since: str
    targets: frozenset[str]
    sources: frozenset[str]

    def covers(self, key: str) -> bool:
        return key in self.targets or key in self.sources

    def soften(self, findings: Iterable[TranslationFinding]) -> tuple[TranslationFinding, ...]:
        """The findings of the pages in scope, as warnings where only the source page was touched."""
        return tuple(
            finding
            if finding.page in self.targets
            else replace(finding, severity=min(finding.severity, FreshnessSeverity.WARNING))
            for finding in findings
            if self.covers(finding.page)
        )


class ReportOutcome(Struct, frozen=True):
    """The outcome of a report.

    Attributes:
        exit_code: 0 pass, 1 findings that count, 2 something could not be determined.
        failing: the findings that count.
        unclear: what could not be determined, and why.
        reported: the findings that would count with `--check`.
    """

    exit_code: ExitCode
    failing: tuple[TranslationFinding, ...]
    unclear: tuple[str | Sentence, ...]
    reported: tuple[TranslationFinding, ...]


def judge(
    policy: Policy,
    findings: Sequence[TranslationFinding],
    pages: Sequence[PageStatus],
    problems: Sequence[Problem],
    *,
    now: int,
    scope: ChangedPages | None = None,
) -> ReportOutcome:
    """The outcome for these findings; what could not be determined never passes, with or without `check`."""
    unclear: list[str | Sentence] = [problem.what for problem in problems]
    unclear += [
        joined((f"{page.key}: ", page.reason or ""), "")
        for page in pages
        if page.freshness is Freshness.UNKNOWN
    ]
    if policy.check:
        pinless = ("bad-pin", "untracked")
        unclear += [
            joined((f"{one.page}: ", one.message), "")
            for one in findings
            if one.kind in pinless and (scope is None or one.page in scope.targets)
        ]
    counting = policy.failing(findings, pages, now)
    failing, reported = (counting, ()) if policy.check else ((), counting)
    exit_code = ExitCode.USAGE if unclear else ExitCode.WRONG if failing else ExitCode.PASSED
    return ReportOutcome(exit_code, failing, tuple(unclear), reported)
