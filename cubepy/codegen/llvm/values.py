"""Values of a gang in LLVM names, by shape: one scalar, one base a part, or one vector a part.

A value of less than varying shape is spread into vectors only when asked for, right behind its
definition (through an insertion point), so a broadcast of something defined outside a loop stays
outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cubepy.codegen.llvm.lanes import Lanes
from cubepy.codegen.llvm.types import register_type
from cubepy.codegen.llvm.writer import Lines
from cubepy.ir import Scalar
from cubepy.ir.analyses import Shape
from cubepy.records import dataclass, field

__all__ = ["Value", "each_part", "spread"]


@dataclass(slots=True, kw_only=True, eq=False)
class Value:
    """`names`: one scalar (uniform), one base a part (part shapes), or one vector a part (varying).

    `hook` is the insertion point behind the definition; `vectors` the spread form once it exists;
    `windows` the bounds masks already made of it, by extent; `wholes` the tests that a whole part
    is inside; `places` the pointers moved on by it, by where they were and how far; `multiples`
    its products with strides. `age` tells which of two values was there first.
    """

    shape: Shape
    names: tuple[str, ...]
    hook: Lines | None = None
    age: int = 0
    vectors: tuple[str, ...] = ()
    windows: dict[str, tuple[str, ...]] = field(default_factory=dict)
    wholes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: dict[tuple[str, str, str], str] = field(default_factory=dict)
    multiples: dict[str, tuple[str, ...]] = field(default_factory=dict)

    # One is made for every op and version; what records make takes three times as long.
    def __init__(
        self, *, shape: Shape, names: tuple[str, ...], hook: Lines | None = None, age: int = 0
    ) -> None:
        self.shape = shape
        self.names = names
        self.hook = hook
        self.age = age
        self.vectors = ()
        self.windows = {}
        self.wholes = {}
        self.places = {}
        self.multiples = {}


def each_part(make: Callable[..., str], *columns: Sequence[str]) -> tuple[str, ...]:
    """`make` of the names of each part, once for parts that have the same ones: the rows of a gang
    share what differs from column to column.
    """
    made: dict[tuple[str, ...], str] = {}
    for row in zip(*columns, strict=True):
        if row not in made:
            made[row] = make(*row)
    return tuple(made[row] for row in zip(*columns, strict=True))


def _ramp(lanes: Lanes, scalar: Scalar, stride: int) -> str:
    element = register_type(scalar)
    wrap = 1 << scalar.bits
    numbers = [(lane * stride) % wrap for lane in range(lanes.lanes)]
    return "<" + ", ".join(f"{element} {number}" for number in numbers) + ">"


def spread(lanes: Lanes, scalar: Scalar, value: Value, parts: int) -> tuple[str, ...]:
    """The value as one vector a part."""
    if value.shape.level == 2:
        return value.names
    if not value.vectors:
        if value.hook is None:
            value.vectors = _spread(lanes, scalar, value, parts)
        else:
            with lanes.w.at(value.hook):
                value.vectors = _spread(lanes, scalar, value, parts)
    return value.vectors


def _spread(lanes: Lanes, scalar: Scalar, value: Value, parts: int) -> tuple[str, ...]:
    if value.shape.level == 0:
        return (lanes.everywhere(register_type(scalar), value.names[0]),) * parts
    element = register_type(scalar)
    bases = each_part(lambda name: lanes.everywhere(element, name), value.names)
    if value.shape.stride == 0:
        return bases
    ramp = _ramp(lanes, scalar, value.shape.stride)
    return each_part(lambda base: lanes.instruction("add", scalar, base, ramp), bases)
