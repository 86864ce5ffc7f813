"""The hooks of each event, determined once per launch."""

from __future__ import annotations

from collections.abc import Sequence

from tooling.simulator.gpu.hooks import Hook

HOOK_NAMES = (
    "shared_memory", "batch_begin", "batch_end", "issue", "access", "block_barrier", "barrier_reached",
    "barrier_arrive", "named_barrier", "barrier_mixed", "barrier_mixed_warps", "barrier_inactive",
    "barrier_counts", "warp_sync", "warp_missing", "shuffle_from_absent", "exchange", "cluster_arrive",
    "cluster_wait", "cluster_barrier", "fence", "async_commit", "async_wait", "async_arrive", "products_read",
    "product_wait", "product_used", "product_unfenced",
    "bulk_wait", "transfer_counted", "mbarrier_phase", "mbarrier",
    "register_unwritten", "threads_exit", "stuck",
)  # fmt: skip


class Listeners:
    """Per event, the hooks that override it: an event without hooks costs an empty loop."""

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.all = tuple(hooks)
        for name in HOOK_NAMES:
            own = tuple(hook for hook in hooks if getattr(type(hook), name) is not getattr(Hook, name))
            setattr(self, name, own)

    all: tuple[Hook, ...]
    shared_memory: tuple[Hook, ...]
    batch_begin: tuple[Hook, ...]
    batch_end: tuple[Hook, ...]
    issue: tuple[Hook, ...]
    access: tuple[Hook, ...]
    block_barrier: tuple[Hook, ...]
    barrier_reached: tuple[Hook, ...]
    barrier_arrive: tuple[Hook, ...]
    named_barrier: tuple[Hook, ...]
    barrier_mixed: tuple[Hook, ...]
    barrier_mixed_warps: tuple[Hook, ...]
    barrier_inactive: tuple[Hook, ...]
    barrier_counts: tuple[Hook, ...]
    warp_sync: tuple[Hook, ...]
    warp_missing: tuple[Hook, ...]
    shuffle_from_absent: tuple[Hook, ...]
    exchange: tuple[Hook, ...]
    cluster_arrive: tuple[Hook, ...]
    cluster_wait: tuple[Hook, ...]
    cluster_barrier: tuple[Hook, ...]
    fence: tuple[Hook, ...]
    async_commit: tuple[Hook, ...]
    async_wait: tuple[Hook, ...]
    async_arrive: tuple[Hook, ...]
    products_read: tuple[Hook, ...]
    product_wait: tuple[Hook, ...]
    product_used: tuple[Hook, ...]
    product_unfenced: tuple[Hook, ...]
    register_unwritten: tuple[Hook, ...]
    bulk_wait: tuple[Hook, ...]
    transfer_counted: tuple[Hook, ...]
    mbarrier_phase: tuple[Hook, ...]
    mbarrier: tuple[Hook, ...]
    threads_exit: tuple[Hook, ...]
    stuck: tuple[Hook, ...]
