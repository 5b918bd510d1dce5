"""The short way of a launch: NumPy arrays that lie as kernels need them, on host memory.

It makes no bindings and no copies: addresses, shapes and strides go straight into the argument
block. Whoever takes it has made sure, by the key of the launch, that every array argument is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.ir import F32, F64, Scalar
from cubepy.runtime.arguments import ArrayFacts, address_of
from cubepy.runtime.base import Device, Grid, LoadedKernel
from cubepy.runtime.packing import Packer, grid_words, scalar_word
from cubepy.runtime.scalars import convert_scalar

__all__ = ["QuickLaunch", "quick_launch"]


def quick_launch(
    device: Device,
    kernel: LoadedKernel,
    positions: Sequence[int],
    values: Sequence[object],
    facts: Sequence[ArrayFacts | None],
) -> QuickLaunch | None:
    """The short way for launches like this one, or None if it is not open to them.

    `positions` says which argument each parameter of the kernel is, `facts` has those of the
    parameters that are arrays.
    """
    arrays = [
        type(values[at]) is np.ndarray and not fact.staged
        for at, fact in zip(positions, facts, strict=True)
        if fact is not None
    ]
    return QuickLaunch(device, kernel, positions) if device.takes_words and all(arrays) else None


class QuickLaunch:
    """Launches of one kernel with NumPy arrays and numbers."""

    __slots__ = ("_device", "_kernel", "_packer", "_parameters")

    def __init__(self, device: Device, kernel: LoadedKernel, positions: Sequence[int]) -> None:
        abi = kernel.artifact.abi
        self._device = device
        self._kernel = kernel
        self._packer = Packer(abi)
        # Which argument, bytes of an element (0 for a scalar), the scalar's type.
        self._parameters = [
            (at, 0, type) if isinstance(type, Scalar) else (at, _element_size(type), None)
            for at, type in zip(positions, abi.types, strict=True)
        ]

    def __call__(self, grid: Grid, values: Sequence[Any]) -> None:
        if grid.cubes == 0:
            return
        numbers: list[float] = []
        for number, (at, size, type_) in enumerate(self._parameters):
            value = values[at]
            if size:
                numbers.append(address_of(value))
                numbers += value.shape
                numbers += [stride // size for stride in value.strides]
            elif type_ is F64 and type(value) is float:
                numbers.append(value)
            elif type_ is F32 and type(value) is float and -_SAFE < value < _SAFE:
                numbers.append(value)  # packing rounds it, once
            else:
                numbers.append(self._scalar(number, value))
        numbers += grid_words(grid)
        self._device.launch_words(self._kernel, grid, self._packer.block(numbers))

    def _scalar(self, number: int, value: object) -> float:
        artifact = self._kernel.artifact
        element = artifact.abi.types[number]
        assert isinstance(element, Scalar)
        place = f"{artifact.kernel_name}: argument {artifact.abi.names[number]!r}"
        return scalar_word(convert_scalar(value, element, place), element)


# Far from where a float would round to infinity in f32.
_SAFE = 1e38


def _element_size(type: Any) -> int:
    return int(type.element.size)
