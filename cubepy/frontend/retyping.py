"""Locals begun by a literal get another type from the start where a use needs one.

So do locals that only stand behind the value used: an f32 computed from nothing but literals and
such locals is *weak*, and a use that needs f64 makes f64 of all of them. What a value is computed
from is read off its ops; of variables in slots, off what is stored to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.frontend.frame import Frame
from cubepy.frontend.promotion import literal_fits, locals_may_become, promote
from cubepy.ir import BOOL, F32, F64, Op, Scalar, Trait, ops

__all__ = ["is_weak", "note_store", "retype", "widen"]


def retype(frame: Frame, op: Op, wanted: Scalar) -> bool:
    """Let the local that `op` reads have another type from the start, if it began as a literal."""
    variable = frame.soft.get(op)
    if variable is None:
        return False
    target = locals_may_become(wanted)
    earlier = frame.plan.types.get(variable)
    if target is not None and earlier is not None:
        target = _join(earlier, target)
    if target is None:
        return False
    binding = frame.bindings[variable]
    if not all(literal_fits(value, target) for value in binding.literals):
        return False
    if target not in (earlier, binding.type):
        frame.plan.types[variable] = target
        frame.plan.changed = True
    return True


def widen(frame: Frame, op: Op, wanted: Scalar) -> None:
    """Where f64 is wanted of an f32 that comes from literals, let it be f64 from the start."""
    if wanted == F64:
        for each in _locals_behind(frame, op):
            retype(frame, each, F64)


def _join(earlier: Scalar, wanted: Scalar) -> Scalar | None:
    if earlier.is_integer and wanted.is_float:
        return wanted
    return promote(earlier, wanted)


def is_weak(frame: Frame, op: Op) -> bool:
    """Whether an f32 comes from literals and locals begun by them alone, as far as is known yet."""
    if op.type != F32:
        return False
    if op in frame.soft:
        return True
    if op.opdef is ops.LOAD_LOCAL:
        return op.operands[0] in frame.stores and op.operands[0] not in frame.hard_slots
    known = frame.weak.get(op)
    if known is None:
        parts = _parts(op)
        known = bool(parts) and all(is_weak(frame, part) for part in parts)
        frame.weak[op] = known
    return known


def _parts(op: Op) -> Sequence[Op]:
    """What a value is computed from, if that is computing: casts are somebody's wish."""
    if not op.opdef.has(Trait.PURE) or op.opdef is ops.CAST:
        return ()
    return [operand for operand in op.operands if operand.type != BOOL]


def note_store(frame: Frame, slot: Op, value: Op) -> None:
    """A value is stored to a variable's slot."""
    frame.stores.setdefault(slot, []).append(value)
    if not is_weak(frame, value):
        frame.hard_slots.add(slot)


def _locals_behind(frame: Frame, op: Op) -> Sequence[Op]:
    """The reads of locals begun by literals that a weak float is computed from."""
    if not is_weak(frame, op):
        return ()
    found, pending, seen = [], [op], {op}
    while pending:
        current = pending.pop()
        if current in frame.soft:
            found.append(current)
            continue
        from_slot = current.opdef is ops.LOAD_LOCAL
        parts = frame.stores[current.operands[0]] if from_slot else _parts(current)
        new = [part for part in parts if part not in seen]
        seen.update(new)
        pending += new
    return found
