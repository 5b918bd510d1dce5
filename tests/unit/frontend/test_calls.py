"""Functions in kernels: cubepy's, Python's own, named tuples, methods; against NumPy and Python."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, f32, frontend, i8, i32, ir, u8, u32
from cubepy.errors import ComptimeError


def run(kernel: Any, *arguments: Any, units: int = 1) -> None:
    cb.cube(kernel).launch(*arguments, cube_count=1, cube_dim=units, device="reference")


def ops_of(kernel: Any, *arguments: Any, **options: Any) -> list[str]:
    source = frontend.capture(kernel, options=tuple(options.items()))
    bound = source.signature.bind(*arguments).arguments
    found = frontend.specialize(source, bound, frontend.LaunchOptions())
    return [op.opdef.name for op in ir.walk(frontend.lower(source, found).body)]


def test_integer_functions() -> None:
    def kernel(x: Array[i32], b: Array[u8], out: Tensor[i32], bits: Tensor[u32]) -> None:
        i = cb.ABSOLUTE_POS
        out[i, 0] = cb.cdiv(x[i], 5)
        out[i, 1] = cb.clamp(x[i], -3, 40)
        quotient, rest = divmod(x[i], -7)
        out[i, 2] = 1000 * quotient + rest
        out[i, 3] = min(x[i], 9, -x[i]) + max(x[i], 2)
        bits[i, 0] = cb.rotl(u32(x[i]), 7)
        bits[i, 1] = cb.rotr(b[i], 3)
        bits[i, 2] = u32(cb.rotl(x[i], 33))
        bits[i, 3] = u32(abs(x[i]) + round(x[i]))

    x = np.array([-36, -1, 0, 7, 100], np.int32)
    b = np.array([1, 2, 0x81, 255, 8], np.uint8)
    out, bits = np.zeros((5, 4), np.int32), np.zeros((5, 4), np.uint32)
    run(kernel, x, b, out, bits, units=5)
    for row, found, value, byte in zip(
        out.tolist(), bits.tolist(), x.tolist(), b.tolist(), strict=True
    ):
        assert row[:2] == [-(-value // 5), min(max(value, -3), 40)]
        assert row[2] == 1000 * (value // -7) + value % -7
        assert row[3] == min(value, 9, -value) + max(value, 2)
        word = value % 2**32
        assert found[0] == (word << 7 | word >> 25) % 2**32
        assert found[1] == (byte >> 3 | byte << 5) % 256
        assert found[2] == (word << 1 | word >> 31) % 2**32
        assert found[3] == (abs(value) + value) % 2**32


class Pair(NamedTuple):
    first: Any
    second: Any = 10.0


@dataclasses.dataclass(frozen=True)
class Affine:
    scale: float
    shift: float

    def apply(self, value: Any) -> Any:
        return value * self.scale + self.shift


AFFINE = Affine(2.0, 0.25)


def test_named_tuples_methods_and_sequences() -> None:
    def swapped(pair: Any) -> Any:
        return Pair(pair.second, pair.first)

    def kernel(x: Array[f32]) -> None:
        pair = swapped(Pair(second=x[1], first=x[0]))
        x[2] = pair.first - Pair(x[0]).second
        x[3] = AFFINE.apply(x[0])
        total = 0.0
        for k, (weight, at) in enumerate(zip((1.0, 2.0), (0, 1), strict=True)):
            total += weight * x[at] + k
        x[4] = total + sum((x[0], x[1], 0.5))
        x[5] = cb.comptime(sum(k * k for k in range(4)))
        for k in reversed((6, 7)):
            x[k] = len((1, 2, 3)) * k

    x = np.array([3, 5, 0, 0, 0, 0, 0, 0], np.float32)
    run(kernel, x)
    assert x.tolist() == [3, 5, -5, 6.25, 3 + 10 + 1 + 8.5, 14, 18, 21]


def test_private_arrays_start_filled() -> None:
    def kernel(x: Array[f32]) -> None:
        table = cb.local_array(f32, (2, 3), fill=x[0])
        table[1, 2] += 1.0
        table[0][1] = 5.0
        total = 0.0
        for row in range(2):
            for column in range(3):
                total += table[row, column]
        x[1] = total

    x = np.array([2, 0], np.float32)
    run(kernel, x)
    assert x[1] == 2 * 5 + 1 + 5


def test_atomics_give_the_old_value() -> None:
    def kernel(x: Array[f32], n: Tensor[i32], old: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        cb.atomic_max(x, 0, f32(i))
        old[i] = cb.atomic_add(n, (0, 1), 2)
        if i == 0:
            cb.atomic_store(n, (1, 0), 7)
            n[1, 1] = cb.atomic_load(n, (1, 0)) + cb.atomic_exchange(n, (1, 2), 4)
            n[0, 2] = cb.atomic_compare_exchange(n, (0, 0), 0, 9, order="acq_rel")
            n[0, 2] += cb.atomic_compare_exchange(n, (0, 0), 0, 5)

    x, n, old = np.zeros(1, np.float32), np.zeros((2, 3), np.int32), np.zeros(6, np.int32)
    n[1, 2] = 30
    run(kernel, x, n, old, units=6)
    assert x[0] == 5
    assert sorted(old.tolist()) == [0, 2, 4, 6, 8, 10]
    assert n.tolist() == [[9, 12, 9], [7, 37, 4]]


def test_plane_operations_with_where() -> None:
    def kernel(x: Array[f32], out: Tensor[f32]) -> None:
        lane = cb.UNIT_POS_PLANE
        value = x[cb.UNIT_POS]
        chosen = lane % 2 == 0
        at = cb.UNIT_POS
        out[at, 0] = cb.plane_sum(value, where=chosen)
        out[at, 1] = cb.plane_max(value, where=chosen)
        out[at, 2] = cb.plane_min(value, where=False)
        out[at, 3] = f32(cb.plane_all(value > 1.0, where=chosen))
        out[at, 4] = f32(cb.plane_any(value > 1.0, where=lane == 0))
        out[at, 5] = cb.plane_shuffle_xor(value, 1)
        out[at, 6] = cb.plane_broadcast(value, i8(2))
        out[at, 7] = f32(cb.plane_ballot(value > 2.0))

    x = np.array([2, 1, 3, 0], np.float32)
    out = np.zeros((4, 8), np.float32)
    run(kernel, x, out, units=4)
    rows = [[5, 3, np.inf, 1, 1, x[at ^ 1], 3, 4] for at in range(4)]
    assert out.tolist() == [[float(value) for value in row] for row in rows]


@pytest.mark.parametrize(
    ("body", "fused"),
    [
        (lambda x: cb.atomic_exchange(x, 0, x[0] * x[1] + x[2]), 1),
        (lambda x: cb.atomic_exchange(x, 0, x[0] * x[1] - x[2]), 1),
        (lambda x: cb.atomic_exchange(x, 0, x[2] - x[0] * x[1]), 1),
        (lambda x: cb.atomic_exchange(x, 0, x[0] * x[1] + x[2] * x[3]), 1),
        (lambda x: cb.atomic_exchange(x, 0, x[0] + x[1]), 0),
        (lambda x: cb.atomic_exchange(x, 0, (x[0] + x[1]) * x[2]), 0),
    ],
)
def test_contract_fuses_products_into_sums_as_they_are_written(body: Any, fused: int) -> None:
    x = np.array([1 + 2.0**-12, 1 + 2.0**-12, 1, 3], np.float32)
    assert ops_of(body, x).count("fma") == 0
    assert ops_of(body, x, contract=True).count("fma") == fused


def test_contract_rounds_once() -> None:
    @cb.cube(contract=True)
    def kernel(x: Array[f32]) -> None:
        product = x[0] * x[1]
        x[3] = product - x[2]  # not a product as written
        x[2] = x[0] * x[1] - x[2]
        x[2] += x[0] * x[1]

    start = np.array([1 + 2.0**-12, 1 + 2.0**-12, 1, 0], np.float32)
    x = start.copy()
    kernel.launch(x, cube_count=1, cube_dim=1, device="reference")
    exact = (1 + 2.0**-12) ** 2
    assert x[3] == start[0] * start[1] - start[2]
    first = np.float32(exact - 1)
    assert x[2] == np.float32(exact + float(first))


def test_assertions_while_compiling() -> None:
    def kernel(x: Array[f32], taps: cb.Comptime[int]) -> None:
        cb.static_assert(taps > 2, f"{taps} taps are too few")
        cb.static_assert(x.ndim == 1, "one axis")
        x[0] = f32(taps)

    x = np.zeros(1, np.float32)
    run(kernel, x, 3)
    assert x[0] == 3
    with pytest.raises(ComptimeError, match="2 taps are too few"):
        run(kernel, x, 2)
