"""Source text: an `if` with nothing but another in it is one test, where that one is quick."""

import re
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i32

numbers = np.zeros(100, np.int32)
BOTH = ("opencl", "wgsl")


def text_of(kernel: Any, target: str, *more: int) -> str:
    """Of a launch that names its cubes, so that no guard of the launch is in it."""
    text: str = (
        kernel.launcher(2, 64, check="unchecked").inspect(numbers, *more, target=target).text
    )
    return text


@cb.cube
def nested(x: Array[i32], low: i32, high: i32) -> None:
    i = cb.ABSOLUTE_POS
    value = x[i]
    if value > low:  # noqa: SIM102
        if value < high:
            bound = high - low
            if (value != 7) | (low == bound):
                x[i] = value * 2


@pytest.mark.parametrize("target", BOTH)
def test_quick_conditions_are_one(target: str) -> None:
    text = text_of(nested, target, 0, 10)
    (condition,) = re.findall(r"if \((.*)\) \{", text[text.index("if value > low") :])[:1]
    assert "value" in condition
    assert " & " in condition
    assert "&&" not in text
    for line in ("if value > low:.*", "if value < high:"):
        assert re.search(rf"// \d+: {line}", text)


@cb.cube
def guarded(x: Array[i32], end: i32) -> None:
    i = cb.cast(i32, cb.ABSOLUTE_POS)
    if i < end:  # noqa: SIM102
        if i * 3 + 1 < end:
            x[i] = 1


@pytest.mark.parametrize("target", BOTH)
def test_what_is_computed_for_the_inner_one_stays_behind_the_outer(target: str) -> None:
    text = text_of(guarded, target, 10)
    behind = text[text.index("if i < end") :]
    assert "&" not in behind
    assert len(re.findall(r"if \(.*\) \{", behind)) == 2


@cb.cube
def with_other_ways(x: Array[i32], low: i32) -> None:
    i = cb.ABSOLUTE_POS
    if i > low:
        if i > 7:
            x[i] = x[i + 1]
        else:
            x[i] = x[i + 2]
    elif i < 7:  # noqa: SIM102
        if low < 5:
            x[i] = x[i + 3]


@pytest.mark.parametrize("target", BOTH)
def test_ifs_with_an_else_are_not_joined(target: str) -> None:
    text = text_of(with_other_ways, target, 10)
    behind = text[text.index("if i > low") :]
    assert behind.count("else") == 2
    assert "&" not in behind
