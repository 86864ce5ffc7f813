"""The defect suite: tiny kernels with one defect each, and twins without it that must stay silent.

A kernel is `defects/<check>/<name>.ptx`, with the entries `wrong` and `right`; the table says what is found
in `wrong`, at which lines, by which threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tests.simulator.checks.defect_runs import FOLDER, Setting, run
from tooling.simulator.checks.findings import Finding, Index3, Kind, Severity, render


@dataclass(frozen=True, slots=True)
class Defect:
    """The expected first finding of its kind.

    Attributes:
        lines: Mojo line of each party; `threads`, `blocks`: x index of each party's thread and block.
        text: part of the English message.
        also: kinds that the same defect causes besides.
    """

    name: str
    kind: Kind
    lines: tuple[int, ...]
    threads: tuple[int, ...]
    blocks: tuple[int, ...] = (0, 0)
    text: str = ""
    count: int | None = None
    also: tuple[Kind, ...] = ()
    setting: Setting = field(default_factory=Setting)


DEFECTS = (
    # Memory
    Defect(
        "memory/off_by_one_guard",
        Kind.PAST_THE_END,
        (11,),
        (6,),
        count=1,
        setting=Setting(8, elements=6),
        text="write of 4 bytes reaches 4 bytes past the end of the 24-byte buffer #2 (argument 2 of wrong): "
        "element 6 where 5 is the last",
    ),
    Defect(
        "memory/no_guard",
        Kind.PAST_THE_END,
        (10,),
        (6,),
        count=2,
        setting=Setting(8, elements=6),
        text="read of 4 bytes reaches 4 bytes past the end of the 24-byte buffer #1 (argument 1 of wrong)",
    ),
    Defect(
        "memory/before_the_start",
        Kind.BEFORE_THE_START,
        (11,),
        (0,),
        count=1,
        text="starts 4 bytes before the beginning of the 1024-byte buffer #2",
    ),
    Defect(
        "memory/shared_overflow",
        Kind.OUTSIDE_SHARED,
        (10,),
        (7,),
        count=1,
        setting=Setting(8),
        text="reaches 4 bytes outside the block's 32 bytes of shared memory: element 8 where 7 is the last",
    ),
    Defect(
        "memory/shared_negative",
        Kind.BEFORE_SHARED,
        (10,),
        (0,),
        count=1,
        setting=Setting(8),
        text="read of 4 bytes starts 4 bytes before the block's 32 bytes of shared memory: element -1",
    ),
    Defect(
        "memory/shared_neighbour",
        Kind.OUTSIDE_SHARED,
        (10,),
        (0,),
        count=8,
        setting=Setting(8),
        text="outside the block's shared array #1 (32 bytes): element 8 where 7 is the last",
    ),
    Defect(
        "memory/vector_tail",
        Kind.PAST_THE_END,
        (10,),
        (2,),
        count=1,
        setting=Setting(3, elements=10),
        text="read of 16 bytes reaches 8 bytes past the end of the 40-byte buffer #1",
    ),
    Defect(
        "memory/histogram_bin",
        Kind.PAST_THE_END,
        (10,),
        (6,),
        count=2,
        setting=Setting(8, elements=6),
        text="atomic update of 4 bytes reaches 4 bytes past the end of the 24-byte buffer #2",
    ),
    Defect(
        "memory/copy_past_the_end",
        Kind.PAST_THE_END,
        (10,),
        (6,),
        count=2,
        setting=Setting(8, elements=24),
        text="past the end of the 96-byte buffer #1",
    ),
    Defect(
        "memory/local_overflow",
        Kind.OUTSIDE_LOCAL,
        (10,),
        (0,),
        count=64,
        text="4 bytes outside the thread's 16 bytes of local memory",
    ),
    Defect(
        "memory/misaligned_vector",
        Kind.MISALIGNED,
        (10,),
        (0,),
        setting=Setting(32),
        text="read of 8 bytes at 0x100000004, which is not a multiple of 8",
    ),
    Defect(
        "memory/null_pointer", Kind.NULL_POINTER, (10,), (0,), text="through a null pointer (address 0x0)"
    ),
    Defect("memory/wild_pointer", Kind.WILD_POINTER, (10,), (0,), text="far from every buffer"),
    Defect(
        "memory/stale_buffer",
        Kind.USE_AFTER_FREE,
        (10,),
        (0,),
        setting=Setting(freed=True),
        text="read of 4 bytes in the 1024-byte buffer #1 (argument 1 of wrong), which was already freed",
    ),
    # Races
    Defect(
        "races/missing_barrier",
        Kind.READ_AFTER_WRITE,
        (12, 10),
        (0, 63),
        count=64,
        text="try: Put `barrier()` between the two lines, where every thread of the block passes it.",
    ),
    Defect(
        "races/reduction_step",
        Kind.WRITE_AFTER_READ,
        (15, 14),
        (4, 0),
        count=2,
        setting=Setting(8),
        also=(Kind.UNWRITTEN_READ,),
        text="separate the reads from the writes of the same step",
    ),
    Defect("races/next_iteration", Kind.WRITE_AFTER_READ, (10, 12), (0, 63), count=128),
    Defect(
        "races/global_sum",
        Kind.SAME_INSTRUCTION,
        (11, 11),
        (0, 63),
        count=63,
        also=(Kind.WRITE_AFTER_READ,),
        text="add with `Atomic.fetch_add`",
    ),
    Defect(
        "races/plain_read_beside_atomic", Kind.READ_AFTER_WRITE, (14, 12), (0, 63), text="updates atomically"
    ),
    Defect("races/flag", Kind.SAME_INSTRUCTION, (10, 10), (0, 63), count=63),
    Defect(
        "races/missing_syncwarp",
        Kind.READ_AFTER_WRITE,
        (12, 10),
        (0, 1),
        setting=Setting(32),
        text="or `syncwarp()`, as both threads are in one warp",
    ),
    Defect(
        "races/barrier_between_blocks",
        Kind.READ_AFTER_WRITE,
        (12, 10),
        (0, 0),
        (0, 1),
        count=64,
        setting=Setting(32, 2),
        text="No barrier orders two blocks",
    ),
    Defect("races/named_barrier", Kind.READ_AFTER_WRITE, (12, 10), (64, 0), count=32, setting=Setting(96)),
    Defect(
        "races/copy_in_flight",
        Kind.COPY_IN_FLIGHT,
        (12, 10),
        (0, 0),
        count=64,
        text="read of shared memory that an asynchronous copy is still filling",
    ),
    Defect(
        "races/copy_without_barrier",
        Kind.READ_AFTER_WRITE,
        (13, 10),
        (0, 63),
        text="call `async_copy_wait_all()` and then `barrier()` between the copy and the access",
    ),
    Defect("races/bytes", Kind.SAME_INSTRUCTION, (10, 10), (0, 1), count=32),
    Defect("races/overlapping_vectors", Kind.SAME_INSTRUCTION, (10, 10), (0, 1)),
    Defect(
        "races/cluster_memory", Kind.READ_AFTER_WRITE, (12, 10), (0, 0), (0, 1), setting=Setting(64, 2, 2)
    ),
    Defect(
        "races/cluster_stored_late",
        Kind.READ_AFTER_WRITE,
        (13, 10),
        (0, 0),
        (0, 1),
        setting=Setting(64, 2, 2),
    ),
    Defect(
        "races/cluster_relaxed", Kind.READ_AFTER_WRITE, (13, 10), (0, 0), (0, 1), setting=Setting(64, 2, 2)
    ),
    Defect(
        "races/barrier_reused",
        Kind.BARRIER_REUSED,
        (12, 11),
        (64, 0),
        setting=Setting(128),
        text="arrive at barrier 1 while other threads may still be waiting there",
    ),
    Defect("races/stencil_in_place", Kind.WRITE_AFTER_READ, (12, 10), (1, 0), count=63, text="global memory"),
    Defect("races/last_block", Kind.READ_AFTER_WRITE, (14, 10), (0, 0), (3, 0), setting=Setting(32, 4)),
    Defect(
        "races/bulk_load_unwaited",
        Kind.BULK_COPY_IN_FLIGHT,
        (12, 10),
        (0, 0),
        count=64,
        text="read of shared memory that a bulk copy is still filling",
    ),
    Defect("races/bulk_load_waited_by_one", Kind.BULK_COPY_IN_FLIGHT, (12, 10), (1, 0), count=63),
    Defect("races/bulk_load_wrong_phase", Kind.BULK_COPY_IN_FLIGHT, (12, 10), (0, 0), count=64),
    Defect(
        "races/bulk_source_changed",
        Kind.COPY_SOURCE_CHANGED,
        (13, 10),
        (0, 0),
        count=64,
        text="write of shared memory that a bulk copy is still reading",
    ),
    Defect("races/bulk_not_committed", Kind.COPY_SOURCE_CHANGED, (13, 10), (0, 0), count=64),
    Defect(
        "races/bulk_result_unwaited",
        Kind.BULK_COPY_IN_FLIGHT,
        (13, 10),
        (0, 0),
        count=64,
        text="read of global memory that a bulk copy is still filling",
    ),
    Defect(
        "races/bulk_outlives_block",
        Kind.COPY_OUTLIVES_BLOCK,
        (10, 11),
        (0, 0),
        count=1,
        text="a block ends while a bulk copy still uses 256 bytes of its shared memory",
    ),
    Defect(
        "races/bulk_without_fence",
        Kind.PROXY_FENCE_MISSING,
        (10, 8),
        (0, 0),
        count=64,
        text="an asynchronous copy reads shared memory that was written without a proxy fence",
    ),
    Defect("races/mbarrier_asked_once", Kind.READ_AFTER_WRITE, (14, 10), (0, 63), count=64),
    # Initialisation
    Defect(
        "initialisation/idle_threads",
        Kind.UNWRITTEN_READ,
        (13,),
        (6,),
        count=2,
        setting=Setting(8),
        text="read of 4 bytes of shared memory that was never written: the block's 32 bytes of shared "
        "memory, offset 24: element 6 where 7 is the last",
    ),
    Defect(
        "initialisation/accumulator",
        Kind.UNWRITTEN_READ,
        (10,),
        (0,),
        count=1,
        setting=Setting(unwritten=True),
        text="read of 4 bytes of global memory that was never written",
    ),
    Defect("initialisation/halo", Kind.UNWRITTEN_READ, (13,), (7,), count=1, setting=Setting(8)),
    Defect("initialisation/local_array", Kind.UNWRITTEN_READ, (12,), (0,), count=64, text="local memory"),
    Defect(
        "initialisation/missing_last",
        Kind.UNWRITTEN_COPY,
        (),
        (),
        setting=Setting(8, elements=8, unwritten=True, read_back=True),
        text="4 bytes of the 32-byte buffer #2 (argument 2 of wrong) were copied to the host although they",
    ),
    # Synchronisation
    Defect(
        "synchronisation/barrier_in_branch",
        Kind.EXITED_BEFORE_BARRIER,
        (10, 11),
        (0, 3),
        setting=Setting(4),
        text="barrier reached by 3 of the block's 4 threads; the others had already returned",
    ),
    Defect("synchronisation/early_return", Kind.EXITED_BEFORE_BARRIER, (11, 9), (0, 6), setting=Setting(8)),
    Defect(
        "synchronisation/two_barriers",
        Kind.DIVERGENT_BARRIER,
        (10, 11),
        (0, 32),
        text="wait at different barriers: 32 of 64 at two_barriers.mojo:10:9",
    ),
    Defect(
        "synchronisation/crossed_barriers",
        Kind.DEADLOCK,
        (10, 12),
        (0, 32),
        text="crossed_barriers.mojo:12:9: thread (32, 0, 0) of block (0, 0, 0) waits at the barrier, "
        "and 31 more",
    ),
    Defect(
        "synchronisation/missing_lane",
        Kind.MISSING_LANE,
        (10,),
        (0,),
        setting=Setting(32),
        text="expects lanes 0xffffffff, but lanes 16-31 do not take part",
    ),
    Defect(
        "synchronisation/absent_source",
        Kind.ABSENT_SOURCE,
        (10,),
        (0,),
        setting=Setting(32),
        text="takes a value from lane 20, but only the lanes 0x0000ffff take part",
    ),
    Defect(
        "synchronisation/cluster_wait_dropped",
        Kind.CLUSTER_WAIT_MISSING,
        (10,),
        (0,),
        setting=Setting(64, 4, 4),
        text="256 threads arrived at the cluster barrier and exited without",
    ),
    Defect(
        "synchronisation/cluster_block_gone",
        Kind.CLUSTER_BLOCK_GONE,
        (12, 13),
        (0, 0),
        (1, 0),
        setting=Setting(64, 2, 2),
    ),
    Defect("synchronisation/mbarrier_count", Kind.MBARRIER_STUCK, (13,), (0,), text="64 of 65 arrivals"),
    Defect("synchronisation/mbarrier_not_ready", Kind.MBARRIER_NOT_READY, (12, 10), (32, 0)),
)

WARNINGS = frozenset({Kind.UNWRITTEN_COPY, Kind.LEAK, Kind.COPY_OUTLIVES_BLOCK})


def by_name(defect: Defect) -> str:
    return defect.name


def first(indices: list[Index3]) -> tuple[int, ...]:
    return tuple(index[0] for index in indices)


@pytest.mark.parametrize("defect", DEFECTS, ids=by_name)
def test_a_defect_is_found_where_it_is(defect: Defect) -> None:
    findings = run(defect.name, "wrong", defect.setting)
    assert {finding.kind for finding in findings} == {defect.kind, *defect.also}
    finding = next(finding for finding in findings if finding.kind is defect.kind)
    assert finding.check == defect.name.split("/")[0]
    assert finding.severity is (Severity.WARNING if defect.kind in WARNINGS else Severity.ERROR)
    assert tuple(party.position.line for party in finding.parties) == defect.lines
    assert first([party.thread for party in finding.parties]) == defect.threads
    assert first([party.block for party in finding.parties]) == defect.blocks[: len(defect.lines)]
    assert defect.count in (None, finding.count)
    assert defect.text in render(finding)
    assert "{" not in render(finding, "ko")


@pytest.mark.parametrize("schedule", ["lockstep", "adversarial", "random:1"])
@pytest.mark.parametrize("defect", DEFECTS, ids=by_name)
def test_a_correct_twin_is_silent_under_every_schedule(defect: Defect, schedule: str) -> None:
    found = run(defect.name, "right", defect.setting, schedule)
    # PTX lets two warps pass a barrier at different instructions; Mojo's rule is stricter: a warning.
    allowed = [Kind.DIFFERENT_BARRIERS] if defect.name == "synchronisation/two_barriers" else []
    assert [finding.kind for finding in found] == allowed


@pytest.mark.parametrize("schedule", ["adversarial", "random:7"])
@pytest.mark.parametrize("defect", [d for d in DEFECTS if d.name.startswith("races/")], ids=by_name)
def test_a_race_is_found_under_every_schedule(defect: Defect, schedule: str) -> None:
    findings: list[Finding] = run(defect.name, "wrong", defect.setting, schedule)
    assert any(finding.check == "races" for finding in findings)


@pytest.mark.parametrize("defect", [d for d in DEFECTS if d.name.startswith("memory/")], ids=by_name)
def test_other_checks_bear_illegal_addresses_without_the_memory_check(defect: Defect) -> None:
    findings = run(defect.name, "wrong", defect.setting, checks=("races", "initialisation"))
    assert all(finding.check != "memory" for finding in findings)


def test_every_kernel_of_the_folder_is_in_the_table() -> None:
    kernels = {str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.ptx")}
    assert kernels == {defect.name for defect in DEFECTS}
