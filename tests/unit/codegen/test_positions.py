"""Positions on the CPU for odd cubes, counts and gang widths, against plain arithmetic."""

import itertools

import numpy as np
import pytest

import cubepy as cb
from cubepy import Tensor, i64
from tests.targets import on_targets


@cb.cube
def positions(out: Tensor[i64]) -> None:
    """Every position of a unit, at a place the arithmetic below knows too."""
    unit = cb.CUBE_POS * cb.CUBE_DIM + cb.UNIT_POS
    out[unit, 0] = cb.ABSOLUTE_POS
    out[unit, 1] = cb.ABSOLUTE_POS_X
    out[unit, 2] = cb.ABSOLUTE_POS_Y
    out[unit, 3] = cb.ABSOLUTE_POS_Z
    out[unit, 4] = cb.UNIT_POS_X
    out[unit, 5] = cb.UNIT_POS_Y
    out[unit, 6] = cb.UNIT_POS_Z
    out[unit, 7] = cb.CUBE_POS_X
    out[unit, 8] = cb.CUBE_POS_Y
    out[unit, 9] = cb.CUBE_POS_Z
    out[unit, 10] = cb.CUBE_COUNT_X
    out[unit, 11] = cb.CUBE_COUNT


@cb.cube
def cooperative(out: Tensor[i64]) -> None:
    """The same in a kernel whose gangs stay within a cube."""
    shared = cb.shared(i64, 1)
    cb.sync_cube()
    unit = cb.CUBE_POS * cb.CUBE_DIM + cb.UNIT_POS
    out[unit, 0] = cb.ABSOLUTE_POS
    out[unit, 1] = cb.ABSOLUTE_POS_X
    out[unit, 2] = cb.ABSOLUTE_POS_Y
    out[unit, 3] = cb.ABSOLUTE_POS_Z
    out[unit, 4] = cb.UNIT_POS_X
    out[unit, 5] = cb.UNIT_POS_Y
    out[unit, 6] = cb.UNIT_POS_Z
    out[unit, 7] = cb.CUBE_POS_X
    out[unit, 8] = cb.CUBE_POS_Y
    out[unit, 9] = cb.CUBE_POS_Z
    out[unit, 10] = cb.CUBE_COUNT_X
    out[unit, 11] = cb.CUBE_COUNT
    if cb.UNIT_POS == 0:
        shared[0] = 1


Triple = tuple[int, int, int]


def expected(count: Triple, dim: Triple) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    rows = []
    for cz, cy, cx in itertools.product(*map(range, reversed(count))):
        for uz, uy, ux in itertools.product(*map(range, reversed(dim))):
            x, y, z = cx * dim[0] + ux, cy * dim[1] + uy, cz * dim[2] + uz
            row = count[0] * dim[0]
            absolute = x + y * row + z * row * count[1] * dim[1]
            total = count[0] * count[1] * count[2]
            rows.append([absolute, x, y, z, ux, uy, uz, cx, cy, cz, count[0], total])
    return np.array(rows, np.int64)


@pytest.mark.parametrize(
    "device", on_targets("cpu:x86-64-v2+gang=4", "cpu:x86-64-v3+gang=16", "cpu:x86-64-v4")
)
@pytest.mark.parametrize(
    "dim",
    [
        (1, 1, 1),
        (3, 1, 1),
        (64, 1, 1),
        (1, 5, 1),
        (1, 1, 7),
        (8, 8, 1),
        (5, 7, 1),
        (16, 4, 2),
        (3, 2, 3),
    ],
)
@pytest.mark.parametrize("kernel", [positions, cooperative], ids=["rows", "cubes"])
def test_positions(kernel: "cb.Cube[..., None]", dim: Triple, device: str) -> None:
    for count in ((1, 1, 1), (5, 1, 1), (2, 3, 2)):
        wanted = expected(count, dim)
        out = np.full((len(wanted), 12), -1, np.int64)
        kernel.launch(out, cube_count=count, cube_dim=dim, device=device)
        assert np.array_equal(out, wanted)
