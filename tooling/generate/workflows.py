"""The workflows of GitHub: CI with a job for each vendor whose GPUs run something, and the book's pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tooling.catalog.catalogue import Selection, every_selection
from tooling.catalog.model import Puzzle, Vendor
from tooling.matrix.accelerators import ACCELERATORS, Accelerator
from tooling.targets.selection import gate

WORKFLOWS = ("ci.yml", "pages.yml")
UV_VERSION = "0.13.8"
"""The version that README.md and .ci/run install."""

_MACHINE = "ubuntu-24.04"
_NAMES = {Vendor.NVIDIA: "NVIDIA", Vendor.AMD: "AMD", Vendor.APPLE: "Apple"}
_APPLE_BUILDER = "macos-15"  # Apple's Metal compiler is on Macs only


@dataclass(frozen=True, slots=True)
class GpuJobs:
    """What one vendor's jobs of the workflow differ in."""

    vendor: str
    name: str
    accelerator: str  # of the bundle, and a label of the runner
    builder: str  # the machine that builds the bundle
    options: str  # of `tooling bundle`, with a blank before each

    @property
    def variable(self) -> str:
        """The repository's variable that is `yes` where there is a runner."""
        return f"{self.vendor.upper()}_RUNNER"

    @property
    def labels(self) -> tuple[str, ...]:
        """What the runner must be labelled with."""
        system = "macOS" if self.vendor == Vendor.APPLE.value else "linux"
        return ("self-hosted", system, self.vendor, self.accelerator)


def workflow_text(name: str, puzzles: Sequence[Puzzle]) -> str:
    """One of WORKFLOWS, as it should be for these puzzles."""
    import jinja2  # noqa: PLC0415 - a tenth of a second that only generating needs

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tooling.generate", "templates"),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # what is written is YAML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    return environment.get_template(f"{name}.j2").render(
        machine=_MACHINE,
        install=f"python3 -m venv .uv && .uv/bin/pip install -q uv=={UV_VERSION}",
        checkout=_checkout,
        build_cache=_build_cache,
        gpus=gpu_jobs(puzzles),
    )


def gpu_jobs(puzzles: Sequence[Puzzle]) -> tuple[GpuJobs, ...]:
    """The vendors whose GPUs run at least one mode, with the accelerator that runs the most of them."""
    selections = every_selection(puzzles)
    jobs = []
    for vendor in Vendor:
        own = [each for each in ACCELERATORS if each.vendor is vendor]
        best = max(own, key=lambda each: _running(selections, each))  # of equal ones, the first of the table
        if _running(selections, best):
            apple = vendor is Vendor.APPLE
            jobs.append(
                GpuJobs(
                    vendor.value,
                    _NAMES[vendor],
                    best.name,
                    _APPLE_BUILDER if apple else _MACHINE,
                    " --host-cpu native" if apple else "",
                )
            )
    return tuple(jobs)


def _running(selections: Sequence[Selection], accelerator: Accelerator) -> int:
    target = accelerator.target
    return sum(gate(each, target.kind, target) is None for each in selections)


def _checkout(*, history: bool = False) -> str:
    """The steps that every job begins with; `history` brings all commits, and blobs only when asked for."""
    lines = ["- uses: actions/checkout@v4"]
    if history:
        lines.append(
            '  with: { fetch-depth: 0, filter: "blob:none" } # translations are judged against history'
        )
    lines += ["- uses: actions/setup-python@v5", '  with: { python-version: "3.12" }']
    return "\n".join("      " + line for line in lines)


def _build_cache(job: str) -> str:
    """Keeps the build cache from run to run: an entry is found by all that went into it, so old is right."""
    lines = (
        "- uses: actions/cache@v4",
        "  with:",
        "    path: .cache/builds",
        f"    key: builds-{job}-${{{{ github.run_id }}}}",
        f"    restore-keys: builds-{job}-",
    )
    return "\n".join("      " + line for line in lines)
