"""`Layout`: where the elements of a small space lie in an array, as a function of their subscripts.

A layout is a value of the host, known while compiling. Its function is an ordinary helper, so that
kernels compute with it and Python does too: `layout(i, j)` is the offset in both.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from cubepy.errors import ArgumentError, LaunchError, stays_here
from cubepy.frontend.wording import describe_object
from cubepy.records import dataclass

__all__ = ["Layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Elements of `shape`; `function` gives the offset of one, or its subscripts where the array
    has several axes. `storage`: elements that an array needs to hold them all, 0 where not known.
    `parameters` tell functions apart that are made here.
    """

    shape: tuple[int, ...]
    function: Callable[..., Any]
    storage: int = 0
    parameters: tuple[int, ...] = ()

    @staticmethod
    def _refusal(problem: str) -> ArgumentError:
        return ArgumentError(
            f"{problem}\n"
            "  help: cb.Layout.strided(shape) makes one, as do tiled, swizzled and virtual"
        )

    def __call__(self, *indices: Any) -> Any:
        return self.function(*indices)

    def __reduce__(self) -> tuple[Any, ...]:
        if "<locals>" in getattr(self.function, "__qualname__", ""):
            raise stays_here("a layout", "make it in a module that both processes import")
        return Layout, (self.shape, self.function, self.storage, self.parameters)

    def __copy__(self) -> Layout:
        return self

    def __deepcopy__(self, memo: object) -> Layout:
        return self

    @staticmethod
    def strided(shape: Sequence[int], strides: Sequence[int] | None = None) -> Layout:
        """Neighbours along an axis lie a stride apart; without strides, row after row."""
        extents = _checked(shape)
        steps = _row_major(extents) if strides is None else _whole(strides)
        if len(steps) != len(extents):
            raise LaunchError(f"{len(steps)} strides for {len(extents)} axes\n  help: {_ONE_EACH}")
        if any(step < 0 for step in steps):
            raise LaunchError(
                f"the strides {steps}: a layout begins at offset 0\n  help: {_BACKWARDS}"
            )
        farthest = sum((extent - 1) * step for extent, step in zip(extents, steps, strict=True))

        def place(*indices: Any) -> Any:
            offset = 0
            for index, step in zip(indices, steps):  # noqa: B905 (kernels have no strict)
                offset += index * step
            return offset

        return Layout(extents, place, farthest + 1, steps)

    @staticmethod
    def tiled(shape: Sequence[int], tile: Sequence[int]) -> Layout:
        """Tile after tile, each row after row; tiles at the far ends are whole in memory."""
        extents, sizes = _checked(shape), _checked(tile)
        if len(sizes) != len(extents):
            raise LaunchError(
                f"a tile of {len(sizes)} axes for {len(extents)} axes\n  help: {_ONE_EACH}"
            )
        counts = tuple(-(-extent // size) for extent, size in zip(extents, sizes, strict=True))

        def place(*indices: Any) -> Any:
            tiles = 0
            for index, size, count in zip(indices, sizes, counts):  # noqa: B905
                tiles = tiles * count + index // size
            for index, size in zip(indices, sizes):  # noqa: B905
                tiles = tiles * size + index % size
            return tiles

        return Layout(extents, place, math.prod(counts) * math.prod(sizes), sizes)

    @staticmethod
    def swizzled(shape: Sequence[int], bits: int, *, base: int = 0, shift: int = 0) -> Layout:
        """Row after row, with `bits` bits of the offset from bit `base` on exchanged: they are
        xor-ed with those `shift` places above, by default those of the row.

        Neighbours in a column then lie in different banks of shared memory.
        """
        extents = _checked(shape)
        above = shift or max(bits, (extents[-1] - 1).bit_length() - base)
        if bits < 1 or base < 0 or above < bits:
            raise LaunchError(
                f"bits {bits}, base {base}, shift {shift}: the bits that are xor-ed must lie above "
                "those that change\n  help: give a shift of at least `bits`"
            )
        rows, mask = _row_major(extents), ((1 << bits) - 1) << base
        block = 1 << (base + bits)

        def place(*indices: Any) -> Any:
            offset = 0
            for index, step in zip(indices, rows):  # noqa: B905
                offset += index * step
            return offset ^ ((offset >> above) & mask)

        storage = -(-math.prod(extents) // block) * block
        return Layout(extents, place, storage, (bits, base, above))

    @staticmethod
    def virtual(shape: Sequence[int], function: Callable[..., Any]) -> Layout:
        """Any function of the subscripts."""
        return Layout(_checked(shape), function)

    def offsets(self) -> dict[tuple[int, ...], Any]:
        """The offset of every element, for people and tests."""
        every = itertools.product(*map(range, self.shape))
        return {indices: self.function(*indices) for indices in every}


_ONE_EACH = "give one number for each axis of the shape"
_BACKWARDS = "take numbers from 0 on, and a view x[::-1] to go backwards"


def _whole(numbers: Sequence[int]) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, numbers))
    except TypeError as error:
        raise LaunchError(
            f"{describe_object(numbers)} for the axes of a layout: whole numbers are needed\n"
            "  help: give one for each axis, for example (16, 16)"
        ) from error


def _checked(shape: Sequence[int]) -> tuple[int, ...]:
    extents = _whole(shape)
    if not extents or any(extent < 1 for extent in extents):
        raise LaunchError(
            f"the shape {tuple(shape)} of a layout: positive numbers are needed\n"
            "  help: give the extent of each axis, for example (16, 16)"
        )
    return extents


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
