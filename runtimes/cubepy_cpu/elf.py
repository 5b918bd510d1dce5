"""Reading ELF object files: sections, symbols, relocations, as far as loading them needs.

LLVM's loader gives a silent wrong address, or ends the process, for a symbol that nothing defines;
reading the symbol table first turns that into an error with a name. Object formats other than
64-bit little-endian ELF are not read: `read_object` returns None for them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from cubepy.errors import BackendError

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


class Section:
    """One section. `loaded`: it belongs into memory; `empty`: it is zeros, and not in the file."""

    __slots__ = ("alignment", "kind", "link", "loaded", "offset", "size", "target", "writable")

    def __init__(self, header: tuple[int, ...]) -> None:
        _, self.kind, flags, _, self.offset, self.size, self.link, self.target = header[:8]
        self.loaded = bool(flags & _ALLOCATE)
        self.writable = bool(flags & _WRITE)
        self.alignment = max(1, header[8])

    @property
    def empty(self) -> bool:
        return self.kind == _EMPTY


class Symbol:
    """One symbol. `section` is 0 for those that others define."""

    __slots__ = ("exported", "function", "name", "section", "size", "value")

    def __init__(self, name: str, info: int, section: int, value: int, size: int) -> None:
        self.name = name
        self.function = info & 15 == _FUNCTION
        self.exported = info >> 4 != _LOCAL
        self.section, self.value, self.size = section, value, size


#: A place that depends on a symbol's address: the number of its section, the offset in it, the kind
#: of relocation, the number of the symbol, and what is added.
Relocation = tuple[int, int, int, int, int]


class ObjectFile:
    """One object file; `machine` is ELF's number."""

    __slots__ = ("machine", "relocations", "sections", "symbols")

    def __init__(
        self,
        machine: int,
        sections: Sequence[Section],
        symbols: Sequence[Symbol],
        relocations: Sequence[Relocation],
    ) -> None:
        self.machine = machine
        self.sections, self.symbols, self.relocations = sections, symbols, relocations

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
    return ObjectFile(machine, sections, symbols, relocations)


def _section(data: bytes, at: int) -> Section:
    section = Section(_SECTION.unpack_from(data, at))
    if not section.empty and section.offset + section.size > len(data):
        raise ValueError("a section ends behind the file")
    return section


def _symbols(data: bytes, section: Section, names: int) -> list[Symbol]:
    found = []
    for name, info, _, where, value, extent in _SYMBOL.iter_unpack(_content(data, section)):
        begin = names + name
        text = data[begin : data.index(b"\0", begin)].decode()
        found.append(Symbol(text, info, where, value, extent))
    return found


def _relocations(data: bytes, section: Section) -> list[Relocation]:
    return [
        (section.target, offset, info & 0xFFFFFFFF, info >> 32, addend)
        for offset, info, addend in _RELOCATION.iter_unpack(_content(data, section))
    ]


def _content(data: bytes, section: Section) -> bytes:
    return data[section.offset : section.offset + section.size]
