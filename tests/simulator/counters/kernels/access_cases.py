"""Access patterns whose counters are compared with an H200: one launch each, one memory instruction each.

The simulator and `record.py` run the same kernels (`access_kernels`) on the same tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.simulator.counters.kernels.access_kernels import ABSENT, WINDOW, Form

Offsets = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One launch.

    Attributes:
        offsets: one table entry per thread, in bytes; blocks of `block` threads.
    """

    name: str
    form: Form
    offsets: Offsets
    block: int = 32

    @property
    def blocks(self) -> int:
        """Blocks of the launch."""
        return len(self.offsets) // self.block


def cases() -> list[Case]:
    """Every case, in the order in which they are launched."""
    every = [*named_cases(), *_random(), *_merging(), *_random_atomics()]
    assert len({case.name for case in every}) == len(every)
    return every


def named_cases() -> list[Case]:
    """The cases that show one thing each."""
    return [*_named_global(), *_named_shared(), *_named_local(), *_atomic(), *_asynchronous()]


def byte_cases() -> list[Case]:
    """Those for which ncu counts bytes as well, and what cp.async does (its slow metrics)."""
    endings = ("coalesced", "five_lanes", "broadcast", "same_index", "stride_2")
    return [
        case
        for case in named_cases()
        if "async" in case.name or (case.form.operation in ("ld", "st") and case.name.endswith(endings))
    ]


def _offsets(values: Sequence[int] | npt.NDArray[np.int64]) -> Offsets:
    return np.asarray(values, dtype=np.int64).astype(np.uint32)


def _lanes(count: int = 32) -> npt.NDArray[np.int64]:
    return np.arange(count, dtype=np.int64)


def _without(offsets: npt.NDArray[np.int64], absent: npt.NDArray[np.bool_]) -> Offsets:
    return _offsets(np.where(absent, ABSENT, offsets))


def _named_global() -> Iterator[Case]:
    lane = _lanes()
    shuffled = np.random.default_rng(7).permutation(32).astype(np.int64)
    for operation in ("ld", "st"):
        form = Form("global", operation)
        plain = {
            "coalesced": 4 * lane,
            "stride_2": 8 * lane,
            "stride_4": 16 * lane,
            "stride_8": 32 * lane,
            "stride_32": 128 * lane,
            "misaligned_by_4": 4 * lane + 4,
            "misaligned_by_16": 4 * lane + 16,
            "reversed": 4 * (31 - lane),
            "permuted": 4 * shuffled,
            "broadcast": 0 * lane + 64,
            "two_values": 4 * (lane % 2) * 64,
            "rows_of_8": 256 * (lane // 8) + 4 * (lane % 8),
        }
        for name, offsets in plain.items():
            yield Case(f"global_{operation}_{name}", form, _offsets(offsets))
        yield Case(f"global_{operation}_five_lanes", form, _without(4 * lane, lane >= 5))
        yield Case(f"global_{operation}_every_other_lane", form, _without(4 * lane, lane % 2 == 1))
        yield Case(f"global_{operation}_no_lane", form, _without(4 * lane, lane >= 0))
        yield Case(f"global_{operation}_partial_warp", form, _offsets(4 * _lanes(40)), block=40)
        yield Case(f"global_{operation}_blocks_of_72", form, _offsets(4 * _lanes(5 * 72)), block=72)
        for width in (1, 2, 8, 16):
            wide = Form("global", operation, width)
            vector = f"global_{operation}_b{8 * width}"
            yield Case(f"{vector}_coalesced", wide, _offsets(width * lane))
            yield Case(f"{vector}_stride_2", wide, _offsets(2 * width * lane))
            yield Case(f"{vector}_misaligned", wide, _offsets(width * lane + width))
            yield Case(f"{vector}_broadcast", wide, _offsets(0 * lane))
            yield Case(f"{vector}_reversed", wide, _offsets(width * (31 - lane)))
            yield Case(f"{vector}_same_in_quarters", wide, _offsets(width * (lane % 8)))
            yield Case(f"{vector}_five_lanes", wide, _without(width * lane, lane >= 5))
    yield Case("generic_global_ld", Form("global", "ld", generic=True), _offsets(4 * lane))


def _named_shared() -> Iterator[Case]:
    lane = _lanes()
    for operation in ("ld", "st"):
        for width in (4, 8, 16):
            form = Form("shared", operation, width)
            head = f"shared_{operation}_b{8 * width}"
            for ways in (1, 2, 4, 8, 16, 32):
                yield Case(f"{head}_stride_{ways}", form, _offsets(width * ways * lane % WINDOW))
            plain = {
                "padded": 4 * 33 * lane if width == 4 else (128 + width) * lane,
                "broadcast": 0 * lane + 64,
                "two_words_of_a_bank": 128 * (lane % 2),
                "pairs_agree": width * (lane // 2),
                "pairs_far_agree": 128 * (lane // 2),
                "halves_agree": width * (lane % 16),
                "quarters_agree": width * (lane % 8),
                "every_second_agrees": width * ((lane & 1) | (lane >> 2 << 1)),
                "reversed": width * (31 - lane),
            }
            for name, offsets in plain.items():
                yield Case(f"{head}_{name}", form, _offsets(offsets % WINDOW))
            yield Case(f"{head}_five_lanes", form, _without(width * lane, lane >= 5))
            yield Case(f"{head}_lower_half", form, _without(width * lane, lane >= 16))
            yield Case(f"{head}_upper_half", form, _without(width * lane, lane < 16))
            yield Case(f"{head}_even_lanes", form, _without(width * lane, lane % 2 == 1))
            yield Case(f"{head}_no_lane", form, _without(width * lane, lane >= 0))
    for operation in ("ld", "st"):
        for width in (1, 2):
            form = Form("shared", operation, width)
            yield Case(f"shared_{operation}_b{8 * width}_neighbours", form, _offsets(width * lane))
            yield Case(f"shared_{operation}_b{8 * width}_one_bank", form, _offsets(128 * lane))
    yield Case("shared_ld_blocks_of_72", Form("shared", "ld"), _offsets(8 * (_lanes(216) % 72)), block=72)
    yield Case("generic_shared_ld", Form("shared", "ld", generic=True), _offsets(8 * lane))


def _named_local() -> Iterator[Case]:
    lane = _lanes()
    for operation in ("ld", "st"):
        form = Form("local", operation)
        yield Case(f"local_{operation}_same_index", form, _offsets(0 * lane + 8))
        yield Case(f"local_{operation}_own_index", form, _offsets(4 * lane))
        yield Case(f"local_{operation}_two_indices", form, _offsets(16 * (lane % 2)))
        yield Case(f"local_{operation}_five_lanes", form, _without(0 * lane, lane >= 5))


_ATOMICS = (
    *(
        Form(space, operation)
        for space in ("global", "shared")
        for operation in ("red", "atom", "cas", "exch")
    ),
    Form("shared", "red_one"),
    Form("shared", "max"),
    Form("global", "red", kind="f32"),
    Form("global", "atom", 8, kind="u64"),
)


def _atomic() -> Iterator[Case]:
    lane = _lanes()
    for form in _ATOMICS:
        unit = form.width
        plain = {
            "one_address": 0 * lane,
            "own_addresses": unit * lane,
            "stride_2": 2 * unit * lane,
            "stride_8": 8 * unit * lane,
            "stride_32": 32 * unit * lane,
            "pairs": unit * (lane // 2),
            "four_addresses": unit * (lane % 4),
        }
        for name, offsets in plain.items():
            yield Case(f"{form.name}_{name}", form, _offsets(offsets))
        yield Case(f"{form.name}_five_lanes", form, _without(unit * lane, lane >= 5))


def _asynchronous() -> Iterator[Case]:
    lane = _lanes()
    for operation, widths in (("async_ca", (4, 8, 16)), ("async_cg", (16,))):
        for width in widths:
            form = Form("global", operation, width)
            plain = {
                "coalesced": width * lane,
                "stride_2": 2 * width * lane,
                "stride_8": 8 * width * lane,
                "misaligned": width * lane + width,
                "reversed": width * (31 - lane),
                "broadcast": 0 * lane,
            }
            for name, offsets in plain.items():
                yield Case(f"{form.name}_{name}", form, _offsets(offsets))
            yield Case(f"{form.name}_five_lanes", form, _without(width * lane, lane >= 5))


def _random() -> Iterator[Case]:
    """Seeded patterns between order and chaos; a third leaves lanes out."""
    random = np.random.default_rng(20260101)
    for space, widths, count in (("global", (4, 8, 16), 6), ("shared", (2, 4, 8, 16), 16)):
        for width in widths:
            for operation in ("ld", "st"):
                for number in range(count):
                    cells = int(random.choice([8, 32, 64, 256, 1024]))
                    offsets = random.integers(0, cells, 32)
                    if number % 4 == 1:
                        offsets = np.sort(offsets)
                    elif number % 4 == 2:
                        offsets = np.repeat(offsets[:16], 2)
                    elif number % 4 == 3:
                        offsets = offsets[np.arange(32) % int(random.choice([4, 8, 16]))]
                    absent = random.random(32) < 0.4 if number % 3 == 2 else np.zeros(32, bool)
                    yield Case(
                        f"{space}_{operation}_b{8 * width}_random_{number}",
                        Form(space, operation, width),
                        _without(width * offsets, absent),
                    )


def _merging() -> Iterator[Case]:
    """Wide shared loads whose halves or quarters agree in different ways, or not at all."""
    random = np.random.default_rng(4)
    lane = _lanes()
    for width in (8, 16):
        styles = {
            "next": lane ^ (lane & 1),
            "second": lane ^ (lane & 2),
            "fourth": lane ^ (lane & 4),
            "own": lane,
        }
        for first, low in styles.items():
            for second, high in styles.items():
                cells = np.where(lane < 16, low, high)
                for name, order in (("ordered", lane), ("shuffled", random.permutation(64)[:32])):
                    offsets = width * order[cells]
                    yield Case(
                        f"shared_ld_b{8 * width}_{first}_{second}_{name}",
                        Form("shared", "ld", width),
                        _offsets(offsets),
                    )
        for number in range(24):
            cells = styles[str(random.choice(["next", "second"]))]
            offsets = width * random.integers(0, 96, 32)[cells]
            changed = random.random(32) < random.choice([0.0, 0.04])
            offsets = np.where(changed, width * random.integers(0, 96, 32), offsets)
            absent = random.random(32) < random.choice([0.0, 0.3, 0.7])
            yield Case(
                f"shared_ld_b{8 * width}_nearly_{number}",
                Form("shared", "ld", width),
                _without(offsets, absent),
            )


def _random_atomics() -> Iterator[Case]:
    random = np.random.default_rng(8)
    for form in _ATOMICS:
        for number in range(4):
            offsets = form.width * random.integers(0, int(random.choice([8, 32, 128])), 32)
            absent = random.random(32) < (0.3 if number == 3 else 0.0)
            yield Case(f"{form.name}_random_{number}", form, _without(offsets, absent))
