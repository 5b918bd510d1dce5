"""Control flow: uniform branches stay branches, parting ones become masks.

A lane leaves a loop, a trip, a block or the kernel by being taken out of the masks of every scope
it leaves; after a construct in which lanes left for further out, the current mask is cut down to
what remains, and an empty rest is jumped over.
"""

from __future__ import annotations

from collections.abc import Callable

from cubepy.codegen.llvm.gang import Gang, Mask, Scope
from cubepy.codegen.llvm.ranges import along_range, range_inside, taken_as_inside
from cubepy.codegen.llvm.together import (
    arm_together,
    first_version,
    holds_everywhere,
    least,
    runs_together,
)
from cubepy.codegen.llvm.trips import lane_trips, uniform_trips
from cubepy.ir import Op, Region, Scalar, ops
from cubepy.records import dataclass
from cubepy.target import Topic

_EXITS = (ops.BREAK, ops.CONTINUE, ops.LEAVE, ops.RETURN)

__all__ = ["emit_block", "emit_exit", "emit_for", "emit_if", "emit_while"]


def _finish(gang: Gang, op: Op, mask: Mask) -> None:
    """Restore the mask after a construct, less the lanes that left for further out."""
    gang.mask = mask
    if op not in gang.analysis.thins or gang.dead or not any(scope.trip for scope in gang.scopes):
        return  # between the loops over gangs no lane is ever taken out: each gang knows its own
    _go_on_with(gang, gang.mask_and(mask, gang.load_mask(_innermost(gang).trip)))


def _innermost(gang: Gang) -> Scope:
    """The scope that lanes were last taken out of."""
    return next(scope for scope in reversed(gang.scopes) if scope.trip)


def _go_on_with(gang: Gang, mask: tuple[str, ...]) -> None:
    """Continue with the lanes of a mask; jump over what follows if there are none."""
    gang.mask = mask
    (on,) = gang.fresh_labels("some")
    gang.w.branch(gang.any(mask), on, _behind(gang, _innermost(gang)))
    gang.w.begin(on)


def _behind(gang: Gang, scope: Scope) -> str:
    """Where to go once no lane is left here: past the arm, for outside of it others may wait."""
    for inner in reversed(gang.scopes):
        if inner is scope:
            break
        if inner.op is None:
            return inner.end
    # with no parted `continue` nobody comes back to this loop once the trip is empty
    return scope.end if scope.trip == scope.alive else scope.next


def emit_if(gang: Gang, op: Op) -> None:
    """A branch: on a scalar, or both arms under their masks."""
    condition = op.operands[0]
    assumed = gang.analysis.assumed.get(condition)
    if assumed is not None:
        gang.chose(Topic.BRANCH, op, "decided for all units by the test of a whole row or cube")
        gang.emit_region(gang, op.regions[0 if assumed else 1])
        return
    if op in gang.analysis.divergent:
        _parting_if(gang, op)
    else:
        _uniform_if(gang, op)


def _uniform_if(gang: Gang, op: Op) -> None:
    gang.chose(Topic.BRANCH, op, "all units go one way: a jump")
    mask = gang.mask
    then, other, join = gang.fresh_labels("then", "else", "join")
    gang.w.branch(gang.scalar(op.operands[0]), then, other)
    falls = False
    for label, region in ((then, op.regions[0]), (other, op.regions[1])):
        gang.begin(label)
        gang.mask = mask
        gang.emit_region(gang, region)
        if not gang.dead:
            falls = True
            gang.w.jump(join)
    gang.dead = not falls
    if falls:
        gang.begin(join)
    _finish(gang, op, mask)


def _parting_if(gang: Gang, op: Op) -> None:
    mask, condition = gang.mask, gang.vectors(op.operands[0])
    if _only_leaves(op):
        gang.chose(Topic.BRANCH, op, "units that leave are masked off")
        _take_out(gang, op.regions[0].ops[0], gang.mask_and(mask, condition))
        _go_on_with(gang, gang.mask_and_not(mask, condition))
        return
    together = arm_together(gang, op)
    twice = ", and once more without masks for when all units take it" if together else ""
    gang.chose(Topic.BRANCH, op, f"units part: each arm runs under a mask{twice}")
    join = _unmasked_arm(gang, op.regions[0], together) if together else ""
    _masked_arm(gang, op.regions[0], gang.mask_and(mask, condition))
    if op.regions[1].ops:
        _masked_arm(gang, op.regions[1], gang.mask_and_not(mask, condition))
    if join:
        gang.w.jump(join)
        gang.begin(join)
    _finish(gang, op, mask)


def _unmasked_arm(gang: Gang, region: Region, together: str) -> str:
    """The arm for when all lanes take it; gives where the code after the `if` is to begin."""
    all_on, parting, join = gang.fresh_labels("all", "parting", "join")
    gang.w.branch(together, all_on, parting, likely=True)
    gang.begin(all_on)
    with first_version(gang):
        gang.emit_region(gang, region)
        gang.w.jump(join)
    gang.begin(parting)
    return join


def _only_leaves(op: Op) -> bool:
    """`if c: break` and the like: masks do without a branch of their own."""
    then, other = op.regions
    return len(then.ops) == 1 and then.ops[0].opdef in _EXITS and not other.ops


def _masked_arm(gang: Gang, region: Region, mask: tuple[str, ...]) -> None:
    on, join = gang.fresh_labels("on", "join")
    gang.w.branch(gang.any(mask), on, join)
    gang.begin(on)
    gang.mask = mask
    gang.scopes.append(Scope(op=None, next=join, end=join))
    gang.emit_region(gang, region)
    gang.scopes.pop()
    if not gang.dead:
        gang.w.jump(join)
    gang.begin(join)


# ── leaving ─────────────────────────────────────────────────────────────────────────────────────


def emit_exit(gang: Gang, op: Op) -> None:
    """`break`, `continue`, `leave`, `return`: a jump if all lanes go, else they are taken out of
    the masks.
    """
    row, target = op.opdef, _target(gang, op)
    if op in gang.analysis.jumps:
        gang.terminate(target.next if row is ops.CONTINUE else target.end)
        return
    _take_out(gang, op, gang.mask_parts(gang.mask))
    gang.terminate(_behind(gang, _innermost(gang)))


def _take_out(gang: Gang, op: Op, going: tuple[str, ...]) -> None:
    """Take lanes out of every scope that an exit leaves."""
    row, target = op.opdef, _target(gang, op)
    for scope in reversed(gang.scopes):
        leaves = scope is not target or row is not ops.CONTINUE
        if scope.trip:
            gang.store_mask(scope.trip, gang.mask_and_not(gang.load_mask(scope.trip), going))
        if leaves and scope.alive and scope.alive != scope.trip:
            gang.store_mask(scope.alive, gang.mask_and_not(gang.load_mask(scope.alive), going))
        if scope is target:
            break


def _target(gang: Gang, op: Op) -> Scope:
    row = op.opdef
    if row is ops.RETURN:
        return gang.scopes[0]
    wanted = (ops.BLOCK,) if row is ops.LEAVE else (ops.FOR, ops.WHILE)
    return next(s for s in reversed(gang.scopes) if s.op is not None and s.op.opdef in wanted)


def emit_block(gang: Gang, op: Op) -> None:
    """A region that `leave` ends."""
    mask = gang.mask
    (end,) = gang.fresh_labels("end")
    cells = gang.mask_cells(mask) if op in gang.analysis.divergent else ()
    gang.scopes.append(Scope(op=op, next=end, end=end, alive=cells, trip=cells))
    gang.emit_region(gang, op.regions[0])
    gang.scopes.pop()
    if not gang.dead:
        gang.w.jump(end)
    gang.begin(end)
    _finish(gang, op, mask)


# ── loops ───────────────────────────────────────────────────────────────────────────────────────


def _open_scope(gang: Gang, op: Op, next_label: str, end: str) -> Scope:
    alive = gang.mask_cells(gang.mask) if op in gang.analysis.divergent else ()
    trip = alive
    if op in gang.analysis.parted_continue:
        trip = gang.mask_cells(gang.mask)
    return Scope(op=op, next=next_label, end=end, alive=alive, trip=trip)


def _start_trip(gang: Gang, scope: Scope, mask: Mask) -> None:
    """The mask of a trip's start: the lanes still in the loop."""
    gang.mask = gang.load_mask(scope.alive) if scope.alive else mask
    if scope.trip != scope.alive:
        gang.store_mask(scope.trip, gang.mask_parts(gang.mask))


def _end_trip(gang: Gang, scope: Scope, head: str) -> None:
    """Back to the head while some lane is in the loop (certain where each exit has been looked
    at).
    """
    if scope.alive and scope.trip != scope.alive:
        gang.w.branch(gang.any(gang.load_mask(scope.alive)), head, scope.end)
    else:
        gang.w.jump(head)


def emit_while(gang: Gang, op: Op) -> None:
    """A `while` loop; lanes whose condition fails leave it."""
    mask = gang.mask
    head, body, latch, end = gang.fresh_labels("head", "body", "next", "end")
    together = runs_together(gang, op)
    _write_down(gang, op, together=together)
    if together:
        _while_together(gang, op, end)
    scope = _open_scope(gang, op, latch, end)
    gang.w.jump(head)
    gang.begin(head)
    if scope.alive:
        gang.mask = gang.load_mask(scope.alive)
    gang.scopes.append(scope)
    gang.emit_region(gang, op.regions[0])
    condition = op.regions[0].ops[-1].operands[0]
    if gang.values[condition].shape.level == 0:
        gang.w.branch(gang.scalar(condition), body, end)
    else:
        staying = gang.mask_and(gang.mask, gang.vectors(condition))
        gang.store_mask(scope.alive, staying)
        gang.w.branch(gang.any(staying), body, end)
    gang.begin(body)
    _start_trip(gang, scope, mask)
    gang.emit_region(gang, op.regions[1])
    gang.scopes.pop()
    _close(gang, op, scope, head, mask)


def _write_down(gang: Gang, op: Op, *, together: bool) -> None:
    """Tell people how units go through a loop."""
    if op not in gang.analysis.divergent:
        gang.chose(Topic.LOOP, op, "all units make the same trips")
        return
    text = "runs while any unit has trips left; units that are done are masked off"
    first = "trips that all units make need no mask; then it " if together else ""
    gang.chose(Topic.LOOP, op, first + text)


def _while_together(gang: Gang, op: Op, end: str) -> None:
    """Trips while the condition holds in every lane; goes on where the loop proper begins."""
    head, body, rest = gang.fresh_labels("all", "body", "rest")
    gang.w.jump(head)
    gang.begin(head)
    with first_version(gang):
        gang.scopes.append(Scope(op=op, next=head, end=end))
        gang.emit_region(gang, op.regions[0])
        gang.w.branch(holds_everywhere(gang, op.regions[0].ops[-1].operands[0]), body, rest)
        gang.begin(body)
        gang.emit_region(gang, op.regions[1])
        gang.scopes.pop()
        if not gang.dead:
            gang.w.jump(head)
    gang.begin(rest)


def _close(gang: Gang, op: Op, scope: Scope, head: str, mask: Mask) -> None:
    if not gang.dead:
        gang.w.jump(scope.next)
    gang.begin(scope.next)
    _end_trip(gang, scope, head)
    gang.begin(scope.end)
    _finish(gang, op, mask)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trip:
    """Where a `for` is: trips made, and its variable, in as many components as its shape has."""

    counter: str
    variable: tuple[str, ...]


def emit_for(gang: Gang, op: Op) -> None:
    """A `for` over a range. Trips are counted, so no variable overflows at the ends of its type."""
    mask = gang.mask
    latch, end = gang.fresh_labels("next", "end")
    scalar = op.regions[0].params[0].type
    assert isinstance(scalar, Scalar)
    start = _first_trip(gang, op)
    together = runs_together(gang, op)
    _write_down(gang, op, together=together)
    if all(gang.values[operand].shape.level == 0 for operand in op.operands):
        _emit_shared_range(gang, op, start, latch, end)
    else:
        trips = lane_trips(gang, op, scalar)
        if together:
            start = _for_together(gang, op, start, least(gang, scalar, trips), end)
        scope = _open_scope(gang, op, latch, end)
        _run_trips(gang, op, start, scope, lambda k: _staying(gang, scope, scalar, k, trips))
    _finish(gang, op, mask)


def _emit_shared_range(gang: Gang, op: Op, start: _Trip, latch: str, end: str) -> None:
    """A loop over a range that all units share; a first version of it does without the tests that
    the ends of the range decide.
    """
    scalar = op.regions[0].params[0].type
    assert isinstance(scalar, Scalar)
    trips = uniform_trips(gang, op, scalar)

    def run(next_label: str, after: str = "") -> None:
        scope = _open_scope(gang, op, next_label, end)
        _run_trips(
            gang, op, start, scope, lambda counter: _below(gang, scalar, counter, trips), after
        )

    accesses = along_range(gang, op)
    if not accesses:
        run(latch)
        return
    inside, tested, ran, first_latch = gang.fresh_labels("inside", "tested", "ran", "next")
    gang.w.branch(range_inside(gang, op, accesses), inside, tested, likely=True)
    gang.begin(inside)
    with taken_as_inside(gang, accesses):
        run(first_latch, ran)
        gang.w.jump(end)
    gang.begin(tested)
    with gang.rare_case():
        run(latch)


def _first_trip(gang: Gang, op: Op) -> _Trip:
    variable, start = op.regions[0].params[0], op.operands[0]
    shape = gang.analysis.shape(variable)
    names = gang.vectors(start) if shape.level == 2 else gang.values[start].names
    components = gang.components(shape)
    return _Trip(counter="0", variable=names * components if len(names) < components else names)


def _for_together(gang: Gang, op: Op, start: _Trip, common: str, end: str) -> _Trip:
    """The trips that every lane makes; gives where the loop proper begins."""
    latch, rest = gang.fresh_labels("next", "rest")
    scalar = op.regions[0].params[0].type
    assert isinstance(scalar, Scalar)
    scope = Scope(op=op, next=latch, end=end)
    with first_version(gang):
        return _run_trips(
            gang, op, start, scope, lambda counter: _below(gang, scalar, counter, common), rest
        )


def _run_trips(
    gang: Gang, op: Op, start: _Trip, scope: Scope, test: Callable[[str], str], after: str = ""
) -> _Trip:
    """Trips from `start` on while `test` of the counter holds; code goes on at `after`, or the
    loop's end. Gives the trip at which the test failed.
    """
    mask, outside = gang.mask, gang.w.label
    head, body = gang.fresh_labels("head", "body")
    variable = op.regions[0].params[0]
    scalar, shape = variable.type, gang.analysis.shape(variable)
    assert isinstance(scalar, Scalar)
    step = op.operands[2]
    lanes = gang.vec if shape.level == 2 else gang.one
    stride = gang.vectors(step) if shape.level == 2 else gang.values[step].names
    outside = gang.w.label
    gang.w.jump(head)
    gang.begin(head)
    phi_place = gang.w.hook()
    now = _Trip(
        counter="%" + gang.w.fresh("k"),
        variable=tuple("%" + gang.w.fresh("i") for _ in start.variable),
    )
    gang.w.branch(test(now.counter), body, after or scope.end)
    gang.begin(body)
    gang.values[variable] = gang.value(shape, now.variable)
    gang.trips[op] = now.counter
    _start_trip(gang, scope, mask)
    gang.scopes.append(scope)
    gang.emit_region(gang, op.regions[0])
    gang.scopes.pop()
    if not gang.dead:
        gang.w.jump(scope.next)
    gang.begin(scope.next)
    counted = gang.w.value(f"add {gang.one.type(scalar)} {now.counter}, 1")
    moved = tuple(
        lanes.instruction("add", scalar, name, by)
        for name, by in zip(now.variable, stride * (len(now.variable) // len(stride)), strict=True)
    )
    inside = gang.w.label
    _end_trip(gang, scope, head)
    with gang.w.at(phi_place):
        names = zip(
            (now.counter, *now.variable), (start.counter, *start.variable), (counted, *moved),
            strict=True,
        )  # fmt: skip
        for number, (name, begin, again) in enumerate(names):
            type = lanes.type(scalar) if number else gang.one.type(scalar)
            gang.w.line(f"{name} = phi {type} [ {begin}, %{outside} ], [ {again}, %{inside} ]")
    gang.begin(after or scope.end)
    return now


def _below(gang: Gang, scalar: Scalar, counter: str, trips: str) -> str:
    return gang.w.value(f"icmp ult {gang.one.type(scalar)} {counter}, {trips}")


def _staying(
    gang: Gang, scope: Scope, scalar: Scalar, counter: str, lane_trips: tuple[str, ...]
) -> str:
    """Keep the lanes with trips left; whether there are any."""
    wide = gang.vec.everywhere(gang.one.type(scalar), counter)
    staying = gang.mask_and(
        gang.load_mask(scope.alive),
        tuple(gang.vec.compare("icmp ult", scalar, wide, limit) for limit in lane_trips),
    )
    gang.store_mask(scope.alive, staying)
    return gang.any(staying)
