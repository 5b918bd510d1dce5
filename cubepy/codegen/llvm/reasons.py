"""Why an access or a test came out as it did, in a user's terms: the text of the kernel and lines.

Asked only for what is slower than it could be, which is when people look.
"""

from __future__ import annotations

from collections.abc import Sequence

from cubepy.codegen.llvm.gang import Gang
from cubepy.ir import BufferType, Op, StrideClass, ops
from cubepy.ir.analyses import Unbounded
from cubepy.location import text_at

__all__ = ["scattered_reason", "unbounded_reason", "written"]

_LONGEST = 40


def written(op: Op) -> str:
    """A value as the kernel has it: its text there, else its name."""
    text = text_at(op.loc)
    if 0 < len(text) <= _LONGEST:
        return f"`{text}`"
    return f"`{op.name}`" if op.name else "the value"


def scattered_reason(gang: Gang, memory: Op, indices: Sequence[Op]) -> str:
    """Why neighbouring units do not go to neighbouring elements."""
    strides = memory.type.strides if isinstance(memory.type, BufferType) else ()
    for axis, index in enumerate(indices):
        shape = gang.values[index].shape
        if shape.level == 2:
            return f"the subscript {written(index)} {_origin(index)}"
        if strides and shape.stride and strides[axis] is StrideClass.OTHER:
            return f"axis {axis} of {memory.name} has a stride that only the launch knows"
    step = sum(gang.values[index].shape.stride for index in indices)
    if step > 1 or step < -1:
        return f"units lie {abs(step)} elements apart"
    return "units lie a row apart"


def _origin(index: Op) -> str:
    while index.opdef is ops.CAST:
        index = index.operands[0]
    if index.opdef is ops.LOAD:
        return "is read from memory"
    if index.opdef is ops.LOAD_LOCAL:
        return "is a variable that units change each for itself"
    return "differs from unit to unit without a fixed step"


def unbounded_reason(unbounded: Unbounded | None) -> str:
    """Why an access is not covered by the one test ahead of a row or cube."""
    if unbounded is None:
        return "nothing is tested ahead here"
    op = unbounded.value
    line = f" (line {op.loc.line})" if op.loc.known else ""
    if unbounded.branch:
        return f"it stands under {written(op)}{line}, on which units part"
    if op.opdef is ops.LOAD:
        return f"{written(op)}{line} is read from memory, so nothing bounds it ahead"
    if op.opdef is ops.LOAD_LOCAL:
        return f"the variable {written(op)}{line} changes on the way, so nothing bounds it ahead"
    return f"nothing bounds {written(op)}{line} ahead"
