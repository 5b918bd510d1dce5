"""Helpers: functions that kernels call become functions of the IR, one a kind of arguments.

Numbers known while compiling, functions and tuples are handed over while compiling; only run-time
scalars and arrays are arguments of the `call`. Also drives the attempts at a function until no
variable needs another type or a slot.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeVar

from cubepy.errors import (
    CubeSyntaxError,
    CubeTypeError,
    Diagnostic,
    SourceError,
    UnsupportedError,
)
from cubepy.frontend.annotations import Annotation, annotation_of, own_variables
from cubepy.frontend.calls import Call, calls_functions, recursion
from cubepy.frontend.captures import function_of, read_captures, source_of
from cubepy.frontend.coercion import Operand
from cubepy.frontend.comptime import from_python
from cubepy.frontend.descriptions import counted
from cubepy.frontend.dispatch import lower_body, lower_expression
from cubepy.frontend.fitting import fitted, settle
from cubepy.frontend.frame import Frame, Plan, Returns
from cubepy.frontend.names import NameAnalysis, analyze_names
from cubepy.frontend.results import finish_results, give_back, result_skeleton
from cubepy.frontend.session import Instance, Session
from cubepy.frontend.signature import LaunchOptions, Specialization
from cubepy.frontend.source import FunctionNode, KernelSource, parameters_of
from cubepy.frontend.values import (
    POISON,
    Known,
    LocalFunction,
    Poison,
    Skeleton,
    StructValue,
    TupleValue,
    Value,
    flatten,
    rebuild,
)
from cubepy.frontend.variables import assign
from cubepy.frontend.watched import Watch, is_fixed
from cubepy.ir import VOID, Function, Op, Scalar, TupleType, Type, ops, param

__all__ = ["analysis_of", "lower_function", "lower_repeatedly", "start_frame"]

T = TypeVar("T")
_MAXIMUM_ATTEMPTS = 200
_MAXIMUM_DEPTH = 64
# Functions of cubepy that kernels run: complaints inside are about the call. Others are the host's.
_LIBRARY = ("cubepy.std", "cubepy.frontend.stored_formats", "cubepy.frontend.layouts")


def analysis_of(session: Session, node: FunctionNode) -> NameAnalysis:
    """The variables of a function, found once for each kernel."""
    known = session.analyses.get(node)
    if known is None:
        known = session.analyses[node] = analyze_names(node)
    return known


def lower_repeatedly(
    session: Session, source: KernelSource, node: FunctionNode, plan: Plan,
    run: Callable[[Frame], T],
) -> T:  # fmt: skip
    """Lower a function until an attempt finds nothing that an earlier one should have known."""
    analysis = analysis_of(session, node)
    complaints, count, prints = len(session.complaints), session.ops, len(session.prints)
    warned = len(session.warnings)
    functions, instances = list(session.functions), dict(session.instances)
    for _ in range(_MAXIMUM_ATTEMPTS):
        plan.changed = False
        session.ops = count
        frame = Frame(session, source, node, analysis, plan)
        result = run(frame)
        if not plan.changed:
            return result
        del session.complaints[complaints:], session.prints[prints:], session.warnings[warned:]
        session.functions, session.instances = list(functions), dict(instances)
    raise CubeTypeError(
        Diagnostic(
            message="the types of the variables do not settle",
            loc=source.loc,
            help="annotate locals that begin with a literal: total: f64 = 0.0",
        )
    )


def start_frame(frame: Frame) -> None:
    """Note that the open region is the function's own."""
    frame.regions[0] = frame.builder.current


def lower_function(
    function: Callable[..., Any], types: Sequence[Scalar], *, name: str, watch: Watch | None = None
) -> tuple[Function, ...]:
    """A function of scalars as a function of the IR, after the functions it calls.

    Its name is `name`, and `name.…` those of the functions it calls; `watch` gets what it reads.
    """
    source = source_of(_plain(function))
    specialization = Specialization(
        types=(), comptime=(), options=LaunchOptions(), captures=read_captures(source, {})
    )
    session = Session(
        specialization=specialization, prefix=f"{name}.", watch=Watch() if watch is None else watch
    )
    parameters = parameters_of(source.node.args)
    skeletons = {
        parameter: Skeleton(("op", type), type=type)
        for parameter, type in zip(parameters, types, strict=True)
    }
    instance = _lower_instance(session, source, source.node, skeletons, name=name)
    session.raise_complaints()
    assert instance.function is not None
    return (*session.functions, instance.function)


def _plain(function: Callable[..., Any]) -> FunctionType:
    plain = function_of(function)
    assert plain is not None
    return plain


# ── calls ────────────────────────────────────────────────────────────────────────────────────────


@calls_functions
def call_function(frame: Frame, target: Any, call: Call) -> Value:
    """A call of a helper: of a Python function, or of one written inside the kernel."""
    source, node, outer = _parts(frame, target, call)
    generics: dict[str, Scalar] = {}
    arguments = _bound(frame, target, source, node, call, generics)
    if any(isinstance(value, Poison) for value in arguments.values()):
        return POISON
    skeletons: dict[str, Skeleton] = {}
    given: list[Op] = []
    for name, value in [
        *arguments.items(),
        *((f"{name}'", value) for name, value in outer.items()),
    ]:
        skeletons[name], parts = flatten(value)
        given += parts
    instance = _instance(frame, source, node, skeletons, generics, call)
    if instance.failed or instance.result is None:
        return POISON
    return _call(frame, instance, given, call)


def _parts(
    frame: Frame, target: Any, call: Call
) -> tuple[KernelSource, FunctionNode, Mapping[str, Value]]:
    if isinstance(target, LocalFunction):
        return target.owner, target.node, target.captured()
    assert isinstance(target, FunctionType)
    if _is_in(target, "cubepy.") and not _is_in(target, (*_LIBRARY, "cubepy.testing")):
        raise frame.error(
            UnsupportedError, f"{call.name} is a function of the host, which kernels cannot call",
            call.node, "call it before the launch, outside of the kernel",
        )  # fmt: skip
    source = source_of(target)
    return source, source.node, {}


def _instance(
    frame: Frame,
    source: KernelSource,
    node: FunctionNode,
    skeletons: Mapping[str, Skeleton],
    generics: Mapping[str, Scalar],
    call: Call,
) -> Instance:
    session = frame.session
    key = (node, source.function, tuple((name, part.key) for name, part in skeletons.items()))
    known = session.instances.get(key)
    if known is not None:
        return known
    if any(active is node for active in session.active):
        raise recursion(frame, call.node)
    if len(session.active) > _MAXIMUM_DEPTH:
        raise frame.error(
            CubeTypeError,
            f"{ast.unparse(call.node.func)} is called through {_MAXIMUM_DEPTH} other functions, "
            "which is the most",
            call.node,
            "write some of them out where they are called, or a loop",
        )
    session.active.append(node)
    before = len(session.complaints)
    try:
        with session.called_from(frame.loc(call.node), _library_name(frame, source, call)):
            try:
                made = _lower_instance(session, source, node, skeletons, generics=generics)
            except SourceError as error:
                session.report(error)
                made = Instance(function=None, result=None, failed=True)
    finally:
        session.active.pop()
    if len(session.complaints) > before:
        made = Instance(function=None, result=None, failed=True)
    session.instances[key] = made
    if made.function is not None:
        session.functions.append(made.function)
    return made


def _library_name(frame: Frame, source: KernelSource, call: Call) -> str:
    """What a user calls a function of a library; "" for others, and for its own calls."""
    own = _is_library(source.function) and not _is_library(frame.source.function)
    return call.name if own else ""


def _is_library(function: FunctionType) -> bool:
    """Whether a function is of cubepy's device library, or of Python's own."""
    ours = _is_in(function, "cubepy.")
    return _is_in(function, _LIBRARY) if ours else is_fixed(function.__module__)


def _is_in(function: FunctionType, modules: str | tuple[str, ...]) -> bool:
    return (function.__module__ or "").startswith(modules)


def _lower_instance(
    session: Session,
    source: KernelSource,
    node: FunctionNode,
    skeletons: Mapping[str, Skeleton],
    *,
    name: str = "",
    generics: Mapping[str, Scalar] | None = None,
) -> Instance:
    if node is source.node and not is_fixed(source.function.__module__):
        session.watch_helper(source.function)
    plan = Plan(results=_annotated_results(source, node))
    own_name = node.name if isinstance(node, ast.FunctionDef) else "lambda"
    count = _returns_of(node)
    complaints = len(session.complaints)

    def run(frame: Frame) -> Instance:
        frame.returns = Returns(single=count == 1)
        frame.generics = generics or {}
        params, values = _parameters(frame, skeletons)
        with frame.builder.region() as body:
            start_frame(frame)
            _enter(frame, values)
            if isinstance(node, ast.Lambda):
                give_back(frame, lower_expression(frame, node.body), node.body)
            else:
                lower_body(frame, node.body)
            if len(session.complaints) > complaints:
                return Instance(function=None, result=None, failed=True)
            finish_results(frame)
            result = result_skeleton(frame)
            if not body.ops and not _run_time(result):
                return Instance(function=None, result=result)
        function = Function(
            name=name or session.fresh_name(own_name),
            params=params,
            result=_result_type(result),
            body=body.close(),
            loc=frame.loc(node),
        )
        return Instance(function=function, result=result)

    return lower_repeatedly(session, source, node, plan, run)


def _parameters(
    frame: Frame, skeletons: Mapping[str, Skeleton]
) -> tuple[tuple[Op, ...], dict[str, Value]]:
    """Parameters of the IR function, and the value of each parameter of the Python function."""
    params: list[Op] = []
    values: dict[str, Value] = {}
    place = frame.loc(frame.node)
    for name, skeleton in skeletons.items():
        own: list[Op] = []
        for number, type in enumerate(_leaf_types(skeleton)):
            label = name.rstrip("'") if number == 0 else f"{name.rstrip(chr(39))}_{number}"
            own.append(param(_unused(label, params), type, place))
            params.append(own[-1])
        values[name] = rebuild(skeleton, iter(own))
    return tuple(params), values


def _unused(label: str, params: list[Op]) -> str:
    taken = {made.name for made in params}
    while label in taken:
        label += "_"
    return label


def _leaf_types(skeleton: Skeleton) -> list[Type]:
    if skeleton.type is not None:
        return [skeleton.type]
    return [type for part in skeleton.parts for type in _leaf_types(part)]


def _run_time(skeleton: Skeleton) -> bool:
    return bool(_leaf_types(skeleton))


def _enter(frame: Frame, values: Mapping[str, Value]) -> None:
    """Bind parameters, and what a function inside a kernel sees of the kernel's variables."""
    frame.outer = {name[:-1]: value for name, value in values.items() if name.endswith("'")}
    for name, value in values.items():
        if name.endswith("'"):
            continue
        kept = Known(value.value, kept=True) if isinstance(value, Known) else value
        assign(frame, frame.analysis.parameters[name], kept, frame.node)


def _result_type(result: Skeleton) -> Type:
    leaves = [type for type in _leaf_types(result) if isinstance(type, Scalar)]
    if not leaves:
        return VOID
    return leaves[0] if len(leaves) == 1 else TupleType(tuple(leaves))


def _call(frame: Frame, instance: Instance, given: list[Op], call: Call) -> Value:
    """Emit the call and put its result together."""
    assert instance.result is not None
    if instance.function is None:
        return rebuild(instance.result, iter(()))
    leaves = _leaf_types(instance.result)
    attrs = {"callee": instance.function.name, "results": ",".join(map(str, leaves))}
    made = frame.emit(ops.CALL, *given, at=call.node, attrs=attrs)
    if len(leaves) <= 1:
        return rebuild(instance.result, iter([made]))
    parts = [
        frame.emit(ops.TUPLE_GET, made, at=call.node, attrs={"index": number})
        for number in range(len(leaves))
    ]
    return rebuild(instance.result, iter(parts))


# ── parameters ───────────────────────────────────────────────────────────────────────────────────


def _bound(
    frame: Frame,
    target: Any,
    source: KernelSource,
    node: FunctionNode,
    call: Call,
    generics: dict[str, Scalar],
) -> dict[str, Value]:
    """Arguments by parameter name, brought to their annotations."""
    arguments = node.args
    if arguments.kwarg is not None:
        raise frame.error(
            CubeSyntaxError, f"{call.name} has a parameter **{arguments.kwarg.arg}", call.node,
            "name every parameter",
        )  # fmt: skip
    positional = [*arguments.posonlyargs, *arguments.args]
    operands = dict(zip((entry.arg for entry in positional), call.positional, strict=False))
    rest = call.positional[len(positional) :]
    if rest and arguments.vararg is None:
        raise frame.error(
            CubeTypeError,
            f"{call.name} takes {counted(len(positional), 'positional argument')}, "
            f"got {len(call.positional)}",
            call.node,
            f"its parameters are ({ast.unparse(arguments)})",
        )
    _add_keywords(frame, call, arguments, operands)
    wanted: dict[str, tuple[Operand, Annotation]] = {}
    defaults = _defaults(frame, target, source, call)
    for entry in [*positional, *arguments.kwonlyargs]:
        operand = operands.get(entry.arg)
        if operand is None and entry.arg not in defaults:
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the argument {entry.arg!r} is missing",
                call.node,
                f"its parameters are ({ast.unparse(arguments)})",
            )
        operand = operand or Operand(defaults[entry.arg], call.node)
        wanted[entry.arg] = operand, _annotation(frame, target, source, entry)
    _settle(frame, wanted, generics)
    values = {
        name: fitted(frame, *pair, generics, f"{call.name}: argument {name!r}")
        for name, pair in wanted.items()
    }
    if arguments.vararg is not None:
        values[arguments.vararg.arg] = TupleValue(tuple(operand.value for operand in rest))
    return values


def _add_keywords(
    frame: Frame, call: Call, arguments: ast.arguments, operands: dict[str, Operand]
) -> None:
    by_name = {entry.arg for entry in [*arguments.args, *arguments.kwonlyargs]}
    for name, operand in call.keywords.items():
        if name not in by_name or name in operands:
            problem = "given twice" if name in operands else "unknown"
            raise frame.error(
                CubeTypeError,
                f"{call.name}: the argument {name!r} is {problem}",
                operand.node,
                f"its parameters are ({ast.unparse(arguments)})",
            )
        operands[name] = operand


def _defaults(frame: Frame, target: Any, source: KernelSource, call: Call) -> Mapping[str, Value]:
    if isinstance(target, LocalFunction):
        return target.defaults
    parameters = source.signature.parameters.values()
    return {
        entry.name: from_python(frame, entry.default, call.node)
        for entry in parameters
        if entry.default is not entry.empty
    }


_ANY = annotation_of(Any)


def _settle(
    frame: Frame, wanted: Mapping[str, tuple[Operand, Annotation]], generics: dict[str, Scalar]
) -> None:
    """What type variables stand for: as `self` says, arrays, typed values, literals' locals."""
    owner, annotation = next(iter(wanted.values()), (None, None))
    if owner is not None and isinstance(owner.value, StructValue) and annotation == _ANY:
        settle(owner.value, own_variables(owner.value.maker), generics)
    passes: tuple[Callable[[Value, Annotation], bool], ...] = (
        lambda value, annotation: annotation.kind in ("array", "tensor"),
        lambda value, annotation: value not in frame.soft,
        lambda value, annotation: True,
    )
    for takes_part in passes:
        for operand, annotation in wanted.values():
            if takes_part(operand.value, annotation):
                settle(operand.value, annotation, generics)


def _annotation(frame: Frame, target: Any, source: KernelSource, entry: ast.arg) -> Annotation:
    if not isinstance(target, LocalFunction):
        return annotation_of(source.annotations.get(entry.arg, Any))
    if entry.annotation is None:
        return _ANY
    value = lower_expression(frame, entry.annotation)
    return annotation_of(value.value if isinstance(value, Known) else Any)


def _returns_of(node: FunctionNode) -> int:
    """How many `return` statements a function has, those of functions inside it not counted."""
    if isinstance(node, ast.Lambda):
        return 1
    pending: list[ast.AST] = list(node.body)
    count = 0
    while pending:
        inner = pending.pop()
        count += isinstance(inner, ast.Return)
        if not isinstance(inner, ast.FunctionDef | ast.Lambda):
            pending.extend(ast.iter_child_nodes(inner))
    return count


def _annotated_results(source: KernelSource, node: FunctionNode) -> tuple[Scalar, ...] | None:
    """Types of the results as `->` says, where it names scalars."""
    if node is not source.node or "return" not in source.annotations:
        return None
    wanted = source.annotations["return"]
    if typing.get_origin(wanted) is tuple:
        found = [annotation_of(entry).element for entry in typing.get_args(wanted)]
    else:
        found = [annotation_of(wanted).element]
    types_found = [entry for entry in found if entry is not None]
    return tuple(types_found) if len(types_found) == len(found) else None
