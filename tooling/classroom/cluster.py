"""Judges the answers of a class on a cluster with Slurm: each share of a job array judges some of them.

    python -m tooling.classroom.cluster FILE --shares N --share I --output FILE

is what a node runs, with the environment of Python that submitted the job.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.catalog.catalogue import load_catalogue
from tooling.classroom.judging import Judged, judge_answer, rules_for
from tooling.classroom.students import Answer, wanted_programs
from tooling.platform.atomic_write import write_atomically
from tooling.platform.state_file import encoded, read_json
from tooling.project import find_project
from tooling.remote.slurm import run_shares, shares_of
from tooling.toolchain import BuildCache

_ANSWERS_OF_A_SHARE = 20
_MINUTES_OF_AN_ANSWER = 10  # a build, and every run to its limit


class Work(Struct, frozen=True, kw_only=True):
    """What the shares have to do; the fields are those of `tooling collect`."""

    root: str
    puzzles: tuple[str, ...]
    target: str
    memory: float
    time_limit: float | None
    language: str
    answers: tuple[Answer, ...]


def judge_on_cluster(
    host: str, work: Work, cache: BuildCache, progress: Callable[[int, int], None]
) -> list[Judged]:
    """The results of all answers; what was judged stays until all is: the same call continues it.

    Args:
        cache: on a file system that the cluster shares.
        progress: receives how many shares of how many have ended.

    Raises:
        SlurmError: as `run_shares`.
    """
    text = encoded(work)
    folder = cache.root / "slurm" / hashlib.sha256(host.encode() + text).hexdigest()[:20]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(folder / "work.json", text)
    shares = shares_of(len(work.answers), _ANSWERS_OF_A_SHARE)
    run_shares(
        host,
        folder,
        [sys.executable, "-m", "tooling.classroom.cluster", str(folder / "work.json")],
        shares,
        gpu=False,  # it is simulated
        minutes=_MINUTES_OF_AN_ANSWER * -(-len(work.answers) // shares),
        progress=lambda done: progress(done, shares),
    )
    results = [read_json(folder / "results" / f"{share}.json", tuple[Judged, ...]) for share in range(shares)]
    shutil.rmtree(folder)
    return [judged for share in results for judged in share]


def main(arguments: Sequence[str]) -> int:
    """Judges one share of the answers, on a node."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--shares", type=int, required=True)
    parser.add_argument("--share", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    work = read_json(chosen.work, Work)
    project = find_project(Path(work.root))
    rules = rules_for(
        project,
        target=work.target,
        memory=work.memory,
        time_limit=work.time_limit,
        language=work.language,
    )
    programs = wanted_programs(load_catalogue(project), work.puzzles)
    own = work.answers[chosen.share :: chosen.shares]
    judged = tuple(each for answer in own for each in judge_answer(answer, programs, rules))
    write_atomically(chosen.output, encoded(judged))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
