"""The short way of a launch, on devices that take words.

For buffers, and for NumPy arrays that lie as kernels need them: no bindings and no copies are made,
addresses, shapes and strides go straight into the argument block. Whoever takes it has made sure,
by the key of the launch, that every array argument is of the kind it was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from cubepy.ir import F32, F64, BufferType, Scalar, StrideClass, Type
from cubepy.runtime.arguments import ArrayFacts, address_of
from cubepy.runtime.base import Device, Grid, LoadedKernel
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.packing import Packer, scalar_word
from cubepy.runtime.scalars import convert_scalar
from cubepy.runtime.targeted import memory_owner

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
    kinds = [
        _kind_of(device, type, values[at], fact)
        for at, type, fact in zip(positions, kernel.artifact.abi.types, facts, strict=True)
    ]
    usable = device.takes_words and _Kind.UNUSABLE not in kinds
    return QuickLaunch(device, kernel, positions, kinds) if usable else None


class _Kind(IntEnum):
    """How a parameter's words are made. `VECTOR`: one axis without gaps."""

    VECTOR = 0
    ARRAY = 1
    BUFFER = 2
    F32 = 3
    F64 = 4
    SCALAR = 5
    UNUSABLE = 6


class QuickLaunch:
    """Launches of one kernel with NumPy arrays and numbers."""

    __slots__ = ("_device", "_kernel", "_last", "_packer", "_parameters")

    def __init__(
        self,
        device: Device,
        kernel: LoadedKernel,
        positions: Sequence[int],
        kinds: Sequence[_Kind],
    ) -> None:
        self._device = device
        self._kernel = kernel
        self._last: tuple[Grid | None, Callable[[bytes], None]] = (None, _nothing)
        self._packer = Packer(kernel.artifact.abi)
        types = kernel.artifact.abi.types
        self._parameters = [
            (number, at, kind, type.element.size if isinstance(type, BufferType) else 0)
            for number, (at, kind, type) in enumerate(zip(positions, kinds, types, strict=True))
        ]

    def __call__(self, grid: Grid, values: Sequence[Any]) -> None:
        """Launch and wait."""
        known, run = self._last
        if known is not grid:
            run = self._device.words_launch(self._kernel, grid)
            self._last = (grid, run)
        run(self.words(grid, values))

    def words(self, grid: Grid, values: Sequence[Any]) -> bytes:
        """The argument block of a launch, once the memory of its buffers is ready."""
        numbers: list[float] = []
        for number, at, kind, size in self._parameters:
            value = values[at]
            if kind is _Kind.VECTOR:
                numbers += (address_of(value), len(value), 1)
            elif kind is _Kind.ARRAY:
                numbers.append(address_of(value))
                numbers += value.shape
                numbers += [stride // size for stride in value.strides]
            elif kind is _Kind.BUFFER:
                if value.uses.any:
                    value.uses.settle(writes=True)
                numbers.append(self._device.address(value.memory) + value.offset)
                numbers += value.shape
                numbers += [stride // size for stride in value.strides]
            elif type(value) is float and (
                kind is _Kind.F64 or (kind is _Kind.F32 and -_SAFE < value < _SAFE)
            ):
                numbers.append(value)  # packing rounds it, once
            else:
                numbers.append(self._scalar(number, value))
        numbers += grid.cube_count
        numbers += grid.extent
        numbers.append(0)
        return self._packer.block(numbers)

    def _scalar(self, number: int, value: object) -> float:
        artifact = self._kernel.artifact
        element = artifact.abi.types[number]
        assert isinstance(element, Scalar)
        place = f"{artifact.kernel_name}: argument {artifact.abi.names[number]!r}"
        return scalar_word(convert_scalar(value, element, place), element)


def _nothing(words: bytes) -> None:
    """What runs before there is a grid: it never does."""


# Far from where a float would round to infinity in f32.
_SAFE = 1e38


def _kind_of(device: Device, type_: Type, value: object, fact: ArrayFacts | None) -> _Kind:
    """How the words of a parameter are made that got `value`."""
    if fact is None:
        return _Kind.F32 if type_ is F32 else _Kind.F64 if type_ is F64 else _Kind.SCALAR
    if type(value) is Buffer and value.device is memory_owner(device):
        return _Kind.BUFFER
    if type(value) is not np.ndarray or fact.staged:
        return _Kind.UNUSABLE
    return _Kind.VECTOR if fact.classes == (StrideClass.ONE,) else _Kind.ARRAY
