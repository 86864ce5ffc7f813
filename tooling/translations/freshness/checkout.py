"""The repository of the source pages, with the git processes that are started ahead of their use."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from tooling.text import Sentence, Text
from tooling.translations.git.history import HistoryReader
from tooling.translations.git.repository import (
    GIVE_IT_TREES,
    BareRepository,
    GitError,
    History,
    Repository,
    RunningGit,
)
from tooling.translations.model import Problem
from tooling.translations.roots import Roots


class Checkout(Struct, frozen=True):
    """The repository of the source pages with the git processes that were started ahead of their use.

    Attributes:
        repository: None where there is none; `error` says why.
        folder: of the source pages, from the top folder.
        tree: lists the source pages of HEAD; None before the first commit.
        history: of the source pages; None where it cannot be read.
    """

    repository: Repository | None
    error: GitError | None = None
    folder: str = "."
    tree: RunningGit | None = None
    history: HistoryReader | None = None

    @classmethod
    def open(cls, roots: Roots, *, network: bool) -> Checkout:
        """The checkout of the source pages; git starts to list them.

        Args:
            network: whether objects that this clone lacks may be fetched.

        Raises:
            BareRepository: there is no worktree.
        """
        try:
            repository = Repository.open(roots.source, roots.base, network=network)
            folder = Path(os.path.relpath(roots.source.resolve(), repository.root)).as_posix()
            readable = repository.history is not History.TREELESS
            history = HistoryReader(repository, folder) if readable else None
            return cls(repository, None, folder, repository.start_tree(folder), history)
        except BareRepository:
            raise
        except GitError as error:
            # Markers with a blob line do not need git; every page without one becomes `unknown` below.
            return cls(None, error)

    @property
    def prefix(self) -> str:
        """What precedes the key of a source page in its path from the top folder."""
        return "" if self.folder == "." else f"{self.folder}/"

    @property
    def is_shallow(self) -> bool:
        return self.repository is not None and self.repository.is_shallow

    def start_history(self) -> None:
        """Starts git on the history, as soon as a page needs it."""
        if self.history is not None:
            self.history.start()

    def cannot_resolve(self) -> tuple[Sentence, str | Sentence] | None:
        """Why pins without a blob line cannot be resolved here, and what to do; None when they can."""
        if self.repository is None:
            error = self.error
            assert error is not None
            return Text("{what}, and the marker has no blob line").of(
                what=error.sentences[0]
            ), error.sentences[2] or Text("run this in a clone")
        if self.repository.history is History.TREELESS:
            return (
                Text("this is a treeless clone: every pin would fetch folders one by one"),
                GIVE_IT_TREES,
            )
        return None


def git_problem(what: Text, error: GitError) -> Problem:
    """What could not be determined because git failed."""
    return Problem(what, error.reason, error.sentences[2] or Text("run git fsck"))
