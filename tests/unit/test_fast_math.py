"""`fast_math`: each flag changes the code it is for, and neither other code nor the library.

The library's sums are written to round in a certain way; flags are for what the kernel says itself.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, bf16, f16, f32, f64, i32, i64, u8
from tests.unit.std import measure

FLAGS = ("afn", "arcp", "contract", "ninf", "nnan", "nsz", "reassoc")
INF = math.inf
F = TypeVar("F", bound=cb.Float)
TARGET = "cpu:x86-64-v3"


@cb.cube(fast_math=())
def strictly(function: cb.Comptime[Any], x: Array[F], y: Array[F], out: Array[F]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = function(x[i], y[i])


def kernel_with(flags: Any) -> Any:
    """`strictly` with flags."""

    @cb.cube(fast_math=flags)
    def loosely(function: cb.Comptime[Any], x: Array[F], y: Array[F], out: Array[F]) -> None:
        i = cb.ABSOLUTE_POS
        out[i] = function(x[i], y[i])

    return loosely


@functools.cache
def loose() -> Any:
    return kernel_with(True)


# The function; the flag; what the code has many of without and none of with it, or the reverse.
CASES: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "afn": (lambda a, b: cb.sqrt(a), "", "vrsqrtps"),
    "arcp": (lambda a, b: a / 3.0, "vdivps", ""),
    "contract": (lambda a, b: a * b + a, "vaddps", "vfmadd"),
    "ninf": (lambda a, b: cb.select(a == INF, b, a), "vcmp", ""),
    "nnan": (lambda a, b: cb.select(a != a, b, a), "vcmp", ""),  # noqa: PLR0124
    "nsz": (lambda a, b: a + 0.0, "vaddps", ""),
    "reassoc": (lambda a, b: a * 3.0 * 5.0, "", ""),
}
# LLVM takes a root's approximation, which it multiplies with the operand, only without infinity.
BESIDE = {"afn": ("ninf",)}


@functools.cache
def instructions(name: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """The mnemonics of a case's machine code, in order."""
    x = np.ones(64, np.float32)
    stages = kernel_with(flags).over(64).inspect(CASES[name][0], x, x, x.copy(), target=TARGET)
    return tuple(re.findall(r"^\t([a-z]\w+)", stages.asm, re.M))


@pytest.mark.parametrize("flag", FLAGS)
def test_a_flag_changes_the_code_it_is_for(flag: str) -> None:
    beside = BESIDE.get(flag, ())
    before, after = instructions(flag, beside), instructions(flag, (*beside, flag))
    _, gone, come = CASES[flag]
    assert before != after
    for code, without, some in ((before, come, gone), (after, gone, come)):
        assert not without or not any(word.startswith(without) for word in code)
        assert not some or any(word.startswith(some) for word in code)


@pytest.mark.parametrize("name", FLAGS)
def test_no_other_flag_changes_it(name: str) -> None:
    before = instructions(name, ())
    changing = {flag for flag in FLAGS if instructions(name, (flag,)) != before}
    assert changing <= {name}


def test_reassociation_adds_in_another_order() -> None:
    def telescope(a: Any, b: Any) -> Any:
        return (a + b) - a

    x, y = np.full(8, 2.0**30, np.float32), np.full(8, 1.0, np.float32)
    results = []
    for kernel in (strictly, kernel_with(["reassoc", "nsz"])):
        out = np.zeros_like(x)
        kernel.over(8, device="cpu")(telescope, x, y, out)
        results.append(set(out.tolist()))
    assert results == [{0.0}, {1.0}]


@cb.cube(fast_math={"afn", "arcp", "contract", "nsz", "reassoc"})
def what_no_flag_may_change(x: Array[f32], y: Array[f32], out: Tensor[f64]) -> None:
    """Values that are neither sums nor products: all flags but those for NaN and infinity."""
    i = cb.ABSOLUTE_POS
    a, b = x[i], y[i]
    out[0, i] = f64(cb.isnan(a))
    out[1, i] = f64(cb.isinf(a))
    out[2, i] = f64(cb.isfinite(a))
    out[3, i] = f64(a != a)  # noqa: PLR0124 (true for NaN)
    out[4, i] = f64(a < b)
    out[5, i] = f64(a >= b)
    out[6, i] = f64(a == b)
    out[7, i] = f64(i32(a))
    out[8, i] = f64(u8(b))
    out[9, i] = f64(i64(a) >> 3)
    out[10, i] = f64(f16(a))
    out[11, i] = f64(bf16(a))
    out[12, i] = f64(f16(f64(a) * 0.1))
    out[13, i] = f64(cb.fma(f16(a), f16(b), f16(b)))
    out[14, i] = cb.floor(a)
    out[15, i] = round(a)
    out[16, i] = a % b
    out[17, i] = a // b
    out[18, i] = cb.fmod(a, b)
    out[19, i] = f64(not (a < b))
    out[20, i] = f64(cb.bool_(a))
    out[21, i] = f64(f32(i) + 3.0)


def wild() -> Any:
    bits = np.random.default_rng(11).integers(0, 1 << 32, 1500, np.uint32).view(np.float32)
    near = np.random.default_rng(12).uniform(-300, 300, 1500).astype(np.float32)
    special = np.array([0.0, -0.0, INF, -INF, math.nan, 0.5, 1.5, 2.5, 1e-40], np.float32)
    return np.concatenate([bits, near, np.tile(special, 9), np.repeat(special, 9)])


def same(got: Any, wanted: Any) -> Any:
    """Whether the values are the same, any NaN for a NaN, zeros of either sign."""
    return (got == wanted) | (np.isnan(got) & np.isnan(wanted))


def test_tests_conversions_and_exact_functions_keep_their_meaning() -> None:
    x = wild()
    y = np.roll(x, 5)
    results = []
    for device in ("reference", "cpu"):
        out = np.zeros((22, x.size))
        what_no_flag_may_change.over(x.size, device=device)(x, y, out)
        results.append(out)
    wrong = ~same(results[1], results[0])
    assert not wrong.any(), np.argwhere(wrong)[:5]
    assert {0.0, 1.0} == set(results[0][0]) == set(results[0][3])


DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


def of_first(function: Any) -> Callable[[Any, Any], Any]:
    """The function of the first of two operands."""
    return lambda a, _: function(a)


ONE = {name: getattr(cb, name) for name in sorted(measure.REFERENCES)}
LIBRARY: dict[str, Callable[[Any, Any], Any]] = {
    **{name: of_first(function) for name, function in ONE.items()},
    **{name: getattr(cb, name) for name in sorted(measure.REFERENCES_OF_TWO)},
    "frexp": lambda a, b: cb.frexp(a)[0],
    "ldexp": lambda a, b: cb.ldexp(a, 3),
}
FLAGGED = re.compile(rf"\b(?:{'|'.join(FLAGS)})\b")


@pytest.mark.parametrize("type", DTYPES)
@pytest.mark.parametrize("name", sorted(LIBRARY))
def test_library_functions_are_compiled_without_flags(name: str, type: str) -> None:
    """So they are the same code, within the same error, in every mode."""
    x = np.ones(64, DTYPES[type])
    llvm = loose().over(64).inspect(LIBRARY[name], x, x, x.copy(), target=TARGET).llvm
    assert re.search(r"= f(add|mul|sub|cmp|div) ", llvm)
    assert not FLAGGED.search(llvm)


def test_flags_beside_a_library_function_stay() -> None:
    def both(a: Any, b: Any) -> Any:
        return cb.exp(a) * b + a

    x = np.ones(64, np.float32)
    llvm = loose().over(64).inspect(both, x, x, x.copy(), target=TARGET).llvm
    flagged = [line for line in llvm.splitlines() if FLAGGED.search(line)]
    assert {re.findall(r"= (\w+)", line)[0] for line in flagged} == {"fmul", "fadd"}


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "pow"])
def test_library_results_are_the_same_bits_under_all_flags(name: str) -> None:
    x = wild()
    y = np.roll(x, 5)
    results = []
    for kernel in (strictly, loose()):
        out = np.zeros_like(x)
        kernel.over(x.size, device="cpu")(LIBRARY[name], x, y, out)
        results.append(out.view(np.uint32))
    assert np.array_equal(*results)


@cb.cube(contract=True)
def contracted(a: Array[F], b: Array[F], c: Array[F], out: Tensor[F]) -> None:
    i = cb.ABSOLUTE_POS
    total = c[i]
    for _ in range(3):
        total += a[i] * b[i]  # type: ignore[assignment]
    out[0, i] = a[i] * b[i] + c[i]
    out[1, i] = a[i] * b[i] - c[i]
    out[2, i] = c[i] - a[i] * b[i]
    out[3, i] = total
    product = a[i] * b[i]
    out[4, i] = product - c[i]  # not a product as it is written


@pytest.mark.parametrize("type", DTYPES)
def test_contraction_gives_the_same_bits_on_every_target(type: str) -> None:
    dtype = DTYPES[type]
    random = np.random.default_rng(13)
    a, b = (random.uniform(-2, 2, 500).astype(dtype) for _ in range(2))
    c = -(a * b) + (random.integers(0, 3, 500) * 0.25).astype(dtype)
    results = {}
    for device in ("reference", "cpu", "cpu:x86-64-v2+gang=4"):
        out = np.zeros((5, 500), dtype)
        contracted.over(500, device=device)(a, b, c, out)
        results[device] = out
    wanted = results.pop("reference")
    for out in results.values():
        assert np.array_equal(out, wanted)
    if type != "f64":  # whose products need more than f64
        wide = a.astype(np.float64) * b.astype(np.float64) - c.astype(np.float64)
        assert np.array_equal(wanted[1], wide.astype(dtype))
        assert np.array_equal(wanted[2], (-wide).astype(dtype))
    assert not np.array_equal(wanted[1], wanted[4])
