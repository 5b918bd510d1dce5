"""Branches, loops, blocks and exits as statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cubepy.codegen.structured.exits import EXITS, crossing_exits, reaches
from cubepy.codegen.structured.expression import Expression, binary, primary, unary
from cubepy.ir import I32, Op, OpDef, Region, Scalar, Trait, ops
from cubepy.records import dataclass

if TYPE_CHECKING:
    from cubepy.codegen.structured.body import Body

__all__ = [
    "Scope",
    "block",
    "branch",
    "conditional_loop",
    "counted_loop",
    "give_back",
    "leave",
]


# What may be asked ahead of the `if` around it: no range that the `if` gives is relied on.
_QUICK = frozenset(
    {ops.CONST, ops.LENGTH, ops.STRIDE, ops.LOAD_LOCAL, ops.CAST}
    | {ops.LT, ops.LE, ops.GT, ops.GE, ops.EQ, ops.NE}
    | {ops.BIT_AND, ops.BIT_OR, ops.BIT_NOT}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A loop or block around; `way` is the variable of exits that cross it, "" if there are
    none.
    """

    construct: OpDef
    way: str = ""


# ── branches ──


def branch(body: Body, op: Op) -> None:
    """`if`, and `else` where it has ops; an `elif` stays one."""
    condition = body.text(op.operands[0])
    body.before(op)
    then, other = op.regions
    if not then.ops and other.ops:
        condition, then, other = unary("!", condition), other, then
    if not other.ops:
        condition, then = _joined(body, condition, then)
    alone = not other.ops and not crossing_exits(op)
    head = body.language.detour(body, then, condition) if alone else ""
    body.writer.open(head or f"if ({condition}) {{")
    body.region(then)
    _otherwise(body, other)
    body.writer.close()


def _joined(body: Body, condition: Expression, then: Region) -> tuple[Expression, Region]:
    """The conditions of `if`s that have nothing but another in them as one, which is computed
    whole: a branch for each costs compilers for processors more than a test too many.
    """
    while _only_asks(then):
        *ahead, inner = then.ops
        body.writer.show()
        body.region(Region(ops=tuple(ahead)))
        body.writer.at(inner.loc)
        asked = body.text(inner.operands[0])
        body.before(inner)
        condition, then = binary("&", condition, asked), inner.regions[0]
    return condition, then


def _only_asks(region: Region) -> bool:
    if not region.ops or region.ops[-1].opdef is not ops.IF or region.ops[-1].regions[1].ops:
        return False
    return all(
        op.opdef in _QUICK or (op.opdef.has(Trait.PURE) and not op.operands)
        for op in region.ops[:-1]
    )


def _otherwise(body: Body, other: Region) -> None:
    while other.ops:
        head = body.writer.middle("} else {")
        if other.ops[-1].opdef is not ops.IF:
            body.region(other)
            return
        before = body.writer.written
        body.region(Region(ops=other.ops[:-1]))
        last = other.ops[-1]
        chained = body.writer.written == before and body.is_ready(last)
        if not chained:
            body.region(Region(ops=(last,)))
            return
        condition = body.text(last.operands[0])
        body.writer.replace(head, f"}} else if ({condition}) {{")
        body.region(last.regions[0])
        other = last.regions[1]


# ── loops ──


def counted_loop(body: Body, op: Op) -> None:
    """A range: a plain `for` where its variable cannot overflow, else one that counts trips."""
    body.before(op)
    region = op.regions[0]
    (variable,) = region.params
    language = body.language
    scalar, trip_type = language.counter(op)
    start, stop, step = op.operands
    number = step.attrs.get("value") if step.opdef is ops.CONST else None
    name = body.names.fresh(variable.name or "i")
    if isinstance(number, int) and number and _stays_inside(body, stop, number, scalar):
        end = language.counted(op, stop, body.name(stop))
        first = language.counted(op, start, body.text(start))
        body.text(step)
        with_head = language.counting(scalar, name, first.text, end.text, number)
        scope = _enter(body, op, with_head)
    else:
        first = language.counted(op, start, body.name(start))
        by = language.counted(op, step, body.name(step))
        trips = body.names.fresh("trips")
        end = language.counted(op, stop, body.text(stop))
        count = language.trips(scalar, first.text, end.text, by.text)
        body.writer.line(language.constant(trip_type, trips, count))
        trip, zero = body.names.fresh("trip"), language.literal(trip_type, 0).text
        scope = _enter(body, op, language.counting(trip_type, trip, zero, trips, 1))
        moved = language.stepped(scalar, first.text, trip, by.text)
        body.writer.line(language.constant(scalar, name, moved))
    body.bind(variable, primary(name))
    body.region(region)
    _exit(body, op, scope)


def _stays_inside(body: Body, stop: Op, step: int, scalar: Scalar) -> bool:
    """Whether the variable, one step beyond the last trip, is still within its type."""
    if step in (1, -1):
        return True
    known = body.bounds(stop)
    if known is None:
        return False
    low, high = known
    return high + step - 1 <= scalar.maximum if step > 0 else low + step + 1 >= scalar.minimum


def conditional_loop(body: Body, op: Op) -> None:
    """`while`, with its condition in the head where that needs no statements."""
    body.before(op)
    first, inside = op.regions
    writer = body.writer
    scope = _enter(body, op, body.language.endless)
    head, written = len(writer.lines) - 1, writer.written
    body.region(Region(ops=first.ops[:-1]))
    condition = body.text(first.ops[-1].operands[0])
    if writer.written == written:
        del writer.lines[head + 1 :]
        if condition.text != "true":
            writer.replace(head, f"while ({condition}) {{")
    else:
        writer.open(f"if ({unary('!', condition)}) {{")
        writer.line("break;")
        writer.close()
    body.region(inside)
    _exit(body, op, scope)


def block(body: Body, op: Op) -> None:
    """A part that `leave` ends."""
    body.before(op)
    head, tail = body.language.block
    scope = _enter(body, op, head)
    body.region(op.regions[0])
    _exit(body, op, scope, tail)


def _enter(body: Body, op: Op, head: str) -> Scope:
    way = ""
    if crossing_exits(op):
        way = body.names.fresh("way_out")
        zero = body.language.literal(I32, 0).text
        body.writer.line(body.language.variable(I32, way, zero))
    scope = Scope(construct=op.opdef, way=way)
    body.writer.open(head)
    body.scopes.append(scope)
    return scope


def _exit(body: Body, op: Op, scope: Scope, tail: str = "}") -> None:
    body.writer.close(tail)
    body.scopes.pop()
    for row in sorted(crossing_exits(op), key=lambda row: EXITS[row]):
        body.writer.open(f"if ({scope.way} == {body.language.literal(I32, EXITS[row])}) {{")
        _go(body, row)
        body.writer.close()


# ── exits ──


def leave(body: Body, op: Op) -> None:
    """`break`, `continue`, `leave`."""
    _go(body, op.opdef)


def _go(body: Body, row: OpDef) -> None:
    scope = body.scopes[-1]
    if reaches(row, scope.construct):
        body.writer.line("continue;" if row is ops.CONTINUE else "break;")
        return
    body.writer.line(f"{scope.way} = {body.language.literal(I32, EXITS[row])};")
    body.writer.line("break;")


def give_back(body: Body, op: Op) -> None:
    """`return`."""
    language = body.language
    values = [language.returned(operand, body.text(operand)) for operand in op.operands]
    if not values:
        body.writer.line("return;")
    elif len(values) == 1:
        body.writer.line(f"return {values[0]};")
    else:
        body.writer.line(f"return {language.results(op, values)};")
