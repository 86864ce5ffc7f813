"""The candidates for a lost pin, for a terminal."""

from __future__ import annotations

import datetime
import shlex

from tooling.text import Text
from tooling.translations.commands.recover import Recovery
from tooling.translations.report.display import Style
from tooling.translations.roots import Roots
from tooling.translations.words import TRY

_SHOWN = 5


def render(recovery: Recovery, roots: Roots, style: Style) -> str:
    """The best candidates of one page, with the evidence for them."""
    lines = [recovery.file]
    marked = recovery.pair.target.marker.line is not None
    lines += [] if marked else [style(Text("  it has no marker"))]
    if recovery.written is None:
        undated = (
            Text("  its marker is not committed, so there is no date to go by")
            if marked
            else Text("  its text is not committed, so there is no date to go by")
        )
        lines.append(style(undated))
    else:
        dated = (
            Text("  its marker was written in {commit} ({day})")
            if marked
            else Text("  its text was written in {commit} ({day})")
        )
        written = recovery.written
        lines.append(style(dated.of(commit=written.commit[:12], day=_day(written.time))))
    if not recovery.candidates:
        return "\n".join(
            [*lines, style(Text("  no version of its source is old enough; translate the page again"))]
        )
    for rank, one in enumerate(recovery.candidates[:_SHOWN], start=1):
        commit = one.revision.commit
        candidate = Text("  {rank}. {version} has similarity {score}: {subject}")
        if one.in_force:
            candidate = (
                Text(
                    "  {rank}. {version} has similarity {score}, the source "
                    "when the marker was written: {subject}"
                )
                if marked
                else Text(
                    "  {rank}. {version} has similarity {score}, the "
                    "source when the text was written: {subject}"
                )
            )
        version = f"{commit.id[:12]} ({_day(commit.time)})"
        lines.append(
            style(candidate.of(rank=rank, version=version, score=f"{one.score:.1%}", subject=commit.subject))
        )
    if not recovery.agree:
        lines.append(style(Text("  date and similarity disagree: read before you choose")))
    best = recovery.candidates[0].revision.commit.id[:12]
    lines.append(style(TRY.of(hint=roots.command("stamp", "--at", best, shlex.quote(recovery.file)))))
    return "\n".join(lines)


def _day(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
