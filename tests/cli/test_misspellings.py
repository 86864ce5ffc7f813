"""A misspelled word of the command line suggests the right one, and ends with status 2."""

from __future__ import annotations

import inspect
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from msgspec import Struct
from msgspec.structs import fields

from tests.cli.conftest import REPOSITORY
from tests.numbers import PUZZLES
from tooling.catalog.catalogue import load_catalogue
from tooling.cli import main
from tooling.commandline.commands import COMMANDS, Command, parser_of
from tooling.commandline.options import CHECKS, ProfileOptions, PuzzleRunOptions, VerifyOptions
from tooling.commandline.parser import option_names, read
from tooling.platform.exit_codes import ExitCode
from tooling.project import Project
from tooling.text.width import columns

LAST = PUZZLES[-1]
TILES = f"{LAST}_tile_tensor"
LAST_TILES = TILES if (REPOSITORY / "problems" / LAST / f"{TILES}.mojo").is_file() else LAST
NAMES = "  why: puzzles are named p01, p02, …, and their variants for example p15_tile_tensor\n"
P23 = "usage: tooling run p23 (--elementwise | --tiled | --manual-vectorized | --vectorized | --benchmark)"
ALL = "`tooling list` shows all"
MISSPELLED = {
    # commands
    "rnu p15": "there is no command `rnu`\n  try: did you mean `run`?",
    "lst": "there is no command `lst`\n  try: did you mean `list`?",
    "RUN p15": "there is no command `RUN`\n  try: did you mean `run`?",
    "tragets": "there is no command `tragets`\n  try: did you mean `targets`?",
    "chek-translation": "there is no command `chek-translation`\n  try: did you mean `check-translations`?",
    "help": "there is no command `help`\n  try: did you mean `--help`?",
    "version": "there is no command `version`\n  try: did you mean `--version`?",
    "p15": "there is no command `p15`\n  try: `tooling run p15`",
    "15 --target sim": "there is no command `15`\n  try: `tooling run 15 --target sim`",
    # options before the command
    "--verson": "unknown option --verson\n  try: did you mean `--version`?",
    "--target sim run p15": "unknown option --target\n"
    "  try: an option belongs after the command: `tooling run --target sim p15`",
    # actions
    "book chek": "`tooling book` has no action `chek`\n  try: did you mean `check`?",
    "book sreve --port 3001": "`tooling book` has no action `sreve`\n  try: did you mean `serve`?",
    "matrix biuld": "`tooling matrix` has no action `biuld`\n  try: did you mean `build`?",
    "check-translations stauts": "`tooling check-translations` has no action `stauts`\n"
    "  try: did you mean `status`?",
    "check-translations --lang ko stamp cover.md": "`tooling check-translations` takes `stamp` for a page, "
    "since an option is before it\n  try: write the action first: `tooling check-translations stamp ...`",
    "cache shwo": "`tooling cache` has no action `shwo`\n  try: did you mean `show`?",
    "check-translations stmap puzzle_01": "`tooling check-translations` has no action `stmap`\n"
    "  try: did you mean `stamp`?",
    # options
    "run p15 --targt sim": "there is no option `--targt`\n  try: did you mean `--target`?",
    "run --targt sim p15": "there is no option `--targt`\n  try: did you mean `--target`?",
    "run p15 --targt=sim": "there is no option `--targt=sim`\n  try: did you mean `--target`?",
    "run p15 -target sim": "there is no option `-target`\n  try: did you mean `--target`?",
    "run p15 --solutoin": "there is no option `--solutoin`\n  try: did you mean `--solution`?",
    "run p15 --sol": "there is no option `--sol`\n  try: did you mean `--solution`?",
    "run p15 --no_check": "there is no option `--no_check`\n  try: did you mean `--no-check`?",
    "run p15 -hint": "unknown argument -hint\n  try: did you mean `--hint`?",
    "list --lan ko": "unknown argument --lan\n  try: did you mean `--lang`?",
    "verify --require_all": "unknown argument --require_all\n  try: did you mean `--require-all`?",
    "book build --ouput x": "unknown argument --ouput\n  try: did you mean `--output`?",
    "bundle x --acelerator y": "unknown argument --acelerator\n  try: did you mean `--accelerator`?",
    "check --jsn x": "unknown argument --jsn\n  try: did you mean `--json`?",
    "targets --all": "unknown argument --all\n  try: `tooling targets --help` shows what there is",
    "profile p15 --soluton": "there is no option `--soluton`\n  try: did you mean `--solution`?",
    # choices and lists
    "run p15 --target sm": "--target does not take `sm`\n"
    "  why: it takes auto, nvidia, amd, apple, sim, sim-amd or sim-gfx1100\n"
    "  try: did you mean `sim`?",
    "run p15 --lang kr": "--lang does not take `kr`\n  why: it takes en or ko",
    "verify --only solutions": "--only does not take `solutions`\n"
    "  why: it takes solution, skeleton or mutant\n  try: did you mean `solution`?",
    "check-translations --format htm": "--format does not take `htm`\n"
    "  why: it takes text, json, md, github, sarif, html or todo\n  try: did you mean `html`?",
    "run p15 --check race": "argument --check: there is no check `race`: memory, races, initialisation, "
    "synchronisation or none\n  try: did you mean `races`?",
    "simulate --schedule advers -- x": "argument --schedule: `advers` is not a schedule: lockstep, "
    "random:SEED, adversarial or adversarial:BLOCKS\n  try: did you mean `adversarial`?",
    "simulate --schedule random -- x": "argument --schedule: `random` is not a schedule: lockstep, "
    "random:SEED, adversarial or adversarial:BLOCKS\n  try: did you mean `random:SEED`?",
    "book serve --port 99999": "argument --port: must be a port number from 0 to 65535, not 99999",
    # puzzles and their flags
    "run p51": f"there is no puzzle `p51`\n{NAMES}  try: did you mean `p15` or `{LAST}`? ({ALL})",
    "run 99": f"there is no puzzle `99`\n{NAMES}  try: did you mean `{LAST}`? ({ALL})",
    "run p15_tile": f"there is no puzzle `p15_tile`\n{NAMES}  try: did you mean `p15_tile_tensor`? ({ALL})",
    "run p51_tile_tensor": f"there is no puzzle `p51_tile_tensor`\n{NAMES}"
    f"  try: did you mean `p15_tile_tensor` or `{LAST_TILES}`? ({ALL})",
    "verify p51": f"there is no puzzle `p51`\n  try: did you mean `p15` or `{LAST}`?",
    "matrix build 0": "there is no puzzle `0`\n  try: did you mean `p01`?",
    "run p23 --tilled": f"`p23` has no flag `--tilled`\n  why: {P23}\n  try: did you mean `--tiled`?",
    "run 23 tiled": f"`p23` has no flag `tiled`\n  why: {P23}\n  try: did you mean `--tiled`?",
    "verify --part IIX": "there is no part `IIX`\n  try: did you mean `II` or `IX`?",
    "verify --mode tild p23": "there is no mode `tild`\n  try: did you mean `tiled` or `--tiled`?",
}


@pytest.fixture(autouse=True)
def as_called_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV", "POE_ACTIVE", "PIXI_ENVIRONMENT_NAME", "GITHUB_ACTIONS", "PUZZLE_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PUZZLE_ROOT", str(REPOSITORY))
    monkeypatch.chdir(REPOSITORY)


@pytest.mark.parametrize(("line", "message"), MISSPELLED.items(), ids=MISSPELLED)
def test_a_misspelling_suggests_the_right_word(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.err == f"error: {message}\n"
    assert said.out == ""


IN_KOREAN = {
    "strat": "`strat` 명령이 없습니다\n  해 볼 것: 비슷한 이름: `start`",
    "run p01 --targt sim": "`--targt` 옵션이 없습니다\n  해 볼 것: 비슷한 이름: `--target`",
    "run p01 --target sm": "--target에는 `sm` 값을 사용할 수 없습니다\n"
    "  이유: 사용할 수 있는 값: auto, nvidia, amd, apple, sim, sim-amd 또는 sim-gfx1100\n"
    "  해 볼 것: 비슷한 이름: `sim`",
    "run": "필수 인자가 없습니다: puzzle\n  해 볼 것: 사용할 수 있는 것 보기: `tooling run --help`",
    "run p01 --timeout 0": "인자 --timeout: 양수인 초 단위 값이어야 합니다. 입력한 값: 0",
    "run p23": "`p23`에는 모드가 5개 있습니다. 모드를 지정해야 합니다\n"
    f"  이유: 사용법: {P23.removeprefix('usage: ')}\n"
    "  해 볼 것: 다음 중 하나: --elementwise, --tiled, --manual-vectorized, --vectorized, --benchmark",
    "hint p01 9": "`p01`에는 힌트 9번이 없습니다\n  이유: 힌트는 모두 3개입니다\n"
    "  해 볼 것: 첫 힌트 보기: `tooling hint p01`",
}


@pytest.mark.parametrize(("line", "message"), IN_KOREAN.items(), ids=IN_KOREAN)
def test_errors_are_in_the_language_of_the_environment(
    line: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    assert main(line.split()) == ExitCode.USAGE
    assert capsys.readouterr().err == f"오류: {message}\n"


@pytest.mark.parametrize(
    ("line", "head"), [("run p99 --lang ko", "오류: "), ("run p99 --lang=en", "error: ")]
)
def test_the_option_decides_the_language_of_errors(
    line: str, head: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PUZZLE_LANG", "en" if "ko" in line else "ko")
    assert main(line.split()) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(head)


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])
def test_help_is_in_the_language_of_the_environment_and_fits_the_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PUZZLE_LANG", "ko")
    monkeypatch.setattr("tooling.commandline.parser._columns", lambda: 80)
    for words in ([command.name], *([command.name, action.name] for action in command.actions)):
        with pytest.raises(SystemExit):
            main([*words, "--help"])
        shown = capsys.readouterr().out
        assert shown.startswith("사용법: tooling ")
        assert "이 도움말을 표시하고 종료" in shown
        described = shown.partition("\n\n")[2]
        if not command.laid_out:
            assert [line for line in described.splitlines() if columns(line) > 80] == []


def test_help_is_in_the_language_of_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--lang", "ko", "--help"])
    assert capsys.readouterr().out.startswith("사용법: tooling run ")


@pytest.mark.parametrize("name", ["p5", "5", "05", "P05", "p005", "problems/p05/p05.mojo"])
def test_a_puzzle_is_found_by_its_number(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", name, "--hint", "2"]) == ExitCode.PASSED
    said = capsys.readouterr().out
    assert said.startswith("hint 2 of 3: ")
    assert said.endswith("`tooling hint p05 3`\n")


def test_without_a_command_a_newcomer_sees_the_first_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == ExitCode.USAGE
    assert capsys.readouterr().out == (
        "GPU puzzles in Mojo: run them, judge them, keep the book in step.\n"
        "\n"
        "  tooling start      show where you are and what to type\n"
        "  tooling watch      build, run and judge the next puzzle at every save\n"
        "  tooling run p01    build your program of puzzle 1, run it and judge it\n"
        "  tooling hint p01   show a hint\n"
        "  tooling list       show all puzzles\n"
        "\n"
        "`tooling --help` shows all commands.\n"
    )


def test_the_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == ExitCode.PASSED
    assert capsys.readouterr().out == "tooling 0.1.0\nMojo 1.2.0\nMAX 26.7.0\nmdBook 0.5.4\n"


@pytest.mark.parametrize("line", ["--help", "--version", "run --help", "book chek", "rnu"])
def test_what_needs_no_puzzle_imports_nothing_heavy(line: str) -> None:
    script = (
        "import sys\nfrom tooling.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(sorted({'numpy', 'rich', 'jinja2', 'subprocess'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, *line.split()]
    done = subprocess.run(command, text=True, capture_output=True, check=True, cwd=REPOSITORY)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "line",
    ["start", "next", "progress", "hint p15", "solution p15 --yes", "diff p15 --yes", "cache", "doctor"],
)
def test_what_builds_nothing_starts_without_the_judge_and_the_simulator(line: str, tmp_path: Path) -> None:
    heavy = {"numpy", "rich", "watchfiles", "jinja2", "tooling.judging", "tooling.simulator.engine"}
    script = (
        "import sys\nfrom tooling.cli import main\nmain(sys.argv[1:])\n"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, *line.split()]
    environment = os.environ | {"PUZZLE_STATE_DIR": str(tmp_path), "PUZZLE_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        command, text=True, capture_output=True, check=True, cwd=REPOSITORY, env=environment
    )
    assert done.stdout.splitlines()[-1] == "[]"


# The options classes


def leaves(commands: tuple[Command, ...] = COMMANDS) -> Iterator[Command]:
    for command in commands:
        yield from leaves(command.actions) if command.actions else (command,)


@pytest.mark.parametrize("command", list(leaves()), ids=lambda command: command.prog)
def test_the_function_of_a_command_takes_its_options(command: Command) -> None:
    assert command.run.startswith("tooling.cli.")
    function = pkgutil.resolve_name(command.run)
    (parameter,) = inspect.signature(function).parameters
    assert get_type_hints(function)[parameter] is command.options


@pytest.mark.parametrize("command", list(leaves()), ids=lambda command: command.prog)
def test_a_default_is_of_the_fields_type(command: Command) -> None:
    assert command.options
    for each in fields(command.options):
        kind = get_args(each.type)[0]
        if get_origin(kind) is Literal:
            default = each.default_factory() if callable(each.default_factory) else each.default
            assert default in get_args(kind), each.name
        if kind is bool:
            assert each.default is False, f"{each.name}: an option without a value can only switch on"


def options_of(line: str) -> PuzzleRunOptions:
    command = next(command for command in COMMANDS if command.name == "run")
    return read(parser_of(command), PuzzleRunOptions, line.split())


def test_a_command_line_becomes_typed_options() -> None:
    read_ = options_of("--tiled p23 --target sim --timeout 2.5 --hint --check memory,races --json -")
    assert read_ == PuzzleRunOptions(
        puzzles=("p23",), target="sim", timeout=2.5, hint=1, check=frozenset({"memory", "races"}), json="-",
        flags=("--tiled",), lang="en",
    )  # fmt: skip
    assert options_of("p23 --hint 3 --no-check").checks == frozenset()
    assert options_of("p23 --hint 3 --no-check").hint == 3
    assert options_of("p23").checks is None
    assert options_of("p05 p06 p23 --tiled --lang ko p34 --coordination").named == (
        ("p05", ()), ("p06", ()), ("p23", ("--tiled",)), ("p34", ("--coordination",)),
    )  # fmt: skip
    for written, target in (("--json p05", "-"), ("p05 --json", "-"), ("p05 --json out.json", "out.json")):
        assert (options_of(written).json, options_of(written).puzzles) == (target, ("p05",))
    assert CHECKS == ("memory", "races", "initialisation", "synchronisation")


def test_an_option_that_may_be_repeated_becomes_a_tuple() -> None:
    command = next(command for command in COMMANDS if command.name == "verify")
    words = ["p01", "p02", "--only", "mutant", "--only", "solution"]
    chosen = read(parser_of(command), VerifyOptions, words)
    assert chosen.only == ("mutant", "solution")
    assert chosen.puzzles == ("p01", "p02")


def test_a_programs_own_options_are_left_to_it() -> None:
    from tooling.commandline.options import SimulateOptions

    command = next(command for command in COMMANDS if command.name == "simulate")
    words = ["--timeout", "5", "--", "./my_program", "--hint", "-hot", "--no-check"]
    chosen = read(parser_of(command), SimulateOptions, words)
    assert chosen.timeout == 5
    assert not chosen.no_check
    assert chosen.program[-4:] == ("./my_program", "--hint", "-hot", "--no-check")


def test_output_that_cannot_be_written_is_named() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with full.open("w") as stream:
        for line in ("list", "run p01 --hint", "run p51", "--version", "--help", "run --help"):
            command = [sys.executable, "-m", "tooling", *line.split()]
            done = subprocess.run(
                command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False, cwd=REPOSITORY
            )
            if line == "run p51":
                assert done.returncode == ExitCode.USAGE
                assert done.stderr.startswith("error: there is no puzzle `p51`\n")
            else:
                assert done.returncode == ExitCode.NOT_POSSIBLE, line
                assert done.stderr == (
                    "error: the output cannot be written\n  why: No space left on device\n"
                )


@pytest.mark.parametrize("options", [PuzzleRunOptions, ProfileOptions])
def test_no_flag_of_a_puzzle_is_an_option_of_the_commands_that_take_it(options: type[Struct]) -> None:
    puzzles = load_catalogue(Project(REPOSITORY))
    flags = {flag for puzzle in puzzles for mode in puzzle.modes for flag in mode.flags}
    assert "--kernel" in flags
    assert flags.isdisjoint(option_names(options))
