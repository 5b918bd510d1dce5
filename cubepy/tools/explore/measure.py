"""`--run`: made-up arguments of a real size, and what share of the time each line takes."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from cubepy.errors import CubeError
from cubepy.location import Loc
from cubepy.tools.launches import NamedLaunch

__all__ = ["measured_shares"]

_MOST = 1 << 24
Place = tuple[str, int]


def measured_shares(
    arguments: argparse.Namespace, launch: NamedLaunch
) -> tuple[Mapping[Place, float], str]:
    """The share of the time by line, and a remark on how it was found."""
    values = _arguments(arguments, launch)
    counts = launch.launcher.time_lines(seconds=arguments.seconds, **values)
    total = sum(counts.values())
    if not total:
        raise CubeError(
            "no sample fell into the kernel: it takes too little time\n"
            "  help: more units with --over, or longer with --seconds"
        )
    shares: dict[Place, float] = {}
    for loc, count in counts.items():
        for place in _places(loc):
            shares[place] = shares.get(place, 0.0) + count / total
    return shares, f"{total:,} samples in {arguments.seconds:g} s"


def _places(loc: Loc) -> set[Place]:
    found: set[Place] = set()
    at: Loc | None = loc
    while at is not None:
        found.add((at.file, at.line))
        at = at.inlined_at
    return found


def _arguments(arguments: argparse.Namespace, launch: NamedLaunch) -> Mapping[str, Any]:
    """From the function that --arguments names, or made up from the examples."""
    if not arguments.arguments:
        return {name: _enlarged(value, launch.units) for name, value in launch.values.items()}
    name, function = (
        arguments.arguments,
        launch.kernel.function.__globals__.get(arguments.arguments),
    )
    if not callable(function):
        raise CubeError(f"the kernel's file has no function {name!r} that gives arguments")
    given = function()
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, tuple | list):
        raise CubeError(f"{name}() gives {given!r}: expects a tuple or a dict")
    return dict(zip(launch.kernel.source.signature.parameters, given, strict=False))


def _enlarged(value: Any, units: int) -> Any:
    """An array as large as the launch, with numbers that can be subscripts; others as they are."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return value
    side = max(1, round(min(units, _MOST) ** (1 / value.ndim)))
    shape = (min(units, _MOST),) if value.ndim == 1 else (side,) * value.ndim
    random = np.random.default_rng(0)
    if value.dtype.kind in "iu":
        highest = min(prod(shape) - 1, np.iinfo(value.dtype).max)
        return random.integers(0, highest, shape, value.dtype, endpoint=True)
    if value.dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    return random.standard_normal(shape, np.float32).astype(value.dtype)
