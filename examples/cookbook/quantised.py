"""Product with quantised weights

A matrix of 8-bit floats (`cb.e4m3`) with a scale for each row, times a vector in bf16. An element
is an f32 when it is read, and sums are kept in f32; only `out` is rounded.

Watch for: on the host these are the types of `ml_dtypes`. A float literal starts a sum as f32: it
would be bf16 only if it were made so.
"""

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, Tensor, bf16, f32


@cb.cube
def weighted(
    weights: Tensor[cb.e4m3], scales: Array[f32], x: Array[bf16], out: Array[bf16]
) -> None:
    """One plane for each row."""
    row, lane = cb.CUBE_POS, cb.UNIT_POS_PLANE
    total = 0.0
    for j in range(lane, len(x), cb.PLANE_DIM):
        total += weights[row, j] * f32(x[j])
    total = cb.plane_sum(total)
    if lane == 0:
        out[row] = bf16(total * scales[row])


KERNELS = (weighted,)


def run(
    weights: NDArray[ml_dtypes.float8_e4m3fn],
    scales: NDArray[np.float32],
    x: NDArray[ml_dtypes.bfloat16],
) -> NDArray[ml_dtypes.bfloat16]:
    out = np.empty(weights.shape[0], ml_dtypes.bfloat16)
    weighted[out.size, cb.PLANE](weights, scales, x, out)
    return out


def expected(
    weights: NDArray[ml_dtypes.float8_e4m3fn],
    scales: NDArray[np.float32],
    x: NDArray[ml_dtypes.bfloat16],
) -> NDArray[np.float32]:
    return scales * (weights.astype(np.float32) @ x.astype(np.float32))


# bf16 has eight bits
SIZE, SMALL, TOLERANCE = 1000, 20, 2.0**-8


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    weights = rng.uniform(0.5, 2, size=(size, size)).astype(ml_dtypes.float8_e4m3fn)
    scales = rng.uniform(0.1, 1, size).astype(np.float32)
    return weights, scales, rng.uniform(0.5, 2, size).astype(ml_dtypes.bfloat16)
