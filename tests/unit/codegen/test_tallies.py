"""Buffers that a kernel only counts in: every call counts in copies of its own, and nobody can
tell.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i8, i32, i64, u8, u16, u32
from cubepy.codegen.llvm.tallies import tallied
from cubepy.errors import OutOfBoundsError
from tests.targets import on_targets

TARGETS = on_targets("cpu", "cpu:x86-64-v2+gang=4", "cpu:x86-64-v3+gang=16", "cpu+gang=64")
NAMES = {"u8": "uint8", "i16": "int16", "u32": "uint32", "i64": "int64"}
OPERATIONS = {"add": np.add, "sub": np.subtract, "or_": np.bitwise_or, "xor": np.bitwise_xor}


def counting(operation: str, element: str) -> Any:
    """A kernel in which every third unit sits out."""
    names: dict[str, Any] = {
        "cb": cb,
        "Array": cb.Array,
        "i32": cb.i32,
        element: getattr(cb, element),
    }
    text = f"""
@cb.cube
def kernel(places: Array[i32], values: Array[{element}], counts: Array[{element}]):
    i = cb.ABSOLUTE_POS
    if i % 3 != 1:
        cb.atomic_{operation}(counts, places[i], values[i])
"""
    cb.exec(text, names)
    return names["kernel"]


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("element", ["u8", "i16", "u32", "i64"])
def test_counts(element: str, operation: str, device: str) -> None:
    random = np.random.default_rng(len(element) + len(operation))
    kernel, type = counting(operation, element), np.dtype(NAMES[element])
    for units, bins in ((0, 7), (1, 1), (100, 3), (5000, 9), (5000, 2047), (3000, 9000)):
        places = random.integers(-3, bins + 3, units, np.int32)  # some are outside
        info = np.iinfo(type)
        values = random.integers(info.min, info.max, units, type, endpoint=True)
        counts = random.integers(info.min, info.max, bins, type, endpoint=True)
        wanted = counts.copy()
        inside = (places >= 0) & (places < bins) & (np.arange(units) % 3 != 1)
        OPERATIONS[operation].at(wanted, places[inside], values[inside])
        kernel.over(units, device=device)(places, values, counts)
        np.testing.assert_array_equal(counts, wanted)


@cb.cube
def places_of_every_kind(x: Array[u8], y: Array[i8], z: Array[u16], counts: Array[u32]) -> None:
    """Subscripts that their types or their last operation keep small, and some that are not."""
    i = cb.ABSOLUTE_POS
    cb.atomic_add(counts, x[i], 1)
    cb.atomic_add(counts, y[i], 10)
    cb.atomic_add(counts, z[i], 100)
    cb.atomic_add(counts, z[i] & 255, 1_000)
    cb.atomic_add(counts, (z[i] + x[i]) % 77, 10_000)
    if x[i] > 9:
        cb.atomic_add(counts, x[i], 100_000)


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("bins", [0, 1, 77, 200, 256, 2048])
def test_small_places_beside_short_and_long_buffers(bins: int, device: str) -> None:
    random = np.random.default_rng(bins)
    units = 20_000
    x, y, z = (random.integers(0, 1 << 16, units).astype(t) for t in ("u1", "i1", "u2"))
    kept = np.full(bins + 2, 5, np.uint32)
    places_of_every_kind.over(units, device=device)(x, y, z, kept[1:-1])
    wanted = np.zeros(1 << 16, np.uint32)
    wide = z.astype(np.int64)
    sums = (z + x.astype(np.uint16)) % np.uint16(77)
    for places, weight in ((x, 1), (y[y >= 0], 10), (wide, 100), (wide & 255, 1_000),
                           (sums, 10_000), (x[x > 9], 100_000)):  # fmt: skip
        wanted += (np.bincount(places, minlength=1 << 16) * weight).astype(np.uint32)
    np.testing.assert_array_equal(kept[1:-1], wanted[:bins] + np.uint32(5))
    assert kept[0] == kept[-1] == 5


@cb.cube
def counted_by_whole_cubes(x: Array[i32], counts: Array[u32], odd: Array[u32]) -> None:
    """A cube of 200 units in step is a wide gang, of which some lanes are off."""
    unit = cb.UNIT_POS
    share = cb.shared(i32, 200)
    share[unit] = x[cb.ABSOLUTE_POS]
    cb.sync_cube()
    seen = share[199 - unit]
    cb.atomic_add(counts, seen, 1)
    if seen % 2 == 1:
        cb.atomic_sub(odd, seen, u32(unit))


@pytest.mark.parametrize("device", TARGETS)
def test_whole_cubes_count(device: str) -> None:
    x = np.random.default_rng(8).integers(-2, 60, 200 * 7, dtype=np.int32)
    counts, odd = np.zeros(50, np.uint32), np.zeros(50, np.uint32)
    counted_by_whole_cubes.launch(x, counts, odd, cube_count=7, cube_dim=200, device=device)
    inside = (x >= 0) & (x < 50)
    np.testing.assert_array_equal(counts, np.bincount(x[inside], minlength=50))
    units = 199 - np.arange(x.size) % 200
    counted = inside & (x % 2 == 1)
    wanted = np.zeros(50, np.uint32)
    np.subtract.at(wanted, x[counted], units[counted].astype(np.uint32))
    np.testing.assert_array_equal(odd, wanted)


@cb.cube
def plain(x: Array[u8], counts: Array[u32]) -> None:
    cb.atomic_add(counts, x[cb.ABSOLUTE_POS], 1)


@cb.cube
def numbered(x: Array[u8], counts: Array[u32], first: Array[u32]) -> None:
    first[cb.ABSOLUTE_POS] = cb.atomic_add(counts, x[cb.ABSOLUTE_POS], 1)


@cb.cube
def looked_at(x: Array[u8], counts: Array[u32]) -> None:
    cb.atomic_add(counts, x[cb.ABSOLUTE_POS], counts[0])


@cb.cube
def mixed(x: Array[u8], counts: Array[u32]) -> None:
    cb.atomic_add(counts, x[cb.ABSOLUTE_POS], 1)
    cb.atomic_max(counts, x[cb.ABSOLUTE_POS], 7)


@cb.cube
def summed(x: Array[u8], out: Array[i64]) -> None:
    cb.atomic_add(out, 0, i64(x[cb.ABSOLUTE_POS]))
    cb.atomic_sub(out, 1, i64(x[cb.ABSOLUTE_POS]))


def test_only_buffers_that_nobody_looks_at() -> None:
    x, counts = np.zeros(9, np.uint8), np.zeros(256, np.uint32)
    first = np.zeros(9, np.uint32)

    def found(kernel: Any, *arguments: Any) -> int:
        return len(tallied(kernel.over(9).inspect(*arguments).stages.optimized))

    assert found(plain, x, counts) == 1
    assert found(summed, x, np.zeros(2, np.int64)) == 1
    assert found(numbered, x, counts, first) == 0
    assert found(looked_at, x, counts) == 0
    assert found(mixed, x, counts) == 0
    both = np.zeros(64, np.uint8)
    assert found(plain, both, both.view(np.uint32)) == 0  # it reads what it counts in


@pytest.mark.parametrize("size", [1, 31, 1 << 20])
def test_histogram_of_many_and_of_few(size: int) -> None:
    x = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    counts = np.full(256, 5, np.uint32)
    for times in range(1, 4):
        plain.over(size)(x, counts)
        np.testing.assert_array_equal(counts, 5 + times * np.bincount(x, minlength=256))
    total = np.zeros(2, np.int64)
    summed.over(size)(x, total)
    assert total.tolist() == [int(x.sum(dtype=np.int64)), -int(x.sum(dtype=np.int64))]


def test_validate_still_reports() -> None:
    with pytest.raises(OutOfBoundsError):
        plain.over(4, check="validate")(np.full(4, 9, np.uint8), np.zeros(9, np.uint32))
