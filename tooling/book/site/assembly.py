"""Assembles the site: the pages of all editions with their frames, and the files that they load."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from tooling.book.editions import Edition, repository_address
from tooling.book.figures.palette import page_style
from tooling.book.listings import Listings
from tooling.book.phrases import say
from tooling.book.site import search
from tooling.book.site.frame import (
    COVER,
    GLOSSARY,
    HOME,
    NOT_FOUND,
    SiteContext,
    apply_layout,
    read_terms,
    switch_link,
)
from tooling.book.site.inputs import digest
from tooling.book.site.print_page import PRINT, print_page
from tooling.book.site.sitemap import sitemap
from tooling.book.site.staging import Contents
from tooling.book.site.stamps import Stamp
from tooling.book.site.tree import (
    ADDRESSES,
    Tree,
    append,
    children,
    inner,
    parse,
    prepend,
    replace,
    required,
    serialised,
)
from tooling.book.site.typography.emphasis import mark_emphasis
from tooling.book.site.typography.highlight import highlight_page
from tooling.book.site.typography.line_breaks import keep_together
from tooling.book.site.typography.superscripts import raise_exponents
from tooling.book.summary import Entry
from tooling.translations.parity.glossary import Term
from tooling.translations.parity.glossary import load as load_glossary

_NOT_PAGES = {"toc.html"}
_SEARCH = "search.js"
_MOVED = """<script>
// The scripts are missing where the site is not below the address that it was built for: look in each folder.
(() => {
  const root = "ROOT", folders = location.pathname.split("/");
  const search = (depth) => {
    if (window.chooseTheme || depth >= folders.length) return;
    const base = folders.slice(0, depth).join("/") + "/";
    const moved = (address) => base + address.slice(root.length);
    const load = (address, then) => {
      const script = document.createElement("script");
      script.addEventListener("load", () => window.chooseTheme ? then() : search(depth + 1));
      script.addEventListener("error", () => search(depth + 1));
      script.src = moved(address);
      document.head.append(script);
    };
    load(`${root}assets/theme.js`, () => {
      document.querySelectorAll(`[href^="${root}"]`)
        .forEach((link) => link.setAttribute("href", moved(link.getAttribute("href"))));
      const style = document.querySelector("style");
      style.textContent = style.textContent.replaceAll(`url("${root}`, `url("${base}`);
      load(`${root}assets/book.js`, () => {});
    });
  };
  search(1);
})();
</script>
"""
"""For a site that is not where it was built for: a mirror, or a domain of its own."""
_COPIED = (".svg", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp4", ".pdf", ".txt", ".csv", ".json")


class Rendered(Struct, frozen=True):
    """mdBook's output for one edition.

    Attributes:
        edition: the language.
        folder: mdBook's output.
        key: a digest of all inputs.
        contents: the pages in reading order.
        listings: of all pages.
    """

    edition: Edition
    folder: Path
    key: str
    contents: Contents
    listings: Listings

    def pages(self) -> tuple[str, ...]:
        """The pages, relative to the folder, with forward slashes."""
        found = (path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.html"))
        return tuple(sorted(page for page in found if page not in _NOT_PAGES))


def surroundings(rendered: tuple[Rendered, ...], site: str) -> tuple[SiteContext, ...]:
    """The context of each edition's pages: the other editions and their pages."""
    real = {
        each.edition: frozenset(page for page in each.pages() if page not in (NOT_FOUND, HOME))
        for each in rendered
    }
    contents = {each.edition: each.contents for each in rendered}
    folders = {each.edition: each.folder for each in rendered}
    repository = repository_address(rendered[0].edition)
    return tuple(
        SiteContext(
            edition,
            contents[edition].entries,
            {Entry("", path, 0, "", 0).page: puzzle for path, puzzle in contents[edition].stubs.items()},
            {other: pages for other, pages in real.items() if other is not edition},
            real[edition],
            repository,
            site,
            read_terms(parse(_glossary(folders[edition]))),
        )
        for edition in real
    )


def _glossary(folder: Path) -> str:
    """The page of the glossary; empty if there is none."""
    path = folder / GLOSSARY
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def create_site(every: Sequence[Edition], theme: Path, fresh: Path) -> None:
    """Creates a new site with everything that does not come from mdBook.

    Args:
        every: the editions, with the pictures of their chapters.
        theme: the folder with the assets.
        fresh: the folder of the new site, empty.
    """
    _copy(theme / "assets", fresh / "assets")
    for sheet in (fresh / "assets").glob("*.css"):
        palette = page_style() if sheet.name == "book.css" else ""
        _write(sheet, _shortened(palette + sheet.read_text(encoding="utf-8")))
    for edition in every:
        _copy(edition.source, fresh / edition.prefix, lambda name: name.endswith(_COPIED))


def assemble(rendered: tuple[Rendered, ...], fresh: Path, site: str) -> int:
    """Writes the pages into a new site.

    Args:
        rendered: mdBook's output of every edition.
        fresh: the new site, see `create_site`.
        site: its public address, with a final slash.

    Returns:
        How many pages it has.
    """
    everything = surroundings(rendered, site)
    finished = [_finish(each, around) for each, around in zip(rendered, everything, strict=True)]
    for each in finished:
        # The page for wrong addresses is merged, and the search data is among the assets.
        _copy(each.folder, fresh / each.edition.prefix, _except(NOT_FOUND, _SEARCH, *{HOME} - {*each.pages}))
        shutil.copyfile(each.folder / _SEARCH, fresh / "assets" / f"search-{each.edition.language}.js")
    count = sum(len(each.pages) for each in finished) + _fill_gaps(finished, fresh)
    _join_not_found(finished, fresh, urlsplit(site).path)
    (fresh / "sitemap.xml").write_text(sitemap(everything), encoding="utf-8")
    (fresh / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\nSitemap: {site}sitemap.xml\n", encoding="utf-8"
    )
    (fresh / ".nojekyll").touch()
    return count


class _Finished(Struct, frozen=True):
    """The finished pages of an edition.

    Attributes:
        folder: its pages, and the data of its search.
        pages: the pages, relative to the folder, with forward slashes.
    """

    edition: Edition
    folder: Path
    pages: tuple[str, ...]

    def read(self, page: str) -> str:
        return (self.folder / page).read_text(encoding="utf-8")


def _finish(rendered: Rendered, around: SiteContext) -> _Finished:
    """Fills in the frames of an edition's pages, unless the same inputs were finished before."""
    edition, pages = rendered.edition, _own_pages(rendered, around)
    others = (str(each) for other, there in around.others.items() for each in (other, *sorted(there)))
    other_words = search.synonyms(_terms(edition))
    key = digest(
        rendered.key,
        str(other_words),
        str(edition),
        str(around.entries),
        str(around.stubs),
        around.repository,
        around.site,
        *others,
    )
    made = Stamp(rendered.folder.with_name(f"{edition.language}-site"), key)
    finished = _Finished(edition, made.folder, pages)
    if made.holds():
        return finished
    made.begin()
    shutil.rmtree(made.folder, ignore_errors=True)
    found: list[search.Section] = []
    trees: dict[str, Tree] = {}
    for page in rendered.pages():
        tree = trees[page] = parse((rendered.folder / page).read_text(encoding="utf-8"))
        body, article = required(tree, "body"), required(tree, "article")
        keep_together(body)
        mark_emphasis(body, edition.language)
        raise_exponents(body)
        if page in around.pages:
            # Of a page that is not written yet, only its title and what the puzzle computes.
            found += list(search.sections(article, page))[: 2 if page in around.stubs else None]
        highlight_page(article, around.repository, edition.language, rendered.listings)
        apply_layout(tree, page, around)
        _write(made.folder / page, serialised(tree))
    _write(made.folder / _SEARCH, search.script(found, other_words))
    listed = dict.fromkeys(entry.page for entry in around.entries if entry.page in around.pages)
    articles = {page: trees[page] for page in listed}
    if PRINT in pages:
        _write(made.folder / PRINT, print_page(trees[HOME], articles, edition.language))
    made.finish()
    return finished


def _own_pages(rendered: Rendered, around: SiteContext) -> tuple[str, ...]:
    """The pages that the edition has itself; it gets the others from the editions that have them.

    mdBook copies the first translated chapter to the home page. It is the cover, which another edition has.
    """
    pages = rendered.pages()
    if HOME not in pages:
        return tuple(pages)  # a language without a chapter
    covered = any(COVER in there for there in around.others.values())
    return (*(page for page in pages if page != HOME or COVER in pages or not covered), PRINT)


def _terms(edition: Edition) -> tuple[Term, ...]:
    """The terms of the edition's glossary; the source has none."""
    path = edition.folder.parent / "glossary.yaml"
    return load_glossary(path, edition.language).terms if path.is_file() else ()


def _except(*names: str) -> Callable[[str], bool]:
    return lambda name: name not in names


def _copy(source: Path, target: Path, wanted: Callable[[str], bool] = lambda _name: True) -> None:
    """Copies the files of a folder whose names are wanted into another folder."""

    def refuse(error: OSError) -> None:
        raise error

    for folder, _, names in os.walk(source, onerror=refuse):
        copied = [name for name in names if wanted(name)]
        copies = target / Path(folder).relative_to(source)
        if copied:
            copies.mkdir(parents=True, exist_ok=True)
        for name in copied:
            # The system calls of `shutil` before a copy take as long as copying these small files.
            try:
                file = open(f"{folder}/{name}", "rb", 0)  # noqa: PTH123, SIM115
            except FileNotFoundError:
                if Path(folder, name).is_symlink():
                    continue  # a dangling link: some editors mark an open file with one
                raise
            with file, open(f"{copies}/{name}", "wb") as copy:  # noqa: PTH123
                copy.write(file.read())


def _shortened(style: str) -> str:
    """A style sheet without comments and without the spaces that have no meaning: browsers wait for it."""
    style = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL))
    return re.sub(r" ?([{};,]) ?", r"\1", style).replace(";}", "}").strip() + "\n"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _join_not_found(finished: Sequence[_Finished], site: Path, root: str) -> None:
    """Merges the pages for wrong addresses: a server has only one, in all languages of the site.

    It contains its style sheet, and finds the site where that is not below `root`.
    """
    source, *others = finished
    tree = parse(source.read(NOT_FOUND))
    article = required(tree, "article")
    for other in (each for each in others if NOT_FOUND in each.pages):
        box = append(article, f'<div lang="{other.edition.language}"></div>')
        for child in children(required(parse(other.read(NOT_FOUND)), "article")):
            if child.tag == "h1":
                append(box, f"<h2>{inner(required(child, 'a'))}</h2>")
            elif child.tag != "aside" and not child.is_comment_node:
                box.insert_child(child)
    style = (site / "assets" / "book.css").read_text(encoding="utf-8")
    style = style.replace('url("', f'url("{root}assets/')
    replace(required(tree, f'link[href="{root}assets/book.css"]'), f"<style>{style}</style>")
    append(required(tree, "body"), _MOVED.replace("ROOT", root))
    (site / NOT_FOUND).write_text(serialised(tree), encoding="utf-8")


def _fill_gaps(finished: Sequence[_Finished], site: Path) -> int:
    """Adds the other language's page where an edition has none, so that no language switch leads to a 404."""
    every = [each.edition for each in finished]
    count = 0
    for each in finished:
        for other in finished:
            for page in sorted({*other.pages} - {*each.pages, NOT_FOUND}):
                path = site / each.edition.prefix / page
                if path.exists():
                    continue
                _write(path, _substitute_page(other.read(page), page, each.edition, other.edition, every))
                media = (site / other.edition.prefix / page).parent / "media"
                if media.is_dir() and not (path.parent / "media").exists():
                    _copy(media, path.parent / "media")
                count += 1
    return count


def _substitute_page(html: str, page: str, edition: Edition, other: Edition, every: Iterable[Edition]) -> str:
    """The page of the other language with a note on top, and asset paths for its new address."""
    up = "../" * page.count("/")
    here, there = (up + "../" * each.prefix.count("/") for each in (edition, other))
    tree = parse(html)
    for node in tree.css(f'[href^="{there}assets/"], [src^="{there}assets/"]'):
        for name in ADDRESSES:
            if name in node.attrs:
                node.attrs[name] = here + node.attrs.sget(name).removeprefix(there)
    note = say("untranslated", edition.language)
    prepend(
        required(tree, "article"),
        f'\n<aside class="banner" lang="{edition.language}"><p>{note}</p></aside>',
    )
    # Here the switcher links every language except this edition's, including the page's own.
    first, *others = tree.css("a.switcher")
    for switch in others:
        switch.remove()
    replace(first, "".join(switch_link(each, here, page) for each in every if each is not edition))
    return serialised(tree)
