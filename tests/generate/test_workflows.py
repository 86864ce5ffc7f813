"""The generated workflows: complete and consistent, with bundles alone on GPU runners."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tooling.catalog.catalogue import load_catalogue
from tooling.catalog.model import ProgramLanguage
from tooling.commandline.commands import COMMANDS
from tooling.generate.matrix import matrix_text
from tooling.generate.workflows import ACTIONS, WORKFLOWS, workflow_text
from tooling.project import Project

ROOT = Path(__file__).parents[2]
PUZZLES = load_catalogue(Project(ROOT))
MATRIX = json.loads(matrix_text(PUZZLES, ROOT / "pixi.toml"))


def load(name: str) -> dict[str, Any]:
    workflow = yaml.safe_load(workflow_text(name))
    assert isinstance(workflow, dict)
    return workflow


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_job_has_what_github_wants_of_it(name: str) -> None:
    workflow = load(name)
    keys = {"name", True, "permissions", "concurrency", "defaults", "env", "jobs"}  # `on` is YAML's true
    assert set(workflow) == keys
    assert workflow["defaults"] == {"run": {"shell": "bash"}}  # with pipefail
    for job_name, job in workflow["jobs"].items():
        allowed = {"name", "needs", "if", "runs-on", "timeout-minutes", "permissions", "environment", "steps"}
        assert set(job) <= allowed | {"strategy", "env", "outputs"}, job_name
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job), job_name
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert ("run" in step) is not ("uses" in step), (job_name, step)
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_action_is_pinned_by_its_commit_with_the_version_beside_it(name: str) -> None:
    text = workflow_text(name)
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert set(used) <= {f"{repository}@{commit} # {tag}" for repository, commit, tag in ACTIONS.values()}
    for _, commit, tag in ACTIONS.values():
        assert re.fullmatch(r"[0-9a-f]{40}", commit)
        assert re.fullmatch(r"v\d+\.\d+\.\d+", tag)


def test_zizmor_finds_nothing_in_the_workflows_and_does_look(tmp_path: Path) -> None:
    def zizmor(folder: Path) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("zizmor")), "--offline", "--no-progress", str(folder)]
        return subprocess.run(command, text=True, capture_output=True, check=False)

    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    for name in WORKFLOWS:
        (folder / name).write_text(workflow_text(name))
    done = zizmor(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    repository, commit, tag = ACTIONS["checkout"]
    broken = workflow_text("ci.yml").replace(f"{repository}@{commit} # {tag}", f"{repository}@v4")
    (folder / "ci.yml").write_text(broken)
    assert "unpinned-uses" in zizmor(tmp_path).stdout


@pytest.mark.skipif(
    shutil.which("actionlint") is None, reason="needs the group `workflows`, as CI installs it"
)
def test_actionlint_finds_nothing_in_the_workflows(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in WORKFLOWS]
    for path in paths:
        path.write_text(workflow_text(path.name))
    done = subprocess.run(["actionlint", *map(str, paths)], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_command_exists(name: str) -> None:
    known = {command.name for command in COMMANDS}
    for job in load(name)["jobs"].values():
        for found in re.findall(r"\btooling ([a-z-]+)", commands(job)):
            assert found in known


def test_the_pages_are_deployed_after_every_check_and_from_full_history() -> None:
    jobs = load("pages.yml")["jobs"]
    checkout = jobs["build"]["steps"][0]["with"]
    assert (checkout["fetch-depth"], "filter" in checkout) == (0, False)  # a partial clone would need --fetch
    run = commands(jobs["build"])
    order = [
        *("generate --check", "check-translations --all-languages --fail-on warning", "book check"),
        *("book outputs", "figure --trace --check", "book build"),
    ]
    positions = [run.index(each) for each in order]
    assert positions == sorted(positions)
    assert jobs["deploy"]["needs"] == "build"
    assert not any("if" in job or "continue-on-error" in job for job in jobs.values())


def test_the_cpu_jobs_cover_tests_simulator_matrix_and_book() -> None:
    jobs = load("ci.yml")["jobs"]
    assert ".ci/run" in commands(jobs["check"])
    assert "--group format poe lint-mojo" in commands(jobs["check"])
    assert "poe lint-workflows" in commands(jobs["workflows"])
    assert 'tooling verify --target "$TARGET" --require-all' in commands(jobs["simulated"])
    assert "tooling matrix build" in commands(jobs["builds"])
    assert "tooling book check" in commands(jobs["book"])


@pytest.mark.parametrize(
    ("job", "entries"),
    [
        *(("simulated", "simulated"), ("builds", "builds"), ("pixi", "pixi")),
        *(("bundle", "gpus"), ("run", "gpus")),
    ],
)
def test_a_job_takes_its_matrix_from_the_file(job: str, entries: str) -> None:
    jobs = load("ci.yml")["jobs"]
    assert jobs["matrix"]["outputs"][entries] == f"${{{{ steps.jobs.outputs.{entries} }}}}"
    assert ".ci/jobs" in commands(jobs["matrix"])
    include = f"${{{{ fromJSON(needs.matrix.outputs.{entries}) }}}}"
    assert jobs[job]["strategy"] == {"fail-fast": False, "matrix": {"include": include}}
    used = set(re.findall(r"matrix\.([a-z_]+)", json.dumps({**jobs[job], "strategy": None}))) - {"outputs"}
    assert used - {"xml"} <= set(MATRIX["jobs"][entries][0])


def test_every_part_is_judged_and_graphs_have_their_packages() -> None:
    jobs = MATRIX["jobs"]["simulated"]
    extras = {each["part"]: each["extra"] for each in jobs if each["target"] == "sim"}
    assert list(extras) == list(dict.fromkeys(puzzle.part for puzzle in PUZZLES))
    for puzzle in PUZZLES:
        if any(program.language is ProgramLanguage.PYTHON for program in puzzle.programs):
            assert extras[puzzle.part] == "torch"  # else --require-all could not pass
    tests = commands(load("ci.yml")["jobs"]["max"]).strip()
    assert tests == "bash .ci/install torch --group dev\n.uv/bin/uv run --no-sync poe test-max"


@pytest.mark.parametrize(
    ("target", "gpu"), [("sim-amd", "AMD GPU (gfx942)"), ("sim-gfx1100", "AMD GPU (gfx1100)")]
)
def test_a_simulated_amd_gpu_judges_every_part_but_those_of_graphs(target: str, gpu: str) -> None:
    jobs = [each for each in MATRIX["jobs"]["simulated"] if each["target"] == target]
    assert {(each["gpu"], each["extra"]) for each in jobs} == {(gpu, "")}
    several_gpus = "XV"
    assert [each["part"] for each in jobs] == [
        part for part in dict.fromkeys(puzzle.part for puzzle in PUZZLES) if part not in ("V", several_gpus)
    ]


def test_programs_are_built_on_linux_on_arm64_and_on_a_mac() -> None:
    runners = {each["runner"]: each["accelerator"] for each in MATRIX["jobs"]["builds"]}
    assert runners == {"ubuntu-24.04": "", "ubuntu-24.04-arm": "", "macos-15": "apple-m1"}


def test_every_environment_of_pixi_is_installed_and_the_default_one_everywhere() -> None:
    pixi = [(each["environment"], each["platform"], each["puzzle"]) for each in MATRIX["jobs"]["pixi"]]
    assert pixi == [
        *(("default", "linux-64", "p01"), ("default", "linux-aarch64", ""), ("default", "osx-arm64", "")),
        *(("amd", "linux-64", "p01"), ("apple", "osx-arm64", ""), ("max", "linux-64", "p17")),
        *(("sass", "linux-64", "p01"), ("sim", "linux-64", "p01"), ("sim-amd", "linux-64", "p01")),
        *(("sim-gfx1100", "linux-64", "p01"), ("torch", "linux-64", "p20")),
    ]
    targets = {each["environment"]: each["target"] for each in MATRIX["jobs"]["pixi"]}
    assert targets == dict.fromkeys(targets, "sim") | {
        "sim-amd": "sim-amd",
        "sim-gfx1100": "sim-gfx1100",
    }


def test_gpu_runners_only_run_bundles_and_are_judged_elsewhere() -> None:
    jobs = load("ci.yml")["jobs"]
    run = jobs["run"]
    assert run["runs-on"] == "${{ matrix.labels }}"
    for gpu in MATRIX["jobs"]["gpus"]:
        assert gpu["labels"][0] == "self-hosted"
        assert gpu["accelerator"] in gpu["labels"]
    assert "run_bundle.py" in commands(run)
    assert "uv" not in commands(run).split()
    assert not any("checkout" in step.get("uses", "") for step in run["steps"])
    uploaded = next(step["with"] for step in run["steps"] if "upload-artifact" in step.get("uses", ""))
    assert uploaded == {"name": "results-${{ matrix.accelerator }}", "path": "results.json"}
    judge = jobs["judge"]
    downloaded = next(step["with"] for step in judge["steps"] if "download-artifact" in step.get("uses", ""))
    assert downloaded == {"pattern": "results-*", "path": "results"}
    assert "tooling verify --judge results --json verdicts.json --junit verdicts.xml" in commands(judge)
    # Judged is also what the others brought back when one GPU failed; without runners there is nothing.
    assert judge["if"] == "${{ !cancelled() && needs.run.result != 'skipped' }}"
    assert (judge["steps"][-1]["if"], judge["steps"][-1]["with"]["name"]) == ("always()", "verdicts")
    assert "event_name != 'pull_request'" in jobs["bundle"]["if"]  # no code of forks on self-hosted runners
    assert set(run["needs"]) == {"matrix", "bundle"}  # and is skipped with that job


def test_only_accelerators_that_have_a_runner_get_jobs() -> None:
    def outputs(runners: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"GPU_RUNNERS": runners}
        command = [sys.executable, str(ROOT / ".ci" / "jobs")]
        return subprocess.run(command, env=environment, text=True, capture_output=True, check=False)

    lines = dict(line.split("=", 1) for line in outputs("gfx942 sm_90a").stdout.splitlines())
    assert set(lines) == {"simulated", "builds", "pixi", "gpus"}
    assert [gpu["accelerator"] for gpu in json.loads(lines["gpus"])] == ["sm_90a", "gfx942"]
    assert "\ngpus=[]\n" in outputs("").stdout
    wrong = outputs("sm_9")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == (
        "::error title=GPU_RUNNERS::no such accelerator: sm_9; "
        "there are sm_80, sm_90a, sm_100a, gfx942, gfx1100, apple-m1, apple-m4\n"
    )


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_job_installs_what_is_locked_and_nothing_else(name: str) -> None:
    for job_name, job in load(name)["jobs"].items():
        text = commands(job)
        if ".uv/bin/uv run" in text and job_name != "check":  # whose command is the README's
            assert text.index(".ci/install") < text.index(".uv/bin/uv run")
            assert text.count(".uv/bin/uv run --no-sync ") == text.count(".uv/bin/uv run")
            assert "pip install" not in text


def test_the_first_job_runs_the_test_command_of_the_readme() -> None:
    *_, command = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert f"To run the tests:\n\n```bash\n{command}\n```" in (ROOT / "README.md").read_text("utf-8")


# The release


def changelog(tmp_path: Path, tag: str, text: str) -> subprocess.CompletedProcess[str]:
    """The script that prints a section, in a folder with this changelog and version 0.1.0."""
    (tmp_path / ".ci").mkdir(exist_ok=True)
    shutil.copy(ROOT / ".ci" / "changelog", tmp_path / ".ci")
    (tmp_path / "CHANGELOG.md").write_text(text, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n', encoding="utf-8")
    command = ["bash", str(tmp_path / ".ci" / "changelog"), tag]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def test_the_text_of_a_release_is_its_section_of_the_changelog(tmp_path: Path) -> None:
    text = "# Changelog\n\n## Unreleased\n\nNew.\n\n## 0.1.0 (2026-11-27)\n\n### Added\n\n- Old.\n"
    text += "\n## 0.0.1 (2026-01-01)\n\nOldest.\n"
    done = changelog(tmp_path, "v0.1.0", text)
    assert (done.returncode, done.stdout.strip()) == (0, "### Added\n\n- Old.")


@pytest.mark.parametrize(
    ("tag", "heading", "says"),
    [
        ("v0.2.0", "0.1.0 (2026-11-27)", "the tag v0.2.0 is not that of the version in pyproject.toml\n"),
        ("v0.1.0", "0.1.0", "CHANGELOG.md has no section `## 0.1.0 (DATE)`\n"),
        ("v0.1.0", "0.1.01 (2026-11-27)", "CHANGELOG.md has no section `## 0.1.0 (DATE)`\n"),
    ],
)
def test_a_release_without_its_section_or_version_is_refused(
    tmp_path: Path, tag: str, heading: str, says: str
) -> None:
    done = changelog(tmp_path, tag, f"## {heading}\n\n- Something.\n")
    assert (done.returncode, done.stderr) == (1, says)


def test_a_release_is_published_only_after_a_verdict_from_its_wheel() -> None:
    workflow = load("release.yml")
    events: dict[Any, Any] = {**workflow}
    assert events[True] == {"push": {"tags": ["v*"]}}  # `on` is YAML's true
    jobs = workflow["jobs"]
    needed = {name: job.get("needs") for name, job in jobs.items()}
    assert needed == {
        "build": None, "test": "build", "attest": "test", "publish": "attest", "github": "publish",
    }  # fmt: skip
    assert ".ci/test-wheel" in commands(jobs["test"])
    assert workflow["permissions"] == {"contents": "read"}
    written = {
        name: {key for key, value in job.get("permissions", {}).items() if value == "write"}
        for name, job in jobs.items()
    }
    assert written == {
        "build": set(), "test": set(), "attest": {"id-token", "attestations"}, "publish": {"id-token"},
        "github": {"contents"},
    }  # fmt: skip
    assert "secrets." not in workflow_text("release.yml")
    assert jobs["publish"]["environment"]["name"] == "pypi"
