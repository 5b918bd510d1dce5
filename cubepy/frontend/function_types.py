"""How the functions of kernels are called, for editors and type checkers; nothing here runs.

Each protocol is a family: what goes in and what comes out. Which types a function takes is said by
its row of the op table, and told by the compiler with a caret. Scalars count as Python's numbers, a
vector as its element.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from cubepy.frontend.lang import Array, Tensor
from cubepy.frontend.scalars import i32

__all__ = [
    "Atomic",
    "AtomicExchange",
    "AtomicLoad",
    "Binary",
    "Cast",
    "Comptime",
    "Elect",
    "Extreme",
    "Frexp",
    "Lane",
    "Memory",
    "Reduction",
    "Same",
    "Select",
    "Statement",
    "Ternary",
    "Test",
    "Unary",
    "Unroll",
    "Vote",
]

T = TypeVar("T")
N = TypeVar("N", bound=float)
Extents = int | tuple[int, ...]


class Unary(Protocol):
    """A function of one number."""

    def __call__(self, value: N) -> N: ...


class Binary(Protocol):
    """A function of two numbers; what meets what is for the compiler to say."""

    def __call__(self, first: N, second: float, /) -> N: ...


class Ternary(Protocol):
    """A function of three numbers."""

    def __call__(self, first: N, second: float, third: float, /) -> N: ...


class Extreme(Protocol):
    """The least or greatest of several numbers."""

    def __call__(self, first: N, /, *others: N) -> N: ...


class Test(Protocol):
    """A question about a number; of a vector, an answer for each element."""

    def __call__(self, value: float) -> Any: ...


class Frexp(Protocol):
    """Significand and exponent."""

    def __call__(self, value: N) -> tuple[N, i32]: ...


class Select(Protocol):
    """One value or the other."""

    def __call__(self, condition: Any, a: N, b: N) -> N: ...


class Same(Protocol):
    """Gives its argument."""

    def __call__(self, value: T) -> T: ...


class Cast(Protocol):
    """A conversion to a type."""

    def __call__(self, dtype: type[T], value: Any) -> T: ...


class Comptime(Protocol):
    """An expression that Python evaluates."""

    def __call__(self, expression: T, /) -> T: ...


class Unroll(Protocol):
    """A loop written out."""

    def __call__(self, items: Iterable[T], /, *, when: bool = True) -> Iterable[T]: ...


class Memory(Protocol):
    """Memory of the cube or the unit."""

    def __call__(self, dtype: type[T], shape: Extents, fill: Any = None) -> Tensor[T]: ...


class Statement(Protocol):
    """A call for its effect."""

    def __call__(self, *arguments: Any, **keywords: Any) -> None: ...


class Atomic(Protocol):
    """Changes an element; gives what it was."""

    def __call__(
        self, array: Array[T] | Tensor[T], index: Extents, value: T | float, order: str = "relaxed"
    ) -> T: ...


class AtomicExchange(Protocol):
    """Changes an element that is as expected; gives what it was."""

    def __call__(
        self, array: Array[T] | Tensor[T], index: Extents, expected: T | float, value: T | float,
        order: str = "relaxed",
    ) -> T: ...  # fmt: skip


class AtomicLoad(Protocol):
    """Reads an element."""

    def __call__(
        self, array: Array[T] | Tensor[T], index: Extents, order: str = "relaxed"
    ) -> T: ...


class Reduction(Protocol):
    """Over the plane, or up to this lane."""

    def __call__(self, value: N, where: bool = True) -> N: ...  # noqa: FBT001, FBT002


class Vote(Protocol):
    """Over the plane: a bool, and for the ballot a bit a lane."""

    def __call__(self, value: Any, where: bool = True) -> Any: ...  # noqa: FBT001, FBT002


class Elect(Protocol):
    """True in one lane."""

    def __call__(self, where: bool = True) -> bool: ...  # noqa: FBT001, FBT002


class Lane(Protocol):
    """The value of another lane."""

    def __call__(self, value: N, lane: int, where: bool = True) -> N: ...  # noqa: FBT001, FBT002
