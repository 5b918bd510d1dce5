"""Arguments of calls in machine code: each means what it means in Python, or goes there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, f64, i8, i32, u64
from cubepy.errors import ArgumentError, LaunchError
from cubepy_cpu import entry, probe
from tests.unit.cpu.launches import Subclass, fresh, is_native, misaligned, ones, read_only, saxpy

pytestmark = pytest.mark.skipif(bool(probe.why_not()), reason=probe.why_not())


@cb.cube
def numbers(out: Array[f64], a: f64, b: f32, c: i8, d: u64, e: cb.bool_, f: i32) -> None:
    if cb.ABSOLUTE_POS == 0:
        out[0], out[1], out[2] = a, f64(b), f64(c)
        out[3], out[4], out[5] = f64(d >> 8), cb.select(e, 1.0, 0.0), f64(f)


@cb.cube
def transposed(x: Tensor[f32], out: Tensor[f32]) -> None:
    i, j = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[j, i] + f32(out.strides[0])


@cb.cube
def powered(x: Array[f32], power: Comptime[int]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(x):
        x[i] = x[i] ** power


def test_sizes_and_values_may_differ() -> None:
    launch = saxpy.over(100)
    launch(1.0, ones(3), ones(5))
    for length, a in ((100, 0.5), (7, -2.0), (0, 1.0), (1000, float(2**-149))):
        x, y = np.arange(length, dtype=np.float32), ones(length)
        expected = np.where(np.arange(length) < 100, np.float32(a) * x + y, y)
        assert is_native(launch, a, x, y)
        assert np.array_equal(y, expected)


@pytest.mark.parametrize(
    ("a", "x"),
    [
        (2, ones()),
        (True, ones()),
        (np.float32(2), ones()),
        (np.float64(2), ones()),
        (np.int16(2), ones()),
        (2.0, ones(128)[::2]),
        (2.0, ones()[::-1]),
        (2.0, np.broadcast_to(np.float32(1), 64)),
        (2.0, misaligned(64)),
        (2.0, read_only(64)),
        (2.0, ones().view(Subclass)),
        (2.0, ones().reshape(8, 8).reshape(64)),
        (2.0, cb.device("cpu").array(ones())),
    ],
)
def test_other_arguments_are_for_python_to_judge(a: Any, x: Any) -> None:
    launch, y = saxpy.over(64, check="validate" if a is None else "auto"), ones()
    for _ in range(3):
        y[:] = 1
        launch(2.0, ones(), y)
        assert set(y) == {3}
        if a is True:
            with pytest.raises(ArgumentError, match="expected f32, got True"):
                launch(a, x, y)
        else:
            launch(a, x, y)
            assert set(y) == {5}


@pytest.mark.parametrize(
    ("arguments", "keywords", "error"),
    [
        ((2.0, ones()), {}, "argument 'y' is missing"),
        ((2.0, ones(), ones(), 1), {}, "4 arguments given, 3 expected"),
        ((2.0, ones().astype(np.float64), ones()), {}, "'x': expected an array of f32, got f64"),
        ((2.0, ones().reshape(8, 8), ones()), {}, "'x': expected an array with 1 axis"),
        ((2.0, None, ones()), {}, "'x': expected an array"),
        (("2", ones(), ones()), {}, "'a': expected f32, got str"),
        ((1e39, ones(), ones()), {}, "'a': 1e.39 is too large"),
        ((2.0, ones(), read_only(64)), {}, "'y' is written by the kernel, and the array is read"),
        ((2.0, ones()), {"z": ones()}, "there is no parameter 'z'"),
    ],
)
def test_errors_are_those_of_python(
    arguments: tuple[Any, ...], keywords: dict[str, Any], error: str
) -> None:
    launch, x, y = fresh(saxpy).over(64), ones(), ones()
    launch(2.0, x, y)
    for _ in range(2):
        with pytest.raises(ArgumentError, match=error):
            launch(*arguments, **keywords)
        assert is_native(launch, 2.0, x, y)


def test_keywords_and_unpacked_arguments() -> None:
    launch, x, y = fresh(saxpy).over(64), ones(), ones()
    launch(2.0, x, y)
    launch(2.0, x, y=y)
    launch(y=y, a=2.0, x=x)
    launch(*(2.0, x), y=y)
    assert set(y) == {9}
    assert is_native(launch, *[2.0, x, y])
    assert is_native(launch, 2.0, y=y, x=x)
    assert is_native(launch, y=y, x=x, a=2.0)
    assert set(y) == {15}
    for wrong in ({"y": y, "z": x}, {"x": x}, {"x": x, "y": y, "a": 1.0}, {"y": y, "": x}):
        with pytest.raises(ArgumentError):
            launch(2.0, **wrong)


@cb.cube
def filled(out: Array[i32], /, first: i32, *, step: i32 = i32(2)) -> None:  # noqa: B008
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = first + i32(i) * step


def test_keyword_only_and_positional_only_parameters() -> None:
    launch, out = filled.over(3), np.zeros(3, np.int32)
    for _ in range(2):
        launch(out, 1, step=5)
        assert out.tolist() == [1, 6, 11]
        launch(out, first=2, step=1)
        assert out.tolist() == [2, 3, 4]
        launch(out, 1)
        assert out.tolist() == [1, 3, 5]
        with pytest.raises(ArgumentError, match="3 arguments given, 2 expected"):
            launch(out, 1, 5)
        with pytest.raises(ArgumentError, match="out"):
            launch(out=out, first=1, step=5)
    assert is_native(launch, out, 1, step=5)
    assert is_native(launch, out, step=5, first=1)
    launch(out, 3, **{"".join(["st", "ep"]): 4})  # equal to "step", but another object
    assert out.tolist() == [3, 7, 11]


@pytest.mark.parametrize(
    "view",
    [
        lambda whole: whole[:, :, 1],
        lambda whole: whole[::-1, 1:3, 0],
        lambda whole: whole[1].T,
        lambda whole: whole[:1, :, 2],
        lambda whole: np.broadcast_to(whole[0, 0], (5, 6)),
        lambda whole: whole[2:4, 3:3, 0],
        lambda whole: whole[0, ::-2, ::3],
    ],
)
def test_arrays_with_gaps_and_in_other_orders(view: Callable[[Any], Any]) -> None:
    whole = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
    x = view(whole)
    out = np.zeros((x.shape[1], 2 * x.shape[0]), np.float32)[:, ::2]
    launch = transposed.over((8, 8))
    for _ in range(2):
        out[:] = 0
        launch(x, out)
        stride = out.strides[0] // 4
        assert np.array_equal(out, x.T + np.float32(stride))
    assert is_native(launch, x, out)


def test_infinite_and_huge_scalars() -> None:
    launch = saxpy.over(2)
    for a in (1.0, float("inf"), 3e38, -1e38, 9.9e37, float("nan"), 5e-324):
        y = np.zeros(2, np.float32)
        for _ in range(2):
            launch(a, ones(2), y)
            launch(a, ones(2), y)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.float32(a) * np.float32(4)
        assert np.array_equal(y, np.full(2, expected), equal_nan=True) or a in (-1e38, 9.9e37)


@pytest.mark.parametrize(
    "values",
    [
        (0.1, 0.1, -128, 0, True, -(2**31)),
        (-0.0, 2.0**-149, 127, 2**64 - 1, False, 2**31 - 1),
        (1, 16777217, np.int64(-5), 2**63, True, np.int32(7)),
        (np.float32(0.1), np.float32(0.1), 5, 2**62, False, 1),
        (np.float64(0.1), np.float64(0.1), np.int32(5), np.int64(3), True, np.int64(9)),
        (2**53 + 1, 2**60 + 1, True + 0, 1, True, 0),
    ],
)
def test_numbers_arrive_as_they_do_in_python(values: tuple[Any, ...]) -> None:
    launch = numbers.over(1, device="cpu")
    slow, quick = np.zeros(6), np.zeros(6)
    numbers.over(1, device="reference")(slow, *values)
    for _ in range(3):
        quick[:] = -1
        launch(quick, *values)
        assert np.array_equal(slow, quick)


@pytest.mark.parametrize(
    ("position", "value", "error"),
    [
        (3, 128, "does not fit i8"),
        (3, -129, "does not fit i8"),
        (4, -1, "does not fit u64"),
        (4, 2**64, "does not fit u64"),
        (6, 2**31, "does not fit i32"),
        (6, 2**100, "does not fit i32"),
        (6, 1.0, "expected i32, got the float"),
        (5, 1, "expected bool"),
        (3, True, "expected i8, got True"),
    ],
)
def test_numbers_out_of_range_are_refused_after_good_ones(
    position: int, value: Any, error: str
) -> None:
    launch, out = numbers.over(1), np.zeros(6)
    good = [out, 1.0, 1.0, 1, 1, True, 1]
    for _ in range(2):
        launch(*good)
        assert is_native(launch, *good)
        wrong = [*good[:position], value, *good[position + 1 :]]
        with pytest.raises(ArgumentError, match=error):
            launch(*wrong)


def test_axes_of_tensors() -> None:
    launch = transposed.over((5, 7))
    for rows, columns in ((7, 5), (9, 3), (2, 8), (1, 1)):
        x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
        out = np.zeros((columns, rows), np.float32)
        launch(x, out)
        out[:] = 0
        assert is_native(launch, x, out)
        expected = np.zeros_like(out)
        expected[:5, :7] = (x.T + np.float32(rows))[:5, :7]
        assert np.array_equal(out, expected)


def test_overlaps_are_seen() -> None:
    whole = np.arange(192, dtype=np.float32)
    launch = saxpy.over(64)
    launch(1.0, ones(), ones())
    for _ in range(3):
        for x_at, y_at in ((0, 64), (0, 0), (0, 1), (63, 0), (64, 0), (5, 69), (5, 68)):
            whole[:] = np.arange(192)
            x, y = whole[x_at : x_at + 64], whole[y_at : y_at + 64]
            expected = whole.copy()
            for i in range(64):  # units of a gang read before they write: that is not this test's
                expected[y_at + i] = x[i] + y[i]
            if abs(x_at - y_at) in (0, *range(64, 200)):
                launch(1.0, x, y)
                assert np.array_equal(whole, expected)
            else:
                launch(1.0, x, y)
        same = ones()
        launch(1.0, same, same)
        assert is_native(launch, 1.0, same, same)


def test_an_empty_array_inside_another_teaches_no_overlap() -> None:
    """The kernel was made for arrays apart: the next call, with some that are not, is another's."""
    launch, memory = fresh(saxpy).over(64), ones(200)
    whole, inside, overlapping = memory[:64], memory[20:20], memory[10:74]
    launch(1.0, inside, whole)
    assert is_native(launch, 1.0, inside, whole)
    assert is_native(launch, 1.0, ones(), whole)
    assert not is_native(launch, 1.0, overlapping, whole)
    assert is_native(launch, 1.0, overlapping, whole)


def test_comptime_values_are_known_by_identity() -> None:
    launch = powered.over(4)
    x = np.full(4, 3, np.float32)
    for power in (2, 3, 2, 3):
        x[:] = 3
        launch(x, power)
        assert set(x) == {3**power}
    assert is_native(launch, x, 2)
    launch(np.full(4, 3, np.float32), True)
    assert is_native(launch, x, 2)


def test_more_sorts_of_calls_than_are_kept() -> None:
    launch = fresh(saxpy).over(64)
    sorts = [2.0, 2, np.float32(2), np.int64(2), np.float64(2), np.int32(2)]
    assert 2 * len(sorts) > entry.KEPT
    x, y, frozen = ones(), ones(), read_only(64)
    for _ in range(3):
        for a in sorts:
            for source in (x, frozen):
                y[:] = 1
                launch(a, source, y)
                assert set(y) == {3}
    for _ in range(100):
        launch(sorts[0], x, y)
    assert is_native(launch, sorts[0], x, y)


def test_buffers_are_taken_where_their_memory_is() -> None:
    cpu = cb.device("cpu")
    launch = fresh(saxpy).over(64)
    x, y = cpu.array(ones()), cpu.array(ones())
    launch(2.0, x, y)
    assert is_native(launch, 2.0, x, y)
    host = ones()
    launch(2.0, y, host)
    assert is_native(launch, 2.0, y, host)
    assert set(y.numpy()) == {5}
    assert set(host) == {21}
    elsewhere = cb.device("reference").array(ones())
    other = cb.device("reference").array(ones())
    launch(2.0, elsewhere, other)
    assert set(other.numpy()) == {3}
    with pytest.raises(LaunchError, match="'x' is on reference, the launch on cpu"):
        saxpy.over(64, device="cpu")(2.0, elsewhere, y)


@st.composite
def views(draw: st.DrawFn) -> Any:
    """Vectors of 12 floats, laid out in all sorts of ways in one memory."""
    start, step = draw(st.integers(0, 20)), draw(st.sampled_from([1, 1, 1, 2, -1, 3]))
    kind = draw(st.sampled_from(["f4", "f4", "f4", "f8", "i4"]))
    return (start, step, kind, draw(st.booleans()))


@given(st.lists(st.tuples(views(), views()), min_size=2, max_size=6))
def test_random_layouts_do_what_python_does(launches: list[Any]) -> None:
    """The same launches once through machine code and once in Python leave the same memory."""
    results = []
    for way in (saxpy.over(12), _in_python(saxpy.over(12))):
        memory = np.arange(200, dtype=np.float32)
        happened = []
        for first, second in launches:
            x, y = (_view(memory, *layout) for layout in (first, second))
            try:
                way(0.5, x, y)
                happened.append("launched")
            except ArgumentError as error:
                happened.append(str(error))
        results.append((memory.tolist(), happened))
    assert results[0] == results[1]


def _view(memory: Any, start: int, step: int, kind: str, frozen: Any) -> Any:
    typed = memory.view(kind)
    view = typed[start : start + 36 : step] if step > 0 else typed[start + 12 : start : step]
    view = view[:12]
    view.flags.writeable = not frozen
    return view


def _in_python(launch: Any) -> Callable[..., None]:
    general = type(launch).__mro__[1].__call__

    def call(*arguments: Any) -> None:
        general(launch, *arguments)

    return call
