"""Typed construction of IR: every emit runs the op's type rule, so there is never an untyped op.

A builder holds a stack of open regions. `region()` opens one and hands back a list the caller turns
into a :class:`Region`. Pure ops are shared within a region and below it (scoped value numbering),
and constants of commutative ops go to the right, so rules need no search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from struct import pack
from typing import Any

from cubepy.ir import ops
from cubepy.ir.nodes import Op, Region, freeze_attrs
from cubepy.ir.opdef import AttrValue, OpDef, Trait
from cubepy.ir.rewriter import PURE
from cubepy.ir.types import BOOL, INDEX, Scalar, Type
from cubepy.location import UNKNOWN, Loc
from cubepy.records import dataclass, field

__all__ = ["Builder", "OpenRegion", "param"]


def param(name: str, type: Type, loc: Loc = UNKNOWN) -> Op:
    """A parameter of a kernel, function or region."""
    return Op(opdef=ops.PARAM, type=type, loc=loc, name=name)


@dataclass(slots=True)
class OpenRegion:
    """A region being filled. `known` maps the number of what a pure op computes to the op."""

    params: tuple[Op, ...] = ()
    ops: list[Op] = field(default_factory=list)
    known: dict[int, Op] = field(default_factory=dict)

    def close(self) -> Region:
        """The finished region."""
        return Region(params=self.params, ops=tuple(self.ops))

    @property
    def ended(self) -> bool:
        """Whether the last op leaves the region, so that nothing may follow."""
        return bool(self.ops) and self.ops[-1].opdef.has(Trait.EXIT)


class Builder:
    """Appends ops to the innermost open region. `loc` is the place given to ops emitted without
    one.
    """

    def __init__(self, *, share: bool = True) -> None:
        self.share = share
        self.loc: Loc = UNKNOWN
        self._stack: list[OpenRegion] = []
        # Numbers of what pure ops compute: hashed once, and not in each of the open regions.
        self._numbers: dict[tuple[Any, ...], int] = {}

    @property
    def current(self) -> OpenRegion:
        """The innermost open region."""
        return self._stack[-1]

    @contextmanager
    def region(self, *params: Op) -> Iterator[OpenRegion]:
        """Open a region; ops emitted inside go to it."""
        opened = OpenRegion(params=params)
        self._stack.append(opened)
        try:
            yield opened
        finally:
            self._stack.pop()

    @contextmanager
    def reopen(self, opened: OpenRegion) -> Iterator[OpenRegion]:
        """Go on filling a region that was left before."""
        self._stack.append(opened)
        try:
            yield opened
        finally:
            self._stack.pop()

    def emit(
        self,
        opdef: OpDef,
        *operands: Op,
        attrs: Mapping[str, AttrValue] | None = None,
        regions: tuple[Region, ...] = (),
        loc: Loc | None = None,
        name: str = "",
    ) -> Op:
        """Append an op (or find the pure one that computes the same) and return it.

        Raises `TypeRuleError` if the operand types do not fit.
        """
        if operands and operands[0].opdef is ops.CONST and opdef.has(Trait.COMMUTATIVE):
            operands = (operands[1], operands[0], *operands[2:])
        frozen = freeze_attrs(attrs or {})
        type = opdef.rule(tuple([operand.type for operand in operands]), frozen)
        key = self._key(opdef, operands, frozen, type) if self.share and opdef in PURE else None
        if key is not None:
            for opened in reversed(self._stack):
                if key in opened.known:
                    return opened.known[key]
        made = Op(
            opdef=opdef, operands=operands, type=type, attrs=frozen, regions=regions,
            loc=self.loc if loc is None else loc, name=name,
        )  # fmt: skip
        self.append(made, key)
        return made

    def append(self, made: Op, key: int | None = None) -> None:
        """Append a finished op as it is."""
        self.current.ops.append(made)
        if key is not None:
            self.current.known[key] = made

    def _key(
        self, opdef: OpDef, operands: tuple[Op, ...], attrs: Mapping[str, AttrValue], type: Type
    ) -> int:
        # `==` takes 1, 1.0 and True for one, and the zeros, and no NaN for itself
        values = tuple([
            (name, pack("<d", value) if isinstance(value, float) else (value.__class__, value))
            for name, value in attrs.items()
        ])  # fmt: skip
        key = (opdef, tuple(map(id, operands)), values, type)
        return self._numbers.setdefault(key, len(self._numbers))

    def const(self, type: Scalar, value: float, loc: Loc | None = None) -> Op:
        """A constant; `value` must fit: an int for integers, a float for floats, a bool for
        bool.
        """
        exact: int | float | bool = float(value) if type.is_float else value
        exact = bool(value) if type is BOOL else exact
        return self.emit(ops.CONST, attrs={"type": type, "value": exact}, loc=loc)

    def index(self, value: int) -> Op:
        """A constant of type `index`."""
        return self.const(INDEX, value)
