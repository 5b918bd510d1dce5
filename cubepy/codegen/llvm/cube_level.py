"""Which part of a kernel with barriers runs once per cube, between the loops over its gangs.

A barrier splits the body into segments; each segment runs for every gang before the next one
starts. Control flow that contains a barrier, or that leaves together out of such control flow, is
therefore decided once per cube, and so is everything it depends on: *cube-level* values and slots.
Stored inside a loop over gangs, an assignment such as `t += step` would happen once per gang.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import Kernel, Op, Region, Trait, ops, walk
from cubepy.ir.analyses import UNIFORM, Uniformity, analyze_cube
from cubepy.records import dataclass

__all__ = ["CubeLevel", "find_cube_level"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeLevel:
    """`controls`: control ops run per cube. `values`: ops computed per cube. `slots`: variables
    stored so.
    """

    analysis: Uniformity
    controls: frozenset[Op]
    values: frozenset[Op]
    slots: frozenset[Op]


def _enclosing(region: Region, above: tuple[Op, ...] = ()) -> Iterator[tuple[Op, tuple[Op, ...]]]:
    """Every op with the control ops around it, outermost first."""
    for op in region.ops:
        yield op, above
        for inner in op.regions:
            yield from _enclosing(inner, (*above, op))


def _crossed(op: Op, above: tuple[Op, ...]) -> tuple[tuple[Op, ...], Op | None]:
    """The control ops an exit leaves, and its target (None: the kernel)."""
    if op.opdef is ops.RETURN:
        return above, None
    wanted = (ops.BLOCK,) if op.opdef is ops.LEAVE else (ops.FOR, ops.WHILE)
    for depth in reversed(range(len(above))):
        if above[depth].opdef in wanted:
            return above[depth + 1 :], above[depth]
    return above, None


def find_cube_level(kernel: Kernel) -> CubeLevel:
    """The cube-level part of a kernel; grows until everything its control flow depends on is in
    it.
    """
    analysis = analyze_cube(kernel)
    places = dict(_enclosing(kernel.body))
    controls: set[Op] = set()
    for op, above in places.items():
        if op.opdef.has(Trait.BARRIER):
            controls.update(above)
    while True:
        before = len(controls)
        _add_exits(places, analysis, controls)
        slots, values = _cube_values(kernel, analysis, places, controls)
        _add_stores_needed(places, controls)
        if len(controls) == before:
            return CubeLevel(
                analysis=analysis,
                controls=frozenset(controls),
                values=frozenset(values),
                slots=frozenset(slots),
            )


def _add_exits(places: dict[Op, tuple[Op, ...]], analysis: Uniformity, controls: set[Op]) -> None:
    for op, above in places.items():
        if op.opdef.has(Trait.EXIT) and op in analysis.jumps:
            crossed, target = _crossed(op, above)
            if target is None or target in controls:
                controls.update(crossed)


def _add_stores_needed(places: dict[Op, tuple[Op, ...]], controls: set[Op]) -> None:
    """Assignments that cube-level control flow depends on must be made at cube level too."""
    stores: dict[Op, list[Op]] = {}
    for op in places:
        if op.opdef is ops.STORE_LOCAL:
            stores.setdefault(op.operands[0], []).append(op)
    work = [operand for control in controls for operand in _decides(control)]
    seen: set[Op] = set()
    while work:
        op = work.pop()
        if op in seen or op not in places:
            continue
        seen.add(op)
        if op.opdef is ops.LOAD_LOCAL:
            for store in stores.get(op.operands[0], []):
                controls.update(places[store])
                work.append(store.operands[1])
        elif op.opdef is not ops.CUBE_UNIFORM:  # one for the cube, whatever it is made of
            work.extend(op.operands)


def _decides(control: Op) -> tuple[Op, ...]:
    if control.opdef is ops.WHILE:
        return control.regions[0].ops[-1].operands
    return control.operands


def _cube_values(
    kernel: Kernel, analysis: Uniformity, places: dict[Op, tuple[Op, ...]], controls: set[Op]
) -> tuple[set[Op], set[Op]]:
    """Slots stored only at cube level with cube-level values, and the values that can be had
    there.
    """
    top = {op for op, above in places.items() if controls.issuperset(above)}
    slots = {slot for slot, shape in analysis.slots.items() if shape == UNIFORM}
    slots -= {op.operands[0] for op in places if op.opdef is ops.STORE_LOCAL and op not in top}
    variables = {control.regions[0].params[0] for control in controls if control.opdef is ops.FOR}
    while True:
        values = set(kernel.params) | variables
        for op in walk(kernel.body):
            if op in top and _can_be_had(op, analysis, slots, values):
                values.add(op)
        bad = {
            op.operands[0] for op in top
            if op.opdef is ops.STORE_LOCAL
            and op.operands[0] in slots
            and op.operands[1] not in values
        }  # fmt: skip
        if not bad:
            return slots, values
        slots -= bad


def _can_be_had(op: Op, analysis: Uniformity, slots: set[Op], values: set[Op]) -> bool:
    row = op.opdef
    if row is ops.CUBE_UNIFORM:
        return True
    if row is ops.LOAD_LOCAL:
        return op.operands[0] in slots
    if analysis.shape(op) != UNIFORM or row in (
        ops.SHARED,
        ops.LOCAL_ARRAY,
        ops.LOCAL,
        ops.STORE_LOCAL,
    ):
        return False
    if row is ops.LENGTH or row is ops.STRIDE:
        return True
    if not (row.has(Trait.PURE) or row is ops.LOAD):
        return False
    return all(operand in values for operand in op.operands)
