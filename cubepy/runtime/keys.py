"""The cheap key of a launch: what of its arguments decides which compiled kernel serves it.

Equal keys mean equal array facts, equal alias classes, equal types of numbers and equal comptime
values. It is computed for every launch, so the usual cases come first and touch as little as they
can; everything unusual falls back to the facts of `arguments.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from cubepy.errors import ArgumentError
from cubepy.runtime.arguments import (
    Span,
    alias_classes,
    facts_of,
    find_array,
    span_of,
    stride_classes,
)
from cubepy.runtime.base import Device
from cubepy.runtime.buffers import Buffer

__all__ = ["ALIGNED", "CONTIGUOUS", "OWNED", "WRITEABLE", "device_of", "launch_key"]

KeyOf = Callable[[Any], Hashable]
_NUMBERS = frozenset({int, float, bool})
# NumPy's bits for C-contiguous, aligned and writeable; the first two must be set to be usual.
CONTIGUOUS, OWNED, ALIGNED, WRITEABLE = 0x0001, 0x0004, 0x0100, 0x0400
_USUAL = CONTIGUOUS | ALIGNED
_SEEN = _USUAL | WRITEABLE


def launch_key(values: Sequence[Any], comptime: Sequence[bool], key_of: KeyOf) -> tuple[Any, ...]:
    """The key of a launch with `values`. `comptime` tells which parameters are annotated so.

    Those, and values that are neither arrays nor numbers, are keyed by `key_of`.
    """
    parts: list[Any] = []
    arrays: list[Any] = []
    owned = OWNED
    for value, known in zip(values, comptime, strict=True):
        kind = type(value)
        if kind is ndarray and (shape := value.shape):
            flags = value.flags.num
            owned &= flags
            arrays.append(value)
            if flags & _USUAL == _USUAL:
                parts += (value.dtype, len(shape), flags & _SEEN)
            else:
                parts.append(facts_of(value))
        elif known:
            parts.append(key_of(value))
        elif kind in _NUMBERS:
            parts.append(kind)
        else:
            owned = 0
            _add_unusual(value, key_of, parts, arrays)
    # Arrays that own their memory share it with no other such array.
    if len(arrays) > 1 and (not owned or len(set(map(id, arrays))) < len(arrays)):
        spans = [span_of(array) for array in arrays]
        if _overlap(spans):
            parts.append(alias_classes(spans))
    return tuple(parts)


def _overlap(spans: list[Span]) -> bool:
    """Whether any two overlap."""
    memory, furthest = -1, 0
    for space, low, high in sorted(spans):
        if space != memory:
            memory, furthest = space, high
        elif low < furthest:
            return True
        elif high > furthest:
            furthest = high
    return False


def _add_unusual(value: Any, key_of: KeyOf, parts: list[Any], arrays: list[Any]) -> None:
    if type(value) is Buffer:
        classes = stride_classes(value.shape, value.strides, value.dtype.itemsize)
        frozen = value.view is not None and not value.view.flags.writeable
        parts += (value.device, value.dtype, classes, frozen)
        arrays.append(value)
    elif isinstance(value, np.generic):
        parts.append(type(value))  # not its dtype, which calls itself equal to `int`
    else:
        try:
            array = find_array(value, "an argument")
        except ArgumentError:
            parts.append(object())  # like no other: it is refused by its name further on
            return
        if array is None:
            parts.append(key_of(value))
        else:
            parts.append((type(value), facts_of(array)))
            arrays.append(array)


def device_of(values: Sequence[Any]) -> Device | None:
    """The device of the first buffer among some arguments."""
    for value in values:
        if type(value) is Buffer:
            return value.device
    return None
