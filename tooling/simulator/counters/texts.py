"""The sentences of the reports."""

from __future__ import annotations

from tooling.simulator.counters.profile import KernelProfile
from tooling.simulator.counters.sectors import SECTOR
from tooling.simulator.counters.traffic import Route, Traffic
from tooling.simulator.gpu.hooks import Space
from tooling.text import Text

_WORDS: dict[str, Text] = {
    "title": Text("Profile of {what}"),
    "launches": Text("{n} launches"),
    "launch": Text("1 launch"),
    "faults": Text("stopped by a fault {n}×: counts end there"),
    "shape": Text("grid {grid}, block {block}"),
    "busiest": Text("busiest warp {ratio:.3g}× the mean"),
    "stages": Text("{n} stages in flight"),
    "occupancy": Text("{shared:,} B shared per block, occupancy at most {share:.0%} (registers unknown)"),
    "exact_occupancy": Text(
        "{shared:,} B shared per block, {registers} registers per thread, occupancy {share:.0%}"
    ),
    "line": Text("line"),
    "source": Text("source"),
    "instructions": Text("warp instr."),
    "lanes": Text("lanes /instr."),
    "loads": Text("global loads"),
    "stores": Text("global stores"),
    "atomics": Text("global atomics"),
    "sectors": Text("sectors /req."),
    "use": Text("bytes used"),
    "wavefronts": Text("shared wavefronts"),
    "conflicts": Text("conflicts"),
    "local": Text("local sectors"),
    "bulk": Text("TMA bytes"),
    "barriers": Text("barriers"),
    "total": Text("all lines"),
    "elsewhere": Text("library code"),
    "no_launch": Text("The program launched no kernel."),
    "no_times": Text("The tables have counts only, because a time can only be measured on a real GPU."),
    "ptx_note": Text(
        "The counts are of PTX instructions; the GPU runs machine code generated from them. So warp "
        "instructions differ from Nsight Compute's smsp__inst_executed, while requests, sectors, wavefronts "
        "and conflicts equal an H200's unless the assembler merges adjacent accesses into wider ones."
    ),
    "lines_note": Text(
        "The counts are of machine instructions. Cache lines have {line} bytes and LDS has 32 banks of 4 "
        "bytes, as AMD's documents say. The numbers of lines, passes and conflicts of a request are a model, "
        "not from a manual. No count was compared with an AMD GPU, on which caches, other instructions and "
        "the clock count too."
    ),
    "plain_shape": Text("{shared:,} B shared per block"),
    "cache_lines": Text("lines /req."),
    "passes": Text("LDS passes"),
    "local_lines": Text("local lines"),
    "tile_lanes": Text("active lanes per instruction"),
    "tile_lanes_note": Text("of 32; fewer: short warps or divergence"),
    "tile_sectors": Text("sectors per global request"),
    "tile_sectors_note": Text("{requests} requests, {sectors} sectors"),
    "tile_use": Text("of the moved bytes are used"),
    "tile_use_note": Text("{used} B used, {moved} B moved"),
    "tile_conflicts": Text("shared-memory bank conflicts"),
    "tile_conflicts_note": Text("{wavefronts} wavefronts, {needed} without conflicts"),
    "tile_barriers": Text("barrier arrivals of warps"),
    "tile_barriers_note": Text("{n} warp instructions in all"),
    "tile_local": Text("local-memory sectors"),
    "tile_local_note": Text("if the compiler keeps it in memory"),
    "worst": Text("most expensive request: block {block}, warp {warp}"),
    "buffer": Text("buffer {n}, {size} B"),
    "requests_here": Text("{n} requests in all"),
    "memory_axis": Text(
        "Each row is 128 bytes of memory: four 32-byte sectors. A number is the lane that touches the word; "
        "shaded sectors move."
    ),
    "bank_axis": Text(
        "Each column is a bank, each row a wavefront: one word from every bank at a time. A number is the "
        "lane that is served."
    ),
    "gap": Text("{n} × 128 B untouched"),
    "rest": Text("{n} more like this"),
    "bank": Text("bank"),
    "lanes_legend": Text("lane 0 → lane 31"),
    "unused": Text("moved, but used by no lane"),
    "pictures": Text("How the requests look"),
    "lines": Text("Line by line"),
    "theme": Text("Light or dark"),
    "pass": Text("pass {n}"),
    "offset": Text("byte {offset}"),
    "full_size_failed": Text(
        "at the full size only a sample of the blocks ran: a program that compares results asks `sampled()` "
        "of `lab.machine` first, as the benchmark of puzzle 31 does"
    ),
    "program_failed": Text("the program ended with status {status}; what it did until then was counted"),
    "not_launched": Text("error: no kernel was launched, so nothing was counted"),
    "memory_errors": Text("{n} memory errors, at which the accesses were left out: `{command}` shows them"),
    "unfinished": Text(
        "`{file}` still contains the line `FILL ME IN`, so its kernel does not do its work yet; `--solution` "
        "profiles the solution"
    ),
    "not_judged": Text("whether the result is right was not judged: `{command}` does that"),
    "metric": Text("metric"),
    "before": Text("before"),
    "now": Text("now"),
    "change": Text("change"),
    "only_before": Text("only in {file}: {kernels}"),
    "only_now": Text("not in {file}: {kernels}"),
    "equal": Text("{kernel}: every metric is as in {file}"),
}

_ROUTES: dict[Route, Text] = {
    Route.GLOBAL_LOAD: Text("global load"),
    Route.GLOBAL_STORE: Text("global store"),
    Route.GLOBAL_REDUCTION: Text("global reduction"),
    Route.GLOBAL_ATOMIC: Text("global atomic"),
    Route.GLOBAL_ASYNC: Text("asynchronous copy, global side"),
    Route.SHARED_LOAD: Text("shared load"),
    Route.SHARED_STORE: Text("shared store"),
    Route.SHARED_ATOMIC: Text("shared atomic"),
    Route.SHARED_ASYNC: Text("asynchronous copy, shared side"),
    Route.LOCAL_LOAD: Text("local load"),
    Route.LOCAL_STORE: Text("local store"),
}

_VERDICTS: dict[str, Text] = {
    "whole": Text("Every byte of the {sectors} that move is used."),
    "scattered": Text(
        "{use:.0%} of the bytes that move are used: {sectors} for {needed} worth of data. Let neighbouring "
        "lanes touch neighbouring addresses."
    ),
    "across": Text(
        "{use:.0%} of the bytes that move are used: the data are contiguous, but begin in the middle of a "
        "sector, so {sectors} move where {needed} would do."
    ),
    "short": Text("{use:.0%} of the bytes that move are used: the data fill {sectors} only in part."),
    "free": Text("No bank conflict: {fronts}."),
    "conflict": Text(
        "{fronts} where {needed} would do: lanes want different words of the same bank. A padding column or "
        "another order of indices spreads them."
    ),
    "meet": Text(
        "{fronts} where {needed} would do: lanes that access the same bank are served one after the other."
    ),
}


_WAVEFRONTS = Text("{count} wavefront", plural="{count} wavefronts")
_SECTORS = Text("{count} sector", plural="{count} sectors")


def say(key: str, language: str, **values: object) -> str:
    """A phrase in a language."""
    return _WORDS[key].of(**values).render(language)


def occupancy_phrase(kernel: KernelProfile, language: str) -> str:
    """The shared memory and the occupancy of a kernel; the registers, too, where they are known."""
    key = "occupancy" if kernel.registers is None else "exact_occupancy"
    facts = {"shared": kernel.shared_bytes, "share": kernel.occupancy.fraction}
    return say(key, language, **facts, registers=kernel.registers)


def route_name(route: Route, language: str) -> str:
    """What a route is called."""
    return _ROUTES[route].render(language)


def verdict(route: Route, one: Traffic, *, side_by_side: bool) -> tuple[str, Text]:
    """What one request means, and what to try: a style (`good`, `warn`, `bad`) and a sentence.

    Args:
        one: the traffic of this request alone.
        side_by_side: whether the bytes that its lanes touch leave no gap.
    """
    if route.space is Space.SHARED:
        key = "free"
        if one.conflicts:
            key = "meet" if route in (Route.SHARED_ATOMIC, Route.SHARED_ASYNC) else "conflict"
        fronts = _WAVEFRONTS.of(count=one.wavefronts)
        style = "good" if not one.conflicts else "warn" if one.ways <= 2 else "bad"
        return style, _VERDICTS[key].of(fronts=fronts, needed=one.wavefronts - one.conflicts)
    needed = -(-one.used_bytes // SECTOR)
    if one.use >= 1:
        style, key = "good", "whole"
    elif one.sectors <= needed:
        style, key = "warn", "short"
    elif side_by_side and one.sectors == needed + 1:
        style, key = "warn", "across"
    else:
        style, key = "warn" if one.use > 0.5 else "bad", "scattered"
    sectors, least = _SECTORS.of(count=one.sectors), _SECTORS.of(count=needed)
    return style, _VERDICTS[key].of(use=one.use, sectors=sectors, needed=least)
