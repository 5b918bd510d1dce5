"""Arrays whose neighbours lie along y: lanes run that way, and the answers stay the same."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Comptime, Tensor, f32, i32, u8
from cubepy.errors import AssertionFailed, OutOfBoundsError
from tests.targets import on_targets

TARGETS = on_targets("cpu", "cpu:x86-64-v2+gang=4", "cpu:x86-64-v3+gang=8", "cpu+gang=64")
SHAPES = [(1, 1), (7, 3), (1, 70), (70, 1), (33, 65), (0, 5), (5, 0), (3, 130)]


@cb.cube
def blur(image: Tensor[u8], out: Tensor[f32]) -> None:
    """The sum of nine neighbours, of which some are outside, and where the unit stands."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0.0
    for dy in range(-1, 2):
        for dx in range(-1, 2):
            total += image[y + dy, x + dx]
    out[y, x] = total + f32(x) - 3.0 * f32(y)


@cb.cube
def numbered(out: Tensor[i32], skip: Comptime[int] = 0) -> None:
    """Where a unit is; some stop early."""
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if skip and (x + y) % skip == 0:
        return
    out[y, x] = i32(x + 1000 * y)


@cb.cube
def asserted(out: Tensor[i32]) -> None:
    x, y = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    out[y, x] = 1
    assert x != 2 or y != 5, "here"


def decisions(launch: Any, *arguments: Any) -> str:
    return " ".join(map(str, launch.inspect(*arguments).decisions))


def test_direction_follows_memory() -> None:
    image, out = np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.float32)
    assert "along y" in decisions(blur.over((8, 8)), image.T, out.T)
    assert "along x" in decisions(blur.over((8, 8)), image, out)
    assert "along x" in decisions(blur.over((8, 8)), image, out.T)  # the image is read nine times
    assert "along y" in decisions(blur.over((8, 8)), image.T, out)


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_transposed_arrays(shape: tuple[int, int], device: str) -> None:
    image = np.random.default_rng(sum(shape)).integers(0, 256, shape, np.uint8)
    found, wanted = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    blur.over(image.T.shape, device=device)(image.T, found.T)
    blur.over(image.T.shape, device="reference")(image.T, wanted.T)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("skip", [0, 3])
def test_places_in_cubes_that_reach_over_the_array(skip: int, device: str) -> None:
    out, wanted = np.zeros((45, 21), np.int32), np.zeros((45, 21), np.int32)
    numbered.launch(out.T, cube_count=(4, 6, 2), cube_dim=(16, 8), device=device, skip=skip)
    x, y = np.meshgrid(np.arange(45), np.arange(21), indexing="ij")
    wanted = np.where((x + y) % skip != 0, x + 1000 * y, 0) if skip else x + 1000 * y
    np.testing.assert_array_equal(out, wanted)


def test_reports_name_the_unit() -> None:
    out = np.zeros((20, 30), np.int32)
    with pytest.raises(AssertionFailed, match="here"):
        asserted.over(out.T.shape)(out.T)
    with pytest.raises(OutOfBoundsError, match="outside of its length"):
        numbered.over((40, 20), check="validate")(out.T)
