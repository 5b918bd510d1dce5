"""Which of several values is the least or the greatest.

Of numbers, of a tuple of them, or of the elements of a vector. As in NumPy the first NaN wins, then
the lowest number among equal ones. They are plain helpers of kernels, not ops of the table.
"""

from __future__ import annotations

from typing import Any

import cubepy as cb

__all__ = ["argmax", "argmin"]

_FLOATS = (cb.f16, cb.bf16, cb.f32, cb.f64)


def argmin(*values: Any) -> Any:
    """The number, from 0 on, of the least value; of the first NaN if there is one."""
    items = values[0] if len(values) == 1 else values
    kind = min(items).dtype
    best = cb.cast(kind, items[0])
    place = cb.index(0)
    for k in cb.unroll(range(1, len(items))):
        value = cb.cast(kind, items[k])
        if not (value >= best or _is_nan(best)):
            best = value
            place = cb.index(k)
    return place


def argmax(*values: Any) -> Any:
    """The number, from 0 on, of the greatest value; of the first NaN if there is one."""
    items = values[0] if len(values) == 1 else values
    kind = max(items).dtype
    best = cb.cast(kind, items[0])
    place = cb.index(0)
    for k in cb.unroll(range(1, len(items))):
        value = cb.cast(kind, items[k])
        if not (value <= best or _is_nan(best)):
            best = value
            place = cb.index(k)
    return place


def _is_nan(value: Any) -> Any:
    return cb.isnan(value) if value.dtype in _FLOATS else False
