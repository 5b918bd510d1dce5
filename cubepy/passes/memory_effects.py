"""Which memories an op reads or writes, in groups of memories that may overlap.

Buffers of one alias class form a group, as their types say; a shared or private array is a group of
its own, except as a parameter of a function, where two of them may be the same array. Slots are not
memory here.
"""

from __future__ import annotations

from cubepy.ir import BufferType, Op, PrivateType, Trait, ops

__all__ = ["EVERYTHING", "NOT_PRIVATE", "Group", "group_of", "is_private", "written_groups"]

Group = object  # an alias number, an op, or a class of types: anything hashable
EVERYTHING: Group = "every memory"
NOT_PRIVATE: Group = "memory that other units see"

_ATOMICS = frozenset(row for row in ops.BY_NAME.values() if row.has(Trait.ATOMIC))
_BARRIERS = frozenset(
    row
    for row in ops.BY_NAME.values()
    if row.has(Trait.BARRIER) or (row.has(Trait.PLANE) and row.has(Trait.WRITES))
)
_KNOWN = frozenset({ops.STORE_LOCAL, ops.STORE, ops.CALL, ops.FENCE}) | _ATOMICS | _BARRIERS
_UNKNOWN = frozenset(row for row in ops.BY_NAME.values() if row.has(Trait.WRITES)) - _KNOWN


def group_of(memory: Op) -> Group:
    """The group of a memory operand."""
    if isinstance(memory.type, BufferType):
        return memory.type.alias
    return type(memory.type) if memory.opdef is ops.PARAM else memory


def is_private(memory: Op) -> bool:
    """Whether no other unit can see the memory."""
    return isinstance(memory.type, PrivateType)


def written_groups(op: Op) -> tuple[Group, ...]:
    """The groups whose contents an op may change, or make visible; not those of its regions."""
    opdef = op.opdef
    if opdef is ops.STORE:
        return (group_of(op.operands[0]),)
    if opdef in _ATOMICS:
        relaxed = op.attrs.get("order") == "relaxed"
        return (group_of(op.operands[0]) if relaxed else NOT_PRIVATE,)
    if opdef in _BARRIERS or opdef is ops.FENCE:
        return (NOT_PRIVATE,)
    if opdef is ops.CALL or opdef in _UNKNOWN:
        return (EVERYTHING,)
    return ()
