"""The generated workflows: complete, consistent, and honest about who runs what."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import Vendor
from tooling.cli import COMMANDS
from tooling.generate.workflows import UV_VERSION, WORKFLOWS, gpu_jobs, workflow_text
from tooling.project import Project

ROOT = Path(__file__).parents[2]
PUZZLES = load_catalogue(Project(ROOT))


def load(name: str) -> dict[str, Any]:
    workflow = yaml.safe_load(workflow_text(name, PUZZLES))
    assert isinstance(workflow, dict)
    return workflow


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_job_has_what_github_wants_of_it(name: str) -> None:
    workflow = load(name)
    assert set(workflow) == {"name", True, "permissions", "concurrency", "env", "jobs"}  # `on` is YAML's true
    for job_name, job in workflow["jobs"].items():
        allowed = {"name", "needs", "if", "runs-on", "timeout-minutes", "permissions", "environment", "steps"}
        assert set(job) <= allowed, job_name
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job), job_name
        assert job.get("needs", job_name) in workflow["jobs"]
        for step in job["steps"]:
            assert ("run" in step) is not ("uses" in step), (job_name, step)
            assert re.fullmatch(r"[a-z]+(-?[a-z]+)*/[a-z-]+@v\d+", step.get("uses", "actions/checkout@v4"))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_command_exists(name: str) -> None:
    known = {command.name for command in COMMANDS}
    for job in load(name)["jobs"].values():
        for found in re.findall(r"\btooling ([a-z-]+)", commands(job)):
            assert found in known


def test_the_pages_are_deployed_after_every_check_and_from_full_history() -> None:
    jobs = load("pages.yml")["jobs"]
    checkout = jobs["build"]["steps"][0]["with"]
    assert (checkout["fetch-depth"], checkout["filter"]) == (0, "blob:none")
    run = commands(jobs["build"])
    order = [
        *("generate --check", "check-translations --check", "book check"),
        *("book outputs", "figure --trace --check", "book build"),
    ]
    places = [run.index(each) for each in order]
    assert places == sorted(places)
    assert jobs["deploy"]["needs"] == "build"
    assert not any("if" in job or "continue-on-error" in job for job in jobs.values())


def test_the_cpu_jobs_cover_tests_simulator_matrix_and_book() -> None:
    jobs = load("ci.yml")["jobs"]
    assert ".ci/run" in commands(jobs["check"])
    assert "--group format poe lint-mojo" in commands(jobs["check"])
    assert "tooling verify --target sim --require-all" in commands(jobs["programs"])
    assert "--extra torch tooling verify" in commands(jobs["programs"])  # else that could not pass
    assert "tooling matrix build" in commands(jobs["programs"])
    assert "tooling book check" in commands(jobs["book"])


def test_gpu_runners_only_run_bundles_and_are_judged_elsewhere() -> None:
    jobs = load("ci.yml")["jobs"]
    for gpu in gpu_jobs(PUZZLES):
        run = jobs[f"run-{gpu.vendor}"]
        assert run["runs-on"][0] == "self-hosted"
        assert gpu.accelerator in run["runs-on"]
        assert "run_bundle.py" in commands(run)
        assert "uv" not in commands(run).split()
        assert not any("checkout" in step.get("uses", "") for step in run["steps"])
        assert "--judge results.json" in commands(jobs[f"judge-{gpu.vendor}"])
        assert (
            "pull_request" in jobs[f"bundle-{gpu.vendor}"]["if"]
        )  # a stranger's code stays off our machines


def test_an_nvidia_runner_can_run_every_mode_that_nvidia_runs() -> None:
    (nvidia,) = (gpu for gpu in gpu_jobs(PUZZLES) if gpu.vendor == Vendor.NVIDIA.value)
    assert nvidia.accelerator == "sm_90a"


def test_the_installer_is_the_readmes() -> None:
    assert f"uv=={UV_VERSION} " in (ROOT / ".ci" / "run").read_text("utf-8")
