"""The listing as JSON."""

from __future__ import annotations

from collections.abc import Iterable

from tooling.simulator.listings.listing import Listing
from tooling.simulator.nvidia.machine_code.flow import Loop
from tooling.simulator.nvidia.machine_code.mix import mix_of


def listing_document(listing: Listing) -> dict[str, object]:
    """The resources, the occupancy, the instructions and the loops of a kernel.

    Addresses are bytes from the kernel's first instruction; `waits` has, for each scoreboard that an
    instruction waits for, the addresses of the instructions that set it.
    """
    code, occupancy = listing.code, listing.kernel.occupancy
    resources = code.resources
    return {
        "target": code.target,
        "ptxas": code.assembler,
        "registers": resources.registers,
        "stack_bytes": resources.stack,
        "spill_store_bytes": resources.spill_stores,
        "spill_load_bytes": resources.spill_loads,
        "static_shared_bytes": resources.shared,
        "occupancy": {
            "fraction": occupancy.fraction,
            "blocks": occupancy.blocks,
            "warps": occupancy.warps,
            "limited_by": occupancy.limited_by.value,
            "blocks_by_limit": {limit.value: blocks for limit, blocks in occupancy.limits.items()},
        },
        "mix": _mix(listing, range(len(code.instructions))),
        "loops": [_loop(listing, loop) for loop in code.loops],
        "instructions": [_instruction(listing, index) for index in range(len(code.instructions))],
        "ptx": {str(number): text.strip() for number, text in listing.ptx.items()},
    }


def _mix(listing: Listing, indices: Iterable[int]) -> dict[str, int]:
    return {kind.value: n for kind, n in mix_of(listing.instructions[index] for index in indices).items()}


def _addresses(listing: Listing, indices: Iterable[int]) -> list[int]:
    return [listing.instructions[index].address for index in indices]


def _loop(listing: Listing, loop: Loop) -> dict[str, object]:
    chains = listing.code.chains(loop)
    return {
        "address": listing.instructions[loop.header].address,
        "depth": loop.depth,
        "instructions": _addresses(listing, loop.instructions),
        "mix": _mix(listing, loop.instructions),
        "longest_chain": _addresses(listing, chains.longest),
        "carried_chain": _addresses(listing, chains.carried),
    }


def _instruction(listing: Listing, index: int) -> dict[str, object]:
    instruction, line = listing.instructions[index], listing.line_of(index)
    control, waits = instruction.control, listing.waits_of(index)
    return {
        "address": instruction.address,
        "text": instruction.text,
        "ptx_line": instruction.ptx_line,
        "file": line.file,
        "line": line.number,
        "stall": control.stall,
        "yield": control.yields,
        "write_scoreboard": control.write_barrier,
        "read_scoreboard": control.read_barrier,
        "waits": {str(wait.scoreboard): _addresses(listing, wait.setters) for wait in waits},
        "reuse": control.reuse,
    }
