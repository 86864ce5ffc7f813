"""English sentences of the checks."""

from __future__ import annotations

from tooling.simulator.checks.texts.language import FindingLanguage, FindingText

_TEXTS = {
    "past-the-end": FindingText(
        "{access} of {bytes} reaches {distance} past the end of {buffer}{element}",
        "Nothing there belongs to the buffer: on hardware this reads or overwrites other data, or stops the "
        "kernel.",
        "Guard the access, for example `if i < size:`, and check that the launch and the buffer have the "
        "sizes you "
        "meant; more threads than elements is the usual cause.",
    ),
    "before-the-start": FindingText(
        "{access} of {bytes} starts {distance} before the beginning of {buffer}",
        "Nothing there belongs to the buffer: on hardware this reads or overwrites other data, or stops the "
        "kernel.",
        "The index became negative: guard it (`if i >= offset:`) before subtracting.",
    ),
    "outside-shared": FindingText(
        "{access} of {bytes} reaches {distance} outside {buffer}{element}",
        "The array ends before that: on hardware the kernel stops, or reads and overwrites another shared "
        "array.",
        "Allocate as many elements as the largest index needs (halo cells too), or guard the index with the "
        "size of the shared array, not of the input.",
    ),
    "before-shared": FindingText(
        "{access} of {bytes} starts {distance} before {buffer}{element}",
        "The array begins after that: on hardware the kernel stops, or reads and overwrites another shared "
        "array.",
        "The index became negative: begin at 0 (`max(i - offset, 0)`), or guard it before subtracting.",
    ),
    "outside-local": FindingText(
        "{access} of {bytes} reaches {distance} outside {buffer}{element}",
        "A thread's own array ends before that: the access hits other variables of the thread, or stops the "
        "kernel.",
        "Check the loop bound against the length of the array in the thread.",
    ),
    "outside-cluster": FindingText(
        "{access} of {bytes} in the shared memory of block {arrived} of a cluster of {expected}",
        "Blocks of a cluster are numbered from 0, so there is no such block: on hardware the kernel stops.",
        "Let the last block go round to the first, `(rank + 1) % size`, or guard it; and check that the "
        "launch has the `cluster_dim` you meant.",
    ),
    "misaligned": FindingText(
        "{access} of {bytes} at {address}, which is not a multiple of {alignment}",
        "The GPU loads and stores {bytes} at once only at addresses that are multiples of {alignment}; other "
        "addresses stop the kernel.",
        "Start the vector at an index that is a multiple of its width, or access the elements one by one.",
    ),
    "null-pointer": FindingText(
        "{access} of {bytes} through a null pointer (address {address})",
        "No buffer begins at address zero: the pointer was never set, or an index was used without its "
        "buffer.",
        "Pass the buffer to the kernel, and check that it is not empty.",
    ),
    "wild-pointer": FindingText(
        "{access} of {bytes} at {address}, far from every buffer; the nearest is {buffer}",
        "The address belongs to no allocation: on hardware the kernel stops with an illegal address.",
        "Check the index arithmetic (an overflow, a row and a column exchanged, or an uninitialised index).",
    ),
    "use-after-free": FindingText(
        "{access} of {bytes} in {buffer}, which was already freed",
        "The memory may by now belong to another buffer, whose data is read or destroyed.",
        "Keep the buffer alive until the kernel is done: use it after `ctx.synchronize()`, or transfer it "
        "later.",
    ),
    "not-mapped": FindingText(
        "{access} of {bytes} at {address}, {offset} bytes into reserved addresses behind which there is no "
        "memory that the GPU may use",
        "Reserved addresses are only numbers: memory must be mapped there, and access to it be allowed; on "
        "hardware the kernel stops with an illegal address.",
        "Call `cuMemMap` and `cuMemSetAccess` for all that the kernel uses before the launch, and "
        "`cuMemUnmap` only after it has ended.",
    ),
    "read-only": FindingText(
        "{access} of {bytes} in {buffer}, which is mapped read-only{element}",
        "At these addresses the memory may be read and not changed: on hardware the kernel stops with an "
        "illegal address.",
        "Write through an address whose access is `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`, or allow that here "
        "with `cuMemSetAccess`.",
    ),
    "host-memory": FindingText(
        "{access} of {bytes} in host memory: {buffer} belongs to the host",
        "A GPU reaches host memory only over the bus, and memory that is not pinned not at all.",
        "Copy it to a DeviceBuffer first (`enqueue_copy`) and pass that one to the kernel.",
    ),
    "host-memory-not-passed": FindingText(
        "{access} of {bytes} in host memory that was not passed to the kernel: {buffer} belongs to the host",
        "No argument of the kernel points there: on hardware this reads or overwrites the host's data, or "
        "stops the kernel.",
        "Check the index arithmetic (an overflow, a row and a column exchanged, or an uninitialised index), "
        "and pass the kernel a DeviceBuffer.",
    ),
    "leak": FindingText(
        "{buffer} was never freed",
        "The memory comes back only when the program ends: one that repeats this runs out of device memory.",
        "Let the context outlive its buffers, with all their uses inside `with DeviceContext() as ctx:`. "
        "Mojo destroys a value after its last use, and does not free a buffer whose context is gone. What "
        "was allocated by hand, or taken with `take_ptr`, must be freed by hand.",
    ),
    "read-after-write": FindingText(
        "race on {memory} memory: a thread reads what another thread has just written, unordered",
        "Nothing makes the write at {last_place} happen before the read at {first_place}: on hardware the "
        "read may "
        "see the old value.",
        "{scope_hint}",
    ),
    "write-after-read": FindingText(
        "race on {memory} memory: a thread overwrites what another thread is reading, unordered",
        "Nothing makes the read at {last_place} happen before the write at {first_place}: on hardware the "
        "read may "
        "already see the new value.",
        "{scope_hint} In a loop, separate the reads from the writes of the same step and from those of the "
        "next one.",
    ),
    "write-after-write": FindingText(
        "race on {memory} memory: two threads write different values to the same place, unordered",
        "Which of the two values stays is left to chance; a sum collected this way loses contributions.",
        "Let each thread write its own element, add with `Atomic.fetch_add`, or: {scope_hint}",
    ),
    "same-instruction": FindingText(
        "race on {memory} memory: threads write different values to the same place in the same instruction",
        "Which of the values stays is left to chance; a sum collected this way loses contributions.",
        "Let one thread write (`if thread_idx.x == 0:`), give each thread its own element, or add with "
        "`Atomic.fetch_add`.",
    ),
    "copy-in-flight": FindingText(
        "{access} of {memory} memory that an asynchronous copy is still filling",
        "The copy started at {last_place} runs in the background: until it was waited for, nobody knows "
        "what has "
        "arrived, not even the thread that started it.",
        "Call `async_copy_wait_all()` and then `barrier()` between the copy and the access.",
    ),
    "bulk-copy-in-flight": FindingText(
        "{access} of {memory} memory that a bulk copy is still filling",
        "The copy started at {last_place} runs in the background: until its end was waited for, nobody knows "
        "what has arrived. A barrier alone does not wait for it.",
        "Into shared memory: wait at the copy's mbarrier (`bar[].wait(phase)` or "
        "`mbarrier_try_wait_parity_shared`). Into global memory: let the thread that started the copy call "
        "`cp_async_bulk_commit_group()` and `cp_async_bulk_wait_group[0, False]()`. Then call `barrier()` "
        "before other threads go on.",
    ),
    "copy-source-changed": FindingText(
        "{access} of {memory} memory that a bulk copy is still reading",
        "The copy started at {last_place} runs in the background: it takes whatever it finds, the old values "
        "or the new ones. A barrier alone does not wait for it.",
        "From shared memory: let the thread that started the copy call `cp_async_bulk_commit_group()` and "
        "`cp_async_bulk_wait_group[0]()`. From global memory: wait at the copy's mbarrier. Then call "
        "`barrier()` before other threads overwrite the source.",
    ),
    "copy-outlives-block": FindingText(
        "a block ends while a bulk copy still uses {bytes} of its shared memory",
        "Shared memory ends with its block: the next block on this multiprocessor gets it, and nothing "
        "promises that it does not meet the copy there.",
        "Wait before the block ends: at the mbarrier of a copy into shared memory; for one out of it with "
        "`cp_async_bulk_commit_group()` and `cp_async_bulk_wait_group[0]()` in the thread that started it.",
    ),
    "proxy-fence-missing": FindingText(
        "a bulk copy reads {memory} memory that was written without a proxy fence",
        "Ordinary stores and bulk copies take different ways to memory: without a fence the copy may miss "
        "what was stored at {last_place}, in spite of the barrier.",
        "Call `fence_async_view_proxy()` after the stores, in every thread that stores, then `barrier()`, "
        "then start the copy.",
    ),
    "barrier-reused": FindingText(
        "threads come to barrier {arrived} while other threads may still meet there",
        "A barrier counts whoever comes to it: threads that come before those at {last_place} have passed "
        "are counted among them, so that some go on too early and others wait for ever.",
        "Give each group of threads a barrier number of its own, 1 to 15 (`barrier()` uses 0), or let the "
        "second group come only after the first has passed, for example behind a `barrier()` of the block.",
    ),
    "unwritten-read": FindingText(
        "read of {bytes} of {memory} memory that nobody has written: {buffer}, offset {offset}{element}",
        "New memory holds whatever was there before: the value differs from run to run.",
        "Write every element before it is read: fill the buffer on the host, or let the threads that have "
        "no data "
        "store a zero; and check that the writer uses the same index as the reader.",
    ),
    "unwritten-library-read": FindingText(
        "Mojo's library reads {bytes} of {memory} memory that nobody has written: {buffer}, "
        "offset {offset}{element}",
        "The library may read all cells of its scratch memory and use those that it wrote: right results are "
        "not in doubt.",
        "Where the result is wrong, check what the library's function asks of the block: its size, and that "
        "all threads call it.",
    ),
    "unwritten-copy": FindingText(
        "{bytes} of {buffer} were copied to the host although nobody had written them, the first at offset "
        "{offset}{element}",
        "The host receives whatever was in the memory before.",
        "Let the kernel write every element, or fill the buffer first (`enqueue_fill`).",
    ),
    "exited-before-barrier": FindingText(
        "barrier reached by {arrived} of the block's {expected} threads; the others had already returned",
        "A barrier is a meeting of the whole block: on some GPUs the block waits for ever, on others it "
        "goes on without "
        "those threads.",
        "Let every thread reach `barrier()`: do not return before it, keep it out of an `if` and of a loop "
        "whose length differs from thread to thread, and put a guard (`if i < size:`) around the work alone.",
    ),
    "divergent-barrier": FindingText(
        "threads of one block wait at different barriers: {arrived} of {expected} at {first_place}",
        "`barrier()` needs every thread of the block at the same call; inside a branch, some threads never "
        "come.",
        "Move `barrier()` out of the `if` (or out of the loop whose length differs from thread to thread).",
    ),
    "missing-lane": FindingText(
        "a warp operation expects lanes {mask}, but lanes {lanes} do not take part",
        "The lanes named in the mask wait for one another; a value taken from an absent lane is undefined.",
        "Call the warp operation with all lanes (move it out of the branch and give idle lanes a neutral "
        "value such as "
        "0), or pass the mask of the lanes that really arrive.",
    ),
    "absent-source": FindingText(
        "a warp shuffle takes a value from lane {arrived}, but only the lanes {mask} take part",
        "What comes from a lane that takes no part is undefined: it has ended, was never there (a block of "
        "fewer threads than a warp), is in another branch, or is not named in the mask.",
        "Take the value from a lane that takes part, or let that lane call the operation too and name it in "
        "the mask. In a block of fewer threads than a warp, begin the steps at half of its threads.",
    ),
    "short-barrier": FindingText(
        "{arrived} threads wait at a barrier that is meant for {expected}, and no other thread can come",
        "A barrier with a count lets its threads go on only when as many have come, whole warps at a time.",
        "Name the number of threads that really meet there, a multiple of 32, and let each of them come: "
        "`named_barrier[count](number)`, or `named_barrier_arrive` where a thread need not wait.",
    ),
    "endless-wait": FindingText(
        "deadlock: threads wait in a loop for a value that no thread can change any more",
        "Every thread that could change it waits too, or has ended.",
        "Let some thread write what the loop reads, and write it before that thread waits for others: give a "
        "lock back inside the `if` that took it, not after the loop, where the other lanes of the warp are "
        "waited for.",
    ),
    "deadlock": FindingText(
        "deadlock: no thread of the launch can go on",
        "Each group of threads waits for another one that never comes.",
        "Make all threads pass the same barriers in the same order, with the same numbers and thread counts.",
    ),
    "mbarrier-stuck": FindingText(
        "threads wait at an mbarrier whose phase never completes: {arrived} of {expected} arrivals",
        "The phase ends only after as many arrivals as `mbarrier_init` announced.",
        "Announce the number of threads that really call `mbarrier_arrive`, and let each of them arrive in "
        "each phase. A wait for a parity names that of the phase it waits for: 0 for the first, then 1, 0, …",
    ),
    "mbarrier-not-ready": FindingText(
        "an mbarrier is used before `mbarrier_init` was visible to this thread",
        "Its count and phase are then whatever the shared memory held before.",
        "Let one thread initialise it, then call `barrier()` before anyone arrives or waits.",
    ),
    "mbarrier-unheeded": FindingText(
        "an mbarrier is asked whether its phase is complete, and nobody looks at the answer",
        "`mbarrier_test_wait` does not wait: it answers at once, and here the threads go on whatever it "
        "says, even before the others have arrived.",
        "Ask until the answer is true: `while not mbarrier_test_wait(barrier, token): pass`.",
    ),
    "cluster-wait-missing": FindingText(
        "{arrived} threads arrived at the cluster barrier and exited without `cluster_wait()`",
        "The block may be gone while another block of the cluster still counts on it or on its shared "
        "memory.",
        "End every `cluster_arrive()` with a `cluster_wait()` in the same threads.",
    ),
    "cluster-arrive-missing": FindingText(
        "`cluster_wait()` without a `cluster_arrive()` before it",
        "The wait then refers to a meeting that this thread never announced: the behaviour is undefined.",
        "Call `cluster_arrive()` and then `cluster_wait()`, once each, in every thread of the cluster.",
    ),
    "cluster-block-gone": FindingText(
        "{access} of the shared memory of another block of the cluster that has already exited",
        "Shared memory ends with its block: what is read there is undefined.",
        "Call `cluster_sync()` after the last remote access, so that no block leaves early.",
    ),
}

_RACE_HINTS = {
    "line": "Both happen in one line. Where many threads add to one place, use `Atomic.fetch_add` or a "
    "reduction; elsewhere split the line: read into a variable, call `barrier()` where every thread passes "
    "it, then write.",
    "step": "Both happen in one line, as a rule at different steps of a loop: call `barrier()` at the end of "
    "each step, where every thread passes it (not inside an `if`). Where many threads add to one place, use "
    "`Atomic.fetch_add` or a reduction.",
    "warp": "Put `barrier()` (or `syncwarp()`, as both threads are in one warp) between the two lines, "
    "where every thread "
    "passes it.",
    "cluster": "Put `cluster_sync()` between the two lines, where every thread of the cluster passes it: "
    "`barrier()` orders the threads of one block only. With `cluster_arrive()` and `cluster_wait()` instead, "
    "what must come first belongs before the arrival and what must come later behind the wait. Where many "
    "threads add to one place, use `Atomic.fetch_add`.",
    "block": "Put `barrier()` between the two lines, where every thread of the block passes it.",
    "grid": "No barrier orders two blocks: use an atomic operation, a second launch, or give each block its "
    "own elements. Data that is handed over by an atomic flag or counter needs `Ordering.RELEASE` where it "
    "is set and `Ordering.ACQUIRE` where it is read.",
}


def _bytes_of(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


LANGUAGE = FindingLanguage(
    texts=_TEXTS,
    severity={"error": "error:", "warning": "warning:"},
    actions={
        "read": "reads",
        "write": "writes",
        "atomic": "updates atomically",
        "async-copy": "copies asynchronously",
        "barrier": "waits at the barrier",
        "cluster-barrier": "is at the cluster barrier",
        "warp-sync": "is at the warp operation",
        "mbarrier": "is at the mbarrier",
        "loop": "loops, waiting for another thread",
        "exit": "returns",
    },
    accesses={
        "read": "read",
        "write": "write",
        "atomic": "atomic update",
        "async-copy": "asynchronous copy",
        "barrier": "barrier",
        "cluster-barrier": "cluster barrier",
        "warp-sync": "warp operation",
        "mbarrier": "mbarrier operation",
        "loop": "waiting loop",
        "exit": "return",
    },
    memories={"global": "global", "shared": "shared", "local": "local"},
    windows={
        "shared": "the block's {size} of shared memory",
        "local": "the thread's {size} of local memory",
    },
    shared_array="the block's shared array #{number} ({size})",
    race_hints=_RACE_HINTS,
    where="where:",
    where_width=6,
    why="why:",
    hint="try:",
    party="{place}: thread {thread} of block {block} {action}",
    party_many="{place}: thread {thread} of block {block} {action}, and {others} more",
    after="after the launch of {kernel}",
    times="found {count} times in {kernel}",
    buffer="the {adjective} buffer #{number}",
    buffer_argument="the {adjective} buffer #{number} (argument {argument} of {kernel})",
    variable="the {adjective} variable `{label}`",
    byte_adjective="{size}-byte",
    element=": element {index} where {last} is the last ({width}-byte elements)",
    bytes_of=_bytes_of,
)
