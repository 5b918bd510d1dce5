"""Kernels and helpers for several types: type variables, their bounds, types as arguments."""

import sys
from typing import Any, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, f64, i32
from cubepy.errors import ArgumentError, CubeTypeError

# mypy: disable-error-code="misc, arg-type, type-var, operator"

F = TypeVar("F", bound=cb.Float)
N = TypeVar("N", bound=cb.Number)
I = TypeVar("I", bound=cb.Int)  # noqa: E741
U = TypeVar("U", bound=cb.UInt)
Wide = TypeVar("Wide", f64, i32)
Exact = TypeVar("Exact", bound=cb.f64)
Any_ = TypeVar("Any_")

DTYPES = (np.float16, np.float32, np.float64, np.int8, np.int32, np.uint8, np.uint64)


@cb.cube
def number(x: Array[N], factor: N, out: Array[N]) -> None:
    out[0] = x[0] * factor + N(1) + cb.cast(N, 2)


@cb.cube
def anything(x: Array[Any_], y: Array[Any_], out: Array[Any_]) -> None:
    out[0] = x[0] + y[0]


@cb.cube
def unsigned(x: Array[U], out: Array[U]) -> None:
    out[0] = ~x[0]


@cb.cube
def whole(x: Array[I], out: Array[I]) -> None:
    out[0] = x[0] // I(2)


@cb.cube
def wide(x: Array[Wide], out: Array[Wide]) -> None:
    out[0] = x[0] + x[0]


@cb.cube
def exact(x: Array[Exact], out: Array[Exact]) -> None:
    out[0] = x[0] + x[0]


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_type_follows_the_arrays(target: str, dtype: Any) -> None:
    out = np.zeros(1, dtype)
    number.over(1, device=target)(np.array([3], dtype), 2, out)
    assert out[0] == 9
    anything.over(1, device=target)(np.array([3], dtype), np.array([4], dtype), out)
    assert out[0] == 7
    with pytest.raises(ArgumentError, match="argument 'y': expected an array of"):
        anything.over(1, device=target)(np.zeros(1, dtype), np.zeros(1, np.int16), out)


@pytest.mark.parametrize(
    ("kernel", "fitting", "wrong", "message"),
    [
        (unsigned, np.uint16, np.int32, "U is bound by UInt, got i32"),
        (unsigned, np.uint8, np.float32, "U is bound by UInt, got f32"),
        (whole, np.int8, np.float32, "I is bound by Int, got f32"),
        (whole, np.uint64, np.bool_, "I is bound by Int, got bool"),
        (wide, np.float64, np.float32, "Wide is one of f64, i32, got f32"),
        (wide, np.int32, np.int64, "Wide is one of f64, i32, got i64"),
        (exact, np.float64, np.float32, "Exact is bound by f64, got f32"),
    ],
)
def test_bounds_and_constraints(kernel: Any, fitting: Any, wrong: Any, message: str) -> None:
    kernel.over(1)(np.zeros(1, fitting), np.zeros(1, fitting))
    with pytest.raises(ArgumentError, match=message):
        kernel.over(1)(np.zeros(1, wrong), np.zeros(1, wrong))


def test_types_are_comptime_arguments() -> None:
    @cb.cube
    def convert(x: Array[f32], T: Comptime[Any], out: Array[f64]) -> None:
        i = cb.ABSOLUTE_POS
        total = T(0)
        for k in range(i + 1):
            total += T(x[k])
        out[i] = f64(cb.cast(T, total))

    x, out = np.array([1.75, 100, 60], np.float32), np.zeros(3)
    for T in (cb.i8, cb.u8, cb.f16, cb.f64, np.int32, np.dtype("int8"), np.float32, float, int):
        convert.over(3)(x, T, out)
        scalar = cb.frontend.scalar_of(T)
        assert scalar is not None
        numpy_type = scalar.numpy
        with np.errstate(all="ignore"):
            expected = np.cumsum(x.astype(numpy_type), dtype=numpy_type)
        np.testing.assert_array_equal(out, expected.astype(np.float64))


def test_helpers_settle_their_own_variables() -> None:
    def first(a: F, b: F) -> Any:
        return a * b + F(0.1)

    def by_array(v: F, x: Array[F]) -> Any:
        return v * x[0]

    @cb.cube
    def kernel(x: Array[f32], y: Array[f64], out: Array[f64]) -> None:
        out[0] = first(x[0], 3.0)
        out[1] = first(y[0], x[0])
        out[2] = by_array(x[0], y)
        total = 0.5
        out[3] = first(total, y[0])

    x, y, out = np.array([0.1], np.float32), np.array([0.1]), np.zeros(4)
    kernel.over(1, device="reference")(x, y, out)
    narrow = np.float32(0.1)
    assert out[0] == narrow * np.float32(3) + narrow
    assert out[1] == 0.1 * float(narrow) + 0.1
    assert out[2] == float(narrow) * 0.1
    assert out[3] == 0.5 * 0.1 + 0.1


def test_a_helper_refuses_what_its_variable_cannot_be() -> None:
    def only_floats(a: F) -> Any:
        return a

    def only_whole(x: Array[I]) -> Any:
        return x[0]

    def one(x: Array[i32]) -> None:
        x[0] = only_floats(x[0])

    def two(x: Array[f32]) -> None:
        x[0] = only_whole(x)

    with pytest.raises(CubeTypeError, match="argument 'a': F is bound by Float, got i32"):
        cb.cube(one).over(1)(np.zeros(1, np.int32))
    with pytest.raises(CubeTypeError, match="argument 'x': I is bound by Int, got f32"):
        cb.cube(two).over(1)(np.zeros(1, np.float32))


NEW_SYNTAX = """
{future}
import cubepy as cb
from cubepy import Array, Vector

@cb.struct
class Complex[F: cb.Float]:
    re: F
    im: F

    def half(self):
        return Complex[F](self.re * F(0.5), self.im * F(0.5))

def more[T](x: T) -> T:
    return x + T(1)

@cb.cube
def kernel[F: cb.Float](
    x: Array[F], s: F, z: Complex[F], v: Vector[F, 2], out: Array[F]
) -> None:
    i = cb.ABSOLUTE_POS
    q: F = 0.25
    out[i] = more(x[i]) * s + z.half().im + v[1] + cb.cast(F, 3) + F(0.5) + q
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters are written so from 3.12")
@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_type_parameters_of_new_pythons(future: str, dtype: Any) -> None:
    namespace: dict[str, Any] = {}
    cb.exec(NEW_SYNTAX.format(future=future), namespace)
    x, out = np.arange(4).astype(dtype), np.zeros(4, dtype)
    z = namespace["Complex"](1.0, 4.0)
    for target in ("reference", "cpu"):
        namespace["kernel"].over(4, device=target)(x, 2.0, z, (5.0, 7.0), out)
        np.testing.assert_array_equal(out, (x + 1) * 2 + 2 + 7 + 3 + 0.75)
    with pytest.raises(ArgumentError, match="F is bound by Float, got i32"):
        namespace["kernel"].over(1)(np.zeros(1, np.int32), 2, z, (5, 7), np.zeros(1, np.int32))
