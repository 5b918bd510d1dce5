"""What a fast version of the code may take for granted, and the test that it may.

Before a gang (or a row, or a cube) runs, scalar code bounds every subscript and guard that depends
only on positions, arguments, lengths and counted loops: an interval each, by interval arithmetic in
i64 with overflow flags. If all guards hold for every unit and all subscripts are inside, the
version without masks and without bounds tests runs; else the careful one. So the checked mode costs
a few scalar instructions a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cubepy.codegen.llvm.gang import Module
from cubepy.ir import BOOL, BufferType, Op, PrivateType, Region, Scalar, SharedType, ops
from cubepy.ir.analyses import Uniformity
from cubepy.records import dataclass, field
from cubepy.target import WordKind

__all__ = ["Assumptions", "find_assumptions", "guard_code"]

Interval = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Conditions taken as constants, accesses taken as inside, widenings taken as exact."""

    conditions: Mapping[Op, bool] = field(default_factory=dict)
    inside: frozenset[Op] = frozenset()
    exact: frozenset[Op] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.conditions or self.inside or self.exact)


_LEAVES = (ops.LENGTH, ops.STRIDE)
_ARITHMETIC = (ops.ADD, ops.SUB, ops.NEG, ops.MUL, ops.MIN, ops.MAX, ops.CAST, ops.SELECT)
_BY_POSITIVE = (ops.FLOOR_DIV, ops.FLOOR_MOD, ops.TRUNC_DIV, ops.TRUNC_REM)


def _fits(value: object) -> bool:
    return isinstance(value, int) and -(1 << 63) <= value < 1 << 63


class _Computable:
    """Which integer values an interval can be had for, without emitting anything."""

    def __init__(self, body: Region) -> None:
        self.known: dict[Op, bool] = {}
        self.loops: dict[Op, Op] = {}
        self._collect(body)

    def _collect(self, region: Region) -> None:
        for op in region.ops:
            if op.opdef is ops.FOR:
                self.loops[op.regions[0].params[0]] = op
            for inner in op.regions:
                self._collect(inner)

    def __call__(self, op: Op) -> bool:
        if op not in self.known:
            self.known[op] = False
            self.known[op] = self._compute(op)
        return self.known[op]

    def _compute(self, op: Op) -> bool:
        row, scalar = op.opdef, op.type
        if not isinstance(scalar, Scalar) or not scalar.is_integer:
            return False
        if op in self.loops:
            loop = self.loops[op]
            step = loop.operands[2]
            constant = step.opdef is ops.CONST and step.attrs["value"] != 0
            return constant and self(loop.operands[0]) and self(loop.operands[1])
        if row is ops.PARAM:
            return True
        if row is ops.CONST:  # intervals are i64: a larger unsigned number has none
            return _fits(op.attrs["value"])
        if row in _LEAVES or not op.operands:
            return row not in (ops.PLANE_ELECT,)
        if row is ops.SELECT:
            return self(op.operands[1]) and self(op.operands[2])
        if row in _ARITHMETIC:
            return all(self(operand) for operand in op.operands)
        if row in _BY_POSITIVE:
            return self(op.operands[0]) and self(op.operands[1])
        if row is ops.SHL:
            count = op.operands[1]
            small = count.opdef is ops.CONST and 0 <= int(count.attrs["value"]) < 32  # type: ignore[arg-type]
            return small and self(op.operands[0])
        return False


def find_assumptions(body: Region, plain: Uniformity, given: Mapping[Op, bool]) -> Assumptions:
    """What is worth assuming in a body, from its analysis without assumptions. `given` holds
    anyway.
    """
    computable = _Computable(body)
    conditions: dict[Op, bool] = {}
    inside: set[Op] = set()
    exact: set[Op] = set()

    def visit(region: Region) -> None:
        for op in region.ops:
            if op.opdef is ops.IF:
                _branch(op)
                continue
            if _is_checked(op) and all(computable(index) for index in _subscripts(op)):
                inside.add(op)
            if _widens(op) and computable(op.operands[0]):
                exact.add(op)
            for inner in op.regions:
                visit(inner)

    def _branch(op: Op) -> None:
        condition = op.operands[0]
        if condition in given or condition in conditions:
            visit(op.regions[0 if given.get(condition, conditions.get(condition)) else 1])
            return
        wanted = _size(op.regions[0]) >= _size(op.regions[1])
        if plain.shape(condition).level and _decidable(condition, computable, wanted=wanted):
            conditions[condition] = wanted
            visit(op.regions[0 if wanted else 1])
        elif plain.shape(condition).level == 0:
            for inner in op.regions:
                visit(inner)

    visit(body)
    return Assumptions(conditions=conditions, inside=frozenset(inside), exact=frozenset(exact))


def _size(region: Region) -> int:
    return sum(1 + sum(_size(inner) for inner in op.regions) for op in region.ops)


def _is_checked(op: Op) -> bool:
    return "check" in op.attrs and op.attrs["check"] != "unchecked"


def _subscripts(op: Op) -> tuple[Op, ...]:
    memory = op.operands[0]
    assert isinstance(memory.type, BufferType | SharedType | PrivateType)
    return op.operands[1 : 1 + memory.type.rank]


def _widens(op: Op) -> bool:
    if op.opdef is not ops.CAST:
        return False
    source, result = op.operands[0].type, op.type
    assert isinstance(source, Scalar)
    assert isinstance(result, Scalar)
    return source.is_integer and result.is_integer and result.bits > source.bits


_FLIPPED = {
    ops.LT: ops.GE,
    ops.GE: ops.LT,
    ops.GT: ops.LE,
    ops.LE: ops.GT,
    ops.EQ: ops.NE,
    ops.NE: ops.EQ,
}


def _decidable(condition: Op, computable: Callable[[Op], bool], *, wanted: bool) -> bool:
    """Whether intervals can show that a condition is `wanted` for every unit."""
    row = condition.opdef
    if row is ops.BIT_AND and condition.type is BOOL:
        parts = (_decidable(part, computable, wanted=True) for part in condition.operands)
        return wanted and all(parts)
    if row is ops.BIT_OR and condition.type is BOOL:
        return not wanted and all(
            _decidable(part, computable, wanted=False) for part in condition.operands
        )
    if row is ops.BIT_NOT:
        return _decidable(condition.operands[0], computable, wanted=not wanted)
    if row not in _FLIPPED or not all(computable(operand) for operand in condition.operands):
        return False
    return (row if wanted else _FLIPPED[row]) is not ops.EQ


# ── the test itself ─────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Guard:
    """Emits intervals; `conditions` collects i1 names that must all hold."""

    module: Module
    positions: Mapping[str, Interval]
    loops: Mapping[Op, Op]
    intervals: dict[Op, Interval] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)

    def require(self, test: str) -> None:
        self.conditions.append(self.module.w.value(test, "ok"))

    def checked(self, verb: str, a: str, b: str) -> str:
        """A verb b with the absence of overflow required."""
        name = f"llvm.s{verb}.with.overflow.i64"
        self.module.declared[name] = f"declare {{ i64, i1 }} @{name}(i64, i64)"
        pair = self.module.w.value(f"call {{ i64, i1 }} @{name}(i64 {a}, i64 {b})")
        wrapped = self.module.w.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
        self.conditions.append(self.module.w.value(f"xor i1 {wrapped}, true", "ok"))
        return self.module.w.value(f"extractvalue {{ i64, i1 }} {pair}, 0")

    def extreme(self, which: str, *names: str) -> str:
        result = names[0]
        intrinsic = f"llvm.s{which}.i64"
        self.module.declared[intrinsic] = f"declare i64 @{intrinsic}(i64, i64)"
        for name in names[1:]:
            result = self.module.w.value(f"call i64 @{intrinsic}(i64 {result}, i64 {name})")
        return result

    def of(self, op: Op) -> Interval:
        """Least and greatest value over all units and trips."""
        if op not in self.intervals:
            interval = self._compute(op)
            self._fit(op, interval)
            self.intervals[op] = interval
        return self.intervals[op]

    def _fit(self, op: Op, interval: Interval) -> None:
        """Narrow and unsigned types: the exact result must be representable, or it has wrapped."""
        scalar = op.type
        assert isinstance(scalar, Scalar)
        if op.opdef is ops.CONST or (scalar.is_signed and scalar.bits == 64) or not op.operands:
            return
        self.require(f"icmp sge i64 {interval[0]}, {scalar.minimum}")
        if scalar.bits < 64:
            self.require(f"icmp sle i64 {interval[1]}, {scalar.maximum}")

    def _compute(self, op: Op) -> Interval:
        row = op.opdef
        if op in self.loops:
            return self._loop_variable(self.loops[op])
        if row is ops.CONST:
            return (str(op.attrs["value"]),) * 2
        if row is ops.PARAM:
            return (self._argument(op),) * 2
        if row is ops.LENGTH:
            axis = op.attrs["axis"]
            assert isinstance(axis, int)
            return (self.module.shape_of(op.operands[0], axis),) * 2
        if row is ops.STRIDE:
            axis = op.attrs["axis"]
            assert isinstance(axis, int)
            number = self.module.params[op.operands[0]]
            return (self.module.word(WordKind.STRIDE, number, axis),) * 2
        if not op.operands:
            return self.positions[row.name]
        return self._operation(op)

    def _argument(self, op: Op) -> str:
        scalar, w = op.type, self.module.w
        assert isinstance(scalar, Scalar)
        name = self.module.scalar_argument(op)
        if scalar.bits == 64:
            if not scalar.is_signed:
                self.require(f"icmp sge i64 {name}, 0")
            return name
        return w.value(f"{'sext' if scalar.is_signed else 'zext'} i{scalar.bits} {name} to i64")

    def _loop_variable(self, loop: Op) -> Interval:
        start, stop = self.of(loop.operands[0]), self.of(loop.operands[1])
        step = loop.operands[2].attrs["value"]
        assert isinstance(step, int)
        if step > 0:
            last = self.checked("sub", stop[1], "1")
            return start[0], self.extreme("max", start[0], last)
        last = self.checked("add", stop[0], "1")
        return self.extreme("min", start[1], last), start[1]

    def _operation(self, op: Op) -> Interval:
        row = op.opdef
        if row is ops.SELECT:
            a, b = self.of(op.operands[1]), self.of(op.operands[2])
            return self.extreme("min", a[0], b[0]), self.extreme("max", a[1], b[1])
        a = self.of(op.operands[0])
        if row is ops.NEG:
            return self.checked("sub", "0", a[1]), self.checked("sub", "0", a[0])
        if row is ops.CAST:
            return a
        if row is ops.SHL:
            factor = str(1 << int(op.operands[1].attrs["value"]))  # type: ignore[arg-type]
            return self.checked("mul", a[0], factor), self.checked("mul", a[1], factor)
        b = self.of(op.operands[1])
        if row is ops.ADD:
            return self.checked("add", a[0], b[0]), self.checked("add", a[1], b[1])
        if row is ops.SUB:
            return self.checked("sub", a[0], b[1]), self.checked("sub", a[1], b[0])
        if row is ops.MUL:
            return self._product(a, b)
        if row in (ops.MIN, ops.MAX):
            which = "min" if row is ops.MIN else "max"
            return self.extreme(which, a[0], b[0]), self.extreme(which, a[1], b[1])
        return self._quotient(op, a, b)

    def _product(self, a: Interval, b: Interval) -> Interval:
        if a[0] == a[1] and b[0] == b[1]:
            return (self.checked("mul", a[0], b[0]),) * 2
        corners = [self.checked("mul", x, y) for x in dict.fromkeys(a) for y in dict.fromkeys(b)]
        return self.extreme("min", *corners), self.extreme("max", *corners)

    def _quotient(self, op: Op, a: Interval, b: Interval) -> Interval:
        """Division of what is not negative by what is positive."""
        self.require(f"icmp sge i64 {a[0]}, 0")
        self.require(f"icmp sgt i64 {b[0]}, 0")
        w = self.module.w
        low, high = self.extreme("max", b[0], "1"), self.extreme("max", b[1], "1")
        if op.opdef in (ops.FLOOR_DIV, ops.TRUNC_DIV):
            return w.value(f"sdiv i64 {a[0]}, {high}"), w.value(f"sdiv i64 {a[1]}, {low}")
        return "0", self.extreme("min", a[1], w.value(f"sub i64 {high}, 1"))

    def condition(self, condition: Op, *, wanted: bool) -> None:
        """Require that a condition is `wanted` for every unit."""
        row = condition.opdef
        if row is ops.BIT_NOT:
            self.condition(condition.operands[0], wanted=not wanted)
            return
        if row in (ops.BIT_AND, ops.BIT_OR):
            for part in condition.operands:
                self.condition(part, wanted=wanted)
            return
        a, b = (self.of(operand) for operand in condition.operands)
        row = row if wanted else _FLIPPED[row]
        if row is ops.LT:
            self.require(f"icmp slt i64 {a[1]}, {b[0]}")
        elif row is ops.LE:
            self.require(f"icmp sle i64 {a[1]}, {b[0]}")
        elif row is ops.GT:
            self.require(f"icmp sgt i64 {a[0]}, {b[1]}")
        elif row is ops.GE:
            self.require(f"icmp sge i64 {a[0]}, {b[1]}")
        else:
            below = self.module.w.value(f"icmp slt i64 {a[1]}, {b[0]}")
            above = self.module.w.value(f"icmp sgt i64 {a[0]}, {b[1]}")
            self.require(f"or i1 {below}, {above}")


def guard_code(
    module: Module, body: Region, assumptions: Assumptions, positions: Mapping[str, Interval]
) -> str:
    """Emit the test here; gives the name of an i1."""
    guard = _Guard(module=module, positions=positions, loops=_Computable(body).loops)
    for condition, wanted in assumptions.conditions.items():
        guard.condition(condition, wanted=wanted)
    for op in sorted(assumptions.inside, key=_order(body)):
        for axis, index in enumerate(_subscripts(op)):
            low, high = guard.of(index)
            guard.require(f"icmp sge i64 {low}, 0")
            guard.require(f"icmp slt i64 {high}, {module.shape_of(op.operands[0], axis)}")
    for op in sorted(assumptions.exact, key=_order(body)):
        guard.of(op.operands[0])
    total = "true"
    for condition_name in dict.fromkeys(guard.conditions):
        total = (
            condition_name
            if total == "true"
            else module.w.value(f"and i1 {total}, {condition_name}", "ok")
        )
    return total


def _order(body: Region) -> Callable[[Op], int]:
    """Program order, so that the text does not depend on addresses."""
    numbers: dict[Op, int] = {}

    def visit(region: Region) -> None:
        for op in region.ops:
            numbers[op] = len(numbers)
            for inner in op.regions:
                visit(inner)

    visit(body)
    return numbers.__getitem__
