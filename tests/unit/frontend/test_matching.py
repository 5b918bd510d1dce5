"""`match`: guards, alternatives, captures and sequences do what they do in Python."""

# mypy: disable-error-code="unreachable"

from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, i64
from cubepy.errors import CubeSyntaxError, CubeTypeError
from tests.unit.frontend.python_witness import check

KERNELS: list[Any] = []


def case(function: Any) -> Any:
    KERNELS.append(function)
    return function


def helper_kind(v: Any) -> Any:
    match v:
        case 0:
            return 10
        case k if k > 6:
            return k
        case 1 | 2 | 3 as k:
            return -k
        case _:
            return 99


def helper_every_case_returns(v: Any, w: Any) -> Any:
    match v:
        case 1 | 2 if w > 3:
            return 1
        case _ if w == 5:
            return 2
        case _:
            return 3


@case
def guards(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    v = x[i]
    match v:
        case 0 if i > 100:
            out[i, 0] = 1
        case 0 | 1:
            out[i, 0] = 2
        case 2 | 3 if v == 2:
            out[i, 0] = 3
        case k if k % 2 == 0 and k > 4:
            out[i, 0] = k * 10
        case k if k == 3:
            out[i, 0] = -k
        case other:
            out[i, 0] = other + 1000


@case
def names_stay_bound_if_the_guard_fails(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    k = -1
    match x[i]:
        case 1 | 2 | 3 as k if k > 1:
            out[i, 0] = 1
        case 5 as k:
            out[i, 0] = 2
    out[i, 1] = k


@case
def walrus_in_a_guard(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    half = 0
    match x[i]:
        case 4 | 6 | 8 if (half := x[i] // 2) > 2:
            out[i, 0] = half
        case k if (rest := k % 3) == 1:
            out[i, 0] = rest * 100 + k
        case _:
            out[i, 0] = -5
    out[i, 1] = half


@case
def a_guard_is_asked_only_where_its_pattern_holds(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    match i:
        case 3 if helper_kind(x[i]) == -3:
            out[i, 0] = 1
        case 0 | 1 | 2 | 4 if x[i] > 1 and x[i - 1] > 0:
            out[i, 0] = 2


@case
def leaving_from_cases(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    for k in range(6):
        match x[i] - k:
            case 0:
                out[i, 0] = k + 1
                break
            case 7 if k == 1:
                return
            case v if v < 0:
                continue
            case v:
                out[i, 1] += v
        out[i, 2] += 1
    else:
        out[i, 3] = 7


@case
def nested(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    match x[i] % 3:
        case 0:
            match x[i] // 3:
                case 1 | 2:
                    out[i, 0] = 5
                case k:
                    out[i, 0] = k
        case k:
            out[i, 0] = -k
            match k:
                case 1 if x[i] > 4:
                    out[i, 1] = 1


@case
def tuples(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    match i > 4, x[i] > 6:
        case True, False:
            out[i, 3] = 1
        case False | True, True:
            out[i, 3] = 2
    match x[i] % 2, x[i] > 4:
        case 0, False:
            out[i, 0] = 1
        case 0, _:
            out[i, 0] = 2
        case rest, True if x[i] > 6:
            out[i, 0] = 10 + rest
        case (rest, _) as both:
            out[i, 0] = 20 + rest
            out[i, 1] = both[0]
    match (x[i], (i, 3)):
        case (a, (b, 2)):
            out[i, 2] = a + b
        case (a, (b, 3)) if a == b:
            out[i, 2] = 100 + a
        case (0 | 13, _):
            out[i, 2] = -1


@case
def values_of_attributes_and_signs(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    match x[i] - 3:
        case -2:
            out[i, 0] = 1
        case -1 | 1:
            out[i, 0] = 2
        case True:
            out[i, 0] = 3


@case
def as_results_of_helpers(x: Array[i64], out: Tensor[i64]) -> None:
    i = cb.ABSOLUTE_POS
    out[i, 0] = helper_kind(x[i])
    out[i, 1] = helper_every_case_returns(x[i], i)


@pytest.mark.parametrize("function", KERNELS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_match_does_what_python_does(function: Any, device: str) -> None:
    check(function, device)


@cb.cube
def by_mode(x: Array[i64], mode: Comptime[Any]) -> None:
    match mode:
        case "double":
            x[0] = 2
        case "triple" | "thrice":
            x[0] = 3
        case None:
            x[0] = 4
        case (1, k):
            x[0] = k
        case other:
            x[0] = len(other)


@pytest.mark.parametrize(
    ("mode", "result"),
    [("double", 2), ("thrice", 3), (None, 4), ((1, 8), 8), ("longer", 6)],
)
def test_values_known_while_compiling(mode: Any, result: int) -> None:
    x = np.zeros(1, np.int64)
    by_mode.over(1, device="reference")(x, mode)
    assert x[0] == result


def test_what_no_kernel_matches() -> None:
    @cb.cube
    def starred(x: Array[i64]) -> None:
        match x[0], x[1]:
            case (a, *_):
                x[0] = a

    @cb.cube
    def number(x: Array[i64]) -> None:
        match x[0]:
            case (a, b):
                x[0] = a + b

    with pytest.raises(CubeSyntaxError, match="kernels match no starred names"):
        starred.over(1, device="reference")(np.zeros(2, np.int64))
    with pytest.raises(CubeTypeError, match="cannot match i64 with a sequence"):
        number.over(1, device="reference")(np.zeros(2, np.int64))
