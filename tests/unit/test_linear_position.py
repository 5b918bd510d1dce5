"""ABSOLUTE_POS in launches over a shape: the place in the shape, row by row."""

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i32

DEVICES = ["reference", "cpu"]


@cb.cube
def numbered(out: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] += i32(i) + 1


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "shape", [(7,), (3, 5), (100, 100), (1, 33), (3, 4, 5), (2, 1, 70), (0, 4)]
)
def test_linear_position_counts_the_shape_launched_over(
    shape: tuple[int, ...], device: str
) -> None:
    out = np.zeros(shape, np.int32)
    numbered.over(shape, device=device)(out.ravel())
    np.testing.assert_array_equal(out.ravel(), np.arange(out.size) + 1)
