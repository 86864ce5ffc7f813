"""`--on HOST` through OpenSSH's own server, with programs that the Mojo compiler builds.

The machine is this one. Its GPU is the simulated one, whose driver the server puts into the environment.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tooling.platform.exit_codes import ExitCode
from tooling.simulator.server.session import Simulation, SimulationOptions

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
HOME_THERE = "TEST_HOME_THERE"
SERVER = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables of `tooling` for which `ssh box` is this machine."""
    if SERVER is None:
        pytest.skip("OpenSSH's server is not installed")
    folder = tmp_path_factory.mktemp("다른 컴퓨터")
    folder.chmod(0o700)
    commands, home = folder / "bin", folder / "home"
    commands.mkdir()
    home.mkdir()
    (commands / "nvidia-smi").write_text('#!/bin/sh\necho "NVIDIA H100 80GB HBM3, 9.0"\n')
    (commands / "nvidia-smi").chmod(0o755)
    for name in ("host_key", "user_key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    shutil.copyfile(folder / "user_key.pub", folder / "authorized")
    port = free_port()
    with Simulation(SimulationOptions()) as simulation:
        there = {
            **simulation.environment,
            "PATH": f"{commands}:{os.environ['PATH']}",
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "TMPDIR": str(home),
        }
        variables = " ".join(f'"{name}={value}"' for name, value in there.items())
        (folder / "sshd_config").write_text(
            f'Port {port}\nListenAddress 127.0.0.1\nHostKey "{folder}/host_key"\n'
            f'AuthorizedKeysFile "{folder}/authorized"\nPidFile none\nStrictModes no\nUsePAM no\n'
            f"PasswordAuthentication no\nSetEnv {variables}\n"
        )
        (folder / "ssh_config").write_text(
            f"Host box\n  HostName 127.0.0.1\n  Port {port}\n  User {getpass.getuser()}\n"
            f'  IdentityFile "{folder}/user_key"\n  IdentitiesOnly yes\n'
            f'  UserKnownHostsFile "{folder}/known"\n  StrictHostKeyChecking accept-new\n'
        )
        wrapper = folder / "client" / "ssh"
        wrapper.parent.mkdir()
        wrapper.write_text(f"#!/bin/sh\nexec {shutil.which('ssh')} -F '{folder}/ssh_config' \"$@\"\n")
        wrapper.chmod(0o755)
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)  # where its unprivileged part lives
        server = subprocess.Popen(
            [SERVER, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=subprocess.DEVNULL
        )
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield {
                **os.environ,
                "PATH": f"{wrapper.parent}:{os.environ['PATH']}",
                "PUZZLE_STATE_DIR": str(folder / "state"),
                "PUZZLE_ON": "box",
                HOME_THERE: str(home),
            }
        finally:
            server.terminate()
            server.wait()


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tooling", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def test_a_solution_is_right_there(environment: dict[str, str]) -> None:
    result = run(environment, "run", "p12", "--solution")
    assert result.returncode == ExitCode.PASSED, result
    assert result.stdout.startswith("p12 on NVIDIA H100 80GB HBM3 (--on box)\n")
    assert "✅" in result.stdout


def test_a_skeleton_is_wrong_there(environment: dict[str, str]) -> None:
    result = run(environment, "run", "p01")
    assert result.returncode == ExitCode.WRONG, result
    assert "the kernel wrote nothing into `out`" in result.stdout


def test_several_trials_share_a_machine(environment: dict[str, str]) -> None:
    result = run(environment, "verify", "p01", "p04", "--only", "solution", "--on", "box")
    assert result.returncode == ExitCode.PASSED, result


def test_nothing_is_left_but_the_cache(environment: dict[str, str]) -> None:
    assert run(environment, "run", "p01", "--solution").returncode == ExitCode.PASSED
    removed = run(environment, "clean")
    assert removed.returncode == ExitCode.PASSED
    assert removed.stdout.startswith("removed ")


def test_a_machine_that_does_not_exist_is_named(environment: dict[str, str]) -> None:
    result = run(environment, "run", "p01", "--on", "nowhere.invalid")
    assert result.returncode == ExitCode.NOT_POSSIBLE
    assert result.stderr.startswith("error: `nowhere.invalid` cannot be reached\n  why: ssh: Could not")


LOST = "error: the connection to `box` was lost\n"
UNREACHABLE = "error: `box` cannot be reached\n"
MOMENTS = 10
_statuses: list[int] = []  # of the runs of which a part was killed


def processes(variable: str) -> dict[int, list[str]]:
    """The command lines of the processes that have a variable with its value in their environment."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if variable.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_text("utf-8", "replace").split("\0")
    return found


@pytest.fixture(scope="module")
def seconds(environment: dict[str, str]) -> float:
    """What a run takes that has nothing to build or to send."""
    for _ in range(2):
        start = time.monotonic()
        assert run(environment, "run", "p01", "--solution").returncode == ExitCode.PASSED
    return time.monotonic() - start


def kill(killed: str, tool: subprocess.Popen[str], there: str, here: str) -> None:
    if killed == "ssh":
        found = [pid for pid, command in processes(here).items() if command[0].endswith("ssh")]
    elif killed == "agent":
        found = [pid for pid, command in processes(there).items() if "-u" in command]
    else:
        tool.send_signal(signal.Signals[killed])
        return
    for pid in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("killed", ["SIGINT", "SIGTERM", "SIGKILL", "ssh", "agent"])
def test_a_run_of_which_a_part_is_killed_leaves_nothing(
    environment: dict[str, str], seconds: float, killed: str, moment: int
) -> None:
    there, mark = f"HOME={environment[HOME_THERE]}", f"TEST_RUN={killed}-{moment}"
    variables = environment | {"TEST_RUN": f"{killed}-{moment}"}
    command = [sys.executable, "-m", "tooling", "run", "p01", "--solution"]
    with subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as tool:
        time.sleep(seconds * (moment + 0.5) / MOMENTS)
        kill(killed, tool, there, mark)
        stdout, stderr = tool.communicate(timeout=120)
    status = tool.returncode
    _statuses.append(status)
    if status == ExitCode.PASSED:  # it had ended, or its last message had come
        assert "✅" in stdout
    elif killed in ("ssh", "agent"):
        assert status == ExitCode.NOT_POSSIBLE, stderr
        assert stderr.startswith((LOST, UNREACHABLE)), stderr
    else:
        number = signal.Signals[killed]
        assert status in (-number, 128 + number), stderr
        assert "Traceback" not in stderr
    for _ in range(200):
        if not (left := processes(there) | processes(mark)):
            break
        time.sleep(0.05)
    assert left == {}
    if killed != "agent":  # what it leaves is removed a day later
        assert list(Path(environment[HOME_THERE]).glob("gpu-puzzle-run-*")) == []


def test_a_run_after_all_that_is_right(environment: dict[str, str]) -> None:
    if len(_statuses) == 5 * MOMENTS:  # not a choice of them
        assert sum(status != ExitCode.PASSED for status in _statuses) > len(_statuses) // 2
    assert run(environment, "run", "p01", "--solution").returncode == ExitCode.PASSED
