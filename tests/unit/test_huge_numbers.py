"""Integers of more digits than Python writes, wherever users can put them: an error of cubepy's,
which says about how large they are.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, f32, i32
from cubepy.errors import CubeError, LaunchError, shown

HUGE = 10**5000
DIGITS = sys.get_int_max_str_digits()


@cb.cube
def floats(s: f32, out: Array[f32]) -> None:
    out[0] = s


@cb.cube
def integers(s: i32, out: Array[i32]) -> None:
    out[0] = s


@cb.cube
def remainder(out: Array[i32], c: Comptime[int]) -> None:
    out[0] = c % 7


IN_KERNELS = [
    "out[0] = HUGE", "out[0] = -HUGE", "out[HUGE] = 1", "out[0] = out[0] + HUGE",
    "out[0] = 1.0 * HUGE", "out[0] = out[0] << HUGE", "out[0] = 1 << HUGE", "out[0:HUGE][0] = 1",
    "out[0] = cb.local_array(i32, HUGE)[0]", "out[0] = cb.shared(i32, HUGE)[0]",
    "out[0] = i32(cb.vector(1.0, 2.0)[HUGE])", "out.reshape(HUGE, -1)[0, 0] = 1", "print(HUGE)",
    "print((HUGE, 1))", "print(f'{HUGE}')", "cb.static_print(HUGE)",
    "cb.static_assert(HUGE < 0, f'is {HUGE}')", "out[0] = (HUGE).upper()", "out[0] = len(HUGE)",
    "for i in range(HUGE): out[0] = 1",
]  # fmt: skip


@pytest.mark.parametrize("written", ["HUGE", "10**5000"])
@pytest.mark.parametrize("statement", IN_KERNELS)
def test_in_kernels(statement: str, written: str) -> None:
    body = statement.replace("HUGE", written)
    text = f"@cb.cube\ndef kernel(out: cb.Array[i32]):\n    {body}\n"
    kernel = cb.exec(text, {"cb": cb, "i32": i32, "HUGE": HUGE})["kernel"]
    with pytest.raises(CubeError) as caught:
        kernel.over(1, device="reference")(np.zeros(4, np.int32))
    assert "Exceeds the limit" not in str(caught.value)
    assert len(str(caught.value)) < 1000


CALLS: list[Callable[[Any], object]] = [
    lambda out: floats.over(1)(HUGE, out.astype(np.float32)),
    lambda out: integers.over(1)(HUGE, out),
    lambda out: integers.over(1)(-HUGE, out),
    lambda out: integers.over(HUGE)(1, out),
    lambda out: integers.over(-HUGE)(1, out),
    lambda out: integers.over((HUGE, 1))(1, out),
    lambda out: integers[HUGE, 1](1, out),
    lambda out: integers[1, HUGE](1, out),
    lambda out: integers[1, (1, HUGE)](1, out),
    lambda out: cb.device("reference").empty(HUGE, np.float32),
    lambda out: cb.device("reference").empty((2, -HUGE), np.float32),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_in_calls(number: int) -> None:
    with pytest.raises(CubeError, match=r"about -?10\*\*5000"):
        CALLS[number](np.zeros(4, np.int32))


def test_in_names_of_devices() -> None:
    with pytest.raises(CubeError, match="a number of 5000 digits"):
        cb.device("cpu:" + "9" * 5000)


def test_as_comptime_values_they_count() -> None:
    out = np.zeros(1, np.int32)
    for value in (HUGE, HUGE + 1, -HUGE):
        remainder.over(1)(out, value)
        assert out[0] == value % 7


@pytest.mark.parametrize("digits", [45, 300, DIGITS, 5000, 20_000])
def test_shown(digits: int) -> None:
    for number in (10**digits, 10**digits + 1):
        assert shown(number) == f"about 10**{digits}"
        assert shown(-number) == f"about -10**{digits}"
        assert shown((1, number)) == f"(1, about 10**{digits})"
        assert shown([number]) == f"[about 10**{digits}]"
    assert shown((12,)) == "(12,)"
    assert shown(None) == "None"


def test_what_is_no_shape_stream_or_array_is_said() -> None:
    device = cb.device("reference")
    out = np.zeros(4, np.int32)
    for stream in (None, 3, device):
        with pytest.raises(LaunchError, match="is no stream"):
            integers.over(1).on(stream)  # type: ignore[arg-type]
    for shape in (1.5, "4", None, (1, 2.0)):
        with pytest.raises(LaunchError, match="cannot have the shape"):
            device.empty(shape, np.float32)  # type: ignore[arg-type]
    three: tuple[Any, ...] = (3, (3,), [3], np.int64(3), np.array(3), np.array([3]))
    for each in three:
        assert device.empty(each, np.float32).shape == (3,)
    with pytest.raises(LaunchError, match="no element type"):
        device.empty(4, "nonsense")
    for data in ([[1], [2, 3]], np.ma.masked_array([1.0], [True]), Broken({"data": (0, False)})):
        with pytest.raises(LaunchError, match="help: "):
            device.array(data)
    interface = out.__array_interface__
    for missing in ("typestr", "shape"):
        described = {key: value for key, value in interface.items() if key != missing}
        with pytest.raises(LaunchError, match="'out': the __array_interface__ of Broken"):
            integers.over(1, device=device)(1, Broken(described))


class Broken:
    """An object that describes its memory wrongly."""

    def __init__(self, interface: dict[str, Any]) -> None:
        self.__array_interface__ = interface
