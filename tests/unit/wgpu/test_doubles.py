"""f64 on a wgpu device whose probe found it: what the table says, and a refusal where it is not."""

import zlib
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f16, f32, f64, i32, i64, u8
from cubepy.errors import UnsupportedError
from cubepy.ir import Trait, ops
from cubepy.runtime import TargetedDevice, device
from cubepy.testing import Case, cases_of, check_case, rows
from tests.same_bits import same_on_both
from tests.wgpu_devices import NAME, needs_wgpu, wgpu_with

pytestmark = needs_wgpu
Numbers = np.ndarray[Any, np.dtype[Any]]
# A driver builds each for a second or more; some are below, bit by bit.
LEFT_OUT = ("atomic_", "plane_", "cast", "fma", "fmod", "floor_div", "floor_mod")


@pytest.fixture(autouse=True)
def doubles() -> None:
    if "f64" not in device(NAME).target.features.types:
        pytest.skip("the device has no f64 that computes as it should")


def of_doubles(row: str, plane_dim: int) -> list[Case]:
    """A case of the row, the same one every time, with f64 in it."""
    known = [case for case in cases_of(row, plane_dim) if "f64" in case.name]
    return sorted(known, key=lambda case: zlib.crc32(case.name.encode()))[:1]


def library(row: str) -> bool:
    return ops.BY_NAME[row].has(Trait.LIBRARY)


def chosen() -> list[str]:
    """Rows that have a case with f64."""
    return [
        row
        for row in rows()
        if not row.startswith(LEFT_OUT) and not library(row) and of_doubles(row, 8)
    ]


@pytest.mark.parametrize("row", chosen())
def test_rows_of_doubles_are_what_the_table_says(row: str) -> None:
    cases = of_doubles(row, device(NAME).target.features.plane_dim)
    failures = [failure for case in cases for failure in check_case(case, device(NAME))]
    assert not failures, "\n".join(map(str, failures[:20]))


# ── the same bits as the reference ──────────────────────────────────────────────────────────────


@cb.cube
def tempting(x: Array[f64], y: Array[f64], z: Array[f64], out: cb.Tensor[f64]) -> None:
    """What compilers of shaders rewrite, and what is done in integers."""
    i = cb.ABSOLUTE_POS
    a, b = x[i], y[i]
    out[0, i] = (a + b) - a
    out[1, i] = a * 0.0 + a / a
    out[2, i] = a * 3.0 * 5.0
    out[3, i] = a * b + a
    out[4, i] = (a + 6755399441055744.0) - 6755399441055744.0
    out[5, i] = cb.fma(a, b, z[i])
    out[6, i] = a / b + cb.sqrt(abs(a)) * 1.0
    out[7, i] = cb.fmod(a, b)
    out[8, i] = a // b
    out[9, i] = a % b
    out[10, i] = round(a)
    out[11, i] = cb.floor(a) + cb.ceil(b) * cb.trunc(z[i])
    out[12, i] = max(min(a, b), cb.fmin(b, z[i]))
    out[13, i] = cb.select(a != a, 1.0, 2.0)  # noqa: PLR0124


@cb.cube
def converted(x: Array[f64], to: cb.Tensor[i64], out: cb.Tensor[f64]) -> None:
    i = cb.ABSOLUTE_POS
    a = x[i]
    to[0, i] = i64(a)
    to[1, i] = cb.bitcast(i64, a)
    to[2, i] = i64(i32(a)) + i64(u8(a))
    to[3, i] = i64(cb.bitcast(cb.i64, cb.u64(a)))
    out[0, i] = f64(f32(a))
    out[1, i] = f64(f16(a))
    out[2, i] = f64(to[1, i])
    out[3, i] = f64(cb.bitcast(cb.u64, a))
    out[4, i] = cb.bitcast(f64, to[1, i] + 1)
    out[5, i] = f64(cb.bf16(a))


def operands(count: int, seed: int) -> Numbers:
    """Bits by chance, ordinary numbers, integers, special ones."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 1 << 64, count, dtype=np.uint64)
    special = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1e308, 2.0**63])
    near = random.uniform(-2, 2, count) * 2.0 ** random.integers(-2, 70, count)
    halves = random.integers(-9, 9, count) / 2
    chosen = random.choice(special, count)
    return random.permutation(np.concatenate([bits.view(np.float64), near, halves, chosen]))


def test_doubles_have_the_bits_of_the_reference() -> None:
    given = [operands(400, seed) for seed in (3, 4, 5)]
    with np.errstate(all="ignore"):
        given[2][::3] = -(given[0] * given[1])[::3]  # sums that cancel
    same_on_both(tempting, given, [np.zeros((14, given[0].size))], device(NAME))


def test_conversions_have_the_bits_of_the_reference() -> None:
    given = [operands(600, 6)]
    size = given[0].size
    made = [np.zeros((4, size), np.int64), np.zeros((6, size))]
    same_on_both(converted, given, made, device(NAME))


@cb.cube
def grown(x: Array[f64], out: Array[f64]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = cb.exp(x[i])


def test_a_function_of_the_library_is_within_its_bound() -> None:
    x = np.random.default_rng(8).uniform(-700, 700, 3000)
    out = np.zeros(3000)
    grown.over(3000, device=NAME)(x, out)
    np.testing.assert_array_max_ulp(out, np.exp(x), 2)


@cb.cube
def together(x: Array[f64], scale: f64, words: Array[i64], out: Array[f64]) -> None:
    """Doubles as a scalar, in memory of the cube, in planes, seen as other types."""
    shared = cb.shared(f64, 64)
    own = cb.local_array(f64, 2)
    unit = cb.UNIT_POS
    own[0], own[1] = x[cb.ABSOLUTE_POS], scale
    shared[63 - unit] = own[0] * own[1]
    cb.sync_cube()
    total = cb.plane_sum(shared[unit]) + cb.cube_uniform(shared[5])
    out[cb.ABSOLUTE_POS] = total + f64(words[cb.ABSOLUTE_POS] >> 52)


def test_doubles_go_through_all_memories() -> None:
    results = []
    for name in (f"reference:{device(NAME).target.features.plane_dim}", NAME):
        x = np.random.default_rng(1).normal(size=128)
        out = np.zeros(128)
        together.launch(x, 0.1, x.view(np.int64), out, cube_count=2, cube_dim=64, device=name)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])


def without_doubles() -> TargetedDevice:
    types = device(NAME).target.features.types
    return wgpu_with(doubles=False, types=types - {"f64"})


def test_a_device_without_them_refuses_by_name() -> None:
    subject, x = without_doubles(), np.zeros(8)
    with pytest.raises(UnsupportedError, match="the device has no f64"):
        together.launch(x, 0.1, x.view(np.int64), x, cube_count=1, cube_dim=64, device=subject)


@cb.cube
def divided(a: Array[i64], b: Array[i64], out: cb.Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    out[0, i] = a[i] // b[i]
    out[1, i] = a[i] % b[i]
    out[2, i] = a[i] * b[i]
    out[3, i] = cb.bitcast(i64, cb.bitcast(cb.u64, a[i]) // cb.bitcast(cb.u64, b[i]))
    out[4, i] = cb.mul_hi(a[i], b[i])


def test_integers_of_64_bits_are_the_same_with_and_without_doubles() -> None:
    random = np.random.default_rng(4)
    a, b = random.integers(-(1 << 63), 1 << 63, (2, 1000))
    b[::2] >>= random.integers(0, 64, 500)
    a[:4], b[:4] = -(1 << 63), (-1, 0, 1, 2)
    results = []
    for where in (device("reference"), device(NAME), without_doubles()):
        out = np.zeros((5, 1000), np.int64)
        divided.over(1000, device=where)(a, b, out)
        results.append(out)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
