"""On the CPU a library function works on whole vectors: no single floats, no calls."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array
from tests.unit.std import measure

F = TypeVar("F", bound=cb.Float)
SCALAR = re.compile(r"= (?:fneg|fadd|fsub|fmul|fdiv|frem|fcmp \w+|call) (?:float|double) ")


@cb.cube
def apply(function: cb.Comptime[Any], x: Array[F], out: Array[F]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i])


@cb.cube
def combine(function: cb.Comptime[Any], x: Array[F], y: Array[F], out: Array[F]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i], y[i])


def take_apart(x: Any) -> Any:
    significand, exponent = cb.frexp(x)
    return cb.ldexp(significand, exponent + 1)


ONE = {name: getattr(cb, name) for name in sorted(measure.REFERENCES)} | {"frexp": take_apart}
TWO = {name: getattr(cb, name) for name in sorted(measure.REFERENCES_OF_TWO)}


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", [*ONE, *TWO])
def test_no_lane_is_computed_alone(name: str, dtype: Any) -> None:
    x = np.zeros(1000, dtype)
    if name in ONE:
        stages = apply.over(x.size).inspect(ONE[name], x, x.copy(), target="cpu:x86-64-v4")
    else:
        y = x.copy()
        stages = combine.over(x.size).inspect(TWO[name], x, y, x.copy(), target="cpu:x86-64-v4")
    element = "float" if dtype == np.float32 else "double"
    assert re.search(rf"f(mul|add|div|sub) <(16|8) x {element}>", stages.llvm)
    assert not SCALAR.search(stages.llvm)
    if dtype == np.float32:  # machine code of one width is enough
        assert "call" not in re.findall(r"^\s+(\w+?)q?\s", stages.asm, re.M)
