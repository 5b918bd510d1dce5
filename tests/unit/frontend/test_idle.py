"""Warnings of what is permitted and hardly meant; nothing is said of what may be on purpose."""

import subprocess
import sys
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32, frontend, i32
from cubepy.errors import CubeTypeError, CubeWarning

# mypy: disable-error-code="operator,comparison-overlap,unreachable"

X = np.zeros(4, np.float32)


def lowered(function: Callable[..., Any], *arguments: Any) -> None:
    source = frontend.capture(function)
    bound = source.signature.bind(*arguments).arguments
    frontend.lower(source, frontend.specialize(source, bound, frontend.LaunchOptions()))


def warned(function: Callable[..., Any], *arguments: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        lowered(function, *arguments)
    assert all(each.category is CubeWarning for each in found)
    assert all(each.filename == __file__ for each in found)
    return [str(each.message).splitlines()[0] for each in found]


def test_a_scalar_parameter_assigned_for_nothing() -> None:
    def kernel(x: Array[f32], total: f32) -> None:
        i = cb.ABSOLUTE_POS
        for j in range(4):
            total = total + x[j]
        x[i] = 0.0

    found = warned(kernel, X, 0.0)
    assert found == [
        "nothing reads what is assigned to the parameter total here, and the caller does not see it"
    ]


def test_a_kernel_that_stores_nothing() -> None:
    def kernel(x: Array[f32]) -> None:
        y = x[cb.ABSOLUTE_POS] * 2.0
        y += 1.0

    assert warned(kernel, X) == ["kernel stores nothing: a launch of it changes nothing"]


def test_stores_behind_a_loop_without_an_end() -> None:
    def kernel(x: Array[f32]) -> None:
        i = 0
        while True:
            i += 1
            for k in range(i):
                if k == 2:
                    break  # of the inner loop
        x[0] = f32(i)

    def leaves(x: Array[f32]) -> None:
        i = 0
        while True:
            i += 1
            if i > 3:
                break
        x[0] = f32(i)

    def stores_in_it(x: Array[f32]) -> None:
        while True:
            x[0] += 1.0

    assert warned(kernel, X) == ["kernel stores nothing: a launch of it changes nothing"]
    assert warned(leaves, X) == []
    assert warned(stores_in_it, X) == []
    with pytest.warns(CubeWarning, match="with break: nothing behind it is reached"):
        lowered(kernel, X)


def test_a_kernel_that_fills_only_shared_memory() -> None:
    def kernel(x: Array[f32]) -> None:
        tile = cb.shared(f32, 4)
        keep(tile, x[cb.UNIT_POS])

    def keep(tile: Any, value: Any) -> None:
        tile[0] = value

    assert warned(kernel, X) == ["kernel stores nothing: a launch of it changes nothing"]


def test_a_chain_of_comparisons_around_a_bitwise_operator() -> None:
    def kernel(x: Array[f32], n: i32) -> None:
        if n == 1 | n == 3:
            x[0] = 1.0

    assert warned(kernel, X, 3) == [
        "`|` binds tighter than a comparison: this reads n == (1 | n) == 3"
    ]


def stores_by_a_helper(x: Array[f32]) -> None:
    put(x, 1.0)


def put(x: Any, value: Any) -> None:
    x[0] = value


def stores_by_an_atomic(x: Array[f32]) -> None:
    cb.atomic_add(x, 0, 1.0)


def prints(x: Array[f32]) -> None:
    print("first", x[0])


def asserts(x: Array[f32]) -> None:
    assert x[0] == 0.0


def empty(x: Array[f32]) -> None:
    """Nothing, on purpose."""


def stores_under_a_comptime_condition(x: Array[f32], wanted: Comptime[bool]) -> None:
    if wanted:
        x[0] = 1.0


def reads_what_it_assigns(x: Array[f32], n: i32) -> None:
    n = n + 1
    x[0] = f32(n)


def reads_in_the_next_trip(x: Array[f32], n: i32) -> None:
    for j in range(3):
        x[j] = f32(n)
        n = n - 1


def reads_in_a_function(x: Array[f32], n: i32) -> None:
    def value() -> Any:
        return f32(n)

    n = n + 1
    x[0] = value()


def another_local_of_that_name(x: Array[f32], n: i32) -> None:
    def value(v: Any) -> Any:
        n = v + 1.0
        n *= 2.0
        return n

    x[0] = value(f32(n))


def array_by_another_name(x: Array[f32], y: Array[f32]) -> None:
    y = x
    y[0] = 1.0


def brackets(x: Array[f32], n: i32) -> None:
    if 0 < (n & 3) < 2 and n & 1 == 0:
        x[0] = 1.0


QUIET: dict[Callable[..., Any], tuple[Any, ...]] = {
    stores_by_a_helper: (),
    stores_by_an_atomic: (),
    prints: (),
    asserts: (),
    empty: (),
    stores_under_a_comptime_condition: (False,),
    reads_what_it_assigns: (3,),
    reads_in_the_next_trip: (3,),
    reads_in_a_function: (3,),
    another_local_of_that_name: (3,),
    array_by_another_name: (X,),
    brackets: (3,),
}


@pytest.mark.parametrize("kernel", QUIET)
def test_nothing_is_said_of(kernel: Callable[..., Any]) -> None:
    assert warned(kernel, X, *QUIET[kernel]) == []


def test_brackets_decide_what_binds() -> None:
    @cb.cube
    def kernel(x: Array[f32], n: i32) -> None:
        i = cb.ABSOLUTE_POS
        x[i] = cb.select((n & 1 == 1) & (x[i] > 1) & (x[i] < 3), 5.0, 0.0)

    x = np.array([1, 2, 3, 2.5], np.float32)
    kernel.over(4, device="reference")(x, 3)
    assert x.tolist() == [0, 5, 0, 5]


@pytest.mark.parametrize("rank", [1, 2])
def test_an_array_parameter_assigned_for_nothing_is_an_error(rank: int) -> None:
    def kernel(x: Tensor[f32], out: Tensor[f32]) -> None:
        n = len(out)
        print(n)
        out = x

    array = np.zeros((4,) * rank, np.float32)
    with pytest.raises(CubeTypeError, match=r"help: store an element: out\[i\] = …"):
        lowered(kernel, array, array)


def test_a_warning_is_shown_once_with_the_kernels_line(tmp_path: Path) -> None:
    program = """
        import numpy as np, cubepy as cb

        @cb.cube
        def kernel(x):
            y = x[0]

        for _ in range(2):
            kernel.over(3)(np.zeros(3, np.float32))
            kernel.over((1, 3))(np.zeros((3, 3), np.float32)[0])
    """
    file = tmp_path / "idle.py"
    file.write_text(textwrap.dedent(program), encoding="utf-8")
    command = [sys.executable, "-X", "utf8", str(file)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert run.stderr == (
        f"{file}:5: CubeWarning: kernel stores nothing: a launch of it changes nothing\n"
        "    5 | def kernel(x):\n"
        "      | ^^^^^^^^^^^^^^\n"
        "  help: store the result in an array: out[i] = …\n"
        "  def kernel(x):\n"
    )
