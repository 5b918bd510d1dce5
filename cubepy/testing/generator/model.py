"""What a generated kernel is: its source, its arguments as views of memory, and what it exercises.

Source is kept as a tree of statements until it is printed, so that statements can be taken away.
Arguments are described, not made: every run gets fresh memory of the same content.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

import numpy as np

from cubepy.ir import Scalar
from cubepy.records import dataclass, field

__all__ = ["ArraySpec", "BaseSpec", "Feature", "GeneratedKernel", "Node", "ScalarSpec", "render"]

Array = np.ndarray[Any, Any]
INDENT = "    "
#: What every generated module begins with.
HEAD = (
    "import dataclasses",
    "from typing import NamedTuple, TypeVar",
    "",
    "import cubepy as cb",
    "",
    "NUMBERS = (1, 0, 4)",
    'F = TypeVar("F", bound=cb.Number)',
    "TILES = cb.Layout.tiled((4, 6), (2, 3))",
    "SWIZZLED = cb.Layout.swizzled((4, 8), 2)",
)


class Feature(Enum):
    """What a kernel exercises; the shares of some are asserted."""

    LOOP = "loop"
    DIVERGENT_LOOP = "divergent loop"
    DIVERGENT_EXIT = "break, continue or return that some units take"
    DIVERGENT_CONTINUE = "continue that some units take"
    LOOP_ELSE = "else of a loop"
    RETURN = "early return"
    BARRIER = "barrier"
    BARRIER_IN_LOOP = "barrier in a loop"
    PLANE = "plane operation"
    STRIDED = "strided argument"
    OVERLAPPING = "overlapping arguments"
    NARROW = "integer below 32 bits"
    HALF = "f16 or bf16"
    WIDE = "integer of 64 bits"
    DOUBLE = "f64"
    VOLUME = "three axes"
    UNROLLED = "loop written out"
    SHARED_NAME = "one name for a loop written out and another"
    COMPTIME_BRANCH = "branch decided while compiling"
    MATCH = "match"
    WALRUS = "walrus"
    WEAK = "local that takes its type from a later use"
    LAMBDA = "lambda or closure"
    SEVERAL_RETURNS = "helper with several returns"
    NAMED_TUPLE = "named tuple"
    WHERE = "plane operation of some units"
    CONTRACT = "contraction"
    ATOMIC = "atomic"
    HELPER = "helper"
    PRIVATE = "private array"
    LIBRARY = "library function"
    OVER = "launch over a shape"
    LARGE = "unsigned number of 2**63 and more"
    STRUCT = "struct"
    METHOD = "method of a struct"
    VECTOR = "vector"
    VIEW = "slice or other view of an array"
    LAYOUT = "view by a layout or function"
    ORDER = "atomic with an order, fence"
    MINIFLOAT = "conversion from or to a small float"
    STORED = "array of small floats"
    HALF_MATHEMATICS = "library function of a half"
    CASE_GUARD = "case with a guard"
    GENERIC = "type variable"
    WHILE_ELSE = "else of while"
    NESTED_RETURN = "helper that returns from within a loop or two branches"
    PRINT = "print"
    ASSERTION = "assertion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A statement: a line, or a head with statements below it and further arms (`else:`).

    `pinned` statements hold the kernel together (a barrier, a loop's counter): none is taken away.
    """

    text: str
    body: tuple[Node, ...] = ()
    arms: tuple[Node, ...] = ()
    pinned: bool = False


def render(nodes: tuple[Node, ...], indent: str = "") -> Iterator[str]:
    """The lines of statements; an empty body is `pass`."""
    for node in nodes:
        yield indent + node.text
        if node.text.endswith(":"):
            yield from render(node.body or (Node(text="pass"),), indent + INDENT)
        yield from render(node.arms, indent)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseSpec:
    """Memory that argument views are taken of; `format` is the small float that bytes hold."""

    element: Scalar
    size: int
    format: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArraySpec:
    """An array argument: `shape` elements of a base from `start` on, `strides` elements apart."""

    name: str
    base: str
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarSpec:
    """A scalar argument."""

    name: str
    element: Scalar
    value: int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedKernel:
    """`launch` over `over` if that is a shape, else `cube_count` cubes of `cube_dim`.

    `constants`: further arguments, which the module holds by these names.
    """

    seed: int
    helpers: tuple[Node, ...]
    body: tuple[Node, ...]
    signature: str
    bases: Mapping[str, BaseSpec]
    arrays: tuple[ArraySpec, ...]
    scalars: tuple[ScalarSpec, ...]
    constants: Mapping[str, str] = field(default_factory=dict)
    cube_count: tuple[int, int, int]
    cube_dim: tuple[int, int, int]
    over: tuple[int, ...] = ()
    options: str = ""
    features: frozenset[Feature] = field(default_factory=frozenset)

    @property
    def source(self) -> str:
        """The module that defines `kernel`."""
        lines = [*HEAD, "", *render(self.helpers)]
        lines += [
            "",
            f"@cb.cube({self.options})" if self.options else "@cb.cube",
        ]
        lines += [f"def kernel({self.signature}):", *render(self.body, INDENT)]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        launch = f"over {self.over}" if self.over else f"[{self.cube_count}, {self.cube_dim}]"
        views = [
            f"# {view.name} = {view.base}: {self.bases[view.base].element}, from {view.start}, "
            f"shape {view.shape}, strides {view.strides}"
            for view in self.arrays
        ]
        values = [f"# {scalar.name} = {scalar.element}({scalar.value})" for scalar in self.scalars]
        return "\n".join([f"# seed {self.seed}, {launch}", *views, *values, self.source])
