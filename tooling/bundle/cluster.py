"""Runs a bundle on a cluster with Slurm, as one job array, and judges what it brings back."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tooling.bundle.artifacts import record_of
from tooling.bundle.judging import judge_results
from tooling.bundle.making import make_bundle
from tooling.judging.reference import reference_path
from tooling.platform.atomic_write import write_atomically
from tooling.project import Project
from tooling.remote.connection import Connection, HostError
from tooling.remote.hosts import NO_GPU, facts_of, require_same_system
from tooling.remote.slurm import run_shares, shares_of
from tooling.reports.records import ReportRecord, error_record
from tooling.targets.accelerators import target_for
from tooling.targets.model import Target
from tooling.toolchain import BuildCache, Toolchain
from tooling.verify.plan import Task

_RUNS_OF_A_SHARE = 8
_GRACE = 10  # seconds that a run of a bundle may take beyond its limit


def try_on_cluster(
    host: str,
    tasks: Sequence[Task],
    *,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    jobs: int,
    progress: Callable[[str], None],
) -> list[ReportRecord]:
    """Tries every task on the GPUs of a cluster: built here, run there by one job array, judged here.

    What has been run stays in the cache until all is judged: the same call continues where it was left.

    Args:
        host: `slurm`, or `slurm:` and a partition.
        jobs: builds at a time.
        progress: receives a line for each step.

    Raises:
        HostError: no connection, no GPU there, or programs for it cannot be built here.
        SlurmError: as `run_shares`.
        NothingToBundle: only programs in Python are selected.
    """
    with contextlib.closing(Connection(host)) as node:  # it would occupy a GPU
        facts = facts_of(node)
    require_same_system(host, facts)
    if not facts.targets:
        raise HostError(NO_GPU.of(host=host))
    target = target_for(facts.targets[0].accelerator)
    folder = cache.root / "slurm" / _key(host, tasks, target)
    failed: list[ReportRecord] = []
    if not (folder / "bundle" / "bundle.json").is_file():
        bundle = make_bundle(
            tasks,
            folder / "bundle",
            project=project,
            toolchain=toolchain,
            cache=cache,
            target=target,
            host_cpu=facts.processor_level,
            jobs=jobs,
            progress=progress,
        )
        failed = [error_record(name.split()[0], name, error) for name, error in bundle.failed]
    entries = json.loads((folder / "bundle" / "bundle.json").read_text("utf-8"))["entries"]
    runs = sum(len(entry["datasets"]) for entry in entries)
    if not runs:
        shutil.rmtree(folder)
        return failed
    shares = shares_of(runs, _RUNS_OF_A_SHARE)
    longest = max(entry["time_limit"] for entry in entries) + _GRACE
    run_shares(
        host,
        folder,
        ["python3", str(folder / "bundle" / "run_bundle.py"), "--jobs", "1"],
        shares,
        gpu=True,
        minutes=1 + int(longest * -(-runs // shares) / 60),
        progress=lambda done: progress(f"{done} of {shares} shares of the job have ended"),
    )
    _, judged = judge_results(_merged(folder, shares), tasks)
    names = {record.name for record in failed}
    records = [record for record in map(record_of, judged) if record.name not in names]
    shutil.rmtree(folder)
    return [*failed, *records]


def _key(host: str, tasks: Sequence[Task], target: Target) -> str:
    """A name for what is run: of the texts of the programs, the data and the GPU."""
    digest = hashlib.sha256(f"{host} {target.accelerator}".encode())
    for task in tasks:
        puzzle = task.trials[0].selection.puzzle
        digest.update(" ".join(trial.id for trial in task.trials).encode())
        for path in (task.source, puzzle.manifest, reference_path(puzzle)):
            digest.update(b"\0" + path.read_bytes() if path.is_file() else b"\0")
    return digest.hexdigest()[:20]


def _merged(folder: Path, shares: int) -> Path:
    """One results file of those of all shares."""
    parts: list[dict[str, Any]] = [
        json.loads((folder / "results" / f"{share}.json").read_text("utf-8")) for share in range(shares)
    ]
    results = [result for part in parts for result in part["results"]]
    path = folder / "results.json"
    write_atomically(path, json.dumps({**parts[0], "results": results}).encode())
    return path
