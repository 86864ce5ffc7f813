"""The pages of the book's recorded replays, one of each kind, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.axe import axe
from tooling.book.directives.replays import load
from tooling.replay.page import to_html
from tooling.replay.trace import numbers

pytestmark = [
    pytest.mark.slow,
]
RECORDED = Path(__file__).parents[1] / "data/outputs"
KINDS = {
    "reduction": "p12/p12.solved",
    "missing barrier": "p12/p12_tile_tensor.missing_barrier",
    "barrier in a branch": "p11/p11.barrier_in_branch",
    "out of bounds": "p10/p10.memory-bug.unsolved",
    "race on global memory": "p10/p10.race-condition.unsolved",
    "tiles": "p16/p16_tile_tensor.tiled.solved",
    "uninitialized shared memory": "p16/p16_tile_tensor.idiomatic-tiled.copies_not_waited_for",
    "warp sum": "p24/p24_tile_tensor.kernel.solved",
    "shuffle": "p25/p25_tile_tensor.neighbor.solved",
    "shuffle in a branch": "p26/p26_tile_tensor.conditional-max.shuffle_in_a_branch",
    "histogram": "p27/p27.histogram.solved",
    "mbarrier": "p29/p29_tile_tensor.multi-stage.no_wait_after_loading",
    "bank conflicts": "p32/p32.two-way.unsolved",
    "tensor core": "p33/p33_tile_tensor.tensor-core.solved",
    "cluster": "p34/p34_tile_tensor.reduction.solved",
    "two GPUs": "p48/p48.one-shot.solved",
    "peer reads": "p47/p47.peer-reads.solved",
    "race of two GPUs": "p48/p48.one-shot.relaxed_signal",
    "cluster barrier in a branch": "p34/p34_tile_tensor.coordination.arrive_in_a_branch",
}


def written(kind: str, language: str, folder: Path) -> Path:
    path = folder / "replay.html"
    recorded = load(RECORDED / f"{KINDS[kind]}.replay.json")
    path.write_text(to_html(recorded.trace, kind, language), "utf-8")
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("setting", [("light", "en", 360), ("dark", "ko", 1440)], ids=["narrow", "wide"])
def test_axe_finds_nothing(browser: Any, kind: str, setting: tuple[str, str, int], tmp_path: Path) -> None:
    scheme, language, width = setting
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    page.goto(written(kind, language, tmp_path).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page).response["violations"]
    page.close()
    assert [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]] == []


def test_every_control_is_reached_and_used_by_keys_alone(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(written("missing barrier", "en", tmp_path).as_uri())
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        # The focus must be visible.
        assert page.evaluate("document.activeElement.matches(':focus-visible')")
        name = page.evaluate("(e => e.id || e.closest('[id]').id)(document.activeElement)")
        if name not in reached:
            reached.append(name)
        if name == "memory":
            break
    controls = ["theme", "first", "previous", "play", "next", "last", "time", "flags"]
    assert reached == [*controls, "marks", "source", "threads", "memory"]
    page.keyboard.press("Enter")
    assert page.inner_text("#detail")
    for key, step in (("Home", 0), ("ArrowRight", 1), ("ArrowLeft", 0)):
        page.keyboard.press(key)
        assert page.evaluate("state.at") == step
    page.keyboard.press("End")
    assert page.evaluate("state.at === last")
    page.close()


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("kind", ["two GPUs", "peer reads"])
def test_an_access_to_the_memory_of_the_other_gpu_is_drawn_between_its_threads_and_cells(
    browser: Any, kind: str, width: int, tmp_path: Path
) -> None:
    trace = load(RECORDED / f"{KINDS[kind]}.replay.json").trace
    size = trace.block[0] * trace.block[1] * trace.block[2]
    remote = {
        number: move.action
        for number, step in enumerate(trace.steps[:-1])
        for move in step.moves
        if trace.positions[numbers(move.threads)[0] // size][3] != trace.buffers[move.buffer].gpu
    }
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(written(kind, "en", tmp_path).as_uri())
    assert page.locator(".gpu > h3").all_inner_texts() == ["GPU 0", "GPU 1"] * 2
    drawn = {}
    for number in range(len(trace.steps)):
        page.evaluate(f"show({number})")
        if page.locator("#links path").count():
            drawn[number] = page.get_attribute("#links path", "class")
            (left, start), (right, end) = page.evaluate(_ENDS)
            above, below = (end, start) if drawn[number] == "load" else (start, end)
            assert above < below  # the threads are above the cells
            assert abs(left - right) > 200 or width < 700  # and in the other column, if there is room for two
    assert drawn == remote
    page.close()


_ENDS = """() => { const path = document.querySelector('#links path'), length = path.getTotalLength();
    return [0, length - 20].map(at => path.getPointAtLength(at)).map(point => [point.x, point.y]); }"""
