"""Bodies that attract each other

A struct as an argument, with a method; arrays read in vectors of four. On the host the struct is a
frozen dataclass, in the kernel each field is a value of its own.

Watch for: `x.vectorized(4)[i]` is elements `4*i` to `4*i + 3`, inside or outside as a whole. A
vector is a value: `cb.insert(v, i, x)` is another one.
"""

import numpy as np
from numpy.typing import NDArray

from examples.kernels import World, nbody, nbody_numpy

KERNELS = (World, nbody)


def run(
    world: World, bodies: NDArray[np.float32], velocities: NDArray[np.float32]
) -> NDArray[np.float32]:
    faster, moved = velocities.copy(), np.empty_like(bodies)
    nbody.over(bodies.size // 4)(world, bodies, faster, moved)
    return moved


def expected(
    world: World, bodies: NDArray[np.float32], velocities: NDArray[np.float32]
) -> NDArray[np.float32]:
    return nbody_numpy(world, bodies, velocities)[1]


SIZE, SMALL, TOLERANCE = 600, 9, 1e-4


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    bodies = rng.random((size, 4)).astype(np.float32)
    velocities = np.zeros((size, 4), np.float32)
    return World(1.0, 0.05, 0.01), bodies.reshape(-1), velocities.reshape(-1)
