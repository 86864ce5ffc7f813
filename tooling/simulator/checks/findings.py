"""What a check found in a kernel, and its rendering as a message.

A `Finding` holds facts only: which rule was broken, by which threads, at which lines, on which buffer. The
sentences are in `tooling.simulator.checks.texts`, keyed by `Kind`. Rendering joins
the two into four parts: what happened, where, why it matters, what to try.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field, to_builtins
from msgspec.structs import replace

from tooling.simulator.checks import texts
from tooling.text import Code, Text, in_language
from tooling.text.width import columns

Index3 = tuple[int, int, int]
"""An index (x, y, z) of a thread in its block, or of a block in its grid."""


class Check(StrEnum):
    """The four checks, by the name that a verdict and the command line use."""

    MEMORY = "memory"
    RACES = "races"
    INITIALISATION = "initialisation"
    SYNCHRONISATION = "synchronisation"


class Severity(StrEnum):
    """ERROR makes the verdict wrong; WARNING is shown with it."""

    ERROR = "error"
    WARNING = "warning"


class Kind(StrEnum):
    """Which rule was broken. Every kind has its sentences in every language."""

    PAST_THE_END = "past-the-end"
    BEFORE_THE_START = "before-the-start"
    OUTSIDE_SHARED = "outside-shared"
    BEFORE_SHARED = "before-shared"
    OUTSIDE_LOCAL = "outside-local"
    OUTSIDE_CLUSTER = "outside-cluster"
    MISALIGNED = "misaligned"
    NULL_POINTER = "null-pointer"
    WILD_POINTER = "wild-pointer"
    USE_AFTER_FREE = "use-after-free"
    NOT_MAPPED = "not-mapped"
    READ_ONLY = "read-only"
    HOST_MEMORY_NOT_PASSED = "host-memory-not-passed"
    HOST_TOUCHES_DEVICE = "host-touches-device"
    LEAK = "leak"
    PEER_NOT_ENABLED = "peer-not-enabled"

    READ_AFTER_WRITE = "read-after-write"
    WRITE_AFTER_READ = "write-after-read"
    WRITE_AFTER_WRITE = "write-after-write"
    SAME_INSTRUCTION = "same-instruction"
    NARROW_SCOPE = "narrow-scope"
    READ_ONLY_PATH = "read-only-path"
    STREAM_RACE = "stream-race"
    GRAPH_RACE = "graph-race"
    DEVICE_READ_WRITE = "device-read-after-write"
    DEVICE_WRITE_READ = "device-write-after-read"
    DEVICE_WRITE_WRITE = "device-write-after-write"
    DEVICE_SCOPE = "device-scope"
    FREED_BEFORE_READ = "freed-before-peer-is-done"
    HOST_READS_EARLY = "host-reads-early"
    HOST_WRITES_EARLY = "host-writes-early"
    COPY_IN_FLIGHT = "copy-in-flight"
    SOURCE_IN_FLIGHT = "source-in-flight"
    BULK_COPY_IN_FLIGHT = "bulk-copy-in-flight"
    COPY_SOURCE_CHANGED = "copy-source-changed"
    OPERAND_CHANGED = "operand-changed"
    RESULT_IN_FLIGHT = "result-in-flight"
    PRODUCT_UNFENCED = "product-unfenced"
    COPY_OUTLIVES_BLOCK = "copy-outlives-block"
    PROXY_FENCE_MISSING = "proxy-fence-missing"
    BARRIER_REUSED = "barrier-reused"

    UNWRITTEN_READ = "unwritten-read"
    UNWRITTEN_LIBRARY_READ = "unwritten-library-read"
    UNWRITTEN_REGISTER = "unwritten-register"
    UNWRITTEN_COPY = "unwritten-copy"
    UNUSED_MEMORY = "unused-memory"

    EXITED_BEFORE_BARRIER = "exited-before-barrier"
    DIVERGENT_BARRIER = "divergent-barrier"
    DIFFERENT_BARRIERS = "different-barriers"
    INACTIVE_AT_BARRIER = "inactive-at-barrier"
    MISSING_LANE = "missing-lane"
    ABSENT_SOURCE = "absent-source"
    OUTSIDE_MASK = "outside-mask"
    SHORT_BARRIER = "short-barrier"
    ENDLESS_WAIT = "endless-wait"
    LATER_BLOCKS = "later-blocks"
    GPUS_DEADLOCK = "gpus-deadlock"
    DEADLOCK = "deadlock"
    MBARRIER_STUCK = "mbarrier-stuck"
    MBARRIER_NOT_READY = "mbarrier-not-ready"
    MBARRIER_BYTES = "mbarrier-bytes"
    MBARRIER_RESULT_IGNORED = "mbarrier-result-ignored"
    CLUSTER_WAIT_MISSING = "cluster-wait-missing"
    CLUSTER_ARRIVE_MISSING = "cluster-arrive-missing"
    CLUSTER_BLOCK_GONE = "cluster-block-gone"


class Action(StrEnum):
    """What a thread was doing at the position that a finding reports."""

    READ = "read"
    WRITE = "write"
    ATOMIC = "atomic"
    ASYNC_COPY = "async-copy"
    PRODUCT = "product"
    BARRIER = "barrier"
    CLUSTER_BARRIER = "cluster-barrier"
    WARP_SYNC = "warp-sync"
    MBARRIER = "mbarrier"
    LOOP = "loop"
    EXIT = "exit"


class HostAction(StrEnum):
    """What the host does, or enqueues, at the position that a finding reports."""

    LAUNCH = "launch"
    FILL = "fill"
    COPY_TO_DEVICE = "copy-to-device"
    COPY_TO_HOST = "copy-to-host"
    COPY_ON_DEVICE = "copy-on-device"
    ACCESS = "host-access"
    READ = "host-read"
    WRITE = "host-write"


class Memory(StrEnum):
    """The memory that a finding refers to; `HOST` is pinned."""

    HOST = "host"
    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"


class SourcePosition(Struct, frozen=True):
    """A position in the program: of the Mojo source, if line tables give one (`line` > 0), and of the PTX."""

    file: str
    line: int
    column: int
    code_line: int

    def __str__(self) -> str:
        """`FILE:LINE:COLUMN`, with a path that a terminal can open."""
        return f"{_short_path(self.file)}:{self.line}:{self.column}" if self.line > 0 else self.brief

    @property
    def brief(self) -> str:
        """The position inside a sentence: the file without its folder."""
        if self.line <= 0:
            return f"PTX:{self.code_line}"
        return f"{Path(self.file).name}:{self.line}:{self.column}"


class Party(Struct, frozen=True):
    """Threads that took part, all at one source position.

    `thread` and `block` name one of them; `warp` and `lane` are that thread's, inside its block; `count` is
    the number of threads that did the same, in all blocks. `callers` are the calls by which the function at
    `position` was inlined into the kernel, innermost first. `device` is their GPU, if there are several.
    """

    action: Action
    thread: Index3
    block: Index3
    warp: int
    lane: int
    position: SourcePosition = field(name="place")
    count: int = 1
    callers: tuple[SourcePosition, ...] | UnsetType = UNSET
    device: int | UnsetType = UNSET


class HostCall(Struct, frozen=True):
    """What the host did, where, and for work of the GPU in which stream (from 1; 0: the default stream)."""

    action: HostAction
    position: SourcePosition
    stream: int = 0
    kernel: str = ""


class Buffer(Struct, frozen=True):
    """The memory that a finding refers to: an allocation, or a block's or thread's own window.

    `number` counts the program's allocations, or the kernel's shared arrays, from 1; it is 0 for the whole
    window, and for a variable of the program, whose name is `label`. `argument` is the number, from 1, of the
    kernel parameter that holds the buffer's address, or None. `size` and `element` are in bytes.
    """

    memory: Memory
    size: int
    number: int = 0
    label: str = ""
    argument: int | None = None
    element: int = 0


_FEW = 1024
"""A small offset, in elements."""

_OPTIONAL = ("calls", "launched", "threads")


class Finding(Struct, frozen=True):
    """One broken rule, reported once; `count` says how many lanes broke it in the same way.

    `parties[0]` is the thread that broke the rule (of a race: the later access). `offset` is the start of the
    access, in bytes from the start of `buffer`; `size` its bytes; `distance` how far it reaches outside
    the buffer. `expected` and `arrived` count threads at a barrier, or hold lane masks for `.sync`
    operations, or the blocks of a cluster; then `arrived` may be the requested lane or rank, or
    the number of a barrier. `one_cluster`: the blocks of all parties are in one cluster. `calls` are the
    host's calls, the later one first. `launched` is the host's line that launched the kernel, if known.
    `threads`: those of the launch, of an access outside a buffer. `unordered_lock`: both threads have used
    one lock, which orders nothing. `meets`: both kernels use flags of system scope.
    """

    check: Check
    kind: Kind
    severity: Severity
    kernel: str
    parties: tuple[Party, ...] = ()
    buffer: Buffer | None = None
    offset: int = 0
    size: int = 0
    distance: int = 0
    address: int = 0
    expected: int = 0
    arrived: int = 0
    count: int = 1
    launch: int = 0
    one_cluster: bool = False
    calls: tuple[HostCall, ...] = ()
    launched: SourcePosition | None = None
    threads: int = 0
    unordered_lock: bool | UnsetType = UNSET
    meets: bool | UnsetType = UNSET

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON values; the key names are the encoded field names.

        `calls`, `launched`, `threads`, `unordered_lock` and the `callers` of a party are present only if they
        are known.
        """
        plain: dict[str, Any] = to_builtins(self)
        return {key: value for key, value in plain.items() if key not in _OPTIONAL or value}


class Occurrence(Struct, frozen=True):
    """Something that happened, and where.

    Attributes:
        what: what happened.
        position: in the program; empty if the sentence stands alone.
    """

    what: Text
    position: str | Text = ""

    def render(self, language: str) -> str:
        what = self.what.render(language)
        return f"{in_language(self.position, language)}: {what}" if self.position else what


class Explanation(Struct, frozen=True):
    """The sentences of a finding."""

    what: Text
    where: tuple[Occurrence, ...]
    why: Text
    hint: Text


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, one for all that differ only in the instruction: a compiler may copy a line many times.

    The first one stays, with the count of all. Findings without a source line are not merged.
    """
    found: dict[Hashable, Finding] = {}
    for finding in findings:
        key = _identity(finding)
        first = found.get(key)
        found[key] = finding if first is None else replace(first, count=first.count + finding.count)
    return list(found.values())


def _identity(finding: Finding) -> Hashable:
    """What two findings have in common that are the same to a reader."""
    positions = []
    for party in finding.parties:
        at = party.position
        code_line = at.code_line if at.line <= 0 else 0
        callers = [(each.file, each.line, each.column) for each in party.callers or ()]
        positions.append((party.action, at.file, at.line, at.column, code_line, tuple(callers)))
    buffer = finding.buffer
    memory = None if buffer is None else (buffer.memory, buffer.number, buffer.label, buffer.argument)
    alone = () if finding.parties else (finding.offset, finding.address)
    return (finding.check, finding.kind, finding.kernel, tuple(positions), memory, finding.calls, alone)


class Message(Struct, frozen=True):
    """A finding in one language, in four parts."""

    what: str
    where: tuple[str, ...]
    why: str
    hint: str


def explanation(finding: Finding) -> Explanation:
    """The sentences of a finding with their facts."""
    text = texts.FINDINGS[finding.kind]
    facts = _facts(finding)
    where = [line for party in finding.parties for line in _party_lines(party)]
    where += [_call_line(call) for call in finding.calls]
    if not where and finding.kernel:
        where = [Occurrence(texts.AFTER.of(kernel=Code(finding.kernel)))]
    if finding.count > 1 and not finding.calls:
        where.append(Occurrence(texts.TIMES.of(count=finding.count, kernel=Code(finding.kernel))))
    what, why, hint = (
        sentence.of(**facts) for sentence in (text.what, text.why, _advice(finding, text.hint))
    )
    return Explanation(what, tuple(where), why, hint)


def explain(finding: Finding, language: str = "en") -> Message:
    """Render a finding in a language.

    Args:
        finding: what was found.
        language: one of `tooling.text.languages()`; another name raises `KeyError`.
    """
    said = explanation(finding)
    what, why, hint = (text.render(language) for text in (said.what, said.why, said.hint))
    return Message(what, tuple(occurrence.render(language) for occurrence in said.where), why, hint)


def render(finding: Finding, language: str = "en") -> str:
    """The message as lines of plain text, in the form of every error of this package."""
    message = explain(finding, language)
    label, why, hint = (f"{text.render(language)}:" for text in (texts.WHERE, texts.WHY, texts.HINT))
    lines = [f"{texts.SEVERITY[finding.severity].render(language)}: [{finding.check}] {message.what}"]
    for line in message.where:
        lines.append(f"  {label} {line}")
        label = " " * columns(label)
    lines.append(f"  {why} {message.why}")
    lines.append(f"  {hint} {message.hint}")
    return "\n".join(lines)


def _advice(finding: Finding, usual: Text) -> Text:
    """What to try: the usual advice for the kind, unless the facts show a particular mistake."""
    if bits := _unsigned_bits(finding):
        return texts.INDEX_BELOW_ZERO.of(type=f"UInt{bits}", most=f"{2**bits - 1:,}")
    if _has_elements_for_all(finding):
        return texts.INDEX_TOO_LARGE
    if _has_overflowed(finding):
        return texts.INDEX_OVERFLOWED
    if finding.kind is Kind.OUTSIDE_SHARED and _counts_all_blocks(finding):
        return texts.INDEX_OF_ALL_BLOCKS
    if finding.kind is Kind.SAME_INSTRUCTION and race_scope(finding) in ("grid", "cluster"):
        return texts.WRITES_OF_SEVERAL_BLOCKS
    return usual


def _counts_all_blocks(finding: Finding) -> bool:
    """Whether the element of a shared array is that of the thread's index in the grid.

    It is n times the index of the block plus the index of the thread, with n from 1 to the elements of the
    array, as threads per block usually are.
    """
    buffer, party = finding.buffer, finding.parties[0]
    (thread, *others), (block, *other_blocks) = party.thread, party.block
    if buffer is None or not buffer.element or block == 0 or any(others) or any(other_blocks):
        return False
    threads, rest = divmod(finding.offset // buffer.element - thread, block)
    return rest == 0 and thread < threads <= buffer.size // buffer.element


def _has_elements_for_all(finding: Finding) -> bool:
    """Whether the buffer, past whose end a thread reached, has an element for each thread of the launch."""
    buffer = finding.buffer
    if finding.kind is not Kind.PAST_THE_END:
        return False
    return bool(buffer and buffer.element and 0 < finding.threads <= buffer.size // buffer.element)


def _has_overflowed(finding: Finding) -> bool:
    """Whether a thread is further below its buffer or array than a subtraction would lead.

    That is by more than there are threads, or elements, and by more than a few.
    """
    buffer = finding.buffer
    before = finding.kind in (Kind.BEFORE_THE_START, Kind.BEFORE_SHARED)
    if not before or not buffer or not buffer.element:
        return False
    below, elements = -finding.offset // buffer.element, buffer.size // buffer.element
    return below > max(min(finding.threads, elements), _FEW)


def _unsigned_bits(finding: Finding) -> int:
    """The bits of the unsigned type in which an index past the end is a small negative number; 0 if none."""
    buffer = finding.buffer
    if finding.kind not in (Kind.PAST_THE_END, Kind.OUTSIDE_SHARED) or not buffer or not buffer.element:
        return 0
    index, elements = finding.offset // buffer.element, buffer.size // buffer.element
    for bits in (16, 32):
        if 2**bits - _FEW <= index < 2**bits and 2 * elements <= 2**bits:
            return bits
    return 0


def _short_path(file: str) -> str:
    """A path under the current folder is shown relative to it, so that a terminal can open it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _index(index: Index3) -> Text:
    x, y, z = index
    return texts.INDEX.of(x=x, y=y, z=z)


def _party_lines(party: Party) -> list[Occurrence]:
    return [_party_line(party), *(Occurrence(texts.CALLED, _shown(caller)) for caller in party.callers or ())]


def _party_line(party: Party) -> Occurrence:
    line = texts.PARTY if party.count == 1 else texts.PARTY_MANY
    if party.device is not UNSET:
        line = texts.PARTY_OF_GPU if party.count == 1 else texts.PARTY_OF_GPU_MANY
    what = line.of(
        thread=_index(party.thread),
        block=_index(party.block),
        warp=party.warp,
        lane=party.lane,
        action=texts.ACTIONS[party.action],
        others=party.count - 1,
        count=party.count,
        gpu=party.device or 0,
    )
    return Occurrence(what, _shown(party.position))


def _shown(position: SourcePosition, *, brief: bool = False) -> str:
    """A position in a sentence; one of the source is code."""
    shown = position.brief if brief else str(position)
    return Code(shown) if position.line > 0 else shown


def _call_line(call: HostCall) -> Occurrence:
    action = _host_action(call)
    what = texts.CALL.of(stream=call.stream, action=action) if call.stream else action
    return Occurrence(what, texts.UNKNOWN_LINE if call.position.line <= 0 else _shown(call.position))


def _host_action(call: HostCall) -> Text:
    return texts.HOST_ACTIONS[call.action].of(kernel=Code(call.kernel))


def _facts(finding: Finding) -> dict[str, str | int | Text]:
    """All facts that a sentence may use."""
    buffer, parties = finding.buffer, finding.parties
    first, last = (parties[0], parties[-1]) if parties else (None, None)
    return {
        "kernel": Code(finding.kernel),
        "buffer": _buffer_name(finding),
        "operation": _host_action(finding.calls[0]) if finding.calls else "",
        "other_operation": _host_action(finding.calls[-1]) if finding.calls else "",
        "memory": texts.MEMORIES[buffer.memory] if buffer else "",
        "bytes": texts.BYTES.of(count=finding.size),
        "distance": texts.BYTES.of(count=abs(finding.distance)),
        "element": _element(finding),
        "offset": finding.offset,
        "threads": finding.threads,
        "elements": buffer.size // buffer.element if buffer and buffer.element else "",
        "address": Code(f"{finding.address:#x}"),
        "alignment": finding.size,
        "access": texts.ACCESSES[first.action] if first else "",
        "other_access": texts.ACCESSES[last.action] if last else "",
        "first_position": _shown(first.position, brief=True) if first else "",
        "last_position": _shown(last.position, brief=True) if last else "",
        "expected": finding.expected,
        "arrived": finding.arrived,
        "missing": finding.expected - finding.arrived,
        "lanes": _lanes(finding.expected & ~finding.arrived),
        "mask": Code(f"{finding.expected:#010x}"),
        "scope_hint": texts.RACE_HINTS[race_scope(finding)],
        "gpu": (first.device or 0) if first else 0,
        "other_gpu": (last.device or 0) if last else 0,
        "gpu_hint": texts.GPU_HINTS["flags" if finding.meets else "streams"],
    }


def race_scope(finding: Finding) -> str:
    """What can order a race, a key of `texts.RACE_HINTS`: mostly the scope that the race spans."""
    if len(finding.parties) < 2:
        return "warp"
    one, two = finding.parties[0], finding.parties[1]
    if finding.unordered_lock:
        return "lock"
    if one.block != two.block:
        shared = finding.buffer is not None and finding.buffer.memory is Memory.SHARED
        return "cluster" if shared or finding.one_cluster else "grid"
    if two.action is Action.ASYNC_COPY:
        # Only a barrier after the wait of the copying thread helps: before it, the copy may not be done.
        return "copy"
    if one.position.line == two.position.line > 0:
        # In one step all threads read before they write: a thread that reads the new value is one step later.
        return "step" if finding.kind is Kind.READ_AFTER_WRITE else "line"
    return "warp" if one.warp == two.warp else "block"


def _buffer_name(finding: Finding) -> Text | str:
    buffer = finding.buffer
    if buffer is None:
        return ""
    number = f"#{buffer.number}"
    if buffer.memory is Memory.HOST:
        return texts.HOST_BUFFER.of(size=buffer.size, number=number)
    if buffer.memory is not Memory.GLOBAL:
        window = texts.SHARED_ARRAY if buffer.number else texts.WINDOWS[buffer.memory]
        return window.of(size=texts.BYTES.of(count=buffer.size), number=number)
    # A leak is found after the last kernel, whose argument numbers do not apply.
    name = texts.BUFFER if buffer.argument is None or not finding.kernel else texts.BUFFER_ARGUMENT
    if not buffer.number:
        name = texts.VARIABLE
    return name.of(
        size=buffer.size,
        number=number,
        argument=buffer.argument,
        kernel=Code(finding.kernel),
        label=buffer.label,
    )


def _element(finding: Finding) -> Text | str:
    """The access as an element number, since the source indexes buffers in elements, not bytes."""
    buffer = finding.buffer
    if buffer is None or not buffer.element or finding.offset % buffer.element:
        return ""
    width = buffer.element
    last = max(buffer.size // width - 1, 0)
    return texts.ELEMENT.of(index=finding.offset // width, last=last, width=width)


def _lanes(mask: int) -> str:
    """Lane numbers of a mask as ranges: 0b1011 is `0-1, 3`."""
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    ranges: list[str] = []
    for lane in lanes:
        if lane - 1 in lanes:
            continue
        end = lane
        while end + 1 in lanes:
            end += 1
        ranges.append(str(lane) if end == lane else f"{lane}-{end}")
    return ", ".join(ranges)
