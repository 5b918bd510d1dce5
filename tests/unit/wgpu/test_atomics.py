"""Atomics on a wgpu device, by its own instructions where its probe found them: many units at the
same elements, elements seen as several types, and what is refused by name elsewhere.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, f32, f64, i32, i64, u32, u64
from cubepy.errors import UnsupportedError
from cubepy.runtime import device
from cubepy_wgpu import atomics_probe
from tests.same_bits import same_bits
from tests.wgpu_devices import NAME, needs_wgpu, wgpu_with, wrong_answers_are_found

pytestmark = needs_wgpu
UNITS = 1000
Numbers = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture
def longs() -> None:
    if not device(NAME).target.features.atomics_64:
        pytest.skip("the device has no atomics of 64 bits that compute as they should")


# ── 64 bits ─────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def gathered(
    values: Array[i64], signed: Array[i64], unsigned: Array[u64], seen: Array[i64]
) -> None:
    """Every function at elements where all units meet, in buffers and in memory of the cube."""
    inside = cb.shared(i64, 2)
    unit = cb.UNIT_POS
    if unit < 2:
        inside[unit] = -5
    cb.sync_cube()
    i = cb.ABSOLUTE_POS
    v, w = values[i], cb.bitcast(u64, values[i])
    cb.atomic_add(signed, 0, v)
    cb.atomic_sub(signed, 1, v)
    cb.atomic_min(signed, 2, v)
    cb.atomic_max(signed, 3, v)
    cb.atomic_and_(signed, 4, v | i64(unit))
    cb.atomic_or_(signed, 5, v & (v >> 1))
    cb.atomic_xor(signed, 6, v)
    cb.atomic_add(signed, 7, 1)
    cb.atomic_min(unsigned, 0, w)
    cb.atomic_max(unsigned, 1, w)
    seen[i] = cb.atomic_exchange(signed, 8, v)
    cb.atomic_add(signed, 99, v)  # outside
    cb.atomic_add(inside, 0, v)
    cb.atomic_max(inside, 1, v)
    cb.sync_cube()
    if unit == 0:
        cb.atomic_xor(unsigned, 2, cb.bitcast(u64, inside[0]))
        cb.atomic_max(signed, 9, inside[1])


@pytest.mark.usefixtures("longs")
def test_all_units_meet_at_elements_of_64_bits() -> None:
    random = np.random.default_rng(3)
    values = random.integers(-(1 << 63), 1 << 63, 1024)
    values >>= random.integers(0, 64, 1024)
    results = []
    for name in ("reference", NAME):
        signed = np.arange(10, dtype=np.int64) - (1 << 40)
        unsigned = np.full(3, 1 << 63, np.uint64)
        seen = np.zeros(1024, np.int64)
        gathered.launch(values, signed, unsigned, seen, cube_count=16, cube_dim=64, device=name)
        handed = np.sort([*seen, signed[8]])
        results.append(([*signed[:8], signed[9]], unsigned, handed))
    for expected, got in zip(*results, strict=True):
        np.testing.assert_array_equal(expected, got)


@cb.cube
def overlapping(whole: Array[i64], bits: Array[u64], numbers: Array[f64], out: Array[f64]) -> None:
    """The same memory as three types of 64 bits."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        cb.atomic_max(whole, i, i64(i) - 40)
        cb.atomic_min(whole, i, 50)
        cb.atomic_add(bits, i, 4607182418800017408)
        numbers[i] += 1.0
        cb.atomic_add(numbers, i, 0.5)
        cb.atomic_max(numbers, i, 1.25)
        out[i] = cb.atomic_exchange(numbers, i, numbers[i] * 3.0)


@pytest.mark.usefixtures("longs")
def test_memory_seen_as_several_types_of_64_bits() -> None:
    if not device(NAME).target.features.doubles:
        pytest.skip("the device has no f64 that computes as it should")
    results = []
    for name in ("reference", NAME):
        shared = np.arange(100, dtype=np.int64) * 3 - 150
        out = np.zeros(100)
        views = (shared, shared.view(np.uint64), shared.view(np.float64))
        overlapping.over(100, device=name)(*views, out)
        results.append((shared, out))
    for expected, got in zip(*results, strict=True):
        np.testing.assert_array_equal(expected.view(np.uint64), got.view(np.uint64))


@cb.cube
def swapped(x: Array[f64], expected: Array[f64], to: Array[u64], old: Array[f64]) -> None:
    i = cb.ABSOLUTE_POS
    old[i] = cb.atomic_compare_exchange(x, i, expected[i], f64(i))
    to[i] = cb.atomic_compare_exchange(to, i, to[i], u64(i)) + cb.atomic_load(to, i)


@pytest.mark.usefixtures("longs")
def test_values_are_compared_as_bits() -> None:
    if not device(NAME).target.features.doubles:
        pytest.skip("the device has no f64 that computes as it should")
    special = np.array([0.0, -0.0, np.nan, 1.0, np.inf, 5e-324])
    x, expected = (each.ravel() for each in np.meshgrid(special, special))
    results = []
    for name in ("reference", NAME):
        cells, to, old = x.copy(), np.arange(36, dtype=np.uint64) << 33, np.zeros(36)
        swapped.over(36, device=name)(cells, expected, to, old)
        results.append((cells, old, to))
    for wanted, got in zip(*results, strict=True):
        np.testing.assert_array_equal(wanted.view(np.uint64), got.view(np.uint64))


@cb.cube
def counted(x: Array[i64], words: Array[u32]) -> None:
    words[1] = 3
    cb.atomic_add(x, 0, 1)


@pytest.mark.usefixtures("longs")
def test_what_is_refused_by_name() -> None:
    x = np.zeros(4, np.int64)
    apart = np.zeros(4, np.uint32)
    with pytest.raises(UnsupportedError, match="no 64-bit atomics, which `atomic_add`"):
        counted.over(4, device=wgpu_with(atomics_64=False))(x, apart)
    with pytest.raises(UnsupportedError, match="where elements of other sizes overlap"):
        counted.over(4, device=NAME)(x, x.view(np.uint32))
    counted.over(4, device=NAME)(x, apart)
    assert x[0] == 4


# ── sums of floats ──────────────────────────────────────────────────────────────────────────────


@cb.cube
def summed(x: Array[f32], totals: Array[f32], each: Array[f32], old: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(x):
        cb.atomic_add(totals, i % 3, 1.0)
        cb.atomic_sub(totals, 3, 0.5)
        each[i] = 2.0 * x[i]
        cb.atomic_add(each, i, x[i ^ 1])
        cb.atomic_sub(each, i, x[0])
        old[i] = cb.atomic_exchange(each, i, cb.atomic_load(each, i) * 0.5)


@cb.cube
def largest(x: Array[f32], most: Array[f32]) -> None:
    cb.atomic_max(most, 0, x[cb.ABSOLUTE_POS])
    cb.atomic_add(most, 1, 1.0)


def floats() -> Numbers:
    random = np.random.default_rng(6)
    bits = random.integers(0, 1 << 32, UNITS, dtype=np.uint32).view(np.float32)
    bits[::2] = random.normal(size=bits[::2].size)
    bits[:6] = (0.0, -0.0, 1e-45, np.inf, np.nan, -1e-40)
    return bits


@pytest.mark.parametrize("by", ["instruction", "exchange"])
def test_sums_of_floats_are_rounded_as_the_table_says(by: str) -> None:
    on = device(NAME) if by == "instruction" else wgpu_with(float_sums=False)
    x, results = floats(), []
    for where in (device("reference"), on):
        totals, each, old = np.zeros(4, np.float32), np.zeros_like(x), np.zeros_like(x)
        summed.over(x.size, device=where)(x, totals, each, old)
        results.append((totals, each, old))
    for expected, got in zip(*results, strict=True):
        same = same_bits(got, expected)
        assert same.all(), (x[~same][:4], expected[~same][:4], got[~same][:4])


def test_sums_take_the_devices_own_where_nothing_else_touches_the_memory() -> None:
    if not device(NAME).target.features.float_sums:
        pytest.skip("the device has no atomic sums of floats that compute as they should")
    x = floats()
    target = device(NAME).target
    given = (x, np.zeros(4, np.float32), x.copy(), x.copy())
    assert "atomic<f32>" in summed.over(x.size).inspect(*given, target=target).text
    text = largest.over(x.size).inspect(x, x.copy(), target=target).text
    assert "atomic<f32>" not in text
    most = np.zeros(2, np.float32)
    largest.over(500, device=NAME)(np.linspace(-1, 1, 500, dtype=np.float32), most)
    assert most.tolist() == [1.0, 500.0]


@cb.cube
def shifted(x: Array[i32], bits: Array[u32], old: Array[i32]) -> None:
    i = cb.ABSOLUTE_POS
    old[i] = cb.atomic_add(x, i, -7) + cb.atomic_max(x, i, -3) + cb.atomic_min(x, i, 20)
    cb.atomic_max(bits, i, 5)


def test_integers_in_words_keep_their_order() -> None:
    results = []
    for name in ("reference", NAME):
        x, old = np.arange(-60, 60, dtype=np.int32), np.zeros(120, np.int32)
        shifted.over(120, device=name)(x, x.view(np.uint32), old)
        results.append((x, old))
    for expected, got in zip(*results, strict=True):
        np.testing.assert_array_equal(expected, got)


# ── the probe ───────────────────────────────────────────────────────────────────────────────────

MISTAKES = {
    "longs": (("a[i] / b[i]", "a[i] / (b[i] + 1lu)"), (">> 32u) |", ">> 31u) |")),
    "atomics_64": (
        ("atomicMin(&out[5]", "atomicMax(&out[5]"),
        ("atomicMax(&out[6]", "atomicOr(&out[6]"),
        ("atomicExchange(&out[7], value)", "value"),
        ("seen + value)", "seen | value)"),
        ("atomicMin(&met[1]", "atomicMax(&met[1]"),
    ),
    "float_sums": (
        ("atomicAdd(&out[1u + i], b[i])", "atomicAdd(&out[1u + i], b[i] * 1.0000001)"),
        ("atomicSub", "atomicAdd"),
        ("atomicAdd(&out[0], 1.0)", "atomicStore(&out[0], atomicLoad(&out[0]) + 1.0)"),
    ),
}


@pytest.mark.parametrize(
    ("finding", "right", "wrong"),
    [(finding, *pair) for finding, pairs in MISTAKES.items() for pair in pairs],
)
def test_a_device_with_wrong_answers_is_found_out(
    finding: str, right: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = {"longs": "_ON_LONGS", "atomics_64": "_ON_CELLS", "float_sums": "_ON_SUMS"}[finding]
    wrong_answers_are_found(
        atomics_probe.atomics_found, finding, (atomics_probe, name), (right, wrong), monkeypatch
    )
