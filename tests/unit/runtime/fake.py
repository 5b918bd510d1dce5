"""Devices for tests of the launch path: memory of their own or the host's, kernels in Python.

A kernel is a Python function on NumPy arrays built from the bindings, so that offsets, strides and
shapes must be right for it to compute anything sensible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cubepy.ir import Access, BufferType, Scalar, StrideClass, Type
from cubepy.runtime import ArrayBinding, Binding, Device, Grid, LoadedKernel, Runtime
from cubepy.target import Abi, Artifact, Target

Array = np.ndarray[Any, Any]
Body = Callable[..., None]


def artifact(name: str, **parameters: tuple[Type, Access]) -> Artifact:
    return Artifact(
        target=Target.parse("reference"),
        kernel_name=name,
        entry=name,
        text="",
        abi=Abi(words=(), names=tuple(parameters), types=tuple(t for t, _ in parameters.values())),
        cube_dim=(1, 1, 1),
        access=tuple(access for _, access in parameters.values()),
    )


def array(element: Scalar, rank: int = 1) -> BufferType:
    return BufferType(element, (StrideClass.OTHER,) * rank)


class FakeDevice(Device):
    """`reads` and `writes` count copies between host and device."""

    def __init__(self, *, host_memory: bool, name: str = "fake") -> None:
        self._host_memory = host_memory
        self._name = name
        self.reads = self.writes = self.launches = 0
        self.grids: list[Grid] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def target(self) -> Target:
        return Target.parse("reference:8")

    @property
    def host_memory(self) -> bool:
        return self._host_memory

    def alloc(self, size: int) -> Array:
        return np.full(size, 0xA5, np.uint8)

    def write(self, memory: Array, data: Array) -> None:
        assert data.flags.c_contiguous
        self.writes += 1
        memory[: data.nbytes] = data.reshape(-1).view(np.uint8)

    def read(self, memory: Array, data: Array) -> None:
        assert data.flags.c_contiguous
        self.reads += 1
        data.reshape(-1).view(np.uint8)[:] = memory[: data.nbytes]

    def wrap(self, data: Array) -> Array:
        assert self._host_memory
        return data

    def load(self, artifact: Artifact) -> LoadedKernel:
        raise NotImplementedError

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        self.launches += 1
        self.grids.append(grid)
        kernel.handle(*map(_value, bindings))

    def sync(self) -> None:
        pass


def _value(binding: Binding) -> Any:
    if not isinstance(binding, ArrayBinding):
        return binding.value
    size = binding.element.size
    strides = tuple(stride * size for stride in binding.strides)
    if binding.memory.dtype == np.uint8 and binding.memory.ndim == 1 and binding.element.bits != 8:
        return np.ndarray(
            binding.shape,
            binding.element.numpy,
            binding.memory.data,
            binding.offset * size,
            strides,
        )
    return np.lib.stride_tricks.as_strided(binding.memory, binding.shape, strides)


class FakeRuntime(Runtime):
    def __init__(self, *devices: Device) -> None:
        self._devices = devices

    @property
    def name(self) -> str:
        return "fake"

    def devices(self) -> Sequence[Device]:
        return self._devices
