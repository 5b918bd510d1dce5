"""The short ways of a launch: no bindings and no copies are made.

:class:`QuickLaunch` is for devices that take words: addresses, shapes and strides of buffers, and
of NumPy arrays that lie as kernels need them, go straight into the argument block.
:class:`MemoryLaunch` is for buffers of devices with memory of their own. Whoever takes one has made
sure, by the key of the launch, that every array argument is of the kind it was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import Any
from weakref import WeakMethod, ref

import numpy as np
from numpy import ndarray

from cubepy.ir import F32, F64, Access, BufferType, Scalar, StrideClass, Type
from cubepy.runtime.arguments import ArrayFacts, address_of
from cubepy.runtime.base import Device, Grid, LoadedKernel
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.packing import Packer, scalar_word
from cubepy.runtime.scalars import convert_scalar
from cubepy.runtime.targeted import memory_owner

__all__ = ["SAFE", "Known", "MemoryLaunch", "QuickLaunch", "quick_launch"]


def quick_launch(
    device: Device,
    kernel: LoadedKernel,
    positions: Sequence[int],
    values: Sequence[object],
    facts: Sequence[ArrayFacts | None],
) -> QuickLaunch | MemoryLaunch | None:
    """The short way for launches like this one, or None if it is not open to them.

    `positions` says which argument each parameter of the kernel is, `facts` has those of the
    parameters that are arrays.
    """
    kinds = [
        _kind_of(device, type, values[at], fact)
        for at, type, fact in zip(positions, kernel.artifact.abi.types, facts, strict=True)
    ]
    if _Kind.UNUSABLE in kinds:
        return None
    if device.takes_words:
        return QuickLaunch(device, kernel, positions, kinds)
    own = device.takes_memories and not {_Kind.VECTOR, _Kind.ARRAY} & set(kinds)
    silent = not kernel.artifact.faults and not kernel.artifact.prints
    return MemoryLaunch(device, kernel, positions, kinds) if own and silent else None


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
        self.run_on(grid)(self.words(grid, values))

    def run_on(self, grid: Grid) -> Callable[[bytes], None]:
        """What launches with a filled block, and waits."""
        known, run = self._last
        if known is not grid:
            run = self._device.words_launch(self._kernel, grid)
            self._last = (grid, run)
        return run

    @property
    def packer(self) -> Packer:
        """What fills its blocks."""
        return self._packer

    @property
    def types_by_argument(self) -> Mapping[int, Type]:
        """The type of each parameter of the kernel, by the number of its argument."""
        types = self._kernel.artifact.abi.types
        return {at: types[number] for number, at, _, _ in self._parameters}

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
            else:
                numbers.append(_number(self._kernel, number, kind, value))
        numbers += grid.cube_count
        numbers += grid.extent
        numbers.append(0)
        return self._packer.block(numbers)


class Known:
    """Arguments of a launch, to be known again as the same objects. It keeps no buffer alive, and
    empties their `memories` once one is gone.
    """

    __slots__ = ("__weakref__", "_buffers", "_memories", "_others", "_places")

    def __init__(self, values: Sequence[Any], memories: list[Any] | None = None) -> None:
        self._memories = memories
        self._places: list[int] | None = [*map(id, values)]
        self._others = [value for value in values if type(value) is not Buffer]
        forget = WeakMethod(self._forget)

        def gone(buffer: object) -> None:
            known = forget()
            if known is not None:
                known()

        self._buffers = [ref(value, gone) for value in values if type(value) is Buffer]

    def _forget(self) -> None:
        """Before another object can be where a buffer was."""
        self._places = None
        if self._memories is not None:
            self._memories.clear()

    def are(self, values: Sequence[Any]) -> bool:
        """Whether these are they."""
        return [*map(id, values)] == self._places


class MemoryLaunch:
    """Launches of one kernel with buffers of a device and numbers."""

    __slots__ = ("_block", "_device", "_kernel", "_launch", "_packer", "_parameters")

    def __init__(
        self,
        device: Device,
        kernel: LoadedKernel,
        positions: Sequence[int],
        kinds: Sequence[_Kind],
    ) -> None:
        self._device = memory_owner(device)
        self._kernel = kernel
        self._packer = Packer(kernel.artifact.abi)
        self._launch: tuple[Grid | None, Callable[[Sequence[Any], bytes], None]] = (None, _none)
        # the values of the last launch, with their memories and block
        self._block: tuple[Known, list[Any], bytes] = (Known(()), [], b"")
        types, accesses = kernel.artifact.abi.types, kernel.artifact.access
        self._parameters = [
            (number, at, kind, type.element.size if isinstance(type, BufferType) else 0, access)
            for number, (at, kind, type, access) in enumerate(
                zip(positions, kinds, types, accesses, strict=True)
            )
        ]

    def __call__(self, grid: Grid, values: Sequence[Any]) -> None:
        """Launch; the device may still be at it afterwards."""
        known, run = self._launch
        if known is not grid or self._device.lost:
            run = self._device.memory_launch(self._kernel, grid)
            self._launch, self._block = (grid, run), (Known(()), [], b"")
        last, memories, block = self._block
        if not last.are(values):
            memories, block = self._made(grid, values)
            if ndarray not in map(type, values):  # one without axes may hold another number
                self._block = Known(values, memories), memories, block
        for _, at, kind, _, access in self._parameters:
            if kind is _Kind.BUFFER and values[at].uses.any:
                values[at].uses.settle_streams(writes=access is not Access.READ)
        run(memories, block)
        event = self._device.pending()
        if event is not None:
            for _, at, kind, _, access in self._parameters:
                if kind is _Kind.BUFFER:
                    values[at].uses.add(event, writes=access is not Access.READ)

    def words(self, grid: Grid, values: Sequence[Any]) -> None:
        """Nothing that a recording could keep."""
        return

    def _made(self, grid: Grid, values: Sequence[Any]) -> tuple[list[Any], bytes]:
        numbers: list[float] = []
        memories: list[Any] = []
        for number, at, kind, size, _ in self._parameters:
            value = values[at]
            if kind is _Kind.BUFFER:
                memories.append(value.memory)
                numbers.append(value.offset)
                numbers += value.shape
                numbers += [stride // size for stride in value.strides]
            else:
                numbers.append(_number(self._kernel, number, kind, value))
        numbers += (*grid.cube_count, *grid.extent, 0)
        return memories, self._packer.block(numbers)


def _number(kernel: LoadedKernel, number: int, kind: _Kind, value: object) -> float:
    """A scalar argument as the packer takes it."""
    if type(value) is float and (kind is _Kind.F64 or (kind is _Kind.F32 and -SAFE < value < SAFE)):
        return value  # packing rounds it, once
    artifact = kernel.artifact
    element = artifact.abi.types[number]
    assert isinstance(element, Scalar)
    place = f"{artifact.kernel_name}: argument {artifact.abi.names[number]!r}"
    return scalar_word(convert_scalar(value, element, place), element)


def _none(memories: Sequence[Any], words: bytes) -> None:
    """What runs before there is a grid: it never does."""


def _nothing(words: bytes) -> None:
    """What runs before there is a grid: it never does."""


# Far from where a float would round to infinity in f32.
SAFE = 1e38


def _kind_of(device: Device, type_: Type, value: object, fact: ArrayFacts | None) -> _Kind:
    """How the words of a parameter are made that got `value`."""
    if fact is None:
        return _Kind.F32 if type_ is F32 else _Kind.F64 if type_ is F64 else _Kind.SCALAR
    if type(value) is Buffer and value.device is memory_owner(device):
        return _Kind.BUFFER
    if type(value) is not np.ndarray or fact.staged:
        return _Kind.UNUSABLE
    return _Kind.VECTOR if fact.classes == (StrideClass.ONE,) else _Kind.ARRAY
