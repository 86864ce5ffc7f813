"""`--on HOST`: programs are built here, run on another machine, and judged here as if they had run here.

The `ssh` of these tests starts the command on this machine, with an environment of its own; a test of the
second tier does the same through OpenSSH.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.cli.conftest import SOLUTION, Result, Workbench
from tests.platform.test_processes import gone
from tooling.platform.exit_codes import ExitCode
from tooling.standalone import agent

SSH = """\
#!{python}
import subprocess, sys, threading

with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
status = subprocess.run(["sh", "-c", {before!r}]).returncode
if {before!r}.endswith("exit {{}}".format(status)):
    sys.exit(status)
remote = subprocess.Popen(
    ["sh", "-c", sys.argv[-1]],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    env={{"HOME": {home!r}, "PATH": {path!r}}},
)

def send():
    while data := sys.stdin.buffer.raw.read(65536):
        remote.stdin.raw.write(data)
    remote.stdin.close()

threading.Thread(target=send, daemon=True).start()
while data := remote.stdout.raw.read(65536):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
sys.stdout.close()
sys.exit(remote.wait() % 256)
"""
NVIDIA = '#!/bin/sh\necho "NVIDIA H100 80GB HBM3, 9.0"\n'
STORE = ".cache/gpu-puzzle-lab-runs"


class Host:
    """The other machine: a home of its own, and commands that only it has."""

    def __init__(self, folder: Path, bench: Workbench) -> None:
        self.home, self.bin = folder / "home", folder / "commands"
        self.log, self.ssh = folder / "ssh.log", Path(bench.environment["PUZZLE_MOJO"]).with_name("ssh")
        for path in (self.home, self.bin):
            path.mkdir(parents=True)
        (self.bin / "python3").symlink_to(sys.executable)
        self.command("nvidia-smi", NVIDIA)
        self.before("")
        bench.environment["PATH"] = f"{self.ssh.parent}:{bench.environment['PATH']}"

    def command(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def before(self, commands: str) -> None:
        """What `ssh` does before it connects."""
        text = SSH.format(
            python=sys.executable,
            log=str(self.log),
            before=commands,
            home=str(self.home),
            path=f"{self.bin}:/usr/bin:/bin",
        )
        self.ssh.write_text(text)
        self.ssh.chmod(0o755)

    @property
    def kept(self) -> dict[str, int]:
        """The objects that were sent, each with the number of its file."""
        return {path.name: path.stat().st_ino for path in (self.home / STORE).iterdir()}


@pytest.fixture
def host(workbench: Workbench, tmp_path: Path) -> Host:
    # What the tool takes for the toolchain has no libraries beside it.
    libraries = Path(workbench.environment["PUZZLE_MOJO"]).parent.parent / "lib"
    libraries.mkdir()
    for stem in ("KGENCompilerRTShared", "AsyncRTMojoBindings", "MSupportGlobals", "AsyncRTRuntimeGlobals"):
        (libraries / f"lib{stem}.so").write_bytes(stem.encode())
    return Host(tmp_path / "other machine", workbench)


def without_times(text: str) -> str:
    """A verdict without what differs from run to run."""
    text = re.sub(r"[\d.]+( s\b|초)", r"N\1", text.replace("NVIDIA H100 80GB HBM3", "test GPU"))
    return re.sub(r"^(p\d+(?: on|,) test GPU.*) \(.*\)$", r"\1", text, flags=re.MULTILINE)


def same_verdict(here: Result, there: Result) -> bool:
    """Whether two runs differ in their first line alone, and in how much of an endless output is shown."""
    rows = [
        [row for row in without_times(each.stdout).splitlines()[1:] if not row.startswith("xxx")]
        for each in (here, there)
    ]
    return rows[0] == rows[1] and here.status == there.status


def test_a_right_answer_is_judged_as_here(workbench: Workbench, host: Host) -> None:
    there = workbench.run("run", "p01", "--on", "box", PUZZLE_STATE_DIR="/dev/null/none")
    assert there.stdout.startswith("p01 on NVIDIA H100 80GB HBM3 (--on box)\n")
    assert there.status == ExitCode.PASSED, there
    assert same_verdict(workbench.run("run", "p01", PUZZLE_STATE_DIR="/dev/null/none"), there)
    assert "--target-accelerator sm_90a --target-cpu x86-64" in workbench.builds[0]


WRONG = (
    "for i in range(8):\n    out[i] = a[i] + 11\n",
    "pass\n",
    "import os; os.abort()\n",
    "while True: pass\n",
    "print('x' * 50_000_000)\n",
    "write('out', 'out', [0.0] * 9999)\n",
    "os.mkfifo(Path(folder, 'out', 'out.float32.bin')); sys.exit()\n",
    "print('한글 출력'); sys.exit(3)\n",
)
"""A value, nothing, a crash, no end, endless output, a size, a pipe, an exit status."""


@pytest.mark.parametrize("language", ["en", pytest.param("ko", marks=pytest.mark.slow)])
def test_wrong_answers_are_judged_as_here(workbench: Workbench, host: Host, language: str) -> None:
    names = [f"p{number:02}" for number in range(1, len(WRONG) + 1)]
    for number, name in enumerate(names[1:], 2):
        workbench.add_puzzle(name, number, name)
    for name, kernel in zip(names, WRONG, strict=True):
        workbench.answer(kernel, name)
    options = (*names, "--timeout", "1.5", "--lang", language)
    here = workbench.run("run", *options)
    there = workbench.run("run", *options, "--on", "box")
    assert here.status == ExitCode.WRONG
    assert there.stdout.count("(--on box)\n") == len(WRONG)
    assert same_verdict(here, there), (here.stdout, there.stdout, there.stderr)


def test_reports_are_those_of_a_run_here(workbench: Workbench, host: Host) -> None:
    workbench.answer("for i in range(8):\n    out[i] = a[i] + 11\n")
    here = json.loads(workbench.run("run", "p01", "--json").stdout)
    there = json.loads(workbench.run("run", "p01", "--json", "--on", "box").stdout)
    assert there["results"][0]["message"] == here["results"][0]["message"]
    assert there["results"][0]["status"] == "failed"


def test_what_is_there_is_not_sent_again(workbench: Workbench, host: Host) -> None:
    workbench.run("run", "p01", "--on", "box")
    first = host.kept
    assert first
    assert workbench.run("run", "p01", "--on", "box").status == ExitCode.PASSED
    assert host.kept == first
    workbench.answer("for i in range(8):\n    out[i] = a[i] + 11\n")
    workbench.run("run", "p01", "--on", "box")
    assert len(host.kept.keys() - first.keys()) == 1  # the new program


def test_the_gpu_is_asked_for_once(workbench: Workbench, host: Host) -> None:
    asked = host.home / "asked"
    host.command("nvidia-smi", f"{NVIDIA}echo x >> '{asked}'\n")
    for _ in range(2):
        assert workbench.run("run", "p01", "--on", "box").status == ExitCode.PASSED
    assert asked.read_text() == "x\n"
    workbench.run("targets", "--on", "box")
    assert asked.read_text() == "x\nx\n"


def test_the_host_of_the_environment_gives_way_to_a_target(workbench: Workbench, host: Host) -> None:
    assert "(PUZZLE_ON" not in workbench.run("run", "p01", PUZZLE_ON="box").stderr
    assert host.log.exists()
    host.log.unlink()
    assert workbench.run("run", "p01", "--target", "nvidia", PUZZLE_ON="box").status == ExitCode.PASSED
    assert not host.log.exists()


def test_a_machine_is_remembered_until_it_is_forgotten(workbench: Workbench, host: Host) -> None:
    kept = workbench.run("targets", "--on", "box", "--default")
    assert kept.stdout.endswith(
        "runs use `box` from now on; `tooling targets --default` returns to this machine\n"
    )
    assert workbench.run("run", "p01").stdout.startswith("p01 on NVIDIA H100 80GB HBM3 (--on box)\n")
    here = workbench.run("run", "p01", PUZZLE_TARGET="nvidia")
    assert here.stdout.startswith("p01 on test GPU (PUZZLE_TARGET=nvidia)\n")
    assert "a run uses the GPU of `box`" not in workbench.run("targets", "--default").stdout
    assert workbench.run("run", "p01").stdout.startswith("p01 on test GPU (the first GPU found)\n")


def test_a_program_in_python_runs_where_max_is(workbench: Workbench, host: Host) -> None:
    api = "{name: p01, api: raw}"
    in_python = "{name: p01, api: tile_tensor, language: python}"
    workbench.manifest.write_text(workbench.manifest.read_text().replace(api, in_python))
    for text in (workbench.problem, workbench.solution):
        text.rename(text.with_suffix(".py"))
    package = workbench.root / "problems" / "lab"
    package.mkdir()
    (package / "__init__.py").write_text("WORDS = '한글'\n")
    own = workbench.problem.with_suffix(".py")
    own.write_text(f"import lab\nassert lab.WORDS == '한글'\n{own.read_text()}")
    result = workbench.run("run", "p01", "--on", "box")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr == (
        "error: `p01` is a program in Python, and `python3` of `box` does not find MAX\n"
        "  why: MAX compiles its graph on the machine where it runs\n"
        "  try: install MAX for `python3` there\n"
    )
    skipped = workbench.run("verify", "--on", "box", "--only", "solution", "--require-all", "--jobs", "1")
    assert (skipped.status, "does not find MAX" in skipped.stdout) == (ExitCode.NOT_POSSIBLE, True), skipped
    (host.home / "packages" / "max" / "engine").mkdir(parents=True)
    (host.bin / "python3").unlink()
    host.command("python3", f"#!/bin/sh\nPYTHONPATH='{host.home}/packages' exec {sys.executable} \"$@\"\n")
    result = workbench.run("run", "p01", "--on", "box")
    assert result.status == ExitCode.PASSED, result
    assert result.stdout.startswith("p01 on NVIDIA H100 80GB HBM3 (--on box)\n")
    own.write_text(own.read_text().replace("a[i] + 10", "a[i] + 11"))
    wrong = workbench.run("run", "p01", "--on", "box")
    assert wrong.status == ExitCode.WRONG, wrong


def test_targets_shows_what_is_there(workbench: Workbench, host: Host) -> None:
    result = workbench.run("targets", "--on", "box")
    assert result.stdout == (
        "nvidia      yes NVIDIA H100 80GB HBM3: sm_90a, compute capability 9.0, warps of 32 threads\n"
    )
    host.command("nvidia-smi", "#!/bin/sh\nexit 9\n")
    result = workbench.run("targets", "--on", "box")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stdout == (
        "`box` has no GPU that Mojo can use: `nvidia-smi` finds none there, and no AMD GPU can be opened\n"
    )


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (
            "echo 'ssh: connect to host box port 22: Connection refused' >&2; exit 255",
            "error: `box` cannot be reached\n"
            "  why: ssh: connect to host box port 22: Connection refused\n"
            "  try: `ssh box true` must work without questions\n",
        ),
        (
            "echo 'sh: 1: exec: python3: not found' >&2; exit 127",
            "error: `box` has no Python 3\n"
            "  why: sh: 1: exec: python3: not found\n"
            "  try: install Python 3.9 or later there\n",
        ),
        (
            "exit 0",
            "error: `box` answers with something else than expected\n"
            "  why: `ssh` ended with status 0\n"
            "  try: `ssh box true` must work without questions\n",
        ),
    ],
)
def test_a_machine_that_cannot_be_used_is_not_blamed_on_the_answer(
    workbench: Workbench, host: Host, before: str, message: str
) -> None:
    host.before(before)
    result = workbench.run("run", "p01", "--on", "box")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr == message
    assert "❌" not in result.stdout


@pytest.mark.parametrize("name", ["-oProxyCommand=touch x", "a b", "", "\n"])
def test_a_name_that_is_an_option_of_ssh_is_refused(workbench: Workbench, host: Host, name: str) -> None:
    result = workbench.run("targets", f"--on={name}")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr == f"error: `{name}` cannot be the name of a host\n"
    assert not host.log.exists()


def test_greetings_of_the_shell_are_passed_over(workbench: Workbench, host: Host) -> None:
    host.before("echo 'Welcome to box!'; echo '{}'; echo '한글'")
    assert workbench.run("run", "p01", "--on", "box").status == ExitCode.PASSED


def test_a_connection_that_is_lost_is_said_and_nothing_is_judged(workbench: Workbench, host: Host) -> None:
    workbench.answer(
        "import signal, time\n"
        "if not Path(folder, 'in', 'a.bin').exists():\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n"
        "time.sleep(60)\n"
    )
    result = workbench.run("run", "p01", "--on", "box")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert "error: the connection to `box` was lost\n" in result.stderr
    assert "  try: run it again: what was sent is still there\n" in result.stderr
    assert "❌" not in result.stdout


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, marks=pytest.mark.slow),
    ],
)
def test_what_runs_there_ends_with_the_command(
    workbench: Workbench, host: Host, tmp_path: Path, number: signal.Signals
) -> None:
    started = tmp_path / "started"
    workbench.answer(f"Path({str(started)!r}).write_text(f'{{os.getpid()}} {{folder}}')\nwhile True: pass\n")
    process = workbench.start("run", "p01", "--on", "box", "--timeout", "60")
    while not started.exists() or not started.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    pid, lab = started.read_text().split(" ", 1)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    assert gone(int(pid))
    until = time.monotonic() + 20
    while Path(lab).exists():
        assert time.monotonic() < until, "the folder of the program is still there"
        time.sleep(0.01)


def test_a_program_ends_with_what_started_it_there(workbench: Workbench, host: Host, tmp_path: Path) -> None:
    started = tmp_path / "started"
    workbench.answer(
        f"Path({str(started)!r}).write_text(f'{{os.getpid()}} {{os.getppid()}}')\nwhile True: pass\n"
    )
    process = workbench.start("run", "p01", "--on", "box", "--timeout", "60")
    while not started.exists() or not started.read_text():
        assert process.poll() is None
        time.sleep(0.01)
    program, agent = map(int, started.read_text().split())
    os.kill(agent, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert "error: the connection to `box` was lost\n" in said
    assert gone(program)


def test_clean_removes_what_was_sent(workbench: Workbench, host: Host) -> None:
    workbench.run("run", "p01", "--on", "box")
    result = workbench.run("clean", "--on", "box")
    assert result.status == ExitCode.PASSED
    assert re.fullmatch(rf"removed {re.escape(str(host.home / STORE))} on box: \d+\.\d MB\n", result.stdout)
    assert not (host.home / STORE).exists()
    assert workbench.run("clean").stderr.startswith("error: no machine is named\n")


def test_folders_of_killed_agents_are_removed_a_day_later(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old, new, other = (tmp_path / name for name in ("gpu-puzzle-run-a", "gpu-puzzle-run-b", "else"))
    for folder in (old, new, other):
        (folder / "out").mkdir(parents=True)
    for folder in (old, other):
        os.utime(folder, (0, time.time() - 25 * 3600))
    agent.remove_unused()
    assert (old.exists(), new.exists(), other.exists()) == (False, True, True)


def test_a_folder_that_others_can_change_is_not_used(workbench: Workbench, host: Host) -> None:
    (host.home / STORE).mkdir(parents=True)
    (host.home / STORE).chmod(0o777)
    result = workbench.run("run", "p01", "--on", "box")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert f"why: PermissionError: {host.home / STORE} can be changed by other users" in result.stderr


def test_verify_uses_several_machines(workbench: Workbench, host: Host) -> None:
    workbench.add_puzzle("p02", 2, "Zip")
    result = workbench.run("verify", "--only", "solution", "--on", "box,pot", "--json", "-")
    assert result.status == ExitCode.PASSED, result
    used = {line.split(" -- ")[1].split()[0] for line in host.log.read_text().splitlines()}
    assert used == {"box", "pot"}


def test_a_verify_that_lost_its_machine_is_resumed(workbench: Workbench, host: Host, tmp_path: Path) -> None:
    workbench.add_puzzle("p02", 2, "Zip")
    gate, tried = tmp_path / "machine is back", tmp_path / "tried"
    lost = (
        "import signal\n"
        f"open({str(tried)!r}, 'a').write('x')\n"
        f"if not Path({str(gate)!r}).exists():\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n"
        "    signal.pause()\n"
    )
    solution = workbench.root / "solutions" / "p02" / "p02.mojo"
    solution.write_text(SOLUTION.replace("\na = stage", f"\n{lost}a = stage"))
    arguments = ("verify", "--only", "solution", "--on", "box", "--jobs", "1")
    result = workbench.run(*arguments)
    assert result.status == ExitCode.NOT_POSSIBLE, result
    assert "error: 1 of 2 were not tried\n  the connection to `box` was lost\n" in result.stdout
    assert "  try: `tooling verify --resume` with the same --on tries only these\n" in result.stdout
    assert "❌" not in result.stdout
    gate.touch()
    resumed = workbench.run(*arguments, "--resume")
    assert resumed.status == ExitCode.PASSED, resumed
    assert re.search(r"^p02 +1/1 .*\nall +1/1 ", resumed.stdout, re.MULTILINE)
    assert "the last run has tried everything\n" in workbench.run(*arguments, "--resume").stdout


def test_another_system_is_refused(workbench: Workbench, host: Host) -> None:
    text = "import platform; platform.machine = lambda: 'aarch64'"
    (host.home / "sitecustomize.py").write_text(text)
    (host.bin / "python3").unlink()
    host.command("python3", f"#!/bin/sh\nPYTHONPATH='{host.home}' exec {sys.executable} \"$@\"\n")
    result = workbench.run("run", "p01", "--on", "box")
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr == (
        "error: programs for `box` cannot be built here\n"
        "  why: it is Linux aarch64, and Mojo builds for Linux x86_64 on this machine\n"
    )
