"""What Python would compute without end while a kernel is compiled is refused at once."""

import time
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, i32
from cubepy.errors import ComptimeError, CubeError, CubeTypeError, CubeValueError

ENDLESS = [
    "10**10**10", "pow(10, 10**10)", "1 << 10**12", "(1 << 60000) * (1 << 60000)",
    "len('x' * 10**10)", "len(10**10 * 'x')", "len(str(10) * 10**10)", "len((1, 2) * 10**10)",
    "sum(range(10**12))", "max(reversed(range(10**22)))", "len(list(range(10**10)))",
    "tuple(range(10**22))[0]", "1 if 3.5 in range(10**22) else 0",
    "len([a for a in range(10**12)])", "sum(a for a in range(10**12))",
    "math.factorial(10**9)", "sorted(range(10**12))[0]", "min(enumerate(range(10**12)))[0]",
]  # fmt: skip


def launch(body: str) -> None:
    names: dict[str, Any] = {"cb": cb, "math": __import__("math")}
    cb.exec(f"@cb.cube\ndef kernel(out):\n{body}\n", names)
    names["kernel"].over(1, device="reference")(np.zeros(1, np.int32))


@pytest.mark.parametrize("expression", ENDLESS)
def test_endless_constants_are_refused(expression: str) -> None:
    begun = time.process_time()
    with pytest.raises(CubeError) as caught:
        launch(f"    out[0] = {expression}")
    assert isinstance(caught.value, ComptimeError | CubeTypeError)
    assert time.process_time() - begun < 5.0


@pytest.mark.parametrize(
    "body",
    [
        "    a, b = range(10**22)",
        "    for a, b in zip(range(10**22), range(10**22)):\n        out[0] = 1",
        "    for a in (*range(10**22),):\n        out[0] = 1",
        "    for a in cb.unroll(range(10**22)):\n        out[0] = 1",
    ],
)
def test_endless_sequences_are_refused(body: str) -> None:
    with pytest.raises((ComptimeError, CubeValueError), match="more than"):
        launch(body)


def test_long_ranges_that_nobody_runs_over_are_fine() -> None:
    @cb.cube
    def kernel(out: Array[i32]) -> None:
        out[0] = len(range(10**12)) - 10**12 + range(10**22)[5] + pow(3, 10**10, 7)
        out[1] = sum(range(10**4))

    out = np.zeros(2, np.int32)
    kernel.over(1, device="reference")(out)
    assert out.tolist() == [5 + pow(3, 10**10, 7), sum(range(10**4))]


def test_running_out_of_memory_is_an_error_with_a_reason() -> None:
    def exhausted() -> int:
        raise MemoryError

    names: dict[str, Any] = {"cb": cb, "exhausted": exhausted}
    text = "@cb.cube\ndef kernel(out):\n    out[0] = cb.comptime(exhausted())\n"
    cb.exec(text, names)
    with pytest.raises(ComptimeError, match="MemoryError while compiling: Python gives no reason"):
        names["kernel"][1, 1](np.zeros(1, np.int32))
