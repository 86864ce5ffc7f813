"""The options of every command: type, default, help and choices of each, in one place."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from msgspec import Struct, field

from tooling.commandline.fields import BadValue, Flags, Option, Positional
from tooling.platform.suggestions import nearest, proposal
from tooling.remote.default_host import default_host
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.text import ENGLISH, Text, known_language, languages

TargetName = Literal["auto", "nvidia", "amd", "apple", "sim", "sim-amd", "sim-gfx1100"]
SimulatedName = Literal["sim", "sim-amd", "sim-gfx1100"]
SimulatedGpu = Literal["nvidia", "gfx942", "gfx1100"]
SubjectName = Literal["solution", "skeleton", "mutant"]
CHECKS = ("memory", "races", "initialisation", "synchronisation")
LONGEST_SIMULATION = 600.0  # seconds
MOST_GPUS = 8

_NO_CHECK = Text("there is no check `{name}`: {known} or none")
_NO_SECONDS = Text("must be a positive number of seconds, not {text}")
_NOT_POSITIVE = Text("must be a positive number, not {text}")
_NO_INTEGER = Text("must be an integer of at least {least}, not {text}")
_NO_SCHEDULE = Text("`{text}` is not a schedule: lockstep, random:SEED, adversarial or adversarial:BLOCKS")
_NO_POSITION = Text("must be a position such as 3 or 3,1, not {text}")
_MORE_THAN_8 = Text("must be at most 8, not {text}")
_NO_GPUS = Text("must be a number of GPUs from 1 to {most}, not {text}")
_NO_PORT = Text("must be a port number from 0 to 65535, not {text}")


def check_names(text: str) -> frozenset[str]:
    """The checks of a list such as `memory,races`."""
    names = frozenset(name.strip() for name in text.split(",")) - {"none"}
    unknown = sorted(names.difference(CHECKS))
    if unknown:
        near = nearest(unknown[0], (*CHECKS, "none"))
        raise BadValue(
            _NO_CHECK.of(name=unknown[0], known=", ".join(CHECKS)), proposal(near) if near else None
        )
    return names


def seconds(text: str) -> float:
    """A positive number of seconds."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise BadValue(_NO_SECONDS.of(text=text))
    return value


def positive(text: str) -> float:
    """A positive number."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise BadValue(_NOT_POSITIVE.of(text=text))
    return value


def at_least_0(text: str) -> int:
    """An integer that is not negative."""
    return _integer(text, 0)


def at_least_1(text: str) -> int:
    """A positive integer."""
    return _integer(text, 1)


def _integer(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise BadValue(_NO_INTEGER.of(least=least, text=text))
    return int(text)


def schedule_name(text: str) -> str:
    """The order in which the simulated GPU runs its groups of threads."""
    if re.fullmatch(r"lockstep|adversarial(:[1-9]\d*)?|random:\d+", text):
        return text
    near = nearest(text.partition(":")[0], ("lockstep", "random:SEED", "adversarial"))
    raise BadValue(_NO_SCHEDULE.of(text=text), proposal(near) if near else None)


def gpu_count(text: str) -> int:
    """The number of GPUs that are simulated."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_GPUS:
        raise BadValue(_NO_GPUS.of(most=MOST_GPUS, text=text))
    return int(text)


def _processors() -> int:
    return os.cpu_count() or 1


def preset_language() -> str:
    """The language of the environment: PUZZLE_LANG, or else that of the locale; English if it is unknown."""
    names = ("PUZZLE_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    chosen = next((value for name in names if (value := os.environ.get(name))), "")
    return known_language(chosen) or ENGLISH


def host_of(on: str | None, target: str | None) -> str:
    """The machine of a run; empty: this one.

    It is that of `--on`; unless a target is named, that of PUZZLE_ON, or else the one that is remembered.
    """
    if on is not None or target:
        return on or ""
    if "PUZZLE_ON" in os.environ or "PUZZLE_TARGET" in os.environ:
        return os.environ.get("PUZZLE_ON", "")
    return default_host()


# Fields that several commands have.

Puzzles = Annotated[
    tuple[str, ...],
    Positional(Text("p15, or a variant such as p15_tile_tensor; p5, 5 and P05 mean p05 (default: all)")),
]
Target = Annotated[
    TargetName | None,
    Option(Text("where to run (default: PUZZLE_TARGET, else the first GPU found, else the simulated one)")),
]
On = Annotated[
    str | None,
    Option(
        Text(
            "the GPU of another machine, which `ssh` reaches by this name, or of a cluster: "
            "slurm[:PARTITION] (default: PUZZLE_ON)"
        ),
        "HOST",
        read=str,
    ),
]
Timeout = Annotated[float, Option(Text("time limit in seconds"), "S", read=seconds)]
Check = Annotated[
    frozenset[str] | None,
    Option(
        Text(
            "of the simulated GPU's checks only these, separated by commas: {checks}, none (default: all)"
        ).of(checks=", ".join(CHECKS)),
        "LIST",
        alternative="checks",
        read=check_names,
    ),
]
Gpus = Annotated[
    int | None,
    Option(
        Text("how many GPUs to simulate, 1 to {most} (default: PUZZLE_GPUS, else what the program needs)").of(
            most=MOST_GPUS
        ),
        "N",
        read=gpu_count,
    ),
]
NoCheck = Annotated[
    bool,
    Option(Text("without the checks: faster, and nothing but the result is judged"), alternative="checks"),
]


def report(text: Text) -> Option:
    """An option that writes a report: to the file that follows it, or to stdout.

    A puzzle or a program after it is an argument of the command: `tooling run --json p05`.
    """
    return Option(text, "[FILE]", bare="-", follows=r"-|(?!p?\d+(_\w+)?$|.*\.(mojo|py)$)[^-].*")


JsonFile = Annotated[str | None, report(Text("write the result as JSON (default: to stdout)"))]
JunitFile = Annotated[str | None, report(Text("write the result as JUnit XML (default: to stdout)"))]
Language = Annotated[
    str,
    Option(
        Text("language of explanations and hints (default: PUZZLE_LANG, else the locale's, else en)"),
        choices=languages,
    ),
]


class PuzzleRunOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling run`."""

    puzzles: Annotated[
        tuple[str, ...],
        Positional(
            Text(
                "p15, or a variant such as p15_tile_tensor; p5, 5 and P05 mean p05; several may be given, "
                "each followed by its flags"
            ),
            "puzzle",
        ),
    ]
    target: Target = None
    on: On = None
    solution: Annotated[bool, Option(Text("run the solution instead of the problem file"))] = False
    timeout: Annotated[float | None, Option(Text("time limit in seconds"), "S", read=seconds)] = None
    gpus: Gpus = None
    check: Check = None
    no_check: NoCheck = False
    hint: Annotated[int | None, Option(Text("show a hint (the first, or number N)"), "N", bare="1")] = None
    json: JsonFile = None
    junit: JunitFile = None
    lang: Language = field(default_factory=preset_language)
    flags: Annotated[tuple[str, ...], Flags()] = ()

    @property
    def named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The puzzles, each with the flags behind it; argparse takes later puzzles for flags.

        A further word without the form of a puzzle's name, such as `tiled`, is taken for a flag.
        """
        found: list[tuple[str, tuple[str, ...]]] = []
        for word in (*self.puzzles, *self.flags):
            if found and not re.fullmatch(r"p?\d+(_\w+)?|.*\.(mojo|py)", word, re.IGNORECASE):
                name, flags = found.pop()
                found.append((name, (*flags, word)))
            else:
                found.append((word, ()))
        return tuple(found)

    @property
    def checks(self) -> frozenset[str] | None:
        """The names of the checks that were chosen; None: all."""
        return frozenset() if self.no_check else self.check


class ListOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling list`."""

    words: Annotated[
        tuple[str, ...],
        Positional(Text("only puzzles with these words in their title, name, flags or summary"), "WORD"),
    ] = ()
    todo: Annotated[bool, Option(Text("only what is not solved yet"))] = False
    part: Annotated[str | None, Option(Text("only the puzzles of one part of the book, such as VI"))] = None
    modes: Annotated[
        bool, Option(Text("every command with its tensor API, kind and GPUs (of a single puzzle by default)"))
    ] = False
    plain: Annotated[bool, Option(Text("print the list, also in a terminal"))] = False
    json: Annotated[str | None, report(Text("write the list as JSON (default: to stdout)"))] = None
    lang: Language = field(default_factory=preset_language)


class TargetsOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling targets`."""

    on: On = None
    default: Annotated[
        bool,
        Option(Text("runs use the machine of --on from now on; without --on: this machine again")),
    ] = False
    lang: Language = field(default_factory=preset_language)


class CleanOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling clean`."""

    on: On = None
    lang: Language = field(default_factory=preset_language)


class VerifyOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling verify`."""

    puzzles: Puzzles = ()
    mode: Annotated[tuple[str, ...], Option(Text("only modes of this name"))] = ()
    part: Annotated[tuple[str, ...], Option(Text("only puzzles of this part, such as VI"))] = ()
    only: Annotated[tuple[SubjectName, ...], Option(Text("only programs of this kind"))] = ()
    failed: Annotated[bool, Option(Text("only what failed last time"), alternative="again")] = False
    resume: Annotated[
        bool,
        Option(
            Text("only what the last run did not come to, since it was ended or a machine was lost"),
            alternative="again",
        ),
    ] = False
    require_all: Annotated[
        bool,
        Option(
            Text(
                "fail where something cannot be tried because this machine lacks what it needs: a GPU, MAX, "
                "PyTorch; gates and benchmarks are skipped all the same"
            )
        ),
    ] = False
    jobs: Annotated[int, Option(Text("programs at a time"))] = field(default_factory=_processors)
    target: Target = None
    on: Annotated[
        str | None,
        Option(
            Text("on other machines, which `ssh` reaches by these names, or a cluster: slurm[:PARTITION]"),
            "HOST,…",
            read=str,
        ),
    ] = None
    judge: Annotated[
        tuple[Path, ...],
        Option(
            Text(
                "run nothing, and judge results that a bundle brought back: results.json, a folder with such "
                "files, or the ZIP file of a workflow's artifact"
            ),
            "ARTIFACT",
        ),
    ] = ()
    json: JsonFile = None
    junit: JunitFile = None


class MatrixBuildOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling matrix build`."""

    puzzles: Puzzles = ()
    accelerator: Annotated[tuple[str, ...], Option(Text("only this one, such as gfx942"), "NAME")] = ()
    jobs: Annotated[int, Option(Text("builds at a time"))] = field(default_factory=_processors)
    json: JsonFile = None
    junit: JunitFile = None


Define = Annotated[
    tuple[str, ...], Option(Text("for the compiler of a .mojo file"), "NAME[=VALUE]", short="D", read=str)
]
Include = Annotated[
    tuple[Path, ...],
    Option(Text("a folder where the compiler of a .mojo file looks for modules"), "FOLDER", short="I"),
]
Kernel = Annotated[
    str,
    Option(
        Text("only launches of kernels with this in their name"), "NAME", group=Text("launches"), read=str
    ),
]
LaunchSkip = Annotated[
    int,
    Option(Text("skip the first N of these launches"), "N", group=Text("launches"), read=at_least_0),
]
LaunchCount = Annotated[
    int | None,
    Option(Text("then at most N launches (default: all)"), "N", group=Text("launches"), read=at_least_1),
]


class SimulateOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling simulate`."""

    check: Check = None
    no_check: NoCheck = False
    schedule: Annotated[
        str,
        Option(
            Text("lockstep (default), random:SEED, adversarial or adversarial:BLOCKS"), read=schedule_name
        ),
    ] = "lockstep"
    gpu: Annotated[
        SimulatedGpu,
        Option(Text("the GPU that the program was built for: nvidia (default), gfx942 or gfx1100 (AMD)")),
    ] = "nvidia"
    gpus: Gpus = None
    timeout: Timeout = LONGEST_SIMULATION
    json: Annotated[str | None, Option(Text("write the findings as JSON"), "FILE")] = None
    suppressions: Annotated[
        Path | None,
        Option(Text("findings to accept: a TOML file of [[suppress]] entries with reasons"), "FILE"),
    ] = None
    unused_memory: Annotated[bool, Option(Text("report device memory that was never written"))] = False
    all_findings: Annotated[bool, Option(Text("print every finding, not a few of each kind"))] = False
    verbose: Annotated[
        bool,
        Option(Text("name the instructions whose last bits may differ on a real GPU"), short="v"),
    ] = False
    kernel_name: Kernel = ""
    launch_skip: LaunchSkip = 0
    launch_count: LaunchCount = None
    define: Define = ()
    include: Include = ()
    lang: Language = field(default_factory=preset_language)
    program: Annotated[tuple[str, ...], Positional(Text("what to run"), "-- COMMAND …", remainder=True)] = ()

    @property
    def checks(self) -> frozenset[str]:
        """The names of the checks that were chosen."""
        if self.no_check:
            return frozenset()
        return frozenset(CHECKS) if self.check is None else self.check

    @property
    def launches(self) -> LaunchSelection:
        """The launches that were selected."""
        return LaunchSelection(self.kernel_name, self.launch_skip, self.launch_count)


class ProfileOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling profile`."""

    puzzle: Annotated[
        str, Positional(Text("p15, a variant such as p15_tile_tensor, a .mojo file, or ./an_executable"))
    ]
    solution: Annotated[bool, Option(Text("the solution instead of the problem file"))] = False
    target: Annotated[SimulatedName, Option(Text("the simulated GPU to run on (default: sim)"))] = "sim"
    gpus: Gpus = None
    timeout: Timeout = LONGEST_SIMULATION
    json: Annotated[str | None, report(Text("write the counters as JSON (default: to stdout)"))] = None
    html: Annotated[str | None, Option(Text("write a page with pictures of the accesses"), "FILE")] = None
    csv: Annotated[
        str | None,
        report(Text("write the metrics as CSV, as `ncu --csv` names them (default: to stdout)")),
    ] = None
    baseline: Annotated[
        Path | None, Option(Text("compare with an earlier profile, written with --json"), "FILE")
    ] = None
    full_size: Annotated[
        bool,
        Option(
            Text(
                "estimate the times of `--benchmark` at the size for a real GPU, from a sample of the blocks"
            )
        ),
    ] = False
    ptx: Annotated[bool, Option(Text("show the instructions of each line"))] = False
    sass: Annotated[
        bool,
        Option(Text("show Mojo, PTX and machine code side by side, with registers (needs the extra `sass`)")),
    ] = False
    kernel_name: Kernel = ""
    launch_skip: LaunchSkip = 0
    launch_count: LaunchCount = None
    define: Define = ()
    include: Include = ()
    lang: Language = field(default_factory=preset_language)
    flags: Annotated[tuple[str, ...], Flags()] = ()

    @property
    def launches(self) -> LaunchSelection:
        """The launches that were selected."""
        return LaunchSelection(self.kernel_name, self.launch_skip, self.launch_count)


class Position(NamedTuple):
    """Of a block in its grid."""

    x: int = 0
    y: int = 0
    z: int = 0


def position(text: str) -> Position:
    """A position in a grid: `3`, `3,1` or `3,1,0`, x first."""
    numbers = text.split(",")
    if len(numbers) > 3 or not all(number.strip().isdecimal() for number in numbers):
        raise BadValue(_NO_POSITION.of(text=text))
    return Position(*map(int, numbers))


def from_1_to_8(text: str) -> int:
    """A number of blocks that a replay can show side by side."""
    number = at_least_1(text)
    if number > 8:
        raise BadValue(_MORE_THAN_8.of(text=text))
    return number


class ReplayOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling replay`."""

    puzzle: Annotated[
        str, Positional(Text("p15, a variant such as p15_tile_tensor, a .mojo file, or ./an_executable"))
    ]
    solution: Annotated[bool, Option(Text("the solution instead of the problem file"))] = False
    html: Annotated[
        str | None,
        Option(Text("write the page there (`-`: to stdout; default: a file in the cache)"), "FILE"),
    ] = None
    open: Annotated[bool, Option(Text("open the page in the browser"))] = False
    target: Annotated[SimulatedName, Option(Text("the simulated GPU to run on (default: sim)"))] = "sim"
    gpus: Gpus = None
    data: Annotated[
        Literal["book", "probe"],
        Option(Text("the program's own data, or the judge's other data (default: book)")),
    ] = "book"
    launch: Annotated[
        int | None,
        Option(
            Text(
                "the launch to record, from 1 (default: that of the first finding, else the first of a "
                "kernel to write, else the first)"
            ),
            "N",
            read=at_least_1,
        ),
    ] = None
    block: Annotated[
        Position | None,
        Option(
            Text(
                "the block to record, by its position in the grid (default: that of the first finding, else "
                "the first)"
            ),
            "X[,Y[,Z]]",
            read=position,
        ),
    ] = None
    blocks: Annotated[
        int,
        Option(Text("how many blocks to record, in x (default: 1, or its cluster)"), "N", read=from_1_to_8),
    ] = 1
    timeout: Timeout = LONGEST_SIMULATION
    define: Define = ()
    include: Include = ()
    lang: Language = field(default_factory=preset_language)
    flags: Annotated[tuple[str, ...], Flags()] = ()


class NewPuzzleOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling new-puzzle`."""

    puzzle: Annotated[str, Positional(Text("the name of the new puzzle, such as p36"), "NAME")]
    title: Annotated[str, Positional(Text("its title in English"), "TITLE")]
    ko: Annotated[str | None, Option(Text("its title in Korean (default: the English one)"), "TITLE")] = None


class GenerateOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling generate`."""

    puzzles: Annotated[
        tuple[str, ...], Positional(Text("only the problem files of these, such as p15 (default: all)"))
    ] = ()
    check: Annotated[bool, Option(Text("write nothing; fail with a diff on any drift"))] = False
    force: Annotated[bool, Option(Text("also overwrite problem files that were edited"))] = False


class BundleOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling bundle`."""

    folder: Annotated[Path, Positional(Text("the bundle's folder"))]
    puzzles: Puzzles = ()
    accelerator: Annotated[str, Option(Text("the GPU there (default: sm_90a)"))] = "sm_90a"
    host_cpu: Annotated[str, Option(Text("the processor there; `native`: like this one's"))] = "x86-64-v3"
    only: Annotated[tuple[SubjectName, ...], Option(Text("only these"))] = ()
    max: Annotated[bool, Option(Text("the machine there has MAX: take programs in Python along"))] = False
    jobs: Annotated[int, Option(Text("builds at a time"))] = field(default_factory=_processors)


class CollectOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling collect`."""

    sources: Annotated[
        tuple[str, ...],
        Positional(
            Text("a folder with a folder for each student, the folder of one student, or a Git repository"),
            "DIR|REPOSITORY",
        ),
    ]
    puzzle: Annotated[
        tuple[str, ...], Option(Text("only this puzzle or program (default: all that were answered)"), "NAME")
    ] = ()
    output: Annotated[
        Path, Option(Text("the folder of the reports (default: collected)"), "FOLDER", short="o")
    ] = Path("collected")
    target: Annotated[SimulatedName, Option(Text("the simulated GPU to run on (default: sim)"))] = "sim"
    timeout: Annotated[
        float | None,
        Option(Text("time limit of each run in seconds (default: the puzzle's)"), "S", read=seconds),
    ] = None
    memory: Annotated[
        float, Option(Text("what one answer may take, in GiB (default: 4)"), "GIB", read=positive)
    ] = 4.0
    on: Annotated[
        str | None,
        Option(
            Text("judge on other machines, each with a checkout, or on a cluster: slurm, or slurm:PARTITION"),
            "HOST:FOLDER,…",
            read=str,
        ),
    ] = None
    jobs: Annotated[int, Option(Text("answers at a time"))] = field(default_factory=_processors)
    lang: Language = field(default_factory=preset_language)


class BookBuildOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling book build`."""

    output: Annotated[Path | None, Option(Text("default: site/ of the checkout"), "FOLDER")] = None
    site_url: Annotated[
        str | None, Option(Text("public address (default: the repository's pages)"), "URL")
    ] = None


def port_number(text: str) -> int:
    """A TCP port; 0 lets the system choose."""
    value = int(text)
    if not 0 <= value <= 65535:
        raise BadValue(_NO_PORT.of(text=text))
    return value


class BookServeOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling book serve`."""

    port: Annotated[int, Option(Text("default: 3000"), read=port_number)] = 3000


class BookCheckOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling book check`."""

    pages: Annotated[
        tuple[str, ...],
        Positional(Text("only these pages, in every language, and without the built site"), "PAGE"),
    ] = ()
    json: Annotated[bool, Option(Text("print the findings as JSON"))] = False
    list: Annotated[bool, Option(Text("list the rules"))] = False


class BookFormulasOptions(Struct, frozen=True):
    """Of `tooling book formulas`: none."""


class BookOutputsOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling book outputs`."""

    names: Annotated[tuple[str, ...], Positional(Text("only these programs"), "PROGRAM")] = ()
    update: Annotated[bool, Option(Text("record them instead"))] = False
    target: Annotated[TargetName, Option(Text("where to run (default: sim)"))] = "sim"


class FigureOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling figure`."""

    names: Annotated[
        tuple[str, ...], Positional(Text("a puzzle (p15) or one figure (p15-steps); default: all"), "NAME")
    ] = ()
    check: Annotated[bool, Option(Text("write nothing, and fail where a trace differs"))] = False
    trace: Annotated[
        bool, Option(Text("run the programs again first, and write down what their threads do"))
    ] = False


class CheckOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling check`."""

    json: JsonFile = None
    junit: JunitFile = None


# `tooling check-translations`

_ROOTS = Text("roots (also read from translations.toml)")
_OUTPUT = Text("output")
_POLICY = Text("policy (each of these but --ignores implies --check)")
_DEPTH = Text("depth")
Page = Positional(Text("a page or folder of either tree, or a path below the roots"), "PAGE")
Pages = Annotated[tuple[str, ...], Page]
Fetch = Annotated[
    bool, Option(Text("ask the remote `origin` for lost commits and for what a partial clone lacks"))
]


class RootOptions(Struct, frozen=True, kw_only=True):
    """Where source and translation are."""

    lang: Annotated[
        str | None,
        Option(
            Text("the translation (default: that of the page, or the first of the list of languages)"),
            "CODE",
            _ROOTS,
            alternative="languages",
        ),
    ] = None
    source: Annotated[
        str | None, Option(Text("folder of the source pages (default: book/src)"), "DIR", _ROOTS)
    ] = None
    translation: Annotated[
        str | None,
        Option(
            Text(
                "folder of the translated pages; {lang} stands for the language (default: "
                "i18n/{lang}/book/src)"
            ),
            "DIR",
            _ROOTS,
        ),
    ] = None
    marker: Annotated[
        str | None,
        Option(
            Text("key of the front matter with the commit, such as l10n.sourceCommit (default: a comment)"),
            "KEY",
            _ROOTS,
        ),
    ] = None
    profile: Annotated[
        Literal["mdbook", "hugo", "plain"] | None,
        Option(Text("what the pages are written for (default: mdbook)"), group=_ROOTS),
    ] = None


class StatusOptions(RootOptions, frozen=True, kw_only=True):
    """Of `tooling check-translations status`."""

    pages: Pages = ()
    all_languages: Annotated[
        bool,
        Option(
            Text("every language of the list, each by its policy (text, md, todo, github)"),
            group=_ROOTS,
            alternative="languages",
        ),
    ] = False
    format: Annotated[
        Literal["text", "json", "md", "github", "sarif", "html", "todo"], Option(None, group=_OUTPUT)
    ] = "text"
    output: Annotated[
        str | None, Option(Text("write there instead of to standard output"), "FILE", _OUTPUT)
    ] = None
    all: Annotated[bool, Option(Text("list pages in order too (text)"), group=_OUTPUT)] = False
    check: Annotated[bool, Option(Text("fail on findings; without it, only report"), group=_POLICY)] = False
    fail_on: Annotated[
        str | None,
        Option(
            Text("what fails: error (default), warning, or kinds such as stale:prose,missing,parity"),
            "LIST",
            _POLICY,
        ),
    ] = None
    max_stale: Annotated[float | None, Option(Text("tolerate this share of stale pages"), "PCT", _POLICY)] = (
        None
    )
    max_age: Annotated[int | None, Option(Text("tolerate pages stale for so long"), "DAYS", _POLICY)] = None
    since: Annotated[
        str | None,
        Option(
            Text("only pages changed since REF: translated pages must end accurate, source pages warn"),
            "REF",
            _POLICY,
        ),
    ] = None
    ignores: Annotated[str | None, Option(Text("default: i18n/LANG/ignore.toml"), "FILE", _POLICY)] = None
    axis: Annotated[
        Literal["both", "freshness"], Option(Text("freshness alone is quicker"), group=_DEPTH)
    ] = "both"
    glossary: Annotated[
        str | None, Option(Text("default: i18n/LANG/glossary.yaml where it exists"), "FILE", _DEPTH)
    ] = None
    fetch: Annotated[
        bool,
        Option(
            Text("ask the remote `origin` for lost commits and for what a partial clone lacks"), group=_DEPTH
        ),
    ] = False
    no_cache: Annotated[bool, Option(Text("compare everything anew"), group=_DEPTH)] = False


class DiffOptions(RootOptions, frozen=True, kw_only=True):
    """Of `tooling check-translations diff`."""

    pages: Pages
    words: Annotated[bool, Option(Text("mark changed words inside a block"))] = False
    net: Annotated[bool, Option(Text("all changes since the pin at once, not commit by commit"))] = False
    html: Annotated[
        str | None, Option(Text("write them with the translation beside them, as a page of HTML"), "FILE")
    ] = None
    fetch: Fetch = False


class StampOptions(RootOptions, frozen=True, kw_only=True):
    """Of `tooling check-translations stamp`."""

    pages: Pages = ()
    at: Annotated[
        str | None, Option(Text("translated from the source as of REF"), "REF", alternative="how")
    ] = None
    reviewed: Annotated[
        bool, Option(Text("compared with today's source and right as it is"), alternative="how")
    ] = False
    keep: Annotated[
        tuple[int, ...],
        Option(
            Text("the number of a section that changed in the source and is right as it is (for one PAGE)"),
            "SECTION",
        ),
    ] = ()
    all: Annotated[bool, Option(Text("every page"))] = False
    uncommitted: Annotated[
        bool,
        Option(
            Text(
                "the text of source pages that will be committed with their translation; `repair` adds the "
                "commit"
            )
        ),
    ] = False
    force: Annotated[bool, Option(Text("in spite of parity errors"))] = False
    base: Annotated[str, Option(Text("history that must hold the commit"), "REF")] = "HEAD"
    fetch: Fetch = False


class RepairOptions(RootOptions, frozen=True, kw_only=True):
    """Of `tooling check-translations repair`."""

    pages: Pages = ()
    dry_run: Annotated[bool, Option(Text("only say what would be written"))] = False
    fetch: Fetch = False


class RecoverOptions(RootOptions, frozen=True, kw_only=True):
    """Of `tooling check-translations recover`."""

    pages: Pages
    apply: Annotated[bool, Option(Text("write the best candidate, where it is not in doubt"))] = False
    fetch: Fetch = False


class SummaryOptions(RootOptions, frozen=True, kw_only=True):
    """Of `tooling check-translations summary`."""


class NewLanguageOptions(Struct, frozen=True, kw_only=True):
    """Of `tooling check-translations new-lang`."""

    code: Annotated[str, Positional(Text("language code, such as ja or pt-BR"))]
    name: Annotated[str | None, Option(Text("the language's own name, such as 日本語"))] = None
    source: Annotated[str | None, Option(Text("folder of the source pages (default: book/src)"), "DIR")] = (
        None
    )
