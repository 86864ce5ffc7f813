"""The signal handler that reports accesses of the host to device memory, and to memory that enqueued work uses.
"""

from std.ffi import external_call
from std.sys import CompilationTarget

import protocol
from errors import SUCCESS
from session import end_program, the_session
from wire import NULL, Body, at

comptime _SIGSEGV = Int32(11)
comptime _FLAGS = Int32(0x08000004)  # SA_ONSTACK, SA_SIGINFO
comptime _FLAGS_OFFSET = UInt64(136)  # of sa_flags in struct sigaction of glibc
comptime _SIGACTION_BYTES = UInt64(152)
comptime _ADDRESS_OFFSET = UInt64(16)  # of si_addr in siginfo_t
comptime _PC_OFFSET = UInt64(
    168
)  # of the instruction pointer in ucontext_t (x86-64)
comptime _ERROR_OFFSET = UInt64(192)  # of the page fault's error code there
comptime _BY_WRITE = UInt64(2)
comptime _PATIENCE = 1000  # milliseconds for another thread's request

comptime Handler = def(Int32, UInt64, UInt64) thin abi("C") -> None


def watch_host():
    """Install the handler; called with the session locked, before the first page is protected.
    """
    var session = the_session()
    if session[].previous_action != NULL:
        return
    var action = external_call["calloc", UInt64](UInt64(1), _SIGACTION_BYTES)
    var previous = external_call["calloc", UInt64](UInt64(1), _SIGACTION_BYTES)
    at[Handler](action)[] = _on_fault
    at[Int32](action + _FLAGS_OFFSET)[] = _FLAGS
    _ = external_call["sigaction", Int32](_SIGSEGV, action, previous)
    session[].previous_action = previous


def _on_fault(signal: Int32, info: UInt64, context: UInt64) abi("C") -> None:
    """Report the access and let it proceed. Other faults are left to the previous handler: the instruction
    faults again.
    """
    var address = at[UInt64](info + _ADDRESS_OFFSET)[]
    var session = the_session()
    if not session[].pending.touched(address, 1):
        if session[].in_arena(address) and _report_device_access(
            address, context
        ):
            end_program()
        _ = external_call["sigaction", Int32](
            _SIGSEGV, session[].previous_action, NULL
        )
        return
    session[].pending.unprotect(address)
    # If another thread holds the lock, the access is not reported: waiting here could be a deadlock.
    if external_call["pthread_mutex_trylock", Int32](session[].mutex) != 0:
        return
    if session[].pending.holds(address):
        var body = Body(protocol.TOUCH)
        body.u64(address)
        _add_callers(body, context)
        _ = session[].request(body)
        session[].pending.remove(address, 1)
    _ = external_call["pthread_mutex_unlock", Int32](session[].mutex)


def _report_device_access(address: UInt64, context: UInt64) -> Bool:
    """Report an access to device memory; whether it is reported, so that the program ends here.
    """
    var session = the_session()
    for _ in range(_PATIENCE):
        if external_call["pthread_mutex_trylock", Int32](session[].mutex) == 0:
            var written = False
            comptime if CompilationTarget.is_x86():
                written = at[UInt64](context + _ERROR_OFFSET)[] & _BY_WRITE != 0
            var body = Body(protocol.DEVICE_ACCESS)
            body.u64(address)
            body.u32(UInt32(written))
            _add_callers(body, context)
            var status = session[].request(body).status
            _ = external_call["pthread_mutex_unlock", Int32](session[].mutex)
            return status == SUCCESS
        _ = external_call["usleep", Int32](UInt32(1000))
    return False


def _add_callers(mut body: Body, context: UInt64):
    """Append the program's return addresses, the instruction that faulted first.
    """
    var program_counter = NULL
    comptime if CompilationTarget.is_x86():
        program_counter = at[UInt64](context + _PC_OFFSET)[]
    for caller in the_session()[].pending.callers():
        # Return addresses are one past the call; this one is the instruction itself.
        body.u64(caller + UInt64(caller == program_counter))
