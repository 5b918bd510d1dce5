"""Results of library functions for zeros, infinities, NaN and arguments of exact results.

As C99 Annex F has them, and of the same kind where it says nothing. `docs/ops.md` prints these
tables, tests hold every device and float type to them. A value stands for the float nearest to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["SPECIAL_VALUES", "SPECIAL_VALUES_OF_TWO"]

_INF, _NAN, _PI = math.inf, math.nan, math.pi
_KEEPS_ZERO = ((0.0, 0.0), (-0.0, -0.0))
_KEEPS = (*_KEEPS_ZERO, (_INF, _INF), (-_INF, -_INF))
_POWERS = ((0.0, 1.0), (-0.0, 1.0), (_INF, _INF), (-_INF, 0.0), (1e4, _INF), (-1e4, 0.0))
_LOGARITHMS = (
    (0.0, -_INF), (-0.0, -_INF), (1.0, 0.0), (-1.0, _NAN), (-_INF, _NAN), (_INF, _INF),
)  # fmt: skip
_ANGLES = ((_INF, _NAN), (-_INF, _NAN))
_SIGNS = (*_KEEPS_ZERO, (_INF, 1.0), (-_INF, -1.0))

#: Arguments and results, by op name; every function gives NaN for NaN.
SPECIAL_VALUES: Mapping[str, tuple[tuple[float, float], ...]] = MappingProxyType(
    {
        "exp": _POWERS,
        "exp2": _POWERS,
        "expm1": (*_KEEPS_ZERO, (_INF, _INF), (-_INF, -1.0), (1e4, _INF), (-1e4, -1.0)),
        "log": _LOGARITHMS,
        "log2": _LOGARITHMS,
        "log10": _LOGARITHMS,
        "log1p": (*_KEEPS_ZERO, (-1.0, -_INF), (-1.5, _NAN), (-_INF, _NAN), (_INF, _INF)),
        "sin": (*_KEEPS_ZERO, *_ANGLES),
        "cos": ((0.0, 1.0), (-0.0, 1.0), *_ANGLES),
        "tan": (*_KEEPS_ZERO, *_ANGLES),
        "asin": (*_KEEPS_ZERO, (1.0, _PI / 2), (-1.0, -_PI / 2), (1.5, _NAN), *_ANGLES),
        "acos": ((1.0, 0.0), (-1.0, _PI), (0.0, _PI / 2), (-0.0, _PI / 2), (-1.5, _NAN), *_ANGLES),
        "atan": (*_KEEPS_ZERO, (1.0, _PI / 4), (_INF, _PI / 2), (-_INF, -_PI / 2)),
        "degrees": (*_KEEPS, (_PI, 180.0)),
        "radians": (*_KEEPS, (180.0, _PI)),
        "sinh": (*_KEEPS, (1e4, _INF), (-1e4, -_INF)),
        "cosh": ((0.0, 1.0), (-0.0, 1.0), (_INF, _INF), (-_INF, _INF), (1e4, _INF), (-1e4, _INF)),
        "tanh": (*_SIGNS, (1e4, 1.0), (-1e4, -1.0)),
        "asinh": _KEEPS,
        "acosh": ((1.0, 0.0), (0.0, _NAN), (-0.0, _NAN), (-2.0, _NAN), (-_INF, _NAN), (_INF, _INF)),
        "atanh": (*_KEEPS_ZERO, (1.0, _INF), (-1.0, -_INF), (1.5, _NAN), (-1.5, _NAN), *_ANGLES),
        "sigmoid": ((0.0, 0.5), (-0.0, 0.5), (_INF, 1.0), (-_INF, 0.0), (1e4, 1.0), (-1e4, 0.0)),
        "cbrt": (*_KEEPS, (27.0, 3.0), (-8.0, -2.0), (0.125, 0.5)),
        "rsqrt": ((0.0, _INF), (-0.0, -_INF), (_INF, 0.0), (-1.0, _NAN), (-_INF, _NAN), (4.0, 0.5)),
        "erf": (*_SIGNS, (1e4, 1.0), (-1e4, -1.0)),
        "erfc": ((0.0, 1.0), (-0.0, 1.0), (_INF, 0.0), (-_INF, 2.0), (1e4, 0.0), (-1e4, 2.0)),
    }
)
#: Pairs of arguments and results.
SPECIAL_VALUES_OF_TWO: Mapping[str, tuple[tuple[float, float, float], ...]] = MappingProxyType(
    {
        "atan2": (
            (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, -1.0, _PI), (-0.0, -1.0, -_PI),
            (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (0.0, -0.0, _PI), (-0.0, -0.0, -_PI),
            (1.0, 0.0, _PI / 2), (-1.0, -0.0, -_PI / 2), (_INF, 1.0, _PI / 2),
            (1.0, _INF, 0.0), (-1.0, -_INF, -_PI), (_INF, _INF, _PI / 4),
            (-_INF, _INF, -_PI / 4), (_INF, -_INF, 3 * _PI / 4), (-_INF, -_INF, -3 * _PI / 4),
            (_NAN, 1.0, _NAN), (1.0, _NAN, _NAN), (_NAN, _INF, _NAN),
        ),
        "hypot": (
            (3.0, -4.0, 5.0), (0.0, -0.0, 0.0), (-7.0, 0.0, 7.0), (_INF, 1.0, _INF),
            (_NAN, -_INF, _INF), (_INF, _NAN, _INF), (_NAN, 1.0, _NAN), (0.0, _NAN, _NAN),
        ),
        "pow": (
            (0.0, -3.0, _INF), (-0.0, -3.0, -_INF), (0.0, -2.0, _INF), (-0.0, -2.0, _INF),
            (0.0, -_INF, _INF), (-0.0, 3.0, -0.0), (-0.0, 2.5, 0.0), (0.0, 3.0, 0.0),
            (-1.0, _INF, 1.0), (-1.0, -_INF, 1.0), (1.0, _NAN, 1.0), (_NAN, 0.0, 1.0),
            (_NAN, -0.0, 1.0), (_NAN, 1.0, _NAN), (2.0, _NAN, _NAN), (-2.0, 0.5, _NAN),
            (-2.0, 3.0, -8.0), (-2.0, -2.0, 0.25), (0.5, -_INF, _INF), (2.0, -_INF, 0.0),
            (0.5, _INF, 0.0), (2.0, _INF, _INF), (-_INF, -3.0, -0.0), (-_INF, -2.0, 0.0),
            (-_INF, 3.0, -_INF), (-_INF, 2.5, _INF), (_INF, -0.5, 0.0), (_INF, 0.5, _INF),
        ),
        "fmod": (
            (5.0, 3.0, 2.0), (-5.0, 3.0, -2.0), (5.0, -3.0, 2.0), (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0), (-6.0, 3.0, -0.0), (1.5, _INF, 1.5), (-1.5, -_INF, -1.5),
            (_INF, 3.0, _NAN), (-_INF, 3.0, _NAN), (3.0, 0.0, _NAN), (3.0, -0.0, _NAN),
            (_NAN, 3.0, _NAN), (3.0, _NAN, _NAN),
        ),
        "ldexp": (
            (0.75, 3.0, 6.0), (-0.0, 7.0, -0.0), (0.0, -7.0, 0.0), (_INF, -9.0, _INF),
            (-_INF, 9.0, -_INF), (_NAN, 1.0, _NAN), (1.0, 5000.0, _INF), (-1.0, -5000.0, -0.0),
        ),
        "fmin": (
            (_NAN, 1.0, 1.0), (1.0, _NAN, 1.0), (_NAN, _NAN, _NAN), (-0.0, 0.0, -0.0),
            (0.0, -0.0, -0.0), (-_INF, 1.0, -_INF),
        ),
        "fmax": (
            (_NAN, 1.0, 1.0), (1.0, _NAN, 1.0), (_NAN, _NAN, _NAN), (-0.0, 0.0, 0.0),
            (0.0, -0.0, 0.0), (_INF, 1.0, _INF),
        ),
        "copysign": (
            (1.0, -0.0, -1.0), (-1.0, 0.0, 1.0), (_INF, -1.0, -_INF), (0.0, -2.0, -0.0),
            (_NAN, -1.0, _NAN),
        ),
    }
)  # fmt: skip
