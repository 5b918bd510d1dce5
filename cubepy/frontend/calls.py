"""Calls: casts, built-ins, functions of cubepy, helpers, and what Python evaluates itself."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Mapping
from typing import Any

from cubepy.errors import ComptimeError, CubeSyntaxError, CubeTypeError, SourceError
from cubepy.frontend.captures import function_of
from cubepy.frontend.coercion import Operand, typed
from cubepy.frontend.comptime import UNKNOWN_VALUE, from_python, known_value
from cubepy.frontend.descriptions import counted, describe, snippet
from cubepy.frontend.dispatch import lower_expression, lowers_expression
from cubepy.frontend.evaluation import evaluate_in_python
from cubepy.frontend.expressions import unpacked
from cubepy.frontend.foreign_names import instead_of_call
from cubepy.frontend.frame import Frame
from cubepy.frontend.lang import Intrinsic
from cubepy.frontend.layouts import Layout
from cubepy.frontend.retyping import is_weak
from cubepy.frontend.scalars import host_cast, scalar_of
from cubepy.frontend.stored_formats import StoredFormat
from cubepy.frontend.values import (
    POISON,
    RECURSION,
    Group,
    Known,
    LocalFunction,
    Method,
    Poison,
    TupleValue,
    Value,
    is_number,
)
from cubepy.ir import Scalar, ops
from cubepy.records import dataclass, is_dataclass

__all__ = [
    "Call",
    "bind_call",
    "call_of",
    "calls_classes",
    "calls_functions",
    "calls_values",
    "cast",
    "lowers_builtin",
    "lowers_intrinsic",
    "recursion",
    "required",
    "wraps_calls",
]


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its arguments evaluated."""

    node: ast.Call
    name: str
    positional: tuple[Operand, ...]
    keywords: Mapping[str, Operand]

    @property
    def values(self) -> list[Value]:
        """All arguments' values."""
        return [operand.value for operand in (*self.positional, *self.keywords.values())]


# Functions of cubepy that are Python's own where all arguments are known while compiling.
_LIKE_PYTHON = frozenset({"abs", "max", "min", "pow", "round"})
Handler = Callable[[Frame, Call], Value]
_INTRINSICS: dict[str, Handler] = {}
_BUILTINS: dict[Any, Handler] = {}
_NEVER_IN_PYTHON: set[Any] = set()
FunctionCaller = Callable[[Frame, Any, Call], Value]
_CALLERS: list[FunctionCaller] = []
Maker = Callable[[Frame, Any, Call], Value | None]
_MAKERS: list[Maker] = []
Caller = Callable[[Frame, Value, Call], Value | None]
_VALUES: list[Caller] = []
Wrapper = Callable[[Frame, Any, Call, Callable[[Call], Value]], Value | None]
_WRAPPERS: list[Wrapper] = []


def lowers_intrinsic(*names: str) -> Callable[[Handler], Handler]:
    """Say that a function lowers calls of these functions of cubepy."""

    def remember(handler: Handler) -> Handler:
        _INTRINSICS.update(dict.fromkeys(names, handler))
        return handler

    return remember


def lowers_builtin(*functions: object, always: bool = False) -> Callable[[Handler], Handler]:
    """Say that a function lowers calls of these Python built-ins with run-time arguments.

    `always`: with arguments known while compiling as well.
    """

    def remember(handler: Handler) -> Handler:
        _BUILTINS.update(dict.fromkeys(functions, handler))
        _NEVER_IN_PYTHON.update(functions if always else ())
        return handler

    return remember


def calls_functions(caller: FunctionCaller) -> FunctionCaller:
    """Say which function lowers calls of helpers."""
    _CALLERS.append(caller)
    return caller


def calls_classes(maker: Maker) -> Maker:
    """Say which function lowers calls of classes; it gives None for those it does not know."""
    _MAKERS.append(maker)
    return maker


def wraps_calls(wrapper: Wrapper) -> Wrapper:
    """Say which function may make several calls of one; it gives None for calls to leave alone."""
    _WRAPPERS.append(wrapper)
    return wrapper


def calls_values(caller: Caller) -> Caller:
    """Say which function lowers calls of other values; it gives None for those it does not know."""
    _VALUES.append(caller)
    return caller


def call_of(frame: Frame, callee: Value, name: str, at: ast.AST, *operands: Operand) -> Value:
    """A call that is not written as one: of a property, of a method that an operator stands for."""
    node = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [], []), at)
    return _call(frame, callee, Call(node, name, operands, {}))


@lowers_expression(ast.Call)
def lower_call(frame: Frame, node: ast.Call) -> Value:
    """A call of anything."""
    callee = lower_expression(frame, node.func)
    if isinstance(callee, Poison):
        return POISON
    target = callee.value if isinstance(callee, Known) else callee
    if isinstance(target, Intrinsic) and target.name == "comptime":
        return _comptime(frame, node)
    if target is RECURSION:
        raise recursion(frame, node)
    return _call(frame, callee, _evaluated(frame, node))


def _call(frame: Frame, callee: Value, call: Call) -> Value:
    """A call of a value with its arguments evaluated."""
    target = callee.value if isinstance(callee, Known) else callee
    if any(isinstance(value, Poison) for value in call.values):
        return POISON
    for wrapper in _WRAPPERS:
        wrapped = wrapper(frame, target, call, lambda inner: _call(frame, callee, inner))
        if wrapped is not None:
            return wrapped
    if isinstance(target, Intrinsic) and target.name in _LIKE_PYTHON and _all_known(call):
        return _in_python(frame, getattr(builtins, target.name), call)
    if isinstance(target, Intrinsic):
        return _INTRINSICS[target.name](frame, call)
    if isinstance(target, LocalFunction):
        return _CALLERS[0](frame, target, call)
    if isinstance(target, Method):
        owner = Operand(target.owner, getattr(call.node.func, "value", call.node))
        call = Call(call.node, call.name, (owner, *call.positional), call.keywords)
        return _CALLERS[0](frame, target.function, call)
    for caller in _VALUES:
        found = caller(frame, callee, call)
        if found is not None:
            return found
    if not isinstance(callee, Known) or not (callable(target) or scalar_of(target)):
        raise _no_function(frame, callee, call.node)
    return _call_known(frame, target, call)


def _no_function(frame: Frame, callee: Value, node: ast.Call) -> SourceError:
    """The error for a call of something else."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    hidden = name in frame.analysis.names and hasattr(builtins, name)
    return frame.error(
        CubeTypeError,
        f"cannot call {describe(callee)}",
        node,
        f"{name} is a variable here: rename it to call Python's {name}"
        if hidden
        else "only functions are called; for a product write *"
        if node.args
        else f"write {snippet(node.func)}: it is a value already",
    )


def recursion(frame: Frame, node: ast.Call) -> SourceError:
    """The error for a function that calls itself."""
    return frame.error(
        CubeTypeError,
        f"{ast.unparse(node.func)} calls itself: kernels have no recursion",
        node,
        "write a loop",
    )


def _call_known(frame: Frame, target: Any, call: Call) -> Value:
    """A call of a Python object."""
    scalar = scalar_of(target)
    python_number = target in (int, float, bool)
    if scalar is not None and not (python_number and _all_known(call)):
        return _scalar_call(frame, scalar, call)
    if _is_named_tuple(target):
        return _named_tuple(frame, target, call)
    if not frame.comptime:
        made = next((made for maker in _MAKERS if (made := maker(frame, target, call))), None)
        if made is not None:
            return made
    if _launches(target):
        raise _cannot_run(frame, target, call)
    function = function_of(target)
    bound = _bound_method(target)
    if frame.comptime and _all_known(call):
        return _in_python(frame, function or target, call)
    if bound is not None and function_of(bound[0]) is not None:
        owner = Operand(Known(bound[1], kept=True), call.node.func)
        call = Call(call.node, call.name, (owner, *call.positional), call.keywords)
        return _CALLERS[0](frame, function_of(bound[0]), call)
    handler = _builtin(target)
    if function is not None and handler is None:
        return _CALLERS[0](frame, function, call)
    if _all_known(call) and (handler is None or target not in _NEVER_IN_PYTHON):
        return _in_python(frame, target, call)
    if handler is not None:
        return handler(frame, call)
    raise _cannot_run(frame, target, call)


_LAYOUTS = (Layout.strided, Layout.tiled, Layout.swizzled, Layout.virtual)


@calls_classes
def _made_of_ours(frame: Frame, target: Any, call: Call) -> Value | None:
    """`cb.FastDivmod.of(3)`, `cb.Layout.strided((4, 4))`: Python makes what kernels only read."""
    owner = getattr(target, "__self__", None)
    ours = isinstance(owner, type) and owner.__module__.startswith("cubepy.")
    if not ours and target not in _LAYOUTS:
        return None
    if not _all_known(call):
        raise frame.error(
            ComptimeError,
            f"{call.name} is called with what is known at run time only",
            call.node,
            "write numbers and Comptime parameters, or make it before the launch and pass it",
        )
    return _in_python(frame, target, call)


def _launches(target: Any) -> bool:
    """Whether a call of a Python object launches a kernel, or makes what does."""
    method = _bound_method(target)
    owner = type(target if method is None else method[1]).__module__
    return owner.startswith("cubepy.launcher") or (method is not None and owner == "cubepy.cube")


def _cannot_run(frame: Frame, target: Any, call: Call) -> SourceError:
    """The error for a call of something that only Python can call."""
    if _launches(target):
        return frame.error(
            CubeTypeError, "a kernel launches no other", call.node,
            "call the other as a helper, name(…), or launch it afterwards from Python",
        )  # fmt: skip
    kind = "class" if isinstance(target, type) else "function"
    return frame.error(
        CubeTypeError,
        f"{call.name} is a Python {kind} and cannot run in a kernel",
        call.node,
        _alternative_class(target) if isinstance(target, type) else _alternative(call.name),
    )


def _alternative_class(target: type) -> str:
    if target.__module__.startswith("cubepy."):
        return "make it outside of the kernel, which may read it"
    if is_dataclass(target):
        return "put @cb.struct above it"
    return "make it a frozen dataclass, and put @cb.struct above it"


def _builtin(target: Any) -> Handler | None:
    try:
        return _BUILTINS.get(target)
    except TypeError:
        return None  # not hashable


def _alternative(name: str) -> str:
    short = name.rpartition(".")[2]
    if short in _INTRINSICS:
        return f"write cb.{short}"
    missing = f"there is no cb.{short}: " if "." in name and short.isidentifier() else ""
    return instead_of_call(name) or f"{missing}write it as a helper, of what docs/language.md lists"


def _bound_method(target: Any) -> tuple[Any, Any] | None:
    """The function and the object of a method; a format is called to round."""
    if isinstance(target, StoredFormat):
        return StoredFormat.__call__, target
    function, owner = getattr(target, "__func__", None), getattr(target, "__self__", None)
    return (function, owner) if function is not None and owner is not None else None


def _evaluated(frame: Frame, node: ast.Call) -> Call:
    positional: list[Operand] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            inner = lower_expression(frame, argument.value)
            positional += [Operand(item, argument) for item in unpacked(frame, inner, argument)]
        else:
            positional.append(Operand(lower_expression(frame, argument), argument))
    keywords: dict[str, Operand] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise frame.error(CubeSyntaxError, "`**` in a call", keyword, "write the arguments out")
        keywords[keyword.arg] = Operand(lower_expression(frame, keyword.value), keyword.value)
    return Call(node, ast.unparse(node.func), tuple(positional), keywords)


def bind_call(
    frame: Frame, call: Call, *names: str, optional: Mapping[str, Value | None] | None = None
) -> list[Operand | None]:
    """Arguments in the order of parameter names; those of `optional` may be left out."""
    allowed = [*names, *(optional or {})]
    found: dict[str, Operand] = dict(zip(allowed, call.positional, strict=False))
    if len(call.positional) > len(allowed):
        raise frame.error(
            CubeTypeError,
            f"{call.name} takes {counted(len(allowed), 'argument')}, got {len(call.positional)}",
            call.node,
            f"its arguments are ({', '.join(allowed)})",
        )
    for name, operand in call.keywords.items():
        if name not in allowed or name in found:
            problem = "given twice" if name in found else "unknown"
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the argument {name!r} is {problem}",
                operand.node,
                f"its arguments are ({', '.join(allowed)})",
            )
        found[name] = operand
    for name in names:
        if name not in found:
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the argument {name!r} is missing",
                call.node,
                f"its arguments are ({', '.join(allowed)})",
            )
    return [found.get(name) for name in allowed]


def required(frame: Frame, call: Call, *names: str) -> list[Operand]:
    """Arguments in the order of parameter names, none of which may be left out."""
    return [operand for operand in bind_call(frame, call, *names) if operand is not None]


def _all_known(call: Call) -> bool:
    return all(_plainly_known(value) for value in call.values)


def _plainly_known(value: Value) -> bool:
    if isinstance(value, Group):
        return all(_plainly_known(item) for item in value.items)
    return isinstance(value, Known)


def _in_python(frame: Frame, function: Any, call: Call) -> Value:
    """Let Python call a function with arguments known while compiling."""
    positional = [known_value(frame, operand.value) for operand in call.positional]
    keywords = {name: known_value(frame, operand.value) for name, operand in call.keywords.items()}
    run = functools.partial(function, **keywords) if keywords else function
    result = evaluate_in_python(frame, run, call.node, *positional)
    return from_python(frame, result.value, call.node)


def _comptime(frame: Frame, node: ast.Call) -> Value:
    """`cb.comptime(expression)`: Python evaluates it, calls included."""
    if len(node.args) != 1 or node.keywords:
        raise frame.error(
            CubeTypeError,
            "cb.comptime takes one expression",
            node,
            "of several make a tuple: cb.comptime((a, b))",
        )
    if frame.session.trial:
        raise frame.error(ComptimeError, "not evaluated where it is not taken", node)
    before, frame.comptime = frame.comptime, True
    try:
        value = lower_expression(frame, node.args[0])
    finally:
        frame.comptime = before
    if isinstance(value, Poison | LocalFunction):
        return value
    found = known_value(frame, value, plane=True)
    if found is UNKNOWN_VALUE:
        raise frame.error(
            ComptimeError,
            "the expression of cb.comptime depends on a run-time value",
            node.args[0],
            "use literals, captured constants and Comptime parameters in it",
        )
    return Known(found, kept=True)


# ── casts and tuples ─────────────────────────────────────────────────────────────────────────────


def _scalar_call(frame: Frame, scalar: Scalar, call: Call) -> Value:
    (operand,) = bind_call(frame, call, "value")
    assert operand is not None
    return cast(frame, scalar, operand, call.node)


def cast(frame: Frame, scalar: Scalar, operand: Operand, at: ast.AST) -> Value:
    """`f32(x)`: a conversion; a literal converts as well, whether it fits or not."""
    value = operand.value
    if isinstance(value, Known) and is_number(value):
        return frame.const(scalar, host_cast(value.value, scalar).item(), at)
    op = typed(frame, value, operand.node)
    if op.type == scalar and not is_weak(frame, op):
        return op
    return frame.emit(ops.CAST, op, at=at, attrs={"to": scalar})


def _is_named_tuple(target: Any) -> bool:
    return isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields")


def _named_tuple(frame: Frame, target: Any, call: Call) -> Value:
    defaults = {
        name: from_python(frame, value, call.node) for name, value in target._field_defaults.items()
    }
    names = [name for name in target._fields if name not in defaults]
    operands = bind_call(frame, call, *names, optional=defaults)
    items: list[Value] = []
    for name, operand in zip(target._fields, operands, strict=True):
        items.append(operand.value if operand is not None else defaults[name])
    return TupleValue(tuple(items), target)
