"""What is asked for in a word: deterministic results, loops written out if, no more than f16."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32
from cubepy.errors import CubeTypeError

DEVICES = ("reference", "cpu")


@cb.cube(deterministic=True)
def counted(x: Array[f32], counts: Array[i32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    cb.atomic_add(counts, i32(x[i]), 1)
    cb.atomic_store(out, i, cb.atomic_load(x, i) + 1.0)


@pytest.mark.parametrize("device", DEVICES)
def test_a_deterministic_kernel_has_atomics_of_integers(device: str) -> None:
    x, counts, out = np.array([2, 0, 2], np.float32), np.zeros(3, np.int32), np.zeros(3, np.float32)
    counted.over(3, device=device)(x, counts, out)
    assert counts.tolist() == [1, 0, 2]
    assert out.tolist() == [3, 1, 3]


def add(out: Any, value: Any) -> None:
    cb.atomic_add(out, 0, value)


@cb.cube(deterministic=True)
def in_a_helper(out: Array[f32]) -> None:
    add(out, 1.0)


@pytest.mark.parametrize("name", ["add", "sub", "min", "max", "exchange"])
def test_a_deterministic_kernel_has_no_atomics_of_floats(name: str) -> None:
    operation = getattr(cb, f"atomic_{name}")

    @cb.cube(deterministic=True)
    def kernel(out: Array[f32]) -> None:
        operation(out, 0, 1.0)

    for wrong in (kernel, in_a_helper):
        with pytest.raises(CubeTypeError, match="on floats in a kernel that is deterministic"):
            wrong.over(1)(np.zeros(1, np.float32))


@cb.cube
def summed(x: Array[f32], out: Array[f32], unrolled: cb.Comptime[bool]) -> None:
    total = 0.0
    for k in cb.unroll(range(4), when=unrolled):
        total += x[k]
    out[0] = total


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("unrolled", [False, True])
def test_a_loop_is_written_out_where_it_is_asked_for(device: str, *, unrolled: bool) -> None:
    x, out = np.arange(4, dtype=np.float32), np.zeros(1, np.float32)
    summed.over(1, device=device)(x, out, unrolled)
    assert out[0] == 6
    lowered = summed.inspect(x, out, unrolled, target="reference").ir
    assert ("for " in lowered) is not unrolled


@cb.cube
def at_least_a_half(x: Array[cb.flex32], out: Array[cb.flex32], factor: cb.flex32) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = cb.flex32(x[i]) * factor


@pytest.mark.parametrize("device", DEVICES)
def test_flex32_is_f32_here(device: str) -> None:
    x, out = np.array([1 / 3, 1e30], np.float32), np.zeros(2, np.float32)
    at_least_a_half.over(2, device=device)(x, out, 3.0)
    assert out.tolist() == (x * np.float32(3)).tolist()
