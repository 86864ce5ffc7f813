"""`tooling collect`: judges the answers of a class."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from tooling.commandline.options import CollectOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tooling.classroom.judging import Judged
    from tooling.reports.terminal import Terminal

_POINTS = Text("{points} of {most} points")
_WRITTEN = Text("the reports are in {folder}: results.html, results.csv, junit.xml, students/")
_NOT_JUDGED = Text("{count} results could not be judged: {student}: {command}: {why}")


def collect_command(options: CollectOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.classroom.judging import Rules, judge_answer
    from tooling.classroom.reports import ClassResults, tasks_of, write_reports
    from tooling.classroom.students import answers_of, students_of, wanted_programs
    from tooling.execution.sandbox import find_sandbox
    from tooling.platform.machine_watch import Allowance
    from tooling.platform.output_folder import OutputFolder
    from tooling.platform.workers import map_in_processes
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal
    from tooling.toolchain import find_toolchain
    from tooling.toolchain.cache import usable_cache

    project = find_project()
    output = OutputFolder.claim(options.output, "tooling collect", project.sources)
    allowance = Allowance(memory=int(options.memory * 2**30))
    rules = Rules(
        project=project,
        toolchain=find_toolchain(),
        cache=usable_cache(language=options.lang),
        sandbox=find_sandbox(allowance, (project.root,)),
        target=options.target,
        time_limit=options.timeout,
        language=options.lang,
    )
    programs = wanted_programs(load_catalogue(project), options.puzzle)
    terminal = open_terminal(sys.stdout)
    with students_of(options.sources) as students:
        answers = answers_of(students, programs, options.lang)
    judging = partial(judge_answer, programs=programs, rules=rules)
    found = map_in_processes(judging, answers, max(1, options.jobs), ordered=False)
    judged = _shown(found, len(answers), terminal)
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


def _shown(found: Iterable[list[Judged]], count: int, terminal: Terminal) -> list[Judged]:
    """The results in the order of students and programs, with progress in a terminal."""
    judged: list[Judged] = []
    for number, own in enumerate(found, 1):
        judged += own
        if terminal.stream.isatty():
            terminal.stream.write(f"\r{number}/{count}\r")
            terminal.stream.flush()
    return sorted(judged, key=lambda each: (each.student, each.command))
