"""What a statement being generated may use: variables, memories, and the control flow around it.

The rules of memories make kernels free of races. `OWN` elements belong to one unit, `CUBE` memory
is written at one's own place between barriers and read anywhere in a phase without writes; `READ`
memory is never written; `ATOMIC` memory takes one commutative operation whose result nobody sees.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from cubepy.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INDEX,
    U8,
    U16,
    U32,
    U64,
    Scalar,
)
from cubepy.records import dataclass, field, replace
from cubepy.testing.generator.model import Feature

__all__ = [
    "Composite",
    "Context",
    "Helper",
    "Loop",
    "Memory",
    "MemoryKind",
    "Phase",
    "Scope",
    "Struct",
    "Variable",
    "VectorType",
]

# how often a new variable or array has each type
_TYPES: dict[Scalar, int] = {
    I32: 10, U32: 7, F32: 12, INDEX: 5, I64: 5, U64: 5, F64: 6, BOOL: 4,
    I8: 3, U8: 4, I16: 3, U16: 3, F16: 3, BF16: 3,
}  # fmt: skip


_OF_TYPE = {
    **dict.fromkeys((I8, U8, I16, U16), Feature.NARROW),
    **dict.fromkeys((F16, BF16), Feature.HALF),
    **dict.fromkeys((I64, U64), Feature.WIDE),
    F64: Feature.DOUBLE,
}


class MemoryKind(Enum):
    """The rule a memory is used by."""

    READ = "read"
    OWN = "own"
    CUBE = "cube"
    ATOMIC = "atomic"
    PRIVATE = "private"


class Phase(Enum):
    """What cube memory is good for at a point of the kernel."""

    WRITE_OWN = "each unit reads and writes its own element"
    READ_ANY = "each unit reads any element"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A local or scalar parameter; `uniform`: provably one value for the cube.

    `runtime`: certainly not a constant, whatever a compiler finds out. `part`: of a struct or
    vector, which changes as a whole.
    """

    name: str
    type: Scalar
    uniform: bool = False
    assignable: bool = True
    runtime: bool = False
    part: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A memory by name. `own` subscripts the unit's elements, with `{k}` for one of `count`.

    `stored`: in a format of small floats, which has no atomics. `uniform`: the same elements for
    every unit, which a view need not be. `shaped`: its shape is known while compiling.
    """

    name: str
    element: Scalar
    kind: MemoryKind
    own: str = ""
    count: int = 1
    extents: tuple[str, ...] = ()
    offset: str = ""
    operation: str = ""
    stored: bool = False
    uniform: bool = True
    shaped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A function by name. The first argument may be a certain function or array of the kernel;
    results may be a named tuple's fields.
    """

    name: str
    parameters: tuple[Scalar, ...]
    results: tuple[Scalar, ...]
    function: str = ""
    array: str = ""
    fields: tuple[str, ...] = ()
    features: frozenset[Feature] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    """A struct by name. `fields` are scalars, by the path from the struct; `pattern` makes one of
    values for them all. `own`: names of fields that are no structs. Methods' names begin with `.`.
    """

    name: str
    fields: tuple[tuple[str, Scalar], ...]
    pattern: str
    own: tuple[tuple[str, Scalar], ...]
    methods: tuple[Helper, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorType:
    """So many numbers of a type."""

    element: Scalar
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Composite:
    """A local that holds a struct or vector."""

    name: str
    type: Struct | VectorType


@dataclass(slots=True, kw_only=True)
class Loop:
    """A loop being generated. `cooperative`: all units of the cube make the same trips together.

    One that is `unrolled` is no loop once compiled.
    """

    cooperative: bool
    phase: Phase
    unrolled: bool = False
    left_early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The control flow around a statement. `uniform`: all units of the cube are here together."""

    uniform: bool = True
    plane_uniform: bool = True
    phase: Phase = Phase.WRITE_OWN
    loops: tuple[Loop, ...] = ()
    depth: int = 0
    results: tuple[Scalar, ...] | None = None  # of the helper being generated
    result: str = "{}"  # what the helper makes of them
    unrolled: bool = False  # what is here is written out several times

    def inside(self, *, uniform: bool, plane_uniform: bool | None = None) -> Context:
        """One level deeper, under a condition."""
        plane = uniform if plane_uniform is None else plane_uniform
        return replace(
            self,
            uniform=self.uniform and uniform,
            plane_uniform=self.plane_uniform and plane,
            depth=self.depth + 1,
        )

    def in_loop(self, loop: Loop) -> Context:
        """In the body of a loop."""
        inside = self.inside(uniform=loop.cooperative)
        return replace(inside, loops=(*self.loops, loop), unrolled=self.unrolled or loop.unrolled)


@dataclass(slots=True, kw_only=True)
class Scope:
    """Names in reach, and what has been used so far. `returned`: some units may have left.

    `generic`: the type that a type variable stands for.
    """

    random: random.Random
    variables: list[Variable] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    features: set[Feature] = field(default_factory=set)
    helpers: list[Helper] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    composites: list[Composite] = field(default_factory=list)
    comptimes: list[str] = field(default_factory=list)
    loop_names: dict[str, Scalar | None] = field(default_factory=dict)
    palette: list[Scalar] = field(default_factory=list)
    generic: Scalar | None = None
    returned: bool = False
    cooperative: bool = False
    counter: int = 0

    def fresh(self, stem: str) -> str:
        """A name not used before."""
        self.counter += 1
        return f"{stem}{self.counter}"

    def type(self, *, numbers: bool = False) -> Scalar:
        """A type for something new, one of a few that the kernel keeps to."""
        if not self.palette:
            self.palette += self.random.choices(list(_TYPES), list(_TYPES.values()), k=5)
        made = self.random.choice([type for type in self.palette if type is not BOOL] or [I32])
        if not numbers and BOOL in self.palette and self.chance(0.2):
            made = BOOL
        if made in _OF_TYPE:
            self.features.add(_OF_TYPE[made])
        return made

    def spelling(self, type: Scalar) -> str:
        """How the kernel writes a type: by its name, or the type variable that has it."""
        return "F" if type is self.generic else f"cb.{'bool_' if type is BOOL else type.name}"

    def storable(self) -> Scalar:
        """A type for a new array; none holds index."""
        made = self.type()
        return I64 if made is INDEX else made

    def find(self, *, type: Scalar | None = None, uniform: bool = False, assignable: bool = False,
             exact: bool = False) -> list[Variable]:  # fmt: skip
        """Variables in reach; `exact` wants the given uniformity, not at least it."""
        return [
            variable
            for variable in self.variables
            if (type is None or variable.type is type)
            and (variable.uniform or not uniform)
            and (not exact or variable.uniform == uniform)
            and (variable.assignable or not assignable)
        ]

    def find_memories(
        self, kind: MemoryKind, element: Scalar | None = None, *, uniform: bool = False
    ) -> list[Memory]:
        """Memories of a kind in reach; `uniform`: those alone that are the same for every unit."""
        return [
            memory
            for memory in self.memories
            if memory.kind is kind
            and (element is None or memory.element is element)
            and (memory.uniform or not uniform)
        ]

    @contextmanager
    def block(self) -> Iterator[None]:
        """Names introduced inside go out of reach at the end."""
        lists: tuple[list[Any], ...] = (
            self.variables, self.memories, self.comptimes, self.helpers, self.composites,
        )  # fmt: skip
        lengths = [len(names) for names in lists]
        yield
        for names, length in zip(lists, lengths, strict=True):
            del names[length:]

    def chance(self, probability: float) -> bool:
        """True so often."""
        return self.random.random() < probability
