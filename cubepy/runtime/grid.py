"""From what a user writes to a :class:`Grid`: counts and dims of cubes, or a shape to run over.

Sizes are numbers or tuples of up to three, x first, except a shape, whose last axis is x.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import SupportsIndex

from cubepy.errors import LaunchError, shown
from cubepy.runtime.base import Grid
from cubepy.target import Features

__all__ = [
    "Sizes",
    "Triple",
    "check_cube_dim",
    "cube_dim_over",
    "grid_of",
    "grid_over",
    "shape_of",
    "triple",
]

Triple = tuple[int, int, int]
Sizes = SupportsIndex | Sequence[SupportsIndex]

# Units of a cube that runs over a shape, and the widths it may have: few, so that the extents of
# arrays make few specialisations.
CUBE_UNITS = 256
_WIDTHS = (16, 64, 256)
# Launches over so many long cubes have them: enough for every core, and edges do not count.
LONG_CUBES = 1024
# Indices are signed 64-bit integers, and whole cubes reach a little beyond the last unit. The range
# analysis of the compiler counts on both limits (cubepy/ir/ranges.py).
MOST_UNITS = 1 << 62
MOST_ALONG = 1 << 53


# How the sizes that messages speak of are written.
_SHAPE = "write over(len(x)), or over((height, width))"
_HOW = dict.fromkeys(
    ("cube_count", "cube_dim"),
    "write kernel[count, dim], with numbers or tuples: kernel[(4, 2), (32, 8)]",
)
_NEVER = "a size of 0 launches nothing: write max(0, n)"


def _numbers(sizes: Sizes, what: str) -> tuple[int, ...]:
    if getattr(sizes, "ndim", 0):
        raise LaunchError(f"{what} is an array\n  help: give its shape: x.shape, or len(x)")
    try:
        if isinstance(sizes, SupportsIndex):
            return (operator.index(sizes),)
        numbers = tuple(operator.index(size) for size in sizes)
    except TypeError as error:
        raise LaunchError(
            f"{what} is {shown(sizes)}: expects a whole number or a tuple of up to three\n"
            f"  help: {_HOW.get(what, _SHAPE)}"
        ) from error
    if not 1 <= len(numbers) <= 3:
        raise LaunchError(
            f"{what} is {shown(sizes)}: expects one to three numbers, got {len(numbers)}\n"
            "  help: join axes, and take the subscripts apart in the kernel: over((a * b, c, d))"
        )
    return numbers


def triple(sizes: Sizes, what: str) -> Triple:
    """Sizes along x, y, z; missing ones are 1. `what` names them in errors."""
    numbers = _numbers(sizes, what)
    if any(number < 0 for number in numbers):
        raise LaunchError(f"{what} is {shown(sizes)}: a size cannot be negative\n  help: {_NEVER}")
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def shape_of(sizes: Sizes) -> tuple[int, ...]:
    """The shape of a launch over a shape, checked."""
    shape = _numbers(sizes, "the shape to run over")
    if any(extent < 0 for extent in shape):
        raise LaunchError(
            f"the shape to run over is {shown(sizes)}: an extent cannot be negative\n"
            f"  help: {_NEVER}"
        )
    return shape


def check_cube_dim(cube_dim: Triple, features: Features) -> None:
    """Refuse cubes without units, and cubes too large for the device."""
    units = math.prod(cube_dim)
    if units < 1:
        raise LaunchError(
            f"cube_dim is {shown(cube_dim)}: a cube needs at least one unit along each axis\n"
            "  help: write 1 where an axis is not used, as in (32, 1, 1)"
        )
    if units > features.max_cube_units:
        raise LaunchError(
            f"cube_dim {shown(cube_dim)} has {shown(units)} units, the device takes at most "
            f"{features.max_cube_units} a cube\n"
            "  help: take smaller cubes and more of them"
        )


def cube_dim_over(shape: tuple[int, ...], features: Features) -> Triple:
    """The cube for a launch over a shape: long along x, rows of neighbours where x is short."""
    units = min(CUBE_UNITS, features.max_cube_units)
    if len(shape) == 1:
        long = min(features.long_cube, features.max_cube_units)
        while long > units and shape[0] < LONG_CUBES * long:
            long //= 8
        return (max(long, units), 1, 1)
    width = next((width for width in _WIDTHS if shape[-1] <= width <= units), units)
    return (width, units // width, 1)


def grid_over(shape: tuple[int, ...], cube_dim: Triple) -> Grid:
    """Enough cubes for the units of `shape`."""
    x, y, z = (*reversed(shape), 1, 1)[:3]
    _check_units((x, y, z))
    count = (-(-x // cube_dim[0]), -(-y // cube_dim[1]), -(-z // cube_dim[2]))
    return Grid(cube_count=count, extent=(x, y, z))


def _check_units(extent: Triple) -> None:
    """Refuse more units than an index can count."""
    if math.prod(extent) >= MOST_UNITS or max(extent) >= MOST_ALONG:
        raise LaunchError(
            f"{shown(extent)} units along x, y, z are more than an index can count\n"
            "  help: let each unit do more, in a loop, or launch several times"
        )


def grid_of(cube_count: Triple, cube_dim: Triple) -> Grid:
    """Exactly `cube_count` cubes."""
    x, y, z = (count * dim for count, dim in zip(cube_count, cube_dim, strict=True))
    _check_units((x, y, z))
    return Grid(cube_count=cube_count, extent=(x, y, z))
