"""The block of 64-bit words that kernels of some runtimes read their arguments from.

A :class:`Packer` is made once for a kernel and fills its block again and again; `pack` fills one
from the bindings of a launch.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cubepy.ir import BF16, F16, F32, F64, Scalar
from cubepy.runtime.base import ArrayBinding, Binding, Grid
from cubepy.target import Abi, Word, WordKind

__all__ = ["Packer", "grid_words", "pack"]

# Counts of cubes and extents along three axes, and the place of reports.
_GRID_WORDS = 7
# How `struct` writes a scalar into the low bytes of a word; integers fill the word by their sign.
_FORMATS: dict[Scalar, str] = {F64: "d", F32: "f4x", F16: "e6x", BF16: "Q"}


class Packer:
    """Writes the words of one kernel's block from plain numbers, one a word, in the block's order.

    A bf16 is given as its bits, everything else as its value.
    """

    def __init__(self, abi: Abi) -> None:
        formats = list(map(_format, abi.words))
        self._layout = struct.Struct("<" + "".join(formats))
        self._end = struct.Struct("<" + "".join(formats[-_GRID_WORDS:]))
        self._formats = formats[:-_GRID_WORDS]

    def block(self, numbers: Iterable[float]) -> bytes:
        """A new block."""
        return self._layout.pack(*numbers)

    def grid(self, grid: Grid) -> bytes:
        """The words behind those of the arguments."""
        return self._end.pack(*grid_words(grid))

    def filler(self, ranks: Sequence[int]) -> Callable[..., bytes]:
        """Makes a block of the address of each array and its other words, as bytes; of scalars; and
        of the words behind the arguments. `ranks` are the axes of each parameter, 0 of scalars.
        """
        formats, own = "<", iter(self._formats)
        for rank in ranks:
            formats += next(own)
            if rank:
                formats += f"{sum(8 for _ in zip(range(2 * rank), own))}s"  # noqa: B905
        return struct.Struct(f"{formats}{8 * _GRID_WORDS}s").pack


def _format(word: Word) -> str:
    if word.kind is WordKind.SCALAR:
        assert word.type is not None
        return _FORMATS.get(word.type, "q" if word.type.is_signed else "Q")
    return "Q" if word.kind in (WordKind.POINTER, WordKind.REPORT) else "q"


def grid_words(grid: Grid, report: int = 0) -> tuple[int, ...]:
    """The words of a launch that follow those of its arguments."""
    return (*grid.cube_count, *grid.extent, report)


def scalar_word(value: float, element: Scalar) -> float:
    """A scalar as a packer takes it."""
    if element is BF16:
        return int.from_bytes(np.array(value, element.numpy).tobytes(), "little")
    return value


def pack(
    abi: Abi, bindings: Sequence[Binding], grid: Grid, addresses: Sequence[int], report: int = 0
) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The words of one launch, in the order of `abi`.

    `addresses` has, for each argument, where its memory begins (0 for scalars); the word `POINTER`
    is that of the element with all subscripts 0. `report` is the address of the fault record.
    """
    numbers: list[float] = []
    for binding, address in zip(bindings, addresses, strict=True):
        if isinstance(binding, ArrayBinding):
            numbers.append(address + binding.offset * binding.element.size)
            numbers += (*binding.shape, *binding.strides)
        else:
            numbers.append(scalar_word(binding.value, binding.element))
    return np.frombuffer(Packer(abi).block((*numbers, *grid_words(grid, report))), np.uint64)
