"""What a kernel may say besides plain Python: buffer annotations, positions, functions, comptime.

These objects mean something to the front end; on the host they are names with types, so that
editors and type checkers understand kernels. Calling one outside a kernel raises with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    NoReturn,
    Self,
    TypeVar,
    cast,
    overload,
)

import numpy as np

from cubepy.errors import CubeError, CubeTypeError, Diagnostic
from cubepy.frontend.scalars import index
from cubepy.late import late_import
from cubepy.location import UNKNOWN
from cubepy.records import dataclass

__all__ = [
    "Array",
    "Comptime",
    "Intrinsic",
    "LibraryFunction",
    "PlaneSize",
    "Position",
    "Tensor",
    "intrinsic",
    "library_function",
    "position",
]

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
At = int | slice | tuple[Any, ...]


class _Memory(Generic[T]):
    """What `Array` and `Tensor` have in common, for type checkers."""

    if TYPE_CHECKING:
        shape: tuple[index, ...]
        strides: tuple[index, ...]
        ndim: int
        size: index
        dtype: type[T]

        def vectorized(self, count: int) -> Any: ...
        def __setitem__(self, at: At, value: T | float | np.generic) -> None: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[T]: ...
        def reshape(self, *shape: Any) -> Any: ...
        def view(self, *layout: Any) -> Any: ...
    else:

        def __class_getitem__(cls, element: Any) -> Any:
            if isinstance(element, tuple):
                raise _too_many(cls.__name__, element)
            return super().__class_getitem__(element)


def _too_many(kind: str, given: tuple[Any, ...]) -> CubeError:
    """The error for `Array[f32, 2]`: sizes and numbers of axes are no part of the type."""
    words = ", ".join(getattr(each, "__name__", repr(each)) for each in given)
    first = getattr(given[0], "__name__", "f32") if given else "f32"
    return CubeTypeError(
        Diagnostic(
            message=f"{kind}[{words}]: an annotation names the type of the elements only",
            loc=UNKNOWN,
            help=f"Array[{first}] has one axis, Tensor[{first}] any number; sizes are read from "
            "the argument",
        )
    )


class Array(_Memory[T]):
    """Annotation: a 1-D array of any stride in device memory."""

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, at: int) -> T: ...
        @overload
        def __getitem__(self, at: slice) -> Self: ...
        def __getitem__(self, at: Any) -> Any: ...


class Tensor(_Memory[T]):
    """Annotation: an n-D array of any strides in device memory."""

    if TYPE_CHECKING:
        # As many subscripts as axes give an element, fewer a view; how many there are, no one says.
        def __getitem__(self, at: At) -> Any: ...


if TYPE_CHECKING:
    #: Annotation: a value known while the kernel is compiled.
    Comptime = Annotated[T, "comptime"]
else:

    class Comptime(Generic[T]):
        """Annotation: a value known while the kernel is compiled."""


def _help_text(name: str) -> str:
    with late_import:
        from cubepy.frontend.help_texts import help_text  # noqa: PLC0415 - for `help` only

    return help_text(name)


@dataclass(frozen=True, slots=True)
class Position:
    """A value that each unit reads: the op of this name gives it, or the cube's own size."""

    name: str

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # `help` of one tells of that one
        return _help_text(self.name)

    def __repr__(self) -> str:
        return f"cubepy.{self.name}"

    def _refuse(self, *_: object) -> NoReturn:
        raise CubeError(
            f"{self!r} has a value only inside a kernel\n"
            "  help: use it in a function decorated with @cubepy.cube"
        )

    # What a number can do, so that Python does not complain of the types.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __pow__ = __rpow__ = _refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refuse
    __neg__ = __pos__ = __invert__ = __abs__ = __int__ = __float__ = __index__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


@dataclass(frozen=True, slots=True)
class Intrinsic:
    """A function of kernels, by name; the front end knows what it does."""

    name: str

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # `help` of one tells of that one
        return _help_text(self.name)

    def __repr__(self) -> str:
        return f"cubepy.{self.name}"

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        raise _outside(repr(self))


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """A function of kernels that is written in their language: `function` is lowered for a call."""

    function: FunctionType

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]  # `help` of one tells of that one
        return self.function.__doc__

    def __repr__(self) -> str:
        return f"cubepy.{self.function.__qualname__}"

    def __get__(self, owner: object, kind: type | None = None) -> Any:
        return self if owner is None else MethodType(self, owner)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        owner = getattr(arguments[0], "name", "") if arguments else ""
        if "." in self.function.__qualname__ and owner:
            raise _outside(f"cubepy.{owner}.{self.function.__name__}".removesuffix(".__call__"))
        raise _outside(repr(self))


def _outside(name: str) -> CubeError:
    return CubeError(
        f"{name} is called outside a kernel\n"
        "  help: call it in a function decorated with @cubepy.cube"
    )


@dataclass(frozen=True, slots=True)
class PlaneSize:
    """`cb.PLANE` as an extent of a cube: as many units as a plane of the device has."""

    def __repr__(self) -> str:
        return "cubepy.PLANE"


def intrinsic(name: str) -> Any:
    """The function of that name; typed loosely, since its row of the table says what it takes."""
    return Intrinsic(name)


def library_function(function: F) -> F:
    """A decorator; to type checkers and kernels the function is what it was."""
    made: Any = LibraryFunction(function)  # type: ignore[arg-type]  # none but plain ones are given
    return cast("F", made)


def position(name: str) -> Any:
    """The position of that name; typed loosely, since in a kernel it is a number."""
    return Position(name)
