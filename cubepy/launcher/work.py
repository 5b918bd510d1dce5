"""The sizes of a launch as a user wrote them, and what they are on a device."""

from __future__ import annotations

from typing import Any

from cubepy import config, frontend
from cubepy.errors import LaunchError, did_you_mean, shown
from cubepy.records import dataclass, replace
from cubepy.runtime import (
    Grid,
    Triple,
    check_cube_dim,
    cube_dim_over,
    grid_of,
    grid_over,
    triple,
)
from cubepy.target import Features

__all__ = ["Work"]

CHECKS = ("auto", "checked", "validate", "unchecked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The sizes of a launch as written: a shape to run over, or counts and dims of cubes."""

    shape: tuple[int, ...] | None = None
    cube_count: Triple = (1, 1, 1)
    cube_dim: Any = (1, 1, 1)
    check: str = "auto"

    def __post_init__(self) -> None:
        if self.check not in CHECKS:
            help = did_you_mean(str(self.check), CHECKS) or "leave it out for checked"
            raise LaunchError(
                f"check is {self.check!r}: expects one of {', '.join(CHECKS)}\n  help: {help}"
            )

    @property
    def written(self) -> str:
        """The sizes as they stand behind the name of a kernel."""
        if self.shape is None:
            return f"[{_shown(self.cube_count)}, {_shown(self.cube_dim)}]"
        return f".over({_shown(self.shape)})"

    def plain(self) -> tuple[Work, list[int]]:
        """The same with numbers only, and the axes of a cube that are as long as a plane."""
        if self.shape is not None:
            return self, []
        parts = self.cube_dim if isinstance(self.cube_dim, tuple | list) else (self.cube_dim,)
        planes = [at for at, part in enumerate(parts) if part is frontend.PLANE]
        if not planes:
            return self, []
        sizes = tuple(1 if at in planes else part for at, part in enumerate(parts))
        return replace(self, cube_dim=sizes), planes

    def on(self, features: Features, plane_dim: int = 0) -> tuple[Grid, frontend.LaunchOptions]:
        """The grid, and what the kernel is compiled for, on a device with these features.

        `plane_dim` is what the kernel asks for, if anything.
        """
        plane_dim = plane_dim or features.plane_dim
        if self.shape is None:
            cube_dim = _with_plane_size(self.cube_dim, plane_dim)
            check_cube_dim(cube_dim, features)
            grid = grid_of(self.cube_count, cube_dim)
        else:
            cube_dim = cube_dim_over(self.shape, features)
            grid = grid_over(self.shape, cube_dim)
        automatic = self.check == "auto"
        options = frontend.LaunchOptions(
            cube_dim=cube_dim,
            over_rank=0 if self.shape is None else len(self.shape),
            check=config.current().compilation.check if automatic else self.check,
            plane_dim=plane_dim,
        )
        return grid, options


def _shown(sizes: Any) -> str:
    """Sizes without the ones that end them, and a single one without brackets."""
    parts = list(sizes) if isinstance(sizes, tuple | list) else [sizes]
    words = ["PLANE" if part is frontend.PLANE else shown(part) for part in parts]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def _with_plane_size(cube_dim: Any, plane_dim: int) -> Triple:
    """`cube_dim` as three numbers, `PLANE` in it replaced by the plane size."""
    parts = cube_dim if isinstance(cube_dim, tuple | list) else (cube_dim,)
    planes = [part is frontend.PLANE for part in parts]
    if any(planes) and plane_dim == 0:
        raise LaunchError(
            "cube_dim is PLANE, and planes of this device have several sizes\n"
            "  help: give the number of units, or the kernel a size: @cube(plane_dim=32)"
        )
    sizes = [plane_dim if plane else part for plane, part in zip(planes, parts, strict=True)]
    return triple(sizes if len(sizes) != 1 else sizes[0], "cube_dim")
