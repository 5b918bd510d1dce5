"""What `cb.ABSOLUTE_POS` and its like are for the unit that is stepped through.

Outside of kernels they are no numbers. In a debugger that has stopped in a unit they are that
unit's, by whatever name the kernel's module has for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from cubepy import frontend
from cubepy.interp import Batch, at_lane
from cubepy.ir import Kernel
from cubepy.records import dataclass
from cubepy.runtime import Grid

__all__ = ["Positions"]

_PACKAGE = __name__.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """Those of unit `number` of cube `cube` of a launch. `plane_dim`: units of a plane."""

    kernel: Kernel
    grid: Grid
    plane_dim: int
    cube: int
    number: int

    def of(self, position: frontend.Position) -> np.int64:
        """The unit's value."""
        name = position.name.lower()
        dim = self.kernel.cube_dim
        if name.startswith("cube_dim"):
            axis = name.removeprefix("cube_dim")
            return np.int64(dim["xyz".index(axis[1])] if axis else dim[0] * dim[1] * dim[2])
        batch = Batch(
            grid=self.grid, cube_dim=dim, plane_dim=self.plane_dim, first=self.cube, count=1
        )
        return np.int64(at_lane(batch.position(name), self.number))

    def seen_in(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """Names with numbers for positions, also for those that `cb.` stands before."""
        return {name: self._seen(value) for name, value in names.items()}

    def _seen(self, value: Any) -> Any:
        if isinstance(value, frontend.Position):
            return self.of(value)
        if isinstance(value, ModuleType) and value.__name__ == _PACKAGE:
            copied = ModuleType(value.__name__, value.__doc__)
            inner = vars(value)
            positions = (n for n, each in inner.items() if isinstance(each, frontend.Position))
            vars(copied).update({**inner, **{name: self.of(inner[name]) for name in positions}})
            return copied
        return value
