"""Functions of cubepy and Python's own number functions, in kernels.

A function whose meaning is one op of the table is lowered from its row; the others are spelled out
here in terms of ops.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from functools import cache

from cubepy.errors import ComptimeError, CubeSyntaxError, CubeTypeError, CubeValueError
from cubepy.frontend.calls import Call, bind_call, cast, lowers_builtin, lowers_intrinsic
from cubepy.frontend.coercion import (
    Operand,
    as_condition,
    as_index,
    convert,
    describe,
    literal,
    retype,
    scalar_type,
    snippet,
    typed,
    unify,
)
from cubepy.frontend.comptime import comptime_value, from_python, known_value
from cubepy.frontend.frame import Frame
from cubepy.frontend.memory import memory_length
from cubepy.frontend.operators import binary
from cubepy.frontend.scalars import scalar_of
from cubepy.frontend.values import (
    NONE,
    Known,
    TupleValue,
    Value,
    is_memory,
    is_number,
)
from cubepy.ir import (
    BOOL,
    F32,
    I32,
    INDEX,
    SCALARS,
    Op,
    OpDef,
    PrivateType,
    Scalar,
    SharedType,
    Trait,
    TypeRuleError,
    ops,
    param,
)

__all__ = ["elementwise_rows"]

_SPECIAL = frozenset(
    {"select", "cast", "bitcast", "shared", "local_array", "len", "abs", "min", "max", "round"}
)


def elementwise_rows() -> list[OpDef]:
    """Rows that are plain functions of one to three numbers."""
    return [
        row
        for name, row in ops.BY_PYTHON.items()
        if name.isidentifier() and row.has(Trait.PURE) and row.operands and name not in _SPECIAL
    ]


@cache
def _takes(row: OpDef, type: Scalar) -> bool:
    """Whether a row's type rule takes operands of a type."""
    try:
        row.rule((type,) * len(row.operands), {})
    except TypeRuleError:
        return False
    return True


def _operands(frame: Frame, call: Call, *names: str) -> list[Operand]:
    return [operand for operand in bind_call(frame, call, *names) if operand is not None]


def _elementwise(row: OpDef) -> Callable[[Frame, Call], Value]:
    def run(frame: Frame, call: Call) -> Value:
        operands = _operands(frame, call, *row.operands)
        return apply_row(frame, row, operands, call.node, call.name)

    return run


def apply_row(frame: Frame, row: OpDef, operands: list[Operand], at: ast.AST, name: str) -> Value:
    """One op on operands brought to one type."""
    for operand in operands:
        if not is_number(operand.value):
            typed(frame, operand.value, operand.node)
    made = unify(frame, operands, at, f"take {row.python} of")
    type = scalar_type(made[0])
    if not _takes(row, type):
        made = _floats(frame, row, operands, made, at, name)
    return frame.emit(row, *made, at=at)


def _floats(
    frame: Frame, row: OpDef, operands: list[Operand], made: list[Op], at: ast.AST, name: str
) -> list[Op]:
    """Integers for a function of floats: literals and small ones are converted, others an error."""
    type = scalar_type(made[0])
    weak = all(
        isinstance(operand.value, Known)
        or (isinstance(operand.value, Op) and operand.value in frame.soft)
        for operand in operands
    )
    if _takes(row, F32) and type.is_integer and (type.bits <= 16 or weak):
        for operand in operands:
            if isinstance(operand.value, Op):
                retype(frame, operand.value, F32)
        return [convert(frame, op, F32, at) for op in made]
    takes = [name for name, kind in (("floats", F32), ("integers", I32)) if _takes(row, kind)]
    family = takes[0] if len(takes) == 1 else "numbers"
    wanted = "i32" if family == "integers" or type == BOOL else "f32"
    raise frame.error(
        CubeTypeError,
        f"{name} takes {family}, not {type}",
        at,
        f"convert: {name}({wanted}({snippet(operands[0].node)}))",
    )


for _row in elementwise_rows():
    lowers_intrinsic(_row.python)(_elementwise(_row))


# ── Python's own functions on run-time values ────────────────────────────────────────────────────


@lowers_builtin(builtins.abs)
@lowers_intrinsic("abs")
def lower_abs(frame: Frame, call: Call) -> Value:
    """`abs(x)`."""
    return apply_row(frame, ops.ABS, _operands(frame, call, "value"), call.node, call.name)


@lowers_builtin(builtins.round)
@lowers_intrinsic("round")
def lower_round(frame: Frame, call: Call) -> Value:
    """`round(x)`: half to even; a float stays a float, an integer is itself."""
    (operand,) = _operands(frame, call, "value")
    op = typed(frame, operand.value, operand.node)
    if scalar_type(op).is_integer:
        return op
    return apply_row(frame, ops.ROUND, [operand], call.node, call.name)


@lowers_builtin(builtins.min, builtins.max)
@lowers_intrinsic("min", "max")
def lower_extreme(frame: Frame, call: Call) -> Value:
    """`min(a, b, …)`, `max(a, b, …)`, also of one tuple."""
    row = ops.MIN if call.name.endswith("min") else ops.MAX
    return _extreme(frame, row, call)


def _extreme(frame: Frame, row: OpDef, call: Call) -> Value:
    operands = list(call.positional)
    if call.keywords:
        raise frame.error(CubeTypeError, f"{call.name} takes no keywords", call.node)
    if len(operands) == 1 and isinstance(operands[0].value, TupleValue):
        operands = [Operand(item, operands[0].node) for item in operands[0].value.items]
    if not operands:
        raise frame.error(CubeTypeError, f"{call.name} of nothing", call.node)
    for operand in operands:
        if not is_number(operand.value):
            typed(frame, operand.value, operand.node)
    made = unify(frame, operands, call.node, f"take the {row.name} of")
    if scalar_type(made[0]) == BOOL:
        raise frame.error(CubeTypeError, f"{call.name} of bools", call.node, "use & or |")
    result = made[0]
    for other in made[1:]:
        result = frame.emit(row, result, other, at=call.node)
    return result


@lowers_builtin(builtins.divmod)
def lower_divmod(frame: Frame, call: Call) -> Value:
    """`divmod(a, b)`."""
    left, right = _operands(frame, call, "a", "b")
    quotient = binary(frame, ast.FloorDiv(), left, right, call.node)
    return TupleValue((quotient, binary(frame, ast.Mod(), left, right, call.node)))


@lowers_builtin(builtins.pow)
@lowers_intrinsic("pow")
def lower_pow(frame: Frame, call: Call) -> Value:
    """`pow(a, b)` is `a ** b`."""
    left, right = _operands(frame, call, "base", "exponent")
    return binary(frame, ast.Pow(), left, right, call.node)


@lowers_builtin(builtins.len)
def lower_len(frame: Frame, call: Call) -> Value:
    """`len(x)`: along the first axis; of a tuple, its elements."""
    (operand,) = _operands(frame, call, "value")
    value = operand.value
    if isinstance(value, TupleValue):
        return Known(len(value.items))
    if isinstance(value, Op) and is_memory(value):
        return memory_length(frame, value, 0, call.node)
    raise frame.error(CubeTypeError, f"{describe(value)} has no len()", call.node)


@lowers_builtin(builtins.sum)
def lower_sum(frame: Frame, call: Call) -> Value:
    """`sum(tuple)`: from left to right."""
    (operand,) = _operands(frame, call, "values")
    if not isinstance(operand.value, TupleValue) or not operand.value.items:
        raise frame.error(
            CubeTypeError, f"sum of {describe(operand.value)}", call.node, "write a loop"
        )
    first, *rest = operand.value.items
    total = Operand(first, operand.node)
    for item in rest:
        value = binary(frame, ast.Add(), total, Operand(item, operand.node), call.node)
        total = Operand(value, call.node)
    return total.value


@lowers_builtin(builtins.tuple, builtins.list)
def lower_to_tuple(frame: Frame, call: Call) -> Value:
    """`tuple(x)` of a tuple."""
    (operand,) = _operands(frame, call, "values")
    return TupleValue(tuple(_sequence(frame, operand)))


def _sequence(frame: Frame, operand: Operand) -> list[Value]:
    value = operand.value
    if isinstance(value, TupleValue):
        return list(value.items)
    if isinstance(value, Known) and hasattr(value.value, "__iter__"):
        return [from_python(frame, item, operand.node) for item in value.value]
    raise frame.error(
        CubeTypeError,
        f"{describe(value)} is no sequence known while compiling",
        operand.node,
        "loop over range(len(x))" if is_memory(value) else "",
    )


@lowers_builtin(builtins.enumerate)
def lower_enumerate(frame: Frame, call: Call) -> Value:
    """`enumerate(tuple)`."""
    (operand,) = _operands(frame, call, "values")
    pairs = enumerate(_sequence(frame, operand))
    return TupleValue(tuple(TupleValue((Known(number), item)) for number, item in pairs))


@lowers_builtin(builtins.zip)
def lower_zip(frame: Frame, call: Call) -> Value:
    """`zip(tuples…)`."""
    columns = [_sequence(frame, operand) for operand in call.positional]
    return TupleValue(tuple(TupleValue(row) for row in zip(*columns, strict=False)))


@lowers_builtin(builtins.reversed)
def lower_reversed(frame: Frame, call: Call) -> Value:
    """`reversed(tuple)`."""
    (operand,) = _operands(frame, call, "values")
    return TupleValue(tuple(reversed(_sequence(frame, operand))))


@lowers_builtin(builtins.range)
def lower_range(frame: Frame, call: Call) -> Value:
    """A `range` that is not the head of a loop must be known while compiling."""
    numbers = [comptime_value(frame, operand.value, operand.node, "a range outside `for`")
               for operand in call.positional]  # fmt: skip
    return Known(range(*numbers))


@lowers_builtin(builtins.print)
def lower_print(frame: Frame, call: Call) -> Value:
    """`print` has no op yet."""
    raise frame.error(
        CubeSyntaxError, "print in a kernel", call.node, "store the value in an array"
    )


# ── conversion and choice ────────────────────────────────────────────────────────────────────────


def _dtype(frame: Frame, operand: Operand) -> Scalar:
    value = operand.value
    scalar = scalar_of(value.value) if isinstance(value, Known) else None
    if scalar is None:
        raise frame.error(
            CubeTypeError,
            f"expected a type, got {describe(value)}",
            operand.node,
            "write a scalar type, for example cb.f32",
        )
    return scalar


@lowers_intrinsic("cast")
def lower_cast(frame: Frame, call: Call) -> Value:
    """`cb.cast(T, x)`."""
    dtype, operand = _operands(frame, call, "dtype", "value")
    return cast(frame, _dtype(frame, dtype), operand, call.node)


@lowers_intrinsic("bitcast")
def lower_bitcast(frame: Frame, call: Call) -> Value:
    """`cb.bitcast(T, x)`; a literal has the width of T."""
    dtype, operand = _operands(frame, call, "dtype", "value")
    target = _dtype(frame, dtype)
    value = operand.value
    if isinstance(value, Known) and is_number(value) and not isinstance(value.value, bool):
        family = "f" if isinstance(value.value, float) else "i" if value.value < 0 else "u"
        source = scalar_of(_by_name(f"{family}{target.bits}"))
        if source is None:
            raise frame.error(CubeTypeError, f"no float has {target.bits} bits", operand.node)
        op = literal(frame, value.value, source, operand.node)
    else:
        op = typed(frame, value, operand.node)
    if op.type == target:
        return op
    return frame.emit(ops.BITCAST, op, at=call.node, attrs={"to": target})


def _by_name(name: str) -> Scalar | None:
    return SCALARS.get(name)


@lowers_intrinsic("select")
def lower_select(frame: Frame, call: Call) -> Value:
    """`cb.select(c, a, b)`: both are evaluated."""
    condition, a, b = _operands(frame, call, "condition", "a", "b")
    chosen = as_condition(frame, condition.value, condition.node)
    lhs, rhs = unify(frame, [a, b], call.node, "choose between")
    if isinstance(chosen, bool):
        return lhs if chosen else rhs
    return frame.emit(ops.SELECT, chosen, lhs, rhs, at=call.node)


# ── spelled out ──────────────────────────────────────────────────────────────────────────────────


@lowers_intrinsic("clamp")
def lower_clamp(frame: Frame, call: Call) -> Value:
    """`cb.clamp(x, low, high)`: `min(max(x, low), high)`."""
    operands = _operands(frame, call, "value", "low", "high")
    value, low, high = unify(frame, operands, call.node, "clamp")
    raised = frame.emit(ops.MAX, value, low, at=call.node)
    return frame.emit(ops.MIN, raised, high, at=call.node)


@lowers_intrinsic("rsqrt")
def lower_rsqrt(frame: Frame, call: Call) -> Value:
    """`1 / sqrt(x)`."""
    root = apply_row(frame, ops.SQRT, _operands(frame, call, "value"), call.node, call.name)
    return binary(
        frame, ast.Div(), Operand(Known(1.0), call.node), Operand(root, call.node), call.node
    )


@lowers_intrinsic("recip")
def lower_recip(frame: Frame, call: Call) -> Value:
    """`1 / x`."""
    (operand,) = _operands(frame, call, "value")
    return binary(frame, ast.Div(), Operand(Known(1.0), call.node), operand, call.node)


@lowers_intrinsic("degrees")
def lower_degrees(frame: Frame, call: Call) -> Value:
    """Radians to degrees."""
    (operand,) = _operands(frame, call, "value")
    factor = Operand(Known(180.0 / math.pi), call.node)
    return binary(frame, ast.Mult(), operand, factor, call.node)


@lowers_intrinsic("radians")
def lower_radians(frame: Frame, call: Call) -> Value:
    """Degrees to radians."""
    (operand,) = _operands(frame, call, "value")
    factor = Operand(Known(math.pi / 180.0), call.node)
    return binary(frame, ast.Mult(), operand, factor, call.node)


@lowers_intrinsic("cdiv")
def lower_cdiv(frame: Frame, call: Call) -> Value:
    """The quotient rounded up: the floor, and one more where something is left."""
    operands = _operands(frame, call, "a", "b")
    values = [operand.value for operand in operands]
    if all(isinstance(value, Known) for value in values):
        a, b = (known_value(frame, value) for value in values)
        return Known(-(-a // b)) if b else Known(0)
    lhs, rhs = unify(frame, operands, call.node, "divide")
    type = scalar_type(lhs)
    if not type.is_integer:
        raise frame.error(CubeTypeError, f"cb.cdiv takes integers, not {type}", call.node)
    quotient = frame.emit(ops.FLOOR_DIV, lhs, rhs, at=call.node)
    rest = frame.emit(ops.FLOOR_MOD, lhs, rhs, at=call.node)
    more = frame.emit(ops.NE, rest, frame.const(type, 0, call.node), at=call.node)
    return frame.emit(ops.ADD, quotient, convert(frame, more, type, call.node), at=call.node)


@lowers_intrinsic("rotl", "rotr")
def lower_rotate(frame: Frame, call: Call) -> Value:
    """Bits moved round: two shifts of the unsigned value."""
    value, count = _operands(frame, call, "value", "count")
    op = typed(frame, value.value, value.node)
    type = scalar_type(op)
    if not type.is_integer:
        raise frame.error(CubeTypeError, f"{call.name} takes integers, not {type}", call.node)
    unsigned = SCALARS[f"u{type.bits}"]
    bits = frame.emit(ops.BITCAST, op, at=call.node, attrs={"to": unsigned}) \
        if type.is_signed else op  # fmt: skip
    steps = convert(frame, as_index(frame, count.value, count.node, "a count"), unsigned, call.node)
    mask = frame.const(unsigned, type.bits - 1, call.node)
    width = frame.const(unsigned, type.bits, call.node)
    near = frame.emit(ops.BIT_AND, steps, mask, at=call.node)
    far = frame.emit(ops.SUB, width, near, at=call.node)
    left, right = (near, far) if call.name.endswith("rotl") else (far, near)
    upper = frame.emit(ops.SHL, bits, left, at=call.node)
    lower = frame.emit(ops.SHR, bits, right, at=call.node)
    result = frame.emit(ops.BIT_OR, upper, lower, at=call.node)
    if not type.is_signed:
        return result
    return frame.emit(ops.BITCAST, result, at=call.node, attrs={"to": type})


# ── memory of the kernel ─────────────────────────────────────────────────────────────────────────


def _shape(frame: Frame, operand: Operand, name: str) -> tuple[int, ...]:
    found = comptime_value(frame, operand.value, operand.node, f"the shape of {name}")
    shape = tuple(found) if isinstance(found, tuple | list) else (found,)
    if not shape or not all(isinstance(extent, int) and extent > 0 for extent in shape):
        raise frame.error(
            CubeValueError, f"the shape of {name} is {found!r}", operand.node, "positive numbers"
        )
    return tuple(int(extent) for extent in shape)


@lowers_intrinsic("shared")
def lower_shared(frame: Frame, call: Call) -> Value:
    """`cb.shared(T, shape)`: memory of the cube."""
    dtype, extent = _operands(frame, call, "dtype", "shape")
    element, shape = _dtype(frame, dtype), _shape(frame, extent, call.name)
    return frame.append_to(
        frame.builder.current, ops.SHARED, SharedType(element, shape),
        {"element": element, "shape": shape}, call.node, name=_hint(frame, call),
    )  # fmt: skip


@lowers_intrinsic("local_array")
def lower_local_array(frame: Frame, call: Call) -> Value:
    """`cb.local_array(T, shape, fill=None)`: memory of the unit."""
    dtype, extent, fill = bind_call(frame, call, "dtype", "shape", optional={"fill": None})
    assert dtype is not None
    assert extent is not None
    element, shape = _dtype(frame, dtype), _shape(frame, extent, call.name)
    memory = frame.append_to(
        frame.builder.current, ops.LOCAL_ARRAY, PrivateType(element, shape),
        {"element": element, "shape": shape}, call.node, name=_hint(frame, call),
    )  # fmt: skip
    if fill is not None and fill.value is not NONE:
        value = fill.value
        op = literal(frame, value.value, element, fill.node) if isinstance(value, Known) \
            else convert(frame, typed(frame, value, fill.node), element, fill.node)  # fmt: skip
        _fill(frame, memory, shape, (), op, call.node)
    return memory


def _hint(frame: Frame, call: Call) -> str:
    return frame.hint if frame.named is call.node else ""


def _fill(
    frame: Frame, memory: Op, shape: tuple[int, ...], indices: tuple[Op, ...], value: Op,
    at: ast.AST,
) -> None:  # fmt: skip
    """Loops that store a value into every element."""
    if len(indices) == len(shape):
        check = frame.session.specialization.options.check
        frame.emit(ops.STORE, memory, *indices, value, at=at, attrs={"check": check})
        return
    bounds = [frame.const(INDEX, number, at) for number in (0, shape[len(indices)], 1)]
    position = param(f"k{len(indices)}", INDEX, frame.loc(at))
    with frame.branch(position) as body:
        _fill(frame, memory, shape, (*indices, position), value, at)
    frame.emit(ops.FOR, *bounds, at=at, regions=(body.close(),))


# ── checks while compiling ───────────────────────────────────────────────────────────────────────


@lowers_intrinsic("static_assert")
def lower_static_assert(frame: Frame, call: Call) -> Value:
    """`cb.static_assert(condition, message)`."""
    condition, message = bind_call(frame, call, "condition", optional={"message": None})
    assert condition is not None
    holds = comptime_value(frame, condition.value, condition.node, "a static assertion")
    if not holds:
        text = known_value(frame, message.value) if message is not None else "it does not hold"
        raise frame.error(ComptimeError, f"static assertion: {text}", call.node)
    return NONE


@lowers_intrinsic("unroll")
def lower_unroll(frame: Frame, call: Call) -> Value:
    """`cb.unroll` stands only at the head of a `for`."""
    raise frame.error(
        CubeSyntaxError, "cb.unroll outside the head of a for", call.node,
        "write for k in cb.unroll(range(n))",
    )  # fmt: skip
