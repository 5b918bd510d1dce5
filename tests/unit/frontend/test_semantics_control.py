"""The page's sentences on control flow in combination; Python is the witness where it can be.

`test_control_flow` has each form by itself; here they meet: loop `else` around early returns of
helpers, unrolled and dynamic loops that share names, conditional expressions that load.
"""

# mypy: disable-error-code="unreachable"
# ruff: noqa: RUF021, PLW2901, PLW0120

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Tensor, i64
from cubepy.errors import CubeNameError, CubeSyntaxError, CubeTypeError, OutOfBoundsError
from tests.unit.frontend.python_witness import check

KERNELS: list[Any] = []


def case(function: Any) -> Any:
    KERNELS.append(function)
    return function


def helper_first_above(x: Any, start: Any, limit: Any) -> Any:
    for k in range(start, 12):
        if x[k] > limit:
            for j in range(k):
                if x[j] == x[k] - 1:
                    return k * 100 + j
            else:
                return k
        elif x[k] < 0:
            break
    else:
        if limit > 10:
            return -2
        return -1
    return -3


def helper_steps(n: Any) -> Any:
    steps = 0
    while n != 1:
        if n <= 0:
            return -1, n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
        if steps > 15:
            return steps, n
    return steps, 0


def helper_twice_nested(v: Any) -> Any:
    if v > 3:
        if v > 6:
            if v > 9:
                return 3
            return 2
        if v == 5:
            return 50
    else:
        while v > 0:
            v -= 2
            if v == 0:
                return -1
    return v


@case
def returns_of_helpers_in_loops_with_else(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    out[i, 0] = helper_first_above(x, i, x[i])
    steps, rest = helper_steps(x[i])
    out[i, 1] = steps
    out[i, 2] = rest
    for k in range(3):
        if helper_twice_nested(x[i] + k) > 2:
            break
        out[i, 3] += helper_twice_nested(k)
    else:
        out[i, 3] += 1000


@case
def unrolled_and_dynamic_loops_share_names(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    k = 0
    total = 0
    for k in cb.unroll(range(3)):
        total += k * x[i]
    total = total * 10 + k
    for k in range(x[i] % 4):
        total += k
        for j in cb.unroll(range(2)):
            total += j * k
            for k in range(2):
                total += k
    for j in range(2):
        for k in cb.unroll((5, 7)):
            if total % k == j:
                continue
            total += k
            if total > 60:
                break
        else:
            total += 1
    out[i, 0] = total
    out[i, 1] = k


@case
def conditional_expressions_that_load(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    right = x[i + 1] if i < 11 else -1
    left = x[i - 1] if i > 0 else x[i] if x[i] > 0 else 99
    out[i, 0] = right + 10 * left
    out[i, 1] = (x[right] if 0 <= right < 12 else 5) - (x[left] if left < 12 else left)
    both = (x[i], right) if right > left else (left, x[left] if left < 12 else 0)
    out[i, 2] = both[0] * 100 + both[1]


@case
def walrus_everywhere(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    n = 0
    while (v := x[i] - n) > 2 and (w := v * 2) < 20:
        n += w % 3 + 1
    out[i, 0] = v + n
    out[i, 1] = (p := x[i] % 3) * 10 + p
    if not (q := p > 1) or (r := x[i] // 2) > 100:
        out[i, 2] = i64(q)
    else:
        out[i, 2] = r + 50
    for _ in range(count := x[i] % 4):
        count += 1
    out[i, 3] = count


@case
def short_circuit_in_every_place(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    n = i
    while n < 12 and x[n] < 6 or n == 3:
        n += 1
    out[i, 0] = n
    out[i, 1] = 1 if i + 2 < 12 and x[i + 2] > x[i] or i == 11 else 0
    good = i > 0 and x[i - 1] < x[i] and not (i > 10 or x[i + 1] < 3)
    out[i, 2] = i64(good) if 0 <= i - 1 < 11 and x[i - 1] != 4 else -1


@case
def breaks_of_every_depth(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    found = 0
    for a in range(4):
        for b in range(4):
            c = 0
            while True:
                c += 1
                if c > a + b:
                    break
                if c == x[i]:
                    found += 100
                    continue
                if a * b == x[i]:
                    found += 1
                    break
            else:
                found = -1000
            if found > 300:
                break
        else:
            continue
        if x[i] > 2:
            break
    else:
        out[i, 1] = 7
    out[i, 0] = found
    if found == 0:
        return
    out[i, 2] = 1


@case
def swaps_stars_and_chains(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    a, b, *c = x[i], i, 3, 4
    a, b = b, a
    (a, b), d = (b, a + c[0]), len(c)
    e = f = a + d
    f += 1
    out[i, 0], out[i, 1] = e, f
    out[i, 1], out[i, 0] = out[i, 0], out[i, 1]
    if 0 <= x[i] < 5 <= x[i] + 4 != 8:
        out[i, 2] = a - b


@pytest.mark.parametrize("function", KERNELS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_kernel_does_what_python_does(function: Any, device: str) -> None:
    check(function, device)


# ── what is not evaluated ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_what_a_condition_guards_is_never_read_outside(device: str) -> None:
    """`validate` would raise for any access outside."""

    @cb.cube
    def guarded(x: Array[i64], out: Array[i64]) -> None:
        i = cb.ABSOLUTE_POS
        if i + 1 < len(x) and x[i + 1] > 0 or i > 0 and x[i - 1] > 0:
            out[i] = x[i + 1] if i + 1 < len(x) else x[i - 1]
        n = i
        while n < len(x) and x[n] != 3:
            n += 1
        out[i] += n if n == len(x) or x[n] == 3 else -100

    @cb.cube
    def selected(x: Array[i64], out: Array[i64]) -> None:
        i = cb.ABSOLUTE_POS
        out[i] = cb.select(i + 1 < len(x), x[i + 1], 0)

    x = np.array([0, 1, 3, 0, 2], np.int64)
    out = np.zeros(5, np.int64)
    guarded.over(5, device=device, check="validate")(x, out)
    assert out.tolist() == [1 + 2, 3 + 2, 2, 2 + 5, 5]
    with pytest.raises(OutOfBoundsError):  # both arms of select are evaluated
        selected.over(5, device=device, check="validate")(x, out)


# ── ranges ───────────────────────────────────────────────────────────────────────────────────────

TYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


@cb.cube
def counted(bounds, out, STEP: cb.Comptime[int]):  # type: ignore[no-untyped-def]
    i = cb.ABSOLUTE_POS
    total = 0
    for k in range(bounds[i, 0], bounds[i, 1], STEP):
        total = total * 3 + 1 + (1 if k == bounds[i, 0] else 0)
    out[i] = total


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("step", [1, 3, -1, -2, 100])
def test_ranges_stop_at_the_ends_of_their_type(type: Any, step: int) -> None:
    if step > np.iinfo(type).max:
        return
    low, high = int(np.iinfo(type).min), int(np.iinfo(type).max)
    pairs = [(high - 2, high), (high, high), (low, low + 3), (low + 2, low), (high, high - 3),
             (low, low), (high - 1, high), (low + 1, low), (high - 4, high - 1)]  # fmt: skip
    bounds = np.array(pairs, type)
    expected = []
    for start, stop in pairs:
        total = 0
        for k in range(start, stop, step):
            total = total * 3 + 1 + (k == start)
        expected.append(total)
    for device in ("reference", "cpu"):
        out = np.zeros(len(pairs), np.int32)
        counted.over(len(pairs), device=device)(bounds, out, step)
        assert out.tolist() == expected, device


def test_bounds_are_evaluated_once_and_a_run_time_step_may_have_any_sign() -> None:
    @cb.cube
    def kernel(n: Array[i64], out: Array[i64]) -> None:
        count = 0
        for _ in range(n[0], n[1], n[2]):
            n[1] += 1
            n[2] = 1
            count += 1
        out[0] = count

    for device in ("reference", "cpu"):
        for start, stop, step in ((0, 5, 2), (5, 0, -2), (0, 5, -1), (3, 3, 1), (0, 7, 100)):
            n, out = np.array([start, stop, step], np.int64), np.zeros(1, np.int64)
            kernel.over(1, device=device)(n, out)
            assert out[0] == len(range(start, stop, step)), (device, start, stop, step)


# ── names ────────────────────────────────────────────────────────────────────────────────────────


def refused(kind: type[Exception], match: str, *statements: str) -> None:
    names: dict[str, Any] = {"cb": cb}
    cb.exec("def kernel(x, n):\n" + "".join(f"    {line}\n" for line in statements), names)
    arguments = (np.zeros(4, np.float32), np.zeros(4, np.int32))
    with pytest.raises(kind, match=match):
        cb.cube(names["kernel"]).over(1, device="reference")(*arguments)


def test_a_name_must_be_assigned_on_every_path() -> None:
    message = "'v' is not assigned on every path"
    refused(CubeNameError, message, "if x[0] > 0.0: v = 1.0", "x[1] = v")
    refused(CubeNameError, message, "while x[0] > 0.0: v = 1.0", "x[1] = v")
    refused(CubeNameError, message, "for k in range(n[0]): v = 1.0", "x[1] = v")
    refused(CubeNameError, message, "for k in range(n[0]):", "  if k > 2: break", "  v = 1.0",
            "else: v = 2.0", "x[1] = v")  # fmt: skip
    refused(CubeNameError, message, "if x[0] > 0.0 and (v := x[1]) > 0.0: pass", "x[1] = v")
    refused(CubeNameError, message, "match n[0]:", "  case 0: v = 1.0", "  case 1: v = 2.0",
            "x[1] = v")  # fmt: skip
    refused(CubeNameError, "'k' is not assigned", "for k in range(n[0]): pass", "n[1] = k")


def test_recursion_and_values_of_kernels_are_refused() -> None:
    refused(CubeTypeError, "calls itself", "f = lambda v: f(v - 1)", "n[0] = f(3)")
    refused(CubeTypeError, "a kernel returns nothing", "return x[0]")
    refused(CubeSyntaxError, "kernels have no exceptions", "raise ValueError")
