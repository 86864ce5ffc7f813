"""The sentences of the checks.

Keys are the values of the enums of `tooling.simulator.checks.findings`; braces name facts that
`findings.explain` fills in.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tooling.text import Text


class FindingText(Struct, frozen=True):
    """One kind of finding: what happened, why it matters, what to try."""

    what: Text
    why: Text
    hint: Text


INDEX_TOO_LARGE = Text(
    "Threads in the launch: {threads}; elements in the buffer: {elements}. There is an element for each "
    "thread, so the index is too large: check what is added to it, what it is multiplied by, and where a "
    "loop ends."
)

INDEX_OVERFLOWED = Text(
    "An index so far below zero has usually overflowed its type: after 32,767 an `Int16` continues at "
    "-32,768, after 2,147,483,647 an `Int32` at -2,147,483,648. Compute the index as `Int`, for example "
    "`Int(block_idx.x) * Int(block_dim.x)`."
)
INDEX_BELOW_ZERO = Text(
    "The index became negative in the type `{type}`, which has no negative numbers: below 0 it continues at "
    "{most}. Compute the index as `Int`, and guard it (`if i >= offset:`) before subtracting."
)
INDEX_OF_ALL_BLOCKS = Text(
    "The index counts the threads of all blocks, but each block has a shared array of its own, of {elements} "
    "elements: index it with the index of the thread in its block (`thread_idx.x`, in the puzzles `local_i`)."
)
WRITES_OF_SEVERAL_BLOCKS = Text(
    "The threads belong to different blocks: let each block write an element of its own, found with "
    "`block_idx`, let only one of the blocks write, or add with `Atomic.fetch_add`."
)

FINDINGS: Mapping[str, FindingText] = {
    "past-the-end": FindingText(
        Text("{access} of {bytes} reaches {distance} past the end of {buffer}{element}"),
        Text(
            "Those bytes do not belong to the buffer: on hardware this reads or overwrites other data, or "
            "stops the kernel."
        ),
        Text(
            "Guard the access, for example `if i < Int(size):`, and check that the launch and the buffer "
            "have the sizes you meant; more threads than elements is the usual cause."
        ),
    ),
    "before-the-start": FindingText(
        Text("{access} of {bytes} starts {distance} before the beginning of {buffer}{element}"),
        Text(
            "Those bytes do not belong to the buffer: on hardware this reads or overwrites other data, or "
            "stops the kernel."
        ),
        Text("The index became negative: guard it (`if i >= offset:`) before subtracting."),
    ),
    "outside-shared": FindingText(
        Text("{access} of {bytes} reaches {distance} outside {buffer}{element}"),
        Text(
            "The array ends before that: on hardware the kernel stops, or reads and overwrites another "
            "shared array."
        ),
        Text(
            "Allocate as many elements as the largest index needs (halo elements included), or guard the "
            "index with the size of the shared array, not of the input."
        ),
    ),
    "before-shared": FindingText(
        Text("{access} of {bytes} starts {distance} before {buffer}{element}"),
        Text(
            "The array begins after that: on hardware the kernel stops, or reads and overwrites another "
            "shared array."
        ),
        Text("The index became negative: begin at 0 (`max(i - offset, 0)`), or guard it before subtracting."),
    ),
    "outside-local": FindingText(
        Text("{access} of {bytes} reaches {distance} outside {buffer}{element}"),
        Text(
            "A thread's own array ends before that: the access hits other variables of the thread, or "
            "stops the kernel."
        ),
        Text("Check the loop bound against the length of the array in the thread."),
    ),
    "outside-cluster": FindingText(
        Text("{access} of {bytes} in the shared memory of block {arrived} of a cluster of {expected}"),
        Text(
            "Blocks of a cluster are numbered from 0, so there is no such block: on hardware the kernel "
            "stops."
        ),
        Text(
            "Let the last block go round to the first, `(rank + 1) % size`, or guard it; and check that the "
            "launch has the `cluster_dim` you meant."
        ),
    ),
    "misaligned": FindingText(
        Text("{access} of {bytes} at {address}, which is not a multiple of {alignment}"),
        Text(
            "The GPU loads and stores {bytes} at once only at addresses that are multiples of {alignment}; "
            "other addresses stop the kernel."
        ),
        Text(
            "Start the vector at an index that is a multiple of its width, or access the elements one by one."
        ),
    ),
    "null-pointer": FindingText(
        Text("{access} of {bytes} through a null pointer (address {address})"),
        Text(
            "No buffer begins at address zero: the pointer was never set, or an index was used without its "
            "buffer."
        ),
        Text("Pass the buffer to the kernel, and check that it is not empty."),
    ),
    "wild-pointer": FindingText(
        Text("{access} of {bytes} at {address}, far from every buffer; the nearest is {buffer}"),
        Text("The address belongs to no allocation: on hardware the kernel stops with an illegal address."),
        Text(
            "Check the index arithmetic (an overflow, a row and a column exchanged, or an uninitialised "
            "index)."
        ),
    ),
    "use-after-free": FindingText(
        Text("{access} of {bytes} in {buffer}, which was already freed"),
        Text("The memory may by now belong to another buffer, whose data is read or destroyed."),
        Text(
            "Keep the buffer alive until the kernel is done: use it after `ctx.synchronize()`, or transfer "
            "it later."
        ),
    ),
    "not-mapped": FindingText(
        Text(
            "{access} of {bytes} at {address}, {offset} bytes into a reserved address range without "
            "accessible mapped memory there"
        ),
        Text(
            "A reserved address range has no memory of its own: memory must be mapped into it and access "
            "enabled; on hardware the kernel stops with an illegal address."
        ),
        Text(
            "Call `cuMemMap` and `cuMemSetAccess` for all memory that the kernel uses before the launch, and "
            "`cuMemUnmap` only after it has ended."
        ),
    ),
    "read-only": FindingText(
        Text("{access} of {bytes} in {buffer}, which is mapped read-only{element}"),
        Text(
            "Memory mapped at these addresses may only be read: on hardware the kernel stops with an illegal "
            "address."
        ),
        Text(
            "Write through an address whose access is `CU_MEM_ACCESS_FLAGS_PROT_READWRITE`, or enable writing"
            " here with `cuMemSetAccess`."
        ),
    ),
    "host-memory-not-passed": FindingText(
        Text(
            "{access} of {bytes} in host memory that was not passed to the kernel: {buffer} belongs to the "
            "host"
        ),
        Text(
            "No argument of the kernel points there: on hardware this reads or overwrites the host's data, "
            "or stops the kernel."
        ),
        Text(
            "Check the index arithmetic (an overflow, a row and a column exchanged, or an uninitialised "
            "index), and pass the kernel a DeviceBuffer."
        ),
    ),
    "host-touches-device": FindingText(
        Text("the host accesses device memory: {buffer}, offset {offset}"),
        Text(
            "Host and device have memories of their own, and a pointer into one is not valid in the other: "
            "with a real GPU the program ends with a segmentation fault."
        ),
        Text(
            "Access the buffer inside `with buffer.map_to_host() as host_buffer:`, or copy it to a host "
            "buffer (`enqueue_copy`) and call `ctx.synchronize()` before the host reads it."
        ),
    ),
    "leak": FindingText(
        Text("{buffer} was never freed"),
        Text(
            "The memory is released only when the program ends: a program that repeats this runs out of "
            "device memory."
        ),
        Text(
            "Let the context outlive its buffers, with all their uses inside `with DeviceContext() as "
            "ctx:`. Mojo destroys a value after its last use, and does not free a buffer whose context is "
            "gone. What was allocated by hand, or taken with `take_ptr`, must be freed by hand."
        ),
    ),
    "peer-not-enabled": FindingText(
        Text("{access} of {buffer}, which belongs to another GPU, without peer access enabled"),
        Text(
            "It works where the program gets its memory from MAX, which maps it for every GPU. Memory of "
            "another origin is an illegal address for a peer that was not enabled."
        ),
        Text(
            "Call `DeviceContext.enable_all_peer_access()` before the first kernel that reads a peer's "
            "memory."
        ),
    ),
    "read-after-write": FindingText(
        Text("race on {memory} memory: a thread reads what another thread has just written, unordered"),
        Text(
            "Nothing makes the write at {last_position} happen before the read at {first_position}: on "
            "hardware the read may see the old value."
        ),
        Text("{scope_hint}"),
    ),
    "write-after-read": FindingText(
        Text("race on {memory} memory: a thread overwrites what another thread is reading, unordered"),
        Text(
            "Nothing makes the read at {last_position} happen before the write at {first_position}: on "
            "hardware the read may already see the new value."
        ),
        Text(
            "{scope_hint} In a loop, separate the reads from the writes of the same step and from those of "
            "the next one."
        ),
    ),
    "write-after-write": FindingText(
        Text("race on {memory} memory: two threads write different values to the same address, unordered"),
        Text("Which of the two values remains is undefined; a sum accumulated this way loses contributions."),
        Text("Let each thread write its own element, add with `Atomic.fetch_add`, or: {scope_hint}"),
    ),
    "same-instruction": FindingText(
        Text(
            "race on {memory} memory: threads write different values to the same address in the same "
            "instruction"
        ),
        Text("Which of the values remains is undefined; a sum accumulated this way loses contributions."),
        Text(
            "Let one thread write (`if thread_idx.x == 0:`), give each thread its own element, or add with "
            "`Atomic.fetch_add`."
        ),
    ),
    "narrow-scope": FindingText(
        Text(
            "race on {memory} memory: threads of two blocks access one address at a scope that does not "
            "include both"
        ),
        Text(
            "At the scope of a block (`.cta` in PTX) or of a cluster an operation is atomic only for the "
            "threads of that block or cluster: on hardware an update by the other block may be lost, or an "
            "old value read."
        ),
        Text(
            "Leave out `scope=`, as in `Atomic.fetch_add(…)`: then the scope includes all threads. Or give "
            "each block its own element."
        ),
    ),
    "read-only-path": FindingText(
        Text("read of {bytes} through the read-only path that the same launch has written: {buffer}"),
        Text(
            "The kernel reads here through a pointer or tensor that is immutable, and PTX requires that "
            "nothing writes such memory while the kernel runs (`ld.global.nc`): on hardware the read may "
            "return the value from before the write at {last_position}, even after a barrier."
        ),
        Text(
            "Declare the argument that is read as mutable (`MutAnyOrigin`) if the kernel also writes the "
            "buffer, or pass two different buffers and copy first."
        ),
    ),
    "stream-race": FindingText(
        Text("{operation} and {other_operation}, in two streams, use the same bytes of {buffer}, unordered"),
        Text(
            "Streams run side by side: nothing makes the earlier call's work finish before the later one's "
            "starts, and at least one of them writes. On hardware the result depends on which is faster."
        ),
        Text(
            "Record an event after the earlier work and let the other stream wait for it: "
            "`stream.record_event(event)`, `other.enqueue_wait_for(event)`. Or wait on the host, with "
            "`stream.synchronize()`, between the two calls."
        ),
    ),
    "graph-race": FindingText(
        Text(
            "{operation} and {other_operation}, two nodes of a graph, use the same bytes of {buffer}, "
            "unordered"
        ),
        Text(
            "A node begins when its dependencies are done: nothing makes the node that was added earlier "
            "finish before the other one starts, and at least one of them writes. On hardware the result "
            "depends on which is faster."
        ),
        Text("Add the earlier node to the `dependencies` of the later one, or to those of a node before it."),
    ),
    "device-read-after-write": FindingText(
        Text("race of two GPUs on {buffer}: GPU {gpu} reads what GPU {other_gpu} writes, unordered"),
        Text(
            "Nothing makes the write at {last_position} happen before the read at {first_position}: the two "
            "GPUs run at their own speed, and the read may see the old value."
        ),
        Text("{gpu_hint}"),
    ),
    "device-write-after-read": FindingText(
        Text("race of two GPUs on {buffer}: GPU {gpu} overwrites what GPU {other_gpu} reads, unordered"),
        Text(
            "Nothing makes the read at {last_position} happen before the write at {first_position}: the "
            "other GPU may be slower, and read the new value."
        ),
        Text("{gpu_hint}"),
    ),
    "device-write-after-write": FindingText(
        Text("race of two GPUs on {buffer}: GPU {gpu} and GPU {other_gpu} write the same bytes, unordered"),
        Text("Which of the two values stays depends on which GPU is faster."),
        Text("{gpu_hint}"),
    ),
    "device-scope": FindingText(
        Text(
            "GPU {gpu} and GPU {other_gpu} access one address of {buffer} atomically, at a scope that does "
            "not include both"
        ),
        Text(
            "At the scope of a device (`.gpu` in PTX) an operation is atomic and ordered only for the "
            "threads of its own GPU: the other GPU may never see the value, or see it before the data that "
            "it announces."
        ),
        Text(
            "Leave out `scope=`, as in `Atomic[UInt32].store[ordering=Ordering.RELEASE](…)`: then the scope "
            "is the system, which includes every GPU and the host."
        ),
    ),
    "freed-before-peer-is-done": FindingText(
        Text("{buffer} is freed while a kernel of GPU {gpu} may still use it"),
        Text(
            "Freeing memory waits for the work of its own GPU, and not for that of others: on hardware the "
            "memory may belong to another buffer when the kernel accesses it."
        ),
        Text(
            "Keep the buffer alive until the other GPU is done: use it after `other.synchronize()`, or let "
            "its own context wait first, with `ctx.enqueue_wait_for(other)`."
        ),
    ),
    "host-reads-early": FindingText(
        Text("the host uses {buffer} before it has waited for the {other_operation}"),
        Text(
            "A copy or a launch is only enqueued when the call returns: on hardware the host may see the "
            "old contents, and here it does."
        ),
        Text("Call `ctx.synchronize()` after that call and before the host uses the buffer."),
    ),
    "host-writes-early": FindingText(
        Text("the host changes {buffer} before it has waited for the {other_operation}"),
        Text(
            "A copy or a launch is only enqueued when the call returns: on hardware the device may get the "
            "new contents, or a mixture of both."
        ),
        Text(
            "Call `ctx.synchronize()` before the host changes the buffer again, or use a second host buffer."
        ),
    ),
    "copy-in-flight": FindingText(
        Text("{access} of {memory} memory that an asynchronous copy is still filling"),
        Text(
            "The copy started at {last_position} runs in the background: until it has been waited for, the "
            "contents of its destination are undefined, even for the thread that started it."
        ),
        Text("Call `async_copy_wait_all()` and then `barrier()` between the copy and the access."),
    ),
    "source-in-flight": FindingText(
        Text("{access} of {memory} memory that an asynchronous copy is still reading"),
        Text(
            "The copy started at {last_position} runs in the background: until it has been waited for, it "
            "may read the old values or the new ones, even if the thread that started it writes them."
        ),
        Text(
            "Call `async_copy_wait_all()` in the thread that copies, and then `barrier()` if another thread "
            "overwrites the source, between the copy and the access."
        ),
    ),
    "bulk-copy-in-flight": FindingText(
        Text("{access} of {memory} memory that a bulk copy is still filling"),
        Text(
            "The copy started at {last_position} runs in the background: until its completion has been waited"
            " for, the contents of its destination are undefined. A barrier alone does not wait for it."
        ),
        Text(
            "Into shared memory: wait at the copy's mbarrier (`bar[].wait(phase)` or "
            "`mbarrier_try_wait_parity_shared`). Into global memory: the thread that started the copy must "
            "call `cp_async_bulk_commit_group()` and `cp_async_bulk_wait_group[0, False]()`. Then call "
            "`barrier()` before other threads continue."
        ),
    ),
    "copy-source-changed": FindingText(
        Text("{access} of {memory} memory that a bulk copy is still reading"),
        Text(
            "The copy started at {last_position} runs in the background: it may read the old values or the "
            "new ones. A barrier alone does not wait for it."
        ),
        Text(
            "From shared memory: the thread that started the copy must call `cp_async_bulk_commit_group()` "
            "and `cp_async_bulk_wait_group[0]()`. From global memory: wait at the copy's mbarrier. Then call "
            "`barrier()` before other threads overwrite the source."
        ),
    ),
    "operand-changed": FindingText(
        Text("{access} of {memory} memory that an asynchronous matrix product is still reading"),
        Text(
            "The product started at {last_position} runs in the background: it may read the old values or "
            "the new ones. A barrier alone does not wait for it."
        ),
        Text(
            "Call `wgmma_commit_group_sync()` and `wgmma_wait_group_sync()` in the warps that multiply, and "
            "then `barrier()` before other threads change the operands."
        ),
    ),
    "result-in-flight": FindingText(
        Text("a result of an asynchronous matrix product is used before the product is done"),
        Text(
            "The product started at {last_position} runs in the background: until it has been waited for, "
            "the contents of the registers of its result are undefined."
        ),
        Text(
            "Call `wgmma_commit_group_sync()` after the products and `wgmma_wait_group_sync()` before their "
            "results are used."
        ),
    ),
    "product-unfenced": FindingText(
        Text("an asynchronous matrix product starts without a fence for its registers"),
        Text(
            "Without `wgmma.fence` before it, nothing orders a product after the instructions that wrote its "
            "registers: on hardware it may read what they held before."
        ),
        Text(
            "Call `wgmma_fence_aligned()` before the first product, and again wherever its registers were "
            "accessed in between."
        ),
    ),
    "copy-outlives-block": FindingText(
        Text("a block ends while a bulk copy still uses {bytes} of its shared memory"),
        Text(
            "Shared memory ends with its block: the next block on this multiprocessor gets it, and nothing "
            "guarantees that the copy does not overwrite its data."
        ),
        Text(
            "Wait before the block ends: at the mbarrier of a copy into shared memory; for one out of it "
            "with `cp_async_bulk_commit_group()` and `cp_async_bulk_wait_group[0]()` in the thread that "
            "started it."
        ),
    ),
    "proxy-fence-missing": FindingText(
        Text("an {access} reads {memory} memory that was written without a proxy fence"),
        Text(
            "Ordinary stores access memory through another proxy than bulk copies and asynchronous matrix "
            "products: without a fence these may miss what was stored at {last_position}, in spite of the "
            "barrier."
        ),
        Text(
            "Call `fence_async_view_proxy()` after the stores, in every thread that stores, then "
            "`barrier()`, then start the copy or the product."
        ),
    ),
    "barrier-reused": FindingText(
        Text("threads arrive at barrier {arrived} while other threads may still be waiting there"),
        Text(
            "A barrier counts every arriving thread: threads that arrive before those at {last_position} have"
            " passed are counted with them, so that some continue too early and others wait forever."
        ),
        Text(
            "Give each group of threads a barrier number of its own, 1 to 15 (`barrier()` uses 0), or let the"
            " second group arrive only after the first has passed, for example after a `barrier()` of the "
            "block."
        ),
    ),
    "unwritten-read": FindingText(
        Text("read of {bytes} of {memory} memory that was never written: {buffer}, offset {offset}{element}"),
        Text("New memory holds whatever was there before: the value differs from run to run."),
        Text(
            "Write every element before it is read: fill the buffer on the host, or let the threads that "
            "have no data store a zero; and check that the writer uses the same index as the reader."
        ),
    ),
    "unwritten-library-read": FindingText(
        Text(
            "Mojo's library reads {bytes} of {memory} memory that was never written: {buffer}, offset "
            "{offset}{element}"
        ),
        Text(
            "The library may read all of its scratch memory and use only what it wrote: correct results are "
            "not affected."
        ),
        Text(
            "If the result is wrong, check what the library function requires of the block: its size, and "
            "that all threads call it."
        ),
    ),
    "unwritten-register": FindingText(
        Text("a register is used that no instruction has written"),
        Text("A new register holds whatever was there before: the value differs from run to run."),
        Text(
            "Write the register on every path to this instruction; Mojo does that except in inline assembly."
        ),
    ),
    "unwritten-copy": FindingText(
        Text(
            "{bytes} of {buffer} were copied to the host although they were never written, the first at "
            "offset {offset}{element}"
        ),
        Text("The host receives undefined values."),
        Text("Let the kernel write every element, or fill the buffer first (`enqueue_fill`)."),
    ),
    "unused-memory": FindingText(
        Text("{bytes} of {buffer} were never written, from byte {offset} on"),
        Text("No kernel, copy or fill has written that memory: it is not needed, or work is missing."),
        Text(
            "Allocate as many elements as are used; if all should be, check the launch's size and the copies."
        ),
    ),
    "exited-before-barrier": FindingText(
        Text(
            "barrier reached by {arrived} of the block's {expected} threads; the others had already returned"
        ),
        Text(
            "A barrier waits for all threads of the block: on some GPUs the block waits forever, on others it"
            " continues without those threads."
        ),
        Text(
            "Let every thread reach `barrier()`: do not return before it, keep it out of an `if` and of a "
            "loop whose length differs from thread to thread, and put a guard (`if i < Int(size):`) around "
            "the work alone."
        ),
    ),
    "divergent-barrier": FindingText(
        Text("threads of one block wait at different barriers: {arrived} of {expected} at {first_position}"),
        Text(
            "`barrier()` needs every thread of the block at the same call; inside a branch, some threads "
            "never reach it."
        ),
        Text(
            "Move `barrier()` out of the `if` (or out of the loop whose length differs from thread to "
            "thread)."
        ),
    ),
    "different-barriers": FindingText(
        Text(
            "warps of one block pass a barrier at different calls: {arrived} of {expected} threads at "
            "{first_position}"
        ),
        Text(
            "`barrier()` needs every thread of the block at the same call. NVIDIA GPUs count the warps that "
            "arrive, so that the block continues here; nothing guarantees that on other GPUs."
        ),
        Text(
            "Move `barrier()` out of the branches, behind or in front of the `if`. Warps with different work "
            "can wait at a named barrier: `named_barrier[count](number)`."
        ),
    ),
    "inactive-at-barrier": FindingText(
        Text("barrier reached by {arrived} of {expected} threads of a warp; a branch excludes the others"),
        Text(
            "This GPU counts warps at a barrier, so that the block continues. A GPU that counts threads "
            "waits forever, and `barrier()` orders nothing for threads that do not reach it."
        ),
        Text(
            "Move `barrier()` out of the `if` (or out of the loop whose length differs from thread to "
            "thread)."
        ),
    ),
    "missing-lane": FindingText(
        Text("a warp operation expects lanes {mask}, but lanes {lanes} do not take part"),
        Text(
            "The lanes named in the mask wait for one another; a value taken from an absent lane is "
            "undefined."
        ),
        Text(
            "Call the warp operation with all lanes (move it out of the branch and give idle lanes a neutral "
            "value such as "
            "0), or pass the mask of the lanes that really arrive."
        ),
    ),
    "absent-source": FindingText(
        Text("a warp shuffle takes a value from lane {arrived}, but only the lanes {mask} take part"),
        Text(
            "A value from a lane that does not take part is undefined: the lane has exited, does not exist (a"
            " block of fewer threads than a warp), is in another branch, or is not in the mask."
        ),
        Text(
            "Take the value from a lane that takes part, or let that lane call the operation too and include "
            "it in the mask. In a block of fewer threads than a warp, start with an offset of half its "
            "threads."
        ),
    ),
    "outside-mask": FindingText(
        Text("a lane executes a warp operation whose mask {mask} does not include it"),
        Text(
            "A lane that takes part in a warp operation must be in the mask that it passes; otherwise the "
            "operation is undefined for the whole warp."
        ),
        Text(
            "Pass a mask that includes every lane that executes the operation, or let only the lanes of the "
            "mask execute it."
        ),
    ),
    "short-barrier": FindingText(
        Text(
            "{arrived} threads wait at a barrier that is meant for {expected}, and no other thread can arrive"
        ),
        Text(
            "A barrier with a thread count releases its threads only when that many have arrived, counted in "
            "whole warps."
        ),
        Text(
            "Pass the number of threads that use the barrier, a multiple of 32, and let each of them arrive: "
            "`named_barrier[count](number)`, or `named_barrier_arrive` where a thread need not wait."
        ),
    ),
    "endless-wait": FindingText(
        Text("deadlock: threads wait in a loop for a value that no thread can change any more"),
        Text("Every thread that could change it waits too, or has ended."),
        Text(
            "Let some thread write what the loop reads, and write it before that thread waits for others: "
            "release a lock inside the `if` that acquired it, not after the loop, where the thread waits for "
            "the other lanes of the warp."
        ),
    ),
    "later-blocks": FindingText(
        Text(
            "deadlock: threads wait in a loop for a value that no running block can change; {arrived} blocks "
            "of the launch have started"
        ),
        Text(
            "A GPU starts as many blocks as it has room for, in any order, and another one only when one of "
            "them has ended. A block that waits for one that has not started may wait forever."
        ),
        Text(
            "Wait only for blocks that have started before: let each block take the next number from a "
            "counter by an atomic operation when it starts, and use that number in place of `block_idx`."
        ),
    ),
    "gpus-deadlock": FindingText(
        Text(
            "deadlock of GPUs: GPU {gpu} waits for byte {offset} of {buffer}, which no kernel can change "
            "any more"
        ),
        Text(
            "The kernels of the other GPUs that could write it wait too, have ended, or were not launched "
            "when the "
            "host began to wait."
        ),
        Text(
            "Launch the kernels of all GPUs before the host waits for one of them, and let each one set the "
            "flag "
            "of the others before it waits for its own."
        ),
    ),
    "deadlock": FindingText(
        Text("deadlock: no thread of the launch can continue"),
        Text("Each group of threads waits for another one that never arrives."),
        Text(
            "Make all threads pass the same barriers in the same order, with the same numbers and thread "
            "counts."
        ),
    ),
    "mbarrier-stuck": FindingText(
        Text("threads wait at an mbarrier whose phase never completes: {arrived} of {expected} arrivals"),
        Text("The phase ends only after as many arrivals as `mbarrier_init` announced."),
        Text(
            "Announce the number of threads that really call `mbarrier_arrive`, and let each of them arrive "
            "in each phase. A wait for a parity takes the parity of the phase it waits for: 0 for the first, "
            "then 1, 0, …"
        ),
    ),
    "mbarrier-not-ready": FindingText(
        Text("an mbarrier is used before `mbarrier_init` was visible to this thread"),
        Text("Its count and phase are then whatever the shared memory held before."),
        Text(
            "Let one thread initialise it, then call `barrier()` before any thread arrives or waits, and "
            "`cluster_sync()` before another block's copy or arrival reaches it."
        ),
    ),
    "mbarrier-bytes": FindingText(
        Text("copies completed {arrived} bytes at an mbarrier that expected {expected}"),
        Text(
            "A phase ends when as many bytes have arrived as it expects: the bytes beyond that count for the "
            "next phase, so that a wait may return before all data have arrived, or never."
        ),
        Text(
            "Expect the bytes of all copies that complete at the mbarrier in this phase: "
            "`mbarrier_arrive_expect_tx_shared(barrier, bytes)`."
        ),
    ),
    "mbarrier-result-ignored": FindingText(
        Text("an mbarrier phase is tested for completion, and the result is ignored"),
        Text(
            "`mbarrier_test_wait` does not wait: it returns at once, and here the threads continue whatever "
            "the result is, even before the others have arrived."
        ),
        Text("Repeat the test until it is true: `while not mbarrier_test_wait(barrier, token): pass`."),
    ),
    "cluster-wait-missing": FindingText(
        Text("{arrived} threads arrived at the cluster barrier and exited without `cluster_wait()`"),
        Text(
            "The block may have exited while another block of the cluster still needs it or its shared "
            "memory."
        ),
        Text("End every `cluster_arrive()` with a `cluster_wait()` in the same threads."),
    ),
    "cluster-arrive-missing": FindingText(
        Text("`cluster_wait()` without a `cluster_arrive()` before it"),
        Text("The wait then has no matching arrival of this thread: the behaviour is undefined."),
        Text("Call `cluster_arrive()` and then `cluster_wait()`, once each, in every thread of the cluster."),
    ),
    "cluster-block-gone": FindingText(
        Text("{access} of the shared memory of another block of the cluster that has already exited"),
        Text("Shared memory ends with its block: a value read from it is undefined."),
        Text("Call `cluster_sync()` after the last remote access, so that no block exits early."),
    ),
}

RACE_HINTS: Mapping[str, Text] = {
    "line": Text(
        "Both happen in one line. Where many threads add to one element, use `Atomic.fetch_add` or a "
        "reduction; elsewhere split the line: read into a variable, call `barrier()` where every thread "
        "passes it, then write."
    ),
    "step": Text(
        "Both happen in one line, usually in different iterations of a loop: call `barrier()` at the end of "
        "each iteration, where every thread passes it (not inside an `if`). Where many threads add to one "
        "element, use `Atomic.fetch_add` or a reduction."
    ),
    "warp": Text(
        "Put `barrier()` (or `syncwarp()`, as both threads are in one warp) between the two lines, "
        "where every thread "
        "passes it."
    ),
    "cluster": Text(
        "Put `cluster_sync()` between the two lines, where every thread of the cluster passes it: `barrier()`"
        " orders the threads of one block only. With `cluster_arrive()` and `cluster_wait()` instead, what "
        "must happen first belongs before the arrival and what must happen later after the wait. Where many "
        "threads add to one element, use `Atomic.fetch_add`."
    ),
    "block": Text("Put `barrier()` between the two lines, where every thread of the block passes it."),
    "copy": Text(
        "Each thread waits for its own copies only: call `async_copy_wait_all()` and then `barrier()` "
        "between the copy and the access, where every thread of the block passes both."
    ),
    "lock": Text(
        "Both threads have used one lock, which does not order what it protects: acquire it with "
        "`success_ordering=Ordering.ACQUIRE` (or a fence after it), and release it with "
        "`Ordering.RELEASE`. Adding a barrier does not help."
    ),
    "grid": Text(
        "No barrier orders two blocks: use an atomic operation, a second launch, or give each block its own "
        "elements. Data that is published by an atomic flag or counter needs `Ordering.RELEASE` where it is "
        "set and `Ordering.ACQUIRE` where it is read."
    ),
}

GPU_HINTS: Mapping[str, Text] = {
    "streams": Text(
        "Let the later kernel's context wait: `ctx.enqueue_wait_for(other)` before its launch. A copy "
        "between two contexts waits by itself; a kernel that reads a peer's memory does not."
    ),
    "flags": Text(
        "Both kernels use flags. The flag must be written with `Ordering.RELEASE` after the data, and read "
        "with `Ordering.ACQUIRE` before it, both with system scope (the default scope of `Atomic`), with "
        "`barrier()` between the block's accesses and its flag. Before memory that the other GPU reads is "
        "written again, both must meet once more."
    ),
}

SEVERITY: Mapping[str, Text] = {
    "error": Text("error"),
    "warning": Text("warning"),
}

ACTIONS: Mapping[str, Text] = {
    "read": Text("reads"),
    "write": Text("writes"),
    "atomic": Text("updates atomically"),
    "async-copy": Text("copies asynchronously"),
    "product": Text("multiplies asynchronously"),
    "barrier": Text("waits at the barrier"),
    "cluster-barrier": Text("is at the cluster barrier"),
    "warp-sync": Text("is at the warp operation"),
    "mbarrier": Text("is at the mbarrier"),
    "loop": Text("loops, waiting for another thread"),
    "exit": Text("returns"),
}

ACCESSES: Mapping[str, Text] = {
    "read": Text("read"),
    "write": Text("write"),
    "atomic": Text("atomic update"),
    "async-copy": Text("asynchronous copy"),
    "product": Text("asynchronous matrix product"),
    "barrier": Text("barrier"),
    "cluster-barrier": Text("cluster barrier"),
    "warp-sync": Text("warp operation"),
    "mbarrier": Text("mbarrier operation"),
    "loop": Text("waiting loop"),
    "exit": Text("return"),
}

HOST_ACTIONS: Mapping[str, Text] = {
    "launch": Text("kernel {kernel}"),
    "fill": Text("fill"),
    "copy-to-device": Text("copy to the device"),
    "copy-to-host": Text("copy to the host"),
    "copy-on-device": Text("copy on the device"),
    "host-access": Text("access by the host"),
    "host-read": Text("read by the host"),
    "host-write": Text("write by the host"),
}

CALL = Text("{action} (stream {stream})")

UNKNOWN_LINE = Text("unknown line (the program has no line tables)")

LAUNCHED = Text("  launched at {position}")

MEMORIES: Mapping[str, Text] = {
    "host": Text("host"),
    "global": Text("global"),
    "shared": Text("shared"),
    "local": Text("local"),
}

WINDOWS: Mapping[str, Text] = {
    "shared": Text("the block's {size} of shared memory"),
    "local": Text("the thread's {size} of local memory"),
}

SHARED_ARRAY = Text("the block's shared array {number} ({size})")

WHERE = Text("where")

WHY = Text("why")

HINT = Text("try")

PARTY = Text("thread {thread} of block {block} {action}")

PARTY_MANY = Text("thread {thread} of block {block} {action}, and {others} more")

PARTY_OF_GPU = Text("GPU {gpu}: thread {thread} of block {block} {action}")

PARTY_OF_GPU_MANY = Text("GPU {gpu}: thread {thread} of block {block} {action}, and {others} more")

INDEX = Text("({x}, {y}, {z})")

CALLED = Text("calls that function")

AFTER = Text("after the launch of {kernel}")

TIMES = Text("found {count} times in {kernel}")

BUFFER = Text("the {size}-byte buffer {number}")

HOST_BUFFER = Text("the {size}-byte host buffer {number}")

BUFFER_ARGUMENT = Text("the {size}-byte buffer {number} (argument {argument} of {kernel})")

VARIABLE = Text("the {size}-byte variable `{label}`")


ELEMENT = Text(": element {index} where {last} is the last ({width}-byte elements)")
BYTES = Text("{count} byte", plural="{count} bytes")
