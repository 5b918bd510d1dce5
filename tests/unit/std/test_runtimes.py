"""Library functions inside kernels: the same bits on every device as the sources on NumPy."""

from __future__ import annotations

from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor
from cubepy.std import LARGEST_ERROR
from tests.same_bits import same_bits
from tests.unit.std import measure, numpy_kernels, samples

UNARY = tuple(sorted(measure.REFERENCES))
FUNCTIONS = tuple(getattr(cb, name) for name in UNARY)
DEVICES = ("reference", "cpu")
F = TypeVar("F", bound=cb.Float)


@cb.cube
def apply_all(functions: cb.Comptime[Any], x: Array[F], out: Tensor[F]) -> None:
    """Row n of `out` is function n of `x`."""
    i = cb.ABSOLUTE_POS
    for n in cb.unroll(range(len(functions))):
        out[n, i] = functions[n](x[i])


@cb.cube
def apply_to_pairs(
    function: cb.Comptime[Any], first: Array[F], second: Array[F], out: Array[F]
) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = function(first[i], second[i])


def mixed(dtype: Any) -> Any:
    """Neighbours of every kind, so that gangs hold ordinary and huge arguments side by side."""
    if dtype == np.float32:
        x = samples.every_exponent_f32(4, seed=3)
    else:
        x = samples.spread_f64("sin", 500, seed=3)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)
    near = np.random.default_rng(5).uniform(-12, 12, 2000).astype(dtype)
    x = np.concatenate([x, special, near])
    return np.random.default_rng(4).permutation(x)[:-3]  # no whole number of gangs


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("type", ["f32", "f64"])
def test_unary_functions_have_the_same_bits_on_every_device(type: str, device: str) -> None:
    x = mixed(np.float32 if type == "f32" else np.float64)
    out = np.zeros((len(UNARY), x.size), x.dtype)
    apply_all.over(x.size, device=device)(FUNCTIONS, x, out)
    wrong = [
        name
        for row, name in enumerate(UNARY)
        if not same_bits(out[row], numpy_kernels.function(name, type)(x)).all()
    ]
    assert wrong == []


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize("name", sorted(measure.REFERENCES_OF_TWO))
def test_functions_of_two_have_the_same_bits_on_every_device(
    name: str, type: str, device: str
) -> None:
    first, second = samples.pairs(name, np.float32 if type == "f32" else np.float64, 500)
    out = np.zeros_like(first)
    apply_to_pairs.over(first.size, device=device)(getattr(cb, name), first, second, out)
    assert same_bits(out, numpy_kernels.function(name, type)(first, second)).all()


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_half_functions_at_every_argument(type: str) -> None:
    """The largest error of all is the stated one; half a unit and what the f32 result adds."""
    dtype = np.dtype(np.float16 if type == "f16" else ml_dtypes.bfloat16)
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    out = np.zeros((len(UNARY), x.size), dtype)
    apply_all.over(x.size, device="cpu")(FUNCTIONS, x, out)
    for row, name in enumerate(UNARY):
        with np.errstate(all="ignore"):
            exact = measure.REFERENCES[name](x.astype(np.float64))
        errors = measure.errors_half(out[row].astype(np.float64), exact, type)
        stated = LARGEST_ERROR[name][type]
        assert stated - 0.001 < errors.max() <= stated, (name, x[np.argmax(errors)])


def half_operands(name: str, type: str) -> list[Any]:
    """Numbers of any bits; the exponents of `pow` small, for other powers are 0 or infinite."""
    dtype = np.dtype(np.float16 if type == "f16" else ml_dtypes.bfloat16)
    random = np.random.default_rng(6)
    operands = [*random.integers(0, 1 << 16, (2, 200_000), np.uint16).view(dtype)]
    if name == "pow":
        operands[1] = random.uniform(-9, 9, 200_000).astype(dtype)
    with np.errstate(invalid="ignore"):  # of NaN that signal
        return [np.where(np.isnan(operand), dtype.type(np.nan), operand) for operand in operands]


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize("name", sorted(measure.REFERENCES_OF_TWO))
def test_half_functions_of_two(name: str, type: str) -> None:
    operands = half_operands(name, type)
    out = np.zeros_like(operands[0])
    apply_to_pairs.over(out.size, device="cpu")(getattr(cb, name), *operands, out)
    with np.errstate(all="ignore"):
        exact = measure.REFERENCES_OF_TWO[name](*(part.astype(np.float64) for part in operands))
    errors = measure.errors_half(out.astype(np.float64), exact, type)
    stated = LARGEST_ERROR[name][type]
    assert stated - 0.001 < errors.max() <= stated, [part[np.argmax(errors)] for part in operands]
