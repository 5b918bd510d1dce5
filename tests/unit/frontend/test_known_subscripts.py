"""A subscript known while compiling lies inside of what has a known shape, or is an error."""

import itertools
from typing import Any

import numpy as np
import pytest

import cubepy as cb
from cubepy.errors import CubeValueError

SHAPES: list[tuple[int, ...]] = [(1,), (3,), (2, 3), (2, 1, 4)]
MEMORIES = {
    "private": "cb.local_array(i32, {shape}, fill=7)",
    "shared": "cb.shared(i32, {shape})",
    "view": "cb.local_array(i32, {size}, fill=7).reshape({shape})",
    "slice": "cb.local_array(i32, {wider}, fill=7)[{slices}]",
}
ACCESSES = ("a[{at}] = 5", "a[{at}] += 5", "out[0] = a[{at}]", "out[0] = reads(a)")


def kernel_of(memory: str, shape: tuple[int, ...], access: str, at: tuple[int, ...]) -> Any:
    where = ", ".join(map(str, at))
    made = MEMORIES[memory].format(
        shape=shape,
        size=int(np.prod(shape)),
        wider=tuple(extent + 2 for extent in shape),
        slices=", ".join(f"1:{extent + 1}" for extent in shape),
    )
    namespace: dict[str, Any] = {}
    cb.exec(
        f"""
import cubepy as cb
from cubepy import Array, Tensor, i32

def reads(a):
    return a[{where}]

@cb.cube
def kernel(out: Array[i32]):
    a = {made}
    {access.format(at=where)}
    out[1] = 1
""",
        namespace,
    )
    return namespace["kernel"]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("memory", MEMORIES)
def test_inside_compiles_and_outside_does_not(memory: str, shape: tuple[int, ...]) -> None:
    edges = [(extent - 1, extent, extent + 5) for extent in shape]
    for number, at in enumerate(itertools.product(*edges)):
        kernel = kernel_of(memory, shape, ACCESSES[number % len(ACCESSES)], at)
        out = np.zeros(2, np.int32)
        if all(index < extent for index, extent in zip(at, shape, strict=True)):
            kernel[1, 1](out)
            assert out[1] == 1
            continue
        with pytest.raises(CubeValueError, match=r"the subscript \d+ is outside") as caught:
            kernel[1, 1](out)
        line = str(caught.value).splitlines()
        wrong = next(str(i) for i, extent in zip(at, shape, strict=True) if i >= extent)
        assert line[1][line[2].index("^") :].startswith(wrong)


def test_nothing_is_said_where_the_length_decides_that_it_is_not_reached() -> None:
    namespace: dict[str, Any] = {}
    cb.exec(
        """
import cubepy as cb
from cubepy import Array, i32

def third(a, c):
    if len(a) > 2:
        return a[2]
    if c and len(a) > 2 and a[2] > 0:
        return 100
    if len(a) <= 2 or a[2] > 0:
        return a[2] if len(a) > 2 else -1
    return 0

@cb.cube
def kernel(out: Array[i32]):
    short, long = cb.local_array(i32, 2, fill=4), cb.local_array(i32, 3, fill=6)
    out[0] = third(short, out[2] > 0)
    out[1] = third(long, out[2] > 0)
    if cb.comptime(len((1, 2)) > 2):
        out[0] = short[2]
""",
        namespace,
    )
    for device in ("reference", "cpu"):
        out = np.full(3, 9, np.int32)
        namespace["kernel"].over(1, device=device)(out)
        assert out.tolist() == [-1, 6, 9]


def test_a_subscript_that_varies_is_tested_at_run_time() -> None:
    namespace: dict[str, Any] = {}
    cb.exec(
        """
import cubepy as cb
from cubepy import Array, i32

@cb.cube
def kernel(out: Array[i32]):
    a = cb.local_array(i32, 3, fill=1)
    for k in range(6):
        a[k] = i32(k) + 1
        out[k] = a[k]
""",
        namespace,
    )
    for device in ("reference", "cpu"):
        out = np.full(6, 9, np.int32)
        namespace["kernel"].over(1, device=device)(out)
        assert out.tolist() == [1, 2, 3, 0, 0, 0]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("x[i] > 0 and (y := 7) > 3", [0, 7]),
        ("x[i] > 0 and (y := 7) > 9", [0, 7]),
        ("x[i] > 0 or (y := 7) > 3", [7, 0]),
        ("x[i] > 0 and (y := 7) > 3 and x[i] < 9", [0, 7]),
        ("len(a) > 1 and x[i] > 0 and (y := x[i]) > 0", [0, 4]),
    ],
)
def test_a_walrus_behind_a_condition_known_while_compiling(
    condition: str, expected: list[int]
) -> None:
    namespace: dict[str, Any] = {}
    cb.exec(
        f"""
import cubepy as cb
from cubepy import Array, i32

@cb.cube
def kernel(x: Array[i32], out: Array[i32]):
    i = cb.ABSOLUTE_POS
    a = cb.local_array(i32, 2, fill=0)
    y = 0
    if {condition}:
        out[i] = 1
    out[i] = y
""",
        namespace,
    )
    x = np.array([0, 4], np.int32)
    for device in ("reference", "cpu"):
        out = np.full(2, 9, np.int32)
        namespace["kernel"].over(2, device=device)(x, out)
        assert out.tolist() == expected
