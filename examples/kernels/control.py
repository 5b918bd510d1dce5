"""Control flow that differs from unit to unit: early return, `while`, `else` of a loop.

A unit that returns or breaks sits out; the others go on as if each ran alone.
"""

from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, Tensor, f32, i32, u32

Floats = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int32]]


@cb.cube
def first_match(rows: Tensor[f32], wanted: f32, out: Array[i32]) -> None:
    """The first column of each row whose value is at least `wanted`, or -1."""
    row = cb.ABSOLUTE_POS
    if row >= len(out):
        return
    for col in range(rows.shape[1]):
        if rows[row, col] >= wanted:
            out[row] = i32(col)
            return
    out[row] = -1


def first_match_numpy(rows: Floats, wanted: float) -> Ints:
    """The same columns."""
    if rows.shape[1] == 0:
        return np.full(rows.shape[0], -1, np.int32)
    found = rows >= np.float32(wanted)
    return np.where(found.any(axis=1), found.argmax(axis=1), -1).astype(np.int32)


@cb.cube
def collatz_lengths(start: Array[u32], limit: i32, out: Array[i32]) -> None:
    """Steps until the Collatz sequence reaches 1, or -1 if that takes more than `limit`."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        n = start[i]
        steps = 0
        while steps <= limit:
            if n <= 1:
                out[i] = steps
                break
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        else:
            out[i] = -1


def collatz_lengths_numpy(start: np.ndarray[Any, np.dtype[np.uint32]], limit: int) -> Ints:
    """The same lengths, one number at a time in plain Python."""
    lengths = np.empty(start.shape, np.int32)
    for position, first in enumerate(start.tolist()):
        n, steps = first, 0
        while n > 1 and steps <= limit:
            n = n // 2 if n % 2 == 0 else (3 * n + 1) % 2**32
            steps += 1
        lengths[position] = steps if steps <= limit else -1
    return lengths
