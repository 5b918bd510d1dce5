"""Variables of loops in which units come to differ.

Intel's compiler for processors first takes a loop's variables for what they begin with. Where that
is one value for all units, it may find out too late that units leave the loop one by one, and gives
all of them what they share at the end of it: the number of the turn in which a unit returned comes
out wrong. So such a variable begins with what a compiler has to take for several values.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.codegen.opencl.prelude import Prelude
from cubepy.codegen.opencl.types import register_type
from cubepy.codegen.structured import HELPER
from cubepy.ir import BOOL, Kernel, Op, Region, Scalar, Trait, ops
from cubepy.ir.analyses import UNIFORM, VARYING, Shape, analyze_uniformity

__all__ = ["alike_at_first", "apart"]

_LOOPS = (ops.FOR, ops.WHILE)
_Loops = frozenset[Op]


def alike_at_first(kernel: Kernel) -> frozenset[Op]:
    """Assignments, ahead of a loop, of what units share to a variable that comes to differ in it;
    only where some loop is left by units one by one.
    """
    found: set[Op] = set()
    for function in kernel.functions:
        found |= _alike_in(function.body, function.params, VARYING)
    return frozenset(found | _alike_in(kernel.body, kernel.params, UNIFORM))


def _alike_in(body: Region, params: tuple[Op, ...], shape: Shape) -> set[Op]:
    """Those of one function with parameters of a shape."""
    stores = list(_stores(body, frozenset()))
    if not any(loops for _, loops in stores):
        return set()
    known = analyze_uniformity(
        body, params=params, param_shape=shape, shared_turns=True,
        seed=lambda op: UNIFORM if op.opdef.has(Trait.UNIFORM) else VARYING,
        uniform_load=lambda memory: True,
    )  # fmt: skip
    if not any(op.opdef in _LOOPS for op in known.divergent):
        return set()
    moved: dict[Op, list[_Loops]] = {}
    for store, loops in stores:
        moved.setdefault(store.operands[0], []).append(loops)
    return {
        store
        for store, loops in stores
        if known.shape(store.operands[1]) == UNIFORM
        and known.slots.get(store.operands[0], UNIFORM) != UNIFORM
        and not all(others <= loops for others in moved[store.operands[0]])
    }


def _stores(region: Region, loops: _Loops) -> Iterator[tuple[Op, _Loops]]:
    """Assignments with the loops around them."""
    for op in region.ops:
        if op.opdef is ops.STORE_LOCAL:
            yield op, loops
        for inner in op.regions:
            yield from _stores(inner, loops | {op} if op.opdef in _LOOPS else loops)


def apart(prelude: Prelude, scalar: Scalar) -> str:
    """The name of a function that gives its argument, for all that a compiler can know another
    one in each unit. No launch has more than three dimensions, which compilers do not know.
    """
    name, type = f"{HELPER}apart_{scalar}", register_type(scalar)
    same = "value != (nothing != 0)" if scalar is BOOL else f"({type})(value - ({type})nothing)"
    text = (
        f"{type} {name}({type} value) {{\n"
        "    const ulong unit = get_local_id(0) + get_local_id(1) + get_local_id(2);\n"
        "    const ulong nothing = unit * (get_work_dim() >> 2);\n"
        f"    return {same};\n}}"
    )
    return prelude.add(name, text)
