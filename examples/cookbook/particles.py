"""Particles, an array for each quantity

A struct of arrays as one argument: the kernel reads like one on objects, memory is as vectors like
it. Particles are thrown back at the walls of a box.

Watch for: fields that are arrays are written in place; the struct itself never changes.
"""

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, f32


@cb.struct
class Particles:
    """Places and velocities; place and velocity of particle i stand at i."""

    x: Array[f32]
    y: Array[f32]
    vx: Array[f32]
    vy: Array[f32]


@cb.cube
def advance(particles: Particles, time: f32) -> None:
    """A step of time in the box from 0 to 1."""
    i = cb.ABSOLUTE_POS
    particles.vy[i] -= 9.81 * time
    particles.x[i] += particles.vx[i] * time
    particles.y[i] += particles.vy[i] * time
    if not 0.0 <= particles.x[i] <= 1.0:
        particles.vx[i] *= -1.0
    if not 0.0 <= particles.y[i] <= 1.0:
        particles.vy[i] *= -1.0


KERNELS = (Particles, advance)


def run(start: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    moved = start.copy()
    for _ in range(steps):
        advance.over(moved.shape[1])(Particles(*moved), 0.01)
    return moved


def expected(start: NDArray[np.float32], steps: int) -> NDArray[np.float32]:
    x, y, vx, vy = moved = start.copy()
    time = np.float32(0.01)
    for _ in range(steps):
        vy -= np.float32(9.81) * time
        x += vx * time
        y += vy * time
        vx *= np.where((x < 0) | (x > 1), np.float32(-1), np.float32(1))
        vy *= np.where((y < 0) | (y > 1), np.float32(-1), np.float32(1))
    return moved


SIZE, SMALL, TOLERANCE = 200_000, 40, 1e-5


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return rng.random((4, size)).astype(np.float32), 10
