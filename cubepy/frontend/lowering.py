"""Stage 3, lower: a source and a specialization become an `ir.Kernel`, typed from birth.

The body of a launch over a shape is wrapped in a guard on the extents, unless its units work
together. Complaints are collected and raised as one error.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import partial

from cubepy.depth import deep
from cubepy.errors import CubeTypeError, Diagnostic

# Each of these registers what it lowers.
from cubepy.frontend import atomics as _atomics  # noqa: F401
from cubepy.frontend import calls as _calls  # noqa: F401
from cubepy.frontend import conditions as _conditions  # noqa: F401
from cubepy.frontend import cooperation as _cooperation  # noqa: F401
from cubepy.frontend import declarations as _declarations  # noqa: F401
from cubepy.frontend import expressions as _expressions  # noqa: F401
from cubepy.frontend import intrinsics as _intrinsics  # noqa: F401
from cubepy.frontend import loops as _loops  # noqa: F401
from cubepy.frontend import matching as _matching  # noqa: F401
from cubepy.frontend import memory as _memory  # noqa: F401
from cubepy.frontend import native as _native  # noqa: F401
from cubepy.frontend import overloads as _overloads  # noqa: F401
from cubepy.frontend import python_functions as _python_functions  # noqa: F401
from cubepy.frontend import statements as _statements  # noqa: F401
from cubepy.frontend import struct_values as _struct_values  # noqa: F401
from cubepy.frontend import superclasses as _superclasses  # noqa: F401
from cubepy.frontend import texts as _texts  # noqa: F401
from cubepy.frontend import vector_access as _vector_access  # noqa: F401
from cubepy.frontend import vectors as _vectors  # noqa: F401
from cubepy.frontend.annotations import Annotation, parts_of
from cubepy.frontend.axes import warn_of_axes
from cubepy.frontend.comptime import from_python
from cubepy.frontend.dispatch import lower_body, lower_expression
from cubepy.frontend.frame import Frame, Plan
from cubepy.frontend.functions import lower_function, lower_repeatedly, start_frame
from cubepy.frontend.idle import judge_kernel
from cubepy.frontend.notes import Note
from cubepy.frontend.parameters import annotations_of, is_group
from cubepy.frontend.session import Session
from cubepy.frontend.signature import Specialization
from cubepy.frontend.source import KernelSource
from cubepy.frontend.values import Encoded, StructValue, TupleValue, Value, VectorValue, kept
from cubepy.frontend.variables import assign
from cubepy.frontend.watched import Watched
from cubepy.ir import (
    Function,
    Kernel,
    Op,
    Region,
    Rewriter,
    Trait,
    freeze_attrs,
    ops,
    param,
    rewrite,
    walk,
)
from cubepy.records import dataclass

__all__ = ["Lowered", "lower", "lower_and_tell", "lower_function"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A kernel, and what it depends on besides its specialization.

    `watched`: variables that were read beyond the captures. `lasting`: lowering it again would
    print nothing, warn of nothing and give the same, as long as these hold what they held.
    """

    kernel: Kernel
    watched: Watched
    lasting: bool

    @property
    def repeatable(self) -> bool:
        """Whether its origin says all of it, so that every process would make the same."""
        return self.lasting and not self.watched


def lower(
    source: KernelSource, specialization: Specialization, *, notes: list[Note] | None = None
) -> Kernel:
    """The kernel for a specialization; raises a SourceError with every complaint about it.

    With `notes` it is to be stepped through, and they get what a debugger shows of its variables.
    """
    return lower_and_tell(source, specialization, notes=notes).kernel


def lower_and_tell(
    source: KernelSource, specialization: Specialization, *, notes: list[Note] | None = None
) -> Lowered:
    """The kernel, and what else there is to say of it."""
    session = Session(
        specialization=specialization,
        notes=notes,
        contract=bool(dict(source.options).get("contract")),
        deterministic=bool(dict(source.options).get("deterministic")),
    )
    _refuse_result(source)
    rank = specialization.options.over_rank

    def run(frame: Frame) -> tuple[tuple[Op, ...], Region]:
        params = tuple(
            param(name, type, frame.loc(_argument(source, name)))
            for name, type in specialization.types
        )
        with frame.builder.region() as body:
            start_frame(frame)
            frame.generics = dict(specialization.generics)
            _bind_parameters(frame, specialization, params)
            if isinstance(source.node, ast.Lambda):
                lower_expression(frame, source.node.body)
            else:
                lower_body(frame, source.node.body)
        region = body.close()
        if rank and not _works_together(region, session.functions):
            region = _guarded(frame, region, rank)
        return params, region

    with deep(source.name, source.loc):
        params, body = lower_repeatedly(session, source, source.node, Plan(), run)
    sys.stdout.write("".join(session.prints))
    judge_kernel(session, source, specialization, body)
    warn_of_axes(session, source.name, [body, *(each.body for each in session.functions)])
    session.raise_complaints()
    session.give_warnings()
    kernel = Kernel(
        name=source.name,
        params=params,
        body=body,
        functions=tuple(session.functions),
        cube_dim=specialization.options.cube_dim,
        options=freeze_attrs(dict(source.options)),
        loc=source.loc,
    )
    if rank > 1 and not _works_together(kernel.body, session.functions):
        kernel = rewrite(kernel, {ops.ABSOLUTE_POS: partial(_linear_in_shape, rank)})
    watched = session.watch.watched() - specialization.captures.watched(source.function)
    silent = not session.prints and not session.warnings
    return Lowered(kernel=kernel, watched=watched, lasting=session.repeatable and silent)


def _refuse_result(source: KernelSource) -> None:
    wanted = source.annotations.get("return")
    if wanted is not None and wanted is not type(None):
        shown = getattr(wanted, "__name__", wanted)
        raise CubeTypeError(
            Diagnostic(
                message=f"{source.name} is annotated to return {shown}",
                loc=source.loc,
                help="a kernel returns nothing: write the result to an array",
            )
        )


def _argument(source: KernelSource, name: str) -> ast.AST:
    """The node of the parameter that a leaf belongs to."""
    name = name.partition(".")[0]
    arguments = source.node.args
    for entry in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        if entry.arg == name:
            return entry
    return source.node


def _bind_parameters(frame: Frame, specialization: Specialization, params: tuple[Op, ...]) -> None:
    names = [name for name, _ in specialization.types]
    leaves: dict[str, Value] = dict(zip(names, params, strict=True))
    for name, value in specialization.values.items():
        leaves[name] = kept(from_python(frame, value, frame.node))
    for name, annotation in annotations_of(frame.source):
        value = _assembled(name, annotation, leaves.__getitem__)
        assign(frame, frame.analysis.parameters[name], value, frame.node)


def _assembled(name: str, annotation: Annotation, leaf: Callable[[str], Value]) -> Value:
    """The value of a parameter in the kernel, put together from its leaves."""
    if not is_group(annotation):
        value = leaf(name)
        if annotation.format is not None and isinstance(value, Op):
            return Encoded(value, annotation.format)
        return value
    items = tuple(_assembled(f"{name}.{part}", inner, leaf) for part, inner in parts_of(annotation))
    if annotation.kind != "struct":
        return TupleValue(items) if annotation.kind == "tuple" else VectorValue(items)
    return StructValue(items, annotation.structure)


def _works_together(region: Region, functions: list[Function]) -> bool:
    """Whether units share memory, meet at barriers or talk within a plane."""
    bodies = [region, *(function.body for function in functions)]
    return any(
        op.opdef is ops.SHARED or op.opdef.has(Trait.BARRIER) or op.opdef.has(Trait.PLANE)
        for body in bodies
        for op in walk(body)
    )


_AXES = (
    (ops.ABSOLUTE_POS_X, ops.EXTENT_X),
    (ops.ABSOLUTE_POS_Y, ops.EXTENT_Y),
    (ops.ABSOLUTE_POS_Z, ops.EXTENT_Z),
)


def _linear_in_shape(rank: int, op: Op, rewriter: Rewriter) -> Op:
    """ABSOLUTE_POS of a launch over a shape: the place in the shape, row by row.

    The cubes may reach over the end of a row, so the op's own meaning, which counts their units,
    would leave holes.
    """
    (first, _), *outer = _AXES[:rank]
    linear, size = rewriter.emit(first, like=op), rewriter.emit(ops.EXTENT_X, like=op)
    for position, extent in outer:
        step = rewriter.emit(ops.MUL, rewriter.emit(position, like=op), size, like=op)
        linear = rewriter.emit(ops.ADD, linear, step, like=op)
        size = rewriter.emit(ops.MUL, size, rewriter.emit(extent, like=op), like=op)
    return linear


def _guarded(frame: Frame, body: Region, rank: int) -> Region:
    """The body under a test that the unit lies within the shape."""
    at = frame.node
    with frame.builder.region() as outer:
        inside: Op | None = None
        for position, extent in _AXES[:rank]:
            part = frame.emit(ops.LT, frame.emit(position, at=at), frame.emit(extent, at=at), at=at)
            inside = part if inside is None else frame.emit(ops.BIT_AND, inside, part, at=at)
        assert inside is not None
        frame.emit(ops.IF, inside, at=at, regions=(body, Region()))
    return outer.close()
