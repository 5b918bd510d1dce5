"""How rows, slices and other views of an array look in a debugger: as NumPy has them.

A view is shown from what its memory is in the debugger, a NumPy array or whatever has `part`, which
applies the same to what it knows of its elements, whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from cubepy.frontend.values import (
    ArrayMethod,
    Axis,
    Encoded,
    Known,
    Mapped,
    Sliced,
    Value,
    Vectorized,
    is_memory,
)
from cubepy.ir import Op

__all__ = ["Show", "Unseen", "shown_view"]

#: Makes what is shown of the values of run-time parts, in order; those of memories are arrays.
Show = Callable[[Iterator[Any]], Any]
_Cut = Callable[[Any], Any]

_MOST = 1 << 16  # elements that a function of the subscripts is asked for


class Unseen:
    """What has no value to show."""

    def __init__(self, text: str = "…") -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def shown_view(value: Value, leaves: list[Op], shown: Callable[[Value], Show]) -> Show | None:
    """How an array or a view of one is shown, None for other values; `leaves` get its run-time
    parts, `shown` tells how a number is shown.
    """
    if isinstance(value, Op) and is_memory(value):
        leaves.append(value)
        return next
    if isinstance(value, Encoded):
        return shown_view(value.base, leaves, shown)
    if isinstance(value, ArrayMethod) or not isinstance(value, Sliced | Mapped | Vectorized):
        return None
    below = value.array if isinstance(value, Vectorized) else value.base
    base = shown_view(below, leaves, shown)
    cut = _cut_of(value, shown)
    assert base is not None

    def show(values: Iterator[Any]) -> Any:
        memory, how = base(values), cut(values)
        part = getattr(memory, "part", None)
        if part is not None:
            return part(how)
        return applied(how, memory if isinstance(memory, Unseen) else np.asarray(memory))

    return show


def applied(cut: _Cut, array: Any) -> Any:
    """A part of an array, or a word where the view lies outside of it."""
    if isinstance(array, Unseen):
        return array
    try:
        return cut(array)
    except IndexError:
        return Unseen("<outside of the array>")
    except Exception as error:  # noqa: BLE001 - a function of the user's, which may need a kernel
        return Unseen(f"<not to be shown: {type(error).__name__}>")


def _cut_of(
    value: Sliced | Mapped | Vectorized, shown: Callable[[Value], Show]
) -> Callable[[Iterator[Any]], _Cut]:
    """What makes, of the run-time parts, what is to be done to the array below."""
    if isinstance(value, Vectorized):
        count = value.count
        return lambda values: lambda array: array.reshape(*array.shape[:-1], -1, count)
    if isinstance(value, Sliced):
        axes = [(axis, [shown(each) for each in axis.values]) for axis in value.axes]

        def slicing(values: Iterator[Any]) -> _Cut:
            parts = tuple(
                _part(axis, [int(each(values)) for each in numbers]) for axis, numbers in axes
            )
            return lambda array: array[_inside(parts)]

        return slicing
    if not isinstance(value.place, Known):
        return lambda values: lambda array: Unseen("<a view by a function of the kernel>")
    place = value.place.value
    extents = [shown(each) for each in value.shape]

    def mapping(values: Iterator[Any]) -> _Cut:
        shape = tuple(int(each(values)) for each in extents)
        return lambda array: _mapped(array, shape, place)

    return mapping


def _part(axis: Axis, numbers: list[int]) -> slice | int:
    """The subscript of one axis; a negative one lies outside."""
    index = None if axis.index is None else numbers.pop()
    if axis.whole:
        return slice(None) if index is None else index
    start, step, length = numbers
    if index is not None:
        return start + index * step if 0 <= index < length else -1
    stop = start + step * length
    return slice(start, None if stop < 0 else stop, step) if length > 0 else slice(0, 0)


def _inside(parts: Sequence[slice | int]) -> tuple[slice | int, ...]:
    if any(isinstance(part, int) and part < 0 for part in parts):
        raise IndexError
    return tuple(parts)


def _mapped(array: Any, shape: tuple[int, ...], place: Callable[..., Any] | None) -> Any:
    """Row after row, or element for element where a function says; outside there are zeros."""
    if place is None:
        return array.reshape(-1)[: prod(shape)].reshape(shape)
    if prod(shape) > _MOST:
        return Unseen(f"<a view of {' × '.join(map(str, shape))} elements>")
    made = np.zeros(shape, array.dtype)
    for at in np.ndindex(*shape):
        found = np.atleast_1d(place(*at))
        if ((found >= 0) & (found < array.shape)).all():
            made[at] = array[tuple(found)]
    return made
