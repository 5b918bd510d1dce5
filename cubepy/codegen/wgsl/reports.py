"""`assert`, `print` and accesses outside: writes to the launch's report block.

The block is described in `cubepy/target/reports.py`; here it is an array of 32-bit words, two for
each of its own. The first fault of a launch claims its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.structured import HELPER, Body, Expression, primary, unary
from cubepy.codegen.wgsl.conversions import as_bits, as_pair, moved
from cubepy.codegen.wgsl.memory import Memory
from cubepy.codegen.wgsl.types import Machine
from cubepy.ir import Op, scalar_type
from cubepy.target import Fault, FaultKind, Print, reports

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel

__all__ = ["emit_assert", "emit_check", "emit_print", "need_claim", "report_outside"]

_TELL = f"""\
fn {HELPER}tell(word: u32, value: vec2<u32>) {{
    atomicStore(&report[2u * word], value.x);
    atomicStore(&report[2u * word + 1u], value.y);
}}"""
_CLAIM = f"""\
fn {HELPER}claim(fault: u32, a: vec2<u32>, b: vec2<u32>, c: vec2<u32>) -> bool {{
    loop {{
        let change = atomicCompareExchangeWeak(&report[0], 0u, fault);
        if (change.exchanged) {{
            break;
        }}
        if (change.old_value != 0u) {{
            return false;
        }}
    }}
    {HELPER}tell(1u, a);
    {HELPER}tell(2u, b);
    {HELPER}tell(3u, c);
    return true;
}}"""
_OUTSIDE = f"""\
fn {HELPER}outside(fault: u32, axis: u32, subscript: vec2<u32>, extent: vec2<u32>) {{
    if ({HELPER}negative_64(subscript) || !{HELPER}less_i64(subscript, extent)) {{
        _ = {HELPER}claim(fault, vec2<u32>(axis, 0u), subscript, extent);
    }}
}}"""
# The number of the first word for values, or 0 where there is no room.
_PRINT = f"""\
fn {HELPER}print(number: u32, a: vec2<u32>, b: vec2<u32>, size: u32) -> u32 {{
    let room = atomicLoad(&report[{2 * reports.PRINT_SIZE}]);
    var start = room + 1u;
    if (atomicLoad(&report[{2 * reports.PRINT_USED}]) <= room) {{
        start = atomicAdd(&report[{2 * reports.PRINT_USED}], size);
    }}
    if (start + size > room) {{
        atomicAdd(&report[{2 * reports.PRINT_DROPPED}], 1u);
        return 0u;
    }}
    let place = {reports.HEAD_WORDS}u + start;
    {HELPER}tell(place, vec2<u32>(number, 0u));
    {HELPER}tell(place + 1u, a);
    {HELPER}tell(place + 2u, b);
    {HELPER}tell(place + 3u, vec2<u32>(0u, 0u));
    return place + {reports.PRINT_HEAD}u;
}}"""


def _need(kernel: WgslKernel, *names: str) -> None:
    texts = {"tell": _TELL, "claim": _CLAIM, "outside": _OUTSIDE, "print": _PRINT}
    for name in names:
        kernel.prelude.add(f"{HELPER}{name}", texts[name])


def need_claim(kernel: WgslKernel) -> None:
    """Have the function that reports a fault unless there was one."""
    _need(kernel, "tell", "claim")


def _pair(kernel: WgslKernel, op: Op, value: Expression) -> Expression:
    return moved(kernel.prelude, kernel.machine(op), Machine.PAIR, value)


def _number(kernel: WgslKernel, text: str) -> Expression:
    """An i32, an extent, as a pair."""
    return moved(kernel.prelude, Machine.I32, Machine.PAIR, primary(text))


def report_outside(
    kernel: WgslKernel, body: Body, op: Op, memory: Memory, indices: Sequence[Op], inside: str
) -> None:
    """Report an access unless it is inside."""
    text, axes = op.operands[0].name or "array", len(indices)
    fault = Fault(kind=FaultKind.BOUNDS, text=text, loc=op.loc, axes=axes)
    kernel.faults.append(fault)
    _need(kernel, "tell", "claim", "outside")
    body.writer.open(f"if (!({inside})) {{")
    for axis, index in enumerate(indices):
        subscript = _pair(kernel, index, body.peek(index))
        extent = _number(kernel, memory.extents[axis])
        words = f"{axis}u, {subscript}, {extent}"
        body.writer.line(f"{HELPER}outside({len(kernel.faults)}u, {words});")
    body.writer.close()


def emit_check(kernel: WgslKernel, body: Body, op: Op) -> None:
    """Report a subscript of a view unless it is inside."""
    kernel.faults.append(Fault.of_check(op))
    _need(kernel, "tell", "claim", "outside")
    index, extent = (_pair(kernel, operand, body.text(operand)) for operand in op.operands)
    words = f"{op.attrs['axis']}u, {index}, {extent}"
    body.writer.line(f"{HELPER}outside({len(kernel.faults)}u, {words});")


def emit_assert(kernel: WgslKernel, body: Body, op: Op) -> None:
    """Report the unit, and the values its text speaks of, where the condition does not hold."""
    condition, *values = op.operands
    types = tuple(scalar_type(value) for value in values)
    text = str(op.attrs["text"])
    kernel.faults.append(Fault(kind=FaultKind.ASSERTION, text=text, loc=op.loc, types=types))
    need_claim(kernel)
    broken = unary("!", body.text(condition))
    words = [_word(kernel, value, body.text(value)) for value in values]
    body.writer.open(f"if ({broken}) {{")
    claim = f"{HELPER}claim({len(kernel.faults)}u, {_place(kernel)}, vec2<u32>(0u, 0u))"
    if not words:
        body.writer.line(f"_ = {claim};")
    else:
        body.writer.open(f"if ({claim}) {{")
        for at, word in enumerate(words, reports.FAULT_VALUES):
            body.writer.line(f"{HELPER}tell({at}u, {word});")
        body.writer.close()
    body.writer.close()


def emit_print(kernel: WgslKernel, body: Body, op: Op) -> None:
    """Append a record of the values, if there is room for it."""
    types = tuple(scalar_type(value) for value in op.operands)
    kernel.prints.append(Print(text=str(op.attrs["text"]), types=types))
    _need(kernel, "tell", "print")
    size = reports.PRINT_HEAD + len(types)
    words = [_word(kernel, value, body.text(value)) for value in op.operands]
    record = f"{HELPER}print({len(kernel.prints)}u, {_place(kernel)}, {size}u)"
    if not words:
        body.writer.line(f"_ = {record};")
        return
    place = body.names.fresh("printed")
    body.writer.line(f"let {place} = {record};")
    body.writer.open(f"if ({place} != 0u) {{")
    for at, word in enumerate(words):
        body.writer.line(f"{HELPER}tell({place} + {at}u, {word});")
    body.writer.close()


def _place(kernel: WgslKernel) -> str:
    """CUBE_POS and UNIT_POS."""
    places = (kernel.positions.expression(name).text for name in ("cube_pos", "unit_pos"))
    return ", ".join(_number(kernel, place).text for place in places)


def _word(kernel: WgslKernel, op: Op, value: Expression) -> Expression:
    """The bits of a value in the low bits of a word."""
    scalar = scalar_type(op)
    if scalar.bits == 64:
        return as_pair(kernel.prelude, kernel.machine(op), value)
    return primary(f"vec2<u32>({as_bits(scalar, value)}, 0u)")
