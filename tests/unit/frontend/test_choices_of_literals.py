"""Choices between literals alone are stored into any element they all fit, as literals are."""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeError, CubeTypeError

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


C = "x[i] > 2"
# What stores 100 or 3 to {o}, an element of type {T}.
CHOICES = [
    f"{{o}} = cb.select({C}, 100, 3)",
    f"{{o}} = cb.select({C}, 100 if x[i] > 0 else 7, 3)",
    f"{{o}} = 100 if {C} else (5 if x[i] > 99 else 3)",
    f"{{o}} = 100 if {C} else cb.select(x[i] > 99, 5, 3)",
    f"{{o}} = min(100 if {C} else 3, 127)",
    f"{{o}} = max(cb.select({C}, 100, 0), 3)",
    f"{{o}} = cb.clamp(100 if {C} else 0, 3, 101)",
    f"{{o}} = cb.clamp(100, 5, 100) if {C} else min(4, 3)",
    f"{{o}} = (100, 1)[0] if {C} else (3, 1)[0]",
    f"{{o}} = ((100, 1) if {C} else (3, 2))[0]",
    f"{{o}}, b = (100, 1) if {C} else (3, 2)",
    f"c: {{T}} = cb.select({C}, 100, 3); {{o}} = c",
    f"d: {{T}} = 100 if {C} else 3; {{o}} = d",
    f"e: {{T}} = min(100 if {C} else 3, 101); {{o}} = e",
    f"{{o}} = typed(100 if {C} else 3)",
    f"{{o}} = typed(v=cb.select({C}, 100, 3))",
    f"{{o}} = Pair(100 if {C} else 3, 1).a",
    f"{{o}} = Pair(cb.select({C}, 100, 3), 1).a",
    f"{{o}} = returned({C}, 100)",
    f"{{o}} = returned_early({C}, 100)",
    f"{{o}} = first_of_two({C}, 100)[0]",
    f"{{o}} = cb.insert(Vector[{{T}}, 2](0, 0), 1, 100 if {C} else 3)[1]",
]
HELPERS = """
@cb.struct
class Pair:
    a: {T}
    b: {T}

def typed(v: {T}) -> {T}:
    return v

def returned(c, a: Comptime[int | float]) -> {T}:
    return a if c else 3

def returned_early(c, a: Comptime[int | float]) -> {T}:
    if c:
        return cb.select(c, a, 7)
    return 3

def first_of_two(c, a: Comptime[int | float]) -> tuple[{T}, {T}]:
    return a if c else 3, cb.select(c, 1, 2)
"""


def all_stored(T: str, choices: list[str], device: str = "cpu") -> np.ndarray[Any, Any]:
    """A row for each choice."""
    lines = [each.format(o=f"out[{row}, i]", T=T) for row, each in enumerate(choices)]
    namespace: dict[str, Any] = {}
    cb.exec(
        "import cubepy as cb\n"
        f"from cubepy import Array, Comptime, Tensor, Vector, i32, {T}\n"
        f"{HELPERS.format(T=T)}\n"
        f"@cb.cube\ndef kernel(x: Array[i32], out: Tensor[{T}]):\n    i = cb.ABSOLUTE_POS\n    "
        + "\n    ".join(lines),
        namespace,
    )
    out = np.full((len(choices), X.size), 77, numpy_type(T))
    namespace["kernel"].over(X.size, device=device)(X, out)
    return out


@pytest.mark.parametrize("name", ["u8", "i8", "u16", "i64", "u64", "f16", "f32", "f64"])
def test_choices_of_every_kind(name: str) -> None:
    for device in ("reference", "cpu"):
        for choice, row in zip(CHOICES, all_stored(name, CHOICES, device), strict=True):
            assert np.array_equal(row, np.where(X > 2, 100, 3).astype(row.dtype)), choice


@pytest.mark.parametrize("choice", CHOICES)
def test_choices_that_do_not_fit(choice: str) -> None:
    for wrong in ("300", "-1", "2.5"):
        with pytest.raises(CubeError):
            all_stored("u8", [choice.replace("100", wrong)])


def test_floats_are_rounded_once() -> None:
    """In f16 as literals are: by way of f32 some would be rounded twice."""
    near = 1.0 + 2.0**-11 + 2.0**-30  # f32 puts it in the middle between two of f16
    choices = [f"{{o}} = {near} if {C} else 3.0", f"{{o}} = cb.select({C}, {near}, 3.0)",
               f"{{o}} = max({near} if {C} else 3.0, 0.1)"]  # fmt: skip
    for device in ("reference", "cpu"):
        for name in ("f16", "f64"):
            for row in all_stored(name, choices, device):
                assert np.array_equal(row, np.where(X > 2, near, 3.0).astype(row.dtype))


def test_parts_of_a_tuple_have_types_of_their_own() -> None:
    found = stored("f64", f"0\n    n, v = (1, 0.1) if {C} else (2, 0.7)\n    n += i32(x[i])\n"
                   "    out[i] = v\n    if n > 10:\n        out[i] = 0.2")  # fmt: skip
    wanted = np.where(X > 2, 0.1, 0.7)
    assert np.array_equal(found, np.where(np.where(X > 2, 1, 2) + X > 10, 0.2, wanted))


@pytest.mark.parametrize(
    "expression",
    [
        "1.0 if x[i] > 2 else 0.0",
        "True if x[i] > 2 else False",
        "1 if x[i] > 2 else x[i]",
        "(1 if x[i] > 2 else 0) + 1",
        "cb.select(x[i] > 2, 1, 0) + 1",
        "cb.select(x[i] > 2, i32(1), i32(0))",
        "i32(1) if x[i] > 2 else i32(0)",
        "cb.select(x[i] > 2, 1, x[i])",
        "min(1 if x[i] > 2 else 0, x[i])",
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
