"""The short way of a launch: NumPy arrays that lie as kernels need them, on host memory.

It makes no bindings and no copies: addresses, shapes and strides go straight into the argument
block. Whoever takes it has made sure, by the key of the launch, that every array argument is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from cubepy.ir import F32, F64, Scalar, StrideClass
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
    usable = device.takes_words and all(
        type(values[at]) is np.ndarray and not fact.staged
        for at, fact in zip(positions, facts, strict=True)
        if fact is not None
    )
    return QuickLaunch(device, kernel, positions, facts) if usable else None


class _Kind(IntEnum):
    """How a parameter's words are made. `VECTOR`: one axis without gaps."""

    VECTOR = 0
    ARRAY = 1
    F32 = 2
    F64 = 3
    SCALAR = 4


class QuickLaunch:
    """Launches of one kernel with NumPy arrays and numbers."""

    __slots__ = ("_device", "_kernel", "_packer", "_parameters")

    def __init__(
        self,
        device: Device,
        kernel: LoadedKernel,
        positions: Sequence[int],
        facts: Sequence[ArrayFacts | None],
    ) -> None:
        self._device = device
        self._kernel = kernel
        self._packer = Packer(kernel.artifact.abi)
        types = kernel.artifact.abi.types
        self._parameters = [
            (number, at, *_kind_of(types[number], facts[number]))
            for number, at in enumerate(positions)
        ]

    def __call__(self, grid: Grid, values: Sequence[Any]) -> None:
        if grid.cubes == 0:
            return
        numbers: list[float] = []
        for number, at, kind, size in self._parameters:
            value = values[at]
            if kind is _Kind.VECTOR:
                numbers += (address_of(value), len(value), 1)
            elif kind is _Kind.ARRAY:
                numbers.append(address_of(value))
                numbers += value.shape
                numbers += [stride // size for stride in value.strides]
            elif type(value) is float and (
                kind is _Kind.F64 or (kind is _Kind.F32 and -_SAFE < value < _SAFE)
            ):
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


def _kind_of(type: Any, fact: ArrayFacts | None) -> tuple[_Kind, int]:
    """The kind of a parameter, and the bytes of its elements."""
    if fact is None:
        return {F32: _Kind.F32, F64: _Kind.F64}.get(type, _Kind.SCALAR), 0
    plain = fact.classes == (StrideClass.ONE,)
    return _Kind.VECTOR if plain else _Kind.ARRAY, type.element.size
