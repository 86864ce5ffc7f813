"""The CI matrix, `.ci/matrix.json`: what each vendor's GPUs run, and the jobs of `ci.yml`.

`.ci/jobs` turns the entries under `jobs` into `strategy.matrix` of the workflow.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tooling.catalog.catalogue import Selection, every_selection
from tooling.catalog.model import Extra, ModeKind, ProgramLanguage, Puzzle, Vendor
from tooling.matrix.accelerators import ACCELERATORS
from tooling.platform.errors import Location, ToolingError
from tooling.targets.model import TargetKind
from tooling.targets.selection import gate

VERSION = 2
LINUX = "ubuntu-24.04"
LINUX_ARM64 = "ubuntu-24.04-arm"
MACOS = "macos-15"  # Apple's Metal compiler runs on Macs only

_RUNNERS = {"linux-64": LINUX, "linux-aarch64": LINUX_ARM64, "osx-arm64": MACOS}
_SIMULATED = {
    TargetKind.SIM: "NVIDIA GPU",
    TargetKind.SIM_AMD: "AMD GPU (gfx942)",
    TargetKind.SIM_GFX1100: "AMD GPU (gfx1100)",
}


def matrix_text(puzzles: Sequence[Puzzle], pixi: Path) -> str:
    """The file's text.

    Args:
        pixi: pixi.toml, whose environments are tested.

    Raises:
        ToolingError: pixi.toml cannot be read.
    """
    selections = [
        selection
        for selection in every_selection(puzzles)
        if selection.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
    ]
    vendors = {vendor.value: _vendor_job(selections, vendor) for vendor in Vendor}
    jobs = {
        "simulated": _simulated(puzzles),
        "builds": _builds(),
        "pixi": _pixi(pixi),
        "gpus": _gpus(puzzles),
    }
    data = {"version": VERSION, "jobs": jobs, "vendors": vendors}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _simulated(puzzles: Sequence[Puzzle]) -> list[dict[str, str]]:
    """One job for each part of the book and simulated GPU that runs it, with the extra its programs need."""
    jobs = []
    for part in dict.fromkeys(puzzle.part for puzzle in puzzles):
        extras = {
            program.extra
            for puzzle in puzzles
            if puzzle.part == part
            for program in puzzle.programs
            if program.language is ProgramLanguage.PYTHON
        }
        # Parts with graphs use PyTorch, which includes MAX: no program may be skipped for want of a package.
        extra = {TargetKind.SIM: Extra.TORCH.value} if extras else {}
        own = [each for each in every_selection(puzzles) if each.puzzle.part == part]
        jobs += [
            {"part": part, "extra": extra.get(kind, ""), "target": kind.value, "gpu": gpu}
            for kind, gpu in _SIMULATED.items()
            if any(gate(selection, kind) is None for selection in own)
        ]
    return jobs


def _builds() -> list[dict[str, str]]:
    """The machines that build every program: for all accelerators on Linux, for Apple's on a Mac."""
    return [
        {"system": "Linux x86-64", "runner": LINUX, "accelerator": ""},
        {"system": "Linux arm64", "runner": LINUX_ARM64, "accelerator": ""},
        {"system": "macOS", "runner": MACOS, "accelerator": "apple-m1"},
    ]


def _pixi(path: Path) -> list[dict[str, str]]:
    """Every environment of pixi.toml on its first platform, and the default one on all of them."""
    try:
        manifest = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ToolingError("pixi.toml cannot be read", where=Location(path), why=str(error)) from error
    everywhere = manifest.get("workspace", {}).get("platforms", [])
    jobs = [_pixi_job("default", platform, "p01") for platform in everywhere]
    for name, features in manifest.get("environments", {}).items():
        chosen = [manifest.get("feature", {}).get(feature, {}) for feature in features]
        platforms = [
            each
            for each in everywhere
            if all(each in feature.get("platforms", everywhere) for feature in chosen)
        ]
        puzzle = {"max": "p17", "torch": "p20"}.get(name, "p01")
        jobs += [_pixi_job(name, platform, puzzle) for platform in platforms[:1]]
    return jobs


def _pixi_job(environment: str, platform: str, puzzle: str) -> dict[str, str]:
    simulated = platform == "linux-64"  # the simulated GPU runs on x86-64 only
    return {
        "environment": environment,
        "platform": platform,
        "runner": _RUNNERS[platform],
        "puzzle": puzzle if simulated else "",
        "target": environment if environment in {kind.value for kind in _SIMULATED} else TargetKind.SIM.value,
    }


def _gpus(puzzles: Sequence[Puzzle]) -> list[dict[str, Any]]:
    """The accelerators that run at least one mode; the workflow takes those that have a runner."""
    selections = every_selection(puzzles)
    jobs = []
    for each in ACCELERATORS:
        target = each.target
        if any(gate(selection, target.kind, target) is None for selection in selections):
            apple = each.vendor is Vendor.APPLE
            jobs.append(
                {
                    "accelerator": each.name,
                    "vendor": each.vendor.named,
                    "builder": MACOS if apple else LINUX,
                    "host_cpu": "native" if apple else "",
                    "labels": ["self-hosted", "macOS" if apple else "linux", each.vendor.value, each.name],
                }
            )
    return jobs


def _vendor_job(selections: Sequence[Selection], vendor: Vendor) -> Mapping[str, object]:
    run: list[dict[str, str]] = []
    skip: list[dict[str, str]] = []
    for selection in selections:
        requirement = selection.mode.requirement(vendor)
        entry = {"command": selection.command}
        if requirement.unsupported:
            skip.append({**entry, "because": requirement.because.render("en") if requirement.because else ""})
            continue
        if requirement.compute:
            entry["compute"] = f"{requirement.compute[0]}.{requirement.compute[1]}"
        if requirement.lanes:
            entry["lanes"] = str(requirement.lanes)
        run.append(entry)
    return {"run": run, "skip": skip}
