"""Other machines as targets: the GPU that one has, and what a program for it must be built for."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping

from msgspec import Struct

from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Extra, ProgramLanguage
from tooling.platform.atomic_write import write_atomically
from tooling.platform.state_file import encoded, read_cached
from tooling.remote.connection import Connection, HostError, connection
from tooling.targets.model import Choice, Target, TargetKind
from tooling.targets.probing import amd_accelerator, nvidia_accelerator
from tooling.targets.selection import gate, mode_gated
from tooling.text import Text
from tooling.toolchain.cache import usable_cache

LEAST_GLIBC = (2, 34)
"""The GNU C library that Mojo's runtime libraries need."""

_LEVELS: Mapping[str, frozenset[str]] = {
    "x86-64-v2": frozenset({"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"}),
    "x86-64-v3": frozenset({"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}),
    "x86-64-v4": frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}),
}
"""The levels of the x86-64 psABI, each with features in /proc/cpuinfo that the one before lacks."""

_ON = Text("--on {host}")
NO_GPU = Text(
    "`{host}` has no GPU that Mojo can use: `nvidia-smi` finds none there, and no AMD GPU can be opened"
)
_SEE_TARGETS = Text("`tooling targets --on {host}` asks again; or leave out `--on`")
_OTHER_SYSTEM = Text("programs for `{host}` cannot be built here")
_BUILT_FOR = Text("it is {there}, and Mojo builds for {here} on this machine")
_OLD_GLIBC = Text("`{host}` is too old for Mojo's libraries")
_HAS_GLIBC = Text("they need version {wanted} of the GNU C library, and it has {have}")
_NO_SUCH_GPU = Text("`{host}` has no GPU of the kind `{kind}`")
_NO_GRAPHS = Text("`{command}` is a program in Python, and `python3` of `{host}` does not find {package}")
_NEEDS_MAX = Text("MAX compiles its graph on the machine where it runs")
_INSTALL_MAX = Text("install {package} for `python3` there")


class PackageAbsent(HostError):
    """The machine lacks MAX or PyTorch, which a program in Python needs."""


class HostFacts(Struct, frozen=True):
    """What `agent.py` says about its machine.

    Attributes:
        nvidia: a line for each GPU, with its name and compute capability; empty: none.
        amd: the `gfx_target_version` of each GPU.
        apple: the name of the processor.
        max, torch: whether `python3` finds these packages.
    """

    system: str
    machine: str
    glibc: str
    processor: tuple[str, ...]
    nvidia: str
    amd: tuple[int, ...]
    apple: str
    max: bool = False
    torch: bool = False

    def has(self, extra: Extra) -> bool:
        """Whether a program in Python that needs an extra can run there."""
        return self.max and (self.torch or extra is not Extra.TORCH)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The first GPU of each kind."""
        found = []
        if match := re.match(r"(.+), (\d+)\.(\d+)$", self.nvidia.partition("\n")[0]):
            compute = int(match[2]), int(match[3])
            found.append(Target(TargetKind.NVIDIA, match[1], nvidia_accelerator(compute), compute))
        if self.amd:
            accelerator = amd_accelerator(self.amd[0])
            found.append(Target(TargetKind.AMD, f"AMD GPU ({accelerator})", accelerator))
        if match := re.search(r"\bApple M(\d+)\b", self.apple):
            found.append(Target(TargetKind.APPLE, self.apple, f"apple-m{match[1]}"))
        return tuple(found)

    @property
    def processor_level(self) -> str | None:
        """The processor, as for `mojo build --target-cpu`; None: that of this machine."""
        if self.machine != "x86_64":
            return None
        level = "x86-64"
        for name, features in _LEVELS.items():
            if not features.issubset(self.processor):
                break
            level = name
        return level


class _Kept(Struct, frozen=True):
    boot: str
    facts: HostFacts


def facts_of(host: Connection, *, again: bool = False) -> HostFacts:
    """What is known of a host: asked once for each start of it, and kept in the cache of builds.

    Args:
        again: ask, whatever is known.

    Raises:
        HostError: the connection was lost.
    """
    name = re.sub(r"[^\w.@-]", lambda match: f"%{ord(match[0]):x}", host.host)
    path = usable_cache().root / "hosts" / f"{name}.json"
    kept = None if again else read_cached(path, _Kept)
    if kept is not None and kept.boot == host.boot:
        return kept.facts
    found = host.ask(HostFacts, "facts")
    if found.targets:  # a driver may be installed without a restart
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, encoded(_Kept(host.boot, found)))
    return found


def choose_on(host: str, selection: Selection, wanted: str | None = None) -> Choice:
    """The GPU of another machine as the target of a mode.

    Args:
        wanted: the kind, where the machine has GPUs of two: `nvidia`, `amd` or `apple`.

    Raises:
        HostError: no connection, no GPU, or programs for it cannot be built here.
        PackageAbsent: the program needs MAX or PyTorch, and `python3` there does not find it.
        ModeGated: the GPU cannot run the mode, with the reason.
    """
    facts = facts_of(connection(host))
    program = selection.program
    if program.language is ProgramLanguage.PYTHON:
        if not facts.has(program.extra):  # it may have been installed since
            facts = facts_of(connection(host), again=True)
        if not facts.has(program.extra):
            package = "PyTorch" if facts.max else "MAX"
            raise PackageAbsent(
                _NO_GRAPHS.of(command=selection.command, host=host, package=package),
                why=_NEEDS_MAX,
                hint=_INSTALL_MAX.of(package=package),
            )
    require_same_system(host, facts)
    found = [each for each in facts.targets if wanted in (None, "auto", each.kind.value)]
    if not found:
        hint = _SEE_TARGETS.of(host=host)
        if facts.targets:
            raise HostError(_NO_SUCH_GPU.of(host=host, kind=str(wanted)), hint=hint)
        raise HostError(NO_GPU.of(host=host), hint=hint)
    reasons = [(each, gate(selection, each.kind, each)) for each in found]
    usable = next((each for each, reason in reasons if reason is None), None)
    if usable is None:
        kind, reason = reasons[0][0].kind, reasons[0][1]
        assert reason is not None
        raise mode_gated(selection, kind, reason)
    return Choice(usable, _ON.of(host=host), host=host, processor=facts.processor_level)


def require_same_system(host: str, facts: HostFacts) -> None:
    """Raises HostError where what this machine builds cannot run there."""
    here, there = (platform.system(), platform.machine()), (facts.system, facts.machine)
    if here != there:
        why = _BUILT_FOR.of(there=" ".join(there), here=" ".join(here))
        raise HostError(_OTHER_SYSTEM.of(host=host), why=why)
    match = re.fullmatch(r"(\d+)\.(\d+)", facts.glibc)
    if match and (int(match[1]), int(match[2])) < LEAST_GLIBC:
        wanted = ".".join(map(str, LEAST_GLIBC))
        raise HostError(_OLD_GLIBC.of(host=host), why=_HAS_GLIBC.of(wanted=wanted, have=facts.glibc))
