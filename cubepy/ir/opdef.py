"""What a row of the op table is, and the type rules rows are built from.

A row is the single source of truth of an op: operand names, type rule, traits, meaning
(`evaluate`), Python spelling, documentation and tolerance. Builder and verifier call the same rule;
constant folder and interpreter call the same `evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Flag, auto
from typing import Any

from cubepy.ir.types import BOOL, MemoryType, Scalar, SlotType, Type
from cubepy.records import dataclass

__all__ = [
    "AttrValue",
    "Attrs",
    "Evaluate",
    "OpDef",
    "Trait",
    "TypeRule",
    "TypeRuleError",
    "attr_type",
    "fixed",
    "memory_element",
    "require",
    "same",
]

AttrValue = int | float | str | bool | Scalar | tuple[int, ...]
Attrs = Mapping[str, AttrValue]
TypeRule = Callable[[tuple[Type, ...], Attrs], Type]
Evaluate = Callable[..., Any]


class TypeRuleError(Exception):
    """Operand types an op does not take. The front end turns it into an error with a place."""


class Trait(Flag):
    """Facts about an op that passes may use without knowing its name."""

    NONE = 0
    PURE = auto()  # no effect, may be shared, moved, removed, executed speculatively
    COMMUTATIVE = auto()
    ASSOCIATIVE = auto()  # exactly, so never on floats: ask `is_associative`
    READS = auto()  # reads memory or a slot
    WRITES = auto()  # writes memory or a slot
    UNIFORM = auto()  # the same value in every unit of the cube whatever the operands
    VARYING = auto()  # may differ between units whatever the operands
    PLANE = auto()  # talks to other units of the plane: needs plane-uniform control flow
    BARRIER = auto()  # needs cube-uniform control flow
    ATOMIC = auto()
    EXIT = auto()  # leaves the region: nothing after it runs
    CONTROL = auto()  # has regions
    LIBRARY = auto()  # defined by a function of cubepy.std unless the target has its own
    REPORTS = auto()  # tells the host something: stays where it is, touches no memory


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpDef:
    """One row. `operands` are names; a last name starting with `*` takes any number.

    `evaluate(*operand_arrays, type=result_type, attrs=attrs)` works element-wise on NumPy arrays of
    the operands' dtypes and returns an array of the result's dtype; None for ops with no value of
    their own. `python` is the spelling in kernels ("" if none), `ulp` the largest error in units in
    the last place by float type name (0 = exact).
    """

    name: str
    operands: tuple[str, ...]
    rule: TypeRule
    traits: Trait
    evaluate: Evaluate | None
    python: str
    doc: str
    ulp: Mapping[str, float]
    regions: int = 0

    def has(self, trait: Trait) -> bool:
        """Whether the op has (all of) a trait."""
        wanted = trait._value_  # operators of Flag make an object each time, and this is asked most
        return self.traits._value_ & wanted == wanted

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def require(condition: object, message: str) -> None:
    """Raise `TypeRuleError(message)` unless `condition`."""
    if not condition:
        raise TypeRuleError(message)


def _plain(types: Collection[Scalar]) -> str:
    return ", ".join(sorted(scalar.name for scalar in types))


def same(on: Collection[Scalar], *, result: Scalar | None = None, leading: int = 0) -> TypeRule:
    """All operands after the first `leading` (which are bool) have one type of `on`; so has the
    result.
    """

    def rule(operands: tuple[Type, ...], attrs: Attrs) -> Type:
        for flag in operands[:leading]:
            require(flag == BOOL, f"expects a bool, got {flag}")
        rest = operands[leading:]
        first = rest[0]
        if rest.count(first) != len(rest):
            raise TypeRuleError(f"expects operands of one type, got {', '.join(map(str, rest))}")
        if first not in on:
            raise TypeRuleError(f"expects one of {_plain(on)}, got {first}")
        return result if result is not None else first

    return rule


def fixed(result: Type, *operands: Type) -> TypeRule:
    """Operands of exactly these types, one result type."""

    def rule(given: tuple[Type, ...], attrs: Attrs) -> Type:
        if given != operands:
            raise TypeRuleError(f"expects ({', '.join(map(str, operands))}), got {given}")
        return result

    return rule


def attr_type(name: str, on: Collection[Scalar]) -> TypeRule:
    """One scalar operand of `on`; the result type is the attribute `name`."""

    def rule(operands: tuple[Type, ...], attrs: Attrs) -> Type:
        if len(operands) != 1 or operands[0] not in on:
            raise TypeRuleError(f"expects one of {_plain(on)}")
        result = attrs[name]
        if not isinstance(result, Scalar):
            raise TypeRuleError(f"attribute {name} must be a type")
        return result

    return rule


def memory_element(operand: Type) -> Scalar:
    """The element type of a memory or slot operand."""
    if not isinstance(operand, MemoryType | SlotType):
        raise TypeRuleError(f"expects memory, got {operand}")
    return operand.element
