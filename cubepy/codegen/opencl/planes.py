"""Plane operations: sub-groups where the device's are of one size, else through local memory.

All are made of one exchange, "the value of that lane, or my own if it is missing", and of the
number of lanes there are. Sums and products of floats are balanced trees over neighbouring lanes,
scans go in lane order. Planes of one unit need nothing at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cubepy.codegen.opencl.operations import VALUES
from cubepy.codegen.opencl.types import literal, memory_type, register_type
from cubepy.codegen.structured import HELPER, Body, Expression, binary, call, primary, unary
from cubepy.ir import BOOL, PLANE_REDUCTIONS, PLANE_SCANS, U64, Op, OpDef, Scalar, ops

if TYPE_CHECKING:
    from cubepy.codegen.opencl.kernel import OpenclKernel

__all__ = ["emit_plane", "emit_uniform"]

_FAR = "((ulong)1 << 32)"
_FENCE = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"


def emit_plane(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """Any plane op."""
    if op.opdef is ops.SYNC_PLANE:
        _sync(kernel, body)
    elif op.opdef is ops.PLANE_ELECT:
        body.define_now(op, binary("==", _lane(kernel), primary("0")))
    elif kernel.positions.plane_dim == 1:
        body.define_now(op, _alone(body, op))
    else:
        body.define(op, _together(kernel, body, op), effect=True)


def _sync(kernel: OpenclKernel, body: Body) -> None:
    if kernel.planes_emulated:
        body.writer.line(f"barrier({_FENCE});")
    elif kernel.positions.plane_dim > 1:
        body.writer.line(f"sub_group_barrier({_FENCE});")


def _alone(body: Body, op: Op) -> Expression:
    """The op in a plane of one unit."""
    value = body.text(op.operands[0])
    for operand in op.operands[1:]:
        body.text(operand)
    if op.opdef is ops.PLANE_BALLOT:
        return unary("(ulong)", value)
    scalar = op.type
    assert isinstance(scalar, Scalar)
    _, first = PLANE_SCANS.get(op.opdef, (None, None))
    return value if first is None else literal(scalar, first)


def _together(kernel: OpenclKernel, body: Body, op: Op) -> Expression:
    row = op.opdef
    scalar = op.operands[0].type
    assert isinstance(scalar, Scalar)
    value = body.text(op.operands[0])
    if row in PLANE_REDUCTIONS:
        return _called(kernel, _reduction(kernel, body, PLANE_REDUCTIONS[row], scalar), value)
    if row in PLANE_SCANS:
        return _called(kernel, _scan(kernel, body, row, scalar), value)
    if row is ops.PLANE_BALLOT:
        return _called(kernel, _ballot(kernel), value)
    if row in (ops.PLANE_ALL, ops.PLANE_ANY):
        return _vote(kernel, row, value)
    source = _source(kernel, body, op)
    return _called(kernel, _exchange(kernel, scalar), value, source)


def _called(kernel: OpenclKernel, name: str, *arguments: Expression) -> Expression:
    scratch = [primary(kernel.plane_scratch())] if kernel.planes_emulated else []
    return call(name, *arguments, *scratch)


def _lane(kernel: OpenclKernel) -> Expression:
    return kernel.positions.expression("unit_pos_plane")


def _source(kernel: OpenclKernel, body: Body, op: Op) -> Expression:
    """The lane that is asked for, as a u64; whatever is no lane is a large number."""
    operand, counter = body.text(op.operands[1]), op.operands[1].type
    number = unary("(ulong)", operand)
    if counter is U64:
        number = call("min", number, primary(_FAR))
    symbol = {ops.PLANE_SHUFFLE_XOR: "^", ops.PLANE_SHUFFLE_UP: "-", ops.PLANE_SHUFFLE_DOWN: "+"}
    if op.opdef in symbol:
        return binary(symbol[op.opdef], unary("(ulong)", _lane(kernel)), number)
    return number


# ── helpers ─────────────────────────────────────────────────────────────────────────────────────


def _start(kernel: OpenclKernel) -> str:
    """The lines that say which lane this is, of how many, and its units' place in the scratch."""
    if not kernel.planes_emulated:
        return "    const ulong lanes = get_sub_group_size(), lane = get_sub_group_local_id();\n"
    plane, x, y, z = kernel.positions.plane_dim, *kernel.positions.group
    units = x * y * z
    return (
        f"    const ulong unit = get_local_id(0), lane = unit % {plane}, first = unit - lane;\n"
        f"    const ulong lanes = min((ulong){plane}, {units} - first);\n"
    )


def _parameters(kernel: OpenclKernel) -> str:
    return ", local ulong *scratch" if kernel.planes_emulated else ""


def _more(kernel: OpenclKernel) -> str:
    return ", scratch" if kernel.planes_emulated else ""


def _exchange(kernel: OpenclKernel, scalar: Scalar) -> str:
    """The value of a lane; the own value where there is none such."""
    type, memory = register_type(scalar), memory_type(scalar)
    name = f"{HELPER}from_lane_{scalar}"
    chosen = "source < lanes ? source : lane"
    if kernel.planes_emulated:
        body = (
            f"    local {memory} *values = (local {memory} *)scratch;\n"
            f"    values[unit] = value;\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
            f"    const {memory} found = values[first + ({chosen})];\n"
            f"    barrier(CLK_LOCAL_MEM_FENCE);\n    return found;\n"
        )
    else:
        shuffle = kernel.features.shuffle
        body = f"    return {shuffle}(({memory})value, (uint)({chosen}));\n"
    head = f"{type} {name}({type} value, ulong source{_parameters(kernel)}) {{\n"
    return kernel.prelude.add(name, f"{head}{_start(kernel)}{body}}}")


def _combined(kernel: OpenclKernel, body: Body, row: OpDef, scalar: Scalar, a: str, b: str) -> str:
    operands = (Op(opdef=ops.PARAM, type=scalar), Op(opdef=ops.PARAM, type=scalar))
    sample = Op(opdef=row, operands=operands, type=scalar)
    return VALUES[row.name](kernel, body, sample, [primary(a), primary(b)]).text


def _reduction(kernel: OpenclKernel, body: Body, row: OpDef, scalar: Scalar) -> str:
    """Lane 0 takes in its neighbour, then neighbours of neighbours; all get what it has then."""
    type, exchange = register_type(scalar), _exchange(kernel, scalar)
    both = _combined(kernel, body, row, scalar, "total", "other")
    name, more = f"{HELPER}plane_{row.name}_{scalar}", _more(kernel)
    text = (
        f"{type} {name}({type} total{_parameters(kernel)}) {{\n{_start(kernel)}"
        f"    for (ulong step = 1; step < {kernel.positions.plane_dim}; step *= 2) {{\n"
        f"        const {type} other = {exchange}(total, lane + step{more});\n"
        f"        total = lane + step < lanes ? {both} : total;\n    }}\n"
        f"    return {exchange}(total, 0{more});\n}}"
    )
    return kernel.prelude.add(name, text)


def _scan(kernel: OpenclKernel, body: Body, scan: OpDef, scalar: Scalar) -> str:
    """Each lane takes in the lanes before it, one after the other."""
    row, first = PLANE_SCANS[scan]
    inclusive = first is None
    type, exchange, more = register_type(scalar), _exchange(kernel, scalar), _more(kernel)
    both = _combined(kernel, body, row, scalar, "total", "next")
    word = "inclusive" if inclusive else "exclusive"
    name = f"{HELPER}plane_{word}_{row.name}_{scalar}"
    last = "total" if first is None else f"lane == 0 ? {literal(scalar, first)} : total"
    text = (
        f"{type} {name}({type} value{_parameters(kernel)}) {{\n{_start(kernel)}"
        f"    {type} total = {exchange}(value, 0{more});\n"
        f"    for (ulong other = 1; other < {kernel.positions.plane_dim}; other++) {{\n"
        f"        const {type} next = {exchange}(value, other{more});\n"
        f"        total = other {'<=' if inclusive else '<'} lane ? {both} : total;\n    }}\n"
        f"    return {last};\n}}"
    )
    return kernel.prelude.add(name, text)


def _ballot(kernel: OpenclKernel) -> str:
    """Bit p is what lane p says."""
    exchange, more = _exchange(kernel, BOOL), _more(kernel)
    name = f"{HELPER}plane_ballot"
    text = (
        f"ulong {name}(bool vote{_parameters(kernel)}) {{\n{_start(kernel)}    ulong bits = 0;\n"
        f"    for (ulong other = 0; other < {min(64, kernel.positions.plane_dim)}; other++) {{\n"
        f"        const bool voted = {exchange}(vote, other{more});\n"
        f"        bits |= (ulong)(other < lanes && voted) << other;\n    }}\n    return bits;\n}}"
    )
    return kernel.prelude.add(name, text)


def _vote(kernel: OpenclKernel, row: OpDef, value: Expression) -> Expression:
    if not kernel.planes_emulated:
        name = "sub_group_all" if row is ops.PLANE_ALL else "sub_group_any"
        return binary("!=", call(name, value), primary("0"))
    if row is ops.PLANE_ANY:
        return binary("!=", _called(kernel, _ballot(kernel), value), primary("0"))
    against = _called(kernel, _ballot(kernel), unary("!", value))
    return binary("==", against, primary("0"))


# ── the whole cube ──────────────────────────────────────────────────────────────────────────────


def emit_uniform(kernel: OpenclKernel, body: Body, op: Op) -> None:
    """The value of unit 0, through a cell of local memory."""
    scalar = op.type
    assert isinstance(scalar, Scalar)
    type, memory = register_type(scalar), memory_type(scalar)
    name = f"{HELPER}cube_uniform_{scalar}"
    first = kernel.positions.expression("unit_pos")
    text = (
        f"{type} {name}({type} value, local ulong *cell) {{\n"
        f"    barrier(CLK_LOCAL_MEM_FENCE);\n    if ({first} == 0) {{\n"
        f"        *(local {memory} *)cell = value;\n    }}\n"
        f"    barrier({_FENCE});\n    return *(local {memory} *)cell;\n}}"
    )
    function = kernel.prelude.add(name, text)
    cell = primary(kernel.uniform_cell())
    body.define(op, call(function, body.text(op.operands[0]), cell), effect=True)
