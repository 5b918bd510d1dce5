"""How a launch hands its arguments to a kernel: computed once, read by emitters and by runtimes.

A kernel gets one block of 64-bit words. Each word has a meaning (:class:`Word`); a runtime fills
the block in order, an emitter reads word `offset`. Scalars lie in the low bytes of their word,
sign- or zero-extended.
"""

from __future__ import annotations

from enum import Enum

from cubepy import ir
from cubepy.ir import BufferType, Scalar, Type
from cubepy.records import dataclass

__all__ = ["Abi", "Word", "WordKind", "abi_of"]


class WordKind(Enum):
    """What one word of the argument block holds."""

    POINTER = "pointer"  # address of the element with all subscripts 0
    SHAPE = "shape"  # elements along `axis`
    STRIDE = "stride"  # elements between neighbours along `axis`
    SCALAR = "scalar"
    CUBE_COUNT = "cube_count"  # along `axis` (0 = x)
    EXTENT = "extent"  # of the shape launched over, along `axis`; units where there is none
    REPORT = "report"  # address of the report block (reports.py); 0 if there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word. `argument` is the parameter's position, -1 for words of the launch."""

    kind: WordKind
    argument: int = -1
    axis: int = 0
    type: Scalar | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Abi:
    """The words in order, and the parameters' names and types."""

    words: tuple[Word, ...]
    names: tuple[str, ...]
    types: tuple[Type, ...]

    def offset(self, kind: WordKind, argument: int = -1, axis: int = 0) -> int:
        """The number of the word with this meaning."""
        for number, word in enumerate(self.words):
            if (word.kind, word.argument, word.axis) == (kind, argument, axis):
                return number
        raise KeyError((kind, argument, axis))


def abi_of(kernel: ir.Kernel) -> Abi:
    """The argument block of a kernel: its parameters in order, then cube counts, extents,
    report.
    """
    words: list[Word] = []
    for number, param in enumerate(kernel.params):
        words += _words_of(number, param.type)
    words += [Word(kind=WordKind.CUBE_COUNT, axis=axis) for axis in range(3)]
    words += [Word(kind=WordKind.EXTENT, axis=axis) for axis in range(3)]
    words.append(Word(kind=WordKind.REPORT))
    return Abi(
        words=tuple(words),
        names=tuple(param.name for param in kernel.params),
        types=tuple(param.type for param in kernel.params),
    )


def _words_of(number: int, type: Type) -> list[Word]:
    if isinstance(type, Scalar):
        return [Word(kind=WordKind.SCALAR, argument=number, type=type)]
    assert isinstance(type, BufferType), f"parameter of type {type}"
    axes = range(type.rank)
    return [
        Word(kind=WordKind.POINTER, argument=number),
        *(Word(kind=WordKind.SHAPE, argument=number, axis=axis) for axis in axes),
        *(Word(kind=WordKind.STRIDE, argument=number, axis=axis) for axis in axes),
    ]
