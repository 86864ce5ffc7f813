"""Replays of runs: recorded like outputs, each a page of its own that opens over the page of the book."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tooling.book.chapters import chapter_files
from tooling.book.directives import verdicts
from tooling.book.editions import Edition, editions
from tooling.book.errors import BookError, malformed
from tooling.book.page import PageContext, Words
from tooling.book.phrases import say
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.recordings import STATES, digest_texts, program_files, recording_name, recordings_folder
from tooling.book.verdict_recordings import digest_of, portable_finding
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import TensorApi
from tooling.mdbook.includes import find_directives
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location
from tooling.platform.regular_files import TEXT_LIMIT, read_regular, read_text
from tooling.project import Project
from tooling.replay.trace import VERSION, Trace, require_valid_counts

FOLDER = "replays"
"""Of the pages, below the root of an edition."""
MOST_BYTES = 350_000
_FINDINGS = 20_000
"""Bytes that are kept free for the sentences of findings, and what identifies the run."""
SOLVED = "solved"
"""The state of a replay of the solution."""
_FOLD = '<details class="solution-details">'
_REMARK = re.compile(r" ?(\([^()]+\))$")  # what a link reveals, after what it does


class Replay(Struct, frozen=True):
    """A recorded replay.

    Attributes:
        command, state, target, mojo, program: as in `recordings.Recording`.
        digest: of `trace`.
    """

    command: str
    state: str
    target: str
    mojo: str
    program: str
    digest: str
    trace: Trace

    @property
    def title(self) -> str:
        """What was recorded: the command, and the name of a wrong answer."""
        return self.command if self.state in STATES else f"{self.command} · {self.state}"


def replay(page: PageContext, words: Words) -> str:
    """`{{#replay PROGRAM [FLAGS] [unsolved|MUTANT]}}`: a link that opens a recorded replay."""
    selection, state = parse_words(page, words)
    load(replay_path(page.puzzle_index.project, selection, state))  # raises if it was never recorded
    return _link(page, selection, state, "")


def figure_links(page: PageContext, name: str) -> str:
    """The links to the replays of the run that a figure was drawn from; empty if it shows no single run.

    They are those that the page itself shows, else those of one program of the puzzle. A figure inside a
    folded solution gets none: there the page has its own directives.
    """
    before = page.text.partition(f"{{{{#figure {name}}}}}")[0]
    _, folded, inside = before.rpartition(_FOLD)
    if folded and "</details>" not in inside:
        return ""
    from tooling.book.figures import find_figure  # noqa: PLC0415 - it imports much, for few pages
    from tooling.book.figures.traces import traced_run  # noqa: PLC0415

    traces = find_figure(name).traces
    if len(traces) != 1:
        return ""
    traced, _ = traced_run(page.puzzle_index, traces[0])
    shown = [(selection, state) for selection, state in replays_of(page) if same_run(selection, traced)]
    links = [_link(page, *each, "figure-") for each in shown or _recorded(page, traced)]
    return f'<p class="replays">{" ".join(links)}</p>\n' if links else ""


def same_run(one: Selection, other: Selection) -> bool:
    """Whether both are the same mode of a puzzle, perhaps of different programs."""
    return (one.puzzle.id, one.mode) == (other.puzzle.id, other.mode)


def replays_of(page: PageContext) -> Iterator[tuple[Selection, str]]:
    """What the replays of a page show: the run, and the state or the name of a wrong answer.

    Raises:
        ToolingError: a directive names no run.
    """
    for directive in find_directives(page.text):
        if directive.name == "replay":
            yield parse_words(page, directive.argument.split())


def _recorded(page: PageContext, traced: Selection) -> list[tuple[Selection, str]]:
    """The recorded replays of a mode: of the first program that has some, TileTensor first."""
    for program in sorted(traced.puzzle.programs, key=lambda each: each.api is not TensorApi.TILE_TENSOR):
        selection = replace(traced, program=program)
        start, end = replay_path(page.puzzle_index.project, selection, "*").name.split("*")
        files = replay_path(page.puzzle_index.project, selection, "").parent.glob(f"{start}*{end}")
        states = [file.name.removeprefix(start).removesuffix(end) for file in files]
        found = sorted((each for each in states if "." not in each), key=lambda each: (each != SOLVED, each))
        if found:
            return [(selection, state) for state in found]
    return []


def _link(page: PageContext, selection: Selection, state: str, kind: str) -> str:
    """Args: kind: `figure-` outside a folded solution, where the link says what it reveals."""
    key = f"replay-{kind}solution" if state == SOLVED and selection.mode.hints else "replay-run"
    if state not in STATES:
        key = f"replay-{kind}wrong"
    address = f"{page.up}{FOLDER}/{page_name(selection, state)}"
    says = {name: escape(say(name, page.language)) for name in ("close", "enlarge")}
    label = _REMARK.sub(r" <small>\1</small>", escape(say(key, page.language)))
    if len({shown.mode.name for shown, _ in replays_of(page)}) > 1:
        label += f" <code>{escape(' '.join(selection.mode.flags))}</code>"
    data = " ".join(f'data-{name}="{text}"' for name, text in says.items())
    return f'<a class="replay" href="{address}" {data}>{label}</a>'


def parse_words(page: PageContext, words: Words) -> tuple[Selection, str]:
    """The run that a directive names, and whose it is: `solved`, `unsolved` or the name of a wrong answer.

    Raises:
        BookError: there is no such answer.
    """
    name, *rest = words
    named = [word for word in rest if not word.startswith("-")]
    if len(named) > 1:
        raise BookError(f"{{{{#replay {' '.join(words)}}}}} names {len(named)} answers, and one can be shown")
    selection = page.puzzle_index.selection(name, [word for word in rest if word.startswith("-")])
    state = named[0] if named else SOLVED
    if state not in STATES:
        verdicts.find_mutant(page.puzzle_index, selection, state)
    return selection, state


def replay_path(project: Project, selection: Selection, state: str) -> Path:
    """The file of a recorded replay."""
    folder = recordings_folder(project, selection.puzzle.id)
    return folder / f"{recording_name(selection, state)}.replay.json"


def page_name(selection: Selection, state: str) -> str:
    """The file of its page."""
    return f"{recording_name(selection, state)}.html"


def load(path: Path) -> Replay:
    """Reads a recorded replay.

    Raises:
        BookError: missing, not a replay, in another version of the format, or edited.
    """
    again = f"record it again with `tooling book outputs --update {path.name.partition('.')[0]}`"
    try:
        recorded = msgspec.json.decode(read_regular(path, limit=TEXT_LIMIT), type=Replay)
    except FileNotFoundError as error:
        raise BookError(
            f"this replay was never recorded: {path.name}",
            why="pages show only what a program did",
            hint=f"record it with `tooling book outputs --update {path.name.partition('.')[0]}`",
        ) from error
    except msgspec.MsgspecError as error:
        raise malformed("replay", path, error) from error
    if recorded.trace.version != VERSION:
        raise BookError(
            f"{path.name} is a replay in version {recorded.trace.version} of its format",
            why=f"pages show version {VERSION}",
            hint=again,
        )
    if recorded.digest != digest_of(recorded.trace):
        raise BookError(
            "this replay was edited after it had been recorded",
            where=Location(path),
            why="pages show only what a program did",
            hint=again,
        )
    try:
        require_valid_counts(recorded.trace)
    except ValueError as error:
        raise malformed("replay", path, error) from error
    return recorded


def save(path: Path, recorded: Replay) -> None:
    """Writes a replay, a step a line.

    Raises:
        BookError: it is too large for a page.
    """
    content = msgspec.json.encode(recorded).replace(b'},{"kind":', b'},\n{"kind":') + b"\n"
    if len(content) > MOST_BYTES:
        raise BookError(
            f"the replay of {recorded.title} has {len(content)} bytes",
            why=f"a page of the book may load {MOST_BYTES}",
            hint="show a run with fewer threads or steps",
        )
    write_atomically(path, content)


def program_of(project: Project, selection: Selection, state: str) -> dict[str, str]:
    """The files of the program, by name, the main one first."""
    if state != SOLVED:
        return verdicts.answer(project, selection, state)
    files = program_files(selection.program, state)
    return {
        source.name: read_text(file) for source, file in zip(selection.program.sources, files, strict=True)
    }


def record(project: Project, selection: Selection, state: str, target: str) -> Replay:
    """Builds and runs a program on a simulated GPU, and records it.

    Raises:
        BookError: it launches no kernel.
        ToolingError: it cannot be built or run here.
    """
    # Not imported at the top: pages are mostly set without a run.
    from tooling.replay.names import functions_between  # noqa: PLC0415
    from tooling.replay.running import BlockSelection, record_finding  # noqa: PLC0415
    from tooling.target_run import RunOptions  # noqa: PLC0415
    from tooling.targets.selection import choose  # noqa: PLC0415
    from tooling.toolchain import find_toolchain  # noqa: PLC0415
    from tooling.toolchain.cache import usable_cache  # noqa: PLC0415
    from tooling.trials import Trial, build_trial, environment_of  # noqa: PLC0415

    toolchain, cache = find_toolchain(), usable_cache()
    files, program = program_of(project, selection, state), selection.program
    source = program.solution if state == SOLVED else program.problem
    if state not in STATES:
        source = cache.store_program(program.solution, files)
    trial = Trial(selection, choose(selection, target), source, solution=True)
    executable = build_trial(project, trial, toolchain, cache)
    options = RunOptions(
        environment=environment_of(executable), time_limit=trial.limit, gpus=selection.mode.gpus
    )
    command = [*executable.command, *selection.mode.flags]
    anchors = selection.mode.anchors.get(program.name, ())
    wanted = BlockSelection(
        kernels=functions_between("\n".join(files.values()), anchors), most_bytes=MOST_BYTES - _FINDINGS
    )
    trace = record_finding(command, trial.choice.target, options, wanted).trace
    if trace is None:
        raise BookError(f"{selection.command} ({state}) launches no kernel that could be recorded")
    trace = replace(
        trace,
        marks=tuple(replace(mark, finding=portable_finding(mark.finding)) for mark in trace.marks),
    )
    device, program_digest = trial.choice.target.device, digest_texts(files.values())
    return Replay(
        selection.command, state, device, toolchain.version, program_digest, digest_of(trace), trace
    )


def shown_replays(
    project: Project, every: Sequence[Edition] | None = None
) -> Iterator[tuple[Selection, str]]:
    """The replays that some page of some edition shows.

    Raises:
        BookError: a directive names no run.
    """
    puzzle_index = PuzzleIndex(project)
    seen: set[str] = set()
    for edition in every or editions(project):
        for chapter in chapter_files(edition):
            if "{{#replay" not in chapter.text:
                continue
            page = PageContext(edition, chapter.path, chapter.text, puzzle_index)
            for directive in find_directives(chapter.text):
                if directive.name == "replay":
                    selection, state = parse_words(page, directive.argument.split())
                    if page_name(selection, state) not in seen:
                        seen.add(page_name(selection, state))
                        yield selection, state
