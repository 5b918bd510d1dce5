"""Plane operations: subgroups where the device's are of one size, else through memory of the cube.

All are made of one exchange, "the value of that lane, or my own if it is missing", and of the
number of lanes there are; values travel as their bits. Sums and products of floats are balanced
trees over neighbouring lanes, scans go in lane order. Planes of one unit need nothing at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cubepy.codegen.structured import HELPER, Body, Expression, binary, call, primary
from cubepy.codegen.wgsl.conversions import (
    as_bits,
    as_pair,
    from_bits,
    helper,
    invoked,
    moved,
    of_f64,
    of_pair,
)
from cubepy.codegen.wgsl.operations import combined
from cubepy.codegen.wgsl.types import Machine, literal, machine_of
from cubepy.ir import BOOL, PLANE_REDUCTIONS, PLANE_SCANS, Op, OpDef, Scalar, ops

if TYPE_CHECKING:
    from cubepy.codegen.wgsl.kernel import WgslKernel

__all__ = ["emit_plane", "emit_uniform"]

_UNIT = primary("unit")


def emit_plane(kernel: WgslKernel, body: Body, op: Op) -> None:
    """Any plane op."""
    alone = kernel.positions.plane_dim == 1
    if op.opdef is ops.SYNC_PLANE:
        if not alone:
            names = ("workgroupBarrier", "storageBarrier")
            for name in names if kernel.planes_emulated else ("subgroupBarrier",):
                body.writer.line(f"{name}();")
    elif op.opdef is ops.PLANE_ELECT:
        lane = kernel.positions.expression("unit_pos_plane")
        body.define_now(op, binary("==", lane, primary("0")))
    elif alone:
        body.define_now(op, _alone(kernel, body, op))
    else:
        body.define(op, _together(kernel, body, op), effect=True)


def _value(kernel: WgslKernel, body: Body, op: Op) -> Expression:
    """The first operand in the kind of register that its type says."""
    return kernel.returned(op.operands[0], body.text(op.operands[0]))


def _alone(kernel: WgslKernel, body: Body, op: Op) -> Expression:
    """The op in a plane of one unit."""
    value = _value(kernel, body, op)
    for operand in op.operands[1:]:
        body.text(operand)
    if op.opdef is ops.PLANE_BALLOT:
        return call("vec2<u32>", invoked("u32", value), primary("0u"))
    scalar = op.type
    assert isinstance(scalar, Scalar)
    _, first = PLANE_SCANS.get(op.opdef, (None, None))
    return value if first is None else kernel.literal(scalar, first)


def _together(kernel: WgslKernel, body: Body, op: Op) -> Expression:
    row = op.opdef
    scalar = op.operands[0].type
    assert isinstance(scalar, Scalar)
    value = _value(kernel, body, op)
    if row in PLANE_REDUCTIONS:
        return call(_reduction(kernel, body, PLANE_REDUCTIONS[row], scalar), value, _UNIT)
    if row in PLANE_SCANS:
        return call(_scan(kernel, body, row, scalar), value, _UNIT)
    if row in (ops.PLANE_ALL, ops.PLANE_ANY, ops.PLANE_BALLOT):
        return _vote(kernel, row, value)
    lane = _lane_asked(kernel, op, body.text(op.operands[1]))
    return call(_exchange(kernel, scalar), value, lane, _UNIT)


def _lane_asked(kernel: WgslKernel, op: Op, value: Expression) -> Expression:
    """The lane that is asked for, as a u32; whatever is no lane is a large number."""
    operand = op.operands[1]
    machine = kernel.machine(operand)
    own = call("u32", kernel.positions.expression("unit_pos_plane"))
    symbols = {ops.PLANE_SHUFFLE_XOR: "^", ops.PLANE_SHUFFLE_UP: "-", ops.PLANE_SHUFFLE_DOWN: "+"}
    symbol = symbols.get(op.opdef)
    if machine is Machine.PAIR or symbol in ("-", "+"):
        wide = moved(kernel.prelude, machine, Machine.PAIR, value)
        if symbol:
            there = {"-": "cb_sub_64", "+": "cb_add_64", "^": ""}[symbol]
            mine = call("vec2<u32>", own, primary("0u"))
            wide = helper(kernel.prelude, there, mine, wide) if there else binary("^", mine, wide)
        return helper(kernel.prelude, "cb_count", wide)
    number = moved(kernel.prelude, machine, Machine.U32, value)
    return binary("^", own, number) if symbol else number


# ── functions ───────────────────────────────────────────────────────────────────────────────────


def _start(kernel: WgslKernel) -> str:
    """The lines that say which lane this is, of how many."""
    plane, units = kernel.positions.plane_dim, kernel.positions.units
    return (
        f"    let lane = unit % {plane}u;\n    let first = unit - lane;\n"
        f"    let lanes = min({plane}u, {units}u - first);\n"
    )


def _to_word(kernel: WgslKernel, scalar: Scalar, value: str) -> str:
    if scalar.bits == 64:
        return as_pair(kernel.prelude, machine_of(scalar), primary(value)).text
    return as_bits(scalar, primary(value)).text


def _of_word(kernel: WgslKernel, scalar: Scalar, word: str) -> str:
    if scalar.bits == 64:
        return of_pair(kernel.prelude, machine_of(scalar), primary(word)).text
    return from_bits(scalar, primary(word)).text


def _scratch(kernel: WgslKernel, scalar: Scalar) -> str:
    """A place in memory of the cube for a value of each unit."""
    if scalar.bits == 64:
        return kernel.share("cb_scratch_64", "vec2<u32>", kernel.positions.units, 8)
    return kernel.share("cb_scratch", "u32", kernel.positions.units, 4)


def _exchange(kernel: WgslKernel, scalar: Scalar) -> str:
    """The value of a lane; the own value where there is none such."""
    type, word = machine_of(scalar).value, _to_word(kernel, scalar, "value")
    name, chosen = f"{HELPER}from_lane_{scalar}", "select(lane, source, source < lanes)"
    if kernel.planes_emulated:
        scratch = _scratch(kernel, scalar)
        lines = (
            f"    {scratch}[unit] = {word};\n    workgroupBarrier();\n"
            f"    let found = {scratch}[first + {chosen}];\n    workgroupBarrier();\n"
        )
    else:
        lines = f"    let found = {kernel.features.shuffle}({word}, {chosen});\n"
    text = (
        f"fn {name}(value: {type}, source: u32, unit: u32) -> {type} {{\n{_start(kernel)}{lines}"
        f"    return {_of_word(kernel, scalar, 'found')};\n}}"
    )
    return kernel.prelude.add(name, text)


def _combined(kernel: WgslKernel, body: Body, row: OpDef, scalar: Scalar, other: str) -> str:
    operands = (Op(opdef=ops.PARAM, type=scalar), Op(opdef=ops.PARAM, type=scalar))
    sample = Op(opdef=row, operands=operands, type=scalar)
    made = combined(kernel, body, row.name, sample, [primary("total"), primary(other)])
    machine = machine_of(scalar)
    pinned = machine in (Machine.F32, Machine.F64) and kernel.pins(sample)
    return helper(kernel.prelude, of_f64("cb_pin", machine), made).text if pinned else made.text


def _reduction(kernel: WgslKernel, body: Body, row: OpDef, scalar: Scalar) -> str:
    """Lane 0 takes in its neighbour, then neighbours of neighbours; all get what it has then."""
    type, exchange = machine_of(scalar).value, _exchange(kernel, scalar)
    both = _combined(kernel, body, row, scalar, "other")
    name = f"{HELPER}plane_{row.name}_{scalar}"
    text = (
        f"fn {name}(value: {type}, unit: u32) -> {type} {{\n{_start(kernel)}"
        f"    var total = value;\n"
        f"    for (var reach = 1u; reach < {kernel.positions.plane_dim}u; reach *= 2u) {{\n"
        f"        let other = {exchange}(total, lane + reach, unit);\n"
        f"        total = select(total, {both}, (lane + reach < lanes));\n    }}\n"
        f"    return {exchange}(total, 0u, unit);\n}}"
    )
    return kernel.prelude.add(name, text)


def _scan(kernel: WgslKernel, body: Body, scan: OpDef, scalar: Scalar) -> str:
    """Each lane takes in the lanes before it, one after the other."""
    row, first = PLANE_SCANS[scan]
    inclusive = first is None
    type, exchange = machine_of(scalar).value, _exchange(kernel, scalar)
    both = _combined(kernel, body, row, scalar, "next")
    word = "inclusive" if inclusive else "exclusive"
    name = f"{HELPER}plane_{word}_{row.name}_{scalar}"
    last = "total"
    if first is not None:
        last = f"select(total, {literal(scalar, first)}, lane == 0u)"
    text = (
        f"fn {name}(value: {type}, unit: u32) -> {type} {{\n{_start(kernel)}"
        f"    var total = {exchange}(value, 0u, unit);\n"
        f"    for (var other = 1u; other < {kernel.positions.plane_dim}u; other++) {{\n"
        f"        let next = {exchange}(value, other, unit);\n"
        f"        let takes = other < lanes && other {'<=' if inclusive else '<'} lane;\n"
        f"        total = select(total, {both}, takes);\n    }}\n"
        f"    return {last};\n}}"
    )
    return kernel.prelude.add(name, text)


def _ballot(kernel: WgslKernel) -> str:
    exchange = _exchange(kernel, BOOL)
    name = f"{HELPER}plane_ballot"
    most = min(64, kernel.positions.plane_dim)
    text = (
        f"fn {name}(vote: bool, unit: u32) -> vec2<u32> {{\n{_start(kernel)}"
        "    var bits = vec2<u32>(0u, 0u);\n"
        f"    for (var other = 0u; other < {most}u; other++) {{\n"
        f"        let voted = {exchange}(vote, other, unit) && other < lanes;\n"
        f"        bits |= cb_shl_64(vec2<u32>(u32(voted), 0u), other);\n    }}\n"
        "    return bits;\n}"
    )
    return kernel.prelude.add(name, text)


def _vote(kernel: WgslKernel, row: OpDef, value: Expression) -> Expression:
    ballot = _ballot(kernel)
    nobody = primary("vec2<u32>(0u, 0u)")
    if row is ops.PLANE_BALLOT:
        return call(ballot, value, _UNIT)
    if row is ops.PLANE_ANY:
        return call("any", binary("!=", call(ballot, value, _UNIT), nobody))
    against = call(ballot, primary(f"!({value})"), _UNIT)
    return call("all", binary("==", against, nobody))


# ── the whole cube ──────────────────────────────────────────────────────────────────────────────


def emit_uniform(kernel: WgslKernel, body: Body, op: Op) -> None:
    """The value of unit 0, through a cell of memory of the cube."""
    scalar = op.type
    assert isinstance(scalar, Scalar)
    wide = scalar.bits == 64
    type, cell = machine_of(scalar).value, "cb_cell_64" if wide else "cb_cell"
    kernel.shared[cell] = f"var<workgroup> {cell}: {'vec2<u32>' if wide else 'u32'};"
    name = f"{HELPER}cube_uniform_{scalar}"
    text = (
        f"fn {name}(value: {type}, unit: u32) -> {type} {{\n"
        f"    if (unit == 0u) {{\n        {cell} = {_to_word(kernel, scalar, 'value')};\n    }}\n"
        f"    storageBarrier();\n"
        f"    let word = workgroupUniformLoad(&{cell});\n"
        f"    return {_of_word(kernel, scalar, 'word')};\n}}"
    )
    function = kernel.prelude.add(name, text)
    value = kernel.returned(op.operands[0], body.text(op.operands[0]))
    body.define(op, call(function, value, _UNIT), effect=True)
