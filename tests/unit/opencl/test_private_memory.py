"""Private arrays in loops that units leave one by one: compilers read ahead of the tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32
from tests.opencl_devices import on_each


@cb.cube
def behind_tests(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    counts = cb.local_array(i32, 8, 3)
    n = 0
    while n < len(x) and x[n] != i32(i) and not (n > 3 and counts[n - 4] == 5):
        n += 1
        counts[n % 8] += 1
    out[i] = n + counts[0]


@cb.cube
def any_subscript(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    table = cb.local_array(i32, (3, 5), 7)
    for k in range(x[i] % 9):
        table[x[i + k] % 3, k - 2] += k
        out[i] += table[x[i] - 11, x[i + k] - k]


def known_inside(place: Callable[[Any], Any]) -> Any:
    """A kernel that adds to `place(n)` of six elements until a unit is done."""

    @cb.cube
    def added_at(x: Array[i32], out: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        table = cb.local_array(i32, 6, 2)
        n = 0
        while True:
            if n > 3:
                if n < 10:
                    out[i] += table[n - 4]
                elif n > x[i]:
                    break
            table[place(n)] += n
            n += 1

    return added_at


@cb.cube
def root(n: i32) -> i32:
    place = i32(cb.sqrt(f32(n)))
    return place - 1


@cb.cube
def slow_by_way_of_others(x: Array[i32], out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    table = cb.local_array(i32, 6, 2)
    for n in range(30):
        place = root(i32(n))
        if n > x[i]:
            if x[i] % 3 == 0:
                place += i32(n % 2)
            for k in range(place, place + 2):
                table[k] += i32(n) - x[i]
    out[i] = table[3] + table[5]


REST = known_inside(lambda n: n % 6)
CASES = [
    (behind_tests, "checked"),
    (any_subscript, "checked"),
    (REST, "checked"),
    (REST, "unchecked"),
    (known_inside(lambda n: i32(cb.sqrt(f32(n)))), "checked"),
    (slow_by_way_of_others, "checked"),
]


@pytest.mark.parametrize("target", on_each())
@pytest.mark.parametrize(("kernel", "check"), CASES)
def test_reads_of_private_arrays_are_those_of_the_reference(
    kernel: Any, target: str, check: str
) -> None:
    x = np.random.default_rng(7).integers(0, 30, 300, dtype=np.int32)
    found, right = np.zeros_like(x), np.zeros_like(x)
    kernel.over(300, device=target, check=check)(x, found)
    kernel.over(300, device="reference")(x, right)
    np.testing.assert_array_equal(found, right)
