"""The contract of a runtime: what loads artifacts and launches them.

A :class:`Runtime` lists its devices; a :class:`Device` owns memory, loads an :class:`Artifact` and
launches it over a :class:`Grid` with one :class:`Binding` an argument. What every runtime shares
(checking arguments, copying host arrays in and out, splitting grids, pools) stands above this
contract, in `launch.py`.

A device must have the abstract members. The others have a default that is right for any device, or
say in their first words what having them brings.
"""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from cubepy.errors import ArgumentError, RuntimeUnavailable
from cubepy.ir import Scalar
from cubepy.late import late_import
from cubepy.records import dataclass
from cubepy.runtime.arguments import host_array_of
from cubepy.runtime.buffers import Buffer, empty_buffer, wrapped_buffer
from cubepy.runtime.dlpack import from_dlpack
from cubepy.runtime.events import Event, HostEvent
from cubepy.runtime.pool import Lease, MemoryPool, MemoryStats
from cubepy.runtime.streams import Stream, WorkerStream, on_a_thread
from cubepy.target import Artifact, Target

if TYPE_CHECKING:
    from cubepy.location import Loc
    from cubepy.runtime.native import NativeKind, NativeTable
    from cubepy.runtime.observation import Timing
    from cubepy.runtime.readback import Readback
    from cubepy.target import MachineCode

__all__ = [
    "AGAIN",
    "ArrayBinding",
    "Binding",
    "Device",
    "Grid",
    "LoadedKernel",
    "Runtime",
    "ScalarBinding",
]

#: What to do about a device that is lost.
AGAIN = (
    "  help: what its buffers held is gone, and its name leads to a new device: make the buffers\n"
    "        again on `cubepy.device(name)`, and launch there"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """How many cubes, x first, and the extents of the shape launched over (the unit counts if
    none).
    """

    cube_count: tuple[int, int, int]
    extent: tuple[int, int, int]

    @property
    def cubes(self) -> int:
        """All cubes of the launch."""
        return self.cube_count[0] * self.cube_count[1] * self.cube_count[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayBinding:
    """An array argument in device memory: `memory` is what the device's `alloc` or `wrap` gave.

    `offset`, `shape`, `strides` count elements; `offset` leads to the element with all subscripts
    0.
    """

    memory: Any
    element: Scalar
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarBinding:
    """A scalar argument, already converted to its parameter's type."""

    element: Scalar
    value: int | float | bool


Binding = ArrayBinding | ScalarBinding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedKernel:
    """An artifact that a device can launch; `handle` is the device's own."""

    artifact: Artifact
    handle: Any


class Device(ABC):
    """One unit of hardware of a runtime. Safe to use from several threads.

    `lost` is set by the runtime when the driver has given up on it; what its buffers held is gone,
    and its name leads to another, opened anew, from then on.
    """

    lost = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name, as `cubepy.device(name)` takes it: `cpu`, `opencl:1`."""

    @property
    @abstractmethod
    def target(self) -> Target:
        """What code is generated for, with the features that the device's probe found."""

    def __repr__(self) -> str:
        return f"<device {self.name}>"

    def __reduce__(self) -> tuple[Callable[[str], Device], tuple[str]]:
        """By name: each process has devices of its own."""
        return device_again, (self.name,)

    @property
    @abstractmethod
    def host_memory(self) -> bool:
        """Whether kernels work on NumPy memory as it is, without copies."""

    @abstractmethod
    def alloc(self, size: int) -> Any:
        """`size` bytes, aligned to 64; raises OutOfMemoryError. Freed when nothing refers to it."""

    @abstractmethod
    def write(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy a contiguous host array to the start of a memory."""

    @abstractmethod
    def read(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy the start of a memory into a contiguous host array, after all launches before."""

    def gather(
        self, reads: Sequence[tuple[Buffer, np.ndarray[Any, Any]]], after: Sequence[Event]
    ) -> tuple[Event | None, Event]:
        """Copy buffers into contiguous host arrays, after all launches given to no stream and the
        events. By default at once if there are no events, else on a thread.

        Gives the event from which on the buffers may be written, None if what comes later is behind
        the copies anyway, and the event at which the arrays are there. Its `wait` may have
        something left to do.
        """
        if not after:
            for buffer, array in reads:
                buffer.copy_to(array)
            return None, HostEvent.now()

        def work() -> None:
            for event in after:
                event.wait()
            self.gather(reads, ())[1].wait()

        arrived = on_a_thread(work)
        return arrived, arrived

    @abstractmethod
    def wrap(self, data: np.ndarray[Any, Any]) -> Any:
        """A memory that is the host array's own; only where `host_memory` holds."""

    @functools.cached_property
    def pool(self) -> MemoryPool:
        """Where buffers and temporary copies get their memory from."""
        return MemoryPool(self.alloc, self.let_go)

    def let_go(self) -> None:
        """Keep no memory alive for launches that may come, for the pool gives some of it up. By
        default none is kept.
        """
        return

    def memory_stats(self) -> MemoryStats:
        """What the pool holds."""
        return self.pool.stats

    def memory_cleanup(self) -> int:
        """Give back what the pool keeps for later; the bytes that were."""
        return self.pool.cleanup()

    def persistent_memory(self) -> AbstractContextManager[None]:
        """A scope for buffers that stay: they have exactly their size, and are never pooled."""
        return self.pool.persistent()

    def host_view(
        self, lease: Lease, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> np.ndarray[Any, Any] | None:
        """Leased memory as an array without gaps that holds the lease; None if not the host's."""
        return None

    @property
    def toolchain(self) -> Sequence[tuple[str, bytes]]:
        """All that `compile` depends on besides its artifact, as named parts of a key.

        Empty for devices that compile nothing worth keeping.
        """
        return ()

    def compile(self, artifact: Artifact) -> bytes:
        """The binary that `load` would make of an artifact's text; BackendError as there."""
        raise NotImplementedError

    @abstractmethod
    def load(self, artifact: Artifact) -> LoadedKernel:
        """Make an artifact ready to launch; raises BackendError with the tool's output."""

    @abstractmethod
    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Run a kernel; launches that are given to no stream happen in order. Nothing is done for a
        grid without cubes.

        Raises OutOfBoundsError or AssertionFailed if the kernel reported a fault.
        """

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """A launch, and when it began and ended. By default the host waits before and after it, and
        its way to the device counts.
        """
        self.sync()
        begin = time.perf_counter()
        self.launch(kernel, grid, bindings)
        self.sync()
        end = time.perf_counter()
        return lambda: (begin, end)

    def stream(self) -> Stream:
        """A new stream of launches that nobody waits for. By default a thread launches them."""
        return WorkerStream(self)

    def record(self) -> Event:
        """An event behind every launch that was given to no stream. By default it is waited for."""
        self.sync()
        return HostEvent.now()

    def pending(self) -> Event | None:
        """An event behind every launch that was given to no stream, where a stream may overtake it.

        By default none can: launches have finished when they return.
        """
        return None

    @property
    def takes_memories(self) -> bool:
        """Whether there is `memory_launch`, a short way for buffers in memory of the device's own.

        Its kernels read the argument block of their `Abi`, whose addresses count from the start of
        each array's memory.
        """
        return False

    def memory_launch(
        self, kernel: LoadedKernel, grid: Grid
    ) -> Callable[[Sequence[Any], bytes], None]:
        """A function that is `launch` for kernels without a report, given the memories of the
        arrays in order and the argument block. The very same objects need not be looked at again.
        """
        raise NotImplementedError

    @property
    def takes_words(self) -> bool:
        """Whether kernels read the argument block of their `Abi`, and host memory as it is.

        Such a device has `address`, `words_launch` and `words_replay`, and its launches have
        finished when they return.
        """
        return False

    def address(self, memory: Any) -> int:
        """Where a memory of this device begins."""
        raise NotImplementedError

    def words_launch(self, kernel: LoadedKernel, grid: Grid) -> Callable[[bytes], None]:
        """A function that is `launch`, given the argument block filled but for its last word.

        The short way: no binding is made for an argument. The caller keeps the arrays alive.
        """
        raise NotImplementedError

    def words_replay(
        self, launches: Sequence[tuple[LoadedKernel, Grid, bytes]]
    ) -> Callable[[], None] | None:
        """A function that does these launches in order; None if only one after the other will do.

        The arrays stay where they are and alive as long as the function.
        """
        return None

    @property
    def description(self) -> str:
        """What the driver calls it; "" where the name says all."""
        return ""

    @property
    def announced(self) -> Mapping[str, object]:
        """What the driver says of the device, for people."""
        return {}

    @property
    def probed(self) -> Mapping[str, object]:
        """What trying found out about it, for people: more to be trusted than announcements."""
        return {}

    def time_places(
        self,
        artifact: Artifact,
        repeated: Callable[[LoadedKernel, int], Callable[[], None]],
        seconds: float,
    ) -> Mapping[Loc, int]:
        """How much of the time that repeated launches take each place of a kernel has a share of.

        `repeated` gives a function that launches so many times. The counts mean something beside
        each other only. RuntimeUnavailable where that is not to be had.
        """
        raise RuntimeUnavailable(
            f"{self.name} does not tell how long each line of a kernel takes\n"
            "  help: profile it on cpu"
        )

    def native_kind(self, base: type) -> NativeKind | None:
        """A subclass of `base` whose calls are launches in machine code, or None if there is none.

        A call that machine code does not know goes to the `__call__` of `base`.
        """
        return None

    def native_table(self, base: type) -> NativeTable | None:
        """The same for a class whose instances look up what they have for a size or a shape."""
        return None

    @abstractmethod
    def sync(self) -> None:
        """Wait until every launch that was given to no stream has finished."""

    def empty(self, shape: int | tuple[int, ...], dtype: Any = np.float32) -> Buffer:
        """A buffer of arbitrary content."""
        return empty_buffer(self, shape, dtype)

    def array(self, data: Any) -> Buffer:
        """A buffer with a copy of `data`, anything NumPy makes an array of, or with DLPack."""
        given = host_array_of(data, "the data")
        try:
            array = np.asarray(data if given is None else given)
        except (OverflowError, TypeError, ValueError) as error:
            raise ArgumentError(
                f"the data are no array: {error}\n  help: rows must be of one length"
            ) from None
        host = np.ascontiguousarray(array).reshape(array.shape)
        buffer = empty_buffer(self, host.shape, host.dtype)
        if host.nbytes:
            buffer.uses.settle(writes=True)
            self.write(buffer.memory, host)
        return buffer

    def read_back(self, *buffers: Buffer, stream: Stream | None = None) -> Readback:
        """Start copying buffers of this device to the host, all in one transfer, and do not wait.

        What is read is what the launches so far leave, those of `stream` among them if one is
        given; the buffers may be written, or let go, at once. ArgumentError for what is no buffer,
        LaunchError for buffers and streams of other devices and inside a capture.
        """
        with late_import:
            from cubepy.runtime.readback import read_back  # noqa: PLC0415 - which needs this module

        return read_back(self, buffers, stream)

    def from_dlpack(self, data: Any) -> Buffer:
        """A buffer that is the memory of an object with DLPack; a copy if the device needs one.

        Read-only memory stays so.
        """
        array = from_dlpack(data, "the data")
        if not self.host_memory or any(each % array.itemsize for each in array.strides):
            return self.array(array)
        return wrapped_buffer(self, array)


def device_again(name: str) -> Device:
    """The device of that name, in the process that unpickles it."""
    with late_import:
        from cubepy.runtime.registry import device  # noqa: PLC0415 - which needs this module

    return device(name)


class Runtime(ABC):
    """A way to reach devices: one entry of the group `cubepy.runtimes`, `module:function` giving
    this.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """`cpu`, `cuda`, `opencl`, `wgpu`, `reference`."""

    @abstractmethod
    def devices(self) -> Sequence[Device]:
        """Its devices, best first; raises RuntimeUnavailable with the reason."""

    @property
    def num_threads(self) -> int:
        """How many threads of this process a large launch uses, the calling one included."""
        return 1

    def set_num_threads(self, count: int | None) -> None:
        """Use `count` of them from the next launch on; None for as many as are worth having."""
        raise RuntimeUnavailable(
            f"launches of {self.name} use no threads of this process\n"
            "  help: only the device cpu has them"
        )

    def assembly(self, artifact: Artifact) -> str:
        """The machine code of an artifact as text, on any machine; "" where there is none."""
        return ""

    def machine_code(self, artifact: Artifact) -> MachineCode | None:
        """The same with the kernel's place of each line, and its size; None where there is none."""
        return None
