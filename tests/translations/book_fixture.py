"""A small book with its history, for tests."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tooling.text import Sentence, in_language
from tooling.translations.freshness.survey import Survey, survey
from tooling.translations.model import PageStatus
from tooling.translations.roots import Roots

ENGLISH = """\
# Barriers

Threads of a block meet at a barrier.

## Shared memory

Write to `shared` first, then call `barrier()`.
See [the puzzle](https://example.org/puzzle) for more.

- first item
- second item

## Code

```mojo
shared[i] = a[i]
barrier()
```
"""
KOREAN = """\
# 배리어

블록의 스레드는 배리어에서 만납니다.

## 공유 메모리

먼저 `shared`에 쓰고 `barrier()`를 호출합니다.
자세한 내용은 [퍼즐](https://example.org/puzzle)을 보세요.

- 첫째 항목
- 둘째 항목

## 코드

```mojo
shared[i] = a[i]
barrier()
```
"""
START = 1_700_000_000
DAY = 86_400


def english(sentence: str | Sentence | None) -> str:
    """A sentence of a report in English; empty for none."""
    text: str = in_language(sentence or "", "en")
    return text


@dataclass(slots=True)
class Book:
    """A checkout with English pages below `book/src` and Korean ones below `i18n/ko/book/src`."""

    root: Path
    clock: int = START

    @classmethod
    def create(cls, root: Path) -> Book:
        root.mkdir(parents=True, exist_ok=True)
        book = cls(root)
        book.git("init", "-q", "-b", "main")
        book.source.mkdir(parents=True)
        book.target.mkdir(parents=True)
        return book

    @property
    def source(self) -> Path:
        return self.root / "book/src"

    @property
    def target(self) -> Path:
        return self.root / "i18n/ko/book/src"

    @property
    def roots(self) -> Roots:
        return Roots.under(self.root, "ko")

    def git(self, *arguments: str, check: bool = True) -> str:
        """Standard output of git; its clock advances by a day with each commit."""
        identity = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "A"), ("EMAIL", "a@b"), ("DATE", f"{self.clock} +0000"))
        }
        hermetic = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.root)}
        result = subprocess.run(
            ["git", "-C", str(self.root), *arguments],
            env=os.environ | identity | hermetic,
            check=False,
            capture_output=True,
        )
        if check and result.returncode != 0:
            raise AssertionError(f"git {' '.join(arguments)}: {result.stderr.decode()}")
        return result.stdout.decode().strip()

    def commit(self, message: str = "change") -> str:
        """Commits everything; its id."""
        self.clock += DAY
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def english(self, text: str = ENGLISH, page: str = "page.md") -> Path:
        return _write(self.source / page, text)

    def korean(
        self, text: str = KOREAN, page: str = "page.md", *, commit: str | None = None, blob: str | None = None
    ) -> Path:
        marker = f"<!-- i18n-source-commit: {commit} -->\n" if commit else ""
        marker += f"<!-- i18n-source-blob: {blob} -->\n" if blob else ""
        return _write(self.target / page, marker + text)

    def blob(self, page: str = "page.md", commit: str = "HEAD") -> str:
        return self.git("rev-parse", f"{commit}:book/src/{page}")

    def translated(self, page: str = "page.md", *, with_blob: bool = True) -> str:
        """Commits a page, then its translation pinned to it; the source's commit."""
        # A unique line: pages with the same text would share a blob.
        self.english(f"{ENGLISH}\nThis is `{page}`.\n", page)
        commit = self.commit(f"write {page}")
        blob = self.blob(page) if with_blob else None
        self.korean(f"{KOREAN}\n이 글은 `{page}`입니다.\n", page, commit=commit, blob=blob)
        self.commit(f"translate {page}")
        return commit

    def including(self, code: str) -> str:
        """Commits a page that includes `code.mojo:a`, then its translation; the source's commit."""
        (self.root / "code.mojo").write_text(code)
        self.english("# T\n\n```mojo\n{{#include ../../code.mojo:a}}\n```\n")
        commit = self.commit("write page.md")
        korean = "# 제목\n\n```mojo\n{{#include ../../../../code.mojo:a}}\n```\n"
        self.korean(korean, commit=commit, blob=self.blob())
        self.commit("translate page.md")
        return commit

    def edit(self, old: str, new: str, page: str = "page.md", message: str | None = "edit") -> str:
        """Replaces text of an English page and commits it (unless `message` is None); HEAD."""
        path = self.source / page
        text = path.read_bytes().decode()
        assert old in text, f"{old!r} is not in {page}"
        path.write_bytes(text.replace(old, new).encode())
        return self.commit(message) if message is not None else self.head()

    def clone(self, folder: Path, *options: str) -> Book:
        """A clone through a real transport, so that depth and filters take effect."""
        self.git("config", "uploadpack.allowFilter", "true")
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.git("clone", "-q", *options, f"file://{self.root}", str(folder))
        return Book(folder, self.clock)

    def survey(self, **options: bool) -> Survey:
        return survey(self.roots, now=self.clock, fetch=options.get("fetch", False))

    def status(self, page: str = "page.md") -> PageStatus:
        return next(one for one in self.survey().pages if one.key == page)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path
