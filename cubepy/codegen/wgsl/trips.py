"""Loops that a driver ends in silence, and the loop that finds out.

Some drivers count the trips of all loops of a unit and end every loop once they are too many
(Mesa's llvmpipe: 65,535, `LP_MAX_TGSI_LOOP_ITERATIONS`). From then on no loop makes a second trip,
so a loop of three trips behind everything else tells whether that happened.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from cubepy.codegen.structured import HELPER
from cubepy.codegen.wgsl.reports import need_claim
from cubepy.ir import Kernel, Op, Region, ops, walk
from cubepy.target import Fault, FaultKind

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel

__all__ = ["watch_trips"]

Bounds = Callable[[Op], tuple[int, int] | None]

# Trips that the text of one op may make, such as those of a division or of a plane.
_TRIPS_OF_AN_OP = 64


def watch_trips(language: WgslKernel) -> list[str]:
    """Statements behind a kernel whose loops the driver may end; none if it does not, or they make
    few trips.
    """
    kernel, most = language.kernel, language.features.most_trips
    if not most or _most_trips(kernel, language.bounds) < most:
        return []
    loops = (op.loc for op in walk(kernel.body) if op.opdef in (ops.FOR, ops.WHILE))
    loc = next(loops, kernel.loc)
    language.faults.append(Fault(kind=FaultKind.TRIPS, text=str(most), loc=loc))
    need_claim(language)
    nothing = ", ".join(["vec2<u32>(0u, 0u)"] * 3)
    return [
        f"var {HELPER}left = 3u + launch.zero;",
        f"while ({HELPER}left != 0u) {{",
        f"    {HELPER}left--;",
        "}",
        f"if ({HELPER}left != 0u) {{",
        f"    _ = {HELPER}claim({len(language.faults)}u, {nothing});",
        "}",
    ]


def _most_trips(kernel: Kernel, bounds: Bounds) -> float:
    """Trips of all loops of a unit together, at most: generated ones too."""
    known: dict[str, float] = {}

    def of_region(region: Region) -> float:
        return sum(of_op(op) for op in region.ops)

    def of_op(op: Op) -> float:
        if op.opdef is ops.CALL:
            return known[str(op.attrs["callee"])]
        inside = sum(map(of_region, op.regions))
        if op.opdef is ops.WHILE:
            return math.inf
        if op.opdef is ops.FOR:
            return _trips(op, bounds) * (1 + inside)
        return inside if op.regions else _TRIPS_OF_AN_OP

    for function in kernel.functions:  # those that are called stand before those that call
        known[function.name] = of_region(function.body)
    return of_region(kernel.body)


def _trips(loop: Op, bounds: Bounds) -> float:
    """Of one range."""
    start, stop, step = (bounds(operand) for operand in loop.operands)
    if start is None or stop is None or step is None or step[0] <= 0 <= step[1]:
        return math.inf
    distance = stop[1] - start[0] if step[0] > 0 else start[1] - stop[0]
    return max(0, -(-distance // min(map(abs, step))))
