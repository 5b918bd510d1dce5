"""Sums and other reductions of planes, those of all of a gang's planes together.

One plane alone would halve what is left of it at each step, in whole vectors of which ever fewer
lanes mean something. Instead two planes' halves share a vector: of two vectors the even and the odd
places are brought together and combined, so n planes of n lanes take n - 1 steps and not n·log n.
Each plane is a balanced tree over neighbouring lanes either way, with the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.codegen.llvm.elementwise import ELEMENTWISE
from cubepy.codegen.llvm.gang import Gang
from cubepy.ir import PLANE_REDUCTIONS, Op, OpDef, Scalar, neutral_of, ops

__all__ = ["combine", "existing", "reduce_planes"]

# Shuffles within so many bytes are cheap; across them whole pieces of that size are moved.
_PIECE = 16

Join = Callable[[str, str], str]


def combine(gang: Gang, row: OpDef, scalar: Scalar, a: str, b: str, *, lanes: bool) -> str:
    """Two values, or two vectors of them, joined by an op."""
    stand_in = Op(opdef=ops.PARAM, type=scalar)
    sample = Op(opdef=row, operands=(stand_in, stand_in), type=scalar)
    return ELEMENTWISE[row.name](gang.vec if lanes else gang.one, sample, (a, b))


def reduce_planes(gang: Gang, op: Op) -> tuple[str, ...]:
    """One scalar a plane."""
    row, scalar = PLANE_REDUCTIONS[op.opdef], op.type
    assert isinstance(scalar, Scalar)
    neutral = neutral_of(row, scalar)
    vectors = [
        existing(gang, number, scalar, value, neutral)
        for number, value in enumerate(gang.vectors(op.operands[0]))
    ]

    def join(a: str, b: str) -> str:
        return combine(gang, row, scalar, a, b, lanes=True)

    if not gang.module.target.does("planes"):
        return tuple(_reduced(gang, scalar, [vector], join)[0] for vector in vectors)
    return tuple(_reduced(gang, scalar, vectors, join))


def existing(gang: Gang, number: int, scalar: Scalar, value: str, missing: int | float) -> str:
    """A vector of a plane, with another value where units are missing."""
    if gang.mask is None:
        return value
    return gang.vec.select(gang.mask[number], scalar, value, gang.vec.const(scalar, missing))


def _reduced(gang: Gang, scalar: Scalar, vectors: Sequence[str], join: Join) -> list[str]:
    """The reduction of each vector; `owners` tell whose lanes a vector holds."""
    lanes, type = gang.layout.lanes, gang.vec.type(scalar)
    count = len(vectors)
    held, owners = list(vectors), [[number] * lanes for number in range(count)]
    distance = 1
    while distance < lanes:
        even, odd = _halves(lanes, distance, _PIECE // scalar.size)
        following, owned = [], []
        for at in range(0, len(held), 2):
            a, b = held[at], held[min(at + 1, len(held) - 1)]
            following.append(join(_picked(gang, type, a, b, even), _picked(gang, type, a, b, odd)))
            both = owners[at] + owners[min(at + 1, len(held) - 1)]
            owned.append([both[place] for place in even])
        held, owners = following, owned
        distance *= 2
    found = [
        (vector, own.index(number))
        for number in range(count)
        for vector, own in zip(held, owners, strict=True)
        if number in own
    ]
    return [gang.w.value(f"extractelement {type} {name}, i64 {lane}") for name, lane in found]


def _halves(lanes: int, distance: int, piece: int) -> tuple[list[int], list[int]]:
    """Which places of two vectors, numbered through, are brought together at a step: the even and
    the odd ones of each piece, later the even and the odd pieces.
    """
    size, within = (1, piece) if distance < min(piece, lanes) else (piece, lanes)
    within = min(within, lanes)

    def half(first: int) -> list[int]:
        return [
            vector * lanes + start + at + element
            for start in range(0, lanes, within)
            for vector in (0, 1)
            for at in range(first, within, 2 * size)
            for element in range(size)
        ]

    return half(0), half(size)


def _picked(gang: Gang, type: str, a: str, b: str, places: Sequence[int]) -> str:
    order = ", ".join(f"i32 {place}" for place in places)
    return gang.w.value(f"shufflevector {type} {a}, {type} {b}, <{len(places)} x i32> <{order}>")
