"""Weighted minimax polynomials with coefficients that fit a float format.

`fit` runs the exchange algorithm of Remez on a fine Chebyshev grid in mpmath arithmetic. Rounding
all coefficients of one fit at the end would lose several bits, so `fit_rounded` rounds the lowest
coefficient, takes it out of the function and fits the rest again, up to the last: the greedy form
of the idea in Brisebarre and Chevillard, "Efficient polynomial L-infinity approximations", ARITH
2007.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from mpmath import mp, mpf

mp.dps = 80

Function = Callable[[mpf], mpf]


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """A function and a weight, sampled once: points, values and weights of equal length."""

    points: tuple[mpf, ...]
    values: tuple[mpf, ...]
    weights: tuple[mpf, ...]


def sample(function: Function, weight: Function, low: float, high: float, count: int) -> Samples:
    """Sample at Chebyshev points, dense at both ends; the points avoid 0 by construction."""
    middle, half = (mpf(high) + low) / 2, (mpf(high) - low) / 2
    angles = [mp.pi * (place + mpf("0.37")) / count for place in range(count)]
    points = tuple(middle - half * mp.cos(angle) for angle in angles)
    return Samples(
        points=points,
        values=tuple(map(function, points)),
        weights=tuple(abs(weight(point)) for point in points),
    )


def evaluate(coefficients: Sequence[mpf], point: mpf) -> mpf:
    """The polynomial, lowest coefficient first."""
    total = mpf(0)
    for coefficient in reversed(coefficients):
        total = total * point + coefficient
    return total


def fit(samples: Samples, terms: int) -> tuple[list[mpf], mpf]:
    """Coefficients, lowest first, and the largest weighted error. Weights must be positive."""
    count = len(samples.points)
    places = [
        round((1 - float(mp.cos(mp.pi * k / terms))) / 2 * (count - 1)) for k in range(terms + 1)
    ]
    places = sorted(set(places)) if len(set(places)) == terms + 1 else list(range(terms + 1))
    coefficients, worst = [], mpf("inf")
    for _ in range(40):
        coefficients = _solve(samples, places, terms)
        errors = [
            weight * (value - evaluate(coefficients, point))
            for point, value, weight in zip(
                samples.points, samples.values, samples.weights, strict=True
            )
        ]
        worst = max(map(abs, errors))
        levelled = min(abs(errors[place]) for place in places)
        if worst <= levelled * mpf("1.001"):
            break
        places = _exchange(errors, terms + 1)
    return coefficients, worst


def _solve(samples: Samples, places: Sequence[int], terms: int) -> list[mpf]:
    rows, right = mp.matrix(terms + 1, terms + 1), mp.matrix(terms + 1, 1)
    for row, place in enumerate(places):
        point = samples.points[place]
        for column in range(terms):
            rows[row, column] = point**column * samples.weights[place]
        rows[row, terms] = (-1) ** row
        right[row] = samples.values[place] * samples.weights[place]
    solution = mp.lu_solve(rows, right)
    return [solution[column] for column in range(terms)]


def _exchange(errors: Sequence[mpf], wanted: int) -> list[int]:
    """One place of largest error in each run of one sign, thinned to `wanted` places."""
    runs: list[int] = []
    for place, error in enumerate(errors):
        if runs and (error > 0) == (errors[runs[-1]] > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = place
        else:
            runs.append(place)
    while len(runs) > wanted:
        if len(runs) == wanted + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
            continue
        at = min(range(len(runs)), key=lambda k: abs(errors[runs[k]]))
        del runs[at]
        if 0 < at < len(runs):  # both neighbours have one sign now: keep the larger
            del runs[at if abs(errors[runs[at]]) < abs(errors[runs[at - 1]]) else at - 1]
    if len(runs) < wanted:
        raise ArithmeticError(f"the error alternates {len(runs)} times, {wanted} are needed")
    return runs


def rounded(value: mpf, bits: int) -> mpf:
    """To `bits` significant bits, nearest."""
    with mp.workprec(bits):
        return +value


def fit_rounded(samples: Samples, terms: int, bits: int) -> tuple[list[float], float]:
    """Coefficients that are floats of `bits` significant bits, lowest first; the largest weighted
    error.
    """
    fixed: list[mpf] = []
    rest = samples
    for done in range(terms):
        coefficients, _ = fit(rest, terms - done)
        kept = rounded(coefficients[0], bits)
        fixed.append(kept)
        rest = Samples(
            points=rest.points,
            values=tuple((v - kept) / x for v, x in zip(rest.values, rest.points, strict=True)),
            weights=tuple(w * abs(x) for w, x in zip(rest.weights, rest.points, strict=True)),
        )
    worst = max(abs(w * v) for w, v in zip(rest.weights, rest.values, strict=True))
    return [float(coefficient) for coefficient in fixed], float(worst)


def as_float32(values: Sequence[float]) -> list[str]:
    """Shortest decimal texts that read back as these f32 values."""
    return [repr(float(str(np.float32(value)))) for value in values]
