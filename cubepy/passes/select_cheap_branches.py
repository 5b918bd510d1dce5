"""Before::

    kernel @k(%a: i32, %b: i32, %y: global<i32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: slot<i32> = local [element=i32]
      store_local %v, %a
      %0: bool = lt %a, %b
      if %0 {
        %1: i32 = neg %a
        store_local %v, %1
      }
      %2: i32 = load_local %v
      store %y, %i, %2 [check=checked]
    }

After::

    kernel @k(%a: i32, %b: i32, %y: global<i32, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %i: index = absolute_pos
      %v: slot<i32> = local [element=i32]
      store_local %v, %a
      %0: bool = lt %a, %b
      %1: i32 = neg %a
      %v.1: i32 = load_local %v
      %2: i32 = select %0, %1, %v.1
      store_local %v, %2
      %3: i32 = load_local %v
      store %y, %i, %3 [check=checked]
    }

An `if` that only assigns variables from a few cheap pure ops needs no branch and no mask. Loads of
memory stay guarded: a condition may be what keeps them inside.
"""

from __future__ import annotations

from cubepy.ir import PURE, Kernel, Op, Region, Rewriter, SlotType, ops, rebuilt, rewrite
from cubepy.passes.context import PassContext
from cubepy.passes.hoist_loop_invariants import EXPENSIVE
from cubepy.target import Decision, Topic

__all__ = ["select_cheap_branches"]

# Ops that both arms together may have besides constants.
MOST = 8
_CHEAP = PURE - EXPENSIVE


def select_cheap_branches(kernel: Kernel, context: PassContext) -> Kernel:
    """Turn small `if`s into `select`s, inner ones first."""

    def select(op: Op, rewriter: Rewriter) -> Op | None:
        return _if(op, rewriter, context)

    return rewrite(kernel, {ops.IF: select})


def _if(op: Op, rewriter: Rewriter, context: PassContext) -> Op | None:
    regions = tuple([rewriter.region(region) for region in op.regions])
    if not _cheap(regions):
        rewriter.out.append(op if regions == op.regions else rebuilt(op, regions=regions))
        return None
    text = "no branch: both arms are computed and one value is chosen"
    context.remark(Decision(topic=Topic.BRANCH, loc=op.loc, text=text))
    then, other = (_stored(region, rewriter) for region in regions)
    for slot in dict.fromkeys((*then, *other)):
        now = None if slot in then and slot in other else _load(slot, op)
        if now is not None:
            rewriter.out.append(now)
        a, b = then.get(slot, now), other.get(slot, now)
        assert a is not None
        assert b is not None
        chosen = rewriter.emit(ops.SELECT, op.operands[0], a, b, like=op)
        rewriter.emit(ops.STORE_LOCAL, slot, chosen, like=op)
    return None


def _cheap(regions: tuple[Region, ...]) -> bool:
    """Whether the arms only assign variables, from few cheap ops."""
    count = assignments = 0
    for region in regions:
        for op in region.ops:
            if op.opdef is ops.STORE_LOCAL:
                assignments += 1
            elif op.opdef is ops.LOAD_LOCAL or op.opdef in _CHEAP:
                count += op.opdef is not ops.CONST
            else:
                return False
    return assignments > 0 and count + assignments <= MOST


def _stored(region: Region, rewriter: Rewriter) -> dict[Op, Op]:
    """Emit an arm without its stores; what it leaves in each slot. Its loads see those."""
    held: dict[Op, Op] = {}
    values: dict[Op, Op] = {}
    for op in region.ops:
        operands = tuple([values.get(operand, operand) for operand in op.operands])
        if op.opdef is ops.STORE_LOCAL:
            held[operands[0]] = operands[1]
        elif op.opdef is ops.LOAD_LOCAL and op.operands[0] in held:
            values[op] = held[op.operands[0]]
        elif operands == op.operands:
            rewriter.out.append(op)
        else:
            values[op] = rebuilt(op, operands=operands)
            rewriter.out.append(values[op])
    return held


def _load(slot: Op, like: Op) -> Op:
    assert isinstance(slot.type, SlotType)
    return Op(
        opdef=ops.LOAD_LOCAL, operands=(slot,), type=slot.type.element, loc=like.loc, name=slot.name
    )
