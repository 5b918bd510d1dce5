"""wgpu devices: memory of their own, pipelines built from WGSL, one queue in order.

A launch writes its argument block, then is given to the queue in as many parts as the device's
limit on cubes along an axis asks for; reading a memory waits.
"""

from __future__ import annotations

import functools
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import wgpu

from cubepy.errors import LaunchError, OutOfMemoryError, RuntimeUnavailable
from cubepy.runtime import (
    ArrayBinding,
    Binding,
    Buffer,
    Device,
    Event,
    Grid,
    HostEvent,
    LoadedKernel,
    Runtime,
    Stream,
    Timing,
    pack,
    raise_fault,
    report_block,
    stays_behind,
    write_prints,
)
from cubepy.target import Artifact, Target, WordKind
from cubepy_wgpu.clock import FEATURE, Clock, Moment, TimedEvent, WgpuStream
from cubepy_wgpu.code import Code
from cubepy_wgpu.driver import (
    DRIVER_ERRORS,
    build,
    error_for,
    explained,
    find_adapters,
    open_device,
)
from cubepy_wgpu.parts import Part, parts_of
from cubepy_wgpu.probe import features_of_device, probed
from cubepy_wgpu.reading import Arrival, send

__all__ = ["WgpuDevice", "WgpuRuntime", "runtime"]

_USES = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
# Memories are as long as a multiple of this, so that every word of them is theirs.
_ROUNDED = 64
_SIZES = (WordKind.SHAPE, WordKind.STRIDE)
Octets = np.ndarray[Any, np.dtype[np.uint8]]


class WgpuDevice(Device):
    """One adapter. What is done with the driver is done under a lock."""

    def __init__(self, adapter: Any, number: int) -> None:
        self._adapter = adapter
        self._number = number
        stays_behind(self)
        self._lock = threading.RLock()
        self._codes: weakref.WeakSet[Code] = weakref.WeakSet()

    def anew(self) -> WgpuDevice:
        """The same adapter opened again, which knows nothing of this one's memory and kernels."""
        return WgpuDevice(self._adapter, self._number)

    @property
    def name(self) -> str:
        return f"wgpu:{self._number}"

    @property
    def description(self) -> str:
        """What the driver calls it."""
        info = self._adapter.info
        return f"{info['device']} ({info['backend_type']}, {info['description']})"

    @property
    def announced(self) -> Mapping[str, object]:
        """What the adapter offers."""
        limits = self._adapter.limits
        return {
            "kind": self._adapter.info["adapter_type"],
            "features": sorted(self._adapter.features),
            "storage buffers": limits["max-storage-buffers-per-shader-stage"],
            "largest buffer": limits["max-buffer-size"],
        }

    @property
    def probed(self) -> Mapping[str, object]:
        """What the small kernels of the probe found."""
        with self._lock:
            return probed(self._adapter, self.handle)

    @functools.cached_property
    def handle(self) -> Any:
        """The driver's device."""
        with self._lock:
            return open_device(self._adapter)

    @functools.cached_property
    def target(self) -> Target:
        with self._lock:
            features = features_of_device(self._adapter, self.handle)
        return Target(language="wgsl", machine="naga", features=features)

    @property
    def host_memory(self) -> bool:
        return False

    @functools.cached_property
    def _limits(self) -> dict[str, int]:
        return dict(self.handle.limits)

    @contextmanager
    def driver(self, what: str) -> Iterator[Any]:
        """The driver's device, for this thread alone; its errors become the project's own."""
        with self._lock, explained(what, self):
            yield self.handle

    # ── memory ──

    def alloc(self, size: int) -> Any:
        """A storage buffer; whole words, so that narrow elements are changed inside."""
        limit = min(
            self._limits["max-buffer-size"], self._limits["max-storage-buffer-binding-size"]
        )
        if size > limit:
            raise OutOfMemoryError(
                f"{self.name}: {size} bytes are more than the {limit} that one buffer may have\n"
                "  help: work on parts, each in a buffer of its own"
            )
        with self.driver(f"{self.name}: allocating {size} bytes") as device:
            return device.create_buffer(size=-(-max(size, 1) // _ROUNDED) * _ROUNDED, usage=_USES)

    def write(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy a contiguous host array to the start of a buffer."""
        octets: Octets = data.reshape(-1).view(np.uint8)
        whole = octets.size // 4 * 4
        with self.driver(f"{self.name}: writing") as device:
            if whole:
                device.queue.write_buffer(memory, 0, octets[:whole])
            if whole != octets.size:
                word = self._octets(memory, whole, 4)
                word[: octets.size - whole] = octets[whole:]
                device.queue.write_buffer(memory, whole, word)

    def read(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy the start of a buffer into a contiguous host array, after all launches before."""
        octets: Octets = data.reshape(-1).view(np.uint8)
        if octets.size:
            with self.driver(f"{self.name}: reading"):
                octets[:] = self._octets(memory, 0, -(-octets.size // 4) * 4)[: octets.size]

    def gather(
        self, reads: Sequence[tuple[Buffer, np.ndarray[Any, Any]]], after: Sequence[Event]
    ) -> tuple[Event | None, Event]:
        """All in one submission; the queue is in order, so the buffers may be written at once."""
        if after:
            return super().gather(reads, after)
        if not any(array.nbytes for _, array in reads):
            return None, HostEvent.now()
        with self.driver(f"{self.name}: reading") as device:
            return None, Arrival(self, send(device, reads, self._limits["max-buffer-size"]))

    def _octets(self, memory: Any, start: int, size: int) -> Octets:
        return np.array(self.handle.queue.read_buffer(memory, start, size), copy=True).view(
            np.uint8
        )

    def let_go(self) -> None:
        """Bind groups hold memories, each kernel that of its last launch."""
        with self._lock:
            for code in self._codes:
                code.let_go()

    def wrap(self, data: np.ndarray[Any, Any]) -> Any:
        """Host memory is never used as it is."""
        raise NotImplementedError

    # ── kernels ──

    def load(self, artifact: Artifact) -> LoadedKernel:
        """Build the artifact's text."""
        with self.driver(artifact.kernel_name) as device:
            pipeline = build(device, artifact)
            code = Code(device, pipeline, artifact, self._clock)
            self._codes.add(code)
            return LoadedKernel(artifact=artifact, handle=code)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Give the launch to the queue; waits only where it may have something to report."""
        if not grid.cubes:
            return
        artifact: Artifact = kernel.artifact
        code: Code = kernel.handle
        words = pack(artifact.abi, bindings, grid, [0] * len(bindings)).tobytes()
        self._check_units(artifact, grid)
        self._check_sizes(artifact, words)
        arrays = [each.memory for each in bindings if isinstance(each, ArrayBinding)]
        memories = code.memories(arrays)
        block = report_block(artifact)
        with self.driver(artifact.kernel_name):
            if block is not None:
                memories.append(self.alloc(block.nbytes))
                self.write(memories[-1], block)
            code.encode(memories, words, self._parts(grid))
            if block is not None:
                self.read(memories[-1], block)
        if block is not None:
            write_prints(artifact, grid, block)
            raise_fault(artifact, grid, block)

    @property
    def takes_memories(self) -> bool:
        return True

    def memory_launch(
        self, kernel: LoadedKernel, grid: Grid
    ) -> Callable[[Sequence[Any], bytes], None]:
        """Give the launch to the queue and nothing else."""
        artifact, code = kernel.artifact, kernel.handle
        self._check_units(artifact, grid)
        parts, name = tuple(self._parts(grid)) if grid.cubes else (), artifact.kernel_name
        checked = b""

        def run(memories: Sequence[Any], words: bytes) -> None:
            nonlocal checked
            if checked is not words:
                self._check_sizes(artifact, words)
                checked = words
            try:
                with self._lock:
                    code.encode(code.memories(memories), words, parts)
            except DRIVER_ERRORS as error:
                raise error_for(error, name, self) from error

        return run

    def _parts(self, grid: Grid) -> Iterator[Part]:
        return parts_of(grid, self._limits["max-compute-workgroups-per-dimension"])

    def _check_units(self, artifact: Artifact, grid: Grid) -> None:
        """Refuse more units than positions of 32 bits can count."""
        limit = self.target.features.index_limit
        along = [count * dim for count, dim in zip(grid.cube_count, artifact.cube_dim, strict=True)]
        if along[0] * along[1] * along[2] > limit:
            raise LaunchError(
                f"{artifact.kernel_name}: a launch on {self.name} has at most {limit} units, not "
                f"{' x '.join(map(str, along))}\n  help: launch over parts of the arrays"
            )

    def _check_sizes(self, artifact: Artifact, words: bytes) -> None:
        """Refuse arrays that subscripts of 32 bits cannot count, by the words of a launch."""
        limit = self.target.features.index_limit
        sizes = np.frombuffer(words, np.int64)
        for word, size in zip(artifact.abi.words, sizes.tolist(), strict=True):
            if word.kind in _SIZES and abs(size) > limit:
                name = artifact.abi.names[word.argument]
                raise LaunchError(
                    f"{artifact.kernel_name}: argument {name!r} has more than {limit} elements "
                    f"along an axis, the most on {self.name}\n  help: pass parts of it"
                )

    # ── time ──

    @functools.cached_property
    def _clock(self) -> Clock | None:
        return Clock(self.handle) if FEATURE in self.handle.features else None

    def moments(self) -> Sequence[Moment]:
        """The end of the last launch, if the device has a clock."""
        with self.driver(self.name):
            return [self._clock.last()] if self._clock else []

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """The host waits before and after it; how long it took tells the device's clock."""
        if self._clock is None or not grid.cubes:
            return super().timed_launch(kernel, grid, bindings)
        self.sync()
        with self._lock, self._clock.measured() as spans:
            self.launch(kernel, grid, bindings)
        with self.driver(kernel.artifact.kernel_name):
            took = spans[-1][1].read() - spans[0][0].read()
        end = time.perf_counter()
        return lambda: (end - took, end)

    def read_moment(self, moment: Moment) -> float:
        """When it was."""
        with self.driver(self.name):
            return moment.read()

    def record(self) -> Event:
        """Behind the last launch, which is waited for."""
        moments = list(self.moments())
        self.sync()
        return TimedEvent(self, HostEvent.now(), moments)

    def stream(self) -> Stream:
        """A thread that launches, for there is one queue only."""
        return WgpuStream(self)

    def sync(self) -> None:
        """Wait until every launch has finished."""
        with self.driver(self.name) as device:
            device.queue.read_buffer(self._marker)  # behind everything in the queue

    @functools.cached_property
    def _marker(self) -> Any:
        return self.handle.create_buffer(size=4, usage=wgpu.BufferUsage.COPY_SRC)


class WgpuRuntime(Runtime):
    """The adapters of all backends but OpenGL."""

    @property
    def name(self) -> str:
        return "wgpu"

    @functools.cached_property
    def _devices(self) -> list[WgpuDevice]:
        return [WgpuDevice(adapter, number) for number, adapter in enumerate(find_adapters())]

    def devices(self) -> Sequence[Device]:
        """Every device, a lost one opened anew; RuntimeUnavailable where there is no adapter."""
        self._devices[:] = [each.anew() if each.lost else each for each in self._devices]
        if not self._devices:
            raise RuntimeUnavailable(
                "wgpu finds no adapter\n"
                "  help: install a driver for Vulkan; mesa-vulkan-drivers (Debian, Ubuntu) has one "
                "for processors"
            )
        return self._devices


def runtime() -> Runtime:
    """The entry point of the group `cubepy.runtimes`."""
    return WgpuRuntime()
