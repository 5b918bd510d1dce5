"""Long kernels compile in time that grows with their length, and by no recursion over it."""

import sys
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import frontend, ir
from cubepy.errors import CubeValueError, UnsupportedError
from tests.growth import assert_grows_less


def lowered(text: str) -> ir.Kernel:
    names: dict[str, Any] = {"cb": cb}
    cb.exec(text, names)
    source = frontend.capture(names["kernel"])
    x = np.zeros(8, np.float32)
    return frontend.lower(source, frontend.specialize(source, {"x": x}, frontend.LaunchOptions()))


def long_sum(terms: int) -> str:
    return "def kernel(x):\n    x[0] = " + " + ".join(f"x[{k % 7}]" for k in range(terms)) + "\n"


def many_statements(count: int) -> str:
    body = "\n".join(f"    v = v * {k}.5 + x[{k % 7}]" for k in range(count))
    return f"def kernel(x):\n    v = x[0]\n{body}\n    x[1] = v\n"


def many_names(count: int) -> str:
    body = "\n".join(f"    v{k} = x[{k % 7}]\n    x[{k % 5}] = v{k}" for k in range(count))
    return f"def kernel(x):\n{body}\n"


def slot_updates(count: int) -> str:
    body = "\n".join(f"        v = v * {k}.5 + 1.0" for k in range(count))
    return f"def kernel(x):\n    v = x[0]\n    while v < 9.0:\n{body}\n    x[1] = v\n"


@pytest.mark.parametrize(
    ("text", "long"),
    [(long_sum, 2500), (many_statements, 5000), (many_names, 1000), (slot_updates, 1500)],
)
def test_time_grows_with_the_length(text: Any, long: int) -> None:
    limit = sys.getrecursionlimit()
    lowered(text(10))
    short = long // 5
    assert sum(1 for _ in ir.walk(lowered(text(long)).body)) > long
    # 25 times for a quadratic one
    assert_grows_less(lambda: lowered(text(short)), lambda: lowered(text(long)), 5 * 3)
    assert sys.getrecursionlimit() == limit


def test_too_many_operations_and_repetitions_are_errors() -> None:
    with pytest.raises(UnsupportedError, match="more than 50,000 operations"):
        lowered(
            "def kernel(x):\n"
            "    for i in cb.unroll(range(4000)):\n"
            "        x[i] += x[i + 1] * x[i + 2] + x[i + 3] * x[i + 4] + x[i + 5] * x[i + 6]\n"
        )
    with pytest.raises(CubeValueError, match="more than 4,096 times"):
        lowered("def kernel(x):\n    for i in cb.unroll(range(4097)):\n        x[i] = 0.0\n")


def test_deep_nesting_is_an_error_of_our_own() -> None:
    arms = "".join(f"    elif x[0] > {k}.0:\n        x[1] = {k}.0\n" for k in range(1300))
    with pytest.raises(UnsupportedError, match="nested too deeply"):
        lowered(f"def kernel(x):\n    if x[0] > 1e9:\n        return\n{arms}")
