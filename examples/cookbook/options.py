"""Black–Scholes

The price of an option in closed form. A plain Python function called from a kernel is compiled into
it; here the distribution function, used twice.

Watch for: `cb.erfc` of the negative argument keeps its accuracy far out, where `1 + erf` would
cancel.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
import scipy.special
from numpy.typing import NDArray

import cubepy as cb
from cubepy import Array, f32


def below(v):
    """The normal distribution function."""
    return 0.5 * cb.erfc(-0.7071067811865476 * v)


@cb.cube
def call_price(
    spot: Array[f32], strike: Array[f32], years: Array[f32], rate: f32, spread: f32, out: Array[f32]
) -> None:
    """What a European call is worth."""
    i = cb.ABSOLUTE_POS
    deviation = spread * cb.sqrt(years[i])
    drift = (rate + 0.5 * spread * spread) * years[i]
    d = (cb.log(spot[i] / strike[i]) + drift) / deviation
    later = strike[i] * cb.exp(-rate * years[i])
    out[i] = spot[i] * below(d) - later * below(d - deviation)


KERNELS = (below, call_price)


def run(
    spot: NDArray[np.float32], strike: NDArray[np.float32], years: NDArray[np.float32]
) -> NDArray[np.float32]:
    out = np.empty_like(spot)
    call_price.over(spot.size)(spot, strike, years, 0.03, 0.2, out)
    return out


def expected(
    spot: NDArray[np.float32], strike: NDArray[np.float32], years: NDArray[np.float32]
) -> NDArray[np.float32]:
    deviation = 0.2 * np.sqrt(years)
    d = (np.log(spot / strike) + (0.03 + 0.5 * 0.2**2) * years) / deviation
    later = strike * np.exp(-0.03 * years)
    result: NDArray[np.float32] = spot * scipy.special.ndtr(d) - later * scipy.special.ndtr(
        d - deviation
    )
    return result


SIZE, SMALL, TOLERANCE = 300_000, 100, 1e-4


def inputs(rng: np.random.Generator, size: int) -> tuple[object, ...]:
    spot, strike = (rng.uniform(20, 100, size).astype(np.float32) for _ in range(2))
    return spot, strike, rng.uniform(0.1, 3, size).astype(np.float32)
