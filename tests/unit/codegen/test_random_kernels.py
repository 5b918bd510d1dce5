"""Random kernels as IR: the CPU's machine code computes what the interpreter does, at every gang
width.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cubepy import codegen, passes
from cubepy.interp import HostMemory, run
from cubepy.ir import BufferType, Kernel, Scalar
from cubepy.runtime import ArrayBinding, Binding, Grid, ScalarBinding
from cubepy.target import Target
from cubepy_cpu import runtime
from tests.targets import on_targets
from tests.unit.ir.random_kernels import UNITS, Sample, kernels

GRID = Grid(cube_count=(2, 1, 1), extent=(2 * UNITS, 1, 1))
TARGETS = on_targets(
    "cpu:x86-64-v2+gang=4",
    "cpu:x86-64-v3+gang=1",
    "cpu:x86-64-v3+gang=1+without=alone",
    "cpu:x86-64-v3",
    "cpu:x86-64-v4+gang=32",
    "cpu+gang=8",
)
DEVICE = runtime().devices()[0]


def binding(memory: Any, array: np.ndarray[Any, Any], element: Scalar) -> ArrayBinding:
    return ArrayBinding(memory=memory, element=element, offset=0, shape=array.shape, strides=(1,))


def arguments(kernel: Kernel, size: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    x = np.linspace(-3.0, 3.0, size, dtype=np.float32)
    x[: size // 2 : 3] = np.nan
    written = kernel.params[1].type
    assert isinstance(written, BufferType)
    return x, np.arange(2 * UNITS - 1).astype(written.element.numpy)  # one unit stands outside


def canonical(out: np.ndarray[Any, Any]) -> bytes:
    if out.dtype.kind == "f":
        out[np.isnan(out)] = np.nan  # one NaN is as good as another
    return out.tobytes()


def interpreted(kernel: Kernel, size: int, scalar: int) -> bytes:
    x, out = arguments(kernel, size)
    memories = [HostMemory(owner=array, address=array.ctypes.data) for array in (x, out)]
    run(kernel, GRID, bindings(kernel, memories, (x, out), scalar))
    return canonical(out)


def bindings(
    kernel: Kernel, memories: list[Any], arrays: tuple[np.ndarray[Any, Any], ...], scalar: int
) -> tuple[Binding, ...]:
    read, written, number = (param.type for param in kernel.params)
    assert isinstance(read, BufferType)
    assert isinstance(written, BufferType)
    assert isinstance(number, Scalar)
    return (
        binding(memories[0], arrays[0], read.element),
        binding(memories[1], arrays[1], written.element),
        ScalarBinding(element=number, value=scalar),
    )


def compiled(kernel: Kernel, target: Target, size: int, scalar: int) -> bytes:
    flat = passes.run(kernel, target, native=codegen.native_ops(target))
    loaded = DEVICE.load(codegen.emit(flat, target))
    x, out = arguments(kernel, size)
    DEVICE.launch(
        loaded, GRID, bindings(kernel, [DEVICE.wrap(x), DEVICE.wrap(out)], (x, out), scalar)
    )
    return canonical(out)


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=60)
@given(sample=kernels(), size=st.integers(1, 20), scalar=st.integers(-3, 20))
def test_machine_code_computes_what_the_interpreter_does(
    target: str, sample: Sample, size: int, scalar: int
) -> None:
    kernel = sample.kernel
    assert compiled(kernel, Target.parse(target), size, scalar) == interpreted(kernel, size, scalar)
