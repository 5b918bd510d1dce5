"""Private arrays of any size: threads have small stacks."""

import threading
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, i32, u8


@cb.cube
def one(x: Array[i32], out: Array[i32], size: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS
    table = cb.local_array(i32, size)
    for k in range(0, size, 97):
        table[(k + x[i]) % size] = i32(k) ^ x[i]
    total = 0
    for k in range(0, size, 97):
        total = total * 3 + table[(k + x[i]) % size]
    out[i] = total


@cb.cube
def many(x: Array[i32], out: Array[i32], size: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS
    total = 0
    for number in cb.unroll(range(2)):
        table = cb.local_array(u8, size)
        for k in range(0, size, 97):
            table[(k + x[i]) % size] = u8(k + number)
        for k in range(0, size, 97):
            total = total * 3 + i32(table[(k + x[i]) % size])
    out[i] = total


def of_python(kernel: Any, x: Any, size: int) -> Any:
    total = np.zeros_like(x)
    for number in range(2 if kernel is many else 1):
        for k in range(0, size, 97):
            value = (np.full_like(x, k) + number) % 256 if kernel is many else k ^ x
            total = total * 3 + value
    return total


@pytest.mark.parametrize("device", ["cpu", "cpu:x86-64-v2", "cpu:x86-64-v3+gang=8"])
@pytest.mark.parametrize(
    ("kernel", "size"), [(one, 300), (one, 3_000), (one, 300_001), (many, 150_000)]
)
def test_arrays_larger_than_a_stack(kernel: Any, size: int, device: str) -> None:
    x = np.arange(100, dtype=np.int32)
    out = np.zeros_like(x)
    kernel.over(x.size, device=device)(x, out, size)
    np.testing.assert_array_equal(out, of_python(kernel, x, size))


def test_threads_with_little_stack() -> None:
    x = np.arange(10_000, dtype=np.int32)
    out = np.zeros_like(x)
    one.over(x.size)(x, out, 4_000)  # compiled by a thread that has enough
    out[:] = 0
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: one.over(x.size)(x, out, 4_000))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    np.testing.assert_array_equal(out, of_python(one, x, 4_000))
