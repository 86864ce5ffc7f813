"""A program's context on the simulated GPU: its memory, modules, functions, launches, and its fault.

`Gpu` is shared by all programs of a simulation, `Context` belongs to one process: as on hardware, processes
do not share memory. A context answers the requests of `protocol`; the codes are the driver's.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.simulator.backends import default_backend
from tooling.simulator.checks.base import CheckHook
from tooling.simulator.checks.findings import Finding, merged
from tooling.simulator.checks.footprint import Footprints
from tooling.simulator.checks.happens_before.copy_times import CopyTimes
from tooling.simulator.checks.host_order import HostOrderCheck
from tooling.simulator.checks.memory import MemoryCheck
from tooling.simulator.engine.executor import Executor, Job
from tooling.simulator.engine.together import Pace, Turn
from tooling.simulator.gpu.code_model import Module
from tooling.simulator.gpu.device_memory import DeviceMemory, OutOfDeviceMemory
from tooling.simulator.gpu.driver_results import INVALID, OK, DriverResult, Reply
from tooling.simulator.gpu.hooks import Hook, hooks_of_launch
from tooling.simulator.gpu.kernel_names import readable_kernel
from tooling.simulator.gpu.launch import Dim3, FaultKind, Launch, LaunchResult
from tooling.simulator.gpu.launch_selection import LaunchSelection
from tooling.simulator.gpu.stop_texts import (
    NO_MEMORY,
    NOT_SIMULATED,
    ON_A_REAL_GPU,
    REFUSED,
    TOO_MANY_BLOCKS,
    TOO_MANY_PARAMETERS,
    WITHOUT_CHECKS,
)
from tooling.simulator.program.backend import Backend, CodeError, Kernel
from tooling.simulator.server.arena import Arena
from tooling.simulator.server.buffers import Buffers
from tooling.simulator.server.deferral import Deferral
from tooling.simulator.server.device_output import DeviceOutput
from tooling.simulator.server.host_code import HostCode, caller_position, host_code
from tooling.simulator.server.host_order import HostOrder
from tooling.simulator.server.links import LinkHook
from tooling.simulator.server.protocol import (
    ARENA_BYTES,
    MAGIC,
    MAX_PAYLOAD,
    REQUESTS,
    VERSION,
    DriverRequest,
    Opcode,
    ProtocolError,
)
from tooling.simulator.server.provenance import ProvenanceHook
from tooling.simulator.server.repeats import Repeats
from tooling.simulator.server.virtual_memory import VirtualMemory
from tooling.text import Text

_INT_MAX = (1 << 31) - 1
MOST_CHECKED_BLOCKS = 1 << 24
"""The checks keep about sixty bytes per block of a launch: 1 GB for this number."""


class LaunchNotSimulated(ToolingError):
    """A launch that the driver accepts and the engine does not support."""

    exit_code = ExitCode.NOT_POSSIBLE


class LaunchRecord(Struct, frozen=True):
    """An accepted launch and its result."""

    launch: Launch
    module: Module
    result: LaunchResult


_HIGHEST_ARENA = (1 << 57) - ARENA_BYTES
"""Addresses of programs have at most 57 bits, with five levels of page tables."""


class LoadedModule(Struct, frozen=True):
    """A module handle: the module, and the device that it was loaded for."""

    module: Module
    device: int


class Gpu(Struct):
    """The state that the programs of a simulation share: the executor, and the results.

    Attributes:
        backend: of the simulated GPU.
        make_checks: creates the checks for one program.
        language: of messages to programs (`en` or `ko`).
        lock: held while a request is answered; the engine is not thread-safe.
        errors: why a program could not be simulated (an unknown instruction), for the tool to show.
        failures: errors in the simulator itself, raised again when the simulation ends.
        selection: the launches whose findings are recorded.
        result_sizes: of the results whose origin is recorded, in bytes; None: nothing is recorded.
        skip_repeats: launches that repeat an earlier one are not simulated again (`Repeats`).
        devices: the number of GPUs that each program has, all of one kind.
    """

    executor: Executor
    make_checks: Callable[[Footprints], Sequence[CheckHook]]
    language: str = "en"
    lock: threading.Lock = field(default_factory=threading.Lock)
    records: list[LaunchRecord] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    errors: list[ToolingError] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)
    modules: dict[bytes, Module] = field(default_factory=dict)
    result_sizes: frozenset[int] | None = None
    backend: Backend = field(default_factory=default_backend)
    selection: LaunchSelection = LaunchSelection()
    skip_repeats: bool = False
    devices: int = 1

    def parse(self, image: bytes) -> Module:
        """The module of an image, parsed once.

        Raises:
            CodeError: the image has something that the simulator does not support.
        """
        known = self.modules.get(image)
        if known is None:
            known = self.backend.parse(image)
            _require_parameters_that_fit(known)
            self.executor.prepare(known)
            self.modules[image] = known
        return known

    @property
    def findings(self) -> list[Finding]:
        """The findings of all programs, in the order in which the programs connected."""
        return [finding for context in self.contexts for finding in context.findings]


def _require_parameters_that_fit(module: Module) -> None:
    """Refuses a kernel whose parameters do not fit into a request.

    Raises:
        CodeError: with its name.
    """
    for kernel in module.kernels.values():
        size = max((each.offset + each.size for each in kernel.parameters), default=0)
        if size > MAX_PAYLOAD:
            name = readable_kernel(kernel.name, module.files.values())
            raise CodeError(TOO_MANY_PARAMETERS.of(kernel=name, bytes=size, most=MAX_PAYLOAD))


class Context:
    """One process's context.

    Attributes:
        fault: the result of every call after a kernel failed; SUCCESS before.
        order_unchecked: the order of the host was to be checked, and this program does not allow it.
        ordered_copies: copies, fills and launches whose order with the host and other streams was checked.

    Args:
        gone: whether the process has ended; also called during a launch.
        process: its number, where its own statement is not to be relied on: in a sandbox it has another one.
    """

    def __init__(self, gpu: Gpu, gone: Callable[[], bool], process: int | None = None) -> None:
        self.gpu = gpu
        self._process = process
        self._gone = gone
        footprints = Footprints()
        self.checks = tuple(gpu.make_checks(footprints))
        order = next((check for check in self.checks if isinstance(check, HostOrderCheck)), None)
        self._order_check = order
        self._host_order = None if order is None else HostOrder(order)
        self._named = 0  # launches so far of kernels with the selected name
        self._launches = 0
        self.provenance = None if gpu.result_sizes is None else ProvenanceHook(gpu.result_sizes, footprints)
        self.links = LinkHook(footprints) if gpu.devices > 1 else None
        observers = (self.provenance, self.links)
        self._hooks: tuple[Hook, ...] = (*self.checks, *(each for each in observers if each is not None))
        # A selection leaves findings of other launches out, so a launch without findings may have some.
        skips = gpu.skip_repeats and gpu.selection.everything and gpu.devices == 1
        self._repeats = Repeats(footprints) if skips else None
        self.fault = int(DriverResult.SUCCESS)
        self.order_unchecked = False
        self.ordered_copies = 0
        self._arena: Arena | None = None
        self._memory: DeviceMemory | None = None
        self._code: HostCode | None = None
        self._modules: dict[int, LoadedModule] = {}
        self._kernels: dict[int, Kernel] = {}
        self._buffers: Buffers | None = None
        self._deferral: Deferral | None = None  # with several devices
        self._next_handle = 0x5300_0000
        self._output = DeviceOutput(gpu.language)
        self._answers: dict[Opcode, Callable[[DriverRequest], Reply]] = {
            Opcode.LOAD_MODULE: self._load_module,
            Opcode.UNLOAD_MODULE: self._unload_module,
            Opcode.FUNCTION: self._function,
            Opcode.GLOBAL: self._global,
            Opcode.SET_ATTRIBUTE: self._set_attribute,
            Opcode.LAUNCH: self._launch,
            Opcode.SYNCHRONISE: self._synchronise,
            Opcode.OCCUPANCY: self._occupancy,
            Opcode.DEVICE_ACCESS: self._device_access,
            Opcode.SELECT_DEVICE: self._select_device,
            Opcode.ENABLE_PEER: self._enable_peer,
        }

    def answer(self, request: DriverRequest) -> tuple[int, bytes, bytes]:
        """Status, answer and kernel output of a request.

        Kernel output is delivered when hardware delivers it: at a synchronisation, and when the next launch
        starts.

        Raises:
            ProtocolError: the first request is not a valid HELLO.
        """
        if request.opcode is Opcode.HELLO or self._memory is None:
            return (*self._hello(request), b"")
        if self._order_check and request.opcode is not Opcode.TOUCH:
            self._order_check.show_current(self._memory)
        output = b""
        if request.opcode in (Opcode.LAUNCH, Opcode.SYNCHRONISE):
            output = self._output.take()
        if self.fault:
            return self.fault, b"", output
        handler = self._answers.get(request.opcode)
        if handler is None:  # the order of the host is not checked, and the driver was notified
            return DriverResult.INVALID_VALUE, b"", output
        if request.opcode is Opcode.CALL:
            self.ordered_copies += 1
        status, answer = handler(request)
        if self._deferral is not None and self.fault:  # of a launch that has run just now
            status, answer = self.fault, b""
        return status, answer, output

    @property
    def copies(self) -> CopyTimes | None:
        """The program's copies; None where their order was not checked, and with several GPUs, where work is
        done in another order than that of the calls."""
        order = self._order_check
        known = self.ordered_copies and self._deferral is None
        return order.copies if order is not None and known else None

    @property
    def findings(self) -> list[Finding]:
        """The findings of its checks, with the host's line of the launch, if the driver reports callers."""
        found = merged(finding for check in self.checks for finding in check.findings)
        return [self._host_order.with_launch(one) for one in found] if self._host_order else found

    def close(self) -> None:
        """The process ended: finish the checks and free its memory."""
        if self._deferral is not None:
            self._deferral.close()
        if self._arena is not None:
            for hook in self._hooks:
                hook.end(self.memory)
            self._arena.close()

    @property
    def descriptor(self) -> int:
        """Of the file that is the process's memory. Raises RuntimeError before HELLO."""
        if self._arena is None:
            raise RuntimeError("no HELLO was received")
        return self._arena.descriptor

    @property
    def memory(self) -> DeviceMemory:
        """The process's memory. Raises RuntimeError before HELLO."""
        if self._memory is None:
            raise RuntimeError("no HELLO was received")
        return self._memory

    def _hello(self, request: DriverRequest) -> Reply:
        if request.opcode is not Opcode.HELLO:
            raise ProtocolError(f"the first request is {request.opcode.name}, not HELLO")
        magic, version, process, base = request.fields
        if magic != MAGIC:
            raise ProtocolError("the first request is not from a stand-in driver")
        shape = REQUESTS[Opcode.HELLO].reply
        if version != VERSION:
            return DriverResult.SYSTEM_DRIVER_MISMATCH, struct.pack("<I", VERSION).ljust(shape.size, b"\0")
        if self._memory is not None or base % mmap.PAGESIZE or not 0 < base < _HIGHEST_ARENA:
            raise ProtocolError("a second HELLO, or an arena that is not page-aligned user memory")
        device = self.gpu.backend.device
        self._arena = Arena(base)
        self._memory = DeviceMemory(self._arena.buffer, base)
        hooks = (*self._hooks, *([self._repeats] if self._repeats else []))
        self._buffers = Buffers(self._arena, self._memory, hooks, device.memory_bytes)
        virtual = VirtualMemory(self._arena, self._memory, self._buffers, hooks)
        self._answers |= self._buffers.answers | virtual.answers
        self._code = host_code(process if self._process is None else self._process)
        self.order_unchecked = self._host_order is not None and self._code is None
        if self._host_order and self._code:
            self._host_order.start(self._code, self._memory)
            self._answers |= self._host_order.answers
        if self.gpu.devices > 1:
            self._deferral = Deferral(
                self.gpu.executor.schedule,
                self._memory,
                self._buffers,
                self._order_check if Opcode.CALL in self._answers else None,
                dict(self._answers),
            )
            self._answers |= self._deferral.answers
        pairs = b"".join(struct.pack("<Ii", *pair) for pair in device.attributes.items())
        file = (os.getpid(), self._arena.descriptor)
        code = (self._code.low, self._code.high) if self._code else (0, 0)
        checked = (*code, Opcode.TOUCH in self._answers, self.gpu.devices)
        head = shape.pack(VERSION, *file, len(device.attributes), device.memory_bytes, *checked)
        return DriverResult.SUCCESS, head + pairs + device.name.encode()

    # Devices, modules and functions.

    @property
    def _device(self) -> int:
        """The selected device."""
        return self._buffers.device if self._buffers else 0

    def _select_device(self, request: DriverRequest) -> Reply:
        (device,) = request.fields
        if device >= self.gpu.devices or self._buffers is None:
            return INVALID
        self._buffers.device = device
        return OK

    def _enable_peer(self, request: DriverRequest) -> Reply:
        self.memory.peers.add((self._device, request.fields[0]))
        return OK

    def _new_handle(self) -> int:
        self._next_handle += 16
        return self._next_handle

    def _load_module(self, request: DriverRequest) -> Reply:
        try:
            module = self.gpu.parse(request.tail)
        except CodeError as error:
            error.speak(self.gpu.language)
            self.gpu.errors.append(error)
            return DriverResult.INVALID_CODE, str(error).encode()
        try:
            self.memory.symbols(module, self._device)
        except OutOfDeviceMemory:
            return DriverResult.OUT_OF_MEMORY, b""
        handle = self._new_handle()
        self._modules[handle] = LoadedModule(module, self._device)
        return DriverResult.SUCCESS, REQUESTS[Opcode.LOAD_MODULE].reply.pack(handle)

    def _unload_module(self, request: DriverRequest) -> Reply:
        (handle,) = request.fields
        if self._modules.pop(handle, None) is None:
            return DriverResult.INVALID_HANDLE, b""
        self._kernels = {
            number: kernel for number, kernel in self._kernels.items() if kernel.module_handle != handle
        }
        return OK

    def _function(self, request: DriverRequest) -> Reply:
        module_handle = request.fields[0]
        loaded = self._modules.get(module_handle)
        if loaded is None:
            return DriverResult.INVALID_HANDLE, b""
        module = loaded.module
        function = module.kernels.get(request.tail.decode("utf-8", "replace"))
        if function is None:
            return DriverResult.NOT_FOUND, b""
        handle = self._new_handle()
        kernel = self._kernels[handle] = self.gpu.backend.describe_kernel(module, function, module_handle)
        parameters = function.parameters
        # A launch is refused long before a number reaches the limits of the driver's `int`.
        attributes = (min(max(each, -_INT_MAX), _INT_MAX) for each in kernel.attributes)
        answer = REQUESTS[Opcode.FUNCTION].reply.pack(handle, len(parameters), *attributes)
        layout = b"".join(struct.pack("<II", parameter.offset, parameter.size) for parameter in parameters)
        return DriverResult.SUCCESS, answer + layout

    def _global(self, request: DriverRequest) -> Reply:
        loaded = self._modules.get(request.fields[0])
        if loaded is None:
            return DriverResult.INVALID_HANDLE, b""
        module, name = loaded.module, request.tail.decode("utf-8", "replace")
        address = self.memory.symbols(module, loaded.device).get(name)
        if address is None:
            return DriverResult.NOT_FOUND, b""
        return DriverResult.SUCCESS, REQUESTS[Opcode.GLOBAL].reply.pack(address, module.globals[name].size)

    def _set_attribute(self, request: DriverRequest) -> Reply:
        handle, attribute, value = request.fields
        kernel = self._kernels.get(handle)
        if kernel is None:
            return DriverResult.INVALID_HANDLE, b""
        result, why = self.gpu.backend.set_attribute(kernel, attribute, value)
        return result, b"" if why is None else why.render(self.gpu.language).encode()

    def _occupancy(self, request: DriverRequest) -> Reply:
        """Ignores registers, whose number PTX does not specify: hardware may run fewer blocks."""
        from tooling.simulator.counters.occupancy import theoretical_occupancy  # noqa: PLC0415 - few ask

        handle, threads, dynamic_shared = request.fields
        kernel = self._kernels.get(handle)
        if kernel is None:
            return DriverResult.INVALID_HANDLE, b""
        if threads <= 0:
            return INVALID
        device = self.gpu.backend.device
        shared = kernel.static_shared + dynamic_shared
        fits = threads <= device.max_threads_per_block and shared <= device.max_shared_bytes
        blocks = theoretical_occupancy(threads, shared).blocks if fits else 0
        return DriverResult.SUCCESS, REQUESTS[Opcode.OCCUPANCY].reply.pack(blocks)

    # Launches.

    def _launch(self, request: DriverRequest) -> Reply:
        numbers = request.fields
        kernel = self._kernels.get(numbers[0])
        if kernel is None:
            return DriverResult.INVALID_HANDLE, b""
        grid, block, named = Dim3(*numbers[1:4]), Dim3(*numbers[4:7]), Dim3(*numbers[7:10])
        clustered, dynamic_shared, stream = numbers[10:]
        refusal = self.gpu.backend.judge_launch(
            kernel, grid, block, named if clustered else None, dynamic_shared
        )
        if refusal is not None:
            name = readable_kernel(kernel.function.name, kernel.module.files.values())
            return refusal.result, REFUSED.of(kernel=name, why=refusal.why).render(self.gpu.language).encode()
        if len(request.tail) != kernel.function.parameter_bytes:
            return INVALID
        launch = Launch(
            kernel.function,
            grid,
            block,
            named if clustered else kernel.required_cluster or Dim3(),
            dynamic_shared,
            request.tail,
            stream,
            explicit_cluster=bool(clustered) or kernel.required_cluster is not None,
            device=self._modules[kernel.module_handle].device,
        )
        if self.checks and launch.blocks > MOST_CHECKED_BLOCKS:
            why = TOO_MANY_BLOCKS.of(blocks=launch.blocks, most=MOST_CHECKED_BLOCKS)
            return self._not_simulated(launch, kernel.module, why, WITHOUT_CHECKS)
        return self._run(launch, kernel.module)

    def _run(self, launch: Launch, module: Module) -> Reply:
        gpu = self.gpu
        assert self._buffers is not None
        self._buffers.launched()
        self._launches += 1
        if self._host_order:
            self._host_order.launched()
        self._select(launch, module)
        if self._deferral is not None:
            hooks = hooks_of_launch(self._hooks)
            job = self._job(launch, module, hooks)
            self._deferral.launch(job, lambda pace: self._in_turns(job, pace))
            return OK
        repeats = self._repeats
        if repeats and self._order_check and self._order_check.overlaps:
            repeats = None  # the accesses of every launch are compared with those of other streams
        earlier = repeats.result_of(launch, module) if repeats else None
        if earlier is not None:
            for check in self.checks:
                check.launch_repeated()
            gpu.records.append(LaunchRecord(launch, module, earlier))
            return OK
        watched = repeats is not None and repeats.to_be_watched(launch, module)
        job = self._job(launch, module, self._hooks)
        before = self._observed() if watched else None
        try:
            result = gpu.executor.run(job.watched_by(repeats) if repeats and watched else job)
        except MemoryError:
            return self._not_simulated(launch, module, NO_MEMORY, WITHOUT_CHECKS)
        except ToolingError as error:
            return self._unsupported(error)
        gpu.records.append(LaunchRecord(launch, module, result))
        used = self._host_order.in_use() if self._host_order else b""
        if repeats:
            quiet = watched and self._observed() == before
            repeats.ended(launch, module, result, watched=watched, quiet=quiet)
        return (DriverResult.SUCCESS, used) if result.error is None else self._failed(launch, module, result)

    def _job(self, launch: Launch, module: Module, hooks: Sequence[Hook]) -> Job:
        return Job(launch, module, self.memory, hooks, self._output.add, self._gone, self._launches)

    def _failed(self, launch: Launch, module: Module, result: LaunchResult) -> Reply:
        assert result.error is not None
        if result.error.kind is FaultKind.INVALID_LAUNCH:
            return self._not_simulated(launch, module, result.error.reason, ON_A_REAL_GPU)
        self.fault = result.error.kind.driver_result
        return OK

    def _unsupported(self, error: ToolingError) -> Reply:
        error.speak(self.gpu.language)
        self.gpu.errors.append(error)
        self.fault = DriverResult.LAUNCH_FAILED
        return DriverResult.NOT_SIMULATED, b""

    def _in_turns(self, job: Job, pace: Pace) -> Iterator[Turn]:
        """Run a launch in turns with launches of other devices."""
        launch, module = job.launch, job.module
        try:
            result = yield from self.gpu.executor.start(job, pace)
        except MemoryError:
            self.fault, _ = self._not_simulated(launch, module, NO_MEMORY, WITHOUT_CHECKS)
        except ToolingError as error:
            self.fault, _ = self._unsupported(error)
        else:
            self.gpu.records.append(LaunchRecord(launch, module, result))
            if result.error is not None:
                self._failed(launch, module, result)

    def _observed(self) -> tuple[int, int]:
        """How often the checks have found something, and kernels have printed."""
        return sum(finding.count for finding in self.findings), self._output.prints

    def _select(self, launch: Launch, module: Module) -> None:
        selection = self.gpu.selection
        if selection.everything:
            return
        name = readable_kernel(launch.function.name, module.files.values())
        for check in self.checks:
            check.recording = selection.wants(name, self._named)
        self._named += selection.kernel in name

    def _not_simulated(self, launch: Launch, module: Module, why: Text, hint: Text) -> Reply:
        name = readable_kernel(launch.function.name, module.files.values())
        error = LaunchNotSimulated(NOT_SIMULATED.of(kernel=name), why=why, hint=hint)
        error.speak(self.gpu.language)
        self.gpu.errors.append(error)
        return INVALID

    def _synchronise(self, request: DriverRequest) -> Reply:
        return OK

    def _device_access(self, request: DriverRequest) -> Reply:
        """The host accessed device memory: the program ends if the check of memory reports that."""
        address, written, *callers = request.fields
        check = next((each for each in self.checks if isinstance(each, MemoryCheck)), None)
        if check is None:
            return DriverResult.NOT_SUPPORTED, b""
        check.host_access(self.memory, address, bool(written), caller_position(self._code, callers)())
        return OK
