"""Loads, stores and the tests that keep them inside: elements of buffers, shared and private
memory.

A memory is a pointer with the extents and strides of its axes. A checked load outside gives 0, a
store outside is dropped; `validate` writes the first fault into the report before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.opencl.subscripts import held
from cubepy.codegen.opencl.types import literal, memory_type
from cubepy.codegen.structured import Body, Expression, place_at, primary, tests_of
from cubepy.ir import APART, BOOL, MemoryType, Op, Scalar
from cubepy.records import dataclass

if TYPE_CHECKING:
    from cubepy.codegen.opencl.kernel import OpenclKernel

__all__ = [
    "Memory",
    "element",
    "emit_load",
    "emit_store",
    "guard",
    "memory_parameters",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """`space`: global, local or private. `strides` count elements."""

    name: str
    type: MemoryType
    space: str
    extents: tuple[str, ...]
    strides: tuple[str, ...]

    @staticmethod
    def of_shape(name: str, type: MemoryType, space: str, shape: tuple[int, ...]) -> Memory:
        """Memory of a shape known while compiling, row-major."""
        return Memory(
            name=name,
            type=type,
            space=space,
            extents=tuple(map(str, shape)),
            strides=tuple(str(math.prod(shape[axis + 1 :])) for axis in range(len(shape))),
        )

    @property
    def scalar(self) -> Scalar:
        """Its element."""
        return self.type.element


def memory_parameters(memory: Memory, constant: bool) -> list[str]:  # noqa: FBT001
    """How a helper function declares a memory it is given."""
    qualifier = "const " if constant else ""
    element_type = memory_type(memory.scalar)
    declared = [f"{memory.space} {qualifier}{element_type} *{memory.name}"]
    sizes = (*memory.extents, *memory.strides)
    return declared + [f"long {size}" for size in sizes if size[0].isalpha()]


def element(
    kernel: OpenclKernel,
    body: Body,
    memory: Memory,
    indices: Sequence[Op],
    *,
    apart: bool = False,
) -> Expression:
    """The element with these subscripts, which must be inside; `apart`: no two accesses to it are
    one.
    """
    texts = [body.text(index) for index in indices]
    if memory.space == "private":
        subscripts = zip(indices, texts, memory.extents, strict=True)
        texts = [held(kernel, index, text, extent) for index, text, extent in subscripts]
    place = place_at(pair for pair in zip(texts, memory.strides, strict=True) if pair[1] != "0")
    name = memory.name
    if apart:
        name = f"((volatile {memory.space} {memory_type(memory.scalar)} *){name})"
    return primary(f"{name}[{place}]", place)


def guard(kernel: OpenclKernel, body: Body, op: Op, memory: Memory, indices: Sequence[Op]) -> str:
    """The condition of an access being inside, "" if nothing need be tested."""
    condition = tests_of(
        body, op, indices, kernel.ranges,
        lambda axis, text: _inside(kernel, op, axis, text, memory.extents[axis]),
    )  # fmt: skip
    kernel.notes.access(op, tested=bool(condition))
    if condition and op.attrs.get("check") == "validate":
        kernel.report_outside(body, op, memory, indices, condition)
    return condition


def _inside(kernel: OpenclKernel, op: Op, axis: int, index: Expression, extent: str) -> str:
    if kernel.ranges.is_not_negative(op, axis):
        return f"{index} < {extent}"
    return f"(ulong){index} < (ulong){extent}"


def emit_load(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """A load; 0 outside."""
    memory, indices = kernel.memory(op.operands[0]), op.operands[1:]
    scalar = memory.scalar
    inside = guard(kernel, body, op, memory, indices)
    place = element(kernel, body, memory, indices, apart=APART in op.attrs)
    value = place.text if scalar is not BOOL else f"{place} != 0"
    if inside:
        # clang warns of `a & b ? c : d`, and PoCL shows users how often
        asked = f"({inside})" if "&" in inside else inside
        value = f"{asked} ? {value} : {literal(scalar, 0)}"
    body.define_now(op, primary(value))


def emit_store(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """A store; dropped outside."""
    memory, indices = kernel.memory(op.operands[0]), op.operands[1:-1]
    inside = guard(kernel, body, op, memory, indices)
    place = element(kernel, body, memory, indices, apart=APART in op.attrs)
    value = body.text(op.operands[-1])
    if inside:
        body.writer.open(f"if ({inside}) {{")
    body.writer.line(f"{place} = {value};")
    if inside:
        body.writer.close()
