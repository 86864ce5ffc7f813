"""The estimate of a kernel in the terminal and in the JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from rich.console import Console
from rich.markup import escape

from tooling.simulator.counters.profile import KernelProfile
from tooling.simulator.timing.accuracy import Range, accuracy, bounds
from tooling.simulator.timing.model import CONTENDED_SHARE, Estimate, Limit, estimate, together
from tooling.simulator.timing.parameters import between, parameters_of
from tooling.simulator.timing.profiler import Key, TimedLaunch
from tooling.simulator.timing.refusals import APART
from tooling.simulator.timing.sampling import LARGEST_ERROR, error_of_mean
from tooling.simulator.timing.texts import (
    ADVICE,
    CONTENDED,
    HEADING,
    NAMES,
    NO_SINGLE,
    NOTE,
    PTX_NOTE,
    RANGE,
    REFUSED,
    SAMPLED,
)
from tooling.simulator.timing.work import Work
from tooling.text import Text

_BAR = 20
_LEAST_SHARE = 0.01
_BINDS = 0.5
"""Share from which a limit is said to take most of the time."""


class KernelTime(Struct, frozen=True):
    """The estimate of a kernel's first launch of a shape, or why there is none.

    Attributes:
        sampled: blocks that ran.
        sampling: the relative error of its sample of blocks; 0: all blocks ran.
    """

    gpu: str = ""
    work: Work | None = None
    estimate: Estimate | None = None
    refused: Text | None = None
    sampled: int = 0
    sampling: float = 0.0

    @property
    def measured(self) -> Range:
        """How far such estimates were from measured times."""
        return accuracy().of(exact=self.work is not None and self.work.exact)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Microseconds; None: there is no estimate."""
        if self.estimate is None:
            return None
        low, high = bounds(self.estimate, self.measured)
        return low * (1 - self.sampling), high * (1 + self.sampling)


def time_of(launch: TimedLaunch, gpu: str) -> KernelTime:
    """The estimate of a launch for a GPU of `GPUS`."""
    work = launch.work.get(gpu)
    if work is None:
        return KernelTime(refused=launch.refused)
    parameters = parameters_of(gpu)
    works = (work, *launch.elsewhere.get(gpu, ()))
    places = [estimate(each, parameters) for each in works]
    if (
        any(each.contended for each in works)
        and max(each.shares[Limit.ATOMICS] for each in places) >= CONTENDED_SHARE
    ):
        return KernelTime(refused=CONTENDED)
    error = max(launch.error, error_of_mean([each.microseconds for each in places]))
    if error > LARGEST_ERROR:
        return KernelTime(refused=APART.of(error=100 * error))
    sampled = sum(each.sampled for each in works)
    gpu_name = parameters.name.removeprefix("NVIDIA ")
    return KernelTime(gpu_name, work, together(places), sampled=sampled, sampling=error)


def advice(time: KernelTime, gpu: str) -> Text:
    """The limit that binds, the counter that shows it, and what usually helps."""
    assert time.estimate is not None and time.work is not None
    work, parameters = time.work, parameters_of(gpu)
    binding, shares = time.estimate.binding, time.estimate.shares
    if shares[binding] < _BINDS:
        return NO_SINGLE
    return ADVICE[binding].of(
        launch=parameters.launch,
        blocks=work.blocks,
        rate=round(1000 / between(parameters.start, work.warps), -1),
        issued=work.issued / work.warps,
        latency=work.latency,
        resident=work.resident,
        asked=work.sectors / 1e6,
        moved=(work.read + work.written) / 1e6,
    )


def times_of(
    kernels: Sequence[KernelProfile], launches: Sequence[TimedLaunch], gpu: str
) -> list[tuple[KernelProfile, KernelTime]]:
    """The time of the first launch of each profiled kernel; empty for GPUs that the model does not know."""
    first: dict[Key, TimedLaunch] = {}
    for launch in launches:
        first.setdefault(launch.key, launch)
    found = []
    for kernel in kernels:
        digest = kernel.module.digest if kernel.module else ""
        own = first.get(Key(digest, kernel.symbol, kernel.grid, kernel.block))
        found.append((kernel, KernelTime() if own is None else time_of(own, gpu)))
    return found


def show_times(
    times: Sequence[tuple[KernelProfile, KernelTime]], gpu: str, console: Console, language: str
) -> None:
    """Print the estimates."""
    show_named_times([(kernel.name, time) for kernel, time in times], gpu, console, language)


def show_named_times(
    times: Sequence[tuple[str, KernelTime]], gpu: str, console: Console, language: str
) -> None:
    """Print estimates below their names."""
    for name, time in times:
        if time.estimate is None and time.refused is None:
            continue
        console.print()
        console.print(f"[bold]{escape(name)}[/]  {HEADING.render(language)}", highlight=False)
        for line in lines_of(time, gpu, language):
            console.print(escape(line), highlight=False)
    notes = list(notes_of([time for _, time in times], language))
    if notes:
        console.print()
    for note in notes:
        console.print(f"[dim]{escape(note)}[/]", highlight=False)


def lines_of(time: KernelTime, gpu: str, language: str) -> Iterator[str]:
    """What the terminal shows of a kernel."""
    if time.estimate is None or time.bounds is None or time.work is None:
        if time.refused is not None:
            yield REFUSED.of(reason=time.refused).render(language)
        return
    low, high = map(microseconds, time.bounds)
    yield RANGE.of(gpu=time.gpu, low=low, high=high).render(language)
    shares = sorted(time.estimate.shares.items(), key=lambda entry: -entry[1])
    for limit, share in shares:
        if share >= _LEAST_SHARE:
            bar = "█" * round(_BAR * share)
            yield f"  {share:>4.0%} {bar:<{_BAR}} {NAMES[limit].render(language)}"
    yield advice(time, gpu).render(language)
    if time.sampled < time.work.blocks:
        yield SAMPLED.of(sampled=time.sampled, blocks=time.work.blocks, error=100 * time.sampling).render(
            language
        )


def notes_of(times: Sequence[KernelTime], language: str) -> Iterator[str]:
    """What the reader has to know of the numbers."""
    shown = [time for time in times if time.estimate is not None]
    if not shown:
        return
    measured = shown[0].measured
    yield NOTE.of(held=measured.held, all=measured.kernels).render(language)
    if not all(time.work is not None and time.work.exact for time in shown):
        yield PTX_NOTE.render(language)


def document_of(time: KernelTime, gpu: str) -> dict[str, object]:
    """For the JSON document."""
    if time.estimate is None or time.bounds is None or time.work is None:
        return {"refused": time.refused.render("en") if time.refused else None}
    return {
        "gpu": time.gpu,
        "estimated_microseconds": [float(microseconds(each)) for each in time.bounds],
        "shares": {limit.value: round(share, 3) for limit, share in time.estimate.shares.items()},
        "binding": time.estimate.binding.value,
        "advice": advice(time, gpu).render("en"),
        "machine_code": time.work.exact,
        "sampled_blocks": time.sampled,
        "sampling_error": round(time.sampling, 4),
    }


def microseconds(value: float) -> str:
    """Two digits of a time."""
    digits = max(0, 1 - _magnitude(value))
    step = 10.0 ** (_magnitude(value) - 1)
    return f"{round(value / step) * step:.{digits}f}"


def _magnitude(value: float) -> int:
    from math import floor, log10  # noqa: PLC0415

    return floor(log10(value)) if value > 0 else 0
