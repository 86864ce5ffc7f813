"""The work that other machines get of a class, and what judges a share of it there.

    python -m tooling.classroom.shares FILE --output FILE [--shares N --share I] [--root FOLDER] [--jobs N]

is what runs on a node of a cluster, with the environment of Python that submitted the job, or on another
machine, with that of a checkout there.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.catalog.catalogue import load_catalogue
from tooling.classroom.judging import Judged, judge_answer, rules_for
from tooling.classroom.students import Answer, wanted_programs
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.state_file import encoded, read_json
from tooling.platform.workers import map_in_processes
from tooling.project import TOOL, Project, find_project
from tooling.text import Text

_ANOTHER_VERSION = Text("the checkout in {folder} has other puzzles, or is of another version")
_SAME_VERSION = Text("check out the same commit there; manifests, `solutions` and `tooling` must be equal")


class AnotherVersion(ToolingError):
    """Two checkouts would judge differently."""

    exit_code = ExitCode.NOT_POSSIBLE


class Work(Struct, frozen=True, kw_only=True):
    """What the shares have to do; the fields are those of `tooling collect`.

    Attributes:
        version: as `version_of`, where the checkout that judges is another one.
    """

    root: str
    puzzles: tuple[str, ...]
    target: str
    memory: float
    time_limit: float | None
    language: str
    answers: tuple[Answer, ...]
    version: str = ""


def version_of(project: Project) -> str:
    """Names what a verdict depends on beside the answer: the tool, manifests, references and solutions."""
    files = {
        TOOL: [path for path in TOOL.rglob("*") if path.suffix in (".py", ".mojo")],
        project.root: [
            *project.problems.rglob("puzzle.yaml"),
            *(path for path in project.solutions.rglob("*") if path.suffix in (".mojo", ".py")),
        ],
    }
    digest = hashlib.sha256()
    for root, paths in files.items():
        for path in sorted(paths):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def judge_share(work: Work, *, shares: int = 1, share: int = 0, jobs: int) -> Iterator[list[Judged]]:
    """The results of every answer of one share, answer by answer, in the order in which they are ready.

    Args:
        jobs: answers at a time.

    Raises:
        AnotherVersion: the checkout is not what `work.version` names.
        NoSandbox, MojoNotFound, MojoVersionMismatch, CacheUnusable: as `rules_for`.
    """
    project = find_project(Path(work.root))
    if work.version and work.version != version_of(project):
        raise AnotherVersion(_ANOTHER_VERSION.of(folder=project.root), hint=_SAME_VERSION)
    rules = rules_for(
        project,
        target=work.target,
        memory=work.memory,
        time_limit=work.time_limit,
        language=work.language,
    )
    programs = wanted_programs(load_catalogue(project), work.puzzles)
    judge = partial(judge_answer, programs=programs, rules=rules)
    yield from map_in_processes(judge, work.answers[share::shares], jobs, ordered=False)


def main(arguments: Sequence[str]) -> int:
    """Judges one share of the answers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--shares", type=int, default=1)
    parser.add_argument("--share", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--root", type=Path, help="the checkout, if it is another one here")
    parser.add_argument("--jobs", type=int, default=1, help="answers at a time; 0: one for each processor")
    chosen = parser.parse_args(arguments)
    work = read_json(chosen.work, Work)
    if chosen.root:
        work = replace(work, root=str(chosen.root))
    try:
        jobs = chosen.jobs or os.cpu_count() or 1
        found = judge_share(work, shares=chosen.shares, share=chosen.share, jobs=jobs)
        judged = tuple(each for answer in found for each in answer)
    except ToolingError as error:
        error.speak(work.language)
        print(error, file=sys.stderr)  # noqa: T201 - the other machine shows it
        return error.exit_code
    write_atomically(chosen.output, encoded(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
