"""Before::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %acc: private<f32, [2]> = local_array [element=f32, shape=(2)]
      %0: index = const 0
      %1: index = const 1
      store %acc, %1, %a [check=checked]
      %2: f32 = load %acc, %1 [check=checked]
      store %y, %0, %2 [check=checked]
    }

After::

    kernel @k(%a: f32, %y: global<f32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %0: f32 = const 0.0
      %acc: slot<f32> = local [element=f32]
      store_local %acc, %0
      %1: index = const 0
      %2: index = const 1
      store_local %acc, %a
      %3: f32 = load_local %acc
      store %y, %1, %3 [check=checked]
    }

A private array whose every subscript is a known number inside becomes a slot for each element that
is used; they hold 0 at first, as good as the arbitrary value of memory that was never written.
"""

from __future__ import annotations

from cubepy.ir import (
    Kernel,
    Op,
    PrivateType,
    Region,
    Rewriter,
    SlotType,
    freeze_attrs,
    map_bodies,
    ops,
    walk,
)
from cubepy.location import text_at
from cubepy.passes.context import PassContext
from cubepy.passes.fold_constants import constant
from cubepy.target import Decision, Topic

__all__ = ["promote_private_arrays"]

Element = tuple[Op, tuple[int, ...]]


def promote_private_arrays(kernel: Kernel, context: PassContext) -> Kernel:
    """Make slots of private arrays that are only subscripted with constants."""
    return map_bodies(kernel, lambda body: _promote(body, context))


def _promote(body: Region, context: PassContext) -> Region:
    used: dict[Op, dict[tuple[int, ...], None]] = {}
    refused: dict[Op, Op] = {}
    for op in walk(body):
        if op.opdef is ops.LOCAL_ARRAY:
            used[op] = {}
        for number, operand in enumerate(op.operands):
            if operand.opdef is ops.LOCAL_ARRAY:
                place = _place(op) if number == 0 else None
                if place is None:
                    refused.setdefault(operand, op)
                else:
                    used[operand][place] = None
    chosen = {array: places for array, places in used.items() if array not in refused}
    for array in used:
        context.remark(_remark(array, refused.get(array)))
    return _Promotion(chosen).region(body) if chosen else body


def _remark(array: Op, access: Op | None) -> Decision:
    """What became of an array, and which access forced it."""
    text = "a variable for each element: every subscript is a known number"
    if access is not None:
        assert isinstance(array.type, PrivateType)
        subscripts = access.operands[1 : 1 + array.type.rank]
        forcing = next((each for each in subscripts if constant(each) is None), None)
        text = f"stays in memory: the access in line {access.loc.line} is outside"
        if forcing is not None:
            name = f"`{text_at(forcing.loc)}` " if text_at(forcing.loc) else ""
            text = (
                f"stays in memory: the subscript {name}in line {access.loc.line} is not known "
                "while compiling"
            )
    return Decision(topic=Topic.MEMORY, loc=array.loc, subject=array.name, text=text)


def _place(op: Op) -> tuple[int, ...] | None:
    """The element that a load or store means, if it is known and inside."""
    if op.opdef not in (ops.LOAD, ops.STORE):
        return None
    array = op.operands[0].type
    assert isinstance(array, PrivateType)
    place = []
    for extent, subscript in zip(array.shape, op.operands[1:], strict=False):
        value = constant(subscript)
        if not isinstance(value, int) or not 0 <= value < extent:
            return None
        place.append(value)
    return tuple(place)


class _Promotion:
    """Writes a body with the slots of the chosen arrays."""

    def __init__(self, chosen: dict[Op, dict[tuple[int, ...], None]]) -> None:
        self._chosen = chosen
        self._slots: dict[Element, Op] = {}

    def region(self, body: Region) -> Region:
        rules = {ops.LOCAL_ARRAY: self._declare, ops.LOAD: self._load, ops.STORE: self._store}
        return Rewriter(rules).region(body)

    def _declare(self, op: Op, rewriter: Rewriter) -> Op | None:
        if rewriter.original not in self._chosen:
            return op
        assert isinstance(op.type, PrivateType)
        zero = rewriter.const(op.type.element, 0, op, name="")
        attrs = freeze_attrs({"element": op.type.element})
        type = SlotType(op.type.element)
        for place in self._chosen[op]:
            slot = Op(opdef=ops.LOCAL, type=type, attrs=attrs, loc=op.loc, name=op.name)
            rewriter.out.append(slot)
            rewriter.emit(ops.STORE_LOCAL, slot, zero, like=op)
            self._slots[op, place] = slot
        return None

    def _load(self, op: Op, rewriter: Rewriter) -> Op:
        slot = self._slot(op)
        return op if slot is None else rewriter.emit(ops.LOAD_LOCAL, slot, like=op)

    def _store(self, op: Op, rewriter: Rewriter) -> Op:
        slot = self._slot(op)
        if slot is None:
            return op
        return rewriter.emit(ops.STORE_LOCAL, slot, op.operands[-1], like=op)

    def _slot(self, op: Op) -> Op | None:
        if op.operands[0] not in self._chosen:
            return None
        place = _place(op)
        assert place is not None
        return self._slots[op.operands[0], place]
