"""Launches taken by a pattern: whatever comes after whatever, they do what the long way does."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, f64, i8, u8
from cubepy.errors import ArgumentError, LaunchError
from cubepy.launcher import launcher
from cubepy.launcher.again import again_of
from cubepy.runtime import close_calls, reopen_calls

OFFSET = 1


@cb.cube
def scaled(
    x: Array[f32], out: Array[f32], factor: f32, add: i8, wide: f64 = 0.0, k: Comptime[int] = 1
) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] * factor + f32(add) + f32(wide) + f32(k * OFFSET)


@cb.cube
def transposed(x: Tensor[f32], out: Tensor[f32]) -> None:
    i, j = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[j, i]


@cb.cube
def moved(x: Array[u8], out: Array[u8]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] + u8(1)


@pytest.fixture(autouse=True)
def python_only() -> Iterator[None]:
    """No call is taken in machine code."""
    close_calls()
    yield
    reopen_calls()


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each launch that could have been taken was."""
    seen: list[bool] = []
    original = again_of

    def watched(*arguments: Any, **keywords: Any) -> Any:
        again = original(*arguments, **keywords)

        def launched(values: Any) -> bool:
            assert again is not None
            seen.append(again(values))
            return seen[-1]

        return again and launched

    monkeypatch.setattr(launcher, "again_of", watched)
    return seen


def arrays(size: int = 8) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    return np.arange(size, dtype=np.float32), np.zeros(size, np.float32)


def test_the_third_launch_of_one_sort_is_taken(taken: list[bool]) -> None:
    launch = scaled.over(8)
    for number in range(5):
        x, out = arrays()
        launch(x, out, float(number), number, 0.5, 1)
        assert out.tolist() == [v * number + number + 1.5 for v in range(8)]
    assert taken == [True] * 3


def test_sizes_may_differ(taken: list[bool]) -> None:
    launch = moved.over(20)
    for size in (20, 20, 7, 0, 1, 20):
        x, out = np.arange(size, dtype=np.uint8), np.zeros(size, np.uint8)
        launch(x, out)
        assert out.tolist() == list(range(1, size + 1))
    assert all(taken)
    assert taken


def test_axes_of_tensors(taken: list[bool]) -> None:
    launch = transposed.over((4, 6))
    for rows, columns in ((4, 6), (4, 6), (4, 6), (2, 3), (4, 1)):
        x = np.random.default_rng(1).random((columns, rows), np.float32)
        out = np.zeros((rows, columns), np.float32)
        launch(x, out)
        assert np.array_equal(out, x.T)
    assert taken == [True] * 3


def arguments_of(kind: str) -> tuple[Any, Any]:
    """Arguments for `x` and `out` of some sort, made anew."""
    x, out = arrays()
    whole = np.zeros(40, np.float32)
    match kind:
        case "views":
            return x[::-1], whole[::5]
        case "frozen input":
            x.flags.writeable = False
        case "frozen output":
            out.flags.writeable = False
        case "other type":
            x = x.astype(np.float64)
        case "other rank":
            x = x.reshape(1, 8)
        case "reshaped in place":
            x.resize((2, 4), refcheck=False)
        case "same twice":
            out = x
        case "overlap":
            whole[:8] = x
            x, out = whole[:8], whole[4:12]
        case "subclass":
            x = x.view(np.recarray)
        case "byte order":
            x = x.astype(">f4")
        case "list":
            return x.tolist(), out
    return x, out


KINDS = [
    *("views", "frozen input", "frozen output", "other type", "other rank", "reshaped in place"),
    *("same twice", "overlap", "subclass", "byte order", "list"),
]
FACTORS = [float("nan"), float("inf"), -0.0, 3e38, 1e39, 2, True, np.float32(0.5), "2"]
ADDED = [-128, 127, 128, -129, True, 2.0, np.int64(5), None]
COMPTIME = [2, True, 1.0, 10**9]


def attempt(launch: Any, kind: str, *numbers: Any) -> tuple[str, list[float]]:
    """The error, if there is one, and the output."""
    x, out = arguments_of(kind)
    try:
        launch(x, out, *numbers)
    except (ArgumentError, LaunchError) as error:
        return str(error), out.tolist()
    return "", out.tolist()


def test_whatever_comes_next_is_done_as_without_a_pattern(taken: list[bool]) -> None:
    """Some arguments are not as it was, and the next call is compared with a new kernel's."""
    chance = np.random.default_rng(11)

    def one_of(usual: Any, others: list[Any]) -> Any:
        return usual if chance.random() < 0.85 else others[chance.integers(len(others))]

    launch, refused = scaled.over(8), 0
    for _ in range(200):
        numbers = [one_of(1.5, FACTORS), one_of(3, ADDED), float(chance.integers(3))]
        whole = (one_of("plain", KINDS), *numbers, one_of(1, COMPTIME))
        call = whole[: int(chance.integers(4, 6))]
        got, expected = attempt(launch, *call), attempt(cb.Cube(scaled.function).over(8), *call)
        assert repr(got) == repr(expected), call
        refused += expected[0] != ""
    assert refused > 20
    assert 20 < sum(taken) < len(taken)


def test_what_changes_between_calls_is_seen(taken: list[bool]) -> None:
    global OFFSET
    launch = scaled.over(8)
    try:
        for OFFSET in (1, 1, 1, 5, 5, 5, 1):
            x, out = arrays()
            launch(x, out, 2.0, 1, 0.0, 1)
            assert out.tolist() == [2.0 * v + 1 + OFFSET for v in range(8)]
    finally:
        OFFSET = 1
    assert True in taken
    assert False in taken


def test_another_default_device_is_seen() -> None:
    x, out = arrays()
    launch = scaled.over(8)
    for _ in range(3):
        launch(x, out, 2.0, 1, 0.0, 1)
    cb.set_default_device("reference")
    try:
        with pytest.raises(cb.errors.CubeError):
            launch(x, out, 2.0, None, 0.0, 1)
        launch(x, out, 3.0, 1, 0.0, 1)
        assert any(device.name == "reference" for device in launch._plans)
    finally:
        cb.set_default_device("cpu")


def test_captures_write_launches_down(taken: list[bool]) -> None:
    x, out = arrays()
    launch = scaled.over(8)
    for _ in range(3):
        launch(x, out, 2.0, 1, 0.0, 1)
    out[:] = 0
    with cb.capture() as recording:
        launch(x, out, 3.0, 1, 0.0, 1)
    assert not out.any()
    recording.replay()
    assert out.tolist() == [3.0 * v + 2 for v in range(8)]


@cb.cube
def named_only(x: Array[f32], *, out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[i] + 1.0


@cb.cube
def of_pairs(pair: tuple[f32, f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = pair[0] + pair[1]


def test_calls_that_python_would_refuse_are_refused() -> None:
    x, out = arrays()
    for _ in range(4):
        named_only.over(8)(x, out=out)
        of_pairs.over(8)((1.0, 2.0), out)
        scaled.over(8)(x, out, 1.0, 1)
    with pytest.raises(ArgumentError):
        named_only.over(8)(x, out)
    with pytest.raises(ArgumentError):
        of_pairs.over(8)(1.0, 2.0, out)
    with pytest.raises(ArgumentError):
        scaled.over(8)(x, out, 1.0)


def test_prepared_launches_are_taken_and_hold_to_their_types(taken: list[bool]) -> None:
    x, out = arrays()
    prepared = scaled.over(8).prepare(x, out, 2.0, 1, 0.0, 1)
    for number in range(4):
        prepared(x, out, float(number), 1, 0.0, 1)
        assert out.tolist() == [number * v + 2 for v in range(8)]
    assert taken == [True] * 3
    with pytest.raises(ArgumentError, match="prepared for arguments of other types"):
        prepared(x[::-1], out, 2.0, 1, 0.0, 1)
