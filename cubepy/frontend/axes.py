"""Warnings of positions along axes that a launch over a shape does not have.

`kernel.over(n)` runs units along x alone, so ABSOLUTE_POS_Y is 0 in every one of them and a kernel
for an image computes its first row. A kernel that also asks how many there are along that axis
copes with any launch, and nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from cubepy.errors import Diagnostic
from cubepy.frontend.session import Session
from cubepy.ir import Region, ops, walk

__all__ = ["warn_of_axes"]

_POSITIONS = {
    1: (ops.ABSOLUTE_POS_Y, ops.CUBE_POS_Y, ops.UNIT_POS_Y),
    2: (ops.ABSOLUTE_POS_Z, ops.CUBE_POS_Z, ops.UNIT_POS_Z),
}
_COUNTS = {1: {"CUBE_COUNT_Y", "CUBE_DIM_Y"}, 2: {"CUBE_COUNT_Z", "CUBE_DIM_Z"}}
_SHAPES = {1: "over(n)", 2: "over((height, width))"}
_LARGER = {1: "over((height, width))", 2: "over((depth, height, width))"}


def warn_of_axes(session: Session, name: str, bodies: Iterable[Region]) -> None:
    """Warn of the first position along each axis that the shape of the launch lacks."""
    options = session.specialization.options
    rank = options.over_rank
    if not rank:
        return
    found = [op for body in bodies for op in walk(body)]
    for axis, rows in _POSITIONS.items():
        read = next((op for op in found if op.opdef in rows), None)
        if axis < rank or read is None or session.positions & _COUNTS[axis]:
            continue
        counted = "one axis" if rank == 1 else f"{rank} axes"
        session.warn(
            Diagnostic(
                message=f"{read.opdef.python} is 0 in every unit: {name}.{_SHAPES[rank]} has "
                f"{counted}",
                loc=read.loc,
                help=f"launch {name}.{_LARGER[axis]}; the last axis of the shape is x",
            )
        )
