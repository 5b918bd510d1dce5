"""Random kernels give the same bits on OpenCL devices and on the reference.

Drivers take long to build a kernel, so few run here; `HYPOTHESIS_PROFILE=thorough` runs many.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import cubepy as cb
from cubepy import Array, i32
from cubepy.errors import UnsupportedError
from cubepy.runtime import device
from cubepy.testing import Compiled, compare_on, generate_kernel, reference_for, run_on
from tests.opencl_devices import on_each

FACTOR = settings.default.max_examples // 100 if settings.default else 1
KERNELS = 8 * max(1, FACTOR)
SIZE = 9


@pytest.mark.parametrize("target", on_each())
def test_random_kernels_agree_with_the_reference(target: str) -> None:
    machine, reference = device(target), device(reference_for(target))
    wrong, ran = [], 0
    for number in range(3 * KERNELS):
        compiled = Compiled(generate_kernel(number * 7919 + 13, size=SIZE))
        try:
            run_on(compiled, machine)
        except UnsupportedError:  # a fence beyond the cube, say: refused by its name
            continue
        found = compare_on(compiled, run_on(compiled, reference), machine)
        wrong += [f"{number}: {each}" for each in found]
        ran += 1
        if ran == KERNELS:
            break
    assert not wrong, "\n".join(wrong[:5])
    assert ran == KERNELS


@cb.cube
def first_above(x: Array[i32], limit: i32, base: i32) -> Any:
    """Leaves from inside a loop; the barrier makes the compiler write it in place."""
    cb.sync_cube()
    for k in range(8):
        if k == 6:
            break
        if k % 2 == 1:
            continue
        if x[base + k] > limit:
            return i32(k)
    return i32(-1)


@cb.cube
def searched(x: Array[i32], out: Array[i32]) -> None:
    i = i32(cb.ABSOLUTE_POS)
    found = first_above(x, 5, 0)
    total = i32(0)
    for k in range(4):
        if k == 3:
            break
        total += first_above(x, i32(k * 3), i32(k)) + i32(found)
    out[cb.ABSOLUTE_POS] = total + i


@pytest.mark.parametrize("target", on_each())
def test_exits_of_helpers_written_in_place_find_their_way(target: str) -> None:
    results = []
    for name in ("reference", target):
        x, out = (np.arange(64, dtype=np.int32) * 7) % 13, np.zeros(64, np.int32)
        searched.launch(x.astype(np.int32), out, cube_count=2, cube_dim=32, device=name)
        results.append(out)
    np.testing.assert_array_equal(results[1], results[0])


@cb.cube
def walks(x: Array[i32], start: i32, stop: i32, step: i32, out: Array[i32]) -> None:
    """The step is known at launch; a subscript is a condition; a local array tells its length."""
    own = cb.local_array(i32, 3, fill=7)
    total = i32(0)
    for k in range(start, stop, step):
        total = total * 3 + x[k]
    out[cb.ABSOLUTE_POS] = total + x[i32(start < stop)] + own[len(own) - 1] + x[len(own)]


@pytest.mark.parametrize("target", on_each())
@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [(0, 8, 1), (0, 9, 3), (7, -1, -1), (7, -3, -2), (-3, 12, 4), (5, 5, 1), (5, 2, 1), (2, 5, -1)],
)
def test_tests_of_whole_cubes_know_steps_conditions_and_local_arrays(
    start: int, stop: int, step: int, target: str
) -> None:
    results = []
    for name in ("reference", target):
        for size in (8, 3):
            x, out = np.arange(1, size + 1, dtype=np.int32), np.zeros(40, np.int32)
            walks.over(40, device=name)(x, start, stop, step, out)
            results.append(out.tolist())
    assert results[:2] == results[2:]
