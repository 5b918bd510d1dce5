"""Which units of a batch are active: all, none, or an array of bools, and the algebra of that.

`True` and `False` stand for all and none, so that uniform control flow costs no arrays; `settle`
brings every array that is all or none to that form. Conditions are values of the machine: arrays
with one element a unit, or 0-d arrays where the value is the same in every unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "Mask",
    "Value",
    "chosen",
    "first_lane",
    "has_lane",
    "lanes_of",
    "merge",
    "minus",
    "refused",
    "settle",
    "union",
]

Value = np.ndarray[Any, Any]
Mask = bool | Value


def settle(mask: Value) -> Mask:
    """The mask with all and none in their short form."""
    if not mask.any():
        return False
    return True if mask.all() else mask


def chosen(mask: Mask, condition: Value) -> Mask:
    """The active units in which the condition holds."""
    if condition.ndim == 0:
        return mask if condition else False
    if mask is False:
        return False
    return settle(condition if mask is True else mask & condition)


def refused(mask: Mask, condition: Value) -> Mask:
    """The active units in which the condition does not hold."""
    return chosen(mask, np.asarray(~condition))


def union(a: Mask, b: Mask) -> Mask:
    """The units active in either."""
    if a is True or b is True:
        return True
    if a is False:
        return b
    if b is False:
        return a
    return settle(np.asarray(a) | b)


def minus(a: Mask, b: Mask) -> Mask:
    """The units active in `a` and not in `b`."""
    if a is False or b is True:
        return False
    if b is False:
        return a
    return settle(~np.asarray(b) if a is True else np.asarray(a) & ~np.asarray(b))


def lanes_of(mask: Mask, every: Value) -> Value:
    """The numbers of the active units, ascending; `every` holds those of all."""
    if isinstance(mask, bool):
        return every if mask else every[:0]
    return np.flatnonzero(mask)


def first_lane(mask: Mask) -> int:
    """The lowest active unit; there is one."""
    return 0 if isinstance(mask, bool) else int(np.argmax(mask))


def has_lane(mask: Mask, lane: int) -> bool:
    """Whether a unit is active."""
    return mask if isinstance(mask, bool) else bool(mask[lane])


def merge(mask: Mask, new: Value, old: Value | None) -> Value:
    """`new` in the active units, `old` in the others (anything where there is no old value)."""
    if mask is True or old is None:
        return new
    return np.where(mask, new, old)
