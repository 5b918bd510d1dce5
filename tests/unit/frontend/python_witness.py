"""Runs a kernel's own source in Python, unit by unit: the witness of control flow.

Kernels take `x`, whole numbers, and write `out[unit, 0 … 3]`. The numbers stay small, so Python's
integers and the kernel's i64 are the same. Helpers are functions of the module named `helper_…`.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

import cubepy as cb

__all__ = ["UNITS", "Rows", "X", "check", "witness"]

UNITS = 12
X = (0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 5, 11)


class Rows:
    """A matrix of Python's integers."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = [[0] * columns for _ in range(rows)]

    def __getitem__(self, at: tuple[int, int]) -> int:
        return self.rows[at[0]][at[1]]

    def __setitem__(self, at: tuple[int, int], value: int) -> None:
        self.rows[at[0]][at[1]] = int(value)


def witness(function: Callable[..., Any], x: list[int]) -> list[list[int]]:
    """What Python makes of the kernel's own source."""
    assert isinstance(function, types.FunctionType)
    out = Rows(UNITS, 4)
    for unit in range(UNITS):
        stub = SimpleNamespace(ABSOLUTE_POS=unit, unroll=lambda values: values)
        names = {**function.__globals__, "cb": stub, "i64": int}
        for name, helper in function.__globals__.items():
            if name.startswith("helper_"):
                names[name] = types.FunctionType(helper.__code__, names, name, helper.__defaults__)
        types.FunctionType(function.__code__, names)(x, out)
    return out.rows


def check(function: Callable[..., Any], device: str) -> None:
    """The kernel on a device does what Python does."""
    x = np.array(X, np.int64)
    out = np.zeros((UNITS, 4), np.int64)
    cb.cube(function).over(UNITS, device=device)(x, out)
    assert out.tolist() == witness(function, x.tolist())
