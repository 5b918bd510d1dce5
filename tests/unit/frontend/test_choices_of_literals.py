"""Conditional expressions of two literals are stored into any element both fit, as literals are."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeTypeError

TYPES = ("u8", "i8", "u16", "i16", "i64", "f16")
PAIRS = ((127, -128), (255, 0), (-32768, 32767), (-1, 1), (256, 3))
X = np.arange(-5, 16, dtype=np.int32)


def numpy_type(name: str) -> np.dtype[Any]:
    return np.dtype({"u": "uint", "i": "int", "f": "float"}[name[0]] + name[1:])


def stored(name: str, expression: str, device: str = "cpu") -> np.ndarray[Any, Any]:
    namespace: dict[str, Any] = {}
    cb.exec(
        f"""
import cubepy as cb
from cubepy import Array, Comptime, i32, {name}

def pick(c, a: Comptime[int], b: Comptime[int]):
    return a if c else b

@cb.cube
def kernel(x: Array[i32], out: Array[{name}]):
    i = cb.ABSOLUTE_POS
    out[i] = {expression}
""",
        namespace,
    )
    out = np.full(X.size, 77, numpy_type(name))
    namespace["kernel"].over(X.size, device=device)(X, out)
    return out


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_what_fits_as_a_literal_fits_as_a_choice(name: str, pair: tuple[int, int]) -> None:
    dtype = numpy_type(name)
    fits = dtype.kind == "f" or all(
        np.iinfo(dtype).min <= each <= np.iinfo(dtype).max for each in pair
    )
    expression = f"{pair[0]} if x[i] > 2 else {pair[1]}"
    if not fits:
        with pytest.raises(CubeTypeError, match="cannot store"):
            stored(name, expression)
        return
    for device in ("reference", "cpu"):
        found = stored(name, expression, device)
        assert np.array_equal(found, np.where(X > 2, *pair).astype(dtype)), device


@pytest.mark.parametrize(
    "expression",
    [
        "1.0 if x[i] > 2 else 0.0",
        "True if x[i] > 2 else False",
        "1 if x[i] > 2 else x[i]",
        "(1 if x[i] > 2 else 0) + 1",
        "pick(x[i] > 2, 300, 0)",
    ],
)
def test_other_values_need_their_cast(expression: str) -> None:
    with pytest.raises(CubeTypeError, match="cannot store"):
        stored("u8", expression)


def test_each_turn_of_an_unrolled_loop_has_literals_of_its_own() -> None:
    with pytest.raises(CubeTypeError, match="cannot store"):
        stored("u8", "0\n    for k in cb.unroll((1, 300)):\n        out[i] = k if x[i] > 2 else 0")
    body = "0\n    for k in cb.unroll((1, 200)):\n        out[i] = k if x[i] > 2 else 0"
    found = stored("u8", body)
    assert np.array_equal(found, np.where(X > 2, 200, 0))
