"""Resolves pins: which blob a page was at a commit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum

from msgspec import Struct

from tooling.text import Text
from tooling.translations.git.object_reader import ObjectReader
from tooling.translations.git.repository import GitError, NotARepository, ObjectsMissing, Repository

_FETCH_ATTEMPTS = 5


class Answer(StrEnum):
    """The kind of answer to a `Question`."""

    FOUND = "found"
    NO_COMMIT = "no-commit"
    NO_PATH = "no-path"


class Question(Struct, frozen=True):
    """Which blob was `path` (from the top folder) at `commit`?"""

    commit: str
    path: str


class Resolution(Struct, frozen=True):
    """The answer to a question, with the blob when there is one."""

    answer: Answer
    blob: str | None = None


class PinReader:
    """Resolves pins and reads texts through one git process.

    What a partial clone lacks is fetched in one process where the repository may use the network, and
    reported as missing elsewhere.
    """

    def __init__(self, repository: Repository | None) -> None:
        self._known_repository = repository
        self._objects: ObjectReader | None = None
        self._local: frozenset[str] | None = None

    @property
    def _repository(self) -> Repository:
        if self._known_repository is None:
            raise NotARepository(
                Text("the pages are not in a git repository"),
                why=Text("texts of former versions are read from git"),
                hint=Text("run this in a clone, not in an unpacked archive"),
            )
        return self._known_repository

    def start(self) -> None:
        """Starts the process ahead of the first question."""
        if self._known_repository is not None:
            self._reader()

    def close(self) -> None:
        if self._objects is not None:
            self._objects.__exit__(None, None, None)
            self._objects = None

    def __enter__(self) -> PinReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def resolve(self, questions: Sequence[Question]) -> list[Resolution]:
        """One answer per question, in order.

        Raises:
            GitError: git ended without an answer.
        """
        if not questions:
            return []
        known = self._known_commits({question.commit for question in questions})
        if self._repository.network and (lost := _whole({one.commit for one in questions} - known)):
            self._fetch_what_is_there(lost)
            known = self._known_commits({question.commit for question in questions})
        asked = [question for question in questions if question.commit in known]
        blobs = iter(self._blobs(asked))
        answers: list[Resolution] = []
        for question in questions:
            if question.commit not in known:
                answers.append(Resolution(Answer.NO_COMMIT))
                continue
            blob = next(blobs)
            answers.append(Resolution(Answer.FOUND if blob else Answer.NO_PATH, blob))
        return answers

    def prepare(self, blobs: Iterable[str]) -> None:
        """Brings these blobs into a partial clone in one fetch.

        Raises:
            ObjectsMissing: they are not in this clone, and `--fetch` was not given.
            GitError: the remote is unreachable or refuses.
        """
        wanted = set(blobs)
        if wanted and self._repository.is_partial:
            missing = wanted - self._local_objects()
            if missing and not self._repository.network:
                raise ObjectsMissing(
                    Text(
                        "1 former text is not in this clone", "{count} former texts are not in this clone"
                    ).of(count=len(missing)),
                    why=Text("it is a partial clone, and the remote is contacted only with --fetch"),
                    hint=Text(
                        "the same command with --fetch, or `tooling "
                        "check-translations --fetch` before others, "
                        "downloads what is missing from `origin`"
                    ),
                )
            if missing:
                self._repository.fetch_objects(missing)
                self._local = self._local_objects() | missing

    def expect(self, blobs: Iterable[str]) -> None:
        """Requests blobs whose `texts` will be read next; a partial clone may lack them."""
        wanted = sorted(set(blobs))
        if wanted and not self._repository.is_partial:
            self._reader().expect(wanted)

    def texts(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The contents of these blobs; those this clone does not have are left out.

        Raises:
            GitError: git ended without an answer, or a partial clone lacks some.
        """
        wanted = sorted(set(blobs))
        if not wanted:
            return {}
        self.prepare(wanted)
        found = self._reader().contents(wanted)
        return {name: one.data for name, one in zip(wanted, found, strict=True) if one and one.kind == "blob"}

    def _known_commits(self, commits: set[str]) -> frozenset[str]:
        wanted = sorted(commits)
        if self._repository.is_partial:
            local = self._local_objects()
            wanted = [commit for commit in wanted if commit in local or not _whole({commit})]
        found = self._reader().info([f"{commit}^{{commit}}" for commit in wanted])
        return frozenset(commit for commit, one in zip(wanted, found, strict=True) if one is not None)

    def _blobs(self, questions: Sequence[Question]) -> list[str | None]:
        if self._repository.is_partial:
            return self._blobs_from_trees(questions)
        found = self._reader().info([f"{one.commit}:{one.path}" for one in questions])
        return [one.id if one is not None and one.kind == "blob" else None for one in found]

    def _blobs_from_trees(self, questions: Sequence[Question]) -> list[str | None]:
        """As `_blobs`, without accessing a blob: any access would fetch blobs one by one."""
        folders = {(one.commit, one.path.rpartition("/")[0]) for one in questions}
        order = sorted(folders)
        trees = self._reader().contents([f"{commit}:{folder}" for commit, folder in order])
        width = 20 if self._repository.object_format == "sha1" else 32
        listings = {
            folder: _tree_entries(tree.data, width) if tree is not None and tree.kind == "tree" else {}
            for folder, tree in zip(order, trees, strict=True)
        }
        answers: list[str | None] = []
        for one in questions:
            folder, _, name = one.path.rpartition("/")
            answers.append(listings[one.commit, folder].get(name.encode()))
        return answers

    def _reader(self) -> ObjectReader:
        if self._objects is None:
            self._objects = ObjectReader(self._repository)
        return self._objects

    def _local_objects(self) -> frozenset[str]:
        if self._local is None:
            self._local = self._repository.local_objects()
        return self._local

    def _fetch_what_is_there(self, commits: set[str]) -> None:
        """Asks the server for lost commits. It may refuse, naming one refused commit at a time."""
        wanted = set(commits)
        for _ in range(_FETCH_ATTEMPTS):
            if not wanted:
                return
            try:
                self._repository.fetch_objects(wanted)
            except GitError as error:
                refused = set(re.findall(r"[0-9a-f]{40,64}", error.why or "")) & wanted
                if not refused:
                    return  # unreachable; the pins stay unresolved and are reported as such
                wanted -= refused
            else:
                self._local = None
                return


def _whole(commits: set[str]) -> set[str]:
    """Those that are not abbreviated: a remote does not answer for others."""
    return {commit for commit in commits if len(commit) >= 40}


def _tree_entries(data: bytes, width: int) -> dict[bytes, str]:
    """Name to id of the files in a raw tree object."""
    entries: dict[bytes, str] = {}
    position = 0
    while position < len(data):
        end = data.index(b"\0", position)
        mode, _, name = data[position:end].partition(b" ")
        identity = data[end + 1 : end + 1 + width]
        if mode.startswith(b"100"):
            entries[name] = identity.hex()
        position = end + 1 + width
    return entries
