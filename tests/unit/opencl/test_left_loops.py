"""Loops that units leave one by one, with variables that differ from the second turn on: each unit
has the number of its own last turn. Intel's compiler gave all of them one number.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, i32, u32
from tests.opencl_devices import on_each

TURNS, SIZE = 48, 500


def squares(a, b, c, u):  # type: ignore[no-untyped-def]
    """Done where the sum is large."""
    d = a * a + b * b - c * c
    return d > 2000.0, a + u * 0.25 + 1.0, b + u, c + 0.5


def approach(a, b, c, u):  # type: ignore[no-untyped-def]
    """A step is what is left of the way, as in ray marching."""
    d = 20.0 - a - b - c * 2.0
    return d < 4.0, a + u * d * 0.0005, b + u * d * 0.00025, c + d * 0.005


def counts(a, b, c, u):  # type: ignore[no-untyped-def]
    """Nothing but comparisons differs."""
    return a * 2.0 + c > 60.0, a + f32(u > a * 4.0), b + f32(u > 40.0), c + 1.0 + b * 0.1


@cb.cube
def returns(x: Array[f32], out: Array[i32], taken: Array[u32], step: Comptime[Any]) -> None:
    i = cb.ABSOLUTE_POS
    a, b, c = f32(0.0), f32(0.0), f32(0.0)
    for k in range(TURNS):
        done, a, b, c = step(a, b, c, x[i])
        if done:
            out[i] = i32(k) + i32(x[k])
            cb.atomic_add(taken, k, 1)
            return
    out[i] = -1


@cb.cube
def breaks(x: Array[f32], out: Array[i32], taken: Array[u32], step: Comptime[Any]) -> None:
    i = cb.ABSOLUTE_POS
    a, b, c, found = f32(0.0), f32(0.0), f32(0.0), -1
    for k in range(TURNS):
        done, a, b, c = step(a, b, c, x[i])
        if done:
            found = i32(k)
            break
    if found >= 0:
        out[i] = i32(x[found])
        cb.atomic_add(taken, found, 1)


@cb.cube
def counts_itself(x: Array[f32], out: Array[i32], taken: Array[u32], step: Comptime[Any]) -> None:
    i = cb.ABSOLUTE_POS
    a, b, c, k = f32(0.0), f32(0.0), f32(0.0), 0
    while k < TURNS:
        done, a, b, c = step(a, b, c, x[i])
        if done:
            cb.atomic_add(taken, k, 1)
            out[i] = i32(x[k])
            break
        k += 1
    else:
        out[i] = -k


@cb.cube
def returns_from_two(
    x: Array[f32], out: Array[i32], taken: Array[u32], step: Comptime[Any]
) -> None:
    i = cb.ABSOLUTE_POS
    a, b, c = f32(0.0), f32(0.0), f32(0.0)
    for m in range(6):
        for k in range(8):
            done, a, b, c = step(a, b, c, x[i])
            if done:
                cb.atomic_add(taken, m * 8 + k, 1)
                out[i] = i32(x[m]) + i32(k)
                return
        cb.atomic_add(taken, m, 3)


@cb.cube
def turn_of(step: Comptime[Any], u: f32) -> Any:
    a, b, c = f32(0.0), f32(0.0), f32(0.0)
    for k in range(TURNS):
        done, a, b, c = step(a, b, c, u)
        if done:
            return i32(k)
    return i32(-1)


@cb.cube
def calls(x: Array[f32], out: Array[i32], taken: Array[u32], step: Comptime[Any]) -> None:
    i = cb.ABSOLUTE_POS
    turn = turn_of(step, x[i])
    if turn >= 0:
        cb.atomic_add(taken, turn, 1)
        out[i] = i32(x[turn])


@pytest.mark.parametrize("target", on_each())
@pytest.mark.parametrize("step", [squares, approach, counts])
@pytest.mark.parametrize("kernel", [returns, breaks, counts_itself, returns_from_two, calls])
def test_units_that_left_have_their_own_turn(kernel: Any, step: Any, target: str) -> None:
    results = []
    for device in ("reference", target):
        x = (np.arange(SIZE, dtype=np.float32) * 37) % 101
        out, taken = np.full(SIZE, -7, np.int32), np.zeros(TURNS, np.uint32)
        kernel.over(SIZE, device=device)(x, out, taken, step)
        results.append((out, taken))
    (out, taken), (found, counted) = results
    assert np.count_nonzero(taken) > 3  # they do leave in different turns
    np.testing.assert_array_equal(found, out)
    np.testing.assert_array_equal(counted, taken)
