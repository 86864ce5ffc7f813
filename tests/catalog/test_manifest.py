"""puzzle.yaml: what is accepted, and how a mistake is named."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.cli.conftest import MANIFEST, MANY_MODES, REPOSITORY
from tooling.catalog.catalogue import find_mode, load_catalogue
from tooling.catalog.manifest import load_puzzle
from tooling.catalog.model import Bound, CounterMetric, Puzzle, Requirement, Vendor
from tooling.catalog.nodes import ManifestError, ManifestErrors
from tooling.project import Project

ROOT = Path(__file__).parents[2]


def load(tmp_path: Path, text: str, identity: str = "p01"):  # type: ignore[no-untyped-def]
    path = tmp_path / "problems" / identity / "puzzle.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return load_puzzle(path, Project(tmp_path))


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    puzzle = load(tmp_path, MANIFEST)
    (mode,) = puzzle.modes
    assert (mode.kind.value, mode.flags, mode.programs, mode.datasets) == (
        "puzzle",
        (),
        ("p01",),
        ("book", "probe"),
    )
    assert mode.anchors == {"p01": ("add_10",)}
    assert mode.time_limit == 10
    assert mode.outputs[0].shape == (8,)
    assert puzzle.program("p01").problem == tmp_path / "problems" / "p01" / "p01.mojo"
    assert mode.requirement(Vendor.AMD) == Requirement(Vendor.AMD)


@pytest.mark.parametrize(("text", "problem"), [("9", "gpus: must be at most 8, not 9"), ("0", "gpus: ")])
def test_the_number_of_gpus_is_that_of_every_mode(tmp_path: Path, text: str, problem: str) -> None:
    assert load(tmp_path, MANIFEST).modes[0].gpus == 1
    assert load(tmp_path / "two", MANIFEST + "gpus: 2\n").modes[0].gpus == 2
    with pytest.raises(ManifestError) as caught:
        load(tmp_path / "wrong", MANIFEST + f"gpus: {text}\n")
    assert caught.value.what.startswith(problem)


def test_given_code_is_not_to_be_completed(tmp_path: Path) -> None:
    assert load(tmp_path, MANIFEST).regions_to_complete == {"add_10"}
    given = MANIFEST.replace("    anchors: [add_10]", "    anchors: [add_10]\n    kind: given")
    assert load(tmp_path / "given", given).regions_to_complete == frozenset()


def test_a_chapter_that_does_not_exist_beside_one_that_is_not_listed_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "book" / "src" / "puzzle_01"
    folder.mkdir(parents=True)
    assert load(tmp_path, MANIFEST).chapters == ("puzzle_01/puzzle_01.md",)  # not written yet
    (folder / "puzzle_1.md").write_text("# Map\n")
    with pytest.raises(ManifestError) as caught:
        load_puzzle(tmp_path / "problems" / "p01" / "puzzle.yaml", Project(tmp_path))
    assert caught.value.what == "chapters[0]: there is no page `book/src/puzzle_01/puzzle_01.md`"
    assert caught.value.hint == "did you mean `puzzle_01/puzzle_1.md`?"
    (folder / "puzzle_1.md").rename(folder / "puzzle_01.md")
    assert load_puzzle(tmp_path / "problems" / "p01" / "puzzle.yaml", Project(tmp_path)).chapters


def test_requirements_are_inherited_and_overridden(tmp_path: Path) -> None:
    text = MANY_MODES + "    targets: {nvidia: {compute: '8.0', because: {en: copies, ko: 복사}}}\n"
    coordination, demo = load(tmp_path, text, "p34").modes
    assert coordination.requirement(Vendor.NVIDIA).compute == (9, 0)
    assert demo.requirement(Vendor.NVIDIA).compute == (8, 0)
    assert demo.requirement(Vendor.AMD).unsupported


def counters(rest: str) -> str:
    because = ", because: {en: fast, ko: 빠름}"
    return f"    counters: [{{kernel: add_10, {rest}{because}}}]"


def test_counters_and_the_simulated_shape(tmp_path: Path) -> None:
    text = MANIFEST.replace("    anchors: [add_10]", counters("metric: bytes_used, at_least: 1"))
    (mode,) = load(tmp_path, text.replace("shape: [8]", "shape: [8], simulated: [4]")).modes
    (criterion,) = mode.counters
    assert (criterion.kernel, criterion.metric, criterion.bound, criterion.value) == (
        "add_10",
        CounterMetric.BYTES_USED,
        Bound.AT_LEAST,
        1.0,
    )
    assert criterion.because.render("ko") == "빠름"
    assert criterion.met_by(1.0)
    assert not criterion.met_by(0.8)
    assert mode.scaled
    assert (mode.outputs[0].shape, mode.sized(simulated=True).outputs[0].shape) == ((8,), (4,))


def test_a_run_with_other_sizes(tmp_path: Path) -> None:
    sizes = '    other_sizes: {constants: {SIZE: "13", GRID: "(4, 1)"}, shapes: {out: [13]}}'
    (mode,) = load(
        tmp_path,
        MANIFEST.replace("    anchors: [add_10]", f"{sizes}\n{counters('metric: bytes_used, at_least: 1')}"),
    ).modes
    assert mode.other_sizes is not None
    assert (len(mode.counters), mode.resized().counters) == (
        1,
        (),
    )  # limits are those of the mode's own sizes
    assert str(mode.other_sizes) == "SIZE = 13, GRID = (4, 1)"
    assert (mode.outputs[0].shape, mode.resized().outputs[0].shape) == ((8,), (13,))
    assert mode.resized().other_sizes is None


SAID = "because: {en: it is the subject, ko: 주제입니다}"


def test_launch_shape_shared_work_and_outputs_of_the_cpu(tmp_path: Path) -> None:
    facts = f"    launch: {{grid: [2], block: [3, 4], {SAID}}}\n    threads: {{at_least: 8, {SAID}}}"
    facts += f"\n    shared_memory: {{{SAID}}}\n    overlap: {{at_most: 1.25, {SAID}}}"
    text = MANIFEST.replace("    anchors: [add_10]", facts)
    (mode,) = load(tmp_path, text.replace("shape: [8]", "shape: [8], host: true")).modes
    assert mode.launch is not None
    assert (mode.launch.grid, mode.launch.block) == ((2, 1, 1), (3, 4, 1))
    assert mode.launch.because.render("ko") == "주제입니다"
    assert mode.threads is not None
    assert (mode.threads.least, mode.threads.because.render("en")) == (8, "it is the subject")
    assert mode.shared_memory is not None
    assert mode.shared_memory.because.render("ko") == "주제입니다"
    assert mode.overlap is not None
    assert (mode.overlap.most, mode.overlap.because.render("ko")) == (1.25, "주제입니다")
    assert mode.outputs[0].host
    (plain,) = load(tmp_path / "plain", MANIFEST).modes
    assert (plain.launch, plain.threads, plain.shared_memory, plain.overlap) == (None, None, None, None)
    assert not plain.outputs[0].host


def test_a_criterion_may_be_for_the_simulated_gpu_alone(tmp_path: Path) -> None:
    always = counters("metric: tensor_core_instructions, at_least: 1")
    alone = counters("metric: tensor_core_instructions, at_least: 1, simulated_only: true")
    for given, needed in ((always, True), (alone, False)):
        (mode,) = load(tmp_path / str(needed), MANIFEST.replace("    anchors: [add_10]", given)).modes
        assert mode.needs_counters is needed


def test_an_extent_may_be_the_number_of_lanes_of_a_warp(tmp_path: Path) -> None:
    (mode,) = load(tmp_path, MANIFEST.replace("shape: [8]", "shape: [3, warp, 32]")).modes
    assert mode.outputs[0].shape == (3, 32, 32)
    assert mode.sized(lanes=64).outputs[0].shape == (3, 64, 32)
    assert mode.sized(simulated=True).outputs[0].shape == (3, 32, 32)


@pytest.mark.parametrize(
    ("change", "position", "message"),
    [
        (("number: 1", "nmber: 1"), (1, 1), "nmber: unknown key"),
        (("number: 1", "number: one"), (2, 9), "number: must be an integer, not `one`"),
        (("id: p01", "id: p02"), (1, 5), "id: must be `p01`, the name of the folder"),
        (("id: p01", "id: p01\nid: p01"), (2, 1), "id: the key is given twice"),
        (("part: I", "part:"), (4, 6), "part: has no value"),
        (("part: I", "part: 1"), (4, 7), "part: must be the Roman numeral of a part, such as `IV`, not `1`"),
        (("[puzzle_01/puzzle_01.md]", "[]"), (5, 11), "chapters: a puzzle must have at least one chapter"),
        (("[puzzle_01/", "[puzzle_10/"), (5, 12), "chapters[0]: must be a page of this puzzle"),
        (("puzzle_01.md]", "../../x.md]"), (5, 12), "chapters[0]: must be a page of this puzzle"),
        (("puzzle_01.md]", "a.md, puzzle_01/a.md]"), (5, 28), "names the chapter `puzzle_01/a.md` twice"),
        (("{en: Map, ko: 맵}", "{ko: 맵}"), (3, 8), "title: the key `en` is missing"),
        (("{en: Map, ko: 맵}", "Map"), (3, 8), "title: must be a mapping, not a text"),
        (("api: raw", "api: tensor"), (8, 22), "programs[0].api: unknown value `tensor`"),
        (("name: p01,", "name: p02,"), (8, 12), "must be `p01` or begin with `p01_`"),
        (("dtype: float32", "dtype: float"), (13, 28), "unknown element type `float`"),
        (("shape: [8]", "shape: [0]"), (13, 45), "shape[0]: must be at least 1, not 0"),
        (("shape: [8]", "shape: [wrap]"), (13, 45), "shape[0]: must be an integer, not `wrap`"),
        (("shape: [8]", "shape: [8], simulated: [warp]"), (13, 61), "must be an integer, not `warp`"),
        (("shape: [8]", "shape: 8"), (13, 44), "shape: must be a list, not `8`"),
        (("time_limit: 10", "time_limit: -1"), (6, 13), "must be finite and not negative"),
        (("modes:", "modes: ["), (10, 3), "not valid YAML"),
        (("    anchors: [add_10]", "    flags: [-x]"), (11, 13), "a flag has the form"),
        (("    anchors: [add_10]", "    programs: [p02]"), (11, 16), "unknown program `p02`"),
        (("    anchors: [add_10]", "    anchors: {p02: [x]}"), (11, 15), "p02: unknown key"),
        (("    anchors: [add_10]", "    datasets: [bok]"), (11, 16), "unknown data set `bok`"),
        (
            (
                "    anchors: [add_10]",
                '    other_sizes: {constants: {SIZE: "9"}, shapes: {out: [9], in: [9]}}',
            ),
            (11, 62),
            "other_sizes.shapes.in: unknown key",
        ),
        (("    anchors: [add_10]", "    targets: {intel: {}}"), (11, 22), "intel: unknown vendor"),
        (("    anchors: [add_10]", "    targets: {amd: {compute: '9.0'}}"), (11, 30), "only NVIDIA GPUs"),
        (("    anchors: [add_10]", "    targets: {nvidia: {compute: '9.0'}}"), (11, 23), "`because`"),
        (("    anchors: [add_10]", "    targets: {nvidia: {lanes: 64}}"), (11, 31), "on AMD GPUs only"),
        (("    anchors: [add_10]", "    targets: {amd: {lanes: 16}}"), (11, 28), "must be 32 or 64"),
        (("    anchors: [add_10]", "    targets: {amd: {lanes: 64}}"), (11, 20), "`because`"),
        (
            (", shape: [8]", ", shape: [8], simulated: []"),
            (13, 60),
            "simulated: must have at least one extent",
        ),
        (
            (
                "    anchors: [add_10]",
                "    launch: {grid: [1, 1, 1, 1], block: [8], because: {en: a, ko: b}}",
            ),
            (11, 20),
            "launch.grid: must have 1 to 3 extents, x first, not 4",
        ),
        (
            ("    anchors: [add_10]", "    launch: {grid: [1], block: [8]}"),
            (11, 13),
            "launch: the key `because` is missing",
        ),
        (
            ("    anchors: [add_10]", "    threads: {at_least: 1, because: {en: a, ko: b}}"),
            (11, 25),
            "threads.at_least: must be at least 2",
        ),
        (
            ("    anchors: [add_10]", "    kind: demo\n    threads: {at_least: 2, because: {en: a, ko: b}}"),
            (12, 14),
            "threads: only a judged mode can have requirements on its launches",
        ),
        (
            ("    anchors: [add_10]", "    overlap: {at_most: 0.5, because: {en: a, ko: b}}"),
            (11, 24),
            "overlap.at_most: must be at least 1, the copies of the longer direction, not 0.5",
        ),
        (
            ("    anchors: [add_10]", "    kind: demo\n    overlap: {at_most: 2, because: {en: a, ko: b}}"),
            (12, 14),
            "overlap: only a judged mode can have a requirement on its copies",
        ),
        (
            ("    anchors: [add_10]", "    kind: demo\n    resident_blocks: 4"),
            (12, 22),
            "resident_blocks: only a judged mode is run in other orders",
        ),
        (
            ("    anchors: [add_10]", "    resident_blocks: 0"),
            (11, 22),
            "resident_blocks: must be at least 1",
        ),
        (("    anchors: [add_10]", "    counters: {}"), (11, 15), "counters: must be a list"),
        (("    anchors: [add_10]", counters("metric: sectors, at_most: 4")), (11, 41), "value `sectors`"),
        (
            ("    anchors: [add_10]", counters("metric: bank_conflicts")),
            (11, 16),
            "must have exactly one bound",
        ),
        (
            ("    anchors: [add_10]", counters("metric: occupancy, at_least: 0.5, equals: 1")),
            (11, 16),
            "not at_least and equals",
        ),
        (
            ("    anchors: [add_10]", counters("metric: occupancy, at_least: 100")),
            (11, 62),
            "counters[0].at_least: `occupancy` is a fraction: at most 1, not 100",
        ),
        (
            ("    anchors: [add_10]", counters("metric: occupancy, at_leats: 1")),
            (11, 52),
            "did you mean `at_least`",
        ),
        (
            ("    anchors: [add_10]", "    targets: {amd: {builds: true}}"),
            (11, 29),
            "for `unsupported` only",
        ),
    ],
)
def test_a_mistake_is_reported_with_key_and_position(
    tmp_path: Path, change: tuple[str, str], position: tuple[int, int], message: str
) -> None:
    assert change[0] in MANIFEST
    with pytest.raises(ManifestError) as caught:
        load(tmp_path, MANIFEST.replace(*change, 1))
    error = caught.value
    assert message in f"{error}\n{getattr(error, 'details', '')}"
    assert error.where is not None
    assert (error.where.line, error.where.column) == position


def test_flags_in_hints_are_marked_as_code() -> None:
    """Pages would show a bare `--flag` with a dash in place of its hyphens."""
    bare = [
        f"{puzzle.id}: {text}"
        for puzzle in load_catalogue(Project(REPOSITORY))
        for mode in puzzle.modes
        for hint in mode.hints
        for language in ("en", "ko")
        if "--" in "".join((text := hint.render(language)).split("`")[::2])
    ]
    assert bare == []


def test_fewer_than_three_hints_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="at least 3 hints, not 2"):
        load(tmp_path, "\n".join(MANIFEST.splitlines()[:-1]))


def test_several_modes_need_flags(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="has several modes, so each of them needs a flag"):
        load(tmp_path, MANY_MODES.replace("    flags: [--demo]\n", ""), "p34")


def test_the_only_mode_that_is_judged_needs_no_flag_beside_a_benchmark(tmp_path: Path) -> None:
    text = MANIFEST + "  - {name: times, kind: benchmark, flags: [--benchmark], hints: []}\n"
    puzzle = load(tmp_path, text)
    assert [mode.flags for mode in puzzle.modes] == [(), ("--benchmark",)]
    program = puzzle.programs[0]
    assert find_mode(puzzle, program, []).name == puzzle.modes[0].name
    assert find_mode(puzzle, program, ["--benchmark"]).name == "times"


def test_a_mode_cannot_be_listed_twice(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="--coordination` is listed 2 times"):
        load(tmp_path, MANY_MODES.replace("[--demo]", "[--coordination]"), "p34")


@pytest.mark.parametrize("puzzle", load_catalogue(Project(ROOT)), ids=lambda puzzle: puzzle.id)
def test_every_puzzle_says_in_both_languages_what_it_teaches(puzzle: Puzzle) -> None:
    assert puzzle.learnt
    versions = dict(puzzle.learnt.versions)
    assert versions.keys() == {"en", "ko"}
    assert all(text.endswith(".") and len(text) <= 170 for text in versions.values())


def test_every_mistake_is_reported_at_once(tmp_path: Path) -> None:
    text = (
        MANIFEST.replace("title:", "titel:")
        .replace("number: 1", "number:")
        .replace("api: raw", "api: row")
        .replace("anchors:", "anchor:")
        .replace("shape: [8]", "shape: [0]")
        .replace("dtype: float32", "dtype: flaot32")
        .replace("  - name: default", "  - nam: default")
    )
    with pytest.raises(ManifestErrors) as caught:
        load(tmp_path, text)
    said = [f"{error.key}: {error.what.removeprefix(f'{error.key}: ')}" for error in caught.value.errors]
    assert sorted(said) == [
        ": the key `title` is missing",
        "modes[0].anchor: unknown key",
        "modes[0].nam: unknown key",
        "modes[0].outputs[0].dtype: unknown element type `flaot32`",
        "modes[0].outputs[0].shape[0]: must be at least 1, not 0",
        "modes[0]: the key `name` is missing",
        "number: has no value",
        "programs[0].api: unknown value `row`",
        "titel: unknown key",
    ]


def test_mistakes_in_several_places_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        MANIFEST.replace("shape: [8]", "shape: 8")
        .replace("number: 1", "number: one")
        .replace("puzzle_01/puzzle_01.md", "puzzle_02/puzzle_01.md")
    )
    with pytest.raises(ManifestErrors) as caught:
        load(tmp_path, text)
    assert caught.value.what == "puzzle.yaml has 3 mistakes"
    heads = [line for line in caught.value.details.splitlines() if not line.startswith("  ")]
    assert [head.partition("puzzle.yaml:")[2].split(": ")[1] for head in heads] == [
        "number",
        "chapters[0]",
        "modes[0].outputs[0].shape",
    ]


def test_the_schema_for_editors_accepts_every_manifest_and_refuses_mistakes() -> None:
    schema = json.loads((REPOSITORY / "problems" / "puzzle.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    paths = sorted((REPOSITORY / "problems").glob("p*/puzzle.yaml"))
    assert len(paths) >= 36
    for path in paths:
        text = path.read_text("utf-8")
        assert text.startswith("# yaml-language-server: $schema=../puzzle.schema.json\n"), path
        manifest = yaml.safe_load(text)
        assert [error.message for error in validator.iter_errors(manifest)] == []
    changes: tuple[dict[str, object], ...] = (
        {"modes": []},
        {"nmber": 1},
        {"title": {"ko": "맵"}},
        {"title": {"en": "Map", "ko": 1}},
        {"id": "x"},
    )
    for change in changes:
        assert list(validator.iter_errors({**manifest, **change})), change
