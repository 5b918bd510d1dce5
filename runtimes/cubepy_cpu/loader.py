"""Object files of this processor, mapped into the process without LLVM.

A warm start finds its kernels compiled, and importing LLVM to load them would take longer than all
the rest. The code that LLVM makes for kernels is position-independent and has few kinds of
relocations; whatever else an object may contain makes `map_object` decline, and LLVM loads it.
"""

from __future__ import annotations

import _ctypes
import ctypes
import functools
import mmap
import os
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cubepy.errors import BackendError
from cubepy_cpu.elf import X86_64, ObjectFile, Section, Symbol

__all__ = ["address_of_symbol", "map_object"]

_find: Any = getattr(_ctypes, "dlsym", None)  # where there is none, LLVM loads everything

# Kinds of relocations of x86-64.
_ABSOLUTE, _RELATIVE, _CALL = 1, 2, 4
_INDIRECT = frozenset({9, 41, 42})  # relative to a word with the address
_KNOWN = frozenset({_ABSOLUTE, _RELATIVE, _CALL}) | _INDIRECT
# jmp *0(%rip), with the address behind it: calls reach 2 GiB, and libraries may be farther away.
_JUMP = b"\xff\x25\0\0\0\0"
_STUB_BYTES = 16
_FIRST_RESERVED = 0xFF00  # section numbers from here on mean something else
_IMPLICIT = frozenset({"_GLOBAL_OFFSET_TABLE_"})  # named by code that reads addresses from memory


def map_object(file: ObjectFile, data: bytes) -> Mapping[str, int] | None:
    """The addresses of an object's functions, or None if it is not of the usual sort."""
    if not _is_usual(file):
        return None
    places, size = _places(file.sections)
    needed = _stubs_needed(file)
    stubs = {number: size + _STUB_BYTES * place for place, number in enumerate(needed)}
    memory = mmap.mmap(-1, max(1, size + _STUB_BYTES * len(needed)))
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for section, place in zip(file.sections, places, strict=True):
        if place >= 0 and not section.empty:
            memory[place : place + section.size] = data[
                section.offset : section.offset + section.size
            ]
    addresses = [_address(symbol, base, places) for symbol in file.symbols]
    for number, place in stubs.items():
        memory[place : place + 14] = _JUMP + addresses[number].to_bytes(8, "little")
    _relocate(file, memory, base, places, addresses, stubs)
    _make_executable(base, len(memory))
    # Never unmapped, not even when the interpreter ends: some thread may still stand in the code.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
    return {
        symbol.name: base + places[symbol.section] + symbol.value
        for symbol in file.functions
        if symbol.exported
    }


def _is_usual(file: ObjectFile) -> bool:
    here = sys.platform == "linux" and file.machine == X86_64
    return (
        here
        and not any(section.loaded and section.writable for section in file.sections)
        and all(
            kind in _KNOWN and file.symbols[symbol].section < _FIRST_RESERVED
            for _, _, kind, symbol, _ in file.relocations
        )
    )


def _places(sections: Sequence[Section]) -> tuple[list[int], int]:
    """Where each section goes, -1 for those that stay in the file, and the end of all."""
    places, end = [], 0
    for section in sections:
        if not section.loaded:
            places.append(-1)
            continue
        end = -(-end // section.alignment) * section.alignment
        places.append(end)
        end += section.size
    return places, -(-end // _STUB_BYTES) * _STUB_BYTES


def _stubs_needed(file: ObjectFile) -> list[int]:
    """Numbers of the symbols that are called far away, or whose address is read from memory."""
    return sorted(
        {
            symbol
            for _, _, kind, symbol, _ in file.relocations
            if kind in _INDIRECT or (kind == _CALL and not file.symbols[symbol].section)
        }
    )


def _relocate(
    file: ObjectFile,
    memory: mmap.mmap,
    base: int,
    places: Sequence[int],
    addresses: Sequence[int],
    stubs: Mapping[int, int],
) -> None:
    for section, offset, kind, number, addend in file.relocations:
        place = places[section] + offset
        target = addresses[number]
        if number in stubs and kind in _INDIRECT:
            target = base + stubs[number] + len(_JUMP)
        elif number in stubs and kind == _CALL:
            target = base + stubs[number]
        value = target + addend
        if kind == _ABSOLUTE:
            struct.pack_into("<Q", memory, place, value)
            continue
        distance = value - (base + place)
        if not -(1 << 31) <= distance < 1 << 31:
            name = file.symbols[number].name
            raise BackendError(f"{name!r} is too far away for the code that uses it")
        struct.pack_into("<i", memory, place, distance)


def _address(symbol: Symbol, base: int, places: Sequence[int]) -> int:
    """Where a symbol is; 0 for those that nothing refers to, such as a file's name."""
    if symbol.section >= _FIRST_RESERVED:
        return 0
    if symbol.section:
        return base + places[symbol.section] + symbol.value
    if not symbol.name or symbol.name in _IMPLICIT:
        return 0
    found = address_of_symbol(symbol.name)
    if not found:
        raise BackendError(f"the object file needs {symbol.name}, not to be found")
    return found


@functools.cache
def address_of_symbol(name: str) -> int:
    """The address of a function of this process or its libraries; 0 if there is none."""
    try:
        address: int = _find(ctypes.pythonapi._handle, name)  # noqa: SLF001 - the process's own
    except OSError:
        return 0
    return address


@functools.cache
def _protect() -> Callable[[int, int, int], int]:
    prototype = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, use_errno=True
    )
    protect: Callable[[int, int, int], int] = prototype(address_of_symbol("mprotect"))
    return protect


def _make_executable(base: int, size: int) -> None:
    """From here on the memory can be read and run, and written no more."""
    if _protect()(base, size, mmap.PROT_READ | mmap.PROT_EXEC):
        reason = os.strerror(ctypes.get_errno())
        raise BackendError(f"this system does not let memory become code: {reason}")
