"""Looks up any number of git objects with one `git cat-file` process."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from types import TracebackType
from typing import IO

from msgspec import Struct

from tooling.translations.git.repository import GitError, Repository, explain, start_process

_FOUND = re.compile(rb"[0-9a-f]{40,64} [a-z]+ \d+\n")
_BATCH = 500  # requests per flush of `cat-file`; git reads them all before it answers


class GitObject(Struct, frozen=True):
    """An object's id and type, and its bytes where these were requested."""

    id: str
    kind: str
    data: bytes = b""


class ObjectReader:
    """One `git cat-file` process that looks up objects in batches."""

    def __init__(self, repository: Repository) -> None:
        repository.processes += 1
        self._arguments = ["cat-file", "--batch-command", "--buffer", "-z"]
        self._process = start_process(repository.root, self._arguments, subprocess.PIPE)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self._expected: list[str] = []

    def __enter__(self) -> ObjectReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for stream in (self._input, self._output, self._process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue  # the process ended first; its output was checked where it was read
        self._process.wait()

    def expect(self, names: Sequence[str]) -> None:
        """Requests objects whose `contents` will be read next, so that git works in the meantime."""
        self._expected = list(names[:_BATCH])
        self._send("contents", self._expected)

    def info(self, names: Sequence[str]) -> list[GitObject | None]:
        """Id and type of each name (`COMMIT:path`, an id, …), None where there is no such object."""
        return self._ask("info", names)

    def contents(self, names: Sequence[str]) -> list[GitObject | None]:
        """Each object with its bytes, None where there is no such object."""
        return self._ask("contents", names)

    def _ask(self, command: str, names: Sequence[str]) -> list[GitObject | None]:
        expected, self._expected = self._expected, []
        if expected and (command != "contents" or expected != list(names[:_BATCH])):
            for name in expected:  # the expected requests do not match
                self._answer(name, with_data=True)
            expected = []
        answers: list[GitObject | None] = []
        for start in range(0, len(names), _BATCH):
            batch = names[start : start + _BATCH]
            if start or not expected:
                self._send(command, batch)
            answers.extend(self._answer(name, with_data=command == "contents") for name in batch)
        return answers

    def _send(self, command: str, batch: Sequence[str]) -> None:
        requests = b"".join(f"{command} ".encode() + os.fsencode(name) + b"\0" for name in batch)
        try:
            self._input.write(requests + b"flush\0")
            self._input.flush()
        except BrokenPipeError as error:
            raise self._failure() from error

    def _answer(self, name: str, *, with_data: bool) -> GitObject | None:
        line = self._output.readline()
        if not _FOUND.fullmatch(line):  # a missing name is echoed, with its line breaks
            line += b"".join(self._output.readline() for _ in range(name.count("\n")))
        if not line.endswith(b"\n"):
            raise self._failure()
        if line.endswith((b" missing\n", b" ambiguous\n")):
            return None
        identity, kind, size = line.decode("ascii").split()
        if not with_data:
            return GitObject(identity, kind)
        data = self._output.read(int(size) + 1)[:-1]
        return GitObject(identity, kind, data)

    def _failure(self) -> GitError:
        self._process.kill()
        _, errors = self._process.communicate()
        return explain(errors, self._arguments, self._process.returncode)
