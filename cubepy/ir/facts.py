"""What is known of integers at a point of a kernel: intervals, and `a <= b + k` between values.

Facts come from conditions that hold (`assume`) and are taken back when the code they hold for ends
(`mark`, `undo`). Proofs follow the definitions of values: nothing is stored for a value until
someone asks. Values are ops; ops that are the same value have one representative (`same`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cubepy.ir import ops
from cubepy.ir.intervals import TRANSFERS, Interval, meet, union, whole
from cubepy.ir.nodes import Op, scalar_type
from cubepy.ir.opdef import OpDef
from cubepy.ir.types import BOOL, INTEGERS

__all__ = ["Facts"]

DEEPEST = 12  # steps of a proof
MOST_STEPS = 256  # of one proof, over all ways tried
INTEGERS_AND_BOOL = INTEGERS | {BOOL}
_COMPARISONS = frozenset({ops.LT, ops.LE, ops.GT, ops.GE, ops.EQ, ops.NE})
_NEGATED: Mapping[OpDef, OpDef] = {
    ops.LT: ops.GE,
    ops.LE: ops.GT,
    ops.GT: ops.LE,
    ops.GE: ops.LT,
    ops.EQ: ops.NE,
    ops.NE: ops.EQ,
}
_LESSENING = frozenset({ops.FLOOR_DIV, ops.TRUNC_DIV, ops.FLOOR_MOD, ops.TRUNC_REM, ops.SHR})


class Facts:
    """Facts in force. `joins` says of a value that it is one of two, by a condition."""

    def __init__(self) -> None:
        self.base: dict[Op, Interval] = {}
        self.joins: dict[Op, tuple[Op, Op, Op]] = {}
        self._same: dict[Op, Op] = {}
        self._intervals: dict[Op, Interval] = {}
        self._below: dict[Op, dict[Op, int]] = {}
        self._log: list[tuple[dict[Op, Any], Op, Any]] = []
        self._remembered: dict[Op, Interval] = {}
        self._steps = 0

    # ── what holds where ──────────────────────────────────────────────────────────────────────

    def mark(self) -> int:
        """A point to come back to."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Forget what was learnt since."""
        if len(self._log) > mark:
            self._remembered.clear()
        while len(self._log) > mark:
            table, key, old = self._log.pop()
            if old is None:
                table.pop(key, None)
            else:
                table[key] = old

    def equate(self, op: Op, value: Op) -> None:
        """`op` is the same value as `value` from here on."""
        found = op if op is value else self.same(value)
        if op in self._same or op in self._remembered:
            self._remembered.clear()  # a loop is walked again
        self._same[op] = found

    def same(self, op: Op) -> Op:
        """The representative of a value, through casts that keep it."""
        while True:
            known = self._same.get(op, op)
            if known is op:
                if op.opdef is not ops.CAST or not self._kept(op):
                    return op
                known = op.operands[0]
            op = known

    def _kept(self, cast: Op) -> bool:
        """Whether a cast between integers gives every value it may meet unchanged."""
        source = cast.operands[0]
        if cast.type not in INTEGERS or source.type not in INTEGERS:
            return False
        low, high = self.interval(source)
        wide = whole(scalar_type(cast))
        return wide[0] <= low and high <= wide[1]

    # ── intervals ─────────────────────────────────────────────────────────────────────────────

    def interval(self, op: Op, depth: int = DEEPEST) -> Interval:
        """Where an integer or bool lies."""
        if op.opdef is ops.CONST:
            value = op.attrs["value"]
            assert isinstance(value, int)
            return value, value
        op = self._same.get(op, op)
        if op in self._remembered:
            return self._remembered[op]
        found = self._computed(op, depth)
        for table in (self.base, self._intervals):
            if op in table:
                found = meet(found, table[op])
        if depth > DEEPEST // 2:
            self._remembered[op] = found
        return found

    def _computed(self, op: Op, depth: int) -> Interval:
        """What the definition of a value says of it."""
        type = scalar_type(op)
        if depth == 0:
            return whole(type)
        transfer = TRANSFERS.get(op.opdef)
        if transfer is not None and type in INTEGERS:
            a, b = (self.interval(operand, depth - 1) for operand in op.operands)
            return transfer(type, a, b)
        if op.opdef is ops.SELECT:
            return union(*(self.interval(arm, depth - 1) for arm in op.operands[1:]))
        if op.opdef is ops.CAST and op.operands[0].type in INTEGERS_AND_BOOL:
            low, high = self.interval(op.operands[0], depth - 1)
            limits = whole(type)
            return (low, high) if limits[0] <= low and high <= limits[1] else limits
        return whole(type)

    # ── learning ──────────────────────────────────────────────────────────────────────────────

    def assume(self, condition: Op, *, holds: bool) -> None:
        """Take in that a bool is true, or false."""
        work = [(condition, holds)]
        while work:
            op, truth = work.pop()
            op = self.same(op)
            if op.opdef is ops.BIT_NOT:
                work.append((op.operands[0], not truth))
            elif op.opdef is (ops.BIT_AND if truth else ops.BIT_OR):
                work += [(operand, truth) for operand in op.operands]
            elif op in self.joins:
                work += self._which(self.joins[op], truth=truth)
            elif op.opdef in _COMPARISONS and op.operands[0].type in INTEGERS:
                self._compare(op.opdef if truth else _NEGATED[op.opdef], *op.operands)

    def _which(self, join: tuple[Op, Op, Op], *, truth: bool) -> list[tuple[Op, bool]]:
        """A bool that is `a` where the condition holds, else `b`: which arm gave `truth`?"""
        condition, a, b = join
        if _is(a, not truth) or (a is condition and not truth):
            return [(condition, False), (b, truth)]
        if _is(b, not truth) or (b is condition and truth):
            return [(condition, True), (a, truth)]
        return []

    def _compare(self, opdef: OpDef, a: Op, b: Op) -> None:
        if opdef is ops.LT or opdef is ops.LE:
            self.at_most(a, b, -1 if opdef is ops.LT else 0)
        elif opdef is ops.GT or opdef is ops.GE:
            self.at_most(b, a, -1 if opdef is ops.GT else 0)
        elif opdef is ops.EQ:
            self.at_most(a, b, 0)
            self.at_most(b, a, 0)
        else:
            self._differ(a, b)
            self._differ(b, a)

    def _differ(self, a: Op, b: Op) -> None:
        """An end of an interval that the other value takes is not taken."""
        (low, high), (other, also) = self.interval(a), self.interval(b)
        if other == also == low:
            self.within(a, (low + 1, high))
        elif other == also == high:
            self.within(a, (low, high - 1))

    def at_most(self, a: Op, b: Op, k: int) -> None:
        """Take in that `a <= b + k`."""
        self.within(a, (whole(scalar_type(a))[0], self.interval(b)[1] + k))
        self.within(b, (self.interval(a)[0] - k, whole(scalar_type(b))[1]))
        b, shift = self._shifted(b)
        k += shift
        while True:
            a = self.same(a)
            if b.opdef is not ops.CONST:
                known = self._below.get(a, {})
                if known.get(b, k + 1) > k:
                    self._set(self._below, a, {**known, b: k})
            base, shift = self._shifted(a)
            if base is a:
                return
            a, k = base, k - shift

    def within(self, op: Op, limits: Interval) -> None:
        """Take in that a value lies in an interval; so does what it is a shifted copy of."""
        while op.opdef is not ops.CONST:
            op = self.same(op)
            known = self.interval(op)
            found = meet(known, limits)
            if found == known:
                return
            self._set(self._intervals, op, found)
            base, shift = self._shifted(op)
            if base is op:
                return
            op, limits = base, (limits[0] - shift, limits[1] - shift)

    def _shifted(self, op: Op) -> tuple[Op, int]:
        """An op as another plus a constant, where that cannot wrap around."""
        op, total = self.same(op), 0
        while op.opdef is ops.ADD or op.opdef is ops.SUB:
            base, constant = op.operands
            if constant.opdef is not ops.CONST:
                break
            value = constant.attrs["value"]
            assert isinstance(value, int)
            shift = value if op.opdef is ops.ADD else -value
            low, high = self.interval(base)
            limits = whole(scalar_type(op))
            if low + shift < limits[0] or high + shift > limits[1]:
                break
            op, total = self.same(base), total + shift
        return op, total

    def _set(self, table: dict[Op, Any], key: Op, value: Any) -> None:
        self._log.append((table, key, table.get(key)))
        table[key] = value
        self._remembered.clear()

    # ── proofs ────────────────────────────────────────────────────────────────────────────────

    def not_negative(self, op: Op) -> bool:
        """Whether `op >= 0` can be shown."""
        op = self.same(op)
        if self.interval(op)[0] >= 0:
            return True
        if op.opdef is not ops.SUB:
            return False
        a, b = op.operands
        return self.interval(b)[0] >= 0 and self.at_most_by(b, a, 0)

    def decide(self, condition: Op, depth: int = DEEPEST) -> bool | None:
        """Whether a bool is shown to be true, or to be false; None if it is neither."""
        op = self.same(condition)
        if op.opdef is ops.CONST:
            return bool(op.attrs["value"])
        if depth == 0 or not op.operands:
            return None
        if op.opdef is ops.BIT_NOT:
            inner = self.decide(op.operands[0], depth - 1)
            return None if inner is None else not inner
        if op.opdef is ops.BIT_AND or op.opdef is ops.BIT_OR:
            enough = op.opdef is ops.BIT_OR
            parts = [self.decide(operand, depth - 1) for operand in op.operands]
            return enough if enough in parts else None if None in parts else not enough
        if op.opdef in _COMPARISONS and op.operands[0].type in INTEGERS:
            return self._decide_comparison(op.opdef, *op.operands)
        return None

    def _decide_comparison(self, opdef: OpDef, a: Op, b: Op) -> bool | None:
        if opdef is ops.GT or opdef is ops.GE:
            return self._decide_comparison(ops.LT if opdef is ops.GT else ops.LE, b, a)
        if opdef is ops.EQ or opdef is ops.NE:
            if self.at_most_by(a, b, -1) or self.at_most_by(b, a, -1):
                return opdef is ops.NE
            same = self.at_most_by(a, b, 0) and self.at_most_by(b, a, 0)
            return opdef is ops.EQ if same else None
        strict = -1 if opdef is ops.LT else 0
        if self.at_most_by(a, b, strict) or (strict == 0 and _is_zero(a) and self.not_negative(b)):
            return True
        return False if self.at_most_by(b, a, -1 - strict) else None

    def upper_bounds(self, op: Op) -> tuple[tuple[Op, int], ...]:
        """Pairs (value, k) with `op <= value + k`, as learnt from conditions."""
        base, shift = self._shifted(op)
        own = self._below.get(self.same(op), {}).items()
        return (*own, *((value, k + shift) for value, k in self._below.get(base, {}).items()))

    def at_most_by(self, op: Op, target: Op, k: int) -> bool:
        """Whether `op <= target + k` can be shown."""
        self._steps = MOST_STEPS
        return self._below_in(op, target, k, DEEPEST)

    def _below_in(self, op: Op, target: Op, k: int, depth: int) -> bool:
        self._steps -= 1
        op = self.same(op)
        target, shift = self._shifted(target)
        k += shift
        if op is target:
            return k >= 0
        if self.interval(op)[1] <= self.interval(target)[0] + k:
            return True
        if depth == 0 or self._steps < 0:
            return False
        for other, offset in self._below.get(op, {}).items():
            if self._below_in(other, target, k - offset, depth - 1):
                return True
        return self._below_by_definition(op, target, k, depth - 1)

    def _below_by_definition(self, op: Op, target: Op, k: int, depth: int) -> bool:
        if op in self.joins:
            return all(self._below_in(arm, target, k, depth) for arm in self.joins[op][1:])
        match op.opdef:
            case ops.SELECT:
                return all(self._below_in(arm, target, k, depth) for arm in op.operands[1:])
            case ops.MAX:
                return all(self._below_in(arm, target, k, depth) for arm in op.operands)
            case ops.MIN:
                return any(self._below_in(arm, target, k, depth) for arm in op.operands)
            case ops.ADD | ops.SUB:
                return self._below_sum(op, target, k, depth)
            case ops.MUL:
                return self._below_multiple(op, target, k, depth)
            case ops.BIT_AND:
                return any(
                    self.interval(arm)[0] >= 0 and self._below_in(arm, target, k, depth)
                    for arm in op.operands
                )
        if op.opdef not in _LESSENING:
            return False
        a, b = op.operands
        lessening = self.interval(a)[0] >= 0 and self.interval(b)[0] >= 0
        if lessening and self._below_in(a, target, k, depth):
            return True
        modulo = op.opdef is ops.FLOOR_MOD and self.interval(b)[0] > 0
        return modulo and self._below_in(b, target, k + 1, depth)

    def _below_sum(self, op: Op, target: Op, k: int, depth: int) -> bool:
        a, b = op.operands
        (a_low, a_high), (b_low, b_high) = self.interval(a), self.interval(b)
        limits = whole(scalar_type(op))
        if op.opdef is ops.SUB:
            fits = limits[0] <= a_low - b_high and a_high - b_low <= limits[1]
            return fits and self._below_in(a, target, k + b_low, depth)
        fits = limits[0] <= a_low + b_low and a_high + b_high <= limits[1]
        return fits and (
            self._below_in(a, target, k - b_high, depth)
            or self._below_in(b, target, k - a_high, depth)
        )

    def _below_multiple(self, op: Op, target: Op, k: int, depth: int) -> bool:
        """`a // c * c <= a`, for what is not negative."""
        quotient, factor = self.same(op.operands[0]), op.operands[1]
        if quotient.opdef not in (ops.FLOOR_DIV, ops.TRUNC_DIV):
            return False
        a, c = quotient.operands
        same = self.same(c) is self.same(factor) or (
            c.opdef is factor.opdef is ops.CONST and c.attrs["value"] == factor.attrs["value"]
        )
        positive = self.interval(a)[0] >= 0 and self.interval(c)[0] > 0
        return same and positive and self._below_in(a, target, k, depth)


def _is_zero(op: Op) -> bool:
    return op.opdef is ops.CONST and op.attrs["value"] == 0


def _is(op: Op, value: bool) -> bool:  # noqa: FBT001 - the value of a constant
    return op.opdef is ops.CONST and op.attrs["value"] is value
