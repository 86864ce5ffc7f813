"""The profile as one self-contained page: figures first, then the lines, then pictures of the requests."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from msgspec import Struct

from tooling.simulator.counters.drawing import bank_map, lane_scale, memory_map
from tooling.simulator.counters.measure import measure
from tooling.simulator.counters.page_style import SCRIPT, STYLE
from tooling.simulator.counters.profile import AccessProfile, KernelProfile, LineProfile, Picture
from tooling.simulator.counters.sources import file_and_line, source_text
from tooling.simulator.counters.table import COLUMNS, conflict_style, use_style
from tooling.simulator.counters.texts import occupancy_phrase, route_name, say, verdict
from tooling.simulator.counters.traffic import Counts, Route, Traffic
from tooling.simulator.counters.warp_rows import NONE
from tooling.simulator.gpu.hooks import Space

MOST_PICTURES = 24
"""Of each kernel; the most expensive ones, in the order of the lines."""


class Listings(Struct, frozen=True):
    """HTML with the machine code of each kernel, in their order, and what it needs."""

    sections: Sequence[str] = ()
    style: str = ""
    script: str = ""


def to_html(
    kernels: Sequence[KernelProfile],
    program: str,
    language: str,
    warnings: Sequence[str] = (),
    listings: Listings | None = None,
) -> str:
    """The page's text.

    Args:
        program: what was profiled, as the user typed it.
        warnings: what makes the counts doubtful, for example that the program failed.
        listings: the machine code of the kernels.
    """
    title = escape(say("title", language, what=program))
    listings = listings or Listings(("",) * len(kernels))
    sections = "".join(
        _kernel(number, kernel, language, listing)
        for number, (kernel, listing) in enumerate(zip(kernels, listings.sections, strict=True), start=1)
    )
    if not kernels:
        sections = f"<p>{escape(say('no_launch', language))}</p>"
    sections = "".join(f'<p class="bad">{escape(each)}</p>\n' for each in warnings) + sections
    notes = "".join(f"<p>{escape(say(note, language))}</p>" for note in ("no_times", "ptx_note"))
    return (
        f'<!doctype html>\n<html lang="{language}" data-theme="light">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>{STYLE}{listings.style}</style>\n</head>\n<body>\n<header><h1>{title}</h1>"
        f'<button type="button">{escape(say("theme", language))}</button></header>\n'
        f"<main>{sections}</main>\n<footer>{notes}</footer>\n<script>{SCRIPT}{listings.script}</script>\n</body>\n</html>\n"
    )


def _kernel(number: int, kernel: KernelProfile, language: str, listing: str) -> str:
    many = say("launch", language) if kernel.launches == 1 else say("launches", language, n=kernel.launches)
    shape = f"{say('shape', language, grid=kernel.grid, block=kernel.block)}, {many}"
    if kernel.work.warps > 1:
        shape += f", {say('busiest', language, ratio=kernel.work.of_mean)}"
    if kernel.stages:
        shape += f", {say('stages', language, n=kernel.stages)}"
    shape += f", {occupancy_phrase(kernel, language)}"
    if kernel.faults:
        shape += f", {say('faults', language, n=kernel.faults)}"
    return (
        f'<section>\n<h2>{escape(kernel.name)}</h2>\n<p class="shape">{escape(shape)}</p>\n'
        f'<div class="tiles">{_tiles(kernel.counts, language)}</div>\n'
        f"{_lines(number, kernel, language)}{listing}{_pictures(number, kernel, language)}</section>\n"
    )


# -- the figures -------------------------------------------------------------------------------------


def _tiles(counts: Counts, language: str) -> str:
    moved, shared = counts.space(Space.GLOBAL), counts.space(Space.SHARED)
    local = counts.space(Space.LOCAL)
    tiles = []
    if moved.requests:
        note = say(
            "tile_sectors_note", language, requests=f"{moved.requests:,}", sectors=f"{moved.sectors:,}"
        )
        tiles.append(_tile("", f"{moved.sectors_per_request:.3g}", say("tile_sectors", language), note))
        use = say("tile_use_note", language, used=f"{moved.used_bytes:,}", moved=f"{moved.moved_bytes:,}")
        tiles.append(_tile(use_style(moved), f"{moved.use:.0%}", say("tile_use", language), use))
    if shared.requests:
        needed = shared.wavefronts - shared.conflicts
        note = say("tile_conflicts_note", language, wavefronts=f"{shared.wavefronts:,}", needed=f"{needed:,}")
        style = conflict_style(shared)
        tiles.append(_tile(style, f"{shared.conflicts:,}", say("tile_conflicts", language), note))
    if local.requests:
        note = say("tile_local_note", language)
        tiles.append(_tile("", f"{local.sectors:,}", say("tile_local", language), note))
    lanes = f"{counts.lanes_per_instruction:.3g}"
    tiles.append(_tile("", lanes, say("tile_lanes", language), say("tile_lanes_note", language)))
    note = say("tile_barriers_note", language, n=f"{counts.instructions:,}")
    tiles.append(_tile("", f"{counts.barriers:,}", say("tile_barriers", language), note))
    return "".join(tiles)


def _tile(style: str, number: str, label: str, note: str) -> str:
    return (
        f'<div class="tile {style}"><b>{escape(number)}</b><span>{escape(label)}</span>'
        f"<small>{escape(note)}</small></div>"
    )


# -- the lines ---------------------------------------------------------------------------------------


def _lines(number: int, kernel: KernelProfile, language: str) -> str:
    shown = [column for column in COLUMNS if column.number(kernel.counts)]

    def cells(counts: Counts) -> str:
        return "".join(_number(column.number(counts), column.style(counts)) for column in shown)

    titles = [say(key, language) for key in ("line", "source", *(column.title for column in shown))]
    heads = "".join(f"<th>{escape(title)}</th>" for title in titles)
    rows = []
    for profile in kernel.in_order():
        name = escape(file_and_line(profile.line) or say("elsewhere", language))
        if profile.accesses:
            name = f'<a href="#{_anchor(number, profile)}">{name}</a>'
        source = escape(source_text(profile.line))
        names = f'<td class="where">{name}</td><td class="source">{source}</td>'
        rows.append(f"<tr>{names}{cells(profile.counts)}</tr>")
    total = f"<tr><td>{escape(say('total', language))}</td><td></td>{cells(kernel.counts)}</tr>"
    return (
        f'<h3>{escape(say("lines", language))}</h3>\n<div class="scroll"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>{''.join(rows)}</tbody>\n<tfoot>{total}</tfoot>\n"
        "</table></div>\n"
    )


def _number(text: str, style: str) -> str:
    return f'<td><span class="pill {style}">{text}</span></td>' if style and text else f"<td>{text}</td>"


def _anchor(kernel: int, profile: LineProfile) -> str:
    return f"k{kernel}-{profile.line.number}"


# -- the pictures ------------------------------------------------------------------------------------


def _pictures(number: int, kernel: KernelProfile, language: str) -> str:
    chosen = [
        (profile, access, access.picture)
        for profile in kernel.in_order()
        for access in _most_expensive(profile)
        if access.picture is not None
    ]
    kept = sorted(chosen, key=lambda entry: -_excess(entry[1], entry[2]))[:MOST_PICTURES]
    figures: list[str] = []
    named: set[str] = set()
    for entry in chosen:
        if entry not in kept:
            continue
        profile, access, picture = entry
        anchor = _anchor(number, profile)
        attribute = "" if anchor in named else f' id="{anchor}"'
        named.add(anchor)
        figures.append(_figure(attribute, profile, access, picture, language))
    if not figures:
        return ""
    spaces = {access.route.space for _, access, _ in kept}
    return f"<h3>{escape(say('pictures', language))}</h3>\n{_legend(spaces, language)}{''.join(figures)}"


def _most_expensive(profile: LineProfile) -> list[AccessProfile]:
    """One access for each route of a line: the one with the most expensive request."""
    best: dict[Route, AccessProfile] = {}
    for access in profile.accesses.values():
        known = best.get(access.route)
        if known is None or _cost(access) > _cost(known):
            best[access.route] = access
    return list(best.values())


def _cost(access: AccessProfile) -> int:
    return access.picture.sample.cost if access.picture else 0


def _one(access: AccessProfile, picture: Picture) -> Traffic:
    """The traffic of the pictured request alone."""
    sample = picture.sample
    return measure(sample.addresses[None, :], sample.width, access.route, sample.service)[0]


def _excess(access: AccessProfile, picture: Picture) -> int:
    one = _one(access, picture)
    return one.conflicts if access.route.space is Space.SHARED else one.sectors - -(-one.used_bytes // 32)


def _legend(spaces: set[Space], language: str) -> str:
    items = [f"{lane_scale()}{escape(say('lanes_legend', language))}"]
    if spaces & {Space.GLOBAL, Space.LOCAL}:
        items.append(f"<i></i>{escape(say('unused', language))}<br>{escape(say('memory_axis', language))}")
    if Space.SHARED in spaces:
        items.append(f"<br>{escape(say('bank_axis', language))}")
    return f'<p class="legend">{"".join(items)}</p>\n'


def _figure(
    attribute: str, profile: LineProfile, access: AccessProfile, picture: Picture, language: str
) -> str:
    one = _one(access, picture)
    shared = access.route.space is Space.SHARED
    drawing = (bank_map if shared else memory_map)(picture, language).svg()
    style, sentence = verdict(access.route, one, side_by_side=_side_by_side(picture))
    worst = say("worst", language, block=picture.block, warp=picture.warp)
    facts = [worst, say("requests_here", language, n=f"{access.traffic.requests:,}"), access.form]
    if picture.buffer:
        facts.insert(1, say("buffer", language, n=picture.buffer, size=f"{picture.size:,}"))
    return (
        f"<figure{attribute}>\n<figcaption>"
        f'<span class="what">{escape(route_name(access.route, language))}</span>'
        f'<span class="where">{escape(file_and_line(profile.line))}</span>'
        f"<code>{escape(source_text(profile.line))}</code></figcaption>\n"
        f'<p class="verdict {style}">{escape(sentence.render(language))}</p>\n'
        f'<div class="scroll">{drawing}</div>\n<p class="facts">{escape(" · ".join(facts))}</p>\n</figure>\n'
    )


def _side_by_side(picture: Picture) -> bool:
    sample = picture.sample
    touched = np.unique(sample.addresses[sample.addresses != NONE])
    return int(touched[-1] - touched[0]) == (len(touched) - 1) * sample.width
