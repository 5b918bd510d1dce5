"""Which 64-bit integers are kept in an i32: those shown to fit, so that a subscript is one word.

`index` is a 64-bit integer in meaning. A launch on such a device has at most `index_limit` units,
and arrays as many elements, so positions, lengths and most of what is computed from them fit; what
does not, or comes from memory, is a pair of words. Sums and products of which only subscripts known
to be inside are made need their low words alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from cubepy.codegen.wgsl.types import is_wide
from cubepy.ir import I32, TRANSFERS, Kernel, Op, Ranges, Scalar, SlotType, ops, walk

__all__ = ["MODULAR", "fits_a_word", "narrow_values"]

_PLACES = frozenset(
    row
    for row in ops.BY_NAME.values()
    if not row.operands and row.python.endswith(row.name.upper())
)
_COMPUTED = frozenset({*TRANSFERS, ops.SELECT, ops.CAST, ops.NEG, ops.ABS})
#: Ops whose low word depends on the low words of their operands only.
MODULAR = frozenset(
    {ops.ADD, ops.SUB, ops.MUL, ops.NEG, ops.BIT_AND, ops.BIT_OR, ops.BIT_XOR, ops.BIT_NOT}
)
_MEASURES = frozenset({ops.LENGTH, ops.STRIDE, ops.EXTENT_X, ops.EXTENT_Y, ops.EXTENT_Z})


def fits_a_word(op: Op, ranges: Ranges) -> bool:
    """Whether a 64-bit integer is shown to be within an i32."""
    if op.opdef is ops.CONST:
        value = op.attrs["value"]
        return isinstance(value, int) and I32.minimum <= value <= I32.maximum
    if op.opdef in _MEASURES or op.opdef in _PLACES:
        return True
    known = ranges.intervals.get(op)
    return known is not None and I32.minimum <= known[0] and known[1] <= I32.maximum


def narrow_values(kernel: Kernel, ranges: Ranges) -> frozenset[Op]:
    """The 64-bit values and variables of the kernel and its functions that are an i32."""
    found: set[Op] = set()
    for body in (kernel.body, *(function.body for function in kernel.functions)):
        every = list(walk(body))
        found |= _slots(every, ranges)
        for op in every:
            if op.opdef is ops.FOR and all(fits_a_word(each, ranges) for each in op.operands):
                found |= {param for param in op.regions[0].params if _is_wide(param)}
        for op in every:
            if _is_wide(op) and _is_narrow(op, ranges, found):
                found.add(op)
        _add_low_words(every, ranges, found)
    return frozenset(found)


def _add_low_words(every: list[Op], ranges: Ranges, found: set[Op]) -> None:
    """Values whose low word is all that anybody asks for."""
    users: dict[Op, list[Op]] = {}
    for op in every:
        for operand in op.operands:
            users.setdefault(operand, []).append(op)
    for op in reversed(every):
        if (
            _is_wide(op)
            and op.opdef in MODULAR
            and op in users
            and all(_asks_for_low_word(user, op, ranges, found) for user in users[op])
        ):
            found.add(op)


def _asks_for_low_word(user: Op, op: Op, ranges: Ranges, found: set[Op]) -> bool:
    if user.opdef in MODULAR:
        return user in found
    if user.opdef is ops.LOAD:
        subscripts = user.operands[1:]
    elif user.opdef is ops.STORE and user.operands[-1] is not op:
        subscripts = user.operands[1:-1]
    else:
        return False
    checked = user.attrs.get("check", "checked") != "unchecked"
    return all(
        ranges.is_inside(user, axis)
        for axis, each in enumerate(subscripts)
        if each is op and checked
    )


def _is_narrow(op: Op, ranges: Ranges, found: set[Op]) -> bool:
    if op.opdef is ops.LOAD_LOCAL:
        return op.operands[0] in found
    constant = op.opdef in (ops.CONST, *_MEASURES) or op.opdef in _PLACES
    return (constant or op.opdef in _COMPUTED) and fits_a_word(op, ranges)


def _is_wide(op: Op) -> bool:
    return isinstance(op.type, Scalar) and is_wide(op.type)


def _slots(every: Iterable[Op], ranges: Ranges) -> set[Op]:
    """Variables of which every value fits."""
    fitting: dict[Op, bool] = {}
    for op in every:
        if op.opdef is ops.LOCAL:
            assert isinstance(op.type, SlotType)
            if is_wide(op.type.element):
                fitting.setdefault(op, True)
        elif op.opdef is ops.STORE_LOCAL and _is_wide(op.operands[1]):
            slot, value = op.operands
            fitting[slot] = fitting.get(slot, True) and fits_a_word(value, ranges)
    return {slot for slot, fits in fitting.items() if fits}
