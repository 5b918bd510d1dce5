"""Loops that read the same columns for every row: gangs of several rows, and copies of what they
read. Whole numbers are summed, so every right answer is the same to the bit.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32, i32, u8
from cubepy.errors import ConfigError
from tests.targets import on_targets

TARGETS = on_targets(
    "cpu", "cpu:x86-64-v2", "cpu:x86-64-v3", "cpu:x86-64-v3+without=staging",
    "cpu+without=facts", "cpu:x86-64-v3+without=facts", "cpu:x86-64-v3+without=facts,staging",
    "cpu:x86-64-v3+without=addresses",
)  # fmt: skip
# Rows, columns, trips: whole gangs, rows and columns left over, too few of each, no trips, many
# bands and strips, a copy that is too long.
SHAPES = [
    (12, 32, 8), (13, 37, 5), (5, 64, 9), (1, 1, 1), (40, 3, 7), (7, 16, 0), (0, 9, 4), (9, 0, 4),
    (400, 33, 3), (6, 16, 5000),
]  # fmt: skip


def whole(generator: np.random.Generator, *shape: int) -> Any:
    return generator.integers(-8, 9, shape).astype(np.float32)


@cb.cube
def product(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32]) -> None:
    column, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    if row < c.shape[0] and column < c.shape[1]:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, column]
        c[row, column] = total


@cb.cube
def unguarded(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32], trips: i32) -> None:
    """Nothing but the checked mode keeps reads and writes inside."""
    column, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0.0
    for k in range(trips):
        total += a[row, k] * b[k, column + 1]
    c[row, column] = total


@cb.cube
def two_tables(a: Tensor[u8], b: Tensor[u8], d: Tensor[i32], out: Tensor[i32], step: i32) -> None:
    """Two copies, small elements, a loop that goes down or in steps, subscripts that move on."""
    column, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0
    for k in range(d.shape[0] - 2, 0, -1):
        total += i32(a[row, k]) * i32(b[k + 1, column]) - d[d.shape[0] - 1 - k, column]
    for k in range(0, d.shape[0], step):
        total = max(total, d[k, column] + i32(a[row, k]))
    out[row, column] = total


@cb.cube
def stopped(a: Tensor[f32], b: Tensor[f32], limits: Array[f32], c: Tensor[f32]) -> None:
    """A loop that all units leave together, by what they read."""
    column, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0.0
    for k in range(a.shape[1]):
        if limits[k] > 0.0:
            break
        total += a[row, k] * b[k, column]
    c[row, column] = total


@cb.cube
def triangle(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32]) -> None:
    """Rows part: each makes its own number of trips."""
    column, row = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y
    total = 0.0
    for k in range(row + 1):
        total += a[row, k] * b[k, column]
    c[row, column] = total


@cb.cube
def batched(a: Tensor[f32], b: Tensor[f32], c: Tensor[f32]) -> None:
    column, row, layer = cb.ABSOLUTE_POS_X, cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_Z
    total = 0.0
    for k in range(a.shape[2]):
        total += a[layer, row, k] * b[layer, k, column]
    c[layer, row, column] = total


def decisions(launch: Any, *arguments: Any, target: str = "cpu:x86-64-v3") -> str:
    return " ".join(map(str, launch.inspect(*arguments, target=target).decisions))


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("shape", SHAPES)
def test_products(shape: tuple[int, int, int], device: str) -> None:
    rows, columns, trips = shape
    numbers = np.random.default_rng(sum(shape))
    a, b = whole(numbers, rows, trips), whole(numbers, trips, columns)
    c = np.full((rows, columns), np.nan, np.float32)
    product.over(c.shape, device=device)(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("device", TARGETS[:6])
@pytest.mark.parametrize("turn", ["a", "b", "bc", "abc"])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_views(turn: str, step: int, device: str) -> None:
    numbers = np.random.default_rng(step + 1)

    def view(name: str, rows: int, columns: int) -> Any:
        shape = (columns, rows) if name in turn else (rows, columns)
        held = whole(numbers, *(each * abs(step) for each in shape))
        seen = held[::step, ::step]
        return seen.T if name in turn else seen

    a, b, c = view("a", 45, 9), view("b", 9, 70), view("c", 45, 70)
    product.over(c.shape, device=device)(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("missing", ["nothing", "trips", "columns", "rows", "written"])
def test_what_lies_outside_reads_zero_and_is_not_written(missing: str, device: str) -> None:
    numbers = np.random.default_rng(5)
    rows, columns, trips = 300, 50, 9
    a = whole(numbers, rows - 100 * (missing == "rows"), trips)
    b = whole(numbers, trips - 3 * (missing == "trips"), columns + 1 - 20 * (missing == "columns"))
    kept = np.full((rows, columns), 77.0, np.float32)
    c = kept[:-120, :-21] if missing == "written" else kept
    unguarded.over((rows, columns), device=device)(a, b, c, np.int32(trips))
    padded_a, padded_b = np.zeros((rows, trips)), np.zeros((trips, columns + 1))
    padded_a[: len(a)] = a
    padded_b[: b.shape[0], : b.shape[1]] = b
    wanted = (padded_a @ padded_b)[:, 1:]
    np.testing.assert_array_equal(c, wanted[: c.shape[0], : c.shape[1]])
    if missing == "written":
        assert np.all(kept[-120:] == 77.0)
        assert np.all(kept[:, -21:] == 77.0)


@pytest.mark.parametrize("device", TARGETS)
@pytest.mark.parametrize("check", ["checked", "unchecked"])
@pytest.mark.parametrize("step", [1, 2, 5])
def test_loops_of_other_ranges(step: int, check: str, device: str) -> None:
    numbers = np.random.default_rng(step + 1)
    rows, columns, trips = 27, 75, 12
    a = numbers.integers(0, 256, (rows, trips), np.uint8)
    b = numbers.integers(0, 256, (trips, columns), np.uint8)
    d = numbers.integers(-(2**20), 2**20, (trips, columns), np.int32)
    out = np.zeros((rows, columns), np.int32)
    two_tables.over(out.shape, device=device, check=check)(a, b, d, out, np.int32(step))
    wide_a, wide_b = a.astype(np.int64), b.astype(np.int64)
    wanted = wide_a[:, 1:-1] @ wide_b[2:] - d[1:-1].sum(axis=0)
    sums = d[None, ::step, :] + wide_a[:, ::step, None]
    np.testing.assert_array_equal(out, np.maximum(wanted, sums.max(axis=1)))


@pytest.mark.parametrize("device", TARGETS)
def test_loops_that_end_early_and_rows_that_part(device: str) -> None:
    numbers = np.random.default_rng(9)
    a, b = whole(numbers, 30, 40), whole(numbers, 40, 50)
    limits, c = np.zeros(11, np.float32), np.zeros((30, 50), np.float32)
    limits[10] = 1.0  # what follows is not there, and nobody asks for it
    stopped.over(c.shape, device=device, check="validate")(a, b, limits, c)
    np.testing.assert_array_equal(c, a[:, :10] @ b[:10])
    triangle.over(c.shape, device=device)(a, b, c)
    np.testing.assert_array_equal(c, np.tril(a) @ b)


@pytest.mark.parametrize("device", TARGETS)
def test_layers_and_cubes_that_reach_over_the_array(device: str) -> None:
    numbers = np.random.default_rng(11)
    a, b = whole(numbers, 3, 17, 6), whole(numbers, 3, 6, 41)
    c = np.zeros((3, 17, 41), np.float32)
    batched.over(c.shape, device=device)(a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    flat = np.zeros((17, 41), np.float32)
    product.launch(a[0], b[0], flat, cube_count=(9, 7), cube_dim=(8, 4), device=device)
    np.testing.assert_array_equal(flat, a[0] @ b[0])


@pytest.mark.parametrize("device", TARGETS)
def test_a_product_written_over_its_own_factor(device: str) -> None:
    """What may lie in the way of writes is read where it lies: one row, so nobody else writes."""
    held = np.eye(40, dtype=np.float32)
    a = np.full((40, 40), 2.0, np.float32)
    product.over((1, 40), device=device)(a, held, held)
    assert held[0].tolist() == [2.0] * 40


def test_who_gets_several_rows() -> None:
    a, b, c = (np.zeros((64, 64), np.float32) for _ in range(3))
    text = decisions(product.over(c.shape), a, b, c)
    assert "6 rows of 2 vectors of 8" in text
    assert "copied side by side" in text
    assert "copied" not in decisions(product.over(c.shape), a, c, c)
    assert "rows of" not in decisions(triangle.over(c.shape), a, b, c)
    limits = np.zeros(64, np.float32)
    early = decisions(stopped.over(c.shape), a, b, limits, c)
    assert "6 rows of" in early
    assert "copied" not in early


def test_the_build_without_facts_copies_too() -> None:
    a, b, c = (np.zeros((64, 64), np.float32) for _ in range(3))
    general = decisions(product.over(c.shape), a, b, c, target="cpu:x86-64-v3+without=facts")
    assert "copied side by side" in general
    both = "cpu:x86-64-v3+without=facts,staging"
    assert "copied" not in decisions(product.over(c.shape), a, b, c, target=both)


@pytest.mark.parametrize(("machine", "lanes"), [("neoverse-n1", 4), ("x86-64-v4", 16)])
def test_machines_with_more_registers_hold_more_rows(machine: str, lanes: int) -> None:
    a, b, c = (np.zeros((64, 64), np.float32) for _ in range(3))
    seen = product.over(c.shape).inspect(a, b, c, target=f"cpu:{machine}")
    assert f"8 rows of 2 vectors of {lanes}" in " ".join(map(str, seen.decisions))
    assert "fmul" in seen.asm or "vmulps" in seen.asm


@pytest.mark.parametrize("width", ["0", "3", "many", "-8"])
def test_a_width_that_none_can_have_is_refused(width: str) -> None:
    a = np.zeros((8, 8), np.float32)
    with pytest.raises(ConfigError, match=f"gang={width}: a gang width is a power of two"):
        product.over(a.shape, device=f"cpu+gang={width}")(a, a, a.copy())
