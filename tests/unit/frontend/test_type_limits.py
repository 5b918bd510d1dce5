"""Comparisons that types decide are warned of, exactly those; so are positions a launch lacks."""

import operator
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeWarning

TYPES = ("u8", "i8", "u16", "u32", "i32", "u64", "i64")
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def defined(body: str, header: str = "x: Array[{T}], out: Array[i32]", T: str = "u32") -> Any:
    namespace: dict[str, Any] = {}
    lines = "\n    ".join(body.format(T=T).splitlines())
    cb.exec(
        f"""
import cubepy as cb
from cubepy import *

@cb.cube
def kernel({header.format(T=T)}):
    i = cb.ABSOLUTE_POS
    {lines}
""",
        namespace,
    )
    return namespace["kernel"]


def warned(run: Callable[[], object]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run()
    assert all(each.category is CubeWarning for each in found)
    return [str(each.message) for each in found]


def numpy_type(T: str) -> np.dtype[Any]:
    return np.dtype({"u": "uint", "i": "int"}[T[0]] + T[1:])


@pytest.mark.parametrize("T", TYPES)
@pytest.mark.parametrize("mirrored", ["", "mirrored"])
def test_what_no_value_changes_is_warned_of(T: str, mirrored: str) -> None:
    """Every value that could make a difference is tried, against Python's own comparison."""
    info = np.iinfo(numpy_type(T))
    low, high = int(info.min), int(info.max)
    values = [low, low + 1, high // 2, high - 1, high]
    bounds = (low - 1, low, low + 1, high - 1, high, high + 1)
    cases = [(symbol, bound) for symbol in OPERATORS for bound in bounds]
    texts = [f"{n} {symbol} x[i]" if mirrored else f"x[i] {symbol} {n}" for symbol, n in cases]
    body = "\n".join(f"out[{row}, i] = 1 if {text} else 0" for row, text in enumerate(texts))
    kernel = defined(body, "x: Array[{T}], out: Tensor[i32]", T=T)
    x, out = np.array(values, numpy_type(T)), np.zeros((len(cases), len(values)), np.int32)
    found = warned(lambda: kernel.over(x.size)(x, out))
    said = {re.findall(r"out\[(\d+), i\]", each)[0]: each for each in found}
    for number, ((symbol, bound), row) in enumerate(zip(cases, out, strict=True)):
        compare = OPERATORS[symbol]
        answers = [compare(bound, v) if mirrored else compare(v, bound) for v in values]
        assert row.tolist() == [int(each) for each in answers]
        warning = said.pop(str(number), None)
        assert (warning is None) == (len(set(answers)) == 2), texts[number]
        if warning is not None:
            assert f"is always {str(answers[0]).lower()}, because {T}" in warning
            assert "^" in warning
            assert "\n  help: " in warning
    assert not said


@pytest.mark.parametrize(
    "body",
    [
        "out[i] = 1 if 0 <= x[i] < 5 else 0",
        "out[i] = 1 if 0 < x[i] else 0",
        "out[i] = 1 if x[i] >= 1 else 0",
        "out[i] = 1 if i32(x[i]) < 0 else 0",
        "out[i] = 1 if x[i] == 0 or x[i] > 4 else 0",
    ],
)
def test_what_makes_sense_is_not(body: str) -> None:
    kernel = defined(body)
    x, out = np.zeros(3, np.uint32), np.zeros(3, np.int32)
    assert not warned(lambda: kernel.over(3)(x, out))


def test_a_function_for_several_types_is_left_alone() -> None:
    namespace: dict[str, Any] = {}
    cb.exec(
        """
from typing import TypeVar
import cubepy as cb
from cubepy import Array, i32, u32, Int

T = TypeVar("T", bound=Int)

def below(v):
    return v < 0

def under(v: T) -> bool:
    return v < 0

@cb.cube
def kernel(x: Array[u32], y: Array[i32], out: Array[i32]):
    i = cb.ABSOLUTE_POS
    if below(x[i]) or below(y[i]) or under(x[i]) or under(y[i]):
        out[i] = 1
    out[i] = i32(cb.sign(x[i])) + i32(abs(x[i]))
""",
        namespace,
    )
    x, out = np.zeros(3, np.uint32), np.zeros(3, np.int32)
    assert not warned(lambda: namespace["kernel"].over(3)(x, out, out.copy()))


def test_a_difference_below_zero_is_told_to_compare_its_parts() -> None:
    kernel = defined("if x[i] - 1 < 0:\n    out[i] = 1")
    x, out = np.zeros(3, np.uint32), np.zeros(3, np.int32)
    (said,) = warned(lambda: kernel.over(3)(x, out))
    assert "compare x[i] with 1, or convert before: i64(x[i]) - 1" in said


HEADER = "out: Tensor[i32]"


@pytest.mark.parametrize(
    ("shape", "body", "missing"),
    [
        ((8,), "out[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X] = 1", ["ABSOLUTE_POS_Y"]),
        ((8,), "out[cb.UNIT_POS_Y, cb.UNIT_POS_Z] = 1", ["UNIT_POS_Y", "UNIT_POS_Z"]),
        ((2, 4), "out[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X] = 1", []),
        ((2, 4), "out[cb.ABSOLUTE_POS_Z, cb.ABSOLUTE_POS_X] = 1", ["ABSOLUTE_POS_Z"]),
        ((1, 2, 4), "out[cb.ABSOLUTE_POS_Z, cb.CUBE_POS_Y] = 1", []),
        ((8,), "out[cb.CUBE_POS_Y * cb.CUBE_DIM_Y + cb.UNIT_POS_Y, i] = 1", []),
        ((8,), "for y in range(cb.ABSOLUTE_POS_Y, 4, cb.CUBE_COUNT_Y):\n    out[y, i] = 1", []),
    ],
)
def test_a_position_along_an_axis_that_a_launch_lacks(
    shape: tuple[int, ...], body: str, missing: list[str]
) -> None:
    kernel = defined(body, HEADER)
    out = np.zeros((4, 8), np.int32)
    said = warned(lambda: kernel.over(shape)(out))
    assert [line.split(" is 0 in every unit")[0] for line in said] == missing
    assert all("\n  help: launch kernel.over((" in each for each in said)
    assert not warned(lambda: kernel.launch(out, cube_count=(1, 2), cube_dim=(4, 2)))
