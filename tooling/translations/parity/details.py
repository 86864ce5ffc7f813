"""Compares small elements of the text: footnotes, items of lists, tasks, keys, tags, descriptions, links."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from tooling.mdbook.markup import Detail
from tooling.mdbook.pages import Page
from tooling.text import Text
from tooling.translations.parity.findings import Findings, quoted
from tooling.translations.parity.pair import ComparedPages, Item, difference

_COUNTED = {
    "footnote": (Text("the footnote `[^{name}]`"), Text("refer to the footnotes of the source")),
    "footnote-definition": (
        Text("the definition of the footnote `[^{name}]`"),
        Text("define the footnotes of the source"),
    ),
    "key": (Text("the key `{name}`"), Text("keys are those of the source")),
    "tag": (Text("the tag `{name}`"), Text("leave tags as they are, and close what is opened")),
}
_UNDEFINED = re.compile(r"\[\^([^\]\s]+)\]")
_CONFLICT = re.compile(r"^(?:<{7} .*|>{7} .*|\|{7} .*)$", re.MULTILINE)
_CONFLICT_SIGNS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_TODO_WORDS = ("TODO", "FIXME", "TBD", "XXX")
_TODO = re.compile(rf"\b(?:{'|'.join(_TODO_WORDS)})\b")
_HIDDEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})
_SUMMARY = re.compile(r"<summary[^>]*>(.*?)</summary>", re.DOTALL)


def compare_details(pair: ComparedPages) -> None:
    """Reports what one of the pages has and the other lacks, or has elsewhere."""
    ours, theirs = pair.source.structure.details, pair.target.structure.details
    kinds = {detail.kind for detail in (*ours, *theirs)}
    for kind, (noun, hint) in _COUNTED.items():
        if kind not in kinds:
            continue
        found = difference(_items(ours, kind), _items(theirs, kind), pair.alignment)
        for item in found.missing:
            message = Text("{name} of the source is missing").of(name=noun.of(name=item.name))
            lines = pair.alignment.at_source(item.line)
            pair.findings.error(f"{kind}-missing", lines, message, hint=hint, subject=item.name)
        for item in found.extra:
            message = Text("{name} is not in the source").of(name=noun.of(name=item.name))
            lines = pair.alignment.at_target(item.line)
            pair.findings.error(f"{kind}-extra", lines, message, hint=hint, subject=item.name)
    if "task" in kinds:
        _compare_tasks(pair)
    if "item" in kinds:
        _compare_lists(pair)
    _compare_texts(pair)
    _compare_todos(pair)


def inspect(page: Page, findings: Findings, *, in_source: bool, code: str = "en") -> None:
    """Reports what is wrong on a page by itself: undefined footnotes, conflict markers, invisible characters.

    Args:
        in_source: the page is one of the source.
        code: of the page's language.
    """
    for match in _CONFLICT.finditer(page.text) if any(sign in page.text for sign in _CONFLICT_SIGNS) else ():
        line = page.text.count("\n", 0, match.start()) + 1
        lines = (line, None) if in_source else (None, line)
        message = Text("{found} is left of a merge conflict").of(found=quoted(match.group()))
        hint = Text("choose one of the two versions, and delete the lines of the markers")
        findings.error("conflict", lines, message, hint=hint, subject=match.group())
        break  # the others belong to it, or are similar
    if "[^" not in page.prose and (page.prose.isascii() or _HIDDEN.search(page.prose) is None):
        return  # most pages
    for block in page.structure.prose:
        for match in _UNDEFINED.finditer(block.text):
            line = block.line + block.text.count("\n", 0, match.start())
            lines = (line, None) if in_source else (None, line)
            message = Text("the footnote `{found}` is not defined on this page").of(found=match.group())
            hint = Text("add a paragraph that begins with `{found}: `").of(found=match.group())
            findings.error("footnote-undefined", lines, message, hint=hint, subject=match[1])
        for match in _HIDDEN.finditer(block.text):
            if code in _RIGHT_TO_LEFT and match.group() in "\u200e\u200f":
                continue
            line = block.line + block.text.count("\n", 0, match.start())
            lines = (line, None) if in_source else (None, line)
            sign = f"U+{ord(match.group()):04X}"
            after = quoted(block.text[max(0, match.start() - 9) : match.start()].rpartition("\n")[2])
            message = Text("an invisible character, {sign}, follows {after}").of(sign=sign, after=after)
            findings.error("invisible", lines, message, hint=Text("delete it"), subject=sign)


def _items(details: Iterable[Detail], kind: str) -> list[Item]:
    return [Item(one.name, one.line) for one in details if one.kind == kind]


def _compare_tasks(pair: ComparedPages) -> None:
    ours = _items(pair.source.structure.details, "task")
    theirs = _items(pair.target.structure.details, "task")
    for task, copy in zip(ours, theirs, strict=False):
        if task.name != copy.name:
            pair.findings.error(
                "task",
                (task.line, copy.line),
                Text("the task is marked `{name}`; its source is marked `{name2}`").of(
                    name=copy.name, name2=task.name
                ),
                hint=Text("write `{form}`").of(form=task.name),
                subject=f"{task.line} {task.name}",
            )


def _compare_lists(pair: ComparedPages) -> None:
    """The items of a section have the bullets and the depth of their source, where they are as many."""
    ours = _by_section(_items(pair.source.structure.details, "item"), pair.alignment.source)
    theirs = _by_section(_items(pair.target.structure.details, "item"), pair.alignment.target)
    for section, items in ours.items():
        copies = theirs.get(section, [])
        if len(items) != len(copies):
            continue  # the numbers of paragraphs and items are compared elsewhere
        for item, copy in zip(items, copies, strict=True):
            if item.name != copy.name:
                pair.findings.error(
                    "list-kind",
                    (item.line, copy.line),
                    Text("this is {name}; its source is {name2}").of(
                        name=_item(copy.name), name2=_item(item.name)
                    ),
                    hint=Text("keep the kind of the list, and the depth of the item"),
                    subject=f"{section} {item.name}",
                )
                break  # the items after it differ alike


def _item(name: str) -> Text:
    kind = Text("an item of a list with bullets") if name.endswith("-") else Text("a numbered item")
    depth = name.count(" ")
    inside = Text("{kind}, inside {count} other list", "{kind}, inside {count} other lists")
    return inside.of(kind=kind, count=depth) if depth else kind


def _by_section(items: Iterable[Item], starts: Sequence[int]) -> dict[int, list[Item]]:
    sections: dict[int, list[Item]] = {}
    for item in items:
        sections.setdefault(bisect_right(starts, item.line), []).append(item)
    return sections


def _compare_texts(pair: ComparedPages) -> None:
    """Links, pictures and summaries have a text where those of the source have one."""
    texts = (
        ("link", "link-text", Text("the link has no text"), Text("translate the text of the source's link")),
        (
            "picture",
            "image-alt",
            Text("the picture has no description"),
            Text("translate the description of the source"),
        ),
    )
    for kind, finding, message, hint in texts:
        ours = _items(pair.source.structure.details, kind)
        theirs = _items(pair.target.structure.details, kind)
        named = sum(bool(item.name) for item in ours)
        if named <= sum(bool(copy.name) for copy in theirs):
            continue
        for copy in theirs:
            if not copy.name:
                lines = pair.alignment.at_target(copy.line)
                pair.findings.error(finding, lines, message, hint=hint, subject=finding)
    if "<summary" not in pair.source.text:
        return
    summaries = list(_SUMMARY.finditer(pair.source.text)), list(_SUMMARY.finditer(pair.target.text))
    for summary, empty in zip(*summaries, strict=False):
        if summary[1].strip() and not empty[1].strip():
            line = pair.target.text.count("\n", 0, empty.start()) + 1
            message = Text("the summary has no text; its source is {summary}").of(summary=quoted(summary[1]))
            lines = pair.alignment.at_target(line)
            pair.findings.error(
                "summary-empty", lines, message, hint=Text("translate the summary"), subject=summary[1]
            )


def _compare_todos(pair: ComparedPages) -> None:
    if not any(word in pair.target.prose for word in _TODO_WORDS):
        return
    known = {match for block in pair.source.structure.prose for match in _TODO.findall(block.text)}
    for block in pair.target.structure.prose:
        for match in _TODO.finditer(block.text):
            if match.group() not in known:
                line = block.line + block.text.count("\n", 0, match.start())
                message = Text("{found} is left in the text, and is not in the source").of(
                    found=quoted(match.group())
                )
                lines = pair.alignment.at_target(line)
                pair.findings.warning(
                    "todo", lines, message, hint=Text("do what it says, and delete it"), subject=match.group()
                )
