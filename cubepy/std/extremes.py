"""Which of several values is the least or the greatest.

Of numbers, of a tuple of them, or of the elements of a vector. As in NumPy the first NaN wins, then
the lowest number among equal ones. They are plain helpers of kernels, not ops of the table.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb
from cubepy.frontend import library_function

__all__ = ["argmax", "argmin"]


@library_function
def argmin(*values: Any) -> Any:
    """The number, from 0 on, of the least value; of the first NaN if there is one."""
    items = values[0] if len(values) == 1 else values
    least = min(items)
    place = cb.index(0)
    for k in cb.unroll(range(len(items) - 1, -1, -1)):
        if max(items[k], least) == least:  # not above the least, whatever their types
            place = cb.index(k)
    return _first_nan(items, place)


@library_function
def argmax(*values: Any) -> Any:
    """The number, from 0 on, of the greatest value; of the first NaN if there is one."""
    items = values[0] if len(values) == 1 else values
    greatest = max(items)
    place = cb.index(0)
    for k in cb.unroll(range(len(items) - 1, -1, -1)):
        if min(items[k], greatest) == greatest:
            place = cb.index(k)
    return _first_nan(items, place)


def _first_nan(items: Any, otherwise: Any) -> Any:
    place = otherwise
    for k in cb.unroll(range(len(items) - 1, -1, -1)):
        if items[k] != items[k]:
            place = cb.index(k)
    return place
