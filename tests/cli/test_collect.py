"""`tooling collect`: the answers of a class, among them hostile ones, are judged in a sandbox.

The programs are scripts in Python that a stand-in for the compiler copies; real ones are in the second tier.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import SOLUTION, Result, Workbench
from tests.platform.test_processes import gone
from tooling.classroom.reports import file_names
from tooling.classroom.students import NotFetched, students_of
from tooling.execution.sandbox import NoSandbox, find_sandbox
from tooling.platform.exit_codes import ExitCode
from tooling.platform.machine_watch import Allowance
from tooling.simulator.server.protocol import (
    ARENA_BASE,
    MAGIC,
    REQUEST_HEADER,
    REQUESTS,
    VERSION,
    Opcode,
)
from tooling.toolchain import find_toolchain

ROOT = Path(__file__).parents[2]


def reason_without_sandbox() -> str:
    try:
        find_sandbox(Allowance())
    except NoSandbox as error:
        return f"{error.what}: {error.why}"
    return ""


NO_SANDBOX = reason_without_sandbox()
needs_sandbox = pytest.mark.skipif(bool(NO_SANDBOX), reason=NO_SANDBOX or "-")

ATTACK = """\
def refuse_if(condition):
    if condition:
        raise OSError("as it is to be")

try:
{attack}
except OSError as error:
    print("refused:", error)
else:
    sys.exit("the attack has succeeded")
"""


def attacking(attack: str) -> str:
    """The right answer after an attack; where that succeeds, the answer is wrong."""
    indented = "".join(f"    {line}\n" for line in attack.splitlines())
    return with_code(ATTACK.format(attack=indented))


def with_code(code: str) -> str:
    start = '\na = stage("a"'
    assert start in SOLUTION
    return SOLUTION.replace(start, f"\nimport socket, subprocess\n{code}{start}")


class Class:
    """The folders of students, and what became of their answers."""

    def __init__(self, bench: Workbench, folder: Path) -> None:
        self.bench, self.folder, self.output = bench, folder / "class", folder / "collected"

    def write(self, answers: Mapping[str, str]) -> None:
        for student, text in answers.items():
            path = self.folder / student / "p01.mojo"
            path.parent.mkdir(parents=True)
            path.write_text(text)

    def collect(self, *options: str, **environment: str) -> Result:
        arguments = ("collect", str(self.folder), "-o", str(self.output), "--jobs", "1", *options)
        return self.bench.run(*arguments, TEST_NO_SIMULATION="1", **environment)

    @property
    def table(self) -> dict[str, list[str]]:
        with (self.output / "results.csv").open(newline="") as file:
            return {row[0]: row[1:] for row in csv.reader(file)}

    def said(self, student: str) -> str:
        name = file_names([student])[student]
        report = json.loads((self.output / "students" / name / "gradescope.json").read_text())
        (test,) = report["tests"]
        return str(test["output"])


@pytest.fixture
def of_students(workbench: Workbench, tmp_path: Path) -> Class:
    (workbench.root / "problems" / "p01" / "p01.mojo").write_text(SOLUTION.replace("a[i] + 10", "0"))
    return Class(workbench, tmp_path)


@needs_sandbox
def test_a_class_is_judged_and_reported(of_students: Class) -> None:
    hidden = of_students.bench.solution.parent / "reference.py"
    of_students.write(
        {
            "홍 길동": SOLUTION,
            "=cmd|'x'!A1": SOLUTION.replace("a[i] + 10", "a[i] + 11"),
            "<b>\"O'Neil\n\x1b[31m": "# compile error\n" + SOLUTION,
            "reads the reference": attacking(f"open({str(hidden)!r}).read()"),
            "includes it": f"# include {hidden}\n" + SOLUTION,
            "unanswered": of_students.bench.problem.read_text(),
        }
    )
    (of_students.folder / "links to it").mkdir()
    (of_students.folder / "links to it" / "p01.mojo").symlink_to(of_students.bench.solution)
    result = of_students.collect()
    assert result.status == ExitCode.PASSED, result
    assert "홍 길동: 1 of 1 points\n" in result.stdout
    assert "\x1b" not in result.stdout
    assert of_students.table == {
        "student": ["points", "of", "p01"],
        "홍 길동": ["1", "1", "right"],
        "'=cmd|'x'!A1": ["0", "1", "wrong"],
        "<b>\"O'Neil\n\ufffd[31m": ["0", "1", "wrong"],
        "includes it": ["0", "1", "wrong"],
        "links to it": ["0", "1", "wrong"],
        "reads the reference": ["1", "1", "right"],
        "unanswered": ["0", "1", "no answer"],
    }
    assert of_students.said("links to it") == (
        "`p01.mojo` cannot be read: it is a symbolic link, or in a folder that is one, and links are not "
        "followed"
    )
    assert "No such file or directory" in of_students.said("includes it")
    assert str(of_students.bench.environment["PUZZLE_CACHE_DIR"]) not in of_students.said(
        "<b>\"O'Neil\n\x1b[31m"
    )
    page = (of_students.output / "results.html").read_text()
    assert "&lt;b&gt;&quot;O&#x27;Neil" in page
    assert "<b>" not in page
    suites = ET.parse(of_students.output / "junit.xml").getroot()
    assert {suite.get("failures") for suite in suites if suite.get("name") == "홍 길동"} == {"0"}
    classroom = json.loads((of_students.output / "students" / "홍 길동" / "classroom.json").read_text())
    assert classroom == {
        "version": 1,
        "status": "pass",
        "max_score": 1,
        "tests": [{"name": "p01", "status": "pass", "score": 1, "message": ""}],
    }


def test_without_a_sandbox_nothing_is_run(of_students: Class, tmp_path: Path) -> None:
    of_students.write({"A": SOLUTION})
    (tmp_path / "only").mkdir()
    result = of_students.collect(PATH=str(tmp_path / "only"))
    assert result.status == ExitCode.NOT_POSSIBLE
    assert result.stderr == (
        "error: there is no sandbox on this machine: bubblewrap is not installed\n"
        "  why: the programs to judge are not trusted, and run in a sandbox only\n"
        "  try: install the package `bubblewrap` of your system, which has the command `bwrap`\n"
    )
    assert not of_students.bench.builds
    assert not of_students.output.exists()


@pytest.mark.parametrize(
    ("said", "why", "hint"),
    [
        (
            "bwrap: setting up uid map: Permission denied",
            "bwrap: setting up uid map: Permission denied",
            "allow user namespaces: ",
        ),
        ("bwrap: Unknown option --size", "bwrap: Unknown option --size", "install bubblewrap 0.8 or later"),
        ("", "`bwrap` ended with status 3", "allow user namespaces: "),
    ],
)
def test_a_sandbox_that_the_system_refuses_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, why: str, hint: str
) -> None:
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\n[ -z '{said}' ] || echo '{said}' >&2\nexit 3\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandbox, match="the system refuses the sandbox") as caught:
        find_sandbox(Allowance())
    assert (caught.value.why, caught.value.exit_code) == (why, ExitCode.NOT_POSSIBLE)
    assert str(caught.value.hint).startswith(hint)


def test_names_of_files_are_safe_and_differ() -> None:
    names = ["../../etc", "a/b", "a_b", "A_B", "..", "\n", "한글", "x" * 300, "CON "]
    assert list(file_names(names).values()) == [
        *("_.._etc", "a_b", "a_b-2", "A_B-3", "student", "_", "한글", "x" * 80, "CON"),
    ]


@pytest.mark.slow
@needs_sandbox
def test_attacks_have_no_effect(of_students: Class, tmp_path: Path) -> None:
    """Each answer attacks first; it is right where the attack was refused."""
    bench, name = of_students.bench, f"gpu-puzzle-test-{os.getpid()}"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    planted = Path(f"/tmp/{name}")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        port = server.getsockname()[1]
        attacks = {
            "etc": "open('/etc/passwd').read()",
            "solution": f"open({str(bench.solution)!r}).read()",
            "manifest": f"open({str(bench.manifest)!r}).read()",
            "neighbour": f"open({str(of_students.folder / 'etc' / 'p01.mojo')!r}).read()",
            "temporary": f"open({str(outside / 'secret')!r}).read()",
            "own source": "open(__file__, 'a').write('x')",
            "system": "open('/usr/bin/planted', 'w')",
            "root": "open('/planted', 'w')",
            "device": "open('/dev/planted', 'w')",
            "inputs": "open(os.path.join(folder, 'in', 'planted'), 'w')",
            "tcp": f"socket.create_connection(('127.0.0.1', {port}), timeout=2)",
            "abstract": f"socket.socket(socket.AF_UNIX).connect('\\0{name}')",
            "parent": f"os.kill({os.getpid()}, 9)",
            "processes": "refuse_if(len([p for p in os.listdir('/proc') if p.isdigit()]) < 9)",
            "kernel": "open('/proc/sys/kernel/hostname', 'w')",
            "system request": "open('/proc/sysrq-trigger', 'w')",
            "memory of the kernel": "open('/proc/kcore', 'rb')",
            "namespace": "refuse_if(subprocess.run(['unshare', '-Ur', 'true']).returncode)",
            "mount": "refuse_if(subprocess.run(['mount', '-t', 'tmpfs', 'x', '/tmp']).returncode)",
            "node": "os.mknod('/tmp/disk', 0o60666, os.makedev(8, 0))",
            "secret": "refuse_if('TOKEN_OF_THE_TEACHER' not in os.environ)",
        }
        of_students.write({student: attacking(attack) for student, attack in attacks.items()})
        of_students.write(
            {
                "planted": with_code(f"open({str(planted)!r}, 'w')\n"),
                "signals": with_code(
                    "for each in (1, -1):\n    try: os.kill(each, 9)\n    except OSError: pass\n"
                ),
            }
        )
        result = of_students.collect(TOKEN_OF_THE_TEACHER="of-the-teacher-alone")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert result.status == ExitCode.PASSED, result
    wrong = {student: of_students.said(student) for student in of_students.table if student != "student"}
    assert {student: said for student, said in wrong.items() if said != "right"} == {}
    assert not planted.exists()
    assert "of-the-teacher-alone" not in "".join(
        path.read_text() for path in of_students.output.rglob("*") if path.is_file()
    )


@pytest.mark.slow
@needs_sandbox
def test_what_an_answer_takes_is_limited(of_students: Class) -> None:
    forever = "while True:\n    "
    attacks = {
        "memory": f"x = []\n{forever}x.append(bytearray(1 << 24))\n",
        "memory of files": f"x = open('/dev/shm/x', 'wb')\n{forever}x.write(bytes(1 << 20))\n",
        "forks": f"{forever}os.fork()\n",
        "threads": f"from threading import Event, Thread\n{forever}Thread(target=Event().wait).start()\n",
        "one large file": f"os.posix_fallocate(os.open(folder + '/out/x', 66), 0, 3 << 30)\n{forever}pass\n",
        "many files": f"i = 0\n{forever}i += 1; open(f'{{folder}}/out/{{i}}', 'w')\n",
        "prints": f"{forever}print('x' * 1000)\n",
        "never ends": f"{forever}pass\n",
        "leaves a child": "if not os.fork():\n    os.setsid()\n    while True: pass\n",
        "crashes": "os.abort()\n",
        "links": "os.symlink('/etc/passwd', folder + '/out/out.float32.bin')\nos._exit(0)\n",
        "pipes": "os.mkfifo(folder + '/out/out.float32.bin')\nos._exit(0)\n",
        "exits": "os._exit(0)\n",
    }
    of_students.write({student: with_code(attack) for student, attack in attacks.items()})
    result = of_students.collect("--timeout", "4", "--memory", "1")
    assert result.status == ExitCode.PASSED, result
    said = {student: of_students.said(student) for student in attacks}
    assert "GiB of memory; 1.0 GiB are allowed" in said["memory"]
    assert "No space left on device" in said["memory of files"]
    assert " are allowed" in said["forks"]
    assert "threads and processes; 512 are allowed" in said["threads"]
    assert "GiB of files; 1.0 GiB are allowed" in said["one large file"]
    assert "GiB of files; 1.0 GiB are allowed" in said["many files"] or "after 4 s" in said["many files"]
    assert "its output did not end" in said["prints"]
    assert "stopped after 4 s" in said["never ends"]
    assert said["leaves a child"] == "right"
    assert "SIGABRT" in said["crashes"]
    for student in ("links", "pipes", "exits"):
        assert said[student] not in ("right", "not judged"), student
    assert of_students.table["leaves a child"] == ["1", "1", "right"]


SPEAKS_TO_THE_GPU = f"""\
import struct
gpu, name = socket.socket(socket.AF_UNIX), os.environ["GPU_SIM_SOCKET"]
gpu.connect(name if name.startswith("/") else "\\0" + name)

def ask(opcode, body):
    gpu.sendall(struct.pack({REQUEST_HEADER.format!r}, opcode, len(body)) + body)
    return gpu.recv(1 << 16)

hello = struct.pack({REQUESTS[Opcode.HELLO].request.format!r}, {MAGIC}, {VERSION}, os.getpid(), {ARENA_BASE})
assert ask({Opcode.HELLO:d}, hello)
head = b".version 8.7\\n.target sm_90a\\n.address_size 64\\n.visible .entry k()\\n{{{{\\n.reg .b32 %r<9>;\\n"
while True:
    ask({Opcode.LOAD_MODULE:d}, head + {{body}} + b"}}}}\\n")
"""


@pytest.mark.slow
@pytest.mark.mojo
@needs_sandbox
def test_what_an_answer_sends_to_the_simulated_gpu_is_limited(of_students: Class) -> None:
    fake = Path(of_students.bench.environment["PUZZLE_MOJO"])
    real = fake.rename(fake.with_name("fake_mojo"))
    compiler = find_toolchain().mojo
    choice = f'case "$*" in *library.mojo*) exec {compiler} "$@";; esac'
    fake.write_text(f'#!/bin/sh\n{choice}\nexec {real} "$@"\n')
    fake.chmod(0o755)
    modules = {
        "instructions": r'b"add.s32 %r1, %r2, %r3;\n" * 2_500_000',
        "braces": 'b"{" * 60_000_000',
        "modules": r'b"add.s32 %r1, %r2, %r3;\n" * 100_000',
    }
    of_students.write(
        {student: with_code(SPEAKS_TO_THE_GPU.format(body=body)) for student, body in modules.items()}
    )
    arguments = ("collect", str(of_students.folder), "-o", str(of_students.output), "--jobs", "1")
    result = of_students.bench.run(*arguments, "--timeout", "4", "--memory", "1")
    assert result.status == ExitCode.PASSED, result
    for student in modules:
        said = of_students.said(student)
        assert "stopped after " in said or "GiB of memory; 1.0 GiB are allowed" in said, said


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_runs_on_after_the_command(of_students: Class, number: signal.Signals, jobs: str) -> None:
    of_students.write({"A": with_code("while True: pass\n"), "B": with_code("while True:\n    pass\n")})
    process = of_students.bench.start(
        *("collect", str(of_students.folder), "-o", str(of_students.output), "--jobs", jobs),
        TEST_NO_SIMULATION="1",
    )
    while not (running := sandboxed(of_students.bench)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said
    until = time.monotonic() + 20
    while any(not gone(each) for each in running) or sandboxed(of_students.bench):
        assert time.monotonic() < until, "a program is still running"
        time.sleep(0.05)
    assert not of_students.output.exists()


def sandboxed(bench: Workbench) -> list[int]:
    """The processes of programs that the project's cache holds."""
    built = f"{bench.environment['PUZZLE_CACHE_DIR']}/builds/".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if built in path.read_bytes():
                found.append(int(path.parent.name))
    return found


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize("kind", ["pipe", "folder", "large", "binary", "linked folder"])
def test_an_answer_that_is_no_text_is_refused(of_students: Class, tmp_path: Path, kind: str) -> None:
    folder = of_students.folder / "A" / "problems" / "p01"
    folder.mkdir(parents=True)
    path = folder / "p01.mojo"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "large":
            path.write_bytes(b"#" * (1 << 21))
        case "binary":
            path.write_bytes(b"\xff\xfe")
        case _:
            folder.rmdir()
            folder.symlink_to(of_students.bench.solution.parent)
    result = of_students.collect()
    assert result.status == ExitCode.PASSED, result
    assert of_students.said("A").startswith("`problems/p01/p01.mojo` cannot be read: ")
    assert not of_students.bench.builds


@pytest.mark.slow
@needs_sandbox
def test_repositories_are_fetched(of_students: Class, tmp_path: Path) -> None:
    for student in ("one", "two"):
        repository = tmp_path / "git" / student
        (repository / "problems" / "p01").mkdir(parents=True)
        (repository / "problems" / "p01" / "p01.mojo").write_text(SOLUTION)
        (repository / "p02.mojo").symlink_to("/etc/passwd")
        for command in (
            ["init", "-q"],
            ["add", "."],
            ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"],
        ):
            subprocess.run(["git", *command], cwd=repository, check=True)
    addresses = [f"file://{tmp_path}/git/{student}" for student in ("one", "two")]
    result = of_students.bench.run(
        "collect", *addresses, "-o", str(of_students.output), TEST_NO_SIMULATION="1"
    )
    assert result.status == ExitCode.PASSED, result
    assert result.stdout.startswith("one: 1 of 1 points\ntwo: 1 of 1 points\n")
    lost = of_students.bench.run(
        "collect", "https://user:secret@127.0.0.1:1/x.git", "-o", str(of_students.output)
    )
    assert lost.status == ExitCode.NOT_POSSIBLE
    assert lost.stderr.startswith("error: the repository `https://127.0.0.1:1/x.git` cannot be fetched\n")
    assert "secret" not in lost.stderr


@pytest.mark.slow
@pytest.mark.mojo
@needs_sandbox
def test_programs_of_the_compiler_are_judged_and_confined(tmp_path: Path) -> None:
    solution = (ROOT / "solutions" / "p01" / "p01.mojo").read_text()
    start = "def main() raises:\n"
    assert solution.count(start) == 1
    reading = (
        f'    with open("{ROOT}/solutions/p01/reference.py", "r") as file:\n        print(file.read())\n'
    )
    buffer = "        var out = ctx.enqueue_create_buffer[dtype](SIZE)\n"
    assert solution.count(buffer) == 1
    taking = (
        "        var kept = List[DeviceBuffer[dtype]]()\n"
        "        for _ in range(64):\n"
        "            var large = ctx.enqueue_create_buffer[dtype](1 << 28)\n"
        "            large.enqueue_fill(1)\n"
        "            ctx.synchronize()\n"
        "            kept.append(large)\n"
    )
    answers = {
        "takes the GPU's memory": solution.replace(buffer, taking + buffer).replace(
            "import DeviceContext", "import DeviceBuffer, DeviceContext"
        ),
        "right": solution,
        "reads": solution.replace(start, start + reading),
        "imports": solution.replace(start, f"from solutions.p01.p01 import main as other\n\n{start}"),
    }
    for student, text in answers.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "p01.mojo").write_text(text)
    command = [sys.executable, "-m", "tooling", "collect", "class", "-o", "out", "--memory", "1"]
    command = [word if word not in ("class", "out") else str(tmp_path / word) for word in command]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == ExitCode.PASSED, done
    with (tmp_path / "out" / "results.csv").open() as file:
        found = {row[0]: row[3] for row in csv.reader(file)}
    assert found == {"student": "p01", "right": "right"} | dict.fromkeys(answers.keys() - {"right"}, "wrong")
    said = {
        student: (tmp_path / "out" / "students" / name / "gradescope.json").read_text()
        for student, name in file_names(list(answers)).items()
    }
    assert "the program failed: " in said["reads"]
    assert "import main as other" in said["imports"]
    assert "GiB of memory; 1.0 GiB are allowed" in said["takes the GPU's memory"]


def test_a_repository_that_does_not_answer_is_named_without_its_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr("tooling.classroom.students._CLONED_FOR", 0.3)
    with pytest.raises(NotFetched) as caught, students_of(["https://me:token@example.org/class.git"]):
        pass
    caught.value.speak("en")
    assert str(caught.value.what) == "the repository `https://example.org/class.git` cannot be fetched"
    assert str(caught.value.why) == "git did not end within 0 seconds"
