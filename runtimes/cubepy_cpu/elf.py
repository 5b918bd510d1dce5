"""What loading must know of an ELF object file: its machine, what it defines, what it lacks.

LLVM's loader gives a silent wrong address, or ends the process, for a symbol that nothing defines.
Reading the symbol table first turns that into an error with a name. The sizes found here also feed
the perf map. Object formats other than 64-bit little-endian ELF are not read: `read_object` returns
None for them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from cubepy.errors import BackendError

__all__ = ["ObjectSymbols", "Symbol", "read_object"]

_MAGIC = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE = 2
_FUNCTION = 2
_LOCAL = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One defined function: its name, its length in bytes, whether other objects see it."""

    name: str
    size: int
    exported: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectSymbols:
    """What one object defines and needs; `machine` is ELF's number (62 x86-64, 183 AArch64)."""

    machine: int
    functions: tuple[Symbol, ...]
    undefined: tuple[str, ...]


def read_object(data: bytes) -> ObjectSymbols | None:
    """The symbols of an ELF object, None for another format, BackendError for a damaged file."""
    if not data.startswith(_MAGIC):
        return None
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise BackendError("the object file is damaged", output=str(error)) from error


def _read(data: bytes) -> ObjectSymbols:
    _kind, machine, _, _, _, offset, _, _, _, _, size, count, _ = _HEADER.unpack_from(data)
    if size != _SECTION.size:
        raise ValueError(f"section headers of {size} bytes")
    sections = [_SECTION.unpack_from(data, offset + size * index) for index in range(count)]
    functions: list[Symbol] = []
    undefined: list[str] = []
    for section in sections:
        if section[1] != _SYMBOL_TABLE:
            continue
        start, length, names = section[4], section[5], sections[section[6]][4]
        for name, info, where, extent in _symbols(data, start, length, names):
            if where == 0 and name:
                undefined.append(name)
            elif where != 0 and info & 15 == _FUNCTION:
                functions.append(Symbol(name=name, size=extent, exported=info >> 4 != _LOCAL))
    return ObjectSymbols(machine=machine, functions=tuple(functions), undefined=tuple(undefined))


def _symbols(data: bytes, start: int, length: int, names: int) -> list[tuple[str, int, int, int]]:
    """(name, info, section index, size) of every entry of one symbol table."""
    found = []
    for position in range(start, start + length, _SYMBOL.size):
        name, info, _, where, _, extent = _SYMBOL.unpack_from(data, position)
        begin = names + name
        found.append((data[begin : data.index(b"\0", begin)].decode(), info, where, extent))
    return found
