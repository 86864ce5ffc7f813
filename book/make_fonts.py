"""Cuts the fonts of the book out of larger ones, and writes them to theme/assets/fonts.

    npm install --prefix FOLDER @ibm/plex-sans @ibm/plex-mono @ibm/plex-sans-kr \\
        @fontsource-variable/bricolage-grotesque@5.3.0 pretendard@1.3.9
    uv run --with fonttools==4.60.1 --with brotli==1.2.0 python book/make_fonts.py FOLDER

Korean has several files for each weight: the syllables that the book uses now, in bold those of titles and
emphasis and then the others, and the rest of KS X 1001 in four parts. A browser loads the first file of a
weight, and another one only for a page that needs a syllable of it. So a new chapter needs no new fonts at
once. The script also writes theme/assets/fonts-ko.css. The file `names` is for links to other languages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset  # type: ignore[import-not-found,unused-ignore]
from fontTools.ttLib import TTFont  # type: ignore[import-not-found,unused-ignore]
from fontTools.varLib import instancer  # type: ignore[import-not-found,unused-ignore]

HERE = Path(__file__).resolve().parent
TARGET = HERE / "theme" / "assets" / "fonts"
LATIN = (
    *range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2080, 0x208A), *range(0x2190, 0x2194),
    *(ord(sign) for sign in "‐‑–—‘’“”…′−×·≤≥≠≈∞⁰"),
)  # fmt: skip
GREEK = tuple(map(ord, "αβγδελμπσφ"))  # variables of formulas, which are italic
SOURCES = {
    "sans": "plex-sans/fonts/complete/woff2/IBMPlexSans-Regular.woff2",
    "sans-italic": "plex-sans/fonts/complete/woff2/IBMPlexSans-Italic.woff2",
    "sans-bold": "plex-sans/fonts/complete/woff2/IBMPlexSans-SemiBold.woff2",
    "mono": "plex-mono/fonts/complete/woff2/IBMPlexMono-Regular.woff2",
    "mono-bold": "plex-mono/fonts/complete/woff2/IBMPlexMono-SemiBold.woff2",
}
DISPLAY = (
    "@fontsource-variable/bricolage-grotesque/files/bricolage-grotesque-latin-standard-normal.woff2",
    {"wght": 700, "opsz": 36, "wdth": 100},
)
"""The font of titles: a variable one, and the point on its axes."""
DISPLAY_KOREAN = "pretendard/dist/web/static/woff2/Pretendard-ExtraBold.woff2"
PARTS = 4
HEAD = (
    "/* Hangul, for Korean pages: the syllables of KS X 1001, then those of the book, which come first. */\n"
)
KOREAN = "plex-sans-kr/fonts/complete/woff2/hinted/IBMPlexSansKR-{}.woff2"


def syllables_of_the_book() -> set[int]:
    """The Korean syllables in the chapters, the sentences of the tool and the manifests."""
    root = HERE.parent
    files = [
        *(root / "i18n" / "ko").rglob("*.md"),
        root / "tooling" / "text" / "ko.po",
        *(root / "problems").rglob("puzzle.yaml"),
    ]
    return {ord(sign) for file in files for sign in re.findall("[가-힣]", file.read_text(encoding="utf-8"))}


def syllables_in_bold() -> set[int]:
    """Those of titles, headings, emphasis, tables' heads and the frame of a page."""
    root = HERE.parent
    bold = re.compile(r"^#.*$|^\|.*\|(?=\n\|-)|\*\*.*?\*\*|^\s*- \[.*?\]", re.MULTILINE)
    texts = [
        each
        for page in (root / "i18n" / "ko").rglob("*.md")
        for each in bold.findall(page.read_text("utf-8"))
    ]
    catalogue = (root / "tooling" / "text" / "ko.po").read_text("utf-8").split("\n\n")
    texts += [entry for entry in catalogue if "#: tooling/book/phrases.py" in entry]
    labels = re.compile(r'font-weight="600">([^<]*)<')
    for picture in (root / "i18n" / "ko").rglob("*-w.svg"):
        texts += labels.findall(picture.read_text("utf-8"))
    titles = re.compile(r"^title:.*(?:\n +.*)*", re.MULTILINE)
    texts += [
        title
        for file in (root / "problems").rglob("puzzle.yaml")
        for title in titles.findall(file.read_text("utf-8"))
    ]
    return {ord(sign) for text in texts for sign in re.findall("[가-힣]", text)}


def syllables_in_titles() -> set[int]:
    """Those of titles and of headings of the second level. A test compares them with the style sheet."""
    title = re.compile(r"^##? .*$", re.MULTILINE)
    texts = [
        each
        for page in sorted((HERE.parent / "i18n" / "ko").rglob("*.md"))
        for each in title.findall(page.read_text("utf-8"))
    ]
    return {ord(sign) for text in texts for sign in re.findall("[가-힣]", text)}


def syllables_of_the_standard() -> set[int]:
    """The 2,350 syllables of KS X 1001."""
    codes = (bytes((row, cell)) for row in range(0xB0, 0xC9) for cell in range(0xA1, 0xFF))
    return {ord(code.decode("euc-kr")) for code in codes}


def cut(source: Path | TTFont, characters: Iterable[int], name: str) -> None:
    """Writes the part of a font with these characters."""
    options = subset.Options()
    options.flavor, options.hinting = "woff2", False
    options.layout_features = ["kern", "liga", "ccmp", "mark", "locl", "tnum", "zero"]
    options.name_IDs = [0, 1, 2, 4, 6, 13, 14]  # with copyright and licence
    font = source if isinstance(source, TTFont) else subset.load_font(source, options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=characters)
    cutter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):  # the licences reserve the names for the whole fonts
            record.string = f"Book {name}"
    target = TARGET / f"{name}.woff2"
    subset.save_font(font, target, options)
    sys.stderr.write(f"{target.stat().st_size:7} {target.name}\n")


def signs_of_names() -> list[int]:
    """Those of the languages' names that no Latin font has: pages in other languages link to them."""
    names = re.findall(
        r'^name = "(.*)"', (HERE.parent / "i18n" / "languages.toml").read_text("utf-8"), re.MULTILINE
    )
    return sorted({ord(sign) for name in names for sign in name} - set(LATIN))


def main(folder: Path) -> None:
    TARGET.mkdir(exist_ok=True)
    packages = folder / "node_modules" / "@ibm"
    for name, path in SOURCES.items():
        cut(packages / path, LATIN + GREEK if name == "sans-italic" else LATIN, name)
    file, place = DISPLAY
    cut(instancer.instantiateVariableFont(TTFont(folder / "node_modules" / file), place), LATIN, "display")
    titles = syllables_in_titles()
    cut(folder / "node_modules" / DISPLAY_KOREAN, titles, "display-kr")
    cut(packages / KOREAN.format("Regular"), signs_of_names(), "names")
    used = syllables_of_the_book()
    others = sorted(syllables_of_the_standard() - used)
    step = -(-len(others) // PARTS)
    rules = [HEAD, rule("display-kr", 700, ", ".join(f"U+{code:X}" for code in sorted(titles)), "Display KR")]
    for weight, number, suffix in (("Regular", 400, ""), ("SemiBold", 600, "-bold")):
        source = packages / KOREAN.format(weight)
        for part in range(PARTS):
            some = others[part * step : (part + 1) * step]
            cut(source, some, f"kr{suffix}-{part + 2}")
            rules.append(rule(f"kr{suffix}-{part + 2}", number, f"U+{some[0]:X}-{some[-1]:X}"))
        first = used & syllables_in_bold() if suffix else used
        # The range is that of all syllables: only the file, which every page needs, says which it lacks.
        for name, some in ((f"kr{suffix}-1", used - first), (f"kr{suffix}", first)):
            if some:
                cut(source, some, name)
                rules.append(rule(name, number, "U+AC00-D7A3"))
    (TARGET.parent / "fonts-ko.css").write_text("".join(rules), encoding="utf-8")


def rule(name: str, weight: int, characters: str, family: str = "Sans KR") -> str:
    """The style sheet's rule for a file. Of two with the same character, the later one is asked first."""
    return (
        f'@font-face {{ font-family: "Book {family}"; font-weight: {weight}; src: url("fonts/{name}.woff2") '
        f'format("woff2"); font-display: swap; unicode-range: {characters}; }}\n'
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
