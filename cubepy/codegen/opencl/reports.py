"""`assert`, `print` and accesses outside: writes to the launch's report block.

The block is described in `cubepy/target/reports.py`; the first fault of a launch claims its head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.opencl.conversions import bitcast
from cubepy.codegen.opencl.memory import Memory
from cubepy.codegen.structured import HELPER, Body, Expression, primary, unary
from cubepy.ir import BOOL, SCALARS, Op, scalar_type
from cubepy.target import Fault, FaultKind, Print, reports

if TYPE_CHECKING:
    from cubepy.codegen.opencl.kernel import OpenclKernel

__all__ = ["emit_assert", "emit_check", "emit_print", "report_outside"]

_CLAIM = f"""\
bool {HELPER}claim(global long *report, int fault, long a, long b, long c) {{
    if (atomic_cmpxchg((volatile global int *)report, 0, fault) != 0) {{
        return false;
    }}
    report[1] = a;
    report[2] = b;
    report[3] = c;
    return true;
}}"""
_OUTSIDE = f"""\
void {HELPER}outside(global long *report, int fault, long axis, long subscript, long extent) {{
    if (subscript < 0 || subscript >= extent) {{
        {HELPER}claim(report, fault, axis, subscript, extent);
    }}
}}"""
_PRINT = f"""\
global long *{HELPER}print(global long *report, long number, long a, long b, uint size) {{
    const ulong room = report[{reports.PRINT_SIZE}];
    volatile global uint *used = (volatile global uint *)&report[{reports.PRINT_USED}];
    const ulong start = *used > room ? room + 1 : atomic_add(used, size);
    if (start + size > room) {{
        atomic_add((volatile global uint *)&report[{reports.PRINT_DROPPED}], 1u);
        return 0;
    }}
    global long *place = report + {reports.HEAD_WORDS} + start;
    place[0] = number;
    place[1] = a;
    place[2] = b;
    place[3] = 0;
    return place + {reports.PRINT_HEAD};
}}"""


def report_outside(
    kernel: OpenclKernel, body: Body, op: Op, memory: Memory, indices: Sequence[Op], inside: str
) -> None:
    """Report an access unless it is inside."""
    text, axes = op.operands[0].name or "array", len(indices)
    fault = Fault(kind=FaultKind.BOUNDS, text=text, loc=op.loc, axes=axes)
    kernel.faults.append(fault)
    kernel.prelude.add("claim", _CLAIM)
    kernel.prelude.add("outside", _OUTSIDE)
    body.writer.open(f"if (!({inside})) {{")
    for axis, index in enumerate(indices):
        words = f"{axis}, {body.peek(index)}, {memory.extents[axis]}"
        body.writer.line(f"{HELPER}outside(report, {len(kernel.faults)}, {words});")
    body.writer.close()


def emit_check(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """Report a subscript of a view unless it is inside."""
    kernel.faults.append(Fault.of_check(op))
    kernel.prelude.add("claim", _CLAIM)
    kernel.prelude.add("outside", _OUTSIDE)
    index, extent = (body.text(operand) for operand in op.operands)
    words = f"{op.attrs['axis']}, {index}, {extent}"
    body.writer.line(f"{HELPER}outside(report, {len(kernel.faults)}, {words});")


def emit_assert(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """Report the unit, and the values its text speaks of, where the condition does not hold."""
    condition, *values = op.operands
    types = tuple(scalar_type(value) for value in values)
    text = str(op.attrs["text"])
    kernel.faults.append(Fault(kind=FaultKind.ASSERTION, text=text, loc=op.loc, types=types))
    kernel.prelude.add("claim", _CLAIM)
    broken = unary("!", body.text(condition))
    words = [_word(value, body.text(value)) for value in values]
    claim = f"{HELPER}claim(report, {len(kernel.faults)}, {_place(kernel)}, 0)"
    if not words:
        body.writer.open(f"if ({broken}) {{")
        body.writer.line(f"{claim};")
    else:
        body.writer.open(f"if ({broken} && {claim}) {{")
    for at, word in enumerate(words, reports.FAULT_VALUES):
        body.writer.line(f"report[{at}] = {word};")
    body.writer.close()


def emit_print(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """Append a record of the values, if there is room for it."""
    types = tuple(scalar_type(value) for value in op.operands)
    kernel.prints.append(Print(text=str(op.attrs["text"]), types=types))
    kernel.prelude.add("print", _PRINT)
    size = reports.PRINT_HEAD + len(types)
    words = [_word(value, body.text(value)) for value in op.operands]
    record = f"{HELPER}print(report, {len(kernel.prints)}, {_place(kernel)}, {size})"
    if not words:
        body.writer.line(f"{record};")
        return
    place = body.names.fresh("printed")
    body.writer.line(f"global long *{place} = {record};")
    body.writer.open(f"if ({place}) {{")
    for at, word in enumerate(words):
        body.writer.line(f"{place}[{at}] = {word};")
    body.writer.close()


def _place(kernel: OpenclKernel) -> str:
    """CUBE_POS and UNIT_POS."""
    return ", ".join(kernel.positions.expression(name).text for name in ("cube_pos", "unit_pos"))


def _word(op: Op, value: Expression) -> Expression:
    """The bits of a value in the low bits of a word."""
    scalar = scalar_type(op)
    if scalar is not BOOL:
        value = bitcast(scalar, SCALARS[f"u{scalar.bits}"], value)
    return primary(f"(long)(ulong){value.within(primary('').binding)}", value)
