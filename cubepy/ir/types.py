"""The types of the IR: scalars, buffers, shared and private memory, local slots, tuples.

All are frozen values compared by content. `str(type)` is the spelling in IR text, so printer,
parser and error messages agree. NumPy names of the scalars live here too; nothing else may map
types to NumPy.
"""

from __future__ import annotations

import functools
from enum import Enum
from typing import Any

import numpy as np

from cubepy.late import late_import
from cubepy.records import dataclass

__all__ = [
    "BF16",
    "BOOL",
    "F16",
    "F32",
    "F64",
    "FLOATS",
    "I8",
    "I16",
    "I32",
    "I64",
    "INDEX",
    "INTEGERS",
    "SCALARS",
    "SIGNED",
    "STORED",
    "U8",
    "U16",
    "U32",
    "U64",
    "UNSIGNED",
    "VOID",
    "Access",
    "BufferType",
    "Kind",
    "MemoryType",
    "PrivateType",
    "Scalar",
    "SharedType",
    "SlotType",
    "StrideClass",
    "TupleType",
    "Type",
    "VoidType",
    "is_element",
    "scalar_of_numpy",
]


class Kind(Enum):
    """What a scalar is, apart from its width."""

    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"


class StrideClass(Enum):
    """What the specialisation knows of one axis's stride, counted in elements."""

    ZERO = "0"
    ONE = "1"
    MINUS_ONE = "-1"
    OTHER = "?"


class Access(Enum):
    """How a kernel uses a buffer; `UNKNOWN` until `annotate_buffer_access` has looked."""

    UNKNOWN = "unknown"
    NONE = "none"
    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """Base of all types."""


@dataclass(frozen=True, slots=True)
class VoidType(Type):
    """The type of an op without a result."""

    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True, eq=False)
class Scalar(Type):
    """A number or bool: `bits` is its width in registers and memory (bool: 8 in memory).

    There is one object of each, so that identity is equality: nothing is compared more often.
    """

    name: str
    kind: Kind
    bits: int

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return scalar_of_name, (self.name,)  # one object of each, also after pickling

    @property
    def is_float(self) -> bool:
        return self.kind is Kind.FLOAT

    @property
    def is_integer(self) -> bool:
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_signed(self) -> bool:
        return self.kind is Kind.SIGNED

    @property
    def size(self) -> int:
        """Bytes of one element in memory."""
        return self.bits // 8

    @property
    def numpy(self) -> np.dtype[Any]:
        """The NumPy dtype that holds it on the host."""
        return _bfloat16() if self is BF16 else _NUMPY[self.name]

    @property
    def minimum(self) -> int:
        """Smallest integer of an integer type."""
        return -(1 << (self.bits - 1)) if self.is_signed else 0

    @property
    def maximum(self) -> int:
        """Largest integer of an integer type."""
        return (1 << (self.bits - 1)) - 1 if self.is_signed else (1 << self.bits) - 1


VOID = VoidType()
BOOL = Scalar("bool", Kind.BOOL, 8)
I8, I16, I32, I64 = (Scalar(f"i{bits}", Kind.SIGNED, bits) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (Scalar(f"u{bits}", Kind.UNSIGNED, bits) for bits in (8, 16, 32, 64))
INDEX = Scalar("index", Kind.SIGNED, 64)
F16 = Scalar("f16", Kind.FLOAT, 16)
BF16 = Scalar("bf16", Kind.FLOAT, 16)
F32 = Scalar("f32", Kind.FLOAT, 32)
F64 = Scalar("f64", Kind.FLOAT, 64)

SIGNED = frozenset({I8, I16, I32, I64, INDEX})
UNSIGNED = frozenset({U8, U16, U32, U64})
INTEGERS = SIGNED | UNSIGNED
FLOATS = frozenset({F16, BF16, F32, F64})
SCALARS: dict[str, Scalar] = {
    scalar.name: scalar
    for scalar in (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, INDEX, F16, BF16, F32, F64)
}


def scalar_of_name(name: str) -> Scalar:
    """The scalar that is spelled so."""
    return SCALARS[name]


_NUMPY: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "index": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
_OF_NUMPY: dict[np.dtype[Any], Scalar] = {
    dtype: SCALARS[name] for name, dtype in _NUMPY.items() if name != "index"
}


def scalar_of_numpy(dtype: np.dtype[Any]) -> Scalar | None:
    """The scalar that a NumPy dtype of native byte order holds, or None."""
    found = _OF_NUMPY.get(dtype)
    if found is None and dtype.name == "bfloat16" and dtype == _bfloat16():
        return BF16
    return found


#: Dtypes of ml_dtypes that arrays may have, and the format of `cubepy` that reads them. In IR such
#: elements are bytes.
STORED: dict[str, str] = {
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float6_e3m2fn": "e3m2",
    "float6_e2m3fn": "e2m3",
    "float4_e2m1fn": "e2m1",
    "float8_e8m0fnu": "ue8m0",
}


def is_element(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of a dtype can be arguments of kernels."""
    return scalar_of_numpy(dtype) is not None or (dtype.name in STORED and dtype.itemsize == 1)


@functools.cache
def _bfloat16() -> np.dtype[Any]:
    # Late, because few programs have such arrays and importing the package takes a while.
    with late_import:
        import ml_dtypes  # noqa: PLC0415

    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


@dataclass(frozen=True, slots=True)
class BufferType(Type):
    """Global memory, an argument of the kernel. `strides` has one class an axis; rank 1 is also
    `Array[T]`.

    `alias` numbers the alias class: two buffers of one kernel may overlap only if their numbers are
    equal.
    """

    element: Scalar
    strides: tuple[StrideClass, ...]
    access: Access = Access.UNKNOWN
    alias: int = 0

    @property
    def rank(self) -> int:
        return len(self.strides)

    def __str__(self) -> str:
        strides = ",".join(stride.value for stride in self.strides)
        return f"global<{self.element}, [{strides}], {self.access.value}, {self.alias}>"


@dataclass(frozen=True, slots=True)
class SharedType(Type):
    """Memory of a cube, row-major, of a shape known while compiling."""

    element: Scalar
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"shared<{self.element}, [{','.join(map(str, self.shape))}]>"


@dataclass(frozen=True, slots=True)
class PrivateType(Type):
    """An array of one unit, row-major, of a shape known while compiling."""

    element: Scalar
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"private<{self.element}, [{','.join(map(str, self.shape))}]>"


MemoryType = BufferType | SharedType | PrivateType


@dataclass(frozen=True, slots=True)
class SlotType(Type):
    """A mutable local variable of one unit."""

    element: Scalar

    def __str__(self) -> str:
        return f"slot<{self.element}>"


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """Several results of a call."""

    elements: tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"tuple<{','.join(map(str, self.elements))}>"
