"""Fixtures of all tests, and the report of a run on GitHub.

Hypothesis examples do not depend on the load of the machine or on the order of tests. Commands under test do
not see that they run in a workflow, since they would annotate its run; only failed tests are annotated.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

settings.register_profile(
    "project", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("project")
# Hypothesis tries constants of all modules that happen to be imported: examples would depend on the worker.
pytest.MonkeyPatch().setattr(providers, "_get_local_constants", lambda: providers._local_constants)

# A worker keeps many objects: to look through them as often as by default would take a tenth of the time.
gc.set_threshold(20_000, 10, 10)

_OF_WORKFLOW = {
    name: os.environ.pop(name) for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY") if name in os.environ
}
for _name in ("UV", "POE_ACTIVE", "PIXI_ENVIRONMENT_NAME"):
    os.environ.pop(_name, None)  # commands in hints have the form `tooling …`, however the tests were started
# Some images of containers set it. Hundreds of commands under test would each compile the tool.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# NumPy's second thread would use half of the processor time that each command under test needs to start.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # under nohup; commands under test would inherit it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
for _name in ("PUZZLE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
    if os.environ.get(_name, "").startswith("ko"):  # tests expect English unless they say otherwise
        os.environ[_name] = "C.UTF-8"
_STATUSES = {
    "passed": "passed",
    "failed": "failed",
    "error": "error",
    "skipped": "skipped",
    "xfailed": "skipped",
}
_CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, without which the test is skipped.

    All tests share it: Playwright has one event loop in a process.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=_CHROMIUM_FLAGS)
        yield started
        started.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of the book last, the long ones first, so that no worker waits for the last of another.

    Builds of the book make a worker process large, and a large one is slow to fork, as for a reference.
    """

    def order(item: pytest.Item) -> tuple[bool, bool]:
        folder, name = item.path.parent.name, item.path.name
        return folder == "book", name != "test_seeded_defects.py"

    items.sort(key=order)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Publishes the tests as `tooling verify` does its programs."""
    if not _OF_WORKFLOW:
        return
    from tooling.platform.errors import Location
    from tooling.reports.records import ReportRecord
    from tooling.reports.step_summary import publish
    from tooling.reports.terminal import Terminal

    records = []
    for key, status in _STATUSES.items():
        for report in terminalreporter.stats.get(key, ()):
            path, line, _ = report.location
            text = "" if status in ("passed", "skipped") else report.longreprtext
            message = next((row[1:].strip() for row in text.splitlines() if row.startswith("E ")), status)
            where = Location(Path(path), (line or 0) + 1)
            suite = Path(path).parent.as_posix()
            records.append(
                ReportRecord(suite, report.nodeid, status, report.duration, message, text, where=where)
            )
    os.environ.update(_OF_WORKFLOW)
    stream = terminalreporter._tw._file
    publish("pytest", records, terminalreporter.config.rootpath, Terminal(stream, colour=False, width=None))
