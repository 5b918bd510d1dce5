"""Passes keep what a kernel computes: the interpreter says the same before and after."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cubepy.passes
from cubepy.interp import HostMemory, run
from cubepy.ir import BufferType, Kernel, Scalar, verify
from cubepy.passes import PIPELINES, PassContext, inline_functions, level_of
from cubepy.runtime import ArrayBinding, Grid, ScalarBinding
from cubepy.target import Target
from tests.unit.ir.random_kernels import UNITS, Sample, kernels

TARGETS = [Target.parse("cpu:x86-64-v3"), Target.parse("reference")]
GRID = Grid(cube_count=(2, 1, 1), extent=(2 * UNITS, 1, 1))
PASSES = sorted({step.__name__ for steps in PIPELINES.values() for step in steps})


def binding(array: np.ndarray[Any, Any], element: Scalar) -> ArrayBinding:
    return ArrayBinding(
        memory=HostMemory(owner=array, address=array.ctypes.data), element=element, offset=0,
        shape=array.shape, strides=(1,),
    )  # fmt: skip


def computed(kernel: Kernel, size: int, scalar: int) -> bytes:
    """What `out` holds after a launch over 16 units."""
    x = np.linspace(-3.0, 3.0, size, dtype=np.float32)
    x[: size // 2 : 3] = np.nan
    read, written, number = (param.type for param in kernel.params)
    assert isinstance(read, BufferType)
    assert isinstance(written, BufferType)
    assert isinstance(number, Scalar)
    element = written.element
    out = np.arange(2 * UNITS - 1).astype(element.numpy)  # one unit stands outside
    bindings = (
        binding(x, read.element),
        binding(out, element),
        ScalarBinding(element=number, value=scalar),
    )
    run(kernel, GRID, bindings)
    if element.is_float:
        out[np.isnan(out)] = np.nan  # one NaN is as good as another
    return out.tobytes()


def check(kernel: Kernel, changed: Kernel, size: int, scalar: int) -> None:
    assert computed(changed, size, scalar) == computed(kernel, size, scalar)


@pytest.mark.parametrize("target", TARGETS, ids=str)
@settings(max_examples=150)
@given(sample=kernels(), size=st.integers(1, 20), scalar=st.integers(-3, 20))
def test_a_pipeline_keeps_what_a_kernel_computes(
    target: Target, sample: Sample, size: int, scalar: int
) -> None:
    kernel = sample.kernel
    changed = cubepy.passes.run(kernel, target, check=True)
    verify(changed, level_of(target))
    check(kernel, changed, size, scalar)


@pytest.mark.parametrize("name", PASSES)
@settings(max_examples=40)
@given(sample=kernels(), size=st.integers(1, 20), scalar=st.integers(-3, 20))
def test_a_pass_keeps_what_a_kernel_computes(
    name: str, sample: Sample, size: int, scalar: int
) -> None:
    kernel = sample.kernel
    context = PassContext(target=TARGETS[0])
    single: Callable[[Kernel, PassContext], Kernel] = getattr(cubepy.passes, name)
    flat = inline_functions(kernel, context)
    for before in (kernel, flat):
        after = single(before, context)
        verify(after)
        check(before, after, size, scalar)
