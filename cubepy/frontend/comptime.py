"""What is known while compiling: captured names, Python objects, ops that compute from constants.

An op counts as known if it is pure and all it computes from is constant; its value comes from the
same `evaluate` that folding and the interpreter use.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import types
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import numpy as np

from cubepy.errors import ComptimeError, CubeNameError, did_you_mean, shown
from cubepy.frontend.captures import function_of
from cubepy.frontend.foreign_names import our_name
from cubepy.frontend.frame import Frame
from cubepy.frontend.keys import mutable_kind, mutable_part
from cubepy.frontend.lang import Intrinsic, Position
from cubepy.frontend.python_reads import watch_python
from cubepy.frontend.scalars import class_of
from cubepy.frontend.source import closure_values
from cubepy.frontend.structs import fields_of
from cubepy.frontend.values import Group, Known, StructValue, Value, VectorValue
from cubepy.frontend.vector_types import VectorType
from cubepy.frontend.watched import is_fixed
from cubepy.frontend.wording import describe_object
from cubepy.ir import INDEX, Op, Scalar, Trait, ops

__all__ = [
    "UNKNOWN_VALUE",
    "comptime_value",
    "from_python",
    "known_attribute",
    "known_value",
    "outside_name",
]

UNKNOWN_VALUE: Final = object()
_EVALUATION_LIMIT = 2_000


def from_python(frame: Frame, value: object, at: ast.AST) -> Value:
    """A Python object as a value of the kernel: positions are read, NumPy scalars are numbers."""
    if isinstance(value, Position):
        return _position(frame, value.name, at)
    if isinstance(value, TypeVar) and value.__name__ in frame.generics:
        return Known(class_of(frame.generics[value.__name__]))
    if isinstance(value, np.generic) and not isinstance(value, np.void | np.character):
        return Known(value.item())
    return Known(value)


# The ops that read a position, by its name.
_POSITIONS = {
    row.python: row for row in ops.BY_NAME.values() if row.python.isupper() and not row.operands
}


def _position(frame: Frame, name: str, at: ast.AST) -> Value:
    """What a unit reads of a position; the size of its cube is known while compiling."""
    frame.session.positions.add(name)
    if name in _POSITIONS:
        return frame.emit(_POSITIONS[name], at=at)
    sizes = frame.session.specialization.options.cube_dim
    _, _, axis = name.partition("CUBE_DIM_")
    return frame.const(INDEX, sizes["XYZ".index(axis)] if axis else math.prod(sizes), at)


# ── names from outside ───────────────────────────────────────────────────────────────────────────


def outside_name(frame: Frame, path: tuple[str, ...], at: ast.AST) -> tuple[Any, int]:
    """The object that a dotted name from outside the function means, and how many parts it used."""
    captures = frame.session.specialization.captures.values.get(frame.source.function, {})
    for depth in range(len(path), 0, -1):
        if path[:depth] in captures:
            return _captured(frame, captures[path[:depth]], ".".join(path[:depth]), at), depth
    return _captured(frame, _live(frame, path, at), path[0], at), 1


def _live(frame: Frame, path: tuple[str, ...], at: ast.AST) -> Any:
    name, function = path[0], frame.source.function
    captures = frame.session.specialization.captures
    if not captures.has(function, name) and not is_fixed(function.__module__):
        frame.session.watch.variable(function, name)
    cells = closure_values(function)
    if name in cells:
        return cells[name]
    if name in function.__globals__:
        return function.__globals__[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    known = [*cells, *function.__globals__, *frame.analysis.names]
    raise frame.error(CubeNameError, f"{name!r} is not defined", at,
                      our_name(path) or did_you_mean(name, known)
                      or "assign or import it first, or make it a parameter")  # fmt: skip


def _captured(frame: Frame, value: Any, name: str, at: ast.AST) -> Any:
    changing = mutable_part(value)
    if changing is not None:
        verb = "is" if changing is value else "has inside"
        raise frame.error(
            ComptimeError,
            f"{name!r} {verb} {mutable_kind(changing)}, which can change after the kernel is "
            "compiled",
            at,
            "pass it as an argument" if isinstance(changing, np.ndarray)
            else "make it a tuple or a frozen dataclass, or pass it as a Comptime parameter",
        )  # fmt: skip
    return value


def known_attribute(frame: Frame, owner: Any, name: str, at: ast.AST) -> Any:
    """`owner.name` of an object known while compiling; refused where it can change."""
    kind = mutable_kind(owner)
    if kind is not None and function_of(owner) is None:
        raise frame.error(
            ComptimeError,
            f".{name} of {kind} can change after the kernel is compiled",
            at,
            "use a frozen dataclass or a named tuple, or read it into a constant first",
        )
    frame.session.watch.attribute(owner, name)
    try:
        value = getattr(owner, name)
    except AttributeError as error:
        label = (
            f"module {owner.__name__!r}" if isinstance(owner, types.ModuleType) else shown(owner)
        )
        label = describe_object(owner) if isinstance(owner, type) else label
        raise frame.error(
            CubeNameError,
            f"{label} has no attribute {name!r}",
            at,
            _typed(owner, name)
            or our_name((owner.name, name) if isinstance(owner, Intrinsic) else (name,))
            or did_you_mean(name, dir(owner))
            or "write a name that it has",
        ) from error
    if not isinstance(owner, types.ModuleType) and _runs_python(owner, name):
        frame.session.repeatable = False
        watch_python(frame, (inspect.getattr_static(owner, name, None), owner), at)
    return _captured(frame, value, name, at)


_METHODS = (
    *(types.FunctionType, types.BuiltinFunctionType, types.MemberDescriptorType),
    *(staticmethod, classmethod),
)


def _typed(owner: Any, name: str) -> str:
    """The help for a value of Python that is asked for its type."""
    if name != "dtype":
        return ""
    cast = {bool: "bool_", int: "i32", float: "f32"}.get(type(owner))
    if cast is None:
        return "arrays, vectors and numbers of a kernel have one"
    return f"a literal takes its type from others: write cb.{cast}({owner!r})"


def _runs_python(owner: object, name: str) -> bool:
    """Whether reading an attribute runs code of its class, such as a property's."""
    found = inspect.getattr_static(owner, name, _MISSING)
    return found is _MISSING or (
        hasattr(type(found), "__get__") and not isinstance(found, _METHODS)
    )


_MISSING: Final = object()


# ── values of ops ────────────────────────────────────────────────────────────────────────────────


def known_value(frame: Frame, value: Value, *, plane: bool = False) -> Any:
    """The Python object a value is known to be, or UNKNOWN_VALUE.

    `plane`: PLANE_DIM counts as known, with the size the kernel is specialised for.
    """
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Group):
        items = [known_value(frame, item, plane=plane) for item in value.items]
        if any(item is UNKNOWN_VALUE for item in items):
            return UNKNOWN_VALUE
        return _made(value, items)
    if isinstance(value, Op):
        return _evaluate(frame, value, plane=plane)
    return UNKNOWN_VALUE


def _made(group: Group, items: Sequence[Any]) -> Any:
    """The Python object with these items."""
    if isinstance(group, StructValue):
        names = [field.name for field in fields_of(group.maker)]  # type: ignore[arg-type]
        return group.maker(**dict(zip(names, items, strict=True)))  # type: ignore[misc]
    if isinstance(group, VectorValue):
        return VectorType(group.element, len(items))(*items)
    return group.maker(*items) if group.maker is not None else tuple(items)


def comptime_value(frame: Frame, value: Value, at: ast.AST, what: str) -> Any:
    """As `known_value`, but an error if it is not known. `what` begins the message."""
    found = known_value(frame, value, plane=True)
    if found is UNKNOWN_VALUE:
        raise frame.error(
            ComptimeError,
            f"{what} must be known while compiling",
            at,
            "use a literal, a captured constant or a Comptime parameter",
        )
    return found


def _evaluate(frame: Frame, root: Op, *, plane: bool) -> Any:
    """The value of a pure op over constants, without recursion; remembered for the whole kernel."""
    known = frame.session.constants
    pending, steps = [root], 0
    while pending:
        op = pending[-1]
        steps += 1
        if steps > _EVALUATION_LIMIT:
            return UNKNOWN_VALUE
        if op in known:
            pending.pop()
            continue
        waiting = [operand for operand in op.operands if operand not in known]
        if waiting and op.opdef.has(Trait.PURE) and isinstance(op.type, Scalar):
            pending.extend(waiting)
            continue
        pending.pop()
        value = _one(frame, op, plane=plane)
        if value is UNKNOWN_VALUE and op.opdef is ops.PLANE_DIM:
            return UNKNOWN_VALUE  # may be asked for as known another time
        known[op] = value
        if value is UNKNOWN_VALUE:
            return UNKNOWN_VALUE
    return known[root]


def _one(frame: Frame, op: Op, *, plane: bool) -> Any:
    """The value of one op whose operands have been looked at."""
    if op.opdef is ops.CONST:
        return op.attrs["value"]
    if op.opdef is ops.PLANE_DIM:
        size = frame.session.specialization.options.plane_dim
        return size if plane and size else UNKNOWN_VALUE
    evaluate = op.opdef.evaluate
    if not op.opdef.has(Trait.PURE) or evaluate is None or not op.operands:
        return UNKNOWN_VALUE
    values = [frame.session.constants[operand] for operand in op.operands]
    if any(value is UNKNOWN_VALUE for value in values):
        return UNKNOWN_VALUE
    arrays = [
        np.asarray(value, dtype=operand.type.numpy)
        for value, operand in zip(values, op.operands, strict=True)
        if isinstance(operand.type, Scalar)
    ]
    with np.errstate(all="ignore"):
        result = evaluate(*arrays, type=op.type, attrs=op.attrs)
    return np.asarray(result).item()
