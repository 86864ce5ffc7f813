"""Translations into any language: files of `new-lang` can be stamped; English left in them is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.translations.book_fixture import ENGLISH, Book, english
from tests.translations.conftest import Tool
from tooling.mdbook.pages import Page
from tooling.translations.parity import comparison
from tooling.translations.parity.findings import ParityFinding

ROOT = Path("/nowhere")

SPANISH = """\
# Barreras

Los hilos de un bloque se encuentran en una barrera.

## Memoria compartida

Escribe primero en `shared` y llama después a `barrier()`.
Véase [el puzle](https://example.org/puzzle) para saber más.

- primer elemento
- segundo elemento

## Código

```mojo
shared[i] = a[i]
barrier()
```
"""
JAPANESE = """\
# バリア

ブロックのスレッドはバリアで待ち合わせます。

## 共有メモリ

まず `shared` に書き込み、次に `barrier()` を呼び出します。
詳しくは[パズル](https://example.org/puzzle)を参照してください。

- 最初の項目
- 次の項目

## コード

```mojo
shared[i] = a[i]
barrier()
```
"""
CHINESE = """\
# 屏障

一个线程块的所有线程在屏障处会合。

## 共享内存

先写入 `shared`，再调用 `barrier()`。
更多内容见[谜题](https://example.org/puzzle)。

- 第一项
- 第二项

## 代码

```mojo
shared[i] = a[i]
barrier()
```
"""
RUSSIAN = """\
# Барьеры

Потоки блока встречаются у барьера.

## Общая память

Сначала запишите в `shared`, затем вызовите `barrier()`.
Подробнее — в [задаче](https://example.org/puzzle).

- первый пункт
- второй пункт

## Код

```mojo
shared[i] = a[i]
barrier()
```
"""
PAGES = {"ja": JAPANESE, "zh-TW": CHINESE, "es": SPANISH, "ru": RUSSIAN}


@pytest.mark.parametrize("code", PAGES)
def test_a_new_language_is_stamped_and_without_findings(code: str, book: Book, tool: Tool) -> None:
    book.english()
    (book.root / "book/book.toml").write_text('[book]\nlanguage = "en"\n')
    (book.source / "SUMMARY.md").write_text("# Summary\n\n- [Barriers](page.md)\n")
    book.commit("write the book")
    assert tool("new-lang", code).status == 0
    target = book.root / f"i18n/{code}/book/src"
    (target / "page.md").write_text(PAGES[code], encoding="utf-8")
    title = PAGES[code].splitlines()[0].removeprefix("# ")
    (target / "SUMMARY.md").write_text(f"# {title}\n\n- [{title}](page.md)\n", encoding="utf-8")
    (book.root / f"i18n/{code}/glossary.yaml").write_text(
        f"terms:\n  - en: barrier\n    {code}: [{title[:4]}]\n    first_use: false\n", encoding="utf-8"
    )
    book.commit("translate")
    stamped = tool("stamp", "--lang", code, "--all")
    assert (stamped.status, stamped.out.count("stamped ")) == (0, 2), stamped
    checked = tool("status", "--lang", code, "--fail-on", "warning")
    assert checked.status == 0, checked
    assert "0 errors, 0 warnings" in checked.out


def compare(source: str, target: str, language: str) -> list[ParityFinding]:
    ours = Page.of(ROOT / "a/x.md", ROOT / "a", source)
    return comparison.compare(ours, Page.of(ROOT / "b/x.md", ROOT / "b", target), language=language)


PARAGRAPH = "Wait for all of the threads.\n"


@pytest.mark.parametrize(
    ("language", "target", "expected"),
    [
        ("ja", PARAGRAPH, ("untranslated", "`Wait for all of the threads.` is not translated")),
        ("es", PARAGRAPH, ("untranslated", "`Wait for all of the threads.` is not translated")),
        (
            "ja",
            "待ちます。This step waits until all the threads are done.\n",
            (
                "untranslated-sentence",
                "`This step waits until all the threads are done` is left in English in the middle of "
                "Japanese text",
            ),
        ),
        ("ja", "모든 스레드를 기다립니다\n", ("foreign-script", "`모든` is Korean")),
        ("zh", "等待スレッド\n", ("foreign-script", "`スレッド` is Chinese or Japanese")),
        ("es", "Espera a 所有 los hilos\n", ("foreign-script", "`所有` is Chinese or Japanese")),
        ("es", "Espera a los hilos\u3002\n", ("foreign-sign", "`\u3002` is a Chinese or Japanese sign")),
        ("ru", "Ждите 모든 потоки\n", ("foreign-script", "`모든` is Korean")),
        ("fr", "Attendez les f\ufffdls\n", ("broken-letters", "`\ufffd` replaces letters that were lost")),
    ],
)
def test_what_is_foreign_depends_on_the_language(
    language: str, target: str, expected: tuple[str, str]
) -> None:
    first = compare(PARAGRAPH, target, language)[0]
    assert (first.kind, english(first.message)) == expected


@pytest.mark.parametrize(
    ("language", "line", "free"),
    [
        ("ja", "完了 -> 3", True),
        ("es", "acción -> 3", True),
        ("es", "hecho -> 3", False),
        ("ko", "完了 -> 3", False),
    ],
)
def test_a_label_of_a_drawing_in_the_language_may_differ(language: str, line: str, free: bool) -> None:
    found = compare("```text\ndone -> 3\n```\n", f"```text\n{line}\n```\n", language)
    assert [one.kind for one in found] == ([] if free else ["fence-code"])


def test_the_english_book_is_the_fixture() -> None:
    assert all(page.count("\n") == ENGLISH.count("\n") for page in PAGES.values())
