"""Asks the translation tools how fresh each page is, and keeps the answer where the preprocessor finds it."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.book.banner import status_path
from tooling.book.editions import Edition
from tooling.project import Project
from tooling.translations.git import GitError
from tooling.translations.roots import Roots
from tooling.translations.survey import survey


def write_status(project: Project, edition: Edition) -> Path | None:
    """Writes the report on a translated edition; without git there is none, and pages say so.

    Returns:
        The file, or None where the question could not be answered: an old answer is removed, never kept.
    """
    path = status_path(project, edition)
    try:
        found = survey(Roots.under(project.root, edition.language))
    except (GitError, OSError):
        path.unlink(missing_ok=True)
        return None
    pages = {
        page.key: {
            "freshness": str(page.freshness),
            "needs_translation": page.needs_translation,
            "sections": [{"title": section.title} for section in page.sections],
        }
        for page in found.pages
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"pages": pages}, ensure_ascii=False, indent=1), encoding="utf-8")
    return path
