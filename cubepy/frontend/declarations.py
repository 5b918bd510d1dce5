"""What a kernel declares: memory of the cube and of the unit, static assertions, unrolled loops."""

from __future__ import annotations

import ast
import math

from cubepy.errors import ComptimeError, CubeSyntaxError, CubeValueError, shown
from cubepy.frontend.calls import Call, bind_call, lowers_intrinsic, required
from cubepy.frontend.coercion import Operand, convert, literal, typed
from cubepy.frontend.comptime import comptime_value, known_value
from cubepy.frontend.frame import Frame
from cubepy.frontend.intrinsics import type_argument
from cubepy.frontend.memory import encoded
from cubepy.frontend.stored_formats import StoredFormat
from cubepy.frontend.values import (
    NONE,
    Encoded,
    Known,
    Value,
)
from cubepy.frontend.wording import describe_object
from cubepy.ir import (
    INDEX,
    Op,
    PrivateType,
    Scalar,
    SharedType,
    ops,
    param,
)

__all__: list[str] = []

# Indices are signed integers of 64 bits.
MOST_ELEMENTS = 1 << 63


def _shape(frame: Frame, operand: Operand, name: str) -> tuple[int, ...]:
    found = comptime_value(frame, operand.value, operand.node, f"the shape of {name}")
    shape = tuple(found) if isinstance(found, tuple | list) else (found,)
    if not shape or not all(isinstance(extent, int) and extent > 0 for extent in shape):
        plain = isinstance(found, int | float | str | tuple)
        written = shown(found) if plain else describe_object(found)
        raise frame.error(
            CubeValueError,
            f"the shape of {name} is {written}, not one or more whole numbers above 0",
            operand.node,
            f"for example {name}(f32, (16, 16))",
        )
    if math.prod(shape) >= MOST_ELEMENTS:
        raise frame.error(
            CubeValueError,
            f"the shape of {name} is {shown(found)}: more elements than an index can count",
            operand.node,
            "memory of a cube or a unit holds some thousands of elements",
        )
    return tuple(int(extent) for extent in shape)


@lowers_intrinsic("shared")
def lower_shared(frame: Frame, call: Call) -> Value:
    """`cb.shared(T, shape)`: memory of the cube."""
    dtype, extent = required(frame, call, "dtype", "shape")
    format, element = _element(frame, dtype)
    shape = _shape(frame, extent, call.name)
    memory = frame.append_to(
        frame.builder.current, ops.SHARED, SharedType(element, shape),
        {"element": element, "shape": shape}, call.node, name=_hint(frame, call),
    )  # fmt: skip
    return memory if format is None else Encoded(memory, format)


def _element(frame: Frame, operand: Operand) -> tuple[StoredFormat | None, Scalar]:
    """What elements are, and what holds one in memory."""
    value = operand.value
    if isinstance(value, Known) and isinstance(value.value, StoredFormat):
        return value.value, value.value.element
    return None, type_argument(frame, operand)


@lowers_intrinsic("local_array")
def lower_local_array(frame: Frame, call: Call) -> Value:
    """`cb.local_array(T, shape, fill=None)`: memory of the unit."""
    dtype, extent, fill = bind_call(frame, call, "dtype", "shape", optional={"fill": None})
    assert dtype is not None
    assert extent is not None
    format, element = _element(frame, dtype)
    shape = _shape(frame, extent, call.name)
    memory = frame.append_to(
        frame.builder.current, ops.LOCAL_ARRAY, PrivateType(element, shape),
        {"element": element, "shape": shape}, call.node, name=_hint(frame, call),
    )  # fmt: skip
    if fill is not None and fill.value is not NONE:
        value = fill.value
        if format is not None:
            value = encoded(frame, format, value, element, fill.node, call.name)
        op = literal(frame, value.value, element, fill.node) if isinstance(value, Known) \
            else convert(frame, typed(frame, value, fill.node), element, fill.node)  # fmt: skip
        _fill(frame, memory, shape, (), op, call.node)
    return memory if format is None else Encoded(memory, format)


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


@lowers_intrinsic("static_assert")
def lower_static_assert(frame: Frame, call: Call) -> Value:
    """`cb.static_assert(condition, message)`."""
    condition, message = bind_call(frame, call, "condition", optional={"message": None})
    assert condition is not None
    holds = comptime_value(frame, condition.value, condition.node, "a static assertion")
    if not holds:
        text = known_value(frame, message.value) if message is not None else "it does not hold"
        help = (
            "pass arguments for which the condition holds"
            if message is not None
            else "say why: cb.static_assert(condition, message)"
        )
        raise frame.error(ComptimeError, f"static assertion: {text}", call.node, help)
    return NONE


@lowers_intrinsic("unroll")
def lower_unroll(frame: Frame, call: Call) -> Value:
    """`cb.unroll` stands only at the head of a `for`."""
    raise frame.error(
        CubeSyntaxError, "cb.unroll outside the head of a for", call.node,
        "write for k in cb.unroll(range(n))",
    )  # fmt: skip
