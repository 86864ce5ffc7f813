"""The start object of an executable, as bytes: `_start`, which calls `__libc_start_main`.

A C compiler provides this as crt1.o. Without one, these sixty bytes of machine code are equivalent:
System V AMD64 ABI, section 3.4 (process initialisation); ELF-64 object file format, version 1.5.
"""

from __future__ import annotations

import struct

_START_CODE = bytes.fromhex(
    "31ed"  # xor  ebp, ebp            the outermost frame is marked by a zero
    "4989d1"  # mov  r9, rdx             rtld_fini, passed by the dynamic linker
    "5e"  # pop  rsi                 argc
    "4889e2"  # mov  rdx, rsp            argv
    "4883e4f0"  # and  rsp, -16            the ABI's stack alignment
    "50"  # push rax                 padding
    "54"  # push rsp                 stack_end
    "4531c0"  # xor  r8d, r8d            no separate fini
    "31c9"  # xor  ecx, ecx            no separate init: the C library runs .init_array itself
    "488b3d00000000"  # mov  rdi, [rip + main@GOTPCREL]
    "ff1500000000"  # call [rip + __libc_start_main@GOTPCREL]
    "f4"  # hlt                      __libc_start_main never returns
)
_MAIN_SLOT = _START_CODE.index(bytes.fromhex("488b3d")) + 3
_CALL_SLOT = _START_CODE.index(bytes.fromhex("ff15")) + 2

_R_X86_64_GOTPCREL = 9
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_STRTAB, _SHT_RELA = 1, 2, 3, 4
_SHF_ALLOC_EXEC = 0x2 | 0x4
_GLOBAL_FUNCTION, _GLOBAL_UNTYPED = 0x12, 0x10


def start_object() -> bytes:
    """A relocatable ELF64 file for x86-64 that defines `_start` and needs `main` and `__libc_start_main`."""
    symbol_names = b"\0_start\0main\0__libc_start_main\0"
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    symbols += struct.pack(
        "<IBBHQQ", symbol_names.index(b"_start"), _GLOBAL_FUNCTION, 0, 1, 0, len(_START_CODE)
    )
    for needed in (b"\0main\0", b"\0__libc_start_main\0"):
        symbols += struct.pack("<IBBHQQ", symbol_names.index(needed) + 1, _GLOBAL_UNTYPED, 0, 0, 0, 0)
    # The addend -4: the displacement is relative to the end of its four bytes, the relocation to their start.
    relocations = b"".join(
        struct.pack("<QQq", slot, (symbol << 32) | _R_X86_64_GOTPCREL, -4)
        for slot, symbol in ((_MAIN_SLOT, 2), (_CALL_SLOT, 3))
    )
    section_names = b"\0.text\0.rela.text\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack\0"
    # name, type, flags, content, link, info, alignment, size of an entry
    sections = (
        (".text", _SHT_PROGBITS, _SHF_ALLOC_EXEC, _START_CODE, 0, 0, 16, 0),
        (".rela.text", _SHT_RELA, 0, relocations, 3, 1, 8, 24),
        (".symtab", _SHT_SYMTAB, 0, symbols, 4, 1, 8, 24),
        (".strtab", _SHT_STRTAB, 0, symbol_names, 0, 0, 1, 0),
        (".shstrtab", _SHT_STRTAB, 0, section_names, 0, 0, 1, 0),
        (
            ".note.GNU-stack",
            _SHT_PROGBITS,
            0,
            b"",
            0,
            0,
            1,
            0,
        ),  # its presence requests a non-executable stack
    )
    body = b""
    headers = bytes(64)
    for name, kind, flags, content, link, info, alignment, entry in sections:
        body += bytes(-(64 + len(body)) % alignment)
        headers += struct.pack(
            "<IIQQQQIIQQ",
            section_names.index(name.encode() + b"\0"),
            kind,
            flags,
            0,
            64 + len(body),
            len(content),
            link,
            info,
            alignment,
            entry,
        )
        body += content
    body += bytes(-(64 + len(body)) % 8)
    identity = b"\x7fELF" + bytes((2, 1, 1)) + bytes(9)  # 64 bits, little-endian, version 1
    header = identity + struct.pack(
        "<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, len(sections) + 1, 5
    )
    return header + body + headers
