"""The candidates for a lost pin, for a terminal."""

from __future__ import annotations

import datetime
import shlex

from tooling.translations.commands.recover import Recovery
from tooling.translations.roots import Roots

_SHOWN = 5


def render(recovery: Recovery, roots: Roots) -> str:
    """The best candidates of one page, with the evidence for them."""
    lines = [recovery.file]
    what = "marker" if recovery.pair.target.marker.line is not None else "text"
    lines += [] if what == "marker" else ["  it has no marker"]
    if recovery.written is None:
        lines.append(f"  its {what} is not committed, so there is no date to go by")
    else:
        date = _day(recovery.written.time)
        lines.append(f"  its {what} was written in {recovery.written.commit[:12]} ({date})")
    if not recovery.candidates:
        return "\n".join([*lines, "  no version of its source is old enough; translate the page again"])
    for rank, one in enumerate(recovery.candidates[:_SHOWN], start=1):
        commit = one.revision.commit
        note = f", the source when the {what} was written" if one.in_force else ""
        version = f"{commit.id[:12]} ({_day(commit.time)})"
        lines.append(f"  {rank}. {version} has similarity {one.score:.1%}{note}: {commit.subject}")
    if not recovery.agree:
        lines.append("  date and similarity disagree: read before you choose")
    best = recovery.candidates[0].revision.commit.id[:12]
    lines.append(f"  try: {roots.command('stamp', '--at', best, shlex.quote(recovery.file))}")
    return "\n".join(lines)


def _day(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).date().isoformat()
