"""OpenCL devices: memory of their own, programs built from OpenCL C, one queue in order.

An artifact's text is built once and its binary kept in the disk store. A launch sets the kernel's
arguments (a buffer for each array, then the report where the kernel has one, then the block of
words) and enqueues; reading a buffer waits.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from operator import mul
from typing import Any

import numpy as np
import pyopencl as cl

from cubepy.errors import OutOfMemoryError, RuntimeUnavailable
from cubepy.runtime import (
    ArrayBinding,
    Binding,
    Buffer,
    Device,
    Event,
    Grid,
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
from cubepy.target import Artifact, Target
from cubepy_opencl.driver import binary_of, build, error_for, explained, load_binary, open_devices
from cubepy_opencl.probe import announced, build_options, features_of_device, probed
from cubepy_opencl.queues import DeviceClock, OpenclStream, Queue

__all__ = ["OpenclDevice", "OpenclRuntime", "runtime"]


class _Code:
    """A kernel of the driver's; its arguments are set and used under `lock`, `given` are those."""

    __slots__ = ("given", "group", "kernel", "lock")

    def __init__(self, kernel: Any, group: tuple[int, ...]) -> None:
        self.kernel = kernel
        self.group = group
        self.lock = threading.Lock()
        self.given: tuple[Sequence[Any], bytes] = ((), b"")

    def size(self, grid: Grid) -> tuple[int, ...]:
        """The units of a launch along each axis."""
        return tuple(map(mul, grid.cube_count, self.group))

    def give(self, memories: Sequence[Any], words: bytes) -> None:
        """Set the arguments, unless they are the very same as before; under the lock."""
        before, block = self.given
        if memories is not before:
            for number, memory in enumerate(memories):
                self.kernel.set_arg(number, memory)
        if words is not block:
            self.kernel.set_arg(len(memories), words)
        self.given = memories, words


class OpenclDevice(Device):
    """One device of one driver."""

    def __init__(self, device: Any, number: int) -> None:
        self._device = device
        self._number = number
        stays_behind(self)
        self._streams: weakref.WeakSet[Stream] = weakref.WeakSet()

    def anew(self) -> OpenclDevice:
        """The same one in a new context, which knows nothing of this one's memory and kernels."""
        return OpenclDevice(self._device, self._number)

    @property
    def name(self) -> str:
        return f"opencl:{self._number}"

    @property
    def description(self) -> str:
        """What the driver calls it."""
        return f"{self._device.name} ({self._device.platform.name})"

    @property
    def announced(self) -> Mapping[str, object]:
        """Versions, and the extensions that kernels may use."""
        return announced(self._device)

    @property
    def probed(self) -> Mapping[str, object]:
        """What the probe of its driver found."""
        return probed(self._context, self._device)

    @functools.cached_property
    def _context(self) -> Any:
        with explained(self.name, self):
            return cl.Context([self._device])

    @functools.cached_property
    def _queue(self) -> Queue:
        with explained(self.name, self):
            return Queue(self, self._context)

    @functools.cached_property
    def clock(self) -> DeviceClock:
        """By which its launches are timed."""
        return DeviceClock(self, self._context)

    @functools.cached_property
    def target(self) -> Target:
        return Target(language="opencl", features=features_of_device(self._context, self._device))

    @property
    def host_memory(self) -> bool:
        return False

    def alloc(self, size: int) -> Any:
        """A buffer; whole words, so that narrow atomics stay inside."""
        limit = self._device.max_mem_alloc_size
        if size > limit:
            raise OutOfMemoryError(
                f"{self.name}: {size} bytes are more than the {limit} that one buffer may have\n"
                "  help: work on parts, each in a buffer of its own"
            )
        with explained(f"{self.name}: allocating {size} bytes", self):
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, -(-max(size, 1) // 64) * 64)

    def write(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy a contiguous host array to the start of a buffer."""
        if data.nbytes:
            with explained(f"{self.name}: writing", self):
                cl.enqueue_copy(self._queue.handle, memory, data.reshape(-1).view(np.uint8))

    def read(self, memory: Any, data: np.ndarray[Any, Any]) -> None:
        """Copy the start of a buffer into a contiguous host array, after all launches before."""
        if data.nbytes:
            with explained(f"{self.name}: reading", self):
                cl.enqueue_copy(self._queue.handle, data.reshape(-1).view(np.uint8), memory)

    def gather(
        self, reads: Sequence[tuple[Buffer, np.ndarray[Any, Any]]], after: Sequence[Event]
    ) -> tuple[Event | None, Event]:
        """Enqueued."""
        for event in after:
            self._queue.wait(event)
        return self._queue.read(reads, None)

    def wrap(self, data: np.ndarray[Any, Any]) -> Any:
        """Host memory is never used as it is."""
        raise NotImplementedError

    @property
    def toolchain(self) -> Sequence[tuple[str, bytes]]:
        platform = self._device.platform
        return (
            (
                "driver",
                f"{platform.name} {platform.version} {self._device.driver_version}".encode(),
            ),
            ("device", f"{self._device.name} {self._device.version}".encode()),
            ("options", build_options(self._device).encode()),
            ("pyopencl", cl.VERSION_TEXT.encode()),
        )

    def compile(self, artifact: Artifact) -> bytes:
        """The driver's binary of the artifact's text."""
        return binary_of(self._built(artifact))

    def _built(self, artifact: Artifact) -> Any:
        return build(self._context, self._device, artifact, build_options(self._device))

    def load(self, artifact: Artifact) -> LoadedKernel:
        """Build the artifact, or take the binary it brings."""
        if artifact.binary:
            program = load_binary(self._context, self._device, artifact.binary)
        else:
            program = self._built(artifact)
        with explained(artifact.kernel_name, self):
            kernel = cl.Kernel(program, artifact.entry)
            group = kernel.get_work_group_info(
                cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, self._device
            )
        return LoadedKernel(artifact=artifact, handle=_Code(kernel, tuple(group)))

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Enqueue the kernel; waits only where it may have something to report."""
        if grid.cubes:
            _, report = self.enqueue(self._queue, kernel, grid, bindings)
            if report is not None:
                report()

    def timed_launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> Timing:
        """By the driver's clock."""
        launched, report = self.enqueue(self._queue, kernel, grid, bindings)
        if report is not None:
            report()
        return self.clock.timing(launched)

    def enqueue(
        self, queue: Queue, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]
    ) -> tuple[Any, Callable[[], None] | None]:
        """Give a queue a launch: the driver's event, and what looks at its report, if any."""
        artifact, code = kernel.artifact, kernel.handle
        words = pack(artifact.abi, bindings, grid, [0] * len(bindings)).tobytes()
        memories = [each.memory for each in bindings if isinstance(each, ArrayBinding)]
        block = report_block(artifact)
        if block is not None:
            memories.append(self._copy(queue, block))
        with explained(artifact.kernel_name, self), code.lock:
            code.give(memories, words)
            launched = queue.enqueue(code.kernel, code.size(grid), code.group)
        if block is None:
            return launched, None
        return launched, functools.partial(_look, queue, artifact, grid, memories[-1], block)

    def _copy(self, queue: Queue, block: np.ndarray[Any, Any]) -> Any:
        memory = self.alloc(block.nbytes)
        with explained(f"{self.name}: writing", self):
            cl.enqueue_copy(queue.handle, memory, block)
        return memory

    @property
    def takes_memories(self) -> bool:
        return True

    def memory_launch(
        self, kernel: LoadedKernel, grid: Grid
    ) -> Callable[[Sequence[Any], bytes], None]:
        """Enqueue and nothing else."""
        code: _Code = kernel.handle
        name, size, queue = kernel.artifact.kernel_name, code.size(grid), self._queue

        def run(memories: Sequence[Any], words: bytes) -> None:
            try:
                with code.lock:
                    code.give(memories, words)
                    queue.enqueue(code.kernel, size, code.group)
            except cl.Error as error:
                raise error_for(error, name, self) from error

        return run if grid.cubes else _nothing

    def stream(self) -> Stream:
        """A queue of the driver, behind all launches so far."""
        made = OpenclStream(self, self._context)
        made.wait(self.record())
        self._streams.add(made)
        return made

    def pending(self) -> Event | None:
        """Behind the last launch, if there are streams that could overtake it."""
        return self.record() if self._streams else None

    def record(self) -> Event:
        """Behind the last launch."""
        return self._queue.event(None)

    def sync(self) -> None:
        """Wait until every launch has finished."""
        with explained(self.name, self):
            self._queue.handle.finish()


def _look(
    queue: Queue, artifact: Artifact, grid: Grid, memory: Any, block: np.ndarray[Any, Any]
) -> None:
    """Read what a launch reported, write its prints, raise its fault."""
    with explained(artifact.kernel_name, queue.device):
        cl.enqueue_copy(queue.handle, block, memory)
    write_prints(artifact, grid, block)
    raise_fault(artifact, grid, block)


def _nothing(memories: Sequence[Any], words: bytes) -> None:
    """A launch without cubes."""


class OpenclRuntime(Runtime):
    """The devices of all drivers found."""

    @property
    def name(self) -> str:
        return "opencl"

    @functools.cached_property
    def _devices(self) -> list[OpenclDevice]:
        return [OpenclDevice(device, number) for number, device in enumerate(open_devices())]

    def devices(self) -> Sequence[Device]:
        """Every device, a lost one opened anew; RuntimeUnavailable where there is no driver."""
        self._devices[:] = [each.anew() if each.lost else each for each in self._devices]
        if not self._devices:
            raise RuntimeUnavailable(
                "no OpenCL driver is installed\n"
                "  help: for x86-64 processors, pip install intel-opencl-rt intel-cmplr-lib-rt"
            )
        return self._devices


def runtime() -> Runtime:
    """The entry point of the group `cubepy.runtimes`."""
    return OpenclRuntime()
