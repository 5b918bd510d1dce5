"""Before::

    kernel @k(%x: global<f32, [1], unknown, 0>) cube_dim(8, 1, 1) {
      %u: index = unit_pos
      %a: shared<f32, [8]> = shared [element=f32, shape=(8)]
      %b: shared<f32, [8]> = shared [element=f32, shape=(8)]
      %0: f32 = load %x, %u [check=checked]
      store %a, %u, %0 [check=checked]
      sync_cube
      %1: index = const 7
      %2: index = sub %1, %u
      %3: f32 = load %a, %2 [check=checked]
      sync_cube
      store %b, %u, %3 [check=checked]
      sync_cube
      %4: f32 = load %b, %1 [check=checked]
      store %x, %u, %4 [check=checked]
    }

After::

    kernel @k(%x: global<f32, [1], unknown, 0>) cube_dim(8, 1, 1) {
      %u: index = unit_pos
      %a: shared<f32, [8]> = shared [element=f32, shape=(8)]
      %0: f32 = load %x, %u [check=checked]
      store %a, %u, %0 [check=checked]
      sync_cube
      %1: index = const 7
      %2: index = sub %1, %u
      %3: f32 = load %a, %2 [check=checked]
      sync_cube
      store %a, %u, %3 [check=checked]
      sync_cube
      %4: f32 = load %a, %1 [check=checked]
      store %x, %u, %4 [check=checked]
    }

Shared arrays of one type whose lifetimes do not overlap are one array: a kernel then needs room for
the most that is alive at once. Arrays of different types stay apart in IR and get the number of a
place and its bytes, `[place=0, room=32]`; where a target's memory is bytes they lie in one place.
Between the last use of one and the first of the next all units must meet, so a barrier has to stand
there that the kernel has anyway. An array that a loop or a branch uses is alive from its beginning
to its end. Whatever moves loads and stores comes before this pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from cubepy.ir import (
    Kernel,
    Op,
    Region,
    Rewriter,
    SharedType,
    Type,
    freeze_attrs,
    ops,
    rebuilt,
    rewrite,
    walk,
)
from cubepy.passes.context import PassContext
from cubepy.records import dataclass

__all__ = ["place_shared_memory"]


def place_shared_memory(kernel: Kernel, context: PassContext) -> Kernel:
    """Let shared arrays take the place of others that nobody uses any more."""
    lives = sorted(_lives(kernel.body), key=lambda life: life.first)
    barriers = [at for at, op in enumerate(kernel.body.ops) if op.opdef is ops.SYNC_CUBE]
    places: list[_Place] = []
    for life in lives:
        free = [place for place in places if place.is_free_for(life, barriers)]
        alike = [place for place in free if place.has(life.array)]
        if free:
            (alike or free)[0].take(life)
        else:
            places.append(_Place(arrays=[life.array], last=life.last))
    if len(places) == len(lives):
        return kernel
    return rewrite(kernel, {ops.SHARED: _declaring(places)})


@dataclass(slots=True, kw_only=True, eq=False)
class _Life:
    """A shared array, and the statements of the kernel that use it first and last."""

    array: Op
    first: int
    last: int


@dataclass(slots=True, kw_only=True, eq=False)
class _Place:
    """Arrays of which one is alive at a time, and the statement that uses the place last."""

    arrays: list[Op]
    last: int

    def is_free_for(self, life: _Life, barriers: list[int]) -> bool:
        """Whether another array may begin where the last one has ended."""
        return any(self.last < barrier < life.first for barrier in barriers)

    def has(self, array: Op) -> bool:
        """Whether one of that type has been here."""
        return any(array.type == known.type for known in self.arrays)

    def take(self, life: _Life) -> None:
        """One more."""
        self.arrays.append(life.array)
        self.last = life.last

    @property
    def is_mixed(self) -> bool:
        """Whether its arrays are of several types."""
        return any(array.type != self.arrays[0].type for array in self.arrays)


def _declaring(places: list[_Place]) -> Callable[[Op, Rewriter], Op]:
    """A rule that leaves one array of each type in a place, and says what mixed ones share."""
    mixed = [place for place in places if place.is_mixed]
    home = {array: place for place in places for array in place.arrays}
    made: dict[tuple[int, Type], Op] = {}

    def declare(op: Op, rewriter: Rewriter) -> Op:
        place = home.get(rewriter.original)
        if place is None or place.arrays == [rewriter.original]:
            return op
        key = (id(place), op.type)
        if key not in made and place in mixed:
            shared = {"place": mixed.index(place), "room": max(map(_bytes, place.arrays))}
            op = rewriter.place(rebuilt(op, attrs=freeze_attrs({**op.attrs, **shared})))
        return made.setdefault(key, op)

    return declare


def _bytes(array: Op) -> int:
    assert isinstance(array.type, SharedType)
    return math.prod(array.type.shape) * array.type.element.size


def _lives(body: Region) -> Iterator[_Life]:
    """The shared arrays that the kernel's own statements declare, and when they are used."""
    uses: dict[Op, list[int]] = {op: [] for op in body.ops if op.opdef is ops.SHARED}
    for at, statement in enumerate(body.ops):
        for op in (statement, *(inner for region in statement.regions for inner in walk(region))):
            for operand in op.operands:
                if operand in uses:
                    uses[operand].append(at)
    for array, places in uses.items():
        if places:
            yield _Life(array=array, first=places[0], last=places[-1])
