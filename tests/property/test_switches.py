"""Every optimisation of the CPU target can be switched off, alone or with all others, and the
answers stay; and each does something to some kernel, so that none is a dead switch.
"""

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import cubepy as cb
from cubepy import Array, Tensor, f32, i32, u8
from cubepy.compiler import finish
from cubepy.errors import ConfigError
from cubepy.ir import Kernel, print_kernel
from cubepy.passes import PIPELINES
from cubepy.runtime import device
from cubepy.target import OPTIMIZATIONS, Target
from cubepy.testing import (
    Compiled,
    GeneratedKernel,
    cases_of,
    compare_on,
    compare_outputs,
    kernels,
    reference_for,
    run_case,
    run_on,
)
from examples import kernels as examples
from tests.property.test_generated_kernels import only_new

ALL = ",".join(OPTIMIZATIONS)
PASSES = OPTIMIZATIONS.keys() & {step.__name__ for step in PIPELINES["cpu"]}
EACH, SIZE = 8, 9
# Rows whose code the emitter's switches choose.
ROWS = ("load", "store", "for", "while", "if", "floor_div", "floor_mod", "atomic_add",
        "local_array", "shared")  # fmt: skip

without_each = pytest.mark.parametrize(
    "without", [*OPTIMIZATIONS, ALL], ids=[*OPTIMIZATIONS, "all"]
)


@without_each
def test_generated_kernels_give_the_same_bits(without: str) -> None:
    target = f"cpu+without={without}"

    @given(kernel=kernels(stream=f"switch {without}", size=SIZE))
    @settings(only_new, max_examples=EACH)
    def run(kernel: GeneratedKernel) -> None:
        compiled = Compiled(kernel)
        expected = run_on(compiled, device(reference_for(target)))
        assert not compare_on(compiled, expected, device(target)), str(kernel)

    run()


@pytest.mark.parametrize("row", ROWS)
def test_rows_of_the_table_hold_with_all_switched_off(row: str) -> None:
    machine = device(f"cpu+without={ALL}")
    reference = device(reference_for("cpu"))
    for case in cases_of(row, machine.target.features.plane_dim):
        if case.raises is None:
            expected = run_case(case, reference)
            same = {name: expected[name] for name in case.expected}
            bits = dataclasses.replace(case, expected=same, steps=0)
            assert not compare_outputs(bits, run_case(case, machine))


# ── none is a dead switch ───────────────────────────────────────────────────────────────────────


@cb.cube
def pieces(rgb: Array[u8], width: i32, out: Array[f32]) -> None:
    """Strides, divisions along the lanes, neighbours, loops of two kinds, a small array."""
    i = cb.ABSOLUTE_POS
    kept = cb.local_array(f32, 4, fill=0.0)
    total = 0.0
    while i < len(out):
        kept[i % 4] = f32(rgb[3 * i])
        total += kept[1] + f32(i // width)
        total = total if rgb[3 * i] > 7 else total + 1.0
        for k in range(3):
            total += f32(rgb[i + k])
        out[i] = total
        i += cb.CUBE_DIM * cb.CUBE_COUNT


@cb.cube
def shifted(x: Array[f32], out: Array[f32]) -> None:
    """The element before, and the first one once more."""
    i = cb.ABSOLUTE_POS
    out[i] = x[max(i - 1, 0)]


@cb.cube
def plane_totals(x: Array[f32], out: Array[f32]) -> None:
    """One sum a plane."""
    out[cb.UNIT_POS] = cb.plane_sum(x[cb.UNIT_POS])


@cb.cube
def pairs(x: Array[f32], out: Array[f32]) -> None:
    """Two neighbours a unit, a variable with two lives, a store that nobody sees, cheap arms."""
    i = cb.ABSOLUTE_POS
    a, d = x[2 * i], x[2 * i + 1]
    b, c = 0.0, 0.0
    if a > 0.0:
        b = a * 3.0
        c = a - 2.0
    else:
        b = a - 1.0
        c = a * 4.0
    out[2 * i] = a + b + c
    out[2 * i + 1] = d * 2.0 * 1.0


@cb.cube
def transposed(x: Tensor[f32], out: Tensor[f32]) -> None:
    """Each element of a transposed view."""
    i, j = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[i, j]


@cb.cube
def product(a: Tensor[f32], b: Tensor[f32], out: Tensor[f32]) -> None:
    """Columns that a loop reads for every row."""
    i, j = cb.ABSOLUTE_POS_Y, cb.ABSOLUTE_POS_X
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    out[i, j] = total


@cb.cube
def ragged(start: Array[i32], column: Array[i32], x: Array[f32], out: Array[f32]) -> None:
    """Elements from all over, as many as each unit says."""
    i = cb.ABSOLUTE_POS
    total = 0.0
    for k in range(start[i], start[i + 1]):
        total += x[column[k]]
    out[i] = total


@cb.cube
def picked(place: Array[i32], x: Array[f32], out: Array[f32]) -> None:
    """An element from anywhere for each unit."""
    i = cb.ABSOLUTE_POS
    if i < len(out):
        out[i] = x[place[i]]


def launches() -> list[tuple[Any, tuple[Any, ...]]]:
    """Kernels that have something for every switch."""
    plane = np.zeros((16, 16), np.float32)
    line, bytes_ = np.zeros(256, np.float32), np.zeros(768, np.uint8)
    return [
        (pieces.over(256), (bytes_, np.int32(16), line)),
        (shifted.over(256), (line, line.copy())),
        (plane_totals[1, 32], (line, line.copy())),
        (ragged.over(256), (np.zeros(257, np.int32), np.zeros(9, np.int32), line, line.copy())),
        (picked.over(256), (np.zeros(256, np.int32), line, line.copy())),
        (pairs.over(128), (line, line.copy())),
        (transposed.over((16, 16)), (plane.T, plane.copy().T)),
        (product.over((16, 16)), (plane, plane.copy(), plane.copy())),
        (examples.histogram.over(768), (bytes_, np.zeros(256, np.uint32))),
        (examples.register_tiles[1, 16], (plane, plane.copy(), plane.copy())),
    ]


def texts(target: str) -> list[str]:
    return [launch.inspect(*each, target=target).llvm for launch, each in launches()]


@pytest.mark.parametrize("name", [name for name in OPTIMIZATIONS if name not in PASSES])
def test_each_switch_of_the_emitter_changes_the_code_of_some_kernel(name: str) -> None:
    assert texts(f"cpu:x86-64-v3+without={name}") != texts("cpu:x86-64-v3")


def test_each_pass_that_can_be_switched_off_changes_some_kernel() -> None:
    changed: set[str] = set()
    for launch, arguments in launches():
        before = [""]

        def observe(name: str, kernel: Kernel, before: list[str] = before) -> None:
            text = print_kernel(kernel)
            changed.update([name] if text != before[0] else [])
            before[0] = text

        target = Target.parse("cpu:x86-64-v3")
        finish(launch.inspect(*arguments, target=target).stages.lowered, target, observe=observe)
    assert changed >= PASSES


def test_unknown_switch_is_refused_with_those_that_there_are() -> None:
    known = "known are addresses, alone, bands"
    with pytest.raises(ConfigError, match=f"no optimisation 'speed': {known}"):
        Target.parse("cpu+without=strided,speed")
