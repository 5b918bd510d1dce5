"""The runtime `reference`: parses printed IR and runs it on host memory with the machine."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubepy.depth import deep
from cubepy.errors import BackendError, OutOfMemoryError, ParseError
from cubepy.interp.machine import run
from cubepy.interp.memory import HostMemory
from cubepy.interp.state import Reports, Watch
from cubepy.ir import Kernel, parse_kernel
from cubepy.location import UNKNOWN
from cubepy.runtime import Binding, Device, Grid, LoadedKernel, Runtime, is_writable
from cubepy.target import Artifact, Target

__all__ = ["ReferenceDevice", "ReferenceRuntime", "runtime"]

ALIGNMENT = 64
# Devices that differ in how they report, or in a size of planes that a kernel does not ask for, are
# given the same text.
_parsed = functools.lru_cache(maxsize=16)(parse_kernel)


class ReferenceDevice(Device):
    """The interpreter as a device; launches have finished when they return.

    `watch` is told of what its launches do; `reports` replaces those that the target asks for.
    """

    def __init__(self, watch: Watch | None = None, reports: Reports | None = None) -> None:
        self._watch = watch
        self._reports = reports

    @property
    def name(self) -> str:
        return "reference"

    @property
    def target(self) -> Target:
        return Target.parse("reference")

    @property
    def host_memory(self) -> bool:
        return True

    def alloc(self, size: int) -> HostMemory:
        """Host memory of arbitrary (here: zero) content."""
        try:
            octets = np.zeros(size + ALIGNMENT, dtype=np.uint8)
        except MemoryError as problem:
            raise OutOfMemoryError(
                f"reference: no room for {size} bytes\n  help: work on parts, or let buffers go"
            ) from problem
        start = -octets.ctypes.data % ALIGNMENT
        return HostMemory(owner=octets, address=octets.ctypes.data + start)

    def write(self, memory: HostMemory, data: np.ndarray[Any, Any]) -> None:
        """Copy a host array to the start of a memory."""
        _octets(memory, data.nbytes)[:] = np.frombuffer(data.tobytes(), dtype=np.uint8)

    def read(self, memory: HostMemory, data: np.ndarray[Any, Any]) -> None:
        """Copy the start of a memory into a host array."""
        data.reshape(-1).view(np.uint8)[:] = _octets(memory, data.nbytes)

    def wrap(self, data: np.ndarray[Any, Any]) -> HostMemory:
        """The host array's own memory, from the element with all subscripts 0 on."""
        return HostMemory(owner=data, address=data.ctypes.data, writable=is_writable(data))

    def load(self, artifact: Artifact) -> LoadedKernel:
        """Parse the printed IR."""
        try:
            with deep(artifact.kernel_name, UNKNOWN):
                kernel = _parsed(artifact.text)
        except ParseError as problem:
            raise BackendError(
                f"{artifact.kernel_name}: IR does not parse", str(problem)
            ) from problem
        return LoadedKernel(artifact=artifact, handle=kernel)

    def launch(self, kernel: LoadedKernel, grid: Grid, bindings: Sequence[Binding]) -> None:
        """Run the kernel; raises what the target's options `races`, `unwritten`, `barriers` ask."""
        target, parsed = kernel.artifact.target, kernel.handle
        assert isinstance(parsed, Kernel)
        plane_dim = target.plane_dim(parsed)
        reports = self._reports or Reports.of(target)
        with deep(parsed.name, parsed.loc):
            run(parsed, grid, bindings, plane_dim=plane_dim, reports=reports, watch=self._watch)

    def sync(self) -> None:
        """Nothing to wait for."""


def _octets(memory: HostMemory, size: int) -> np.ndarray[Any, Any]:
    start = np.asarray(memory)
    return np.lib.stride_tricks.as_strided(start, (size,), (1,))


class ReferenceRuntime(Runtime):
    """One device, always there."""

    def __init__(self) -> None:
        self._device = ReferenceDevice()

    @property
    def name(self) -> str:
        return "reference"

    def devices(self) -> Sequence[Device]:
        """The one device."""
        return (self._device,)


def runtime() -> Runtime:
    """The entry point of the group `cubepy.runtimes`."""
    return ReferenceRuntime()
