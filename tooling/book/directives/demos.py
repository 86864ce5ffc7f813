"""Demo programs next to a page; their output is recorded."""

from __future__ import annotations

from pathlib import Path

from tooling.book import recordings
from tooling.book.editions import editions
from tooling.book.errors import BookError
from tooling.book.page import PageContext, Words
from tooling.book.recordings import Recording
from tooling.platform.regular_files import names_file
from tooling.project import Project

_TIME_LIMIT = 120.0  # seconds


def demo(page: PageContext, words: Words) -> str:
    """`{{#demo FILE}}`: what the program FILE next to the source page printed, in a fence."""
    recording = recordings.load(*demo_recording(page.puzzle_index.project, demo_file(page, words)))
    return "```text\n" + "\n".join(recording.lines) + "\n```\n"


def demo_file(page: PageContext, words: Words) -> Path:
    """The program, which all languages share.

    Raises:
        BookError: there is no program of that name.
    """
    (name,) = words
    path = editions(page.puzzle_index.project)[0].page(page.path).parent / name
    if not names_file(path):
        raise BookError(f"there is no program `{name}` beside the page", why=str(path))
    return path


def demo_recording(project: Project, program: Path) -> tuple[Path, str]:
    """The folder and the name of a recording: `tests/data/outputs/p01` and `preview.demo`."""
    puzzle = program.parent.name.replace("puzzle_", "p")
    return recordings.recordings_folder(project, puzzle), f"{program.stem}.demo"


def record(project: Project, program: Path) -> Recording:
    """Builds a program and runs it on the simulated GPU.

    Raises:
        BookError: it fails.
        ToolingError: it cannot be built or simulated here.
    """
    from tooling.target_run import RunOptions, simulated_run  # noqa: PLC0415 - pages are mostly set without a run
    from tooling.targets.model import Absence, TargetKind  # noqa: PLC0415
    from tooling.targets.probing import probe  # noqa: PLC0415
    from tooling.toolchain import BuildRequest, build, find_toolchain, open_cache  # noqa: PLC0415

    target = probe(TargetKind.SIM)
    if isinstance(target, Absence):
        raise BookError("there is no simulated GPU here", why=target.reason, hint=target.hint)
    toolchain = find_toolchain()
    request = BuildRequest(program, accelerator=target.accelerator, includes=(project.problems,))
    executable = build(request, toolchain, open_cache())
    done = simulated_run([executable.path], RunOptions(time_limit=_TIME_LIMIT))
    transcript = done.transcript
    if transcript.status != 0 or done.findings:
        kinds = ", ".join(finding.kind.value for finding in done.findings)
        why = transcript.stderr[-500:] or f"the simulated GPU found: {kinds}"
        raise BookError(f"{program.name} is not a correct example", why=why)
    return Recording(
        command=program.name,
        state="demo",
        target=target.device,
        mojo=toolchain.version,
        program=recordings.digest(program),
        exit_status=transcript.status,
        lines=tuple(transcript.stdout.splitlines()),
    )
