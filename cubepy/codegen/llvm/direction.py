"""Which way lanes run: along x of the launch, or along y where memory does.

An array that was transposed, or a matrix stored by columns, has its neighbours along y of the
launch. Lanes along x would gather; along y they load vectors. Only kernels whose units know
nothing but their place in the launch are free to be turned.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import BufferType, Kernel, Op, Region, StrideClass, Trait, ops, walk

__all__ = ["LOOP_WEIGHT", "knows_only_its_place", "runs_along_y"]

_FREE = frozenset(
    [f"{name}_{axis}" for name in ("absolute_pos", "extent", "cube_count") for axis in "xyz"]
)
_LINEAR = (ops.ADD, ops.SUB, ops.CAST, ops.NEG)
# What an op in a loop counts for, a level.
LOOP_WEIGHT = 16
_DEPTH = 12


def knows_only_its_place(kernel: Kernel) -> bool:
    """Whether units ask for nothing but where they are along the axes of the launch."""
    return not any(
        not op.operands and not op.regions and op.opdef.has(Trait.PURE | Trait.VARYING)
        and op.opdef is not ops.CONST and op.opdef.name not in _FREE
        for op in walk(kernel.body)
    )  # fmt: skip


def runs_along_y(kernel: Kernel) -> bool:
    """Whether more accesses have neighbours along y than along x."""
    if not knows_only_its_place(kernel):
        return False
    weights = {"absolute_pos_x": 0, "absolute_pos_y": 0}
    for op, weight in _weighted(kernel.body, 1):
        if op.opdef in (ops.LOAD, ops.STORE):
            for name in _neighbours(op):
                weights[name] += weight
    return weights["absolute_pos_y"] > weights["absolute_pos_x"]


def _weighted(region: Region, weight: int) -> Iterator[tuple[Op, int]]:
    for op in region.ops:
        yield op, weight
        inside = weight * (LOOP_WEIGHT if op.opdef in (ops.FOR, ops.WHILE) else 1)
        for inner in op.regions:
            yield from _weighted(inner, inside)


def _neighbours(op: Op) -> Iterator[str]:
    """The positions along which an access moves from neighbour to neighbour."""
    memory = op.operands[0]
    if not isinstance(memory.type, BufferType):
        return
    axes = zip(memory.type.strides, op.operands[1:], strict=False)
    for stride, index in axes:
        if stride in (StrideClass.ONE, StrideClass.MINUS_ONE):
            for name in ("absolute_pos_x", "absolute_pos_y"):
                if _moves_with(index, name, _DEPTH):
                    yield name


def _moves_with(index: Op, name: str, depth: int) -> bool:
    """Whether a subscript is the position give or take what does not depend on it this way."""
    if index.opdef.name == name:
        return True
    return (
        depth > 0
        and index.opdef in _LINEAR
        and any(_moves_with(operand, name, depth - 1) for operand in index.operands)
    )
