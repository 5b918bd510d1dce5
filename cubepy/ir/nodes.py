"""Ops, regions, functions and kernels: the frozen values every stage passes on.

One class of op; identity is equality; an op is its own single result. Parameters of kernels,
functions and regions are ops of the row `param`. Mutable Python variables are `local` slots,
control flow is structured, so there are no phis and no block graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from cubepy.ir.opdef import Attrs, AttrValue, OpDef
from cubepy.ir.types import VOID, Scalar, Type
from cubepy.location import UNKNOWN, Loc
from cubepy.records import dataclass, field, fields

__all__ = [
    "APART",
    "NARROW",
    "NO_ATTRS",
    "Function",
    "Kernel",
    "Op",
    "Region",
    "freeze_attrs",
    "scalar_type",
    "walk",
]

NO_ATTRS: Attrs = MappingProxyType({})

#: The attribute of loads and stores that must not be merged with others like them.
APART = "apart"
# Marks a division whose operands were tested: neither is negative, both fit 31 bits, the divisor is
# not 0.
NARROW = "narrow"


def freeze_attrs(attrs: Mapping[str, AttrValue]) -> Attrs:
    """Attributes as an immutable mapping in sorted order."""
    return MappingProxyType(dict(sorted(attrs.items()))) if attrs else NO_ATTRS


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Op:
    """One operation and its result. `name` is a hint for printing (the Python name), never a
    meaning.
    """

    opdef: OpDef
    operands: tuple[Op, ...] = ()
    type: Type = VOID
    attrs: Attrs = field(default_factory=lambda: NO_ATTRS)
    regions: tuple[Region, ...] = ()
    loc: Loc = UNKNOWN
    name: str = ""

    # What records make takes more than half as long again, and nothing is made as often as ops.
    def __init__(
        self,
        *,
        opdef: OpDef,
        operands: tuple[Op, ...] = (),
        type: Type = VOID,
        attrs: Attrs = NO_ATTRS,
        regions: tuple[Region, ...] = (),
        loc: Loc = UNKNOWN,
        name: str = "",
    ) -> None:
        _set_opdef(self, opdef)
        _set_operands(self, operands)
        _set_type(self, type)
        _set_attrs(self, attrs)
        _set_regions(self, regions)
        _set_loc(self, loc)
        _set_name(self, name)

    def __repr__(self) -> str:
        return f"<{self.opdef.name}: {self.type} at {self.loc}>"


# The fields in order, past the refusal to be assigned.
_set_opdef, _set_operands, _set_type, _set_attrs, _set_regions, _set_loc, _set_name = (
    vars(Op)[each.name].__set__ for each in fields(Op)
)


def scalar_type(op: Op) -> Scalar:
    """The type of an op known to be a scalar."""
    assert isinstance(op.type, Scalar)
    return op.type


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Region:
    """A list of ops in order. `params` are the values the owning op hands in (the variable of a
    `for`).
    """

    params: tuple[Op, ...] = ()
    ops: tuple[Op, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Function:
    """A helper: scalars, slots never, memory by reference. `result` is VOID, a scalar or a
    TupleType.
    """

    name: str
    params: tuple[Op, ...]
    result: Type
    body: Region
    loc: Loc = UNKNOWN


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Kernel:
    """A kernel and the helpers it calls (callees before callers). `cube_dim` is x, y, z.

    A launch over a shape (`k.over(shape)`) shows in the body as a guard on `extent_x/y/z`, which
    lowering adds. `options` are the kernel's own: `fast_math` flags, `contract`, `deterministic`.
    """

    name: str
    params: tuple[Op, ...]
    body: Region
    functions: tuple[Function, ...] = ()
    cube_dim: tuple[int, int, int] = (1, 1, 1)
    options: Mapping[str, AttrValue] = field(default_factory=lambda: NO_ATTRS)
    loc: Loc = UNKNOWN

    def function(self, name: str) -> Function:
        """The helper of that name."""
        return next(function for function in self.functions if function.name == name)


def walk(region: Region) -> Iterator[Op]:
    """Every op of a region and of the regions inside, in program order (an op before its
    regions).
    """
    for op in region.ops:
        yield op
        for inner in op.regions:
            yield from walk(inner)
