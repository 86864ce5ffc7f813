"""The trace as one self-contained page: markup here, look in page.css, behaviour in page.js."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import msgspec
from msgspec import Struct, to_builtins

from tooling.replay.texts import extent, labels, say, sentences, several_gpus
from tooling.replay.trace import Mark, Party, Trace
from tooling.simulator.checks.findings import Severity, explain
from tooling.simulator.counters.page_style import PALETTE
from tooling.text.plain import read_fact

_FOLDER = Path(__file__).parent


class Files(Struct, frozen=True):
    """Where a page finds what all pages have in common, relative to it.

    Attributes:
        styles: style sheets, in order.
    """

    styles: tuple[str, ...]
    script: str
    icon: str


class ShownMark(Struct, frozen=True):
    """A `Mark` as a page embeds it, in its language.

    Attributes:
        error: false for a warning.
        what, where, why, hint: the message of the finding.
    """

    step: int
    error: bool
    what: str
    where: tuple[str, ...]
    why: str
    hint: str
    parties: tuple[Party, ...]
    buffer: int
    cell: int


def to_html(
    trace: Trace, program: str, language: str, warnings: Sequence[str] = (), files: Files | None = None
) -> str:
    """The page's text.

    Args:
        program: what was recorded, as the user typed it.
        warnings: what makes the replay doubtful, for example that the program failed.
        files: None for a page of one file.
    """
    title = escape(say("title", language, what=program))
    texts = labels(trace, language)
    words = {key: escape(text) for key, text in texts.items()}
    data = {
        "trace": {**to_builtins(trace), "marks": [_shown(mark, language) for mark in trace.marks]},
        "says": sentences(trace, language),
        "labels": texts,
    }
    # `</script>` in the source of a program would end the element.
    embedded = msgspec.json.encode(data).decode().replace("</", "<\\/").replace("<!--", "<\\!--")
    notes = [*warnings, *_notes(trace, language)]
    return _PAGE.format(
        language=language,
        title=title,
        style="\n".join([f'<link rel="icon" href="{files.icon}">', *map(_style_sheet, files.styles)])
        if files
        else f"<style>{style()}</style>",
        script=f'<script src="{files.script}"></script>' if files else f"<script>{script()}</script>",
        data=embedded,
        facts=escape(_facts(trace, language)),
        layout=' class="of-gpus"' if several_gpus(trace) else "",
        links='<svg id="links" aria-hidden="true"></svg>' if several_gpus(trace) else "",
        notes="".join(f"<p>{escape(note)}</p>" for note in notes),
        **{f"t_{key}": text for key, text in words.items()},
    )


def _shown(mark: Mark, language: str) -> ShownMark:
    said = explain(mark.finding, language)
    return ShownMark(
        mark.step,
        mark.finding.severity is Severity.ERROR,
        said.what,
        said.where,
        said.why,
        said.hint,
        mark.parties,
        mark.buffer,
        mark.cell,
    )


def _style_sheet(address: str) -> str:
    return f'<link rel="stylesheet" href="{address}">'


def style(fonts: str = "") -> str:
    """The style sheet of every page.

    Args:
        fonts: rules for the fonts of the site, and their names in `--text` and `--mono`.
    """
    return PALETTE + fonts + (_FOLDER / "page.css").read_text("utf-8")


def script() -> str:
    """The script of every page."""
    return (_FOLDER / "page.js").read_text("utf-8")


def _facts(trace: Trace, language: str) -> str:
    shapes = {name: extent(getattr(trace, name)) for name in ("grid", "block")}
    blocks = trace.grid[0] * trace.grid[1] * trace.grid[2]
    if several_gpus(trace):
        launches = sorted({position[4] for position in trace.positions})
        shapes |= {"kernel": trace.kernel, "numbers": ", ".join(map(str, launches))}
        facts = say("facts_gpus", language, gpus=len(launches), launches=trace.launches, **shapes)
        shown = [*dict.fromkeys(extent(position[:3]) for position in trace.positions)]
        key = "recorded_gpus" if len(shown) == 1 else "recorded_gpus_more"
        return f"{facts} · {say(key, language, blocks=blocks, position=shown[0], positions=', '.join(shown))}"
    facts = say(
        "facts", language, kernel=trace.kernel, launch=trace.launch, launches=trace.launches, **shapes
    )
    positions = ", ".join(extent(position[:3]) for position in trace.positions)
    if len(trace.positions) > 1:
        return f"{facts} · {say('recorded_more', language, blocks=blocks, positions=positions)}"
    return facts + (
        f" · {say('recorded', language, blocks=blocks, position=positions)}" if blocks > 1 else ""
    )


def _notes(trace: Trace, language: str) -> list[str]:
    notes = []
    if trace.fault:
        notes.append(say("stopped", language, why=read_fact(trace.fault).render(language)))
    if trace.steps_left_out:
        notes.append(say("left_out", language, n=trace.steps_left_out))
    if trace.elsewhere:
        notes.append(say("elsewhere", language, n=trace.elsewhere))
    if trace.block[0] * trace.block[1] * trace.block[2] > trace.warp:
        notes.append(say("order", language))
    if several_gpus(trace):
        notes.append(say("turns", language))
    return notes


_PAGE = """<!doctype html>
<html lang="{language}" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
{style}
</head>
<body>
<header>
<div><h1>{title}</h1><p class="facts">{facts}</p></div>
<button type="button" id="theme" aria-label="{t_theme}" title="{t_theme}">◐</button>
</header>
<aside class="notes"><noscript><p>{t_scripts}</p></noscript>{notes}</aside>
<section id="controls" aria-label="{t_timeline}">
<div class="buttons">
<button type="button" id="first" aria-label="{t_first}" title="{t_first}"></button>
<button type="button" id="previous" aria-label="{t_previous}" title="{t_previous}"></button>
<button type="button" id="play" aria-label="{t_play}" title="{t_play}"></button>
<button type="button" id="next" aria-label="{t_next}" title="{t_next}"></button>
<button type="button" id="last" aria-label="{t_last}" title="{t_last}"></button>
<output id="count" for="time"></output>
</div>
<div class="track">
<div id="phases" aria-hidden="true"></div>
<input type="range" id="time" min="0" value="0" aria-label="{t_timeline}">
<div id="ticks" aria-hidden="true"></div>
<div id="flags"></div>
</div>
<p id="says" aria-live="polite"></p>
</section>
<div id="marks"></div>
<main{layout}>
<section class="panel source" aria-labelledby="h-source">
<h2 id="h-source">{t_source} <span id="file"></span></h2>
<div id="source" tabindex="0" role="group" aria-labelledby="h-source"></div>
</section>
<div class="side">{links}
<section class="panel" aria-labelledby="h-threads">
<h2 id="h-threads">{t_threads}</h2>
<p class="key"><span><i class="active"></i>{t_active}</span> <span><i class="waiting"></i>{t_waiting}</span>
<span><i class="idle"></i>{t_idle}</span> <span><i class="ended"></i>{t_ended}</span></p>
<div id="threads" tabindex="0" role="group" aria-labelledby="h-threads"></div>
</section>
<section class="panel" aria-labelledby="h-memory">
<h2 id="h-memory">{t_memory}</h2>
<p class="key"><span><i class="reads"></i>{t_reads}</span> <span><i class="writes"></i>{t_writes}</span>
<span class="of-marks"><i class="accused"></i>{t_accused}</span></p>
<div id="memory"></div>
<p id="detail" aria-live="polite"></p>
</section>
</div>
</main>
<footer><p>{t_keys}</p></footer>
<script type="application/json" id="data">{data}</script>
{script}
</body>
</html>
"""
