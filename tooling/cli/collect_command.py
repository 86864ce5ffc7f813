"""`tooling collect`: judges the answers of a class."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from tooling.commandline.options import CollectOptions
from tooling.commandline.parser import UsageError
from tooling.platform.exit_codes import ExitCode
from tooling.remote.slurm import is_slurm
from tooling.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tooling.classroom.hosts import Judge
    from tooling.classroom.judging import Judged
    from tooling.classroom.shares import Work
    from tooling.reports.terminal import Terminal

_NO_FOLDER = Text("`--on {host}` does not name a folder")
_WITH_FOLDER = Text("`--on HOST:FOLDER`, the folder of a checkout there, or `--on slurm`")
_LOST = Text("{what}; other machines judged its answers")
_POINTS = Text("{points} of {most} points")
_WRITTEN = Text("the reports are in {folder}: results.html, results.csv, junit.xml, students/")
_NOT_JUDGED = Text("{count} results could not be judged: {student}: {command}: {why}")


def collect_command(options: CollectOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.classroom.reports import ClassResults, tasks_of, write_reports
    from tooling.classroom.shares import Work
    from tooling.classroom.students import answers_of, students_of, wanted_programs
    from tooling.platform.output_folder import OutputFolder
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    judge: Callable[[Work, Terminal], list[Judged]] = partial(_judge_here, options.jobs)
    if options.on is not None and is_slurm(options.on):
        judge = partial(_judge_on_cluster, options.on)
    elif options.on is not None:
        judge = partial(_judge_on_hosts, _judges_of(options.on))
    project = find_project()
    output = OutputFolder.claim(options.output, "tooling collect", project.sources)
    programs = wanted_programs(load_catalogue(project), options.puzzle)
    terminal = open_terminal(sys.stdout)
    with students_of(options.sources) as students:
        answers = answers_of(students, programs, options.lang)
    work = Work(
        root=str(project.root),
        puzzles=options.puzzle,
        target=options.target,
        memory=options.memory,
        time_limit=options.timeout,
        language=options.lang,
        answers=tuple(answers),
    )
    judged = sorted(judge(work, terminal), key=lambda each: (each.student, each.command))
    names = tuple(student.name for student in students)
    results = ClassResults(names, tasks_of(judged), tuple(judged))
    with output.replaced() as folder:
        write_reports(results, folder, options.lang)
    for student in results.students:
        points = _POINTS.of(points=results.score(student), most=len(results.tasks)).render(options.lang)
        terminal.line(f"{_in_a_line(student)}: {points}")
    terminal.line(_WRITTEN.of(folder=output.path).render(options.lang))
    lacking = [each for each in judged if each.status == "error"]
    if lacking:
        first = lacking[0]
        said = _NOT_JUDGED.of(
            count=len(lacking),
            student=_in_a_line(first.student),
            command=first.command,
            why=_in_a_line(first.message),
        )
        terminal.line(terminal.paint(said.render(options.lang), "red"))
        return ExitCode.NOT_POSSIBLE
    return ExitCode.PASSED


def _in_a_line(text: str) -> str:
    from tooling.reports.files import printable

    return printable(text).replace("\n", " ")


def _judge_here(jobs: int, work: Work, terminal: Terminal) -> list[Judged]:
    from tooling.classroom.shares import judge_share

    judged: list[Judged] = []
    for number, own in enumerate(judge_share(work, jobs=max(1, jobs)), 1):
        judged += own
        _show_progress(terminal, number, len(work.answers))
    return judged


def _judge_on_cluster(host: str, work: Work, terminal: Terminal) -> list[Judged]:
    from tooling.classroom.cluster import judge_on_cluster
    from tooling.toolchain.cache import usable_cache

    return judge_on_cluster(host, work, usable_cache(), partial(_show_progress, terminal))


def _judge_on_hosts(judges: Sequence[Judge], work: Work, terminal: Terminal) -> list[Judged]:
    from tooling.classroom.hosts import judge_on_hosts
    from tooling.toolchain.cache import usable_cache

    judged, lost = judge_on_hosts(judges, work, usable_cache(), partial(_show_progress, terminal))
    for error in lost:
        error.speak(work.language)
        what = f"{error.what}: {error.why}" if error.why else error.what
        said = _LOST.of(what=what).render(work.language)
        terminal.line(terminal.paint(_in_a_line(said), "yellow"))
    return judged


def _judges_of(on: str) -> list[Judge]:
    """The machines of `--on HOST:FOLDER,…`, and their checkouts.

    Raises:
        UsageError: one has no folder.
    """
    from tooling.classroom.hosts import Judge

    judges = []
    for named in on.split(","):
        host, _, folder = named.strip().partition(":")
        if not folder:
            raise UsageError(_NO_FOLDER.of(host=named), hint=_WITH_FOLDER)
        judges.append(Judge(host, folder))
    return judges


def _show_progress(terminal: Terminal, done: int, count: int) -> None:
    if terminal.stream.isatty():
        terminal.stream.write(f"\r{done}/{count}\r")
        terminal.stream.flush()
