"""Cases 36 to 54 and 95: control flow and names.

36, 37 and 39 are messages in `tests/errors` (assigned_in_one_branch, loop_variable_after_its_loop,
local_of_two_types_in_branches); 40 to 43 also stand in `test_control_flow` beside Python itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeNameError, CubeTypeError
from tests.cases.running import everywhere
from tests.unit.frontend.python_witness import check

X = np.array([3, 0, 7, 2, 5, 1], np.int64)
LIMIT = 4


def out() -> Any:
    return np.zeros(6, np.int64)


def made(*lines: str) -> Any:
    names: dict[str, Any] = {"cb": cb, "np": np}
    cb.exec("def kernel(x, out):\n    i = cb.ABSOLUTE_POS\n"
            + "".join(f"    {line}\n" for line in lines), names)  # fmt: skip
    return names["kernel"]


def result(*lines: str) -> list[int]:
    *_, found = everywhere(made(*lines), X, out())
    return [int(value) for value in found]


def test_case_36_assigned_in_one_branch_names_both_places() -> None:
    with pytest.raises(CubeNameError) as caught:
        result("if x[i] > 2:", "    v = 1", "out[i] = v")
    assert "'v' is not assigned on every path" in str(caught.value)
    assert "note: not assigned where this is false" in str(caught.value)


def test_case_37_loop_variable_after_its_loop() -> None:
    assert result("k = -1", "for k in range(x[i]): pass", "out[i] = k") == [
        value - 1 if value else -1 for value in X.tolist()]  # fmt: skip


def test_case_38_integer_that_becomes_a_float() -> None:
    found = result("v = 1", "for k in range(3):", "    v = v * 1.5", "out[i] = cb.i64(v * 1000.0)")
    assert found == [3375] * 6
    with pytest.raises(CubeTypeError, match="'v' is i64 and cannot become f32"):
        result("v = x[i]", "for k in range(3):", "    v = cb.f32(v) * 1.5")


def test_case_40_reassigned_in_nested_branches() -> None:
    found = result("v = 1", "if x[i] > 1:", "    v = 2", "    if x[i] > 4:", "        v = 3",
                   "    else:", "        v += 10", "out[i] = v")  # fmt: skip
    assert found == [1 if v <= 1 else 3 if v > 4 else 12 for v in X.tolist()]


def test_case_41_unrolled_and_dynamic_loops_of_one_name() -> None:
    found = result("t = 0", "for k in cb.unroll(range(3)): t += k * x[i]",
                   "for k in range(x[i]): t += k", "for k in cb.unroll(range(2)):",
                   "    for k in range(2): t += k", "out[i] = t")  # fmt: skip
    assert found == [3 * v + sum(range(v)) + 2 for v in X.tolist()]


def every_exit(x: cb.Array[cb.i64], out: cb.Tensor[cb.i64]) -> None:
    i = cb.ABSOLUTE_POS
    for a in range(5):
        if a == 1:
            continue
        n = 0
        while True:
            n += 1
            if n == x[i]:
                out[i, 1] += n
                break
            if n > 3:
                if a + n == x[i]:
                    out[i, 2] = a
                    return
                break
        if a > x[i]:
            break
        out[i, 0] += a * 10 + n
    else:
        out[i, 3] = 1


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_case_42_and_43_exits_of_nested_loops_and_their_else(device: str) -> None:
    check(every_exit, device)


def test_case_44_chained_comparisons() -> None:
    assert result("out[i] = cb.i64(1 < 5 < 3) + 2 * cb.i64(1 < x[i] < 6) + "
                  "4 * cb.i64(0 <= x[i] == i == x[i])") == [
        2 * (1 < v < 6) + 4 * (0 <= v == i == v) for i, v in enumerate(X.tolist())]  # fmt: skip
    # the middle is evaluated once, the right side only where the left holds
    found = result("n = cb.local_array(cb.i64, 1, 0)",
                   "def middle():", "    n[0] = n[0] + 1", "    return x[i]",
                   "def right():", "    n[0] = n[0] + 10", "    return 4",
                   "t = 2 < middle() < right()", "out[i] = n[0]")  # fmt: skip
    assert found == [11 if v > 2 else 1 for v in X.tolist()]


def test_case_45_conditions_guard_what_stands_behind_them() -> None:
    kernel = cb.cube(
        made("out[i] = cb.i64(i + 1 < len(x) and x[i + 1] > 2 or i < 1 and x[0] == 3)")
    )
    found = out()
    kernel.over(6, device="reference", check="validate")(X, found)
    assert found.tolist() == [1, 1, 0, 1, 0, 0]


def test_case_46_and_or_of_integers_are_refused() -> None:
    for text in ("x[i] or 5", "x[i] and 5", "0 < x[i] and x[i]"):
        with pytest.raises(CubeTypeError, match="a condition must be bool, not i64"):
            result(f"out[i] = {text}")


def test_case_47_swaps_chains_stars_and_walrus() -> None:
    found = result("a, b = x[i], i", "a, b = b, a", "c = d = a", "d += 1", "e, *f = a, b, c",
                   "out[i] = a + 10 * b + 100 * (d - c) + 1000 * len(f) + (g := e)",
                   "out[i] -= g")  # fmt: skip
    assert found == [i + 10 * v + 100 + 2000 for i, v in enumerate(X.tolist())]
    with pytest.raises(CubeTypeError, match="3 values for 2 names"):
        result("a, b = 1, 2, 3")


def test_case_48_empty_unrolled_range() -> None:
    assert result("for k in cb.unroll(range(0)): out[i] = 1", "for k in (): out[i] = 2") == [0] * 6


def test_case_49_loads_stay_behind_stores_to_the_same_array() -> None:
    def kernel(x, out):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        for k in range(4):
            out[i] = out[i] * 3 + x[i]
            x[i] = x[i] + k
        t = out[i]
        out[i] = 0
        out[i] = t + out[i]
        cb.atomic_add(out, i, 1)
        out[i] = out[i] * 2

    expected = []
    for value in X.tolist():
        total = 0
        for k in range(4):
            total = total * 3 + value
            value += k  # noqa: PLW2901
        expected.append((total + 1) * 2)
    *_, found = everywhere(kernel, X, out())
    assert found.tolist() == expected


def test_case_50_names_that_shadow() -> None:
    def kernel(min, range_, out, *, LIMIT):  # type: ignore[no-untyped-def]
        i = cb.ABSOLUTE_POS
        float = min[i]
        X = float + range_[i]
        out[i] = X + LIMIT

    for device in ("reference", "cpu"):
        found = out()
        cb.cube(kernel).over(6, device=device)(X, X, found, LIMIT=100)
        assert found.tolist() == (2 * X + 100).tolist()
    with pytest.raises(CubeTypeError, match="max is a variable here"):
        result("max = x[i]", "out[i] = max(x[i], 3)")


def test_case_51_functions_in_variables() -> None:
    assert result("f = lambda v: v + 1", "f = lambda v, g=f: g(v) * 2", "out[i] = f(x[i])") == [
        (v + 1) * 2 for v in X.tolist()]  # fmt: skip
    with pytest.raises(CubeTypeError, match="under run-time control flow"):
        result("f = abs", "if x[i] > 2:", "    f = round", "out[i] = f(x[i])")


def test_case_52_misspelt_namespaces_are_errors() -> None:
    for text in ("cb.foo.bar.ABSOLUTE_POS", "np.linalg.ABSOLUTE_POS", "cb.errors.sqrt"):
        with pytest.raises(CubeNameError, match="has no attribute"):
            result(f"out[i] = {text}")


def test_case_53_what_a_condition_guards_is_not_executed() -> None:
    found = result("out[i] = 100 // x[i] if x[i] != 0 else -1",
                   "if x[i] > 2: out[i] += 1 << (x[i] - 3)")  # fmt: skip
    assert found == [(100 // v if v else -1) + (1 << (v - 3) if v > 2 else 0) for v in X.tolist()]


def test_case_54_opaque_branches_change_nothing() -> None:
    plain = ("t = 0", "for k in range(4):", "    if x[(i + k) % 6] > 2: t += k * x[i]",
             "out[i] = t")  # fmt: skip
    opaque = ("zero = x[1]", "t = 0", "if zero != 0:", "    out[i] = 99", "    t = 5",
              "for k in range(4 + zero):", "    if zero == 0:",
              "        if x[(i + k) % 6] > 2: t += k * x[i]", "    else:", "        t -= 1",
              "    if zero > k: out[i] = t", "out[i] = t if zero == 0 else 7")  # fmt: skip
    assert result(*plain) == result(*opaque)


def test_case_95_reductions_in_two_branches() -> None:
    found = result("t = 0", "if i < 3:", "    for k in range(6): t += x[k]", "else:",
                   "    for k in range(i): t = max(t, x[k])", "out[i] = t")  # fmt: skip
    values = X.tolist()
    assert found == [sum(values)] * 3 + [max(values[:i]) for i in range(3, 6)]
