"""Arithmetic on lengths and subscripts: with Python's integers while known, else by ops."""

from __future__ import annotations

import ast
from collections.abc import Callable

from cubepy.frontend.coercion import as_index
from cubepy.frontend.comptime import known_value
from cubepy.frontend.frame import Frame
from cubepy.frontend.values import Known, Value
from cubepy.ir import INDEX, Op, OpDef, ops

__all__ = ["Length", "Lengths", "as_value"]

Length = int | Op

# Longer than any array: a step beyond it takes one element.
_FAR = 1 << 62


def as_value(length: Length) -> Value:
    """A length as a value of the kernel that stays known."""
    return Known(length, kept=True) if isinstance(length, int) else length


class Lengths:
    """Arithmetic at one place of a function."""

    def __init__(self, frame: Frame, at: ast.AST) -> None:
        self.frame = frame
        self.at = at

    def of(self, value: Value, what: str = "a subscript") -> Length:
        """An integer of the kernel."""
        known = known_value(self.frame, value)
        if isinstance(known, int) and not isinstance(known, bool) and abs(known) <= _FAR:
            return known
        return as_index(self.frame, value, self.at, what)

    def op(self, length: Length) -> Op:
        """A length as an op."""
        if isinstance(length, Op):
            return length
        return self.frame.const(INDEX, length, self.at)

    def _apply(
        self, row: OpDef, function: Callable[[int, int], int], a: Length, b: Length
    ) -> Length:
        if isinstance(a, int) and isinstance(b, int):
            return function(a, b)
        return self.frame.emit(row, self.op(a), self.op(b), at=self.at)

    def add(self, a: Length, b: Length) -> Length:
        """A + b"""
        if a == 0 or b == 0:
            return b if a == 0 else a
        return self._apply(ops.ADD, lambda x, y: x + y, a, b)

    def sub(self, a: Length, b: Length) -> Length:
        """A - b"""
        return a if b == 0 else self._apply(ops.SUB, lambda x, y: x - y, a, b)

    def mul(self, a: Length, b: Length) -> Length:
        """A * b"""
        if a == 1 or b == 1:
            return b if a == 1 else a
        return self._apply(ops.MUL, lambda x, y: x * y, a, b)

    def least(self, a: Length, b: Length) -> Length:
        """min(a, b)"""
        return self._apply(ops.MIN, min, a, b)

    def greatest(self, a: Length, b: Length) -> Length:
        """max(a, b)"""
        return self._apply(ops.MAX, max, a, b)

    def quotient(self, a: Length, b: Length) -> Length:
        """A // b, and 0 for b == 0"""
        return a if b == 1 else self._apply(ops.FLOOR_DIV, lambda x, y: x // y if y else 0, a, b)

    def rest(self, a: Length, b: Length) -> Length:
        """A % b, and 0 for b == 0"""
        return self._apply(ops.FLOOR_MOD, lambda x, y: x % y if y else 0, a, b)

    def product(self, lengths: tuple[Length, ...]) -> Length:
        """All of them multiplied."""
        total: Length = 1
        for length in lengths:
            total = self.mul(total, length)
        return total

    def where(self, condition: Op, a: Length, b: Length) -> Length:
        """`a` where the condition holds, else `b`."""
        if a is b or (isinstance(a, int) and a == b):
            return a
        return self.frame.emit(ops.SELECT, condition, self.op(a), self.op(b), at=self.at)

    def between(self, low: Length, length: Length, high: Length) -> Length:
        """The nearest to `length` from `low` to `high`."""
        return self.least(self.greatest(length, low), high)

    def steps(self, distance: Length, size: int) -> Length:
        """How many steps of a known size begin in a distance."""
        ahead = self.greatest(distance, 0)
        if size == 1:
            return ahead
        if size >= _FAR:
            return self.least(ahead, 1)
        return self.quotient(self.add(ahead, size - 1), size)
