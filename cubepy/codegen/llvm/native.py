"""`intrinsic`: LLVM's own functions on whole vectors, and inline assembly lane by lane."""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.codegen.llvm.gang import Gang
from cubepy.codegen.llvm.lane_loop import each_lane, spill
from cubepy.codegen.llvm.lanes import Lanes
from cubepy.codegen.llvm.types import register_type
from cubepy.ir import BOOL, Op, Scalar, ops, scalar_type
from cubepy.ir.analyses import UNIFORM

__all__ = ["emit_intrinsic"]


def emit_intrinsic(gang: Gang, op: Op) -> None:
    """Once if every lane has the same operands, else for all lanes that are on."""
    gang.module.foreign = True
    constraints = str(op.attrs["constraints"])
    if gang.analysis.shape(op) == UNIFORM:
        names = [gang.scalar(operand) for operand in op.operands]
        made = _assembly(gang, op, names) if constraints else _function(gang.one, op, names)
        gang.define(op, (made,))
    elif constraints:
        gang.define(op, _lane_by_lane(gang, op))
    elif gang.analysis.shape(op).level == 1:
        columns = [gang.bases(operand) for operand in op.operands]
        gang.define(op, _functions(gang.one, op, columns))
    else:
        gang.define(
            op, _functions(gang.vec, op, [gang.vectors(operand) for operand in op.operands])
        )


# ── functions of LLVM ───────────────────────────────────────────────────────────────────────────


def _functions(lanes: Lanes, op: Op, columns: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(_function(lanes, op, row) for row in zip(*columns, strict=True))


def _function(lanes: Lanes, op: Op, names: Sequence[str]) -> str:
    """A call of the function `template`, overloaded on its first operand.

    A bool that is a constant is one for all lanes: a flag of the function.
    """
    types, arguments = [], []
    for operand, name in zip(op.operands, names, strict=True):
        scalar = scalar_type(operand)
        flag = scalar is BOOL and operand.opdef is ops.CONST
        types.append("i1" if flag else lanes.type(scalar))
        arguments.append(f"i1 {_flag(operand)}" if flag else f"{lanes.type(scalar)} {name}")
    name = f"{op.attrs['template']}.{lanes.suffix(scalar_type(op.operands[0]))}"
    result = lanes.type(scalar_type(op))
    lanes.declared[name] = f"declare {result} @{name}({', '.join(types)})"
    return lanes.w.value(f"call {result} @{name}({', '.join(arguments)})")


def _flag(operand: Op) -> str:
    return "true" if operand.attrs["value"] else "false"


# ── assembly ────────────────────────────────────────────────────────────────────────────────────


def _quoted(text: str) -> str:
    """A text as LLVM writes it between quotation marks."""
    plain = (chr(code) for code in text.encode())
    return "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\{ord(c):02X}" for c in plain)


def _assembly(gang: Gang, op: Op, names: Sequence[str]) -> str:
    template, constraints = (_quoted(str(op.attrs[name])) for name in ("template", "constraints"))
    arguments = ", ".join(
        f"{register_type(scalar_type(operand))} {name}"
        for operand, name in zip(op.operands, names, strict=True)
    )
    result = register_type(scalar_type(op))
    return gang.w.value(f'call {result} asm "{template}", "{constraints}"({arguments})')


def _lane_by_lane(gang: Gang, op: Op) -> tuple[str, ...]:
    results = []
    for part, mask in enumerate(gang.mask_parts(gang.mask)):
        cells = [_cell(gang, operand, part) for operand in op.operands]
        type = _in_memory(scalar_type(op))
        output = gang.module.alloca(f"[{gang.layout.lanes} x {type}]")

        def act(lane: str, cells: list[str] = cells, output: str = output) -> None:
            names = [_take(gang, scalar_type(operand), cell, lane)
                     for operand, cell in zip(op.operands, cells, strict=True)]  # fmt: skip
            _put(gang, scalar_type(op), output, lane, _assembly(gang, op, names))

        each_lane(gang, mask, act)
        vector = f"<{gang.layout.lanes} x {type}>"
        loaded = gang.w.value(f"load {vector}, ptr {output}, align 64")
        results.append(
            _as_register(gang, scalar_type(op), gang.w.value(f"freeze {vector} {loaded}"))
        )
    return tuple(results)


def _in_memory(scalar: Scalar) -> str:
    """The element of a cell: a bool has a byte there."""
    return "i8" if scalar is BOOL else register_type(scalar)


def _cell(gang: Gang, operand: Op, part: int) -> str:
    scalar, vector = scalar_type(operand), gang.vectors(operand)[part]
    if scalar is BOOL:
        vector = gang.w.value(f"zext {gang.mask_type} {vector} to {gang.vec.integer(8)}")
    return spill(gang, vector, f"<{gang.layout.lanes} x {_in_memory(scalar)}>")


def _take(gang: Gang, scalar: Scalar, cell: str, lane: str) -> str:
    type = _in_memory(scalar)
    place = gang.w.value(f"getelementptr {type}, ptr {cell}, i64 {lane}")
    value = gang.w.value(f"load {type}, ptr {place}")
    return gang.w.value(f"icmp ne i8 {value}, 0") if scalar is BOOL else value


def _put(gang: Gang, scalar: Scalar, cell: str, lane: str, value: str) -> None:
    type = _in_memory(scalar)
    if scalar is BOOL:
        value = gang.w.value(f"zext i1 {value} to i8")
    place = gang.w.value(f"getelementptr {type}, ptr {cell}, i64 {lane}")
    gang.w.line(f"store {type} {value}, ptr {place}")


def _as_register(gang: Gang, scalar: Scalar, vector: str) -> str:
    if scalar is not BOOL:
        return vector
    return gang.w.value(f"icmp ne {gang.vec.integer(8)} {vector}, zeroinitializer")
