"""What a C-like target brings to the shared walk: how types, statements and ops are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cubepy.codegen.structured.expression import Expression
from cubepy.ir import U64, Op, Region, Scalar, SlotType

if TYPE_CHECKING:
    from cubepy.codegen.structured.body import Body

__all__ = ["Language"]


class Language(ABC):
    """One kernel being written in one language; may keep what else the kernel needs, as helpers.

    Operands are given as expressions that may be written once each; a method that needs one twice
    asks the body for a name of it.
    """

    #: What an endless loop begins with, and the two ends of a block that `break` leaves.
    endless = "for (;;) {"
    block = ("do {", "} while (false);")

    @abstractmethod
    def literal(self, scalar: Scalar, value: float) -> Expression:
        """A constant."""

    def literal_of(self, op: Op) -> Expression:
        """What a `const` is written as."""
        value = op.attrs["value"]
        assert isinstance(op.type, Scalar)
        assert isinstance(value, int | float)
        return self.literal(op.type, value)

    @abstractmethod
    def constant(self, scalar: Scalar, name: str, value: str) -> str:
        """The statement that names a value."""

    @abstractmethod
    def variable(self, scalar: Scalar, name: str, value: str) -> str:
        """The statement that makes a variable."""

    def initial(self, slot: Op) -> Expression:
        """The value of a variable until it has one."""
        assert isinstance(slot.type, SlotType)
        return self.literal(slot.type.element, 0)

    def assigned(self, store: Op, expression: Expression) -> Expression:
        """A value as the variable of a `store_local` takes it."""
        return expression

    def returned(self, value: Op, expression: Expression) -> Expression:
        """A value as a function gives it."""
        return expression

    def statement(self, expression: Expression) -> str:
        """An expression that is evaluated for its effect only."""
        return f"{expression};"

    def detour(self, body: Body, region: Region, condition: Expression) -> str:
        """The head of an `if` without `else` that few units go into and that costs much; "" if a
        branch will do. The head may be that of a loop, which is gone through once.
        """
        return ""

    def counter(self, op: Op) -> tuple[Scalar, Scalar]:
        """The type in which a `for` counts, and the one for the number of its trips."""
        (variable,) = op.regions[0].params
        assert isinstance(variable.type, Scalar)
        return variable.type, U64

    def counted(self, op: Op, value: Op, expression: Expression) -> Expression:
        """A bound or step of a `for` in the type in which it counts."""
        return expression

    @abstractmethod
    def counting(self, scalar: Scalar, name: str, start: str, stop: str, step: int) -> str:
        """The head of a loop from `start` to before `stop` whose variable cannot overflow."""

    @abstractmethod
    def trips(self, scalar: Scalar, start: str, stop: str, step: str) -> str:
        """How many trips a range makes, in the type that `counter` says; 0 for a step of 0."""

    @abstractmethod
    def stepped(self, scalar: Scalar, start: str, trip: str, step: str) -> str:
        """`start + trip * step` with wrap-around, for a `trip` of the type that `counter` says."""

    @abstractmethod
    def value(self, body: Body, op: Op, operands: Sequence[Expression]) -> Expression:
        """An op without effects; `operands` are those that are scalars."""

    @abstractmethod
    def effect(self, body: Body, op: Op) -> None:
        """Write the statements of any other op, and `body.define` its result."""

    @abstractmethod
    def call(self, body: Body, op: Op) -> Expression:
        """A call of a helper function, with its arguments."""

    @abstractmethod
    def result_declaration(self, op: Op, name: str, value: str) -> str:
        """The statement that names the several results of a call."""

    @abstractmethod
    def result(self, whole: Expression, number: int) -> Expression:
        """One of the results of a call that has several."""

    @abstractmethod
    def results(self, op: Op, values: Sequence[Expression]) -> str:
        """Several values as what a function returns."""
