"""The test that the fast version of the code may run, as scalar LLVM code: intervals of subscripts
and guards, and what must hold of them.

Interval arithmetic is done in i64 with overflow flags. What is worth testing is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cubepy.codegen.llvm.gang import Module
from cubepy.ir import BOOL, I64, INDEX, Op, Region, Scalar, ops
from cubepy.ir.analyses import FLIPPED, Assumptions, Computable, fits, subscripts
from cubepy.records import dataclass, field
from cubepy.target import WordKind

__all__ = ["Interval", "guard_code", "taken_apart"]

Interval = tuple[str, str]

_TESTS_OF_A_BLOCK = 64


@dataclass(slots=True)
class _Guard:
    """Emits intervals and tests that must all hold, each of them once.

    `pending`: i1 names that nothing has looked at yet. Every so many of them are looked at, and
    `failed` is gone to if one does not hold: LLVM's time grows with the square of a block's length.
    """

    module: Module
    positions: Mapping[str, Interval]
    loops: Mapping[Op, Op]
    intervals: dict[Op, Interval] = field(default_factory=dict)
    tests: set[str] = field(default_factory=set)
    sums: dict[tuple[str, str, str], str] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    exits: list[str] = field(default_factory=list)
    failed: str = ""

    def require(self, test: str) -> None:
        if test not in self.tests:
            self.tests.add(test)
            self._holds(self.module.w.value(test, "ok"))

    def _holds(self, name: str) -> None:
        self.pending.append(name)
        if len(self.pending) >= _TESTS_OF_A_BLOCK:
            self._look()

    def _look(self) -> None:
        """End the block with a look at what is pending."""
        w = self.module.w
        self.failed = self.failed or w.fresh("tested.")
        self.exits.append(w.label)
        following = w.fresh("test.")
        w.branch(self._all(), following, self.failed, likely=True)
        w.begin(following)

    def _all(self) -> str:
        total = "true"
        for name in self.pending:
            w = self.module.w
            total = name if total == "true" else w.value(f"and i1 {total}, {name}", "ok")
        self.pending.clear()
        return total

    def result(self) -> str:
        """An i1: whether everything holds."""
        w, total = self.module.w, self._all()
        if not self.exits:
            return total
        ways = [*((exit, "false") for exit in self.exits), (w.label, total)]
        w.jump(self.failed)
        w.begin(self.failed)
        return w.value(f"phi i1 {', '.join(f'[ {value}, %{label} ]' for label, value in ways)}")

    def checked(self, verb: str, a: str, b: str) -> str:
        """A verb b with the absence of overflow required."""
        if (verb, a, b) in self.sums:
            return self.sums[verb, a, b]
        w, name = self.module.w, f"llvm.s{verb}.with.overflow.i64"
        self.module.declared[name] = f"declare {{ i64, i1 }} @{name}(i64, i64)"
        pair = w.value(f"call {{ i64, i1 }} @{name}(i64 {a}, i64 {b})")
        wrapped = w.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
        result = self.sums[verb, a, b] = w.value(f"extractvalue {{ i64, i1 }} {pair}, 0")
        self._holds(w.value(f"xor i1 {wrapped}, true", "ok"))
        return result

    def plus(self, name: str, number: int) -> str:
        """A sum with the absence of overflow required."""
        if name == "0":
            return str(number)
        return name if number == 0 else self.checked("add", name, str(number))

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
        step = loop.operands[2].attrs.get("value")
        if not isinstance(step, int):  # known at the launch only: upwards, as nearly always
            self.require(f"icmp sgt i64 {self.of(loop.operands[2])[0]}, 0")
            step = 1
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
        if row is ops.CAST and op.operands[0].type is BOOL:
            return "0", "1"
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
        row = row if wanted else FLIPPED[row]
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


Reach = tuple[Op, int, Op | None]


def _reaches(accesses: Sequence[Op]) -> dict[Reach, tuple[int, int]]:
    """By memory, axis and base the least and the greatest number that subscripts add to the base.

    What holds for these two holds for all between them, so `x[i + 1]`, `x[i + 2]`, … are one test.
    """
    reaches: dict[Reach, tuple[int, int]] = {}
    for op in accesses:
        for axis, index in enumerate(subscripts(op)):
            base, offset = taken_apart(index)
            key = (op.operands[0], axis, base)
            least, most = reaches.get(key, (offset, offset))
            reaches[key] = (min(least, offset), max(most, offset))
    return reaches


def taken_apart(index: Op) -> tuple[Op | None, int]:
    """A subscript as a base and a number; no base for a constant."""
    base, offset = index, 0
    while base.opdef in (ops.ADD, ops.SUB) and base.type in (INDEX, I64):
        number = base.operands[1].attrs.get("value")
        if base.operands[1].opdef is not ops.CONST or not isinstance(number, int):
            break
        offset += number if base.opdef is ops.ADD else -number
        base = base.operands[0]
    number = base.attrs.get("value") if base.opdef is ops.CONST else None
    if isinstance(number, int) and fits(number + offset):
        return None, number + offset
    return (base, offset) if fits(offset) else (index, 0)


def guard_code(
    module: Module, body: Region, assumptions: Assumptions, positions: Mapping[str, Interval]
) -> str:
    """Emit the test here; gives the name of an i1."""
    guard = _Guard(module=module, positions=positions, loops=Computable(body).loops)
    for condition, wanted in assumptions.conditions.items():
        guard.condition(condition, wanted=wanted)
    order = _order(body)
    for (memory, axis, base), (least, most) in _reaches(
        sorted(assumptions.inside, key=order)
    ).items():
        low, high = ("0", "0") if base is None else guard.of(base)
        guard.require(f"icmp sge i64 {guard.plus(low, least)}, 0")
        guard.require(f"icmp slt i64 {guard.plus(high, most)}, {module.shape_of(memory, axis)}")
    for op in sorted(assumptions.exact, key=order):
        guard.of(op.operands[0])
    return guard.result()


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
