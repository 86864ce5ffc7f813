"""Loads one puzzle.yaml."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import yaml
from msgspec.structs import replace

from tooling.catalog.model import (
    LANES,
    Bound,
    CounterMetric,
    Criterion,
    Extra,
    LaunchShape,
    LeastThreads,
    Mode,
    ModeKind,
    MostCopyTime,
    OtherSizes,
    Output,
    Program,
    ProgramLanguage,
    Puzzle,
    Requirement,
    SharedMemoryUse,
    SourceFile,
    TensorApi,
    Vendor,
)
from tooling.catalog.nodes import Errors, ManifestError, Value, read_document
from tooling.catalog.schema import (
    DTYPES,
    CriterionFile,
    LaunchFile,
    ModeFile,
    OtherSizesFile,
    OutputFile,
    OverlapFile,
    ProgramFile,
    PuzzleFile,
    SharedMemoryFile,
    ThreadsFile,
    VendorFile,
    keys_of,
)
from tooling.platform.suggestions import did_you_mean
from tooling.project import Project
from tooling.text import ENGLISH, LocalText, languages

DEFAULT_TIME_LIMIT = 20.0
_VENDORS = tuple(vendor.value for vendor in Vendor)
DATASETS = ("book", "probe")
_LEAST_HINTS = 3
MOST_GPUS = 8
_DIMENSIONS = 3  # of a grid or a block
_FILE = re.compile(r"(?:[a-z_][a-z0-9_]*/)*[a-z_][a-z0-9_]*\.(?:mojo|py)\Z")
_REST = re.compile(r"_[a-z0-9_]+\Z")  # of a program's name, after the puzzle's id
_PAGE = re.compile(r"[a-z0-9_-]+\.md\Z")  # of a chapter, after the puzzle's folder
_FLAG = re.compile(r"--[a-z][a-z0-9-]*\Z")
_COMPUTE = re.compile(r"(\d+)\.(\d+)\Z")


def load_puzzle(path: Path, project: Project) -> Puzzle:
    """Reads and checks one manifest.

    Raises:
        ManifestError: with file, line, column and key of each mistake.
    """
    top = read_document(path)
    errors = Errors()
    keys = top.mapping(*keys_of(PuzzleFile), errors)
    identity = errors.attempt(lambda: _identity(keys["id"], path), path.parent.name)
    digits = path.parent.name[1:]
    number = errors.attempt(
        lambda: _number(keys["number"], identity), int(digits) if digits.isdecimal() else 1
    )
    programs = errors.attempt(lambda: _programs(keys["programs"], identity, project), ())
    time_limit = errors.attempt(
        lambda: keys["time_limit"].number() if "time_limit" in keys else DEFAULT_TIME_LIMIT, 0.0
    )
    requirements = errors.attempt(lambda: _requirements(keys["targets"]) if "targets" in keys else (), ())
    names = tuple(program.name for program in programs) or _readable_names(keys)
    gpus = errors.attempt(lambda: _gpus(keys["gpus"]) if "gpus" in keys else 1, 1)
    modes = errors.attempt(lambda: _modes(keys["modes"], names, requirements, time_limit), ())
    title = errors.attempt(lambda: local_text(keys["title"]), LocalText(()))
    summary = errors.attempt(lambda: local_text(keys["summary"]) if "summary" in keys else None, None)
    learnt = errors.attempt(lambda: local_text(keys["learnt"]) if "learnt" in keys else None, None)
    part = errors.attempt(lambda: _part(keys["part"]), "")
    chapters = errors.attempt(lambda: _chapters(keys["chapters"], number, project), ())
    errors.raise_all()
    return Puzzle(
        id=identity,
        number=number,
        title=title,
        part=part,
        chapters=chapters,
        programs=programs,
        modes=tuple(replace(mode, gpus=gpus) for mode in modes),
        manifest=path,
        learnt=learnt,
        summary=summary,
    )


def _identity(value: Value, path: Path) -> str:
    identity = value.text()
    if identity != path.parent.name:
        raise value.error(f"must be `{path.parent.name}`, the name of the folder, not `{identity}`")
    return identity


def _part(value: Value) -> str:
    part = value.text()
    if not re.fullmatch("[IVX]+", part):
        raise value.error(f"must be the Roman numeral of a part, such as `IV`, not `{part}`")
    return part


def _number(value: Value, identity: str) -> int:
    number = value.integer(1)
    if identity != f"p{number:02}":
        raise value.error(f"does not match the id `{identity}`")
    return number


def _gpus(value: Value) -> int:
    gpus = value.integer(1)
    if gpus > MOST_GPUS:
        raise value.error(f"must be at most {MOST_GPUS}, not {gpus}")
    return gpus


def _modes(
    value: Value, names: tuple[str, ...], requirements: tuple[Requirement, ...], time_limit: float
) -> tuple[Mode, ...]:
    items = value.items()
    if not items:
        raise value.error("a puzzle must have at least one mode")
    if not names:  # their errors are reported; those of the modes would follow from them
        return ()
    errors = Errors()
    modes = errors.each(items, lambda item: _mode(item, names, requirements, time_limit))
    errors.raise_all()
    _check_modes(value, modes, names)
    return modes


def _chapters(value: Value, number: int, project: Project) -> tuple[str, ...]:
    """The chapters. One may not be written yet, but not while the book has a page here that is not listed."""
    folder = f"puzzle_{number:02}/"
    book = project.root / "book" / "src"
    unlisted = {f"{folder}{path.name}" for path in (book / folder).glob("*.md")}
    unlisted.difference_update(item.text() for item in value.items())
    found: list[str] = []
    for item in value.items():
        chapter = item.text()
        if not (chapter.startswith(folder) and _PAGE.match(chapter, len(folder))):
            raise item.error(f"must be a page of this puzzle, such as `{folder}name.md`, not `{chapter}`")
        if unlisted and not (book / chapter).is_file():
            hint = did_you_mean(chapter, sorted(unlisted))
            raise item.error(f"there is no page `book/src/{chapter}`", hint=hint)
        if chapter in found:
            raise item.error(f"names the chapter `{chapter}` twice")
        found.append(chapter)
    if not found:
        raise value.error("a puzzle must have at least one chapter")
    return tuple(found)


def local_text(value: Value) -> LocalText:
    """A text in several languages, of which English is required; `book check` asks for the others."""
    keys = value.mapping([ENGLISH], languages())
    return LocalText.of(**{language: text.text().strip() for language, text in keys.items()})


def _readable_names(keys: Mapping[str, Value]) -> tuple[str, ...]:
    """The names of programs, one of which has a mistake; empty where they cannot be read."""
    try:
        return tuple(item.entries()["name"].text() for item in keys["programs"].items())
    except (ManifestError, KeyError):
        return ()


def _programs(value: Value, identity: str, project: Project) -> tuple[Program, ...]:
    problems, solutions = project.problems / identity, project.solutions / identity

    def make(item: Value) -> Program:
        errors = Errors()
        keys = item.mapping(*keys_of(ProgramFile), errors)
        api = errors.attempt(lambda: keys["api"].member(TensorApi), TensorApi.RAW)
        errors.raise_all()
        name = keys["name"].text()
        if name != identity and not (name.startswith(f"{identity}_") and _REST.match(name, len(identity))):
            raise keys["name"].error(f"must be `{identity}` or begin with `{identity}_`, not `{name}`")
        language = keys["language"].member(ProgramLanguage) if "language" in keys else ProgramLanguage.MOJO
        if "extra" in keys and language is not ProgramLanguage.PYTHON:
            raise keys["extra"].error("is for `language: python` only: a program in Mojo needs no extra")
        suffix = ".py" if language is ProgramLanguage.PYTHON else ".mojo"
        main = _source(keys["file"], problems, solutions) if "file" in keys else None
        if main and not main.name.endswith(suffix):
            raise keys["file"].error(
                f"a program in {language.value} must be a file with the suffix `{suffix}`"
            )
        other_files = (
            tuple(_source(each, problems, solutions) for each in keys["files"].items())
            if "files" in keys
            else ()
        )
        return Program(
            name=name,
            api=api,
            problem=main.problem if main else problems / f"{name}{suffix}",
            solution=main.solution if main else solutions / f"{name}{suffix}",
            language=language,
            extra=keys["extra"].member(Extra) if "extra" in keys else Extra.MAX,
            file=main.name if main else "",
            other_files=other_files,
        )

    every = Errors()
    found = every.each(value.items(), make)
    every.raise_all()
    if not found:
        raise value.error("a puzzle must have at least one program")
    _refuse_twice(value, [program.name for program in found], "program")
    return found


def _source(value: Value, problems: Path, solutions: Path) -> SourceFile:
    name = value.text()
    if not _FILE.match(name):
        raise value.error(f"must be a file below the puzzle's folder such as `op/conv1d.mojo`, not `{name}`")
    return SourceFile(name, problems / name, solutions / name)


def _requirements(value: Value) -> tuple[Requirement, ...]:
    found = []
    for name, entry in value.entries().items():
        if name not in _VENDORS:
            raise entry.error("unknown vendor", hint=did_you_mean(name, _VENDORS))
        vendor = Vendor(name)
        keys = entry.mapping(*keys_of(VendorFile))
        if "unsupported" in keys:
            if not keys.keys() <= {"unsupported", "builds"}:
                raise entry.error("`unsupported` can only be combined with `builds`")
            builds = "builds" in keys and keys["builds"].flag()
            reason = local_text(keys["unsupported"])
            found.append(Requirement(vendor, unsupported=True, builds=builds, because=reason))
            continue
        if "builds" in keys:
            raise keys["builds"].error("is for `unsupported` only: a supported mode always builds")
        compute = None
        because = local_text(keys["because"]) if "because" in keys else None
        if "compute" in keys:
            if vendor is not Vendor.NVIDIA:
                raise keys["compute"].error("only NVIDIA GPUs have a compute capability")
            match = _COMPUTE.match(keys["compute"].text())
            if not match:
                raise keys["compute"].error('must have the form "9.0"')
            compute = (int(match.group(1)), int(match.group(2)))
            if because is None:
                raise entry.error("the key `because` is missing", hint="add what needs this capability")
        lanes = 0
        if "lanes" in keys:
            if vendor is not Vendor.AMD:
                raise keys["lanes"].error("warps have different numbers of lanes on AMD GPUs only")
            lanes = keys["lanes"].integer(1)
            if lanes not in (32, 64):
                raise keys["lanes"].error("must be 32 or 64")
            if because is None:
                raise entry.error("the key `because` is missing", hint="add what needs this number of lanes")
        found.append(Requirement(vendor, compute=compute, lanes=lanes, because=because))
    return tuple(found)


def _mode(
    value: Value, programs: tuple[str, ...], inherited: tuple[Requirement, ...], time_limit: float
) -> Mode:
    errors = Errors()
    keys = value.mapping(*keys_of(ModeFile), errors)
    kind = errors.attempt(
        lambda: keys["kind"].member(ModeKind) if "kind" in keys else ModeKind.PUZZLE, ModeKind.PUZZLE
    )
    judged = kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
    own = programs
    if "programs" in keys:
        own = errors.attempt(lambda: _own_programs(keys["programs"], programs), ())
    outputs = errors.attempt(lambda: _outputs(keys["outputs"]), None) if "outputs" in keys else ()
    if judged and outputs == ():
        errors.add(
            value.error(
                "a judged mode must have outputs", hint="add `outputs:`, or `kind: demo` / `kind: benchmark`"
            )
        )
    if not judged:
        if "counters" in keys:
            errors.add(keys["counters"].error("only a judged mode can have counters"))
        for name in ("launch", "threads", "shared_memory"):
            if name in keys:
                errors.add(keys[name].error("only a judged mode can have requirements on its launches"))
        if "overlap" in keys:
            errors.add(keys["overlap"].error("only a judged mode can have a requirement on its copies"))
        if "other_sizes" in keys:
            errors.add(keys["other_sizes"].error("only a judged mode can have a run with other sizes"))
        if "resident_blocks" in keys:
            errors.add(keys["resident_blocks"].error("only a judged mode is run in other orders"))
    narrowed = errors.attempt(lambda: _requirements(keys["targets"]) if "targets" in keys else (), ())
    overridden = {requirement.vendor for requirement in narrowed}
    mode = Mode(
        name=errors.attempt(lambda: Value.text(keys["name"]), ""),
        kind=kind,
        flags=errors.attempt(lambda: _flags(keys["flags"]), ()) if "flags" in keys else (),
        programs=own,
        anchors=errors.attempt(lambda: _anchors(keys["anchors"], own), {}) if "anchors" in keys else {},
        outputs=outputs or (),
        datasets=errors.attempt(lambda: _datasets(keys, outputs or ()), ()),
        requirements=narrowed + tuple(each for each in inherited if each.vendor not in overridden),
        hints=errors.attempt(lambda: _hints(keys["hints"], kind), ()),
        time_limit=errors.attempt(
            lambda: keys["time_limit"].number() if "time_limit" in keys else time_limit, 0.0
        ),
        counters=errors.attempt(lambda: _criteria(keys["counters"]), ()) if "counters" in keys else (),
        launch=errors.attempt(lambda: _launch(keys["launch"]), None) if "launch" in keys else None,
        threads=errors.attempt(lambda: _threads(keys["threads"]), None) if "threads" in keys else None,
        shared_memory=(
            errors.attempt(lambda: _shared_memory(keys["shared_memory"]), None)
            if "shared_memory" in keys
            else None
        ),
        overlap=errors.attempt(lambda: _overlap(keys["overlap"]), None) if "overlap" in keys else None,
        other_sizes=(
            errors.attempt(lambda: _other_sizes(keys["other_sizes"], outputs or ()), None)
            if "other_sizes" in keys
            else None
        ),
        resident_blocks=(
            errors.attempt(lambda: keys["resident_blocks"].integer(1), None)
            if "resident_blocks" in keys
            else None
        ),
    )
    errors.raise_all()
    return mode


def _own_programs(value: Value, programs: tuple[str, ...]) -> tuple[str, ...]:
    own = tuple(item.one_of(programs, "program") for item in value.items())
    if not own:
        raise value.error("a mode must have at least one program")
    return own


def _flags(value: Value) -> tuple[str, ...]:
    flags = value.items()
    for flag in flags:
        if not _FLAG.match(flag.text()):
            raise flag.error(f"a flag has the form `--block-boundary`, not `{flag.text()}`")
    return tuple(flag.text() for flag in flags)


def _datasets(keys: Mapping[str, Value], outputs: tuple[Output, ...]) -> tuple[str, ...]:
    if "datasets" not in keys:
        return DATASETS if outputs else ()
    found = tuple(item.one_of(DATASETS, "data set") for item in keys["datasets"].items())
    return found if outputs else ()


def _hints(value: Value, kind: ModeKind) -> tuple[LocalText, ...]:
    errors = Errors()
    hints = errors.each(value.items(), local_text)
    errors.raise_all()
    if kind is ModeKind.PUZZLE and len(hints) < _LEAST_HINTS:
        raise value.error(f"a puzzle must have at least {_LEAST_HINTS} hints, not {len(hints)}")
    return hints


def _criteria(value: Value) -> tuple[Criterion, ...]:
    return tuple(_criterion(item) for item in value.items())


def _criterion(value: Value) -> Criterion:
    bounds = [bound.value for bound in Bound]
    keys = value.mapping(*keys_of(CriterionFile))
    given = [name for name in bounds if name in keys]
    if len(given) != 1:
        raise value.error(
            "a criterion must have exactly one bound" + (f", not {' and '.join(given)}" if given else ""),
            hint="use one of " + ", ".join(f"`{name}`" for name in bounds),
        )
    metric = keys["metric"].member(CounterMetric)
    wanted = keys[given[0]].number()
    if metric in (CounterMetric.BYTES_USED, CounterMetric.OCCUPANCY) and wanted > 1:
        raise keys[given[0]].error(f"`{metric.value}` is a fraction: at most 1, not {wanted:g}")
    return Criterion(
        keys["kernel"].text(),
        metric,
        Bound(given[0]),
        wanted,
        local_text(keys["because"]),
        simulated_only="simulated_only" in keys and keys["simulated_only"].flag(),
    )


def _launch(value: Value) -> LaunchShape:
    keys = value.mapping(*keys_of(LaunchFile))
    return LaunchShape(_extents(keys["grid"]), _extents(keys["block"]), local_text(keys["because"]))


def _other_sizes(value: Value, outputs: tuple[Output, ...]) -> OtherSizes:
    keys = value.mapping(*keys_of(OtherSizesFile))
    constants = {name: entry.text() for name, entry in keys["constants"].entries().items()}
    shapes = keys["shapes"].mapping([output.name for output in outputs], [])
    return OtherSizes(constants, {name: _shape(entry) for name, entry in shapes.items()})


def _extents(value: Value) -> tuple[int, int, int]:
    given = [extent.integer(1) for extent in value.items()]
    if not 1 <= len(given) <= _DIMENSIONS:
        raise value.error(f"must have 1 to {_DIMENSIONS} extents, x first, not {len(given)}")
    x, y, z = (*given, 1, 1)[:_DIMENSIONS]
    return x, y, z


def _threads(value: Value) -> LeastThreads:
    keys = value.mapping(*keys_of(ThreadsFile))
    return LeastThreads(keys["at_least"].integer(2), local_text(keys["because"]))


def _overlap(value: Value) -> MostCopyTime:
    keys = value.mapping(*keys_of(OverlapFile))
    most = keys["at_most"].number()
    if most < 1:
        raise keys["at_most"].error(f"must be at least 1, the copies of the longer direction, not {most:g}")
    return MostCopyTime(most, local_text(keys["because"]))


def _shared_memory(value: Value) -> SharedMemoryUse:
    return SharedMemoryUse(local_text(value.mapping(*keys_of(SharedMemoryFile))["because"]))


def _anchors(value: Value, programs: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if isinstance(value.node, yaml.SequenceNode):
        shared = value.texts()
        return dict.fromkeys(programs, shared)
    keys = value.mapping([], programs)
    return {name: entry.texts() for name, entry in keys.items()}


def _outputs(value: Value) -> tuple[Output, ...]:
    errors = Errors()
    found = errors.each(value.items(), _output)
    errors.raise_all()
    _refuse_twice(value, [output.name for output in found], "output")
    return found


def _output(value: Value) -> Output:
    errors = Errors()
    keys = value.mapping(*keys_of(OutputFile), errors)
    attempt = errors.attempt
    shape: tuple[int, ...] = attempt(lambda: _shape(keys["shape"], lanes=True), ())
    output = Output(
        name=attempt(lambda: Value.text(keys["name"]), ""),
        dtype=attempt(lambda: keys["dtype"].one_of(DTYPES, "element type"), ""),
        shape=shape,
        rtol=attempt(keys["rtol"].number, 0.0) if "rtol" in keys else 0.0,
        atol=attempt(keys["atol"].number, 0.0) if "atol" in keys else 0.0,
        simulated=attempt(lambda: _shape(keys["simulated"]), None) if "simulated" in keys else None,
        lane_axes=_lane_axes(keys["shape"]) if shape else (),
        host="host" in keys and attempt(keys["host"].flag, False),
    )
    errors.raise_all()
    return output


def _shape(value: Value, *, lanes: bool = False) -> tuple[int, ...]:
    """The extents; with `lanes`, an extent may be `warp`: the number of lanes of a warp."""
    shape = tuple(LANES if lanes and _is_warp(extent) else extent.integer(1) for extent in value.items())
    if not shape:
        raise value.error("must have at least one extent")
    return shape


def _lane_axes(shape: Value) -> tuple[int, ...]:
    return tuple(axis for axis, extent in enumerate(shape.items()) if _is_warp(extent))


def _is_warp(extent: Value) -> bool:
    return extent.text() == "warp"


def _check_modes(value: Value, modes: tuple[Mode, ...], programs: tuple[str, ...]) -> None:
    _refuse_twice(value, [mode.name for mode in modes], "mode")
    for program in programs:
        own = [mode for mode in modes if program in mode.programs]
        if not own:
            raise value.error(f"the program `{program}` has no mode")
        _refuse_twice(value, [" ".join(mode.flags) for mode in own], f"set of flags in {program}:")
        flagged = [mode for mode in own if mode.flags]
        if len(flagged) < len(own) and any(
            mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN) for mode in flagged
        ):
            raise value.error(
                f"`{program}` has several modes, so each of them needs a flag",
                hint="if all other modes are benchmarks or demos, the only judged mode needs none",
            )


def _refuse_twice(value: Value, names: list[str], noun: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise value.error(f"{noun} `{name}` is listed {count} times")
