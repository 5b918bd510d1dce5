"""Whether units are better run one at a time, in scalars, than as lanes of a vector.

Lanes pay where they do the same at neighbouring places. In a loop whose length each unit has for
itself, lanes that are done wait for the longest; if its subscripts follow no pattern either, each
element is loaded by itself anyway, and comes to its lane through a shuffle. A processor runs the
loops of several units side by side without being told to. So the cost of a unit is estimated both
ways, in cycles.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.codegen.llvm.direction import LOOP_WEIGHT
from cubepy.ir import INDEX, Kernel, Op, Region, Scalar, Trait, ops, walk
from cubepy.ir.analyses import Uniformity, subscripts

__all__ = ["better_alone"]

# Cycles of a unit: an element by itself into a lane, a scalar load, a scalar operation, a slow one,
# a branch guessed wrong now and then.
_GATHERED, _LOADED, _SIMPLE, _SLOW, _GUESSED = 2.0, 0.5, 0.3, 4.0, 3.0
_DIVIDES = (ops.DIV, ops.SQRT, ops.FLOOR_DIV, ops.FLOOR_MOD, ops.TRUNC_DIV, ops.TRUNC_REM)
# Trips of the longest of a vector's units for each of the mean one.
_RAGGED = 1.7
_FREE = (ops.CONST, ops.LOCAL, ops.LOAD_LOCAL, ops.YIELD, ops.LENGTH, ops.STRIDE)


def better_alone(kernel: Kernel, lanes: int, analyze: Callable[[], Uniformity]) -> bool:
    """Whether a kernel without shared work takes less time one unit at a time. `analyze` tells how
    values differ over `lanes` units.
    """
    every = list(walk(kernel.body))
    if any(op.opdef is ops.LOCAL_ARRAY or op.opdef.has(Trait.ATOMIC) for op in every):
        return False
    if not any(op.opdef is ops.FOR and _reads_its_range(op) for op in every):
        return False
    shapes = analyze()
    if not any(_is_ragged(op, shapes) for op in every):
        return False
    together, alone = _costs(kernel.body, shapes, lanes)
    return alone < together


def _reads_its_range(loop: Op) -> bool:
    """Whether a range begins or ends at what is read from memory."""
    return any(_origin(bound).opdef is ops.LOAD for bound in loop.operands[:2])


def _origin(value: Op) -> Op:
    while value.opdef in (ops.CAST, ops.ADD, ops.SUB, ops.MIN, ops.MAX):
        value = value.operands[0]
    return value


def _is_ragged(op: Op, shapes: Uniformity) -> bool:
    """A loop of each unit's own length, in which units go all over memory. A `while` is none: its
    next trip waits for what this one loads, which lanes do for many units at once.
    """
    if op.opdef is not ops.FOR or op not in shapes.divergent:
        return False
    inside = list(walk(op.regions[0]))
    if any(inner.opdef is ops.WHILE for inner in inside):
        return False
    return any(inner.opdef is ops.LOAD and _scattered(inner, shapes) for inner in inside)


def _scattered(access: Op, shapes: Uniformity) -> bool:
    return any(shapes.shape(index).level == 2 for index in subscripts(access))


def _costs(region: Region, shapes: Uniformity, lanes: int) -> tuple[float, float]:
    """Cycles of a unit as one of so many lanes, and alone."""
    together, alone = 0.0, 0.0
    for op in region.ops:
        a, b = _own_costs(op, shapes, lanes)
        for inner in op.regions:
            c, d = _costs(inner, shapes, lanes)
            loops = op.opdef in (ops.FOR, ops.WHILE)
            trips = LOOP_WEIGHT if loops else 1
            a += c * trips * (_RAGGED if loops and op in shapes.divergent else 1)
            b += d * trips
        together, alone = together + a, alone + b
    return together, alone


def _own_costs(op: Op, shapes: Uniformity, lanes: int) -> tuple[float, float]:
    if op.opdef in _FREE or op.regions:
        return 0.0, _GUESSED if op.opdef is ops.IF and op in shapes.divergent else 0.0
    if op.opdef in (ops.LOAD, ops.STORE):
        if _scattered(op, shapes):
            return _GATHERED, _LOADED
        return _LOADED / lanes, _LOADED
    cost = _SLOW if op.opdef in _DIVIDES else _SIMPLE
    wide = isinstance(op.type, Scalar) and op.type.bits == 64 and op.type is not INDEX
    return cost * (2 if wide else 1) / lanes, cost
