"""The words of reports for states, classes of changes and severities."""

from __future__ import annotations

from tooling.text import Text
from tooling.text.sentences import joined
from tooling.translations.model import ChangeClass, Fidelity, Freshness, FreshnessSeverity, PageStatus

STATES = {
    Freshness.CURRENT: Text("current", context="freshness"),
    Freshness.STALE: Text("stale", context="freshness"),
    Freshness.MISSING: Text("missing", context="freshness"),
    Freshness.ORPHANED: Text("orphaned", context="freshness"),
    Freshness.UNTRACKED: Text("untracked", context="freshness"),
    Freshness.BAD_PIN: Text("bad-pin", context="freshness"),
    Freshness.UNKNOWN: Text("unknown", context="freshness"),
}
FIDELITIES = {
    Fidelity.NOT_CHECKED: Text("not-checked", context="fidelity"),
    Fidelity.FAITHFUL: Text("faithful", context="fidelity"),
    Fidelity.WARNINGS: Text("warnings", context="fidelity"),
    Fidelity.MISMATCH: Text("mismatch", context="fidelity"),
    Fidelity.UNKNOWN: Text("unknown", context="fidelity"),
}
CLASSES = {
    ChangeClass.UNCLASSIFIED: Text("unclassified", context="change"),
    ChangeClass.PROSE: Text("prose", context="change"),
    ChangeClass.CODE: Text("code", context="change"),
    ChangeClass.LINKS: Text("links", context="change"),
    ChangeClass.FORMAT: Text("format", context="change"),
}
SEVERITIES = {
    FreshnessSeverity.ERROR: Text("error", context="severity"),
    FreshnessSeverity.WARNING: Text("warning", context="severity"),
    FreshnessSeverity.INFO: Text("info", context="severity"),
}

HEADS = (
    Text("page", context="column"),
    Text("freshness", context="column"),
    Text("behind", context="column"),
    Text("fidelity", context="column"),
)
COMMITS = Text("{count} commit", "{count} commits")
DAYS = Text("{count} day", "{count} days")
COULD_NOT_BE_CHECKED = Text("could not be checked: {what}")
NOTHING_TO_TRANSLATE = Text("nothing to translate")
ONLY_REFORMATTED = Text("only reformatted; nothing to translate")
WHY = Text("  why: {why}")
TRY = Text("  try: {hint}")
NOTE = Text("  note: {note}")
LINES_UNKNOWN = Text("lines unknown: the headings differ")


def label(page: PageStatus) -> Text:
    """The state of a page, for example `stale (code, links)`."""
    if page.freshness is not Freshness.STALE:
        return STATES[page.freshness]
    kinds = [CLASSES[kind] for kind in ChangeClass if kind in page.classes]
    if page.skipped:
        kinds.append(Text("skipped"))
    return Text("stale ({kinds})").of(kinds=joined(kinds, ", "))
