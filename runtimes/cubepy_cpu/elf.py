"""Reading ELF object files: sections, symbols, relocations, as far as loading them needs.

LLVM's loader gives a silent wrong address, or ends the process, for a symbol that nothing defines;
reading the symbol table first turns that into an error with a name. Object formats other than
64-bit little-endian ELF are not read: `read_object` returns None for them.
"""

from __future__ import annotations

import struct

from cubepy.errors import BackendError
from cubepy.records import dataclass

__all__ = ["AARCH64", "X86_64", "ObjectFile", "Relocation", "Section", "Symbol", "read_object"]

# Machines, by ELF's number.
X86_64, AARCH64 = 62, 183

_MAGIC = b"\x7fELF\x02\x01"
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_SYMBOL_TABLE, _RELOCATIONS, _EMPTY = 2, 4, 8
_WRITE, _ALLOCATE = 1, 2
_FUNCTION = 2
_LOCAL = 0


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `loaded`: it belongs into memory; `empty`: it is zeros, and not in the file."""

    kind: int
    loaded: bool
    writable: bool
    offset: int
    size: int
    alignment: int
    link: int
    target: int

    @property
    def empty(self) -> bool:
        return self.kind == _EMPTY


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol. `section` is 0 for those that others define."""

    name: str
    section: int
    value: int
    size: int
    function: bool
    exported: bool


#: A place that depends on a symbol's address: the number of its section, the offset in it, the kind
#: of relocation, the number of the symbol, and what is added.
Relocation = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """One object file; `machine` is ELF's number."""

    machine: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    relocations: tuple[Relocation, ...]

    @property
    def functions(self) -> tuple[Symbol, ...]:
        """What it defines."""
        return tuple(symbol for symbol in self.symbols if symbol.function and symbol.section)

    @property
    def undefined(self) -> tuple[str, ...]:
        """What it needs."""
        return tuple(symbol.name for symbol in self.symbols if symbol.name and not symbol.section)


def read_object(data: bytes) -> ObjectFile | None:
    """An ELF object, None for another format, BackendError for a damaged file."""
    if not data.startswith(_MAGIC):
        return None
    try:
        return _read(data)
    except (struct.error, IndexError, UnicodeDecodeError, ValueError) as error:
        raise BackendError("the object file is damaged", output=str(error)) from error


def _read(data: bytes) -> ObjectFile:
    _kind, machine, _, _, _, offset, _, _, _, _, size, count, _ = _HEADER.unpack_from(data)
    if size != _SECTION.size:
        raise ValueError(f"section headers of {size} bytes")
    sections = [_section(data, offset + size * index) for index in range(count)]
    symbols: list[Symbol] = []
    relocations: list[Relocation] = []
    for section in sections:
        if section.kind == _SYMBOL_TABLE:
            symbols += _symbols(data, section, sections[section.link].offset)
        elif section.kind == _RELOCATIONS and sections[section.target].loaded:
            relocations += _relocations(data, section)
    return ObjectFile(machine, tuple(sections), tuple(symbols), tuple(relocations))


def _section(data: bytes, at: int) -> Section:
    _, kind, flags, _, offset, size, link, target, alignment, _ = _SECTION.unpack_from(data, at)
    if kind != _EMPTY and offset + size > len(data):
        raise ValueError("a section ends behind the file")
    loaded, writable = bool(flags & _ALLOCATE), bool(flags & _WRITE)
    return Section(kind, loaded, writable, offset, size, max(1, alignment), link, target)


def _symbols(data: bytes, section: Section, names: int) -> list[Symbol]:
    found = []
    for name, info, _, where, value, extent in _SYMBOL.iter_unpack(_content(data, section)):
        begin = names + name
        text = data[begin : data.index(b"\0", begin)].decode()
        function, exported = info & 15 == _FUNCTION, info >> 4 != _LOCAL
        found.append(Symbol(text, where, value, extent, function, exported))
    return found


def _relocations(data: bytes, section: Section) -> list[Relocation]:
    return [
        (section.target, offset, info & 0xFFFFFFFF, info >> 32, addend)
        for offset, info, addend in _RELOCATION.iter_unpack(_content(data, section))
    ]


def _content(data: bytes, section: Section) -> bytes:
    return data[section.offset : section.offset + section.size]
