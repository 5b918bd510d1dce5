"""Atomics and fences: the functions of OpenCL C 1.2, else a loop over compare-exchange.

Floats are compared as their bits; 8- and 16-bit elements are updated within the word that holds
them, so that neighbours survive. Orders above relaxed are fences round the update.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cubepy.codegen.opencl.conversions import bitcast, typed
from cubepy.codegen.opencl.memory import Memory, element, guard
from cubepy.codegen.opencl.operations import VALUES
from cubepy.codegen.opencl.types import literal, memory_type, register_type, unsigned_type
from cubepy.codegen.structured import (
    BY_EXCHANGE,
    HELPER,
    Binding,
    Body,
    Expression,
    need_feature,
    primary,
)
from cubepy.ir import SCALARS, U32, U64, Op, Scalar, ops
from cubepy.target import Topic

if TYPE_CHECKING:
    from cubepy.codegen.opencl.kernel import OpenclKernel

__all__ = ["emit_atomic", "emit_fence"]

# The row that says what an update computes, and the word of OpenCL's own function for it.
_UPDATES = {
    ops.ATOMIC_ADD: (ops.ADD, "add"),
    ops.ATOMIC_SUB: (ops.SUB, "sub"),
    ops.ATOMIC_MIN: (ops.MIN, "min"),
    ops.ATOMIC_MAX: (ops.MAX, "max"),
    ops.ATOMIC_AND: (ops.BIT_AND, "and"),
    ops.ATOMIC_OR: (ops.BIT_OR, "or"),
    ops.ATOMIC_XOR: (ops.BIT_XOR, "xor"),
    ops.ATOMIC_EXCHANGE: (None, "xchg"),
}
_FENCE = (
    "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, "
    "memory_order_{}, memory_scope_device);"
)
# Operands behind the subscripts.
_VALUES = {ops.ATOMIC_COMPARE_EXCHANGE: 2, ops.ATOMIC_LOAD: 0}
_BASE = frozenset({"add", "sub", "xchg", "cmpxchg"})


def emit_atomic(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """An atomic; outside nothing happens and the result is 0."""
    values = _VALUES.get(op.opdef, 1)
    end = len(op.operands) - values
    memory, indices = kernel.memory(op.operands[0]), op.operands[1:end]
    inside = guard(kernel, body, op, memory, indices)
    place = element(kernel, body, memory, indices)
    given = [body.peek(operand) for operand in op.operands[end:]]
    update = _update(kernel, body, op, memory, place, given)
    if not inside:
        with _Ordered(kernel, body, op):
            body.define(op, update, effect=True)
        return
    result = ""
    if body.is_used(op):
        result = body.names.fresh(op.name or "old")
        zero = literal(memory.scalar, 0).text
        body.writer.line(kernel.variable(memory.scalar, result, zero))
        body.bind(op, primary(result))
    body.writer.open(f"if ({inside}) {{")
    with _Ordered(kernel, body, op):
        body.writer.line(f"{result} = {update};" if result else f"{update};")
    body.writer.close()


class _Ordered:
    """Writes the fences that an order asks for before and after what is written inside."""

    def __init__(self, kernel: OpenclKernel, body: Body, op: Op) -> None:
        self._order = str(op.attrs.get("order", "relaxed"))
        self._body = body
        if self._order != "relaxed":
            need_feature(kernel.features.memory_orders, f"the order {self._order}", op)

    def __enter__(self) -> None:
        if self._order in ("release", "acq_rel"):
            self._fence("release")

    def __exit__(self, *_: object) -> None:
        if self._order in ("acquire", "acq_rel"):
            self._fence("acquire")

    def _fence(self, order: str) -> None:
        self._body.writer.line(_FENCE.format(order))


def emit_fence(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """`fence`."""
    if op.attrs["scope"] == "cube":
        body.writer.line("mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);")
        return
    need_feature(kernel.features.memory_orders, "fence beyond the cube", op)
    body.writer.line(_FENCE.format("acq_rel"))


def _update(
    kernel: OpenclKernel,
    body: Body,
    op: Op,
    memory: Memory,
    place: Expression,
    given: list[Expression],
) -> Expression:
    scalar, space = memory.scalar, memory.space
    if scalar.bits == 64:
        need_feature(kernel.features.atomics_64, "64-bit atomics", op)
    if op.opdef in (ops.ATOMIC_LOAD, ops.ATOMIC_STORE):
        # aligned elements are read and written as a whole, if the compiler leaves them alone
        element = f"*(volatile {space} {memory_type(scalar)} *)&{place}"
        text = f"{element} = {given[0]}" if given else element
        return Expression(text, Binding.UNARY)
    word = "cmpxchg" if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE else _UPDATES[op.opdef][1]
    pointer = f"&{place}"
    if scalar.is_integer and scalar.bits >= 32 and _is_native(kernel, scalar, word):
        prefix = "atomic" if scalar.bits == 32 else "atom"
        arguments = [pointer, *(typed(scalar, value).text for value in given)]
        return primary(f"{prefix}_{word}({', '.join(arguments)})", place, *given)
    kernel.notes.add(Topic.MEMORY, op, BY_EXCHANGE, op.operands[0].name)
    name = _loop(kernel, body, op, scalar, space, word)
    return primary(f"{name}({', '.join([pointer, *(value.text for value in given)])})")


def _is_native(kernel: OpenclKernel, scalar: Scalar, word: str) -> bool:
    return scalar.bits == 32 or word in _BASE or kernel.features.extended_atomics_64


def _loop(kernel: OpenclKernel, body: Body, op: Op, scalar: Scalar, space: str, word: str) -> str:
    """The helper that updates by compare-exchange until nobody came between."""
    container = U64 if scalar.bits == 64 else U32
    value, wide = register_type(scalar), register_type(container)
    exchange = "atom_cmpxchg" if scalar.bits == 64 else "atomic_cmpxchg"
    old, seen = primary("old"), primary("seen")
    parameters, changes = f"{value} value", "old"
    if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE:
        parameters = f"{value} expected, {value} value"
        same = " == ".join(_bits(scalar, primary(each)).text for each in ("old", "expected"))
        changes = f"{same} ? value : old"
    elif op.opdef is ops.ATOMIC_EXCHANGE:
        changes = "value"
    else:
        row = _UPDATES[op.opdef][0]
        assert row is not None
        operands = (Op(opdef=ops.PARAM, type=scalar), Op(opdef=ops.PARAM, type=scalar))
        sample = Op(opdef=row, operands=operands, type=scalar)
        changes = VALUES[row.name](kernel, body, sample, [old, primary("value")]).text
    if scalar.bits < 32:
        head = _within_word(scalar, space)
        taken = _from_bits(scalar, primary(f"({unsigned_type(scalar)})(seen >> shift)"))
        put = f"(seen & ~mask) | (uint)({_bits(scalar, primary('next'))}) << shift"
    else:
        head = f"    volatile {space} {wide} *word = (volatile {space} {wide} *)place;\n"
        taken, put = (
            bitcast(container, scalar, seen),
            bitcast(scalar, container, primary("next")).text,
        )
    name = f"{HELPER}atomic_{word}_{scalar}_{space}"
    text = (
        f"{value} {name}(volatile {space} {value} *place, {parameters}) {{\n{head}"
        f"    for ({wide} seen = *word, found;; seen = found) {{\n"
        f"        const {value} old = {taken};\n"
        f"        const {value} next = {changes};\n"
        f"        found = {exchange}(word, seen, {put});\n"
        f"        if (found == seen) {{\n            return old;\n        }}\n    }}\n}}"
    )
    return kernel.prelude.add(name, text)


def _within_word(scalar: Scalar, space: str) -> str:
    ones = (1 << scalar.bits) - 1
    return (
        f"    volatile {space} uint *word =\n"
        f"        (volatile {space} uint *)((size_t)place & ~(size_t)3);\n"
        "    const uint shift = ((size_t)place & 3) * 8;\n"
        f"    const uint mask = {ones}u << shift;\n"
    )


def _bits(scalar: Scalar, value: Expression) -> Expression:
    """A value as the unsigned integer of its bits."""
    return bitcast(scalar, SCALARS[f"u{scalar.bits}"], value)


def _from_bits(scalar: Scalar, bits: Expression) -> Expression:
    return bitcast(SCALARS[f"u{scalar.bits}"], scalar, bits)
