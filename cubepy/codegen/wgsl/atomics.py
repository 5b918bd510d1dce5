"""Atomics: WGSL's own for i32 and u32, the device's for integers of 64 bits and sums of floats,
else a loop over compare-exchange.

Floats are compared as their bits; 8- and 16-bit elements are updated within the word that holds
them, so that neighbours survive. WGSL's atomics are relaxed, and it has no fences but barriers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cubepy.codegen.structured import (
    BY_EXCHANGE,
    HELPER,
    Body,
    Expression,
    call,
    need_feature,
    primary,
)
from cubepy.codegen.wgsl.cells import Cells, cell_of, element_in
from cubepy.codegen.wgsl.conversions import as_bits, from_bits
from cubepy.codegen.wgsl.memory import (
    Memory,
    element_of,
    guard,
    place_of,
    put_element,
    within_word,
)
from cubepy.codegen.wgsl.operations import combined
from cubepy.codegen.wgsl.types import literal, machine_of
from cubepy.ir import Op, OpDef, ops
from cubepy.target import Topic

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel
    from cubepy.codegen.wgsl.prelude import Prelude

__all__ = ["emit_atomic", "emit_fence"]

# The row that says what an update computes, and WGSL's own function for it.
_UPDATES = {
    ops.ATOMIC_ADD: (ops.ADD, "atomicAdd"),
    ops.ATOMIC_SUB: (ops.SUB, "atomicSub"),
    ops.ATOMIC_MIN: (ops.MIN, "atomicMin"),
    ops.ATOMIC_MAX: (ops.MAX, "atomicMax"),
    ops.ATOMIC_AND: (ops.BIT_AND, "atomicAnd"),
    ops.ATOMIC_OR: (ops.BIT_OR, "atomicOr"),
    ops.ATOMIC_XOR: (ops.BIT_XOR, "atomicXor"),
    ops.ATOMIC_EXCHANGE: (None, "atomicExchange"),
}
# Operands behind the subscripts.
_VALUES = {ops.ATOMIC_COMPARE_EXCHANGE: 2, ops.ATOMIC_LOAD: 0}


def emit_atomic(kernel: WgslKernel, body: Body, op: Op) -> None:
    """An atomic; outside nothing happens and the result is 0."""
    memory = kernel.memory(op.operands[0])
    order = str(op.attrs.get("order", "relaxed"))
    need_feature(order == "relaxed" or kernel.features.memory_orders, f"the order {order}", op)
    need_feature(memory.scalar.bits < 64 or kernel.features.atomics_64, "64-bit atomics", op)
    need_feature(not memory.is_split, "64-bit atomics where elements of other sizes overlap", op)
    end = len(op.operands) - _VALUES.get(op.opdef, 1)
    indices = op.operands[1:end]
    inside = guard(kernel, body, op, memory, indices)
    machine = machine_of(memory.scalar)
    given = [kernel.moved_to(each, machine, body.peek(each)) for each in op.operands[end:]]
    result = _result(kernel, body, op, memory) if inside else ""
    if inside:
        body.writer.open(f"if ({inside}) {{")
    place = place_of(kernel, body, memory, indices)
    if op.opdef is ops.ATOMIC_STORE:
        put_element(kernel, body, memory, place, given[0])
    else:
        _change(kernel, body, op, memory, place, given, result, guarded=bool(inside))
    if inside:
        body.writer.close()


def _change(
    kernel: WgslKernel, body: Body, op: Op, memory: Memory, place: Expression,
    given: list[Expression], result: str, *, guarded: bool,
) -> None:  # fmt: skip
    if op.opdef is ops.ATOMIC_LOAD:
        made = element_of(kernel.prelude, memory, body, place)
    else:
        made = _update(kernel, body, op, memory, place, given)
    if not guarded:
        body.define(op, made, effect=True)
    elif result:
        body.writer.line(f"{result} = {made};")
    elif op.opdef is not ops.ATOMIC_LOAD:
        body.writer.line(f"{kernel.statement(made)}")


def _result(kernel: WgslKernel, body: Body, op: Op, memory: Memory) -> str:
    """The variable of the old value, 0 so far; "" where nobody asks."""
    if not body.is_used(op):
        return ""
    result = body.names.fresh(op.name or "old")
    body.writer.line(kernel.variable(memory.scalar, result, literal(memory.scalar, 0).text))
    body.bind(op, primary(result))
    return result


def emit_fence(kernel: WgslKernel, body: Body, op: Op) -> None:
    """`fence`, which WGSL cannot say."""
    need_feature(kernel.features.memory_orders, f"fence of the {op.attrs['scope']}", op)


def _update(
    kernel: WgslKernel, body: Body, op: Op, memory: Memory, place: Expression,
    given: list[Expression],
) -> Expression:  # fmt: skip
    if not _is_native(op.opdef, memory):
        kernel.notes.add(Topic.MEMORY, op, BY_EXCHANGE, op.operands[0].name)
        return call(_loop(kernel, body, op, memory), place, *given)
    function, scalar, cells = _UPDATES[op.opdef][1], memory.scalar, memory.cells
    value = cell_of(kernel.prelude, scalar, cells, given[0])
    made = call(function, primary(f"&{memory.name}[{place}]", place), value)
    return element_in(kernel.prelude, scalar, cells, made) if body.is_used(op) else made


def _is_native(opdef: OpDef, memory: Memory) -> bool:
    """Whether a function of WGSL does to the cell what the atomic does to the element."""
    scalar, cells = memory.scalar, memory.cells
    if opdef is ops.ATOMIC_COMPARE_EXCHANGE or scalar.bits < 32:
        return False
    if scalar.is_float:
        return opdef is ops.ATOMIC_EXCHANGE or cells is Cells.OWN
    signed = scalar.is_signed if cells is Cells.OWN else cells is Cells.I64
    return signed == scalar.is_signed or opdef not in (ops.ATOMIC_MIN, ops.ATOMIC_MAX)


def _loop(kernel: WgslKernel, body: Body, op: Op, memory: Memory) -> str:
    """The function that updates by compare-exchange until nobody came between."""
    scalar = memory.scalar
    word = op.opdef.name.removeprefix("atomic_").strip("_")
    name = f"{HELPER}{word}_{scalar}_in_{memory.name}"
    type = machine_of(scalar).value
    before, taken, put = _within(kernel.prelude, memory)
    parameters = f"value: {type}"
    if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE:
        parameters = f"expected: {type}, value: {type}"
    text = (
        f"fn {name}(place: i32, {parameters}) -> {type} {{\n{before}"
        f"    var seen = atomicLoad(&{memory.name}[word]);\n"
        "    loop {\n"
        f"        let old = {taken};\n"
        f"        let next = {_changed(kernel, body, op, memory)};\n"
        f"        let change = atomicCompareExchangeWeak(&{memory.name}[word], seen, {put});\n"
        "        if (change.exchanged) {\n            break;\n        }\n"
        "        seen = change.old_value;\n    }\n"
        f"    return {taken};\n}}"
    )
    return kernel.prelude.add(name, text)


def _changed(kernel: WgslKernel, body: Body, op: Op, memory: Memory) -> Expression:
    scalar, old, value = memory.scalar, primary("old"), primary("value")
    if op.opdef is ops.ATOMIC_EXCHANGE:
        return value
    if op.opdef is ops.ATOMIC_COMPARE_EXCHANGE:
        prelude, cells = kernel.prelude, memory.cells
        present, expected = (
            cell_of(prelude, scalar, cells, each) for each in (old, primary("expected"))
        )
        return primary(f"select(old, value, ({present} == {expected}))")
    row = _UPDATES[op.opdef][0]
    assert row is not None
    operands = (Op(opdef=ops.PARAM, type=scalar), Op(opdef=ops.PARAM, type=scalar))
    sample = Op(opdef=row, operands=operands, type=scalar)
    return combined(kernel, body, row.name, sample, [old, value])


def _within(prelude: Prelude, memory: Memory) -> tuple[str, Expression, Expression]:
    """The lines that find the cell, the element in `seen`, and the cell with `next` in it."""
    scalar, seen, next = memory.scalar, primary("seen"), primary("next")
    if not memory.is_packed:
        taken = element_in(prelude, scalar, memory.cells, seen)
        return "    let word = place;\n", taken, cell_of(prelude, scalar, memory.cells, next)
    number, shift = within_word(scalar)
    ones = (1 << scalar.bits) - 1
    before = f"    let word = {number};\n    let shift = {shift};\n"
    taken = from_bits(scalar, primary(f"((seen >> shift) & {ones}u)"))
    bits = as_bits(scalar, next)
    put = primary(f"(seen & ~({ones}u << shift)) | (({bits}) << shift)")
    return before, taken, put
