"""Vectors in kernels against NumPy arrays with an axis of elements, on every runtime and width."""

# mypy: disable-error-code="arg-type, operator, misc"

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import cubepy as cb
from cubepy import Array, Comptime, Tensor, Vector, f16, f32, f64, i32, u8, u32
from cubepy.errors import ArgumentError, CubeError, OutOfBoundsError

F = TypeVar("F", bound=cb.Float)
DEVICES = ("reference", "cpu", "cpu:x86-64-v3+gang=8")
every_device = pytest.mark.parametrize("target", DEVICES)
counts = pytest.mark.parametrize("count", [1, 4, 16])


def normal(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# ── views ────────────────────────────────────────────────────────────────────────────────────────


@cb.cube
def double(x: Array[f32], out: Array[f32], N: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS - 1
    v = x.vectorized(N)[i]
    out.vectorized(N)[i] = v + v + 1.0


@every_device
@counts
@pytest.mark.parametrize("check", ["checked", "unchecked"])
def test_views_reach_whole_vectors(target: str, count: int, check: str) -> None:
    """Subscripts from -1 to beyond the end; what is left of the length over is not touched."""
    for size in (0, 5 * count, 7 * count + count // 2):
        x, out = normal(size), np.full(size, -1, np.float32)
        vectors = size // count
        if check == "unchecked":
            # only what is inside may be reached
            kernel, units = _inside_only, vectors
        else:
            kernel, units = double, vectors + 5
        kernel.over(units, device=target, check=check)(x, out, count)
        expected = np.full(size, -1, np.float32)
        expected[: vectors * count] = x[: vectors * count] * 2 + 1
        np.testing.assert_array_equal(out, expected)


@cb.cube
def _inside_only(x: Array[f32], out: Array[f32], N: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS
    v = x.vectorized(N)[i]
    out.vectorized(N)[i] = v + v + 1.0


@every_device
def test_views_of_other_memories_and_strides(target: str) -> None:
    @cb.cube
    def kernel(t: Tensor[f32], backwards: Array[i32], out: Tensor[f32]) -> None:
        x, y = cb.UNIT_POS_X, cb.UNIT_POS_Y
        part = cb.shared(f32, (4, 16))
        own = cb.local_array(i32, 8)
        wide = t.vectorized(2)
        part.vectorized(4)[y, x] = 0.0
        cb.sync_cube()
        own.vectorized(8)[0] = cb.vector(*(k for k in range(8)))
        part.vectorized(2)[y, x] = wide[y, x]
        cb.sync_cube()
        a, b = part.vectorized(2)[y, x]
        c = backwards.vectorized(2)[x] + own.vectorized(2)[x]
        if x == 0 and y == 0:
            cb.static_assert(wide.ndim == 2)
            cb.static_assert(wide.dtype == f32)
        out.vectorized(2)[y, x] = Vector[f32, 2](b, a) + f32(c) + f32(len(wide) * wide.shape[1])

    tensor = normal(4, 9)
    numbers = np.arange(8, dtype=np.int32)
    out = np.zeros((4, 8), np.float32)
    kernel.launch(tensor, numbers[::-1], out, cube_count=1, cube_dim=(4, 4), device=target)
    swapped = tensor[:, :8].reshape(4, 4, 2)[:, :, ::-1].reshape(4, 8)
    np.testing.assert_array_equal(out, swapped + np.float32(7) + np.float32(16))


@pytest.mark.parametrize("target", ["reference", "cpu"])
@pytest.mark.parametrize("position", [-1, -(2**62), 2, 3, 2**62])
def test_validate_reports_vectors_outside(target: str, position: int) -> None:
    """Vector 2 of 11 elements begins inside; 4 * 2**62 wraps around to 0."""

    @cb.cube
    def read(x: Array[f32], at: cb.index, out: Array[f32]) -> None:
        out[0] = x.vectorized(4)[at][0]

    @cb.cube
    def write(x: Array[f32], at: cb.index) -> None:
        x.vectorized(4)[at] = 1.0

    x, out = np.zeros(11, np.float32), np.zeros(1, np.float32)
    for kernel, arguments in ((read, (x, position, out)), (write, (x, position))):
        with pytest.raises(OutOfBoundsError, match="outside of its length 11"):
            kernel.over(1, device=target, check="validate")(*arguments)
        kernel.over(1, device=target)(*arguments)
    assert not x.any()
    read.over(1, device=target, check="validate")(x, 1, out)


@every_device
def test_views_go_to_helpers_and_are_augmented(target: str) -> None:
    def add(view: Any, at: Any, amount: Any) -> None:
        view[at] += amount

    @cb.cube
    def kernel(x: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        view = x.vectorized(2)
        for k in range(3):
            add(view, i, f32(k))
            view[i] *= cb.vector(1.0, 2.0)

    x = np.zeros(10, np.float32)
    kernel.over(5, device=target)(x)
    assert x.tolist() == [3, 8] * 5


# ── what vectors can do ──────────────────────────────────────────────────────────────────────────

Words = Callable[..., Any]
FLOATS: dict[str, tuple[Words, Words]] = {
    "arithmetic": (lambda a, b: a * b - b / (a + 3.0), lambda a, b: a * b - b / (a + 3)),
    "scalars": (lambda a, b: 2.0 - a * b[0] + -b, lambda a, b: 2 - a * b[:1] + -b),
    "powers": (lambda a, b: a**2 + (b * b) ** 3, lambda a, b: a * a + (b * b) * (b * b) * (b * b)),
    "remainder": (lambda a, b: a // b + a % b, lambda a, b: a // b + a % b),
    "functions": (
        lambda a, b: cb.sqrt(abs(a)) + cb.fma(a, b, 1.0) + cb.floor(b) + round(a),
        lambda a, b: np.sqrt(abs(a)) + fused(a, b, 1) + np.floor(b) + np.round(a),
    ),
    "extremes": (
        lambda a, b: min(a, b, 0.5) + cb.max(a, b) + cb.clamp(a, -1.0, b),
        lambda a, b: np.minimum(np.minimum(a, b), 0.5) + np.maximum(a, b)
        + np.minimum(np.maximum(a, -1), b),
    ),
    "choice": (
        lambda a, b: cb.select(a < b, a, 1.0) + cb.select(a[0] > 0.0, a, b),
        lambda a, b: np.where(a < b, a, 1) + (a if a[0] > 0 else b),
    ),
    "conditional": (
        lambda a, b: a if all(a < b) else (b if any(a > 1.0) else a * b),
        lambda a, b: a if (a < b).all() else (b if (a > 1).any() else a * b),
    ),
    "reductions": (
        lambda a, b: a * sum(b) + min(a) * max(b) + cb.dot(a, b),
        lambda a, b: a * in_order(b) + a.min() * b.max() + in_order(a * b),
    ),
    "length": (
        lambda a, b: cb.normalize(a) * cb.magnitude(b),
        lambda a, b: a / np.sqrt(in_order(a * a)) * np.sqrt(in_order(b * b)),
    ),
    "casts": (
        lambda a, b: f32(i32(a * 10.0)) + f32(cb.bitcast(u32, b) >> 24),
        lambda a, b: (a * 10).astype(np.int32).astype(np.float32)
        + (b.view(np.uint32) >> 24).astype(np.float32),
    ),
    "tuples": (
        lambda a, b: cb.frexp(a)[0] + f32(cb.frexp(b)[1]),
        lambda a, b: np.frexp(a)[0] + np.frexp(b)[1].astype(np.float32),
    ),
    "elements": (
        lambda a, b: cb.vector(*(x + y for x, y in zip(a, reversed(b)))),  # noqa: B905
        lambda a, b: a + b[::-1],
    ),
}  # fmt: skip


def fused(a: Any, b: Any, c: Any) -> Any:
    return (a.astype(np.float64) * b + c).astype(np.float32)


def in_order(v: Any) -> Any:
    total = v[0]
    for item in v[1:]:
        total = total + item
    return total


@cb.cube
def apply(x: Array[f32], y: Array[f32], out: Array[f32], words: Comptime[object]) -> None:
    i = cb.ABSOLUTE_POS
    a, b = x.vectorized(4)[i], y.vectorized(4)[i]
    out.vectorized(4)[i] = words(a, b)


@every_device
@pytest.mark.parametrize("name", [name for name in FLOATS if name != "elements"])
def test_functions_and_operators(target: str, name: str) -> None:
    words, numpy_words = FLOATS[name]
    x, y, out = normal(400), normal(400, seed=2), np.zeros(400, np.float32)
    apply.over(100, device=target)(x, y, out, words)
    rows = zip(x.reshape(100, 4), y.reshape(100, 4), strict=True)
    expected = [numpy_words(a, b) for a, b in rows]
    np.testing.assert_array_equal(out.reshape(100, 4), expected)


@every_device
def test_integers_wrap_and_shift(target: str) -> None:
    @cb.cube
    def kernel(x: Array[u8], out: Array[u8], bits: Array[i32]) -> None:
        i = cb.ABSOLUTE_POS
        v = x.vectorized(8)[i]
        w = (v << 1) ^ (v >> 3) | ~v & 7
        out.vectorized(8)[i] = w + v * 7 - 1
        bits.vectorized(8)[i] = i32(cb.popcount(v)) + divmod(i32(v), 10)[1]

    x = np.random.default_rng(3).integers(0, 256, 64).astype(np.uint8)
    out, bits = np.zeros(64, np.uint8), np.zeros(64, np.int32)
    kernel.over(8, device=target)(x, out, bits)
    np.testing.assert_array_equal(out, ((x << 1) ^ (x >> 3) | ~x & 7) + x * np.uint8(7) - 1)
    ones = np.unpackbits(x[:, None], axis=1).sum(axis=1, dtype=np.int32)
    np.testing.assert_array_equal(bits, ones + x.astype(np.int32) % 10)


@every_device
@pytest.mark.parametrize("count", [2, 8])
def test_elements_by_run_time_subscripts(target: str, count: int) -> None:
    @cb.cube
    def kernel(x: Array[f32], at: Array[i32], out: Array[f32], N: Comptime[int]) -> None:
        i = cb.ABSOLUTE_POS
        v = x.vectorized(N)[i]
        changed = cb.insert(v, at[i], 100.0)
        out.vectorized(N)[i] = cb.insert(changed, 0, v[at[i]])

    at = np.arange(-2, count + 3, dtype=np.int32)
    x = normal(len(at), count) + 1
    out = np.zeros_like(x)
    kernel.over(len(at), device=target)(x.reshape(-1), at, out.reshape(-1), count)
    expected = x.copy()
    for row, place in enumerate(at):
        inside = 0 <= place < count
        if inside:
            expected[row, place] = 100
        expected[row, 0] = x[row, place] if inside else 0
    np.testing.assert_array_equal(out, expected)


@every_device
def test_variables_loops_and_early_returns(target: str) -> None:
    def collatz_steps(v: Any, limit: Any) -> Any:
        steps = i32(0) * v
        for _ in range(limit):
            if all(v == 1):
                return steps
            done = v == 1
            steps = cb.select(done, steps, steps + 1)
            v = cb.select(done, 1, cb.select(v % 2 == 0, v // 2, 3 * v + 1))
        return steps + 1000

    @cb.cube
    def kernel(x: Array[i32]) -> None:
        view = x.vectorized(4)
        view[cb.ABSOLUTE_POS] = collatz_steps(view[cb.ABSOLUTE_POS], 200)

    def steps_of(n: int) -> int:
        count = 0
        while n != 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    x = np.arange(1, 41, dtype=np.int32)
    expected = [steps_of(n) for n in x.tolist()]
    kernel.over(10, device=target)(x)
    assert x.tolist() == expected


@every_device
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_generic_vectors_are_arguments(target: str, dtype: Any) -> None:
    def blend(a: Vector[F, 4], b: Vector[F, 4], t: F) -> Any:
        return a + (b - a) * t

    @cb.cube
    def kernel(x: Array[F], end: Vector[F, 4], t: F, out: Array[F]) -> None:
        i = cb.ABSOLUTE_POS
        whole: Vector[F, 4] = Vector[F, 4](1.0)
        out.vectorized(4)[i] = blend(x.vectorized(4)[i], end, t) * whole

    x, out = normal(40).astype(dtype), np.zeros(40, dtype)
    end = np.arange(4).astype(dtype)
    for given_end in (end, tuple(end.tolist()), list(end)):
        kernel.over(10, device=target)(x, given_end, 0.25, out)
        rows = x.reshape(10, 4)
        np.testing.assert_array_equal(out.reshape(10, 4), rows + (end - rows) * dtype(0.25))
    with pytest.raises(ArgumentError, match="argument 'end': expected 4 values, got 3 values"):
        kernel.over(10, device=target)(x, (1, 2, 3), 0.25, out)


@every_device
def test_magnitude_of_halves_is_computed_in_f32(target: str) -> None:
    @cb.cube
    def kernel(x: Array[f16], out: Array[f16]) -> None:
        i = cb.ABSOLUTE_POS
        out.vectorized(4)[i] = cb.normalize(x.vectorized(4)[i]) * cb.magnitude(x.vectorized(4)[i])

    x = (normal(40) * 3000).astype(np.float16)
    out = np.zeros_like(x)
    kernel.over(10, device=target)(x, out)
    rows = x.reshape(10, 4).astype(np.float32)
    lengths = np.sqrt([in_order(row * row) for row in rows]).astype(np.float16)[:, None]
    assert np.isfinite(lengths).all()
    np.testing.assert_array_equal(out.reshape(10, 4), x.reshape(10, 4) / lengths * lengths)


def test_contraction_goes_by_the_source() -> None:
    def kernel(x: Array[f32], out: Array[f32]) -> None:
        a = x.vectorized(64)[0]
        out.vectorized(64)[0] = a * a + 1.0

    x, out = normal(64), np.zeros(64, np.float32)
    for contract, once in ((True, True), (False, False)):
        cb.cube(contract=contract)(kernel).over(1, device="reference")(x, out)
        assert np.array_equal(out, fused(x, x, 1)) == once


OFFSET = Vector[f32, 2](1.5, -2.0)


@cb.struct
class Body:
    position: Vector[f32, 2]
    mass: f32 = f32(1.0)

    def moved(self, by: Any) -> "Body":
        return Body(self.position + by * self.mass, self.mass)


@every_device
def test_vectors_in_structs_and_outside(target: str) -> None:
    @cb.cube
    def kernel(body: Body, x: Array[f32], out: Array[f32]) -> None:
        i = cb.ABSOLUTE_POS
        moved = body.moved(x.vectorized(2)[i])
        while moved.position[0] < 1.0:  # type: ignore[index]
            moved = moved.moved(OFFSET)
        same = moved == Body(moved.position, 2.0)
        out.vectorized(2)[i] = moved.position + f32(same)

    x, out = normal(20), np.zeros(20, np.float32)
    body = Body(Vector[f32, 2](0.5, 0.25), f32(2))
    kernel.over(10, device=target)(body, x, out)
    expected = []
    for row in x.reshape(10, 2):
        moved = body.moved(Vector[f32, 2](row))
        while moved.position[0] < 1:  # type: ignore[index]
            moved = moved.moved(OFFSET)
        expected.append(np.asarray(moved.position) + np.float32(1))
    np.testing.assert_array_equal(out.reshape(10, 2), expected)


@every_device
def test_plane_operations_take_vectors(target: str) -> None:
    @cb.cube
    def kernel(x: Array[i32], out: Array[i32]) -> None:
        i = cb.UNIT_POS
        v = x.vectorized(2)[i]
        first = cb.plane_broadcast(v, 0)
        out.vectorized(2)[i] = cb.plane_sum(v) - first * cb.plane_inclusive_sum(v)

    device = cb.device(target)
    size = kernel.over(1, device=device)
    assert size is not None
    x, out = np.arange(1, 9, dtype=np.int32), np.zeros(8, np.int32)
    kernel.launch(x, out, cube_count=1, cube_dim=4, device=target)
    rows = x.reshape(4, 2)
    np.testing.assert_array_equal(
        out.reshape(4, 2), rows.sum(axis=0) - rows[0] * np.cumsum(rows, axis=0)
    )


@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_random_expressions(data: st.DataObject) -> None:
    """A chain of random operations, the same in the kernel and on rows of NumPy."""
    count = data.draw(st.sampled_from([1, 2, 4, 8]))
    steps = tuple(
        data.draw(st.tuples(st.integers(0, 5), st.integers(-3, 3)), label="step")
        for _ in range(data.draw(st.integers(1, 8)))
    )

    @cb.cube
    def kernel(x: Array[i32], y: Array[i32], N: Comptime[int], steps: Comptime[Any]) -> None:
        i = cb.ABSOLUTE_POS
        a, b = x.vectorized(N)[i], y.vectorized(N)[i]
        for kind, number in steps:
            if kind == 0:
                a, b = b, a + number
            elif kind == 1:
                a = a * b - number
            elif kind == 2:
                a = cb.select(a > b, a, number)
            elif kind == 3:
                a = a // (b + number)
            elif kind == 4:
                a = cb.insert(a, a[0] % N, sum(b))
            else:
                b = b if any(a == number) else min(a, b)
        x.vectorized(N)[i] = a ^ b

    rng = np.random.default_rng(len(steps))
    x, y = (rng.integers(-9, 9, 12 * count).astype(np.int32) for _ in range(2))
    results = []
    for target in ("reference", "cpu"):
        out = x.copy()
        kernel.over(12, device=target)(out, y, count, steps)
        results.append(out)
    rows = zip(x.reshape(12, count), y.reshape(12, count), strict=True)
    expected = np.concatenate([in_numpy(a, b, steps) for a, b in rows])
    for out in results:
        np.testing.assert_array_equal(out, expected)


def in_numpy(a: Any, b: Any, steps: Any) -> Any:
    with np.errstate(all="ignore"):
        for kind, number in steps:
            if kind == 0:
                a, b = b, a + np.int32(number)
            elif kind == 1:
                a = a * b - np.int32(number)
            elif kind == 2:
                a = np.where(a > b, a, np.int32(number))
            elif kind == 3:
                divisor = b + np.int32(number)
                a = np.where(divisor == 0, 0, a // np.where(divisor == 0, 1, divisor))
            elif kind == 4:
                place, total = a[0] % len(a), b.sum(dtype=np.int32)
                a = a.copy()
                a[place] = total
            else:
                b = b if (a == number).any() else np.minimum(a, b)
            a, b = a.astype(np.int32), b.astype(np.int32)
    return a ^ b


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_vectors_and_structs_are_printed_as_on_the_host(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @cb.cube
    def kernel(x: Array[f32]) -> None:
        v = x.vectorized(2)[0]
        print(v, Body(v, x[1]))

    kernel.over(1, device=target)(np.array([1.5, -2], np.float32))
    v = Vector[f32, 2](1.5, -2)
    assert capsys.readouterr().out == f"{v} {Body(v, -2.0)}\n"


# ── on the host ──────────────────────────────────────────────────────────────────────────────────


def test_vectors_on_the_host() -> None:
    v = Vector[f32, Literal[4]](1, 2.5, np.int8(3), 4)
    assert repr(v) == "Vector[f32, 4](1.0, 2.5, 3.0, 4.0)"
    assert np.asarray(v).dtype == np.float32
    assert v.dtype is f32
    assert repr(2 * v - v[1]) == "Vector[f32, 4](-0.5, 2.5, 3.5, 5.5)"
    assert repr(v // 2) == "Vector[f32, 4](0.0, 1.0, 1.0, 2.0)"
    assert tuple(v < 3) == (True, True, False, False)
    assert tuple(-Vector[u8, 2](1)) == (255, 255)
    assert tuple(Vector[f16, 2](v[0:2]) + v[0:2]) == (2, 5)
    assert hash(v) == hash(Vector[f32, 4](v))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Vector[f32, 3], "no vectors of 3 elements(.|\n)*pad to 4, or make a"),
        (lambda: Vector[f32, 128], "no vectors of 128 elements(.|\n)*a power of two$"),
        (lambda: Vector[f32, True], "no vectors of True elements(.|\n)*a power of two$"),
        (lambda: Vector[f32], "for example Vector"),
        (lambda: Vector[str, 4], "no vectors of <class 'str'>"),
    ],
)
def test_types_that_are_no_vectors(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_wrong_vectors_on_the_host() -> None:
    with pytest.raises(CubeError, match=r"Vector\[f32, 4\] has 4 elements, got 3"):
        Vector[f32, 4](1, 2, 3)
    with pytest.raises(CubeError, match="has no type of its own"):
        Vector[F, 4](1)
    with pytest.raises(TypeError):
        Vector[f64, 2](1, 2) + Vector[f64, 4](1)
