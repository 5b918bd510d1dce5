"""A call whose result nothing wants leaves nothing behind."""

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i32
from tests.opencl_devices import on_each


@cb.cube
def larger(a: i32, b: i32) -> i32:
    return max(a, b)


@cb.cube
def counted(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    v, n = i32(0), 0
    while n < 4:
        n += 1
        m = 0
        while m < 3 and v % 5 != 3:
            m += 1
            larger(7, min(x[i + m], v) ** 3)
            if x[n] > 40:
                return
        v = x[n] + v
    out[i] = v


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", on_each())
def test_what_only_an_unused_call_takes_is_not_named_later(target: str) -> None:
    results = []
    for device in ("reference", target):
        x, out = np.arange(50, dtype=np.int32), np.zeros(50, np.int32)
        counted.over(50, device=device)(x, out)
        results.append(out)
    np.testing.assert_array_equal(results[1], results[0])
