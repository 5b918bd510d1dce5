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
the most that is alive at once. Between the last use of one and the first of the next all units must
meet, so a barrier has to stand there that the kernel has anyway. An array that a loop or a branch
uses is alive from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from cubepy.ir import Kernel, Op, Region, Rewriter, ops, rewrite, walk
from cubepy.passes.context import PassContext
from cubepy.records import dataclass

__all__ = ["place_shared_memory"]


def place_shared_memory(kernel: Kernel, context: PassContext) -> Kernel:
    """Let shared arrays take the place of others that nobody uses any more."""
    lives = list(_lives(kernel.body))
    places: list[_Life] = []
    taken: dict[Op, _Life] = {}
    barriers = [at for at, op in enumerate(kernel.body.ops) if op.opdef is ops.SYNC_CUBE]
    for life in sorted(lives, key=lambda life: life.first):
        free = next((place for place in places if place.is_free_for(life, barriers)), None)
        if free is None:
            places.append(life)
            taken[life.array] = life
        else:
            free.last = life.last
            taken[life.array] = free
    if len(places) == len(lives):
        return kernel
    made: dict[int, Op] = {}

    def declare(op: Op, rewriter: Rewriter) -> Op:
        place = taken.get(rewriter.original)
        return op if place is None else made.setdefault(id(place), op)

    return rewrite(kernel, {ops.SHARED: declare})


@dataclass(slots=True, kw_only=True, eq=False)
class _Life:
    """A shared array, and the statements of the kernel that use it first and last."""

    array: Op
    first: int
    last: int

    def is_free_for(self, other: _Life, barriers: list[int]) -> bool:
        """Whether another array may begin where this one has ended."""
        met = any(self.last < barrier < other.first for barrier in barriers)
        return met and self.array.type == other.array.type


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
