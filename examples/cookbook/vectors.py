"""Vectors of four

Points as `Vector[f32, 4]`, the fourth number 0: operators go element by element, `cb.dot` and
`cb.normalize` make one value of them. `x.vectorized(4)` reads four neighbours at once. This one
shades a surface from its normals and a light.

Watch for: vectors have 1, 2, 4 … 64 elements. Three numbers are read one by one, or kept with a
fourth.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, Vector, f32


@cb.cube
def shade(normals: Array[f32], light: Vector[f32, 4], out: Array[f32]) -> None:
    """How bright each point is, from 0 to 1; the light shines along `light`."""
    i = cb.ABSOLUTE_POS
    normal = cb.normalize(normals.vectorized(4)[i])
    out[i] = max(-cb.dot(normal, light), 0.0)


KERNELS = (shade,)


def run(normals: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty(normals.shape[0], np.float32)
    shade.over(out.size)(normals.reshape(-1), (0.0, -0.6, -0.8, 0.0), out)
    return out


def expected(normals: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    light = np.array([0.0, -0.6, -0.8, 0.0], np.float32)
    result: NDArray[np.float32] = np.maximum(-(normals / lengths) @ light, 0)
    return result


SIZE, SMALL, TOLERANCE = 200_000, 50, 1e-5


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    normals = rng.normal(size=(size, 4)).astype(np.float32)
    normals[:, 3] = 0
    return (normals,)
