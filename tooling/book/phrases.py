"""The sentences of the book's pages around the chapters, in every language of the catalogues."""

from __future__ import annotations

from tooling.text import ENGLISH, LocalText, Sentence, Text, languages

PHRASES = {
    "skip": Text("Skip to the page"),
    "contents": Text("Contents"),
    "close": Text("Close"),
    "outline": Text("On this page"),
    "new-terms": Text("New terms"),
    # The heading of the first section, as chapters write it.
    "overview": Text("Overview"),
    "before-puzzles": Text("Before the puzzles"),
    "search": Text("Search"),
    "theme": Text("Theme"),
    "theme-auto": Text("as the system"),
    "theme-light": Text("light"),
    "theme-dark": Text("dark"),
    "repository": Text("Source code"),
    "steps": Text("Previous and next page"),
    "previous": Text("Previous"),
    "next": Text("Next"),
    "print": Text("Print the whole book"),
    "edit": Text("Edit this page"),
    "switch": Text("Read this page in {name}"),
    "ways-to-run": Text("Ways to run it"),
    "tensor-api": Text("Tensor API"),
    "no-gpu": Text("no GPU"),
    "solution": Text("Show the solution"),
    # The heading of a section with wrong answers, as chapters write it.
    "wrong-on-purpose": Text("Wrong on purpose"),
    "wrong-answers": Text("Show the wrong answers"),
    "tips": Text("Tips"),
    "tips-for": Text("Tips for {flags}"),
    "minutes": Text("{minutes} min read"),
    "puzzle": Text("Puzzle {number}"),
    "figure": Text("Figure {number}"),
    "files": Text("Files"),
    # The heads of a table of names and values, as chapters write them.
    "fact": Text("what"),
    "value": Text("value"),
    "simulated": Text("simulated GPU"),
    "compute": Text("compute {compute} or later"),
    "lanes": Text("with {lanes} lanes per warp"),
    "unsupported": Text("not supported"),
    "yes": Text("yes"),
    # What a program in Python needs; the names of `Extra` in tooling/catalog/model.py.
    "extra-max": Text("Needs MAX, the extra <code>max</code>."),
    "extra-torch": Text("Needs MAX and PyTorch, the extra <code>torch</code>."),
    "mode": Text("Run"),
    "untranslated": Text(
        "This page has not been translated yet. It is shown in another language of the book."
    ),
    # On the page of a puzzle whose chapter is not written yet.
    "stub": Text("not written yet"),
    "stub-note": Text(
        "<strong>This chapter is not written yet.</strong> The puzzle itself is complete: you can run it, "
        "solve it and have your answer judged. This page was generated from its description."
    ),
    "stub-computes": Text("What it computes"),
    "stub-reference": Text("The judge compares your result with this NumPy reference:"),
    "stub-code": Text("Code to complete"),
    "stub-given": Text("This code is complete. Run it, and compare it with the others."),
    "stub-outputs": Text("Result:"),
    # Of the numbers of puzzles, in a list of them.
    "range": Text("{first} to {last}"),
    "line": Text("line {first}"),
    "lines": Text("lines {first}–{last}"),
    "changed-lines": Text("changed"),
    "named-lines": Text("named below"),
    "removed-lines": Text("left out"),
    "full-file": Text("View full file"),
    "manifest": Text("Description of this puzzle"),
    "solved": Text("solved"),
    # Above the output of a program that works on less data on the simulated GPU.
    "printed-simulated": Text("printed on the simulated GPU"),
    "replay-solution": Text("Step through the solution"),
    "replay-run": Text("Step through this run"),
    "replay-wrong": Text("Step through a wrong answer"),
    # Next to a figure, before the solution is unfolded.
    "replay-figure-solution": Text("Step through this run (shows the solution)"),
    "replay-figure-wrong": Text("Step through a wrong answer (shows most of the solution)"),
    "enlarge": Text("Enlarge"),
    # In the pages of `tooling book serve`; its script fills in the facts.
    "served-run": Text("Judge my file"),
    "served-again": Text("Judge my file again"),
    "served-stop": Text("Stop"),
    "served-running": Text("building, running and judging … {seconds} s"),
    "served-hint": Text("Show hint {number} of {count}"),
    "served-ended": Text("The server has ended: run tooling book serve again."),
    "served-locked": Text("To judge your file here, open the address that tooling book serve printed."),
    "served-progress": Text("{solved} of {total} puzzles solved"),
    "copy": Text("Copy"),
    "copied": Text("Copied"),
    "search-label": Text("Search the book"),
    "search-close": Text("Close"),
    "search-hint": Text("Type a word to look for."),
    # The page's script replaces `#` by the query or by a count, `%` by the number of results in the list.
    "search-none": Text("Nothing found for “#”."),
    "search-one": Text("# result found."),
    "search-many": Text("# results found."),
    "search-more": Text("# results found. The first % are shown; another word narrows them down."),
    "search-failed": Text("The search could not be loaded. Check the connection, then try again."),
    # On top of a translated page that may be older than its source; {link} leads to the source.
    "banner": Text("State of the translation"),
    "banner-link": Text("the English page"),
    "banner-preface": Text("before the first heading"),
    "banner-stale": Text(
        "The English page has changed since this one was translated. See {link} for the changes."
    ),
    "banner-sections": Text(
        "{count} sections of the English page have changed since it was translated. "
        "See {link} for the changes."
    ),
    "banner-untracked": Text(
        "It is not known which version of the source this page translates. It may differ from {link}."
    ),
    "banner-unknown": Text("The state of this translation could not be checked. It may differ from {link}."),
}

PART_TITLES = {
    "I": Text("Part I: First kernels"),
    "II": Text("Part II: Debugging"),
    "III": Text("Part III: Algorithms"),
    "IV": Text("Part IV: Operations of a MAX graph"),
    "V": Text("Part V: PyTorch operations"),
    "VI": Text("Part VI: Functional patterns"),
    "VII": Text("Part VII: Warp programming"),
    "VIII": Text("Part VIII: Block programming"),
    "IX": Text("Part IX: Memory and synchronisation"),
    "X": Text("Part X: Profiling"),
    "XI": Text("Part XI: Tensor cores and clusters"),
    "XII": Text("Part XII: Alignment"),
    "XIII": Text("Part XIII: Algorithms at scale"),
    "XIV": Text("Part XIV: Hopper"),
    "XV": Text("Part XV: Several GPUs"),
}
"""The titles of the parts, as in SUMMARY.md, which a folder of puzzles without the book lacks."""


def say(key: str, language: str, **values: object) -> str:
    """A sentence of the book in the language of an edition."""
    return pick(PHRASES[key].of(**values), language)


def pick(text: Sentence, language: str) -> str:
    """A text in the language of an edition; in English where there is no translation or no catalogue."""
    return text.render(language if isinstance(text, LocalText) or language in languages() else ENGLISH)
