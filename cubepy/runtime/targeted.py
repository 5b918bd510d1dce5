"""A device for which code is generated differently than it would be by default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cubepy.runtime.base import Binding, Device, Grid, LoadedKernel
from cubepy.runtime.buffers import Buffer
from cubepy.runtime.events import Event
from cubepy.runtime.native import NativeKind, NativeTable
from cubepy.runtime.observation import Timing
from cubepy.runtime.pool import Lease, MemoryPool
from cubepy.runtime.streams import Stream
from cubepy.target import Artifact, Target

__all__ = ["TargetedDevice", "memory_owner"]


class TargetedDevice(Device):
    """`inner` with another target: its memory, loading and launching are the inner device's."""

    def __init__(self, inner: Device, name: str, target: Target) -> None:
        self.inner = memory_owner(inner)
        self._name = name
        self._target = target

    @property
    def name(self) -> str:
        return self._name

    @property
    def target(self) -> Target:
        return self._target

    @property
    def lost(self) -> bool:  # type: ignore[override]  # set on the inner device only
        return self.inner.lost

    @property
    def host_memory(self) -> bool:
        return self.inner.host_memory

    def alloc(self, size: int) -> Any:
        """Memory of the inner device."""
        return self.inner.alloc(size)

    def write(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy to the inner device."""
        self.inner.write(memory, data)

    def read(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy from the inner device."""
        self.inner.read(memory, data)

    def wrap(self, data: np.ndarray[Any, Any]) -> Any:
        """Host memory as the inner device takes it."""
        return self.inner.wrap(data)

    @property
    def toolchain(self) -> Sequence[tuple[str, bytes]]:
        return self.inner.toolchain

    def compile(self, artifact: Artifact) -> bytes:
        """Compile on the inner device, which reads the target from the artifact."""
        return self.inner.compile(artifact)

    def load(self, artifact: Artifact) -> LoadedKernel:
        """Load on the inner device, which reads the target from the artifact."""
        return self.inner.load(artifact)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Launch on the inner device."""
        self.inner.launch(kernel, grid, bindings)

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """As the inner device measures."""
        return self.inner.timed_launch(kernel, grid, bindings)

    @property
    def pool(self) -> MemoryPool:
        """The inner device's."""
        return self.inner.pool

    def host_view(
        self, lease: Lease, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> np.ndarray[Any, Any] | None:
        """As the inner device sees it."""
        return self.inner.host_view(lease, shape, dtype)

    def native_kind(self, base: type) -> NativeKind | None:
        """The inner device's: what is launched stands in the kernels it loaded."""
        return self.inner.native_kind(base)

    def native_table(self, base: type) -> NativeTable | None:
        """The inner device's."""
        return self.inner.native_table(base)

    def pending(self) -> Event | None:
        """The inner device's."""
        return self.inner.pending()

    @property
    def takes_memories(self) -> bool:
        return self.inner.takes_memories

    @property
    def takes_words(self) -> bool:
        return self.inner.takes_words

    def address(self, memory: Any) -> int:
        """As the inner device says."""
        return self.inner.address(memory)

    def words_launch(self, kernel: LoadedKernel, grid: Grid) -> Callable[[bytes], None]:
        """Launch on the inner device."""
        return self.inner.words_launch(kernel, grid)

    def words_replay(
        self, launches: Sequence[tuple[LoadedKernel, Grid, bytes]]
    ) -> Callable[[], None] | None:
        """Replay on the inner device."""
        return self.inner.words_replay(launches)

    def stream(self) -> Stream:
        """A stream of the inner device."""
        return self.inner.stream()

    def record(self) -> Event:
        """An event of the inner device."""
        return self.inner.record()

    def sync(self) -> None:
        """Wait for the inner device."""
        self.inner.sync()

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float32) -> Buffer:
        """A buffer of the inner device, which any target of it can use."""
        return self.inner.empty(shape, dtype)

    def from_dlpack(self, data: Any) -> Buffer:
        """A buffer of the inner device, which any target of it can use."""
        return self.inner.from_dlpack(data)

    def array(self, data: Any) -> Buffer:
        """A buffer of the inner device, which any target of it can use."""
        return self.inner.array(data)


def memory_owner(device: Device) -> Device:
    """The device whose memory a device's launches work on."""
    return device.inner if isinstance(device, TargetedDevice) else device
