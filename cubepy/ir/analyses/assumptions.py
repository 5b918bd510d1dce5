"""What a fast version of the code may take for granted, once a test of it has succeeded.

Before a gang (or a row, or a cube) runs, scalar code bounds every subscript and guard that depends
only on positions, arguments, lengths and counted loops: an interval each, by interval arithmetic in
i64 with overflow flags. If all guards hold for every unit and all subscripts are inside, the
version without masks and without bounds tests runs; else the careful one. So the checked mode costs
a few scalar instructions a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cubepy.ir import ops
from cubepy.ir.analyses.uniformity import Uniformity
from cubepy.ir.nodes import Op, Region, walk
from cubepy.ir.types import BOOL, BufferType, PrivateType, Scalar, SharedType
from cubepy.records import dataclass, field

__all__ = [
    "FLIPPED",
    "Assumptions",
    "Computable",
    "Unbounded",
    "find_assumptions",
    "fits",
    "subscripts",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbounded:
    """Why an access is not taken as inside: a value in its subscripts that no interval can be had
    for, or (`branch`) a condition above it on which units part.
    """

    value: Op
    branch: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Conditions taken as constants, accesses taken as inside, widenings taken as exact.

    `unbounded` says of each other access that is tested what keeps it from being taken as inside.
    """

    conditions: Mapping[Op, bool] = field(default_factory=dict)
    inside: frozenset[Op] = frozenset()
    exact: frozenset[Op] = frozenset()
    unbounded: Mapping[Op, Unbounded] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.conditions or self.inside or self.exact)


_LEAVES = (ops.LENGTH, ops.STRIDE)
_ARITHMETIC = (ops.ADD, ops.SUB, ops.NEG, ops.MUL, ops.MIN, ops.MAX, ops.CAST, ops.SELECT)
_BY_POSITIVE = (ops.FLOOR_DIV, ops.FLOOR_MOD, ops.TRUNC_DIV, ops.TRUNC_REM)


def fits(value: object) -> bool:
    """Whether a number is one of i64."""
    return isinstance(value, int) and -(1 << 63) <= value < 1 << 63


class Computable:
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

    def culprit(self, op: Op) -> Op:
        """The innermost value on which an interval of `op`, which has none, founders."""
        while True:
            parts = self.loops[op].operands[:2] if op in self.loops else op.operands
            if op.opdef in (ops.LOAD, ops.LOAD_LOCAL):
                return op
            inner = next((part for part in parts if not self(part)), None)
            if inner is None:
                return op
            op = inner

    def _compute(self, op: Op) -> bool:
        row, scalar = op.opdef, op.type
        if not isinstance(scalar, Scalar) or not scalar.is_integer:
            return False
        if op in self.loops:
            step = self.loops[op].operands[2]
            still = step.opdef is ops.CONST and step.attrs["value"] == 0
            return not still and all(self(operand) for operand in self.loops[op].operands)
        if row is ops.PARAM:
            return True
        if row is ops.CONST:  # intervals are i64: a larger unsigned number has none
            return fits(op.attrs["value"])
        if row in _LEAVES or not op.operands:
            return row not in (ops.PLANE_ELECT,)
        if row is ops.SELECT:
            return self(op.operands[1]) and self(op.operands[2])
        if row is ops.CAST and op.operands[0].type is BOOL:  # 0 or 1
            return True
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
    search = _Search(plain=plain, given=given, computable=Computable(body))
    search.region(body)
    return Assumptions(
        conditions=search.conditions,
        inside=frozenset(search.inside),
        exact=frozenset(search.exact),
        unbounded=search.unbounded,
    )


@dataclass(slots=True, kw_only=True)
class _Search:
    """A walk over a body in the order of the program; what it finds is as in Assumptions."""

    plain: Uniformity
    given: Mapping[Op, bool]
    computable: Computable
    conditions: dict[Op, bool] = field(default_factory=dict)
    inside: set[Op] = field(default_factory=set)
    exact: set[Op] = field(default_factory=set)
    unbounded: dict[Op, Unbounded] = field(default_factory=dict)

    def region(self, region: Region) -> None:
        for op in region.ops:
            if op.opdef is ops.IF:
                self._branch(op)
                continue
            if _is_checked(op):
                self._access(op)
            if _widens(op) and self.computable(op.operands[0]):
                self.exact.add(op)
            for inner in op.regions:
                self.region(inner)

    def _access(self, op: Op) -> None:
        unknown = next((each for each in subscripts(op) if not self.computable(each)), None)
        if unknown is None:
            self.inside.add(op)
        else:
            self.unbounded[op] = Unbounded(value=self.computable.culprit(unknown))

    def _branch(self, op: Op) -> None:
        condition = op.operands[0]
        if condition in self.given or condition in self.conditions:
            holds = self.given.get(condition, self.conditions.get(condition))
            self.region(op.regions[0 if holds else 1])
            return
        wanted = _size(op.regions[0]) >= _size(op.regions[1])
        if self.plain.shape(condition).level == 0:
            for inner in op.regions:
                self.region(inner)
        elif _decidable(condition, self.computable, wanted=wanted):
            self.conditions[condition] = wanted
            self.region(op.regions[0 if wanted else 1])
        else:
            under = Unbounded(value=condition, branch=True)
            self.unbounded.update((each, under) for part in op.regions for each in _checked(part))


def _checked(region: Region) -> Iterator[Op]:
    """The accesses of a region, and of those inside, that are tested."""
    return (op for op in walk(region) if _is_checked(op))


def _size(region: Region) -> int:
    return sum(1 + sum(_size(inner) for inner in op.regions) for op in region.ops)


def _is_checked(op: Op) -> bool:
    return "check" in op.attrs and op.attrs["check"] != "unchecked"


def subscripts(op: Op) -> tuple[Op, ...]:
    """The subscripts of an access, one an axis."""
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


FLIPPED = {
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
    if row not in FLIPPED or not all(computable(operand) for operand in condition.operands):
        return False
    return (row if wanted else FLIPPED[row]) is not ops.EQ
