"""Before::

    kernel @k(%n: index, %y: global<index, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %0: index = const 0
      %1: index = const 1
      %i: slot<index> = local [element=index]
      store_local %i, %0
      while {
        %2: index = load_local %i
        %3: bool = lt %2, %n
        yield %3
      } do {
        %4: index = load_local %i
        %5: index = add %4, %1
        store_local %i, %5
      }
      store_local %i, %n
      for %0, %n, %1 (%j: index) {
        %6: index = load_local %i
        store %y, %j, %6 [check=checked]
      }
    }

After::

    kernel @k(%n: index, %y: global<index, [1], unknown, 0>) cube_dim(64, 1, 1) {
      %0: index = const 0
      %1: index = const 1
      %i: slot<index> = local [element=index]
      store_local %i, %0
      while {
        %2: index = load_local %i
        %3: bool = lt %2, %n
        yield %3
      } do {
        %4: index = load_local %i
        %5: index = add %4, %1
        store_local %i, %5
      }
      %i.1: slot<index> = local [element=index]
      store_local %i.1, %n
      for %0, %n, %1 (%j: index) {
        %6: index = load_local %i.1
        store %y, %j, %6 [check=checked]
      }
    }

A name used again for something else becomes two slots: a *live range* is a set of stores that reach
a common load. Every slot is then declared in the innermost region that holds all its uses, so that
what a loop does not carry from trip to trip is declared inside it.
"""

from __future__ import annotations

from collections.abc import Mapping

from cubepy.ir import Kernel, Op, Region, map_bodies, ops, rebuilt
from cubepy.passes.context import PassContext
from cubepy.records import dataclass, field, replace

__all__ = ["split_locals"]

UNSET = 1  # the bit of a slot's state that says: nothing stored yet
State = dict[Op, int]  # slot -> bits of the stores that may have given its value


def split_locals(kernel: Kernel, context: PassContext) -> Kernel:
    """One slot a live range, declared as far inside as its uses allow."""
    return map_bodies(kernel, _split)


def _split(body: Region) -> Region:
    uses = _Uses()
    uses.region(body, ())
    if not uses.slots:
        return body
    reaching = _Reaching(uses)
    reaching.region(body, {})
    slots = _live_ranges(uses, reaching)
    placed = _placed(uses, slots, reaching)
    if placed is None:
        return body
    return _Emission(slots, placed).region(body)


@dataclass(slots=True)
class _Uses:
    """The stores and loads of every slot, and the path of (region, op) that leads to each op."""

    slots: dict[Op, list[Op]] = field(default_factory=dict)
    paths: dict[Op, tuple[tuple[Region, Op], ...]] = field(default_factory=dict)
    relevant: dict[Region, list[Op]] = field(default_factory=dict)
    declared: dict[Op, Op] = field(default_factory=dict)  # slot -> the op after its declaration

    def region(self, region: Region, path: tuple[tuple[Region, Op], ...]) -> bool:
        """Collect; whether slots are used in the region or inside."""
        relevant = self.relevant[region] = []
        fresh: list[Op] = []
        for op in region.ops:
            for slot in fresh:
                self.declared[slot] = op
            fresh = []
            here = (*path, (region, op))
            if op.opdef is ops.LOCAL:
                self.slots[op] = []
                relevant.append(op)
                fresh = [op]
            elif op.opdef in (ops.LOAD_LOCAL, ops.STORE_LOCAL):
                self.slots[op.operands[0]].append(op)
                self.paths[op] = here
                relevant.append(op)
            elif op.regions:
                inside = [self.region(part, here) for part in op.regions]
                if any(inside):
                    relevant.append(op)
            elif op.opdef in _ENDS:
                relevant.append(op)
        return bool(relevant)


_ENDS = frozenset({ops.BREAK, ops.CONTINUE, ops.LEAVE, ops.RETURN})


class _Reaching:
    """Which stores reach which load: `groups` is a union-find over stores, by bit number.

    `None` as a state means: this point is not reached.
    """

    def __init__(self, uses: _Uses) -> None:
        self._relevant = uses.relevant
        self.bits: dict[Op, int] = {}
        self.unset: set[Op] = set()
        self.loads: dict[Op, int] = {}
        for slot, used in uses.slots.items():
            stores = [op for op in used if op.opdef is ops.STORE_LOCAL]
            self.bits.update({store: 2 << number for number, store in enumerate(stores)})
            self.bits[slot] = UNSET
        self._breaks: list[State | None] = []
        self._continues: list[State | None] = []
        self._leaves: list[State | None] = []

    def region(self, region: Region, state: State | None) -> State | None:
        """The state at the end of a region that is entered with `state`."""
        bits = self.bits
        for op in self._relevant[region]:
            if state is None:
                return None
            opdef = op.opdef
            if opdef is ops.STORE_LOCAL:
                state[op.operands[0]] = bits[op]
            elif opdef is ops.LOAD_LOCAL:
                reached = state.get(op.operands[0], UNSET)
                self.loads[op] = self.loads.get(op, 0) | reached
            elif opdef is ops.LOCAL:
                state[op] = UNSET
            elif op.regions:
                state = self._control(op, state)
            else:
                self._exit(op, state)
                return None
        return state

    def _exit(self, op: Op, state: State) -> None:
        if op.opdef is ops.BREAK:
            self._breaks[-1] = _merged(self._breaks[-1], state)
        elif op.opdef is ops.CONTINUE:
            self._continues[-1] = _merged(self._continues[-1], state)
        elif op.opdef is ops.LEAVE:
            self._leaves[-1] = _merged(self._leaves[-1], state)

    def _control(self, op: Op, state: State) -> State | None:
        if op.opdef is ops.IF:
            then = self.region(op.regions[0], dict(state))
            return _merged(then, self.region(op.regions[1], state))
        if op.opdef is ops.BLOCK:
            self._leaves.append(None)
            end = self.region(op.regions[0], state)
            return _merged(self._leaves.pop(), end)
        return self._loop(op, state)

    def _loop(self, op: Op, head: State) -> State | None:
        """Trips until the state at the head no longer grows: two, as stores only set bits."""
        while True:
            self._breaks.append(None)
            self._continues.append(None)
            entered: State | None = dict(head)
            if op.opdef is ops.WHILE:
                entered = self.region(op.regions[0], entered)
            after = dict(entered) if entered is not None else None
            end = self.region(op.regions[-1], entered)
            back = _merged(self._continues.pop(), end)
            broken = self._breaks.pop()
            grown = _merged(dict(head), back)
            assert grown is not None
            if grown == head:
                return _merged(after, broken)
            head = grown


def _merged(a: State | None, b: State | None) -> State | None:
    """What may hold where two ways meet; may change and return `a`."""
    if a is None or b is None:
        return b if a is None else a
    for slot, bits in b.items():
        a[slot] = a.get(slot, UNSET) | bits
    return a


def _live_ranges(uses: _Uses, reaching: _Reaching) -> dict[Op, Op]:
    """The slot that each store and load shall use: the old one for the first live range."""
    slots: dict[Op, Op] = {}
    for slot, used in uses.slots.items():
        groups = _groups(used, reaching)
        for number, group in enumerate(groups):
            own = slot if number == 0 else replace(slot)
            slots.update(dict.fromkeys(group, own))
    return slots


def _groups(used: list[Op], reaching: _Reaching) -> list[list[Op]]:
    """Stores and loads of one slot, divided into live ranges in order of first use."""
    masks = [reaching.bits.get(op) or reaching.loads.get(op, 0) for op in used]
    roots: dict[int, int] = {}

    def root(bit: int) -> int:
        while (above := roots.setdefault(bit, bit)) != bit:
            roots[bit] = bit = roots[above]
        return bit

    for mask in masks:
        first, *others = _bits(mask) or [0]
        for bit in others:
            roots[root(bit)] = root(first)
    groups: dict[int, list[Op]] = {}
    for op, mask in zip(used, masks, strict=True):
        groups.setdefault(root(mask.bit_length() - 1 if mask else 0), []).append(op)
    return list(groups.values())


def _bits(mask: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def _placed(uses: _Uses, slots: Mapping[Op, Op], reaching: _Reaching) -> dict[Op, list[Op]] | None:
    """The slots to declare before each op; None if everything stays as it is."""
    users: dict[Op, list[Op]] = {}
    for op, slot in slots.items():
        users.setdefault(slot, []).append(op)
    placed: dict[Op, list[Op]] = {}
    changed = len(users) != len(uses.slots)
    originals = {
        slot: old for old, used in uses.slots.items() for op in used for slot in [slots[op]]
    }
    for slot, used in users.items():
        before = _first_use(uses, used)
        unset = any(reaching.loads.get(op, 0) & UNSET for op in used)
        if unset:
            before = uses.declared[originals[slot]]
        changed = changed or uses.declared.get(originals[slot]) is not before
        placed.setdefault(before, []).append(slot)
    return placed if changed else None


def _first_use(uses: _Uses, used: list[Op]) -> Op:
    """The first op that is or contains a use, in the innermost region that holds them all."""
    paths = [uses.paths[op] for op in used]
    depth = 0
    shortest = min(map(len, paths))
    first = paths[0]
    while depth + 1 < shortest and all(path[depth + 1][0] is first[depth + 1][0] for path in paths):
        depth += 1
    return first[depth][1]


class _Emission:
    """Writes the body with the new slots."""

    def __init__(self, slots: Mapping[Op, Op], placed: Mapping[Op, list[Op]]) -> None:
        self._slots = slots
        self._placed = placed

    def region(self, region: Region) -> Region:
        made: list[Op] = []
        values: dict[Op, Op] = {}
        return self._region(region, values, made)

    def _region(self, region: Region, values: dict[Op, Op], made: list[Op]) -> Region:
        for op in region.ops:
            made += self._placed.get(op, ())
            if op.opdef is ops.LOCAL:
                continue
            made.append(self._op(op, values))
        unchanged = tuple(made) == region.ops
        return region if unchanged else Region(params=region.params, ops=tuple(made))

    def _op(self, op: Op, values: dict[Op, Op]) -> Op:
        operands = tuple([values.get(operand, operand) for operand in op.operands])
        if op in self._slots:
            operands = (self._slots[op], *operands[1:])
        regions = op.regions
        if regions:
            regions = tuple([self._region(region, values, []) for region in regions])
        if operands == op.operands and regions == op.regions:
            return op
        changed = values[op] = rebuilt(op, operands=operands, regions=regions)
        return changed
