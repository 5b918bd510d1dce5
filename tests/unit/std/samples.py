"""Where the library's functions are measured: every exponent, and where they are hard."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any

#: Where the results are neither 0, 1 nor infinite.
RANGES = {
    "exp": (-746.0, 710.0),
    "exp2": (-1076.0, 1025.0),
    "expm1": (-40.0, 710.0),
    "sinh": (-711.0, 711.0),
    "cosh": (-711.0, 711.0),
    "tanh": (-21.0, 21.0),
    "sigmoid": (-746.0, 40.0),
    "erf": (-6.2, 6.2),
    "erfc": (-6.2, 27.5),
}
LOGARITHMS = ("log", "log2", "log10")
POSITIVE = (*LOGARITHMS, "acosh", "rsqrt")
#: Where the functions that are defined between -1 and 1 change: results small, slopes steep.
INSIDE_ONE = ("acos", "asin", "atanh")
CIRCULAR = ("sin", "cos", "tan")
#: Doubles nearest to multiples of π/2 relative to their size, after Muller, "Elementary Functions".
HARD_ANGLES = (
    6381956970095103 * 2.0**797,
    5.319372648326541e255,
    2.0**1023,
    1.7976931348623157e308,
)


def every_exponent_f32(mantissas: int, seed: int = 0) -> Array:
    """All signs and exponents, each with the extreme mantissas and random ones."""
    generator = np.random.default_rng(seed)
    exponents = np.arange(512, dtype=np.uint32) << np.uint32(23)
    parts = generator.integers(0, 1 << 23, (512, mantissas), dtype=np.uint32)
    parts[:, :3] = 0, 1, (1 << 23) - 1
    return (exponents[:, None] | parts).ravel().view(np.float32)


def spread_f64(name: str, count: int, seed: int = 0) -> Array:
    """Arguments of one function, `count` of each kind."""
    generator = np.random.default_rng(seed)
    narrow = RANGES.get(name)
    exponents = generator.integers(-60 if narrow else -1074, 12 if narrow else 1024, count)
    magnitudes = np.ldexp(1 + generator.random(count), exponents.astype(np.int32))
    signs = generator.choice([-1.0, 1.0], count)
    kinds = [magnitudes * signs, generator.uniform(-1.6, 1.6, count)]
    if narrow:
        kinds.append(generator.uniform(*narrow, count))
    if name in CIRCULAR:
        kinds.append(generator.integers(-(10**6), 10**6, count) * (np.pi / 2))
        kinds.append(np.array([*HARD_ANGLES, *(-angle for angle in HARD_ANGLES)]))
    if name in POSITIVE:
        kinds = [np.abs(kind) for kind in kinds]
        kinds.append(generator.uniform(0.3, 3.0, count))
    if name == "acosh":
        kinds = [1 + kind for kind in kinds]
    if name in INSIDE_ONE:
        kinds = [kind[np.abs(kind) <= 1.0] for kind in kinds]
        kinds.append(signs * (1 - np.exp2(generator.uniform(-53.0, 0.0, count))))
    if name == "log1p":
        kinds.append(generator.uniform(-1.0, 2.0, count))
    x = np.concatenate(kinds)
    return x[x > -1.0] if name == "log1p" else x


def points(dtype: Any, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Two coordinates of one size, far apart in size, at the ends of the range and near its axes
    and diagonals.
    """
    generator = np.random.default_rng(seed)
    info = np.finfo(dtype)
    low, high = info.minexp - info.nmant, info.maxexp - 1
    sizes = np.exp2(generator.uniform(low, high, 2 * count))
    angles = np.concatenate(
        [
            generator.uniform(-np.pi, np.pi, 2 * count),
            generator.choice(np.arange(-8, 9) * (np.pi / 8), count)
            + generator.normal(0, 1e-3, count),
        ]
    )
    lengths = np.concatenate([np.exp2(generator.uniform(-2, 2, count)), sizes])
    signs = generator.choice([-1.0, 1.0], (2, 2 * count))
    apart = np.exp2(generator.uniform(low, high, (2, count)))
    near = np.exp2(generator.uniform(low / 2, high / 2, count))
    close = near * np.exp2(generator.uniform(-30, 30, count))
    first = np.concatenate([np.sin(angles) * lengths, signs[0] * np.append(apart[0], near)])
    second = np.concatenate([np.cos(angles) * lengths, signs[1] * np.append(apart[1], close)])
    y, x = first.astype(dtype), second.astype(dtype)
    inside = (y != 0) & (x != 0) & np.isfinite(y) & np.isfinite(x)
    return y[inside], x[inside]


def pairs(name: str, dtype: Any, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Operands of a function of two."""
    return (powers if name == "pow" else points)(dtype, count, seed)


def powers(dtype: Any, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Bases and exponents with results over the whole range, bases around 1 and far from it."""
    generator = np.random.default_rng(seed)
    largest = float(np.finfo(dtype).maxexp - 1)
    bases = np.concatenate(
        [
            generator.lognormal(0, 1, count),
            np.exp2(generator.uniform(-largest, largest, count)),
            1 + generator.normal(0, 1e-3, count),
            np.exp2(generator.uniform(-largest, largest, count)),
        ]
    ).astype(dtype)
    results = generator.uniform(-largest - 30, largest + 2, 3 * count)
    logarithms = np.log2(bases[: 3 * count].astype(np.float64))
    logarithms[logarithms == 0.0] = 1.0
    exponents = np.concatenate(
        [results / logarithms, generator.integers(-20, 20, count).astype(np.float64)]
    )
    exponents = np.clip(exponents, -1e35, 1e35).astype(dtype)
    return bases, exponents
