"""A launch as a pattern: the next one with arrays and numbers of the same sorts takes one pass.

What the key of a launch, its record and its argument block are made from is much the same, so a
call like the one before looks at each argument once; what a shape is written as is kept for arrays
of the same one. Whatever is of another sort makes the pattern step back, and the launch goes its
usual way.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from numpy import ndarray

from cubepy.ir import Scalar
from cubepy.runtime.arguments import DATA_WORD, WORDS
from cubepy.runtime.base import Grid
from cubepy.runtime.keys import ALIGNED, CONTIGUOUS, OWNED, WRITEABLE
from cubepy.runtime.quick import SAFE, QuickLaunch

__all__ = ["Launched", "pattern_of"]

#: Launches with these arguments if they fit; whether they did.
Launched = Callable[[Sequence[Any]], bool]

_OWN = CONTIGUOUS | ALIGNED | OWNED
_SEEN = _OWN | WRITEABLE
# Kinds of values known while compiling that are what they were if they are the very same object.
_CONSTANT = (int, bool, str, type(None))

# Of one argument: its type; of an array dtype, flags and the shape that is written already; of a
# number what it must lie between; of what is known while compiling the object. The place of its
# word, or -1.
_Item = tuple[Any, Any, Any, Any, int]


def _pattern(
    items: Sequence[_Item],
    template: Sequence[Any],
    fill: Callable[..., bytes],
    run: Callable[[bytes], None],
    fits: Callable[[], bool],
) -> Launched:
    """What does a launch again with other arguments of these sorts.

    `template` has the words, with something in the places of those that each call brings along.
    All is in variables of a closure, which are quicker to read than those of an object.
    """
    count, known = len(items), list(template)
    arrays = sum(item[0] is ndarray for item in items)
    memory, before, seen = WORDS, DATA_WORD or 0, _SEEN

    def launched(values: Sequence[Any]) -> bool:
        if len(values) != count or not fits():
            return False
        words, starts = known.copy(), set()
        for value, (kind, first, second, shape, at) in zip(values, items):  # noqa: B905
            if type(value) is not kind:
                return False
            if kind is ndarray:
                if value.dtype is not first or value.flags.num & seen != second:
                    return False
                if value.shape != shape and not _write_others(words, at, value, len(shape)):
                    return False
                words[at] = start = memory[id(value) + before >> 3]
                starts.add(start)
            elif at < 0:
                if value is not first:
                    return False
            elif first <= value <= second:
                words[at] = value
            else:
                return False
        # Arrays that own their memory overlap only if they are the same.
        if len(starts) != arrays:
            return False
        run(fill(*words))
        return True

    return launched


def pattern_of(
    launch: QuickLaunch,
    grid: Grid,
    values: Sequence[Any],
    comptime: Sequence[bool],
    fits: Callable[[], bool],
) -> Launched | None:
    """The pattern of a launch that went well; None if some argument is of an unusual sort.

    `comptime` tells which parameters are annotated so, `fits` whether it may be used at all.
    """
    types = launch.types_by_argument
    arrays = [value for value in values if type(value) is ndarray]
    ordered = list(types) == [at for at, known in enumerate(comptime) if not known]
    if not ordered or DATA_WORD is None or len(set(map(id, arrays))) != len(arrays):
        return None
    items: list[_Item] = []
    template: list[Any] = []
    for at, (value, known) in enumerate(zip(values, comptime, strict=True)):
        item = _constant(value) if known else _item(value, types.get(at), len(template))
        if item is None:
            return None
        items.append(item)
        if not known:
            template += (0, _others(value)) if type(value) is ndarray else (0,)
    ranks = [len(item[3]) for item in items if item[4] >= 0]
    template.append(launch.packer.grid(grid))
    return _pattern(items, template, launch.packer.filler(ranks), launch.run_on(grid), fits)


def _others(array: ndarray[Any, Any]) -> bytes:
    """The words of an array behind its address."""
    strides = [step // array.itemsize for step in array.strides]
    return struct.pack(f"<{2 * array.ndim}q", *array.shape, *strides)


def _write_others(words: list[Any], at: int, array: ndarray[Any, Any], rank: int) -> bool:
    """Put the words of an array of another shape behind its address, if it has as many axes."""
    if array.ndim != rank:
        return False
    words[at + 1] = _others(array)
    return True


def _constant(value: object) -> _Item | None:
    return (type(value), value, None, (), -1) if type(value) in _CONSTANT else None


def _item(value: Any, type_: object, place: int) -> _Item | None:
    """An argument at run time, whose parameter has this type if it is a number."""
    if type(value) is ndarray:
        flags = value.flags.num & _SEEN
        usual = value.ndim and flags & _OWN == _OWN
        return (ndarray, value.dtype, flags, value.shape, place) if usual else None
    if not isinstance(type_, Scalar):
        return None
    if type(value) is float and type_.is_float and type_.bits >= 32:
        reach = SAFE if type_.bits == 32 else float("inf")
        return (float, -reach, reach, (), place)  # a NaN steps back, and goes its usual way
    if type(value) is int and type_.is_integer:
        return (int, type_.minimum, type_.maximum, (), place)
    return None
