"""Values with parts: a struct as an argument with a method, an array read in vectors of four.

A body is four numbers in a row, its place and its mass, so that one is read at once.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any

import numpy as np

import cubepy as cb
from cubepy import Array, f32

Floats = np.ndarray[Any, np.dtype[np.float32]]


@cb.struct
class World:
    """What holds for all bodies."""

    gravity: f32
    softening: f32
    time: f32

    def pull(self, offset, mass):
        """The acceleration towards a body of a mass at an offset."""
        squared = cb.dot(offset, offset) + self.softening * self.softening
        return offset * (self.gravity * mass / (squared * cb.sqrt(squared)))


@cb.cube
def nbody(world: World, bodies: Array[f32], velocities: Array[f32], moved: Array[f32]) -> None:
    """One step of time for bodies of x, y, z, mass; velocities have a fourth number too, 0."""
    i = cb.ABSOLUTE_POS
    body, velocity = bodies.vectorized(4), velocities.vectorized(4)
    here = body[i]
    total = 0.0 * here
    for k in range(len(body)):
        offset = cb.insert(body[k] - here, 3, 0.0)
        total = total + world.pull(offset, body[k][3])
    faster = velocity[i] + total * world.time
    velocity[i] = faster
    moved.vectorized(4)[i] = here + faster * world.time


def nbody_numpy(world: Any, bodies: Floats, velocities: Floats) -> tuple[Floats, Floats]:
    """The same sums in the same order; gives velocities and places."""
    gravity, softening, time = (np.float32(each) for each in
                                (world.gravity, world.softening, world.time))  # fmt: skip
    places, total = bodies.reshape(-1, 4), np.zeros((len(bodies) // 4, 4), np.float32)
    for body in places:
        offset = body - places
        offset[:, 3] = 0
        parts = offset * offset
        squared = parts[:, 0] + parts[:, 1] + parts[:, 2] + parts[:, 3] + softening * softening
        strength = gravity * body[3] / (squared * np.sqrt(squared))
        total += offset * strength[:, None]
    faster = (velocities.reshape(-1, 4) + total * time).astype(np.float32)
    moved = (places + faster * time).astype(np.float32)
    return faster.reshape(-1), moved.reshape(-1)
