"""`tooling doctor`, `tooling editor` and `tooling completion`."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import HERE, REPOSITORY
from tests.learning.language_server import diagnostics_of
from tooling.cli import main
from tooling.learning import editors
from tooling.platform.exit_codes import ExitCode
from tooling.targets.model import Absence, Target, TargetKind

if TYPE_CHECKING:
    from tests.cli.conftest import Workbench


def test_a_machine_that_is_ready(workbench: Workbench) -> None:
    result = workbench.run("doctor")
    assert result.status == ExitCode.PASSED, result.stdout
    assert result.stdout.endswith("this machine is ready\n")
    for line in (
        f"✓ Python {sys.version.split()[0]}",
        f"✓ Mojo 1.2.0 ({workbench.environment['PUZZLE_MOJO']})",
        "✓ test GPU (sm_90a)",
        f"✓ build cache {workbench.environment['PUZZLE_CACHE_DIR']}: 0 builds, 0 MB",
        f"✓ puzzles in {workbench.root / 'problems'}",
        "✓ terminal: none, the output goes elsewhere",
    ):
        assert f"{line}\n" in result.stdout
    report = json.loads(workbench.run("doctor", "--json", "-").stdout)
    assert report["good"]
    names = " ".join(check["name"] for check in report["checks"])
    assert names == "python mojo linker gpu cache disk temporary progress puzzles terminal editor"


def test_a_simulated_gpu_is_no_real_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """None of them is listed as a GPU of the machine."""
    found = {
        kind: Target(kind, f"simulated {kind.value}", "any")
        if kind.simulated
        else Absence(kind, f"no {kind.value}", "")
        for kind in TargetKind
    }
    monkeypatch.setattr("tooling.learning.doctor.probe", found.__getitem__)
    main(["doctor"])
    out = capsys.readouterr().out
    assert "✓ no GPU: puzzles run on the simulated one (no nvidia; no amd; no apple)\n" in out
    assert "simulated sim" not in out


def test_several_gpus_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {
        kind: Target(kind, "test GPU", "sm_90a", (9, 0), gpus=2)
        if kind is TargetKind.NVIDIA
        else Absence(kind, f"no {kind.value}", "")
        for kind in TargetKind
    }
    monkeypatch.setattr("tooling.learning.doctor.probe", found.__getitem__)
    main(["doctor"])
    assert "✓ test GPU (sm_90a), 2 GPUs\n" in capsys.readouterr().out


def test_what_is_wrong_is_named_with_what_to_do(workbench: Workbench, tmp_path: Path) -> None:
    workbench.problem.unlink()
    result = workbench.run("doctor", PUZZLE_MOJO="/nowhere/mojo", PUZZLE_CACHE_DIR="/dev/null/cache")
    assert result.status == ExitCode.WRONG
    assert "✗ PUZZLE_MOJO names /nowhere/mojo, which is not an executable file\n  try: unset" in result.stdout
    cache = f"{workbench.environment['TMPDIR']}/gpu-puzzle-lab-{os.getuid()}"
    used = (
        f"! build cache /dev/null/cache: cannot be written; {cache} is used instead\n  try: set PUZZLE_CACHE"
    )
    assert used in result.stdout
    assert "! 1 problem file is missing: p01\n  try: `tooling reset p01`" in result.stdout
    assert result.stdout.endswith("1 thing keeps the puzzles from running\n")
    path = tmp_path / "doctor.json"
    assert workbench.run("doctor", "--json", str(path), PUZZLE_MOJO="/nowhere/mojo").status == ExitCode.WRONG
    bad = [check for check in json.loads(path.read_text())["checks"] if check["state"] == "bad"]
    assert [check["name"] for check in bad] == ["mojo"]


@pytest.fixture
def server(workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A language server in the environment, and the workbench as the project."""
    path = tmp_path / "environment" / "bin" / "mojo-lsp-server"
    monkeypatch.setattr(editors, "find_server", lambda _editor: path)
    monkeypatch.setenv("PUZZLE_ROOT", str(workbench.root))
    return path


@pytest.mark.parametrize("editor", editors.EDITORS)
def test_settings_name_the_server_and_the_folder_of_the_puzzles(
    workbench: Workbench, server: Path, editor: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["editor", editor]) == ExitCode.PASSED
    written = re.findall(r"^wrote (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert written
    texts = "".join(Path(path).read_text() for path in written)
    assert str(workbench.root / "problems") in texts
    assert str(server if editor != "vscode" else server.with_name("python")) in texts
    assert main(["editor", editor]) == ExitCode.PASSED
    assert capsys.readouterr().out.count("is as it should be") == len(written)


def test_other_settings_stay_and_are_copied(
    workbench: Workbench, server: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = workbench.root / ".vscode"
    folder.mkdir()
    mine = {"editor.fontSize": 20, "mojo.lsp.includeDirs": ["/elsewhere"]}
    (folder / "settings.json").write_text(json.dumps(mine))
    (folder / "tasks.json").write_text(
        '{"tasks": [{"label": "mine"}, {"label": "puzzle: hint", "args": []}]}'
    )
    assert main(["editor", "vscode"]) == ExitCode.PASSED
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["editor.fontSize"] == 20
    assert settings["mojo.lsp.includeDirs"] == ["/elsewhere", str(workbench.root / "problems")]
    tasks = json.loads((folder / "tasks.json").read_text())["tasks"]
    assert [task["label"] for task in tasks].count("puzzle: hint") == 1
    assert tasks[0] == {"label": "mine"}
    (copy,) = folder.glob("settings.json.20*")
    assert json.loads(copy.read_text()) == mine
    assert "what was there is kept: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".vscode/settings.json", b"{// mine\n}"),
        (".vscode/settings.json", b"[1]\n"),
        (".zed/settings.json", b'{"a": "\xff"}\n'),
        (".helix/languages.toml", b"[mine]\n"),
    ],
)
def test_settings_that_cannot_be_merged_are_not_touched(
    workbench: Workbench, server: Path, capsys: pytest.CaptureFixture[str], name: str, text: bytes
) -> None:
    editor = name[1:].partition("/")[0]
    path = workbench.root / name
    path.parent.mkdir()
    path.write_bytes(text)
    assert main(["editor", editor]) == ExitCode.USAGE
    assert path.read_bytes() == text
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    said = capsys.readouterr().err
    assert "left as it is" in said
    assert str(workbench.root / "problems") in said


def problems_in(output: str) -> list[tuple[str, ...]]:
    """File, line, column, severity and message of the problems that VS Code lists for a task's output."""
    found = []
    lines = output.splitlines()
    for matcher in editors._matchers():
        several = matcher["pattern"] if isinstance(matcher["pattern"], list) else [matcher["pattern"]]
        for index in range(len(lines) - len(several) + 1):
            facts = {"severity": matcher["severity"]}
            for pattern, line in zip(several, lines[index:], strict=False):
                match = re.search(pattern["regexp"], line)
                if not match:
                    break
                facts |= {name: match[group] for name, group in pattern.items() if name != "regexp"}
            else:
                names = ("file", "line", "column", "severity", "message")
                found.append((index, tuple(facts[name] for name in names)))
    return [problem for _, problem in sorted(found)]


def test_the_problem_matcher_reads_a_compile_error(workbench: Workbench, server: Path) -> None:
    assert main(["editor", "vscode"]) == ExitCode.PASSED
    tasks = json.loads((workbench.root / ".vscode" / "tasks.json").read_text())["tasks"]
    assert tasks[0]["problemMatcher"] == editors._matchers()
    workbench.problem.write_text("first = 1\nsecond = thing # compile error\n")
    assert problems_in(workbench.run("run", "p01").stderr) == [
        ("problems/p01/p01.mojo", "2", "5", "error", "use of unknown declaration 'thing'")
    ]


def test_the_problem_matchers_read_what_the_simulated_gpu_finds() -> None:
    golden = REPOSITORY / "tests" / "messages" / "golden"
    wide, narrow = (
        "      where: problems/p03/p03.mojo:23:36: thread (4, 0, 0) of block (0, 0, 0) reads\n",
        "      where: problems/p03/p03.mojo:23:36:\n        thread (4, 0, 0) of block (0, 0, 0) reads\n",
    )
    reads = ("problems/p03/p03.mojo", "23", "36", "error", "thread (4, 0, 0) of block (0, 0, 0) reads")
    assert problems_in(wide) == problems_in(narrow) == [reads]
    read = 0
    for path in sorted(golden.glob("*.txt")):
        text = path.read_text("utf-8")
        accesses = re.findall(r"^ +(?:where: |위치: )?([\w/]+\.mojo):(\d+):(\d+):(?: |$)", text, re.MULTILINE)
        problems = [problem for problem in problems_in(text) if "does not compile" not in problem[4]]
        if accesses:
            assert [problem[:3] for problem in problems] == accesses, path.name
            assert all(message for *_, message in problems)
        read += len(problems)
    assert read > 40


def test_an_unknown_editor_or_shell_suggests_one(workbench: Workbench) -> None:
    assert "did you mean `neovim`?" in workbench.run("editor", "nvim").stderr
    assert "did you mean `zsh`?" in workbench.run("completion", "zhs").stderr


def test_a_missing_language_server_says_how_to_install_it(workbench: Workbench) -> None:
    if (Path(sys.prefix) / "bin" / editors.SERVER).exists():
        pytest.skip("it is installed")
    result = workbench.run("editor", "zed")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "try: `uv run --group editor tooling editor zed` installs it" in result.stderr
    assert "mojo==1.2.0" in result.stderr


COMPLETED = [
    ("tooling wat", "watch"),
    ("tooling cache e", "empty"),
    ("tooling run p34", "p34"),
    ("tooling run 34 --coord", "--coordination"),
    ("tooling run p01 --coord", ""),
    ("tooling run p01 p34 --d", "--demo"),
    ("tooling hint p34 --coord", "--coordination"),
    ("tooling run --target nv", "nvidia"),
    ("tooling run p01 --sol", "--solution"),
    ("tooling progress --imp", "--import"),
    ("tooling editor hel", "helix"),
    ("tooling completion zs", "zsh"),
    ("gpu-puzzle-lab run p0", "p01"),
    ("bin/uv run --extra max tooling run p3", "p34"),
    ("uvx gpu-puzzle-lab diff p3", "p34"),
    ("pixi run -e sim tooling hint p3", "p34"),
    ("poe p3", "p34"),
    ("uv run poe p34 --c", "--coordination"),
]


@pytest.fixture
def callers(workbench: Workbench) -> str:
    """A search path on which every way to call the tool leads to it."""
    workbench.add_p34()
    folder = workbench.root / "bin"
    folder.mkdir()
    tool = f'#!/bin/sh\nexec {sys.executable} {HERE / "launcher.py"} "$@"\n'
    runner = '#!/bin/sh\nwhile [ "$1" != tooling ] && [ "$1" != gpu-puzzle-lab ]; do shift; done\nexec "$@"\n'
    for name in ("tooling", "gpu-puzzle-lab", "uv", "uvx", "pixi"):
        (folder / name).write_text(tool if name in ("tooling", "gpu-puzzle-lab") else runner)
        (folder / name).chmod(0o755)
    return f"{folder}:{workbench.environment['PATH']}"


def shell_output(workbench: Workbench, callers: str, *command: str) -> str:
    done = subprocess.run(
        command,
        cwd=workbench.root,
        env=workbench.environment | {"PATH": callers},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_bash_completes_after_every_form_of_the_command(workbench: Workbench, callers: str) -> None:
    script = workbench.run("completion", "bash").stdout
    for typed, _ in COMPLETED:
        words = typed.split(" ")
        script += f"\nCOMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _tooling_complete {words[0]}"
        script += '\necho "${COMPREPLY[@]}"\n'
    answers = shell_output(workbench, callers, "bash", "-c", script).split("\n")[:-1]
    assert dict(zip([typed for typed, _ in COMPLETED], answers, strict=True)) == dict(COMPLETED)


def test_bash_leaves_other_commands_of_uv_to_their_own_completion(workbench: Workbench) -> None:
    before = "_of_uv() { COMPREPLY=(of uv $1); }\ncomplete -F _of_uv uv\n"
    script = before + workbench.run("completion", "bash").stdout * 2  # read twice
    script += '\nCOMP_WORDS=(uv ad); COMP_CWORD=1; _tooling_complete uv\necho "${COMPREPLY[@]}"\n'
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "of uv uv\n"


@pytest.mark.skipif(not shutil.which("fish"), reason="needs fish")
def test_fish_completes_after_every_form_of_the_command(workbench: Workbench, callers: str) -> None:
    script = workbench.run("completion", "fish").stdout
    for typed, _ in COMPLETED:
        script += f"echo 'at: {typed}'\ncomplete -C '{typed}'\n"
    said = shell_output(workbench, callers, "fish", "--no-config", "-c", script)
    found = {}
    for part in said.split("at: ")[1:]:
        typed, *answers = part.splitlines()
        found[typed] = " ".join(answer.split("\t")[0] for answer in answers)
    assert found == dict(COMPLETED)


@pytest.mark.skipif(not shutil.which("zsh"), reason="needs zsh")
def test_zsh_completes_after_every_form_of_the_command(workbench: Workbench, callers: str) -> None:
    script = "compdef() { :; }\ntypeset -gA _comps\n" + workbench.run("completion", "zsh").stdout
    script += '\n_describe() { print -r -- "$found"; }\n_files() { print; }\n'
    for typed, _ in COMPLETED:
        words = typed.split(" ")
        script += f"words=({typed}); CURRENT={len(words)}; service={words[0]}; _tooling_complete\n"
    answers = shell_output(workbench, callers, "zsh", "-f", "-c", script).split("\n")[:-1]
    found = [answer.split(":")[0] for answer in answers]
    assert dict(zip([typed for typed, _ in COMPLETED], found, strict=True)) == dict(COMPLETED)


@pytest.mark.parametrize(("shell", "separator"), [("zsh", ":"), ("fish", "\t")])
def test_words_have_their_meaning_beside_them(workbench: Workbench, shell: str, separator: str) -> None:
    workbench.add_p34()
    said = workbench.run("completion", shell, PUZZLE_COMPLETE="run\np0", PUZZLE_LANG="ko").stdout
    assert said == f"p01{separator}맵\n"
    options = workbench.run("completion", shell, PUZZLE_COMPLETE="reset\n--y").stdout
    assert options == f"--yes{separator}with `all`: without a question\n"


def test_the_development_container_installs_what_the_readme_does() -> None:
    container = json.loads((REPOSITORY / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    install, _ = readme.split("```")[1].removeprefix("bash\n").split(" && ")
    assert container["onCreateCommand"].startswith(f"{install} && .uv/bin/uv sync ")
    named = re.findall(r"tooling ([a-z]+)", " ".join(map(str, container.values())))
    assert named == ["editor", "doctor", "run", "start"]


@pytest.mark.slow
def test_the_language_server_finds_what_puzzles_import() -> None:
    server = Path(sys.prefix) / "bin" / editors.SERVER
    if not server.is_file():
        pytest.skip("uv run --group editor installs the language server")
    file = REPOSITORY / "solutions" / "p01" / "p01.mojo"
    assert diagnostics_of([str(server), "-I", str(REPOSITORY / "problems")], file) == []
    assert diagnostics_of([str(server)], file) == ["unable to locate module 'lab'"]
