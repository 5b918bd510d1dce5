"""Which subscripts are known to lie inside, and where integers lie: one walk over a kernel.

The walk follows the structure: a condition holds in the arm it guards, its opposite in the other
arm and, where an arm leaves, in the rest of the region. Variables are followed from store to load;
a loop starts from the guess that its variables stay on one side of where they started, which the
end of the body must confirm. `Facts` does the reasoning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from cubepy.ir import ops
from cubepy.ir.facts import Facts
from cubepy.ir.intervals import Interval, union, whole
from cubepy.ir.nodes import Kernel, Op, Region, scalar_type
from cubepy.ir.opdef import Trait
from cubepy.ir.types import (
    BOOL,
    I32,
    INTEGERS,
    MemoryType,
    PrivateType,
    SharedType,
    SlotType,
)
from cubepy.ir.verifier import falls_through
from cubepy.records import dataclass, field

__all__ = ["Ranges", "Subscript", "analyze_ranges"]

# Limits of every launch (cubepy/runtime/grid.py): units along an axis, less than 2**53 and what
# whole cubes add; units in all; elements along an axis of an argument.
MOST_ALONG = 1 << 54
MOST_UNITS = 1 << 62
MOST_ELEMENTS = 1 << 62
_ACCESSES = frozenset(
    row for row in ops.BY_NAME.values() if row in (ops.LOAD, ops.STORE) or row.has(Trait.ATOMIC)
)
_AXES = "xyz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscript:
    """A subscript not shown to be inside: `not_negative` tells which half is missing.

    `below` are pairs (value, k) with `subscript <= value + k`, of conditions that guard the access.
    """

    access: Op
    axis: int
    not_negative: bool
    highest: int
    below: tuple[tuple[Op, int], ...]


@dataclass(slots=True, kw_only=True)
class Ranges:
    """`inside`: accesses whose subscripts all lie inside. `open`: the subscripts of the others.

    `decided`: branches whose condition is shown to hold, or not to.
    `intervals` has an entry for every integer whose type alone does not tell where it lies.
    """

    inside: set[Op] = field(default_factory=set)
    open: dict[Op, tuple[Subscript, ...]] = field(default_factory=dict)
    decided: dict[Op, bool] = field(default_factory=dict)
    intervals: dict[Op, Interval] = field(default_factory=dict)

    def is_inside(self, op: Op, axis: int) -> bool:
        """Whether a subscript of an access is shown to be inside."""
        if op in self.inside:
            return True
        known = self.open.get(op)
        return known is not None and all(subscript.axis != axis for subscript in known)

    def is_not_negative(self, op: Op, axis: int) -> bool:
        """Whether a subscript that may lie outside is shown not to be negative."""
        known = self.open.get(op, ())
        return any(subscript.axis == axis and subscript.not_negative for subscript in known)


def analyze_ranges(kernel: Kernel, limit: int = 0, plane_dim: int = 0) -> Ranges:
    """Walk the kernel's body; functions are not looked into.

    With a `limit` the launch has at most so many units, and arguments at most so many elements
    along an axis, as far apart; then 64-bit variables are also tried to be within 32 bits.
    `plane_dim` is the size of planes, where there is only one.
    """
    walk = _Walk(kernel, limit)
    walk.positions.update(_in_planes(math.prod(kernel.cube_dim), plane_dim))
    walk.region(kernel.body)
    return walk.ranges


def _positions(cube_dim: tuple[int, int, int], limit: int) -> dict[str, Interval]:
    """Where the ops without operands lie, wherever a unit runs: so there is a cube at least."""
    if limit:
        return _limited_positions(cube_dim, limit)
    units = cube_dim[0] * cube_dim[1] * cube_dim[2]
    everywhere = {
        "unit_pos": (0, units - 1),
        "unit_pos_plane": (0, units - 1),
        "plane_pos": (0, units - 1),
        "plane_dim": (1, 1 << 16),
        "cube_pos": (0, MOST_UNITS),
        "cube_count": (1, MOST_UNITS),
        "absolute_pos": (0, MOST_UNITS),
    }
    for axis, extent in zip(_AXES, cube_dim, strict=True):
        everywhere[f"unit_pos_{axis}"] = (0, extent - 1)
        for name, least in (("absolute_pos", 0), ("extent", 1)):
            everywhere[f"{name}_{axis}"] = (least, MOST_ALONG)
        for name, least in (("cube_pos", 0), ("cube_count", 1)):
            everywhere[f"{name}_{axis}"] = (least, MOST_ALONG // extent)
    return everywhere


def _in_planes(units: int, plane_dim: int) -> dict[str, Interval]:
    """What the size of planes tells of places in them."""
    if not plane_dim:
        return {}
    return {
        "plane_pos": (0, (units - 1) // plane_dim),
        "unit_pos_plane": (0, min(plane_dim, units) - 1),
        "plane_dim": (plane_dim, plane_dim),
    }


def _limited_positions(cube_dim: tuple[int, int, int], limit: int) -> dict[str, Interval]:
    everywhere = _positions(cube_dim, 0)
    units = math.prod(cube_dim)
    for name in everywhere:
        dim = units if name[-2] != "_" else cube_dim[_AXES.index(name[-1])]
        kind = name.removesuffix(f"_{name[-1]}")
        if kind in ("cube_count", "extent"):
            everywhere[name] = (1, max(1, limit if kind == "extent" else limit // dim))
        elif kind in ("absolute_pos", "cube_pos"):
            everywhere[name] = (0, (limit if kind == "absolute_pos" else limit // dim) - 1)
    return everywhere


Slots = dict[Op, Op]  # slot -> the value it holds


@dataclass(slots=True)
class _Loop:
    """What reaches the next trip, what leaves the loop, and how it ends by itself.

    `falling`: slots that no trip has raised above `heads`, what they held at its start.
    """

    falling: set[Op] = field(default_factory=set)
    heads: Slots = field(default_factory=dict)
    done: Slots = field(default_factory=dict)
    again: list[Mapping[Op, Interval]] = field(default_factory=list)
    left: list[Mapping[Op, Interval]] = field(default_factory=list)


class _Walk:
    """`slots` are the values that variables hold at the present point."""

    def __init__(self, kernel: Kernel, limit: int) -> None:
        self.ranges = Ranges()
        self.facts = Facts()
        self.slots: Slots = {}
        self.positions = _positions(kernel.cube_dim, limit)
        self._limit = limit
        self._lengths: dict[tuple[Op, int], Op] = {}
        self._loops: list[_Loop] = []
        self._blocks: list[_Loop] = []
        self._stored: dict[Region, frozenset[Op]] = {}
        _integer_stores(kernel.body, self._stored)

    def region(self, region: Region) -> None:
        """Walk a region; what holds at its end only is forgotten."""
        mark = self.facts.mark()
        self._walk(region.ops)
        self.facts.undo(mark)

    def _walk(self, given: Iterable[Op]) -> None:
        facts = self.facts
        for op in given:
            opdef = op.opdef
            if opdef is ops.LOAD_LOCAL:
                if op.type in _FOLLOWED:
                    facts.equate(op, self.slots.setdefault(op.operands[0], op))
            elif opdef is ops.STORE_LOCAL:
                self.slots[op.operands[0]] = op.operands[1]
            elif opdef in _ACCESSES:
                self._access(op)
            elif opdef is ops.LENGTH:
                self._length(op)
            elif opdef is ops.STRIDE and self._limit:
                facts.base[op] = (-self._limit, self._limit)
            elif opdef.name in self.positions:
                facts.base[op] = self.positions[opdef.name]
            elif op.regions:
                self._control(op)
            elif opdef in _GOES_TO:
                self._exit(op)
            if op.type in INTEGERS and opdef is not ops.CONST:
                self._note(op)

    def _note(self, op: Op) -> None:
        found = self.facts.interval(op)
        if found != whole(scalar_type(op)):
            self.ranges.intervals[op] = found
        else:
            self.ranges.intervals.pop(op, None)

    # ── accesses ──────────────────────────────────────────────────────────────────────────────

    def _length(self, op: Op) -> None:
        memory, axis = op.operands[0], op.attrs["axis"]
        assert isinstance(axis, int)
        self.facts.base[op] = (0, self._limit or MOST_ELEMENTS)
        if isinstance(memory.type, SharedType | PrivateType):
            self.facts.base[op] = (memory.type.shape[axis],) * 2
        self.facts.equate(op, self._lengths.setdefault((memory, axis), op))

    def _access(self, op: Op) -> None:
        memory = op.operands[0]
        assert isinstance(memory.type, MemoryType)
        subscripts = op.operands[1 : 1 + memory.type.rank]
        still_open = [
            found
            for axis, subscript in enumerate(subscripts)
            if (found := self._subscript(op, memory, axis, subscript)) is not None
        ]
        if still_open:
            self.ranges.inside.discard(op)
            self.ranges.open[op] = tuple(still_open)
        else:
            self.ranges.inside.add(op)
            self.ranges.open.pop(op, None)

    def _subscript(self, op: Op, memory: Op, axis: int, subscript: Op) -> Subscript | None:
        """None if the subscript lies inside, else what is known of it."""
        facts = self.facts
        not_negative = facts.not_negative(subscript)
        highest = facts.interval(subscript)[1]
        if isinstance(memory.type, SharedType | PrivateType):
            inside = highest < memory.type.shape[axis]
        else:
            length = self._lengths.get((memory, axis))
            inside = length is not None and facts.at_most_by(subscript, length, -1)
        if inside and not_negative:
            return None
        return Subscript(
            access=op, axis=axis, not_negative=not_negative, highest=highest,
            below=facts.upper_bounds(subscript),
        )  # fmt: skip

    # ── control flow ──────────────────────────────────────────────────────────────────────────

    def _control(self, op: Op) -> None:
        if op.opdef is ops.IF:
            self._if(op)
        elif op.opdef is ops.BLOCK:
            self._block(op)
        else:
            self._loop(op)

    def _if(self, op: Op) -> None:
        condition, facts = op.operands[0], self.facts
        found = facts.decide(condition)
        if found is not None:
            self.ranges.decided[op] = found
        else:
            self.ranges.decided.pop(op, None)
        before = dict(self.slots)
        ends: list[tuple[Slots, dict[Op, Interval]] | None] = []
        stored = self._stored[op.regions[0]] | self._stored[op.regions[1]]
        for part, holds in zip(op.regions, (True, False), strict=True):
            self.slots = dict(before)
            mark = facts.mark()
            facts.assume(condition, holds=holds)
            self._walk(part.ops)
            ends.append((self.slots, self._snapshot(stored)) if falls_through(part) else None)
            facts.undo(mark)
        self.slots = before
        then, other = ends
        if then is not None and other is not None:
            self._join(condition, then, other, stored)
        elif then is not None or other is not None:
            end = then or other
            assert end is not None
            self.slots = end[0]
            for slot, interval in end[1].items():
                self._narrow(slot, interval)
            facts.assume(condition, holds=then is not None)

    def _narrow(self, slot: Op, interval: Interval) -> None:
        value = self.slots.get(slot)
        if value is not None and value.type in INTEGERS:
            self.facts.within(value, interval)

    def _join(
        self,
        condition: Op,
        then: tuple[Slots, dict[Op, Interval]],
        other: tuple[Slots, dict[Op, Interval]],
        stored: Iterable[Op],
    ) -> None:
        """A slot that the arms leave with different values holds one of the two."""
        for slot in stored:
            a, b = then[0].get(slot), other[0].get(slot)
            if a is not None and a is b:
                self.slots[slot] = a
                continue
            value = self._fresh(slot, union(then[1][slot], other[1][slot]))
            if a is not None and b is not None:
                same = self.facts.same
                self.facts.joins[value] = (same(condition), same(a), same(b))

    def _block(self, op: Op) -> None:
        stored = self._stored[op.regions[0]]
        self._blocks.append(_Loop())
        self.region(op.regions[0])
        ends = self._blocks.pop().left
        if ends:
            if falls_through(op.regions[0]):
                ends.append(self._snapshot(stored))
            self._after(stored, ends)

    def _loop(self, op: Op) -> None:
        """Try to keep both ends of the variables' intervals, then what held, then nothing."""
        stored = frozenset().union(*[self._stored[part] for part in op.regions])
        start = self._snapshot(stored)
        guess = dict(start)
        entered = dict(self.slots)
        falling = {slot for slot in stored if _is_integer(self.slots.get(slot))}
        while True:
            self.slots = dict(entered)
            for slot in stored:
                self._fresh(slot, guess[slot])
            loop = self._trip(op, stored, {slot: entered[slot] for slot in falling})
            wider = _widened(guess, loop.again, in_words=bool(self._limit))
            if wider == guess and loop.falling == falling:
                break
            guess, falling = wider, loop.falling
        self.slots = {**entered, **{slot: loop.done[slot] for slot in stored}}
        if loop.left:
            self._after(stored, [*loop.left, self._snapshot(stored)])
        elif op.opdef is ops.WHILE:
            self.facts.assume(op.regions[0].ops[-1].operands[0], holds=False)

    def _trip(self, op: Op, stored: Iterable[Op], falling: Slots) -> _Loop:
        """Walk the loop once; `falling` are slots taken never to rise above a value."""
        facts, body = self.facts, op.regions[-1]
        mark = facts.mark()
        loop = _Loop(falling=set(falling), heads={slot: self.slots[slot] for slot in stored})
        for slot, ceiling in falling.items():
            facts.at_most(self.slots[slot], ceiling, 0)
        self._loops.append(loop)
        if op.opdef is ops.WHILE:
            self._walk(op.regions[0].ops)
        loop.done = dict(self.slots)
        if op.opdef is ops.WHILE:
            facts.assume(op.regions[0].ops[-1].operands[0], holds=True)
        else:
            self._variable(op, body.params[0])
        self._walk(body.ops)
        if falls_through(body):
            self._again(stored)
        self._loops.pop()
        facts.undo(mark)
        return loop

    def _variable(self, op: Op, variable: Op) -> None:
        """Where the variable of a `for` lies."""
        start, stop, step = op.operands
        self._note_base(variable)
        low, high = self.facts.interval(step)
        if low > 0:
            self.facts.at_most(start, variable, 0)
            self.facts.at_most(variable, stop, -1)
        elif high < 0:
            self.facts.at_most(variable, start, 0)
            self.facts.at_most(stop, variable, -1)
        self._note(variable)

    def _note_base(self, variable: Op) -> None:
        self.facts.base[variable] = whole(scalar_type(variable))

    def _exit(self, op: Op) -> None:
        if op.opdef is ops.BREAK:
            self._loops[-1].left.append(self._snapshot(self.slots))
        elif op.opdef is ops.CONTINUE:
            self._again(self.slots)
        elif op.opdef is ops.LEAVE:
            self._blocks[-1].left.append(self._snapshot(self.slots))

    def _again(self, slots: Iterable[Op]) -> None:
        """Note what the present point hands to the next trip."""
        loop = self._loops[-1]
        loop.again.append(self._snapshot(slots))
        for slot in list(loop.falling):
            if not self.facts.at_most_by(self.slots[slot], loop.heads[slot], 0):
                loop.falling.discard(slot)

    # ── slots ─────────────────────────────────────────────────────────────────────────────────

    def _snapshot(self, slots: Iterable[Op]) -> dict[Op, Interval]:
        """Where the values of slots lie now."""
        found = {}
        for slot in slots:
            if isinstance(slot.type, SlotType) and slot.type.element in _FOLLOWED:
                value = self.slots.get(slot)
                limits = whole(slot.type.element)
                found[slot] = limits if value is None else self.facts.interval(value)
        return found

    def _fresh(self, slot: Op, interval: Interval) -> Op:
        """A new value of a slot, of which only the interval is known."""
        assert isinstance(slot.type, SlotType)
        value = Op(opdef=ops.PARAM, type=slot.type.element, name=slot.name)
        self.facts.base[value] = interval
        self.slots[slot] = value
        return value

    def _after(self, stored: Iterable[Op], ends: list[Mapping[Op, Interval]]) -> None:
        """New values for slots at a point that several ways lead to."""
        for slot in stored:
            assert isinstance(slot.type, SlotType)
            anything = whole(slot.type.element)  # of a slot that is not stored on some way
            intervals = [end.get(slot, anything) for end in ends]
            self._fresh(
                slot, (min(low for low, _ in intervals), max(high for _, high in intervals))
            )


_GOES_TO = frozenset({ops.BREAK, ops.CONTINUE, ops.LEAVE})
_FOLLOWED = INTEGERS | {BOOL}


def _widened(
    guess: Mapping[Op, Interval], again: Iterable[Mapping[Op, Interval]], *, in_words: bool
) -> dict[Op, Interval]:
    """The guess with the ends that a trip does not keep moved to the ends of the type; `in_words`:
    to those of 32 bits first.
    """
    wider = dict(guess)
    for end in again:
        for slot, (low, high) in end.items():
            if slot in wider:
                assert isinstance(slot.type, SlotType)
                limits = whole(slot.type.element)
                if in_words and slot.type.element.bits == 64:
                    limits = _word_ends(limits, (low, high))
                lowest, highest = wider[slot]
                wider[slot] = (
                    limits[0] if low < lowest else lowest,
                    limits[1] if high > highest else highest,
                )
    return wider


def _word_ends(limits: Interval, reached: Interval) -> Interval:
    """Ends of a 64-bit type, or of what 32 bits hold of it where no trip goes beyond."""
    low, high = max(limits[0], I32.minimum), I32.maximum
    return low if reached[0] >= low else limits[0], high if reached[1] <= high else limits[1]


def _integer_stores(region: Region, found: dict[Region, frozenset[Op]]) -> frozenset[Op]:
    """The integer and bool slots that a region stores to, itself or inside; for every region."""
    slots: set[Op] = set()
    for op in region.ops:
        if op.opdef is ops.STORE_LOCAL:
            slot = op.operands[0]
            if isinstance(slot.type, SlotType) and slot.type.element in _FOLLOWED:
                slots.add(slot)
        for part in op.regions:
            slots |= _integer_stores(part, found)
    found[region] = frozenset(slots)
    return found[region]


def _is_integer(op: Op | None) -> bool:
    return op is not None and op.type in INTEGERS
