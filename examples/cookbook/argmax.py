"""Place of the largest element of each row

A reduction of pairs: a unit remembers the value and where it stood, and `cb.plane_shuffle_xor`
exchanges both. Of equal values the first place wins, as in NumPy.

Watch for: comparing values alone would let ties depend on the order of the exchange, hence the
second condition.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, Tensor, f32, i32


@cb.cube
def argmax_rows(x: Tensor[f32], out: Array[i32]) -> None:
    """One plane for each row."""
    row, lane = cb.CUBE_POS, cb.UNIT_POS_PLANE
    best, place = -np.inf, i32(lane)
    for j in range(lane, x.shape[1], cb.PLANE_DIM):
        if x[row, j] > best:
            best, place = x[row, j], i32(j)
    distance = 1
    while distance < cb.PLANE_DIM:
        other, there = cb.plane_shuffle_xor(best, distance), cb.plane_shuffle_xor(place, distance)
        if other > best or (other == best and there < place):
            best, place = other, there
        distance *= 2
    if lane == 0:
        out[row] = place


KERNELS = (argmax_rows,)


def run(x: NDArray[np.float32]) -> NDArray[np.int32]:
    out = np.empty(x.shape[0], np.int32)
    argmax_rows[x.shape[0], cb.PLANE](x, out)
    return out


def expected(x: NDArray[np.float32]) -> NDArray[np.int32]:
    places: NDArray[np.int32] = x.argmax(axis=1).astype(np.int32)
    return places


SIZE, SMALL, TOLERANCE = 1000, 21, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    # Few values, so that most rows have ties.
    return (rng.integers(0, 50, size=(size, size)).astype(np.float32),)
