"""What a specialization holds of arguments: types, stride classes, aliases, type variables."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, frontend, i32, ir, u8
from cubepy.errors import ArgumentError, CubeTypeError

F = TypeVar("F", bound=cb.Float)


def special(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    source = frontend.capture(function)
    bound = source.signature.bind(*arguments).arguments
    return frontend.specialize(source, bound, frontend.LaunchOptions(**options))


def kernel(
    x: Array[f32], t: Tensor[i32], n: i32, flag: cb.bool_, size: Comptime[int], free: Any
) -> None:
    x[0] = free


X = np.zeros(6, np.float32)
T = np.zeros((2, 3), np.int32)


def test_types_of_parameters() -> None:
    found = special(kernel, X, T, 1, True, 3, 2.5)
    assert found.kernel_parameters == ("x", "t", "n", "flag", "free")
    types = {name: str(type) for name, type in found.types}
    assert types["x"] == "global<f32, [1], unknown, 0>"
    assert types["t"] == "global<i32, [?,1], unknown, 1>"
    assert (types["n"], types["flag"], types["free"]) == ("i32", "bool", "f32")
    assert dict(found.values) == {"size": 3}


@pytest.mark.parametrize(
    ("value", "type"),
    [(1, "index"), (1.0, "f32"), (True, "bool"), (np.int8(1), "i8"), (np.float64(1), "f64")],
)
def test_scalars_without_annotation(value: Any, type: str) -> None:
    found = special(kernel, X, T, 1, True, 3, value)
    assert str(dict(found.types)["free"]) == type


@pytest.mark.parametrize(
    ("array", "classes"),
    [
        (np.zeros(5, np.int32)[None, ::2], "?/?"),
        (np.zeros((4, 5), np.int32).T, "1/?"),
        (np.zeros((4, 5), np.int32)[:, ::-1], "?/-1"),
        (np.broadcast_to(np.int32(1), (3, 4)), "0/0"),
        (np.broadcast_to(np.zeros(4, np.int32), (3, 4)), "0/1"),
        (np.zeros((1, 1), np.int32).T, "?/1"),
        (np.zeros((0, 4), np.int32), "?/1"),
        (np.zeros((4, 5), np.int32)[:1, 2:3], "?/1"),
    ],
)
def test_stride_classes(array: Any, classes: str) -> None:
    found = dict(special(kernel, X, array, 1, True, 3, 1).types)["t"]
    assert "/".join(stride.value for stride in found.strides) == classes


def test_sizes_make_no_difference_and_options_do() -> None:
    one = special(kernel, X, T, 1, True, 3, 1.0)
    other = special(kernel, np.zeros(99, np.float32), np.zeros((7, 9), np.int32), 5, False, 3, 2.0)
    assert one == other
    assert hash(one) == hash(other)
    assert one != special(kernel, X, T, 1, True, 4, 1.0)
    assert one != special(kernel, X, T, 1, True, 3, 1)
    assert one != special(kernel, X, T.T, 1, True, 3, 1.0)
    assert one != special(kernel, X, T, 1, True, 3, 1.0, cube_dim=(2, 1, 1))
    assert one != special(kernel, X, T, 1, True, 3, 1.0, check="unchecked")


def test_alias_classes_come_from_the_launch() -> None:
    found = special(kernel, X, T, 1, True, 3, X, alias=(("x", 0), ("free", 0)))
    aliases = {name: type.alias for name, type in found.types if isinstance(type, ir.BufferType)}
    assert aliases["x"] == aliases["free"] != aliases["t"]


def generic(x: Array[F], factor: F, out: Array[F]) -> None:
    out[0] = x[0] * factor + cb.cast(F, 0.1)  # type: ignore[misc]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_type_variables_follow_the_arrays(dtype: Any) -> None:
    x, out = np.full(1, 3, dtype), np.zeros(1, dtype)
    cb.cube(generic).over(1, device="reference")(x, 0.5, out)
    assert out[0] == dtype(1.5) + dtype(0.1)
    found = special(generic, x, 0.5, out)
    assert dict(found.types)["factor"] == ir.scalar_of_numpy(np.dtype(dtype))


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((X.astype(np.float64), T, 1, True, 3, 1), "expected an array of f32, got f64"),
        ((X.reshape(2, 3), T, 1, True, 3, 1), "expected an array with 1 axis, got one with 2"),
        ((1.0, T, 1, True, 3, 1), "expected an array, got float"),
        ((np.float32(1), T, 1, True, 3, 1), "expected an array, got float32"),
        ((X, np.zeros((2, 2), "M8[s]"), 1, True, 3, 1), "kernels have no arrays of"),
        ((X, T, 1, True, [3], 1), "cannot be hashed"),
        ((X, T, 1, True, 3, {}), "cannot be hashed"),
    ],
)
def test_arguments_that_do_not_fit(arguments: tuple[Any, ...], match: str) -> None:
    with pytest.raises(ArgumentError, match=match):
        special(kernel, *arguments)


def test_type_variables_have_bounds_and_one_meaning() -> None:
    with pytest.raises(ArgumentError, match="F is bound by Float, got i32"):
        special(generic, T[0], 1, T[0])
    with pytest.raises(ArgumentError, match="expected an array of f32, got f64"):
        special(generic, X, 1.0, np.zeros(1))


def test_annotations_that_mean_nothing_are_refused() -> None:
    def odd(x: Array[f32], n: "list[int]") -> None:
        x[0] = 0.0

    def star(x: Array[f32], *rest: u8) -> None:
        x[0] = 0.0

    with pytest.raises(CubeTypeError, match="an annotation that kernels do not have"):
        special(odd, X, 1)
    with pytest.raises(CubeTypeError, match="name every parameter"):
        special(star, X)
