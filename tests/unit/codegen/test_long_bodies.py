"""Long straight code on the CPU: one vector a gang, and one version that serves whole gangs and
edges alike; against NumPy, bit by bit.
"""

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i32, u8
from cubepy.target import Topic

TARGETS = ("cpu", "cpu:x86-64-v2", "cpu:x86-64-v3", "cpu+without=facts")
STEPS = 340  # of three operations each
LENGTHS = (0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 1300)
INPUTS = 1000


def text_of(kind: str, guard: str = "i < len(out)", index: str = "i") -> str:
    """A kernel of a thousand operations on one element."""
    steps = "\n".join(f"        v = (v ^ {7 * k + 1}) * {2 * k + 3} + w" for k in range(STEPS))
    return f"""
@cb.cube
def long(x: Array[{kind}], by: i32, out: Array[{kind}]) -> None:
    i = cb.ABSOLUTE_POS
    if {guard}:
        v = i32(x[{index}])
        w = v + by
{steps}
        out[i] = {kind}(v)
"""


def expected(x: np.ndarray[Any, Any], by: int) -> np.ndarray[Any, Any]:
    v = x.astype(np.int32)
    w = v + np.int32(by)
    for k in range(STEPS):
        v = (v ^ np.int32(7 * k + 1)) * np.int32(2 * k + 3) + w
    return v.astype(x.dtype)


def made(text: str) -> Any:
    names: dict[str, Any] = {"cb": cb, "Array": Array, "i32": i32, "u8": u8}
    cb.exec(text, names)
    return names["long"]


def decisions(kernel: Any, target: str) -> list[str]:
    seen = kernel.inspect(signature="", target=target)
    return [each.text for each in seen.decisions if each.topic is Topic.GANG]


@pytest.mark.parametrize("target", TARGETS)
def test_words(target: str) -> None:
    kernel, x = made(text_of("i32")), np.arange(-500, 500, dtype=np.int32) * 7919
    for length in LENGTHS:
        out = np.full(length, 5, np.int32)
        kernel.over(1024, device=target)(x, 11, out)
        wanted = expected(np.append(x, np.zeros(300, np.int32))[:length], 11)
        assert np.array_equal(out[:1024], wanted[:1024]), length
        assert np.all(out[1024:] == 5)


@pytest.mark.parametrize("target", TARGETS)
def test_bytes_and_elements_outside(target: str) -> None:
    kernel, x = made(text_of("u8", index="i * 3 - 9")), np.arange(INPUTS, dtype=np.uint8)
    out = np.zeros(777, np.uint8)
    kernel.over(777, device=target)(x, -3, out)
    places = np.arange(777) * 3 - 9
    read = np.where((places >= 0) & (places < INPUTS), x[places % INPUTS], 0).astype(np.uint8)
    assert np.array_equal(out, expected(read, -3))


@pytest.mark.parametrize("target", TARGETS)
def test_a_condition_that_parts_the_units(target: str) -> None:
    kernel, x = made(text_of("i32", guard="i % 5 != 2")), np.arange(INPUTS, dtype=np.int32)
    out = np.full(INPUTS, 5, np.int32)
    kernel.over(INPUTS, device=target)(x, 2, out)
    wanted = np.where(np.arange(INPUTS) % 5 != 2, expected(x, 2), 5)
    assert np.array_equal(out, wanted)


def test_words_need_one_version_and_bytes_two() -> None:
    words, octets = made(text_of("i32")), made(text_of("u8"))
    assert "one version" in decisions(words, "cpu:x86-64-v3")[0]
    assert "one version" not in decisions(octets, "cpu:x86-64-v3")[0]
    assert "one version" not in decisions(words, "cpu:x86-64-v2")[0]
