"""A cluster with Slurm: `srun` for one program, and a job array for many, on a file system that it shares.

Slurm's own settings apply: an account, a quality of service and the like come from the variables that its
manuals name (SLURM_ACCOUNT for `srun`, SBATCH_ACCOUNT for `sbatch`).
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import run_captured
from tooling.text import Text

_NAME = re.compile(r"slurm(?::(.*))?", re.DOTALL)
_PARTITION = re.compile(r"[\w.,+-]+")
_JOB = "gpu-puzzle-lab"
_PAUSE = 1.0  # seconds between two looks at a job
_PATIENCE = 600.0  # seconds without an answer of the controller
_MOST_SHARES = 1000  # of an array: MaxArraySize is 1001 by default
_SCRIPT = """\
#!/bin/sh
share=$SLURM_ARRAY_TASK_ID
exec {command} --shares {shares} --share "$share" --output "results/$share.json"
"""
_GONE = "Invalid job id specified"

_NO_COMMANDS = Text("`{command}` is not installed")
_LOGIN_NODE = Text("programs are handed to Slurm by its commands, which its login nodes have")
_RUN_THERE = Text("start `tooling` on a login node of the cluster, or name that node with `--on`")
_NO_PARTITION = Text("`{name}` cannot be a partition of Slurm")
_REFUSED = Text("Slurm refuses the job")
_TRY = Text("`{command}` must work")
_LOST = Text("Slurm does not answer")
_CONTINUES = Text("job {job} continues; run the command again to wait for it")
_INCOMPLETE = Text(
    "{count} share of the job ended without a result", "{count} shares of the job ended without a result"
)
_ONCE_MORE = Text("run the command again: only what is missing is run")


class SlurmError(ToolingError):
    """Slurm is missing, refuses a job, or has lost it."""

    exit_code = ExitCode.NOT_POSSIBLE


def is_slurm(host: str) -> bool:
    """Whether the value of `--on` names a cluster: `slurm`, or `slurm:` and a partition."""
    return _NAME.fullmatch(host) is not None


def interactive_command(host: str) -> list[str]:
    """What starts a command on a node of a cluster, with its input and output here.

    Raises:
        SlurmError: there is no `srun` here, or the partition has no possible name.
    """
    return [_command("srun"), f"--job-name={_JOB}", "--ntasks=1", "--unbuffered", *_options(host)]


def run_shares(
    host: str,
    folder: Path,
    command: Sequence[str],
    shares: int,
    *,
    minutes: int,
    gpu: bool,
    progress: Callable[[int], None],
) -> None:
    """Runs a command for each share of some work, as a job array, and waits until all have ended.

    A share whose result is there already, from an earlier call, is not run again; an array that still runs is
    waited for. When this is left by an interrupt, the job is cancelled.

    Args:
        folder: on the shared file system. A share's result is its file `results/SHARE.json`, which appears
            whole; what it prints is in `logs/SHARE.txt`.
        command: its words; the options --shares, --share (from 0) and --output, a path in the folder, follow.
        gpu: whether a share needs one.
        minutes: of each share.
        progress: receives the number of results.

    Raises:
        SlurmError: Slurm refuses the job or does not answer, or shares have ended without a result.
        OSError: the folder cannot be written.
    """
    for name in ("results", "logs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    record = folder / "job"
    job = record.read_text("ascii").strip() if record.is_file() else ""
    if not job or not _runs(job):
        missing = _missing(folder, shares)
        if not missing:
            return
        script = folder / "share.sh"
        write_atomically(script, _SCRIPT.format(command=shlex.join(command), shares=shares).encode())
        job = _submit([*_options(host, gpu=gpu), f"--time={minutes}"], folder, script, missing)
        write_atomically(record, job.encode())
    try:
        _wait(job, folder, shares, progress)
    except SlurmError:
        raise
    except BaseException:
        with contextlib.suppress(OSError):
            subprocess.run(["scancel", job], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        raise
    record.unlink()
    if missing := _missing(folder, shares):
        raise SlurmError(
            _INCOMPLETE.of(count=len(missing)),
            why=_last_line(folder / "logs" / f"{missing[0]}.txt"),
            hint=_ONCE_MORE,
        )


def shares_of(count: int, size: int) -> int:
    """The number of shares for `count` pieces of work, `size` in each, as far as an array allows."""
    return min(_MOST_SHARES, -(-count // size))


def _command(name: str) -> str:
    if shutil.which(name) is None:
        raise SlurmError(_NO_COMMANDS.of(command=name), why=_LOGIN_NODE, hint=_RUN_THERE)
    return name


def _options(host: str, *, gpu: bool = True) -> list[str]:
    """The options of a job: the partition, and a GPU where Slurm manages them there."""
    match = _NAME.fullmatch(host)
    partition = match[1] if match else None
    if partition is None:
        named = []
    elif _PARTITION.fullmatch(partition) and not partition.startswith("-"):
        named = [f"--partition={partition}"]
    else:
        raise SlurmError(_NO_PARTITION.of(name=partition))
    if not gpu:
        return named
    found = run_captured([_command("sinfo"), "--noheader", "--format=%G", *named])
    return [*named, *(["--gres=gpu:1"] if re.search(r"\bgpu\b", found.stdout) else [])]


def _submit(options: Sequence[str], folder: Path, script: Path, shares: Sequence[int]) -> str:
    """The number of a new job array."""
    command = [_command("sbatch"), "--parsable", f"--job-name={_JOB}", "--ntasks=1", *options]
    command += [f"--array={_ranges(shares)}", "--output=logs/%a.txt", "--open-mode=truncate"]
    done = run_captured([*command, str(script)], folder=folder)
    match = re.match(r"\d+", done.stdout)
    if done.status != 0 or match is None:
        raise SlurmError(
            _REFUSED, why=done.last_message, hint=_TRY.of(command=shlex.join(["srun", *options, "true"]))
        )
    return match[0]


def _wait(job: str, folder: Path, shares: int, progress: Callable[[int], None]) -> None:
    while _runs(job):
        progress(shares - len(_missing(folder, shares)))
        time.sleep(_PAUSE)
    progress(shares - len(_missing(folder, shares)))


def _runs(job: str) -> bool:
    """Whether a job waits or runs. Raises SlurmError where the controller does not answer for long."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        done = run_captured([_command("squeue"), "--noheader", f"--jobs={job}", "--format=%T"])
        if done.status == 0 and not done.timed_out:
            return bool(done.stdout.strip())
        if _GONE in done.stderr:
            return False
        if time.monotonic() > deadline:
            raise SlurmError(_LOST, why=done.last_message, hint=_CONTINUES.of(job=job))
        time.sleep(_PAUSE)


def _missing(folder: Path, shares: int) -> list[int]:
    there = {path.name for path in (folder / "results").iterdir()}
    return [share for share in range(shares) if f"{share}.json" not in there]


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as `--array` takes them: 0-3,7."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def _last_line(log: Path) -> str | None:
    with contextlib.suppress(OSError):
        lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
        return lines[-1] if lines else None
    return None
