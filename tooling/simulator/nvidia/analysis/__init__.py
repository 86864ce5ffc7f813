"""What a kernel's PTX says about its launches: read from the text, before anything runs.

    register_reads        which registers are read
    followed_addresses    the variables that an address may point into
    copied_values         the loads whose value is stored unchanged
    written_buffers       the buffers that may be written
    accesses              widths and order of memory accesses
    kernel                all of this for one kernel, each computed once

Lowering uses the first two; the back end asks `kernel` for the rest.
"""
