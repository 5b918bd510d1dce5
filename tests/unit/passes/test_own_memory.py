"""Memory of a unit: loops over it are written out, and what nobody wrote is one value for good."""

import re

import numpy as np
import pytest

import cubepy as cb
from cubepy import Array, compiler, f32, frontend, i32, ir
from cubepy.target import Target


def smoothed(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    taps = cb.local_array(f32, 5)
    for k in range(5):
        taps[k] = x[i + k]
    total = 0.0
    for k in range(5):
        if taps[k] > 0.0:
            total += taps[k] * f32(k)
    out[i] = total


def counted(x: Array[f32], out: Array[f32]) -> None:
    i = cb.ABSOLUTE_POS
    taps = cb.local_array(f32, 5, fill=1.0)
    for k in range(i32(x[i])):  # as often as the data say: a loop
        taps[k % 5] += x[i]
    out[i] = taps[0] + taps[4]


def optimized(kernel: object, target: str) -> ir.Kernel:
    source = frontend.capture(kernel)  # type: ignore[arg-type]
    arguments = {name: np.zeros(8, np.float32) for name in ("x", "out")}
    options = frontend.LaunchOptions(cube_dim=(64, 1, 1))
    specialization = frontend.specialize(source, arguments, options)
    return compiler.build(source, specialization, Target.parse(target)).optimized


@pytest.mark.parametrize("target", ["cpu:x86-64-v3", "opencl", "wgsl"])
def test_a_comptime_loop_over_a_private_array_is_written_out(target: str) -> None:
    left = [op.opdef for op in ir.walk(optimized(smoothed, target).body)]
    assert ir.ops.FOR not in left
    assert ir.ops.LOCAL_ARRAY not in left
    left = [op.opdef for op in ir.walk(optimized(counted, target).body)]
    assert ir.ops.LOCAL_ARRAY in left


def test_it_computes_the_same() -> None:
    x = np.random.default_rng(5).normal(size=68).astype(np.float32)
    out = np.zeros(64, np.float32)
    cb.cube(smoothed).over(64)(x, out)
    total = np.zeros(64, np.float32)
    for k in range(5):
        part = x[k : k + 64]
        total = np.where(part > 0, total + part * np.float32(k), total)
    np.testing.assert_array_equal(out, total)


UNWRITTEN = """
import cubepy as cb
from cubepy import *
@cb.cube
def kernel(n: i32, out: Array[i32]):
    i = cb.ABSOLUTE_POS
    t = {memory}
    if n > 100:  # it is not, which nobody knows while compiling
        t[n] = {kind}(1)
    if i < len(out):
        first = t[n + i32(i) % 4]
        again = t[n + i32(i) % 4]
        same = {same}
        for k in range(n, n + 3):
            same = same and {bits}(t[n + i32(i) % 4]) == {bits}(first)
        either = 1 if {bits}(first) == {bits}(again) else 0
        out[i] = 2 * i32(same) + either
"""


@pytest.mark.parametrize("memory", ["cb.local_array({kind}, 8)", "cb.shared({kind}, 8)"])
@pytest.mark.parametrize(
    ("kind", "bits", "same"),
    [
        ("i32", "", "first - again == 0 and (first ^ again) == 0 and first * 2 == again + first"),
        ("f32", "cb.bitcast(u32, {})", "cb.bitcast(u32, first) == cb.bitcast(u32, again)"),
        ("bool_", "i32", "(first == again) and i32(first) + i32(not again) == 1"),
        ("u8", "i32", "i32(first) < 256 and first // 2 * 2 + first % 2 == again"),
    ],
)
@pytest.mark.parametrize("device", ["cpu"])
def test_what_nobody_wrote_is_arbitrary_but_fixed(
    memory: str, kind: str, bits: str, same: str, device: str
) -> None:
    text = UNWRITTEN.format(memory=memory.format(kind=kind), kind=kind, same=same, bits="BITS")
    pattern = bits if "{}" in bits else f"{bits}({{}})"
    text = re.sub(r"BITS\((t\[.*?4\]|\w+)\)", lambda found: pattern.format(found[1]), text)
    kernel = cb.exec(text, {})["kernel"]
    for _ in range(3):
        out = np.zeros(256, np.int32)
        kernel.launch(0, out, cube_count=4, cube_dim=64, device=device)
        assert set(out.tolist()) == {3}
