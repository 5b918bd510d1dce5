"""Inspections without arguments: what is assumed of them, and that it is said."""

import subprocess
import sys
from typing import Any

import pytest

import cubepy as cb
from cubepy import Array, Comptime, Tensor, f32
from cubepy.cube import Cube
from cubepy.errors import CubeError
from cubepy.inspection import axes_of_launch, example_arguments


def corner(volume: Any, i: int, j: int) -> Any:
    return volume[i, j, 0]


@cb.cube
def row(values: Any) -> Any:
    return values[cb.ABSOLUTE_POS_Y, 0]


@cb.cube
def flat(x: Array[f32], out: Array[f32]) -> None:
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


@cb.cube
def picture(x: Tensor[f32], out: Tensor[f32]) -> None:
    out[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X] = x[cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X]


@cb.cube
def line(x: Tensor[f32], out: Tensor[f32]) -> None:
    out[cb.ABSOLUTE_POS] = x[cb.ABSOLUTE_POS]


@cb.cube
def deep(x: Tensor[f32], out: Array[f32]) -> None:
    total = x.dtype(0)
    for k in range(x.shape[2]):
        total += x[cb.ABSOLUTE_POS_Z, cb.ABSOLUTE_POS_X, k]
    out[0] = total


@cb.cube
def unpacked(x: Tensor[f32], out: Array[f32]) -> None:
    planes, rows, columns, channels = x.shape
    out[cb.ABSOLUTE_POS] = f32(planes * rows * columns * channels)


@cb.cube
def helped(x: Tensor[f32], y: Tensor[f32], out: Array[f32]) -> None:
    out[cb.ABSOLUTE_POS] = corner(x, i=0, j=1) + corner(j=0, i=1, volume=y) + row(values=y)


@cb.cube
def counted(bins: Tensor[f32], out: Any) -> None:
    cb.atomic_add(bins, (cb.ABSOLUTE_POS, 0), 1.0)
    if len(out) > 0:
        out[cb.ABSOLUTE_POS] = bins[0, 0]


@cb.struct
class World:
    heights: Tensor[f32]
    levels: Array[f32]
    scale: f32


def highest(world: Any) -> Any:
    return world.heights[0, 0, 1] * world.scale


@cb.cube
def structured(world: World) -> None:
    world.levels[cb.ABSOLUTE_POS] = highest(world)


@cb.cube
def untouched(x: Tensor[f32], out: Array[f32]) -> None:
    out[0] = f32(x.ndim)


@pytest.mark.parametrize(
    ("kernel", "called", "assumed"),
    [
        (flat, "x=f32[:], out=f32[:]; over a shape of 1 axis,", ()),
        (
            picture,
            "x=f32[:,:], out=f32[:,:]; over a shape of 2 axes,",
            ("x, out: 2 axes as subscripted",),
        ),
        (line, "x=f32[:], out=f32[:]; over a shape of 1 axis,", ("x, out: 1 axis as subscripted",)),
        (
            deep,
            "x=f32[:,:,:], out=f32[:]; over a shape of 3 axes,",
            ("x: 3 axes as subscripted",),
        ),
        (unpacked, "x=f32[:,:,:,:], out", ("x: 4 axes as subscripted",)),
        (
            helped,
            "x=f32[:,:,:], y=f32[:,:,:], out=f32[:]; over a shape of 2 axes",
            ("x, y: 3 axes as subscripted",),
        ),
        (
            counted,
            "bins=f32[:,:], out=f32[:]; over",
            ("bins: 2 axes as subscripted", "out: f32", "out: 1 axis as subscripted"),
        ),
        (
            structured,
            "world.heights=f32[:,:,:], world.levels=f32[:], world.scale=f32; over a shape of 1",
            ("world.heights: 3 axes as subscripted",),
        ),
        (untouched, "x=f32[:,:], out=f32[:]; over", ("x: 2 axes",)),
    ],
)
def test_what_nobody_said_is_taken_from_the_use(
    kernel: Cube[..., Any], called: str, assumed: tuple[str, ...]
) -> None:
    if kernel is helped:  # y has too few subscripts in one place: only the guess is looked at
        examples = example_arguments(kernel.source, "")
        assert examples.assumed == assumed
        assert axes_of_launch(kernel.source) == 2
        return
    seen = kernel.inspect(target="cpu:x86-64-v3")
    assert seen.assumed == assumed
    lines = str(seen).splitlines()
    assert lines[1].startswith(f"called {called}")
    told = [line.removeprefix("assumed ") for line in lines if line.startswith("assumed ")]
    assert told == (["; ".join(assumed)] if assumed else [])
    assert ("<br>assumed" in seen._repr_html_()) == bool(assumed)
    assert str(kernel.inspect(target="cpu:x86-64-v3", signature="")) == str(seen)


def test_what_is_said_is_not_assumed() -> None:
    seen = picture.inspect(target="cpu:x86-64-v3", signature="x=f32[:,:]")
    assert seen.assumed == ("out: 2 axes as subscripted",)
    assert untouched.inspect(signature="x=f32[:]", target="reference").assumed == ()


@cb.cube
def sized(x: Array[f32], size: Comptime[int]) -> None:
    x[0] = f32(size)


@cb.cube
def bare(x: Array[f32], n: Any) -> None:
    x[0] = f32(n)


def endless(values: Any, n: int) -> Any:
    return endless(values, n) + values[n, n]


@cb.cube
def recursive(x: Tensor[f32]) -> None:
    x[0, 0] = endless(x, 0)


def test_what_the_use_does_not_tell_is_asked_for() -> None:
    with pytest.raises(CubeError, match=r"size is: its value is compiled in\n.*as in 'size=16'"):
        sized.inspect()
    with pytest.raises(CubeError, match=r"n is: it has no annotation\n.*as in 'n=i32'"):
        bare.inspect()
    assert example_arguments(recursive.source, "").assumed == ("x: 2 axes as subscripted",)


ALONE = """
import sys
sys.modules["pyopencl"] = None
import cubepy as cb
from cubepy.tools import main
sys.exit(main(["show", sys.argv[1], "--target", "opencl", *sys.argv[2:]]))
"""


@pytest.mark.parametrize("words", [(), ("--text",), ("--asm",)])
def test_kernels_are_looked_at_where_their_driver_is_not_installed(words: tuple[str, ...]) -> None:
    command = [sys.executable, "-c", ALONE, f"{__file__}:flat", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if words == ("--asm",):
        assert done.returncode == 1
        assert "the target opencl makes no machine code of flat" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert ("#pragma OPENCL" if words else "flat for opencl") in done.stdout
