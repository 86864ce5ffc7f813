"""Judges the answers of a class on a cluster with Slurm: each share of a job array judges some of them."""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Callable

from tooling.classroom.judging import Judged
from tooling.classroom.shares import Work
from tooling.platform.atomic_write import write_atomically
from tooling.platform.state_file import encoded, read_json
from tooling.remote.slurm import run_shares, shares_of
from tooling.toolchain import BuildCache

_ANSWERS_OF_A_SHARE = 20
_MINUTES_OF_AN_ANSWER = 10  # a build, and every run to its limit


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
        [sys.executable, "-m", "tooling.classroom.shares", str(folder / "work.json")],
        shares,
        gpu=False,  # it is simulated
        minutes=_MINUTES_OF_AN_ANSWER * -(-len(work.answers) // shares),
        progress=lambda done: progress(done, shares),
    )
    results = [read_json(folder / "results" / f"{share}.json", tuple[Judged, ...]) for share in range(shares)]
    shutil.rmtree(folder)
    return [judged for share in results for judged in share]
