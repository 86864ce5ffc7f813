"""Synthetic books with a history, for measuring: English pages, Korean pages and thousands of commits.

python benchmarks/synthetic_book.py FOLDER PAGES COMMITS
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PER_FOLDER = 20
_START = 1_600_000_000
_WORDS = (
    "thread",
    "block",
    "warp",
    "memory",
    "barrier",
    "tile",
    "layout",
    "kernel",
    "index",
    "stride",
    "shared",
    "global",
    "register",
    "cache",
    "value",
    "element",
    "row",
    "column",
    "matrix",
    "vector",
    "launch",
    "grid",
    "device",
    "host",
    "buffer",
    "result",
    "input",
    "output",
)
_KOREAN = (
    "스레드",
    "블록",
    "워프",
    "메모리",
    "배리어",
    "타일",
    "레이아웃",
    "커널",
    "인덱스",
    "간격",
    "공유",
    "전역",
    "레지스터",
    "캐시",
    "값",
    "원소",
    "행",
    "열",
    "행렬",
    "벡터",
    "실행",
    "그리드",
    "장치",
    "호스트",
    "버퍼",
    "결과",
    "입력",
    "출력",
)
SCALES = {100: 700, 1_000: 5_000, 10_000: 20_000}


@dataclass(slots=True)
class _Page:
    path: str
    sentences: list[int]
    versions: list[tuple[int, str, tuple[int, ...]]] = field(default_factory=list)  # mark, blob, sentences


def page_text(path: str, sentences: Sequence[int], words: Sequence[str]) -> str:
    """A page of six sections with prose, code spans, links, a list, a table and a fence each."""
    rng = random.Random(path)
    parts = [f"# {words[0]} {path.rpartition('/')[2]}\n"]
    for number, seed in enumerate(sentences):
        text = random.Random(seed)
        line = " ".join(text.choice(words) for _ in range(14))
        parts.append(
            f"## {words[number]} {number}\n\n{line}.\nSee `thread_idx.{rng.choice('xyz')}` and "
            f"[{words[1]}]({path.rpartition('/')[2]}).\n\n- {words[2]} `{2**number}`\n- {words[3]}\n\n"
            f"| {words[4]} | {words[5]} |\n|---|---|\n| {number} | {seed % 97} |\n\n"
            f"```mojo\nvar i = {number}\nout[i] = a[i] + {rng.randrange(99)}\n```\n"
        )
    return "\n".join(parts)


def _blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _data(payload: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(payload), payload)


def build(folder: Path, pages: int, commits: int, *, stale: float = 0.3, blob_lines: float = 0.5) -> None:
    """A repository of `pages` page pairs and `commits` commits.

    Args:
        stale: share of the translations pinned to an older text.
        blob_lines: share of the markers that name the blob too.
    """
    rng = random.Random(pages)
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    importer = subprocess.Popen(
        ["git", "-C", str(folder), "fast-import", "--quiet", "--export-marks=.git/marks"],
        stdin=subprocess.PIPE,
    )
    assert importer.stdin is not None
    write = importer.stdin.write
    book = [
        _Page(f"book/src/part_{n // _PER_FOLDER}/page_{n}.md", [n * 7 + s for s in range(6)])
        for n in range(pages)
    ]

    def commit(mark: int, touched: list[_Page]) -> None:
        write(
            b"commit refs/heads/main\nmark :%d\ncommitter A <a@b> %d +0000\n" % (mark, _START + mark * 3600)
        )
        write(_data(b"Change %d" % mark))
        if mark > 1:
            write(b"from :%d\n" % (mark - 1))
        for page in touched:
            text = page_text(page.path, page.sentences, _WORDS).encode()
            page.versions.append((mark, _blob(text), tuple(page.sentences)))
            write(b"M 100644 inline %s\n" % page.path.encode() + _data(text))

    commit(1, book)
    for mark in range(2, commits):
        touched = rng.sample(book, rng.choice((1, 1, 1, 2, 3)))
        for page in touched:
            page.sentences[rng.randrange(6)] = rng.randrange(1_000_000)
        commit(mark, touched)
    write(b"checkpoint\n\n")
    importer.stdin.close()
    if importer.wait() != 0:
        raise SystemExit("git fast-import failed")
    marks = dict(line.split() for line in (folder / ".git/marks").read_text("ascii").splitlines())
    subprocess.run(["git", "-C", str(folder), "reset", "-q", "--hard"], check=True)
    _translate(folder, book, marks, rng=rng, stale=stale, blob_lines=blob_lines)


def _translate(
    folder: Path,
    book: list[_Page],
    marks: dict[str, str],
    *,
    rng: random.Random,
    stale: float,
    blob_lines: float,
) -> None:
    for page in book:
        index = -1
        if len(page.versions) > 1 and rng.random() < stale:
            index = rng.randrange(len(page.versions) - 1)
        mark, blob, sentences = page.versions[index]
        lines = [f"<!-- i18n-source-commit: {marks[f':{mark}']} -->"]
        if rng.random() < blob_lines:
            lines.append(f"<!-- i18n-source-blob: {blob} -->")
        target = folder / "i18n/ko" / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = page_text(page.path, sentences, _KOREAN)
        target.write_text("\n".join([*lines, "", text]), encoding="utf-8")
    for command in (
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "Translate"],
    ):
        subprocess.run(["git", "-C", str(folder), *command], check=True)


def main() -> None:
    folder, pages = Path(sys.argv[1]), int(sys.argv[2])
    commits = int(sys.argv[3]) if len(sys.argv) > 3 else SCALES[pages]
    build(folder, pages, commits)


if __name__ == "__main__":
    main()
