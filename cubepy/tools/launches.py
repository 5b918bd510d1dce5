"""The launch that a command line describes: which kernel, over which sizes, for which arguments."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from math import ceil, prod
from typing import Any

from cubepy.cube import Cube
from cubepy.errors import CubeError
from cubepy.inspection import Inspection, axes_of_launch, example_arguments
from cubepy.launcher import Launcher
from cubepy.records import dataclass
from cubepy.tools.kernels import load_kernel

__all__ = ["ANY_SHAPE", "NamedLaunch", "named_launch"]

# Where no shape is given: nothing is specialised for its numbers.
ANY_SHAPE = "4"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedLaunch:
    """A kernel with sizes and a signature, and example arguments by name. `units`: how many run."""

    kernel: Cube[..., Any]
    launcher: Launcher
    signature: str
    values: Mapping[str, Any]
    units: int

    def inspect(self, target: str | None) -> Inspection:
        """What it becomes for a target, by default that of the default device."""
        return self.launcher.inspect(target=target, signature=self.signature)


def named_launch(arguments: argparse.Namespace, *, shape: str = ANY_SHAPE) -> NamedLaunch:
    """The launch; `shape` is that of one for which none is given, along x.

    A kernel that asks for positions along y or z is launched over as many axes.
    """
    kernel = load_kernel(arguments.kernel)
    if arguments.cube_dim is None:
        over = _sizes(arguments.over or _along_axes(shape, axes_of_launch(kernel.source)), "--over")
        launcher, units = kernel.over(over, check=arguments.check), prod(over)
    else:
        dim = _sizes(arguments.cube_dim, "--cube-dim")
        count = _sizes(arguments.cube_count, "--cube-count")
        launcher = kernel.launcher(cube_count=count, cube_dim=dim, check=arguments.check)
        units = prod(count) * prod(dim)
    signature = arguments.signature
    values = example_arguments(kernel.source, signature).values
    return NamedLaunch(
        kernel=kernel, launcher=launcher, signature=signature, values=values, units=units
    )


def _along_axes(size: str, axes: int) -> str:
    """As many units, or a few more, along so many axes."""
    side = ceil(int(size) ** (1 / axes) - 1e-9)
    return ",".join([str(side)] * axes)


def _sizes(text: str, option: str) -> tuple[int, ...]:
    """`8` or `4,2` as numbers."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise CubeError(f"{option} {text}: expects numbers such as 100 or 1000,2000")
    return tuple(int(part) for part in parts)
