"""Bounds of integers over all units of a cube, as ops that are the same in every unit.

For `separate_whole_cubes`. An interval is two ops of type `index`, with the numbers they are known
to lie between; where arithmetic on them could overflow, `conditions` first demand that it does not.
"""

from __future__ import annotations

import math

from cubepy.ir import (
    BOOL,
    INDEX,
    BufferType,
    Builder,
    Op,
    OpDef,
    PrivateType,
    Scalar,
    SharedType,
    ops,
)
from cubepy.ir.analyses import FLIPPED
from cubepy.records import dataclass

__all__ = ["CubeBounds"]

_AXES = "xyz"
# Limits of every launch (cubepy/runtime/grid.py), and what adds up, or multiplies, within i64.
_ALONG, _UNITS, _ADDS, _MULTIPLIES = 1 << 54, 1 << 62, 1 << 61, 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interval:
    """`low` <= value <= `high`, both between `least` and `most`."""

    low: Op
    high: Op
    least: int
    most: int


class CubeBounds:
    """Emits into `builder`; all `conditions` must hold for the bounds to be right."""

    def __init__(
        self, builder: Builder, cube_dim: tuple[int, int, int], loops: dict[Op, Op]
    ) -> None:
        self.conditions: list[Op] = []
        self._builder = builder
        self._cube_dim = cube_dim
        self._loops = loops
        self._known: dict[Op, _Interval] = {}

    # ── what must hold ──

    def require(self, row: OpDef, a: Op, b: Op) -> None:
        """Demand that a comparison holds."""
        self.conditions.append(self._builder.emit(row, a, b))

    def require_inside(self, index: Op, extent: Op) -> None:
        """Demand that a subscript is inside for every unit."""
        interval = self.of(index)
        if interval.least < 0:
            self.require(ops.GE, interval.low, self._builder.index(0))
        self.require(ops.LT, interval.high, extent)

    def require_between(self, value: Op, low: int, high: int) -> None:
        """Demand that a value lies between two numbers, both included, for every unit."""
        interval = self.of(value)
        if interval.least < low:
            self.require(ops.GE, interval.low, self._builder.index(low))
        if interval.most > high:
            self.require(ops.LE, interval.high, self._builder.index(high))

    def require_condition(self, condition: Op, *, wanted: bool) -> None:
        """Demand that a condition is `wanted` for every unit."""
        row = condition.opdef
        if row is ops.BIT_NOT:
            self.require_condition(condition.operands[0], wanted=not wanted)
            return
        if row in (ops.BIT_AND, ops.BIT_OR) and condition.type is BOOL:
            for part in condition.operands:
                self.require_condition(part, wanted=wanted)
            return
        a, b = (self.of(operand) for operand in condition.operands)
        row = row if wanted else FLIPPED[row]
        if row in (ops.LT, ops.LE):
            self.require(row, a.high, b.low)
        elif row in (ops.GT, ops.GE):
            self.require(row, a.low, b.high)
        else:
            below, above = self._emit(ops.LT, a.high, b.low), self._emit(ops.GT, a.low, b.high)
            self.conditions.append(self._emit(ops.BIT_OR, below, above))

    # ── intervals ──

    def of(self, op: Op) -> _Interval:
        """Least and greatest value over all units and trips."""
        if op not in self._known:
            self._known[op] = self._fitting(op, self._compute(op))
        return self._known[op]

    def _emit(self, row: OpDef, *operands: Op) -> Op:
        return self._builder.emit(row, *operands)

    def _number(self, value: int) -> _Interval:
        constant = self._builder.index(value)
        return _Interval(low=constant, high=constant, least=value, most=value)

    def _same(self, op: Op, least: int, most: int) -> _Interval:
        return _Interval(low=op, high=op, least=least, most=most)

    def _limited(self, interval: _Interval, limit: int) -> _Interval:
        """The interval, which is demanded to lie within plus and minus the limit."""
        least, most = interval.least, interval.most
        if least < -limit:
            self.require(ops.GE, interval.low, self._builder.index(-limit))
            least = -limit
        if most > limit:
            self.require(ops.LE, interval.high, self._builder.index(limit))
            most = limit
        return _Interval(low=interval.low, high=interval.high, least=least, most=most)

    def _fitting(self, op: Op, interval: _Interval) -> _Interval:
        """In a narrower type the exact result must be representable, or it has wrapped."""
        scalar = op.type
        assert isinstance(scalar, Scalar)
        least, most = interval.least, interval.most
        if least < scalar.minimum:
            self.require(ops.GE, interval.low, self._builder.index(scalar.minimum))
            least = scalar.minimum
        if most > scalar.maximum:
            self.require(ops.LE, interval.high, self._builder.index(scalar.maximum))
            most = scalar.maximum
        return _Interval(low=interval.low, high=interval.high, least=least, most=most)

    def _compute(self, op: Op) -> _Interval:
        row, scalar = op.opdef, op.type
        assert isinstance(scalar, Scalar)
        if op in self._loops:
            return self._loop_variable(self._loops[op])
        if row is ops.CONST:
            value = op.attrs["value"]
            assert isinstance(value, int)
            return self._number(value)
        if row is ops.PARAM:
            return self._argument(op, scalar)
        if row in (ops.LENGTH, ops.STRIDE):
            memory, axis = op.operands[0].type, op.attrs["axis"]
            if not isinstance(memory, BufferType):  # a local array is made later than the test
                assert isinstance(memory, SharedType | PrivateType)
                assert isinstance(axis, int)
                stride = math.prod(memory.shape[axis + 1 :])
                return self._number(memory.shape[axis] if row is ops.LENGTH else stride)
            copy = self._builder.emit(row, op.operands[0], attrs=op.attrs)
            return self._same(copy, 0 if row is ops.LENGTH else -_UNITS, _UNITS)
        return self._operation(op) if op.operands else self._position(row)

    def _argument(self, op: Op, scalar: Scalar) -> _Interval:
        if scalar is INDEX:
            return self._same(op, scalar.minimum, scalar.maximum)
        wide = self._builder.emit(ops.CAST, op, attrs={"to": INDEX})
        if scalar.bits == 64 and not scalar.is_signed:  # a large one has become negative
            self.require(ops.GE, wide, self._builder.index(0))
            return self._same(wide, 0, INDEX.maximum)
        return self._same(wide, scalar.minimum, scalar.maximum)

    def _position(self, row: OpDef) -> _Interval:
        x, y, z = self._cube_dim
        kind, _, axis = row.name.rpartition("_")
        if row.name == "absolute_pos":
            return self._linear()
        if axis in _AXES and kind == "absolute_pos":
            return self._along(_AXES.index(axis))
        if axis in _AXES and kind == "unit_pos":
            return self._from_zero(self._cube_dim[_AXES.index(axis)] - 1)
        if row in (ops.UNIT_POS, ops.UNIT_POS_PLANE, ops.PLANE_POS):
            return self._from_zero(x * y * z - 1)
        return self._same(self._emit(row), 0, _ALONG if axis in _AXES else _UNITS)

    def _from_zero(self, last: int) -> _Interval:
        first, end = self._builder.index(0), self._builder.index(last)
        return _Interval(low=first, high=end, least=0, most=last)

    def _along(self, axis: int) -> _Interval:
        """ABSOLUTE_POS along an axis."""
        dim, name = self._cube_dim[axis], f"cube_pos_{_AXES[axis]}"
        first = self._emit(ops.MUL, self._emit(ops.BY_NAME[name]), self._builder.index(dim))
        last = self._emit(ops.ADD, first, self._builder.index(dim - 1))
        return _Interval(low=first, high=last, least=0, most=_ALONG)

    def _linear(self) -> _Interval:
        """ABSOLUTE_POS: of the cube's first unit and of its last."""
        places = [self._along(axis) for axis in range(3)]
        wide, high = (self._units(axis) for axis in range(2))
        ends = []
        for x, y, z in zip(*((place.low, place.high) for place in places), strict=True):
            rows = self._emit(ops.ADD, y, self._emit(ops.MUL, high, z))
            ends.append(self._emit(ops.ADD, x, self._emit(ops.MUL, wide, rows)))
        return _Interval(low=ends[0], high=ends[1], least=0, most=_UNITS)

    def _units(self, axis: int) -> Op:
        count = self._emit(ops.BY_NAME[f"cube_count_{_AXES[axis]}"])
        return self._emit(ops.MUL, count, self._builder.index(self._cube_dim[axis]))

    def _loop_variable(self, loop: Op) -> _Interval:
        start = self.of(loop.operands[0])
        stop = self._limited(self.of(loop.operands[1]), _ADDS)
        one = self._builder.index(1)
        last = self._emit(ops.MAX, start.low, self._emit(ops.SUB, stop.high, one))
        most = max(start.most, stop.most - 1)
        up = _Interval(low=start.low, high=last, least=start.least, most=most)
        first = self._emit(ops.MIN, start.high, self._emit(ops.ADD, stop.low, one))
        least = min(start.least, stop.least + 1)
        down = _Interval(low=first, high=start.high, least=least, most=start.most)
        step = loop.operands[2]
        if step.opdef is not ops.CONST:  # one that only the launch knows may go either way
            return self._either(up, down)
        value = step.attrs["value"]
        assert isinstance(value, int)
        return up if value > 0 else down

    def _operation(self, op: Op) -> _Interval:
        row = op.opdef
        if row is ops.SELECT:
            return self._either(self.of(op.operands[1]), self.of(op.operands[2]))
        if row is ops.CAST and op.operands[0].type is BOOL:
            return self._either(self._number(0), self._number(1))
        a = self.of(op.operands[0])
        if row is ops.CAST:
            return a
        if row is ops.NEG:
            return self._difference(self._number(0), a)
        if row is ops.SHL:
            count = op.operands[1].attrs["value"]
            assert isinstance(count, int)
            return self._product(a, self._number(1 << count))
        b = self.of(op.operands[1])
        if row is ops.ADD:
            return self._sum(a, b)
        if row is ops.SUB:
            return self._difference(a, b)
        if row is ops.MUL:
            return self._product(a, b)
        if row in (ops.MIN, ops.MAX):
            best = min if row is ops.MIN else max
            return _Interval(
                low=self._emit(row, a.low, b.low), high=self._emit(row, a.high, b.high),
                least=best(a.least, b.least), most=best(a.most, b.most),
            )  # fmt: skip
        return self._quotient(row, a, b)

    def _either(self, a: _Interval, b: _Interval) -> _Interval:
        low, high = self._emit(ops.MIN, a.low, b.low), self._emit(ops.MAX, a.high, b.high)
        return _Interval(low=low, high=high, least=min(a.least, b.least), most=max(a.most, b.most))

    def _sum(self, a: _Interval, b: _Interval) -> _Interval:
        a, b = self._limited(a, _UNITS), self._limited(b, _ADDS)
        return _Interval(
            low=self._emit(ops.ADD, a.low, b.low), high=self._emit(ops.ADD, a.high, b.high),
            least=a.least + b.least, most=a.most + b.most,
        )  # fmt: skip

    def _difference(self, a: _Interval, b: _Interval) -> _Interval:
        a, b = self._limited(a, _UNITS), self._limited(b, _ADDS)
        return _Interval(
            low=self._emit(ops.SUB, a.low, b.high), high=self._emit(ops.SUB, a.high, b.low),
            least=a.least - b.most, most=a.most - b.least,
        )  # fmt: skip

    def _product(self, a: _Interval, b: _Interval) -> _Interval:
        if max(map(abs, _corners(a, b))) > INDEX.maximum:
            a, b = self._limited(a, _MULTIPLIES), self._limited(b, _MULTIPLIES)
        numbers = _corners(a, b)
        if a.least >= 0 and b.least >= 0:
            low, high = self._emit(ops.MUL, a.low, b.low), self._emit(ops.MUL, a.high, b.high)
        else:
            products = [self._emit(ops.MUL, x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
            low = high = products[0]
            for each in products[1:]:
                low, high = self._emit(ops.MIN, low, each), self._emit(ops.MAX, high, each)
        return _Interval(low=low, high=high, least=min(numbers), most=max(numbers))

    def _quotient(self, row: OpDef, a: _Interval, b: _Interval) -> _Interval:
        """Division of what is not negative by what is positive."""
        if a.least < 0:
            self.require(ops.GE, a.low, self._builder.index(0))
        if b.least < 1:
            self.require(ops.GT, b.low, self._builder.index(0))
        if row in (ops.FLOOR_DIV, ops.TRUNC_DIV):
            low = self._emit(ops.TRUNC_DIV, a.low, b.high)
            high = self._emit(ops.TRUNC_DIV, a.high, b.low)
            return _Interval(low=low, high=high, least=0, most=max(0, a.most))
        last = self._emit(ops.SUB, b.high, self._builder.index(1))
        high = self._emit(ops.MIN, a.high, last)
        return _Interval(low=self._builder.index(0), high=high, least=0, most=max(0, a.most))


def _corners(a: _Interval, b: _Interval) -> list[int]:
    return [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
