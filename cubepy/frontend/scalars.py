"""The scalar types as kernels and annotations spell them: `f32`, `i64`, `index`, `bool_` …

Each is a class, so that `x: f32` and `Array[f32]` type-check. Calling one on the host converts as
a kernel's cast does and gives a NumPy scalar; inside a kernel the front end makes a cast of the
call. The abstract classes `Number`, `Int`, `UInt`, `Float` are bounds of generic kernels.
"""

# ruff: noqa: N801 (these are the names of the types)

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from cubepy import ir
from cubepy.errors import ArgumentError, CubeError
from cubepy.frontend.wording import describe_object
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
    scalar_of_numpy,
)

__all__ = [
    "Float",
    "Int",
    "Number",
    "ScalarClass",
    "UInt",
    "bf16",
    "bool_",
    "class_of",
    "f16",
    "f32",
    "f64",
    "flex32",
    "host_cast",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "mismatch",
    "scalar_of",
    "u8",
    "u16",
    "u32",
    "u64",
    "within",
]


class ScalarClass:
    """Base of the scalar types; `scalar` is the type in IR, None for an abstract class."""

    scalar: ClassVar[Scalar | None] = None

    def __new__(cls, value: Any = 0) -> Any:
        """Convert on the host, by the rules of casts in kernels."""
        if cls.scalar is None:
            raise CubeError(f"{cls.__name__} is a family of types\n  help: write f32(…), i32(…), …")
        try:
            if _is_numeric(value):
                return host_cast(value, cls.scalar)
        except (TypeError, ValueError):  # said below
            pass
        raise ArgumentError(
            f"{cls.__name__} of {describe_object(value)}: expects a number\n"
            f"  help: for example {cls.__name__}(1)"
        )


def _is_numeric(value: object) -> bool:
    """Whether a value is a number or an array of them; NumPy makes NaN of None."""
    if isinstance(value, int | float) or hasattr(type(value), "__float__"):
        return True
    return np.asarray(value).dtype.kind not in "OUSMmc"


if TYPE_CHECKING:
    # To type checkers, scalars are Python's numbers: a variable that begins as a literal, a literal
    # for a parameter, Python's own functions all go with them. What goes with what, i32 with u32,
    # is for the compiler to say.
    bool_: TypeAlias = bool
    Int: TypeAlias = int
    UInt: TypeAlias = int
    i8: TypeAlias = int
    i16: TypeAlias = int
    i32: TypeAlias = int
    i64: TypeAlias = int
    u8: TypeAlias = int
    u16: TypeAlias = int
    u32: TypeAlias = int
    u64: TypeAlias = int
    index: TypeAlias = int
    Number: TypeAlias = float
    Float: TypeAlias = float
    f16: TypeAlias = float
    bf16: TypeAlias = float
    f32: TypeAlias = float
    flex32: TypeAlias = float
    f64: TypeAlias = float
else:

    class Number(ScalarClass):
        """Any number."""

    class Int(Number):
        """Any integer."""

    class UInt(Int):
        """Any unsigned integer."""

    class Float(Number):
        """Any float."""

    class bool_(ScalarClass):
        """True or False."""

        scalar = BOOL

    class i8(Int):
        """Signed 8-bit integer."""

        scalar = I8

    class i16(Int):
        """Signed 16-bit integer."""

        scalar = I16

    class i32(Int):
        """Signed 32-bit integer."""

        scalar = I32

    class i64(Int):
        """Signed 64-bit integer."""

        scalar = I64

    class u8(UInt):
        """Unsigned 8-bit integer."""

        scalar = U8

    class u16(UInt):
        """Unsigned 16-bit integer."""

        scalar = U16

    class u32(UInt):
        """Unsigned 32-bit integer."""

        scalar = U32

    class u64(UInt):
        """Unsigned 64-bit integer."""

        scalar = U64

    class index(Int):
        """A position, length or stride: signed, 64 bits in meaning."""

        scalar = INDEX

    class f16(Float):
        """IEEE half precision."""

        scalar = F16

    class bf16(Float):
        """bfloat16."""

        scalar = BF16

    class f32(Float):
        """IEEE single precision."""

        scalar = F32

    # At least the precision of f16: a target may do with less than f32 has; none does yet.
    flex32 = f32

    class f64(Float):
        """IEEE double precision."""

        scalar = F64


_EVERY: tuple[Any, ...] = (
    *(bool_, i8, i16, i32, i64, u8, u16, u32, u64, index),
    *(f16, bf16, f32, f64),
)
_CLASSES: dict[str, type[ScalarClass]] = {
    cls.scalar.name: cls for cls in _EVERY if cls.scalar is not None
}
_PYTHON: dict[object, Scalar] = {int: INDEX, float: F32, bool: BOOL}


def class_of(scalar: Scalar) -> type[ScalarClass]:
    """The class that kernels call `scalar`."""
    return _CLASSES[scalar.name]


def scalar_of(spelling: object) -> Scalar | None:
    """The scalar that an annotation or a dtype argument names, or None.

    Takes our classes, `int` (index), `float` (f32), `bool`, NumPy dtypes and scalar classes.
    """
    if isinstance(spelling, type) and issubclass(spelling, ScalarClass):
        return spelling.scalar
    if isinstance(spelling, Scalar):
        return spelling
    if isinstance(spelling, type) and spelling in _PYTHON:
        return _PYTHON[spelling]
    if isinstance(spelling, np.dtype):
        return scalar_of_numpy(spelling)
    if isinstance(spelling, type) and issubclass(spelling, np.generic):
        return _of_numpy_class(spelling)
    return None


def _of_numpy_class(spelling: type[np.generic]) -> Scalar | None:
    try:
        return scalar_of_numpy(np.dtype(spelling))
    except TypeError:
        return None  # an abstract class such as np.floating


def within(scalar: Scalar, bound: type[ScalarClass]) -> bool:
    """Whether a type belongs to a family, or is the type that `bound` is."""
    families: dict[object, bool] = {
        Float: scalar.is_float,
        Int: scalar.is_integer,
        UInt: scalar.is_integer and not scalar.is_signed,
        Number: scalar != BOOL,
    }
    return families.get(bound, bound.scalar == scalar)


def mismatch(variable: Any, scalar: Scalar) -> str:
    """Why a type variable cannot stand for a type, or an empty text if it can."""
    bound, name = variable.__bound__, variable.__name__
    if isinstance(bound, type) and issubclass(bound, ScalarClass) and not within(scalar, bound):
        return f"{name} is bound by {bound.__name__}, got {scalar}"
    allowed = [scalar_of(each) for each in variable.__constraints__]
    if allowed and scalar not in allowed:
        return f"{name} is one of {', '.join(map(str, allowed))}, got {scalar}"
    return ""


def host_cast(value: Any, scalar: Scalar) -> Any:
    """`value` converted as a cast in a kernel converts, as a NumPy scalar."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not scalar.is_float and scalar is not BOOL:
            value = int(value) & ((1 << 64) - 1)
            value = value if value < 1 << 63 or not scalar.is_signed else value - (1 << 64)
        elif not -(1 << 63) <= value < 1 << 64:
            value = float(value) if abs(value) < 1 << 1023 else float("inf") * (value > 0 or -1)
    evaluate = ir.ops.CAST.evaluate
    assert evaluate is not None
    with np.errstate(all="ignore"):
        return evaluate(np.asarray(value), type=scalar, attrs={"to": scalar})[()]
