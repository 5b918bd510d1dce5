"""`Vector[T, N]`: N numbers of one type that are computed with together.

Here is what the name means on the host: an annotation, and a value that computes like the kernel's
own. What vectors become in kernels stands in `vectors.py`.
"""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cubepy.errors import CubeError, CubeTypeError, Diagnostic
from cubepy.frontend.scalars import class_of, host_cast, scalar_of
from cubepy.ir import Scalar
from cubepy.location import UNKNOWN
from cubepy.records import dataclass

__all__ = ["LONGEST", "HostVector", "Vector", "VectorType", "is_count", "lengths"]

LONGEST = 64


def lengths(count: object) -> str:
    """What to do where a vector cannot have so many elements."""
    there = f"a vector has 1, 2, 4 … {LONGEST} elements, a power of two"
    if not isinstance(count, int) or not 2 < count < LONGEST:
        return there
    return f"{there}: pad to {1 << count.bit_length()}, or make a struct of {count} fields"


def is_count(number: object) -> bool:
    """Whether a vector may have so many elements: a power of two up to 64."""
    return type(number) is int and 0 < number <= LONGEST and number & (number - 1) == 0


@dataclass(frozen=True, slots=True)
class VectorType:
    """`Vector[T, N]`. `element` is a scalar type, or a type variable that stands for one."""

    element: Any
    count: int

    def __call__(self, *values: Any) -> HostVector:
        """A vector of these elements, converted as casts convert; one number fills them all."""
        if not isinstance(self.element, Scalar):
            raise CubeError(
                f"{self!r} has no type of its own\n  help: write Vector[f32, {self.count}](…)"
            )
        items = list(_flat(values))
        if len(items) == 1:
            items *= self.count
        if len(items) != self.count:
            raise CubeError(
                f"{self!r} has {self.count} elements, got {len(items)}\n"
                "  help: give each of them, or one number for all"
            )
        return HostVector(host_cast(item, self.element) for item in items)

    def __repr__(self) -> str:
        return f"Vector[{getattr(self.element, '__name__', self.element)}, {self.count}]"


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tuple | list | np.ndarray):
            yield from _flat(value)
        else:
            yield value.item() if isinstance(value, np.generic) else value


class HostVector(tuple[Any, ...]):
    """A vector on the host: a tuple of NumPy scalars that computes element by element."""

    __slots__ = ()

    @property
    def type(self) -> VectorType:
        """What it is a vector of."""
        return VectorType(scalar_of(self[0].dtype), len(self))

    @property
    def dtype(self) -> Any:
        """The type of its elements."""
        element = scalar_of(self[0].dtype)
        return None if element is None else class_of(element)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array(tuple(self), dtype or self[0].dtype)

    def __repr__(self) -> str:
        return f"{self.type!r}({', '.join(str(item) for item in self)})"

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __neg__(self) -> HostVector:
        return HostVector(np.negative(np.asarray(self)))


def _operator(function: Callable[[Any, Any], Any], *, reflected: bool = False) -> Any:
    def apply(self: HostVector, other: Any) -> Any:
        others = other if isinstance(other, tuple) else (other,) * len(self)
        if len(others) != len(self):
            return NotImplemented
        pairs = zip(others, self, strict=True) if reflected else zip(self, others, strict=True)
        with np.errstate(all="ignore"):
            return HostVector(np.asarray(function(a, b))[()] for a, b in pairs)

    return apply


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift"):
    setattr(HostVector, f"__{_name}__", _operator(getattr(operator, _name)))
    setattr(HostVector, f"__r{_name}__", _operator(getattr(operator, _name), reflected=True))
for _name in ("and_", "or_", "xor"):
    _short = _name.rstrip("_")
    setattr(HostVector, f"__{_short}__", _operator(getattr(operator, _name)))
    setattr(HostVector, f"__r{_short}__", _operator(getattr(operator, _name), reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(HostVector, f"__{_name}__", _operator(getattr(operator, _name)))


def _count_of(written: Any) -> Any:
    return typing.get_args(written)[0] if typing.get_origin(written) is typing.Literal else written


if TYPE_CHECKING:
    # To type checkers a vector is its element, which has whatever operators it has.
    from typing import Annotated as Vector
else:

    class Vector:
        """Annotation and constructor: `Vector[f32, 4]`, with 1, 2, 4 … 64 elements."""

        def __class_getitem__(cls, written: Any) -> VectorType:
            if not isinstance(written, tuple) or len(written) != 2:
                raise TypeError("write Vector[T, N], for example Vector[f32, 4]")
            element, count = written[0], _count_of(written[1])
            if not isinstance(element, typing.TypeVar):
                element = scalar_of(element)
            if element is None:
                raise TypeError(f"no vectors of {written[0]!r}: write a scalar type")
            if not is_count(count):
                message = f"no vectors of {count!r} elements"
                raise CubeTypeError(Diagnostic(message=message, loc=UNKNOWN, help=lengths(count)))
            return VectorType(element, count)
