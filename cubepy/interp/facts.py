"""What the machine must know of a kernel before it runs: used atomics, cubes in a batch."""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import Kernel, Op, PrivateType, SharedType, Trait, ops, walk
from cubepy.records import dataclass

__all__ = ["Facts", "facts_of"]

# Enough units to make NumPy's overhead small, few enough for their values to stay in the cache.
MOST_UNITS = 1 << 16
MOST_BYTES = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """`used`: atomics whose old value somebody reads. `batch`: cubes that may run side by side.

    `plane_barriers`: whether planes have barriers of their own. `orders`: whether atomics or fences
    order what units do.
    """

    used: frozenset[Op]
    batch: int
    plane_barriers: bool
    orders: bool


def _all_ops(kernel: Kernel) -> Iterator[Op]:
    for function in kernel.functions:
        yield from walk(function.body)
    yield from walk(kernel.body)


def facts_of(kernel: Kernel) -> Facts:
    """The facts of a kernel."""
    every = list(_all_ops(kernel))
    operands = {operand for op in every for operand in op.operands}
    used = frozenset(op for op in every if op.opdef.has(Trait.ATOMIC) and op in operands)
    orders = any(
        op.opdef is ops.FENCE or op.attrs.get("order", "relaxed") != "relaxed" for op in every
    )
    return Facts(
        used=used,
        batch=1 if used or orders else _batch(kernel, every),
        orders=orders,
        plane_barriers=any(op.opdef is ops.SYNC_PLANE for op in every),
    )


def _batch(kernel: Kernel, every: list[Op]) -> int:
    """Cubes side by side: units that tell one another their order (by atomics) get one."""
    units = kernel.cube_dim[0] * kernel.cube_dim[1] * kernel.cube_dim[2]
    bytes_of_cube = units * 8 * len(every)  # values are kept until they are computed again
    for op in every:
        if isinstance(op.type, PrivateType | SharedType):
            owners = units if isinstance(op.type, PrivateType) else 1
            elements = owners
            for extent in op.type.shape:
                elements *= extent
            bytes_of_cube += elements * op.type.element.size * 2
    return max(1, min(MOST_UNITS // units, MOST_BYTES // max(1, bytes_of_cube)))
