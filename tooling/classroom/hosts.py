"""Judges the answers of a class on other machines, each with a checkout of its own, over `ssh`."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.classroom.judging import Judged
from tooling.classroom.shares import Work, version_of
from tooling.execution.channel import LabFolder
from tooling.execution.program import Ending
from tooling.platform.atomic_write import write_atomically
from tooling.platform.processes import temporary_folder
from tooling.platform.state_file import encoded, read_json
from tooling.platform.workers import program_pool
from tooling.project import find_project
from tooling.remote.connection import Connection, HostError
from tooling.remote.runs import run_script
from tooling.standalone import class_share
from tooling.text import Text
from tooling.toolchain import BuildCache

_ANSWERS_OF_A_SHARE = 16
_SECONDS_OF_AN_ANSWER = 600  # a build, and every run to its limit
_LAST_LINES = 4  # of what the tool says there

_NO_CHECKOUT = Text("there is no checkout with an environment of Python in `{folder}` of `{host}`")
_MAKE_IT = Text("clone it there, and run `bash .ci/uv && .uv/bin/uv sync` in the folder")
_FAILED = Text("`{host}` could not judge the answers")
_ENDED = Text("it ended with status {status}")


class Judge(Struct, frozen=True):
    """A machine, and the folder of the checkout there; `~` is the home of the account there."""

    host: str
    folder: str


def judge_on_hosts(
    judges: Sequence[Judge], work: Work, cache: BuildCache, progress: Callable[[int, int], None]
) -> tuple[list[Judged], list[HostError]]:
    """The results of all answers, and the errors of machines that were lost: others took over their work.

    What was judged stays in the cache until all is: the same call continues it.

    Args:
        progress: receives how many answers of how many are judged.

    Raises:
        HostError: no machine is left.
    """
    text = encoded(replace(work, version=version_of(find_project(Path(work.root)))))
    folder = cache.root / "collect" / hashlib.sha256(text).hexdigest()[:20]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    shares = -(-len(work.answers) // _ANSWERS_OF_A_SHARE)
    results = [folder / f"{share}.json" for share in range(shares)]
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()

    def judge_shares(judge: Judge) -> HostError | None:
        """Judges shares until none waits, or the machine is lost."""
        try:
            with contextlib.closing(Connection(judge.host)) as connection, contextlib.suppress(queue.Empty):
                while True:
                    share = waiting.get_nowait()
                    judged = _judge_there(connection, judge, text, (shares, share))
                    write_atomically(results[share], judged)
                    done = sum(path.is_file() for path in results) * _ANSWERS_OF_A_SHARE
                    progress(min(done, len(work.answers)), len(work.answers))
        except HostError as error:
            return error
        return None

    lost: list[HostError] = []
    left = list(judges)
    while missing := [share for share, path in enumerate(results) if not path.is_file()]:
        if not left:
            raise lost[0]
        for share in missing:
            waiting.put(share)
        with program_pool(len(left)) as pool:
            ended = list(pool.map(judge_shares, left))
        lost += [error for error in ended if error is not None]
        left = [judge for judge, error in zip(left, ended, strict=True) if error is None]
    judged = [each for path in results for each in read_json(path, tuple[Judged, ...])]
    shutil.rmtree(folder)
    return judged, lost


def _judge_there(host: Connection, judge: Judge, work: bytes, share: tuple[int, int]) -> bytes:
    """The results of a share, as the tool there writes them.

    Args:
        share: how many shares there are, and which one this is, from 0.

    Raises:
        HostError: the connection was lost, there is no such checkout, or it cannot judge.
    """
    with temporary_folder("gpu-puzzle-collect-") as folder:
        lab = LabFolder(folder)
        lab.create()
        arguments = [judge.folder, *map(str, share)]
        limit = _SECONDS_OF_AN_ANSWER * _ANSWERS_OF_A_SHARE
        done = run_script(host, Path(class_share.__file__), arguments, work, lab, time_limit=limit)
        if done.status == class_share.NO_CHECKOUT:
            raise HostError(_NO_CHECKOUT.of(folder=judge.folder, host=judge.host), hint=_MAKE_IT)
        found = folder / "out" / "judged.uint8.bin"
        if done.ending is not Ending.EXITED or done.status or not found.is_file():
            said = "\n".join(done.stderr.splitlines()[-_LAST_LINES:])
            raise HostError(_FAILED.of(host=judge.host), why=said or _ENDED.of(status=done.status))
        return found.read_bytes()
