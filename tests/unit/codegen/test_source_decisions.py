"""What is told of choices in OpenCL C and WGSL: bounds, widths, exactness, ways around."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, i32, i64
from cubepy.inspection import Inspection

x = np.zeros(100, np.float32)
numbers = np.zeros(100, np.int32)
BOTH = ("opencl", "wgsl")


def told(inspection: Inspection, topic: str) -> list[str]:
    return [str(each) for each in inspection.own_decisions if each.topic.value == topic]


@cb.cube
def moved(x: Array[f32], at: Array[i32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[at[i]]


@pytest.mark.parametrize("target", BOTH)
def test_which_accesses_are_tested(target: str) -> None:
    checked = told(moved.over(100).inspect(x, numbers, x.copy(), target=target), "bounds")
    assert "x: tested at each access" in checked
    assert any(each.startswith("out: not tested") for each in checked)
    launch = moved.over(100, check="unchecked")
    for each in told(launch.inspect(x, numbers, x.copy(), target=target), "bounds"):
        assert "not tested" in each


def test_cubes_inside_have_one_test() -> None:
    inspection = moved.over(100).inspect(x, numbers, x.copy(), target="opencl")
    assert any(each.startswith("at: one test for a cube") for each in told(inspection, "bounds"))


@pytest.mark.parametrize("target", BOTH)
def test_atomics_without_a_function_say_so(target: str) -> None:
    @cb.cube
    def adds(total: Array[f32], count: Array[i32]) -> None:
        cb.atomic_add(total, 0, 1.0)
        cb.atomic_add(count, 0, 1)

    memory = told(adds.over(100).inspect(x, numbers, target=target), "memory")
    assert len(memory) == 1
    assert memory[0].startswith("total: a loop of compare and exchange")


@pytest.mark.parametrize("target", BOTH)
def test_planes_say_which_way_they_go(target: str) -> None:
    @cb.cube(plane_dim=4)
    def sums(x: Array[f32]) -> None:
        x[cb.ABSOLUTE_POS] = cb.plane_sum(x[cb.ABSOLUTE_POS])

    gang = told(sums.launcher(2, 64).inspect(x, target=target), "gang")
    assert any("planes of 4 units: through memory of the cube" in each for each in gang)


def test_wide_integers_are_told_from_those_in_a_word() -> None:
    @cb.cube
    def products(a: Array[i64], out: Array[i64]) -> None:
        i = cb.ABSOLUTE_POS
        row = i * 2 + 1
        if row < len(out):
            product = a[i] * a[i]
            out[row] = product

    wide: Any = np.zeros(100, np.int64)
    value = told(products.over(40).inspect(wide, wide.copy(), target="wgsl"), "value")
    assert any(each.startswith("product: 64 bits as a pair of words") for each in value)
    assert any("in one word" in each for each in value)


def test_floats_that_are_not_left_to_the_driver_say_so() -> None:
    @cb.cube
    def mixed(x: Array[f32], out: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        out[i] = (x[i] * 3.0 + 1.0) / 7.0

    value = told(mixed.over(100).inspect(x, x.copy(), target="wgsl"), "value")
    assert any("pinned" in each for each in value)
    assert any("`/` in our own code" in each for each in value)
