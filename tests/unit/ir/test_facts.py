"""What facts decide of a condition holds for every value that the facts allow."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from cubepy.ir import BOOL, I8, U8, Builder, Op, ops, param
from cubepy.ir.facts import Facts
from cubepy.location import UNKNOWN

COMPARISONS = (ops.LT, ops.LE, ops.GT, ops.GE, ops.EQ, ops.NE)
CONSTANTS = (-128, -1, 0, 1, 2, 100, 127)


class Values:
    """Ops of two unknown numbers, with all their values."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.type = data.draw(st.sampled_from([I8, U8]))
        everything = np.arange(self.type.minimum, self.type.maximum + 1).astype(self.type.numpy)
        a, b = np.meshgrid(everything, everything, indexing="ij")
        self.build = Builder()
        self.known: list[tuple[Op, Any]] = [
            (param("a", self.type, UNKNOWN), a),
            (param("b", self.type, UNKNOWN), b),
        ]

    def grow(self) -> None:
        """A few sums, differences, quotients and constants of what there is."""
        for constant in self.data.draw(st.lists(st.sampled_from(CONSTANTS), max_size=3)):
            if self.type.minimum <= constant <= self.type.maximum:
                attrs: dict[str, Any] = {"type": self.type, "value": constant}
                made = self.build.emit(ops.CONST, attrs=attrs)
                self.known.append((made, np.full_like(self.known[0][1], constant)))
        for row in self.data.draw(
            st.lists(st.sampled_from([ops.ADD, ops.SUB, ops.MIN, ops.FLOOR_DIV]), max_size=3)
        ):
            (x, first), (y, second) = self.pick(), self.pick()
            self.known.append((self.build.emit(row, x, y), value(row, self.type, first, second)))

    def pick(self) -> tuple[Op, Any]:
        found: tuple[Op, Any] = self.data.draw(st.sampled_from(self.known))
        return found

    def condition(self, depth: int = 1) -> tuple[Op, Any]:
        """A comparison, or two of them combined."""
        if depth and self.data.draw(st.booleans()):
            row = self.data.draw(st.sampled_from([ops.BIT_AND, ops.BIT_OR, ops.BIT_NOT]))
            parts = [self.condition(depth - 1) for _ in range(1 if row is ops.BIT_NOT else 2)]
            made = self.build.emit(row, *(op for op, _ in parts))
            return made, value(row, BOOL, *(found for _, found in parts))
        (x, first), (y, second) = self.pick(), self.pick()
        row = self.data.draw(st.sampled_from(COMPARISONS))
        return self.build.emit(row, x, y), value(row, BOOL, first, second)


def value(row: Any, type: Any, *operands: Any) -> Any:
    with np.errstate(all="ignore"):
        return row.evaluate(*operands, type=type, attrs={})


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_decisions_hold_for_every_value(data: st.DataObject) -> None:
    values, facts = Values(data), Facts()
    with values.build.region():
        values.grow()
        allowed = np.ones_like(values.known[0][1], dtype=bool)
        for _ in range(data.draw(st.integers(0, 3))):
            condition, holds = values.condition()
            wanted = data.draw(st.booleans())
            facts.assume(condition, holds=wanted)
            allowed &= holds == wanted
        for _ in range(3):
            condition, holds = values.condition()
            decided = facts.decide(condition)
            if decided is not None:
                assert (holds[allowed] == decided).all()


def test_what_is_decided() -> None:
    build, facts = Builder(), Facts()
    a, b = param("a", I8, UNKNOWN), param("b", I8, UNKNOWN)
    with build.region():
        below = build.emit(ops.LT, a, b)
        one = build.emit(ops.CONST, attrs={"type": I8, "value": 1})
        zero = build.emit(ops.CONST, attrs={"type": I8, "value": 0})
        follow = build.emit(ops.SUB, b, one)
        conditions = {
            build.emit(ops.LE, a, b): True,
            build.emit(ops.GE, a, b): False,
            build.emit(ops.EQ, a, b): False,
            build.emit(ops.NE, b, a): True,
            build.emit(ops.GT, a, zero): None,
            build.emit(ops.GE, b, zero): True,
            build.emit(ops.LE, a, follow): True,
        }
        assert facts.decide(below) is None
        facts.assume(below, holds=True)
        facts.assume(build.emit(ops.GE, b, one), holds=True)
        assert facts.decide(below) is True
        for condition, wanted in conditions.items():
            assert facts.decide(condition) is wanted
        long = below
        for _ in range(5_000):
            long = build.emit(ops.BIT_AND, long, build.emit(ops.NE, a, b))
        assert facts.decide(long) in (None, True)
