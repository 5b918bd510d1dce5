"""What one case of the conformance suite is, and how a device is held to it.

A :class:`Case` is a kernel in IR, its arguments and what its outputs must hold. :func:`check_case`
compiles and launches it on any device; nothing here knows an op.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from cubepy import compiler
from cubepy.comparison import differences
from cubepy.ir import BufferType, Kernel, Scalar, verify
from cubepy.records import dataclass, field
from cubepy.runtime import ArrayBinding, Binding, Device, Grid, ScalarBinding

__all__ = ["Case", "Failure", "check_case", "compare_outputs", "run_case", "run_kernel"]

Array = np.ndarray[Any, Any]
Argument = Array | int | float | bool
View = tuple[int, tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """`arguments` by parameter name; `expected` the content of some of them after the launch.

    `views`: start, shape and strides, in elements, of arguments that are views of their memory.
    `steps`: how many representable values a float may be off. `operands` are those of each
    output's elements, for messages. `extent` is the shape launched over, None for whole cubes.
    """

    row: str
    name: str
    kernel: Kernel
    arguments: Mapping[str, Argument]
    expected: Mapping[str, Array]
    cube_count: tuple[int, int, int] = (1, 1, 1)
    extent: tuple[int, int, int] | None = None
    views: Mapping[str, View] = field(default_factory=dict)
    raises: type[Exception] | None = None
    steps: int = 0
    operands: Mapping[str, tuple[Array, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One output that is not what it must be."""

    case: str
    output: str
    count: int
    total: int
    first: str

    def __str__(self) -> str:
        return f"{self.case}: {self.output} is wrong in {self.count} of {self.total}: {self.first}"


def run_kernel(
    kernel: Kernel,
    device: Device,
    arguments: Mapping[str, Argument],
    *,
    cube_count: tuple[int, int, int] = (1, 1, 1),
    extent: tuple[int, int, int] | None = None,
    views: Mapping[str, View] = MappingProxyType({}),
) -> dict[str, Array]:
    """The arrays among the arguments after a launch; the ones given are not touched."""
    verify(kernel)
    loaded = device.load(compiler.finish(kernel, device.target).artifact)
    copies = {
        name: value.copy() for name, value in arguments.items() if isinstance(value, np.ndarray)
    }
    memories = {name: _memory(device, array) for name, array in copies.items()}
    bindings: list[Binding] = []
    for param in kernel.params:
        value = arguments[param.name]
        if isinstance(param.type, BufferType):
            shape = copies[param.name].shape
            view = views.get(param.name) or (0, shape, _strides(shape))
            bindings.append(_binding(memories[param.name], view, param.type))
        else:
            assert isinstance(param.type, Scalar)
            assert not isinstance(value, np.ndarray)
            bindings.append(ScalarBinding(element=param.type, value=value))
    units = [count * dim for count, dim in zip(cube_count, kernel.cube_dim, strict=True)]
    grid = Grid(cube_count=cube_count, extent=extent or (units[0], units[1], units[2]))
    device.launch(loaded, grid, bindings)
    device.sync()
    for name, array in copies.items():
        if array.size:
            device.read(memories[name], array)
    return copies


def _memory(device: Device, array: Array) -> Any:
    memory = device.alloc(max(array.nbytes, 1))
    if array.size:
        device.write(memory, array)
    return memory


def _strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _binding(memory: Any, view: View, type: BufferType) -> ArrayBinding:
    start, shape, strides = view
    return ArrayBinding(
        memory=memory, element=type.element, offset=start, shape=shape, strides=strides
    )


def check_case(case: Case, device: Device) -> list[Failure]:
    """What the device gets wrong, one failure an output."""
    if case.raises is not None:
        return _check_raises(case, device)
    return compare_outputs(case, run_case(case, device))


def compare_outputs(case: Case, got: Mapping[str, Array]) -> list[Failure]:
    """What outputs are wrong, one failure each."""
    failures = []
    for name, expected in case.expected.items():
        wrong = differences(got[name], expected, steps=case.steps)
        if wrong.size:
            first = _describe(case, name, int(wrong[0]), got[name], expected)
            failures.append(
                Failure(
                    case=case.name, output=name, count=wrong.size, total=expected.size, first=first
                )
            )
    return failures


def run_case(case: Case, device: Device) -> dict[str, Array]:
    """The content of the case's arrays after its launch."""
    return run_kernel(
        case.kernel,
        device,
        case.arguments,
        cube_count=case.cube_count,
        extent=case.extent,
        views=case.views,
    )


def _check_raises(case: Case, device: Device) -> list[Failure]:
    assert case.raises is not None
    try:
        run_case(case, device)
    except case.raises:
        return []
    text = f"the launch went through, expected {case.raises.__name__}"
    return [Failure(case=case.name, output="launch", count=1, total=1, first=text)]


def _describe(case: Case, name: str, at: int, got: Array, expected: Array) -> str:
    operands = ", ".join(_exact(array.reshape(-1)[at]) for array in case.operands.get(name, ()))
    given = f"({operands}) " if operands else ""
    return (
        f"element {at} {given}is {_exact(got.reshape(-1)[at])}, "
        f"expected {_exact(expected.reshape(-1)[at])}"
    )


def _exact(value: Any) -> str:
    """A value with its bits, which tell the zeros and NaNs apart."""
    bits = np.asarray(value).reshape(1).view(f"u{np.asarray(value).itemsize}")[0]
    return f"{value!s} (0x{int(bits):x})"
