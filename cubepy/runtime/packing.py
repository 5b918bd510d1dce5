"""The block of 64-bit words that kernels of some runtimes read their arguments from."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.ir import Scalar
from cubepy.runtime.base import ArrayBinding, Binding, Grid, ScalarBinding
from cubepy.target import Abi, Word, WordKind

__all__ = ["pack"]

_LOW_WORD = (1 << 64) - 1
_FLOATS = {"f32": "<f", "f64": "<d"}


def pack(
    abi: Abi, bindings: Sequence[Binding], grid: Grid, addresses: Sequence[int], report: int = 0
) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """The words of one launch, in the order of `abi`.

    `addresses` has, for each argument, where its memory begins (0 for scalars); the word `POINTER`
    is that of the element with all subscripts 0. `report` is the address of the fault record.
    """
    words = [_word(word, bindings, grid, addresses, report) & _LOW_WORD for word in abi.words]
    return np.array(words, np.uint64)


def _word(
    word: Word, bindings: Sequence[Binding], grid: Grid, addresses: Sequence[int], report: int
) -> int:
    match word.kind:
        case WordKind.CUBE_COUNT:
            return grid.cube_count[word.axis]
        case WordKind.EXTENT:
            return grid.extent[word.axis]
        case WordKind.REPORT:
            return report
    binding = bindings[word.argument]
    if isinstance(binding, ScalarBinding):
        return bits_of(binding.value, binding.element)
    return _array_word(word, binding, addresses[word.argument])


def _array_word(word: Word, binding: ArrayBinding, address: int) -> int:
    match word.kind:
        case WordKind.POINTER:
            return address + binding.offset * binding.element.size
        case WordKind.SHAPE:
            return binding.shape[word.axis]
        case WordKind.STRIDE:
            return binding.strides[word.axis]
    raise ValueError(f"an array has no word {word.kind.value}")


def bits_of(value: float, element: Scalar) -> int:
    """A scalar as the low bits of a word; integers are extended by their sign."""
    if not element.is_float:
        return int(value)
    if element.name in _FLOATS:
        return int.from_bytes(struct.pack(_FLOATS[element.name], value), "little")
    return int.from_bytes(np.array(value, element.numpy).tobytes(), "little")
