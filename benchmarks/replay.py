"""The time to record a replay, over the same run without one, and the time until its page shows a step.

usage: python benchmarks/replay.py [--rounds N] [--json FILE]

One block of `p16_tile_tensor --tiled`, built beforehand. The page is opened in headless Chromium (the group
`dev`); its time is from the start of the navigation to the first step on the screen.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.figures import show_figures
from tooling.catalog.catalogue import select
from tooling.cli.subject import puzzle_subject, simulated_gpu
from tooling.project import find_project
from tooling.replay.page import to_html
from tooling.replay.running import BlockSelection, record
from tooling.target_run import RunOptions, run_on_target

PROGRAM, FLAGS = "p16_tile_tensor", ("--tiled",)
_SHOWN = (
    """() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"""
)


def opened(page: Path, rounds: int) -> list[tuple[float, float]]:
    """Seconds until the page shows its first step, in a new window each time: wall, and of its thread."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only here

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(rounds):
            window = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            session = window.context.new_cdp_session(window)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            window.goto(page.as_uri())
            wall = window.evaluate(_SHOWN) / 1000
            metrics = {
                each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]
            }
            found.append((wall, metrics["TaskDuration"]))
            window.close()
        browser.close()
    return found


def main() -> int:
    """Measures, and shows the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    project, target = find_project(), simulated_gpu()
    selection = select(project, PROGRAM, FLAGS)
    subject = puzzle_subject(selection, selection.program.solution, project, target)
    settings = RunOptions(environment=subject.environment, time_limit=60)
    plain, recorded, made = [], [], []
    trace = None
    for _ in range(options.rounds):
        start = time.perf_counter()
        run_on_target(subject.command, target, settings)
        plain.append(time.perf_counter() - start)
        start = time.perf_counter()
        trace = record(subject.command, target, settings, BlockSelection()).trace
        recorded.append(time.perf_counter() - start)
        start = time.perf_counter()
        assert trace is not None
        text = to_html(trace, PROGRAM, "en")
        made.append(time.perf_counter() - start)
    assert trace is not None
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(text, "utf-8")
        seconds = opened(page, options.rounds)
    figures = {
        "steps": len(trace.steps),
        "bytes of the page": len(text.encode()),
        "run, s": statistics.median(plain),
        "run and record, s": statistics.median(recorded),
        "ratio": statistics.median(recorded) / statistics.median(plain),
        "write the page, s": statistics.median(made),
        "open the page, best, s": min(wall for wall, _ in seconds),
        "open the page, processor, s": statistics.median(processor for _, processor in seconds),
    }
    show_figures(figures, options.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
