"""Books whose author tries to run a command on the machine of a person who checks the translation.

A clone contains files and no configuration, since git refuses to check out a path named `.git`. But an author
can commit a bare repository among the pages, whose `config` names programs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.translations.book_fixture import KOREAN, Book, english
from tooling.cli import main
from tooling.platform.exit_codes import ExitCode
from tooling.translations.git.repository import NestedRepository, NotARepository, Repository
from tooling.translations.model import Freshness

COMMANDS = (
    ("status",),
    ("status", "--fetch"),
    ("status", "--since", "HEAD~1"),
    ("diff", "--fetch", "page.md"),
    ("stamp", "--fetch", "--all"),
    ("repair", "--fetch"),
    ("recover", "--fetch", "page.md"),
)


class Trap:
    """A program that creates a file when it runs."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "trap"
        self._trace = folder / "sprung"
        self.program.write_text(f"#!/bin/sh\ntouch '{self._trace}'\nexit 1\n")
        self.program.chmod(0o755)

    @property
    def sprung(self) -> bool:
        return self._trace.exists()

    def settings(self, url: Path) -> str:
        """Configuration that names the program for every setting with which git runs one."""
        return f"""\
[core]
    fsmonitor = {self.program}
    hooksPath = {self.program.parent}/hooks
    alternateRefsCommand = {self.program}
[diff]
    external = {self.program}
[log]
    showSignature = true
[gpg]
    program = {self.program}
[filter "a=b"]
    clean = {self.program}
    process = {self.program}
    required = true
[remote "origin"]
    url = {url}
    uploadpack = {self.program}
    promisor = true
    partialclonefilter = blob:none
[extensions]
    partialClone = origin
"""


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


def _drop(repository: Book, blob: str) -> None:
    """Removes a blob from the repository, and marks the other objects as promised by a remote."""
    objects = repository.root / ".git/objects"
    names = repository.git("rev-list", "--objects", "--all").splitlines()
    wanted = "".join(f"{line[:40]}\n" for line in names if not line.startswith(blob))
    packed = repository.root / "pack"
    command = ["git", "-C", str(repository.root), "pack-objects", "-q", str(packed)]
    name = subprocess.run(command, input=wanted, text=True, check=True, capture_output=True).stdout.strip()
    shutil.rmtree(objects)
    (objects / "pack").mkdir(parents=True)
    (objects / "info").mkdir()
    for suffix in ("pack", "idx"):
        Path(f"{packed}-{name}.{suffix}").rename(objects / f"pack/pack-{name}.{suffix}")
    (objects / f"pack/pack-{name}.promisor").touch()


def _hostile_book(folder: Path, trap: Trap) -> Book:
    """A clone of a book with a bare repository in `book/src` that lacks the text its page is pinned to."""
    inner = Book(folder / "inner")
    inner.root.mkdir(parents=True)
    inner.git("init", "-q", "-b", "main")
    page = inner.root / "page.md"
    page.write_text("# Barriers\n")
    pinned = inner.commit()
    blob = inner.git("rev-parse", "HEAD:page.md")
    page.write_text("# Barriers and more\n")
    inner.commit()
    _drop(inner, blob)
    config = inner.root / ".git/config"
    config.write_text(
        "[core]\n    repositoryformatversion = 1\n    bare = false\n    worktree = .\n"
        + trap.settings(folder)
    )
    author = Book.create(folder / "author")
    author.english("# Barriers and more\n")
    for name in ("HEAD", "config", "index"):
        shutil.copy(inner.root / ".git" / name, author.source)
    for name in ("objects", "refs"):
        shutil.copytree(inner.root / ".git" / name, author.source / name)
    (author.source / "refs/heads/.keep").touch()
    author.korean(KOREAN, commit=pinned)
    author.git("add", "-A", "-f")
    author.commit("write")
    author.commit("no change")
    return author.clone(folder / "clone")


def test_a_bare_repository_among_the_pages_is_not_used(
    tmp_path: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = _hostile_book(tmp_path / "books", trap)
    for folder in (book.root, book.source):
        monkeypatch.chdir(folder)
        for command in COMMANDS:
            main(["check-translations", *command])
            assert not trap.sprung, f"{command} in {folder} ran the author's program"
    capsys.readouterr()
    assert Repository.open(book.source, book.root).root == book.root
    assert book.status().freshness is Freshness.BAD_PIN  # the pinned commit is in the other repository only


def test_programs_of_the_checkouts_own_configuration_do_not_run(
    tmp_path: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = Book.create(tmp_path / "book")
    (book.root / ".gitattributes").write_text("*.md filter=a=b diff=a=b\n")
    book.translated()
    book.edit("first item", "item one")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "pre-auto-gc"):
        shutil.copy(trap.program, hooks / name)
    with (book.root / ".git/config").open("a") as config:
        config.write("[core]\n    repositoryformatversion = 1\n" + trap.settings(book.root))
    page = book.target / "page.md"
    page.write_text(page.read_text().replace("첫째", "하나"))
    monkeypatch.chdir(book.root)
    for command in COMMANDS:
        main(["check-translations", *command])
        assert not trap.sprung, f"{command} ran a program of the configuration"
    capsys.readouterr()


def test_a_text_that_a_remote_has_is_not_fetched_unless_asked_for(
    tmp_path: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    book = Book.create(tmp_path / "book")
    book.translated()
    old = book.blob()
    book.edit("first item", "item one")
    remote = book.clone(tmp_path / "remote", "--bare")
    _drop(book, old)
    with (book.root / ".git/config").open("a") as config:
        config.write("[core]\n    repositoryformatversion = 1\n" + trap.settings(remote.root))
    remote.git("config", "uploadpack.allowAnySHA1InWant", "true")
    remote.git("config", "uploadpack.allowFilter", "true")
    monkeypatch.chdir(book.root)
    assert main(["check-translations", "diff", "page.md"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "1 former text is not in this clone" in said
    assert "--fetch" in said
    assert main(["check-translations", "diff", "--fetch", "page.md"]) == ExitCode.PASSED
    assert "+ - item one" in capsys.readouterr().out
    assert not trap.sprung  # git's own program answered, not the one that the configuration names


def test_a_repository_inside_the_checkout_is_refused_with_its_name(book: Book) -> None:
    book.translated(with_blob=False)
    inner = Book(book.source)
    inner.git("init", "-q")
    inner.commit()
    with pytest.raises(NestedRepository) as error:
        Repository.open(book.source, book.root)
    assert error.value.what == f"the pages belong to another repository: {book.source}"
    assert error.value.hint == f"cd '{book.source}' and run this there, if you trust that repository"
    status = book.status()
    assert status.freshness is Freshness.UNKNOWN
    assert "belong to another repository" in english(status.reason)


def test_a_broken_git_folder_does_not_lead_to_the_repository_above(book: Book) -> None:
    book.translated()
    (book.root / "sub/.git").mkdir(parents=True)
    with pytest.raises(NotARepository):
        Repository.open(book.root / "sub", book.root / "sub")


def test_settings_that_the_user_gave_git_in_the_environment_stay(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.translated()
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "A Reader")
    repository = Repository.open(book.source, book.root)
    assert repository.run(["config", "user.name"]) == b"A Reader\n"
    assert repository.run(["config", "core.fsmonitor"]) == b"false\n"
    assert repository.run(["config", "core.hooksPath"]) == os.devnull.encode() + b"\n"
