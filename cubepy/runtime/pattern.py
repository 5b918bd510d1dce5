"""A launch as a pattern: NumPy arrays and numbers of the same sorts can be launched in one pass.

What the key of a launch, its record and its argument block are made from is much the same, so a
call like the one before looks at each argument once. Whatever is not exactly as it was then makes
the pattern step back, and the launch goes its usual way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy import ndarray

from cubepy.ir import Scalar
from cubepy.runtime.arguments import address_of
from cubepy.runtime.base import Grid
from cubepy.runtime.keys import ALIGNED, CONTIGUOUS, OWNED, WRITEABLE
from cubepy.runtime.quick import SAFE, QuickLaunch

__all__ = ["Pattern", "pattern_of"]

_OWN = CONTIGUOUS | ALIGNED | OWNED
_SEEN = _OWN | WRITEABLE
# Kinds of values known while compiling that are what they were if they are the very same object.
_CONSTANT = (int, bool, str, type(None))

# Of one argument: its type; of an array the dtype, the flags, the number of axes and the bytes of
# an element; of a number what it must lie between; of what is known while compiling the object.
_Item = tuple[Any, Any, Any, int, int]
_NUMBER, _OBJECT = 1, 2


class Pattern:
    """The arguments of one launch, by sort, and what does it again with others of these sorts."""

    __slots__ = ("_arrays", "_end", "_items", "_pack", "_run")

    def __init__(self, launch: QuickLaunch, grid: Grid, items: Sequence[_Item]) -> None:
        self._items = tuple(items)
        self._arrays = sum(item[0] is ndarray for item in items)
        self._pack = launch.packer.pack_arguments
        self._end = launch.packer.grid(grid)
        self._run = launch.run_on(grid)

    def launched(self, values: Sequence[Any]) -> bool:
        """Launch with these arguments if they fit; whether they did."""
        if len(values) != len(self._items):
            return False
        words: list[Any] = []
        starts = set()
        for value, (kind, first, last, rank, size) in zip(values, self._items):  # noqa: B905
            if type(value) is not kind:
                return False
            if kind is ndarray:
                if (
                    value.dtype is not first
                    or value.flags.num & _SEEN != last
                    or value.ndim != rank
                ):
                    return False
                start = address_of(value)
                starts.add(start)
                if rank == 1:
                    words += (start, len(value), 1)
                else:
                    strides = [step // size for step in value.strides]
                    words += (start, *value.shape, *strides)
            elif rank == _NUMBER:
                if not first <= value <= last:
                    return False
                words.append(value)
            elif value is not first:
                return False
        # Arrays that own their memory overlap only if they are the same.
        if len(starts) != self._arrays:
            return False
        self._run(self._pack(*words) + self._end)
        return True


def pattern_of(
    launch: QuickLaunch, grid: Grid, values: Sequence[Any], comptime: Sequence[bool]
) -> Pattern | None:
    """The pattern of a launch that went well; None if some argument is of an unusual sort.

    `comptime` tells which parameters are annotated so.
    """
    types = launch.types_by_argument
    items = [
        _constant(value) if known else _item(value, types.get(at))
        for at, (value, known) in enumerate(zip(values, comptime, strict=True))
    ]
    arrays = [value for value in values if type(value) is ndarray]
    ordered = list(types) == [at for at, known in enumerate(comptime) if not known]
    if not ordered or None in items or len(set(map(id, arrays))) != len(arrays):
        return None
    return Pattern(launch, grid, [item for item in items if item is not None])


def _constant(value: object) -> _Item | None:
    return (type(value), value, None, _OBJECT, 0) if type(value) in _CONSTANT else None


def _item(value: Any, type_: object) -> _Item | None:
    """An argument at run time, whose parameter has this type if it is a number."""
    if type(value) is ndarray:
        flags = value.flags.num & _SEEN
        usual = value.ndim and flags & _OWN == _OWN
        return (ndarray, value.dtype, flags, value.ndim, value.itemsize) if usual else None
    if not isinstance(type_, Scalar):
        return None
    if type(value) is float and type_.is_float and type_.bits >= 32:
        reach = SAFE if type_.bits == 32 else float("inf")
        return (float, -reach, reach, _NUMBER, 0)  # a NaN steps back, and goes its usual way
    if type(value) is int and type_.is_integer:
        return (int, type_.minimum, type_.maximum, _NUMBER, 0)
    return None
