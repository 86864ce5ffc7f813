"""A Slurm of one node on this machine: munged, slurmctld and slurmd, in a folder of their own."""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

_SYSTEM = "/usr/sbin:/usr/local/sbin:/usr/bin"
_PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "squeue", "scancel", "sinfo")
_STARTED_IN = 60.0  # seconds

_SETTINGS = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller}
SlurmdPort={daemon}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MaxArraySize=1001
KillWait=5
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=ALL State=UP
"""


def missing_program() -> str:
    """The first program that a cluster needs and this machine lacks; empty: none."""
    return next((name for name in _PROGRAMS if shutil.which(name, path=_SYSTEM) is None), "")


@contextlib.contextmanager
def slurm_cluster(folder: Path) -> Iterator[dict[str, str]]:
    """The variables with which the commands of Slurm reach the cluster, which ends with the block.

    Args:
        folder: a path without spaces, which Slurm's settings cannot have.
    """
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o400)
    folder.chmod(0o755)
    ports = []
    for _ in range(2):
        with socket.create_server(("127.0.0.1", 0)) as server:
            ports.append(server.getsockname()[1])
    settings = folder / "slurm.conf"
    settings.write_text(
        _SETTINGS.format(
            host=socket.gethostname().partition(".")[0],
            user=getpass.getuser(),
            controller=ports[0],
            daemon=ports[1],
            folder=folder,
            processors=os.cpu_count(),
        )
    )
    environment = {"SLURM_CONF": str(settings)}
    variables = {**os.environ, **environment, "PATH": f"{os.environ['PATH']}:{_SYSTEM}"}
    commands = (
        [
            *("munged", "--foreground", "--force", "--key-file", str(folder / "key")),
            *("--socket", str(folder / "munge.socket"), "--pid-file", str(folder / "munge.pid")),
            *("--log-file", str(folder / "munge.log"), "--seed-file", str(folder / "munge.seed")),
        ],
        ["slurmctld", "-D", "-f", str(settings)],
        ["slurmd", "-D", "-f", str(settings)],
    )
    started: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            with (folder / f"{command[0]}.out").open("wb") as output:
                started.append(
                    subprocess.Popen(command, env=variables, stdout=output, stderr=subprocess.STDOUT)
                )
            time.sleep(0.5)
        deadline = time.monotonic() + _STARTED_IN
        while "idle" not in _state(variables):
            if time.monotonic() > deadline:
                logs = [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.out"))]
                raise RuntimeError("Slurm does not start: " + "\n".join(logs))
            time.sleep(0.2)
        yield environment
    finally:
        subprocess.run(
            ["scancel", "--user", getpass.getuser()], env=variables, capture_output=True, check=False
        )
        deadline = time.monotonic() + _STARTED_IN
        while started and "idle" not in _state(variables) and time.monotonic() < deadline:
            time.sleep(0.2)
        for process in reversed(started):
            process.terminate()
        for process in started:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            if process.poll() is None:
                process.kill()
                process.wait()


def _state(variables: dict[str, str]) -> str:
    command = ["sinfo", "--noheader", "--format=%T"]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False).stdout
