"""Random numbers

A number for each place is the hash of the place and a seed: no state, nothing shared, the same on
every device and with any number of threads.

Watch for: hashing wants wrap-around in 32 bits, so the position is cast, `u32(i)`. The upper 24
bits make a float in [0, 1) that is exact.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, f32, u32


def mixed(bits):
    """Every bit of the result depends on every bit given."""
    bits = (bits ^ (bits >> 16)) * 0x7FEB352D
    bits = (bits ^ (bits >> 15)) * 0x846CA68B
    return bits ^ (bits >> 16)


@cb.cube
def uniform(seed: u32, out: Array[f32]) -> None:
    """Evenly spread over [0, 1)."""
    i = cb.ABSOLUTE_POS
    bits = mixed(mixed(u32(i)) ^ seed)
    out[i] = f32(bits >> 8) * 2.0**-24


KERNELS = (mixed, uniform)


def run(seed: int, size: int) -> NDArray[np.float32]:
    out = np.empty(size, np.float32)
    uniform.over(size)(seed, out)
    return out


def expected(seed: int, size: int) -> NDArray[np.float32]:
    bits = mixed(mixed(np.arange(size, dtype=np.uint32)) ^ np.uint32(seed))
    result: NDArray[np.float32] = (bits >> 8).astype(np.float32) * np.float32(2.0**-24)
    return result


SIZE, SMALL, TOLERANCE = 1_000_000, 100, 0.0


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    return 12345, size
