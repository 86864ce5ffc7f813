"""Determines how fresh each translated page is, and stores the report for the preprocessor.

A page whose marker names the blob that its source has now is current, without git. Only if a page differs are
the translation tools imported, which read the history.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from tooling.book.directives.banner import status_path
from tooling.book.editions import Edition
from tooling.book.summary import read_summary
from tooling.platform.regular_files import TEXT_LIMIT, read_regular
from tooling.project import Project

_BLOB = re.compile(rb"\A<!-- i18n-source-commit: [^\n]*-->\r?\n<!-- i18n-source-blob: ([0-9a-f]{40}) -->")
_CURRENT = {"freshness": "current", "needs_translation": False, "sections": []}


def write_status(project: Project, source: Edition, edition: Edition) -> None:
    """Writes the report on a translated edition; an old one is replaced or deleted.

    Where the state cannot be determined (no git, no history) there is no report, and the pages say so.

    Raises:
        GitKilled: git was ended from outside, so the state is unknown only now.
    """
    path = status_path(project, edition)
    pages = _current(source, edition)
    if pages is None:
        report = _surveyed(project, edition)
    else:
        report = json.dumps({"pages": pages}, ensure_ascii=False, indent=1)
    if report is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report, encoding="utf-8")


def _current(source: Edition, edition: Edition) -> dict[str, object] | None:
    """The report if every page is current by its marker, else None."""
    paths = [entry.path for entry in read_summary(edition.source) if entry.path]
    same = all(_is_current(source.page(path), edition.page(path)) for path in paths)
    return dict.fromkeys(paths, _CURRENT) if same else None


def _is_current(original: Path, translation: Path) -> bool:
    try:
        marker = _BLOB.match(read_regular(translation, limit=TEXT_LIMIT))
        content = read_regular(original, limit=TEXT_LIMIT)
    except OSError:
        return False
    return marker is not None and marker[1].decode() in (
        _blob(content),
        _blob(content.replace(b"\r\n", b"\n")),
    )


def _blob(content: bytes) -> str:
    """The blob id that git gives a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _surveyed(project: Project, edition: Edition) -> str | None:
    """The report of `tooling check-translations status --format json`, without the findings in each page."""
    # Rarely needed, and the import takes as long as a build.
    from tooling.translations.freshness.survey import survey  # noqa: PLC0415
    from tooling.translations.git.repository import GitError, GitKilled  # noqa: PLC0415
    from tooling.translations.report import json_document  # noqa: PLC0415
    from tooling.translations.report.policy import Policy  # noqa: PLC0415
    from tooling.translations.report.report import make_report  # noqa: PLC0415
    from tooling.translations.roots import IGNORES, Roots  # noqa: PLC0415

    ignores = project.root / IGNORES.replace("{lang}", edition.language)
    try:
        found = survey(Roots.under(project.root, edition.language))
        return json_document.render(make_report(found, None, Policy(), ignores))
    except GitKilled:
        raise
    except (GitError, OSError):
        return None
