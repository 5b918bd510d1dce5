"""Division of neighbours by one number, and of vectors of 64 bits: right, and said in few lines."""

from typing import Any, TypeVar

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array

T = TypeVar("T", bound=cb.Int)
COUNT = 70  # two gangs and an edge


@cb.cube
def along(start: T, divisor: T, out: Array[T], rest: Array[T]) -> None:
    i = cb.ABSOLUTE_POS
    value = start + cb.cast(out.dtype, i)
    out[i] = value // divisor
    rest[i] = value % divisor


@cb.cube
def apart(lhs: Array[T], rhs: Array[T], out: Array[T], rest: Array[T]) -> None:
    i = cb.ABSOLUTE_POS
    out[i] = lhs[i] // rhs[i]
    rest[i] = lhs[i] % rhs[i]


def expected(lhs: Any, rhs: Any, dtype: Any) -> tuple[Any, Any]:
    """Python's own integers, of which the width is cut off; by 0 is 0."""
    pairs = [
        (int(a) // int(b), int(a) % int(b)) if b else (0, 0) for a, b in zip(lhs, rhs, strict=True)
    ]
    bits = 8 * np.dtype(dtype).itemsize
    words = np.array([[v % (1 << bits) for v in pair] for pair in pairs], f"u{bits // 8}")
    return words[:, 0].view(dtype), words[:, 1].view(dtype)


def divisors(dtype: Any) -> list[int]:
    info = np.iinfo(dtype)
    near = [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 69, 100, info.max, info.max - 1]
    return near + [-n for n in (1, 2, 7, 8, 9, 64, 100)] * (info.min < 0) + [int(info.min)]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64])
def test_neighbours_by_one_number(dtype: Any) -> None:
    info = np.iinfo(dtype)
    starts = [0, 5, int(info.max) - 69, int(info.max) - 20, int(info.min), 1 << 30]
    starts += [-3, -70, -1000] if info.min < 0 else []
    for start in starts:
        with np.errstate(over="ignore"):
            values = np.arange(COUNT).astype(dtype) + dtype(start)
        for divisor in divisors(dtype):
            out, rest = np.zeros(COUNT, dtype), np.zeros(COUNT, dtype)
            along.over(COUNT)(dtype(start), dtype(divisor), out, rest)
            quotients, remainders = expected(values, [divisor] * COUNT, dtype)
            np.testing.assert_array_equal(out, quotients, f"{start} // {divisor}")
            np.testing.assert_array_equal(rest, remainders, f"{start} % {divisor}")


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_vectors_of_64_bits(dtype: Any) -> None:
    info = np.iinfo(dtype)
    some = [0, 1, 2, 3, 5, 100, int(info.max), int(info.max) - 1, int(info.min), 1 << 40]
    some += [-1, -2, -3, -(1 << 40)] if info.min < 0 else []
    lhs, rhs = (each.ravel() for each in np.meshgrid(*[np.array(some, dtype)] * 2))
    out, rest = np.zeros_like(lhs), np.zeros_like(lhs)
    apart.over(lhs.size)(lhs, rhs, out, rest)
    quotients, remainders = expected(lhs, rhs, dtype)
    np.testing.assert_array_equal(out, quotients)
    np.testing.assert_array_equal(rest, remainders)


def wraps(uses: int) -> Any:
    lines = [f"s += x[(i + {k}) % len(x)]" for k in range(uses)]
    head = "def kernel(x: Array[f32], out: Array[f32]):"
    text = "\n    ".join([head, "i = cb.ABSOLUTE_POS", "s = 0.0", *lines, "out[i] = s"])
    names = cb.exec(f"import cubepy as cb\nfrom cubepy import Array, f32\n{text}", {})
    return cb.cube(names["kernel"])


@pytest.mark.parametrize("machine", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_a_subscript_that_wraps_takes_few_lines(machine: str) -> None:
    x = np.zeros(100, np.float32)
    few, many = (
        wraps(uses).over(100).inspect(x, x.copy(), target=f"cpu:{machine}").llvm.count(" = sdiv ")
        for uses in (2, 12)
    )
    assert (many - few) / 10 <= 8  # one for each vector of the gang, and one at the edges
    text = wraps(12).over(100).inspect(x, x.copy(), target=f"cpu:{machine}").llvm
    assert len(text.splitlines()) < 300 * 12
