"""Control flow: every kernel here is also run by Python itself, unit by unit, as the witness."""

# ruff: noqa: RUF021, FBT002, PLW2901, PLW0120, RET508 (odd control flow is the point)

from typing import Any

import pytest

import cubepy as cb
from cubepy import Array, Tensor, i64
from tests.unit.frontend.python_witness import check

KERNELS: list[Any] = []


def case(function: Any) -> Any:
    KERNELS.append(function)
    return function


def helper_pair(a: Any, b: Any = 3) -> Any:
    if a > b:
        return a - b, True
    for k in range(5):
        if k * a > b:
            return k, False
    return b, a == b


def helper_search(x: Any, start: Any, wanted: Any) -> Any:
    at = start
    while at < len(x):
        if x[at] == wanted:
            return at
        at += 1
    return -1


@case
def nested_breaks(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    count = 0
    for a in range(x[i]):
        for b in range(a):
            if b == 3:
                break
            if (a + b) % 3 == 0:
                continue
            count += b + 1
        else:
            count += 100
        if count > 400:
            break
    else:
        count = -count
    out[i, 0] = count


@case
def while_with_everything(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    n = x[i]
    steps = 0
    while n > 1 and steps < 40:
        steps += 1
        if n % 2 == 0:
            n //= 2
            continue
        if n == 7:
            break
        n = 3 * n + 1
    else:
        steps += 1000
    out[i, 0] = steps
    out[i, 1] = n


@case
def return_from_the_depth(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    out[i, 0] = 1
    if x[i] < 3:
        return
    out[i, 0] = 2
    for a in range(5):
        b = 0
        while True:
            b += 1
            if b * a > x[i]:
                out[i, 1] = b
                return
            if b > 6:
                break
        out[i, 2] = a
    out[i, 3] = 9


@case
def elif_chain(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    if v < 0:
        kind = 0
    elif v == 0:
        kind = 1
    elif v % 2 == 0 and v > 4:
        kind = 2
        v = -v
    elif not v > 3:
        kind = 3
    else:
        kind = 4
    out[i, 0] = kind
    out[i, 1] = v


@case
def chained_and_short_circuit(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    out[i, 0] = 1 if 0 < x[i] <= 5 < 2 * x[i] != 8 else 0
    j = i + 3
    out[i, 1] = 1 if j < len(x) and x[j] > 2 or x[i] == 1 and not (j >= len(x)) else 0
    out[i, 2] = x[j] if j < len(x) else x[0] if x[i] > 2 else -5
    if j >= len(x) or x[j] < 3:
        out[i, 3] = 7


@case
def walrus_in_conditions(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    at = i
    total = 0
    while at < len(x) and (value := x[at]) != 5:
        total += value
        at += 1
    out[i, 0] = total
    if (twice := 2 * x[i]) > 8:
        out[i, 1] = twice
    out[i, 2] = (a := x[i] + 1) * a


@case
def tuples_and_swaps(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    a, b = 0, 1
    for _ in range(x[i]):
        a, b = b, a + b
    pair = (a, b)
    if x[i] % 2 == 0:
        pair = (pair[1], pair[0])
    (first, second), third = pair, a * b
    out[i, 0], out[i, 1] = second, first
    first = third = third - 1
    out[i, 2] = first + third
    head, *rest = 1, 2, 3, x[i]
    out[i, 3] = head + rest[0] * rest[1] + rest[2]


@case
def unrolled_exits(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    total = 0
    last = -1
    for k in cb.unroll(range(6)):
        if k == 4:
            continue
        if x[i] == k:
            continue
        if total > 2 * x[i] + 3:
            break
        total += k + 1
        last = k
    else:
        total += 100
    out[i, 0] = total
    out[i, 1] = last
    for weight, offset in ((2, 0), (3, 1), (5, 2)):
        if i + offset >= len(x):
            break
        out[i, 2] += weight * x[i + offset]
    for k in cb.unroll(range(3)):
        for m in range(x[i]):
            if m == k:
                break
            if m + k == 3:
                continue
            out[i, 3] += m


@case
def variables_of_unrolled_bodies(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    for k in cb.unroll(range(3)):
        if x[i] > k:
            w = 0
            while w < 3 and w < x[i] - k:
                w += 1
            out[i, 0] += w
        else:
            continue
        out[i, 1] += k
    for k in cb.unroll(range(3)):
        previous = x[i] if k == 0 else previous + k  # type: ignore[has-type]  # noqa: F821
        out[i, 2] = previous


@case
def helpers(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    value, flag = helper_pair(x[i])
    out[i, 0] = value
    if flag:
        out[i, 1] = 1
    out[i, 2] = helper_search(x, i, 5)
    out[i, 3] = helper_pair(b=x[i], a=2)[0]


@case
def functions_inside(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    scale = 2

    def scaled(v: Any, twice: Any = True) -> Any:
        if v < 3:
            return v
        return v * scale * (2 if twice else 1)

    out[i, 0] = scaled(x[i])
    scale = x[i] + 1
    out[i, 1] = scaled(x[i], twice=False)
    add: Any = lambda a, b=scale: a + b  # noqa: E731
    out[i, 2] = add(1) + add(2, 3)


@case
def loop_variables(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    k = -1
    for k in range(x[i]):
        if k == 4:
            break
    out[i, 0] = k
    for j in range(10, 0, -3):
        out[i, 1] += j
        j += 100
        out[i, 2] += j
    for j in range(x[i], 5):
        out[i, 3] += j
    for j in range(3):
        for j in range(j, 4):  # noqa: B020
            out[i, 3] += 10 * j
        out[i, 3] += j


@case
def matches(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    match x[i]:
        case 0 | 2 | 4:
            out[i, 0] = 1
        case 7:
            out[i, 0] = 2
        case other:
            out[i, 0] = other + 50


@case
def zero_trips(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    for k in range(0):
        out[i, 0] = k
    for k in range(5, 5):
        out[i, 0] = k
    for k in range(3, 8, -1):
        out[i, 0] = k
    for _ in cb.unroll(range(0)):
        out[i, 0] = 1
    else:
        out[i, 1] = 1
    while x[i] > 100:
        out[i, 2] = 1
    else:
        out[i, 3] = 1


@case
def assigned_in_every_arm(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    while True:
        if x[i] > 5:
            result = 1
            break
        elif x[i] > 2:
            result = 2
            break
        else:
            result = 3
            if result > 2:
                break
    out[i, 0] = result
    for k in range(4):
        if k > x[i]:
            where = k
            break
    else:
        where = 100
    out[i, 1] = where


@pytest.mark.parametrize("function", KERNELS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_kernel_does_what_python_does(function: Any, device: str) -> None:
    check(function, device)
