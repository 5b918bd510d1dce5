"""Expressions of a C-like language as text, with what a reader and a compiler need to nest them.

An expression knows how tightly it binds, so that parentheses are written where they are needed, and
which variables it reads, so that it is named before one of them changes.
"""

from __future__ import annotations

import re
from enum import IntEnum

from cubepy.ir import Op
from cubepy.records import dataclass

__all__ = ["NOTHING", "Binding", "Expression", "binary", "call", "primary", "unary"]

NOTHING: frozenset[Op] = frozenset()
_ATOM = re.compile(r"\w+(?:\.\w+)*")


class Binding(IntEnum):
    """How tightly the outermost operator of an expression binds."""

    CHOICE = 0  # a ? b : c
    BINARY = 1  # a + b
    UNARY = 2  # -a
    PRIMARY = 3  # a name, a literal, a call, an element


@dataclass(frozen=True, slots=True)
class Expression:
    """`slots` are the variables whose present values the text stands for."""

    text: str
    binding: Binding = Binding.PRIMARY
    slots: frozenset[Op] = NOTHING

    def __str__(self) -> str:
        return self.text

    @property
    def is_atom(self) -> bool:
        """Whether writing it twice costs nothing: a name or a plain number."""
        return _ATOM.fullmatch(self.text) is not None

    def within(self, binding: Binding) -> str:
        """The text as an operand of something that binds so; in parentheses if it binds less."""
        return self.text if self.binding >= binding else f"({self.text})"


def _slots(parts: tuple[Expression, ...]) -> frozenset[Op]:
    return frozenset().union(*[part.slots for part in parts]) if parts else NOTHING


def primary(text: str, *parts: Expression) -> Expression:
    """Text that binds tightest, made of parts."""
    return Expression(text, Binding.PRIMARY, _slots(parts))


def call(name: str, *arguments: Expression) -> Expression:
    """A call."""
    return primary(f"{name}({', '.join(map(str, arguments))})", *arguments)


def unary(operator: str, operand: Expression) -> Expression:
    """An operator, or a cast, in front of its operand."""
    return Expression(f"{operator}{operand.within(Binding.PRIMARY)}", Binding.UNARY, operand.slots)


def binary(operator: str, left: Expression, right: Expression) -> Expression:
    """Two operands that bind tighter than any binary operator, so that no precedence is relied
    on.
    """
    text = f"{left.within(Binding.UNARY)} {operator} {right.within(Binding.UNARY)}"
    return Expression(text, Binding.BINARY, left.slots | right.slots)
